"""Reference viscosity in float64, on any mesh with strains.

`viscosity_problem` keeps the full stress (Batty and Bridson 2008): about second order in the velocity. The published
tables eliminate the trace of the stress (`trace_free=True`), which costs the velocity its convergence at the free
surface.

The Laplacians are baselines: each component on its own, which damps rotation. Their free surface has either no
gradient across it (Falt and Roble 2003) or a velocity continued from inside and held (Enright et al. 2002).

Explicit and mixed steps are baselines in time. Their surface has no tangential stress (Nichols and Hirt 1971).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import spsolve

from glug.grids.mesh import AXES, Fractions, StrainMesh, axis_pairs
from glug.physics.variational import Rows, VariationalProblem, stress_rows

Viscosity = float | tuple[np.ndarray, np.ndarray]  # [Pa s] a number, or values at cells and at edges


def viscosity_problem(
    mesh: StrainMesh,
    liquid: Fractions,
    fluid: Fractions,
    viscosity: Viscosity,
    *,
    trace_free: bool = False,
    density: float | np.ndarray = 1.0,
    dt: float = 1.0,
) -> VariationalProblem:
    """One implicit step of viscosity alone; `density` [kg/m3] is a number or values at the faces."""
    rows = stress_rows(mesh, liquid, fluid, viscosity, trace_free=trace_free)
    return VariationalProblem(rows, liquid.face, fluid.face, density=density, dt=dt)


def laplacian_rows(mesh: StrainMesh, liquid: Fractions, fluid: Fractions, viscosity: Viscosity) -> Rows:
    """The gradient of every component, d_b u_a = s / mu, at the cells (a = b) and edges."""
    mu_cell, mu_edge = viscosity if isinstance(viscosity, tuple) else (viscosity, viscosity)
    count, begin = {}, 0
    for a, b in axis_pairs(mesh.dim):
        begin, first = begin + mesh.derivative(a, b).shape[0], begin
        count[a, b] = slice(first, begin)
    at_cells = mesh.cell_volume, liquid.cell, fluid.cell, np.broadcast_to(mu_cell, len(liquid.cell))
    at_edges = mesh.edge_volume, liquid.edge, fluid.edge, np.broadcast_to(mu_edge, len(liquid.edge))
    parts = []
    for a in range(mesh.dim):
        for b in range(mesh.dim):
            mine = slice(None) if a == b else count[min(a, b), max(a, b)]
            volume, wet, open_, mu = (values[mine] for values in (at_cells if a == b else at_edges))
            B = mesh.derivative(a, b)
            name = f"d{AXES[b]}_u{AXES[a]}"
            parts.append(Rows(mesh, B, sparse.diags(1.0 / mu).tocsr(), volume, wet, open_, {name: slice(0, len(wet))}))
    return Rows.stack(*parts)


def stiffness(rows: Rows) -> sparse.csr_matrix:
    """E' K V E over all faces [Pa s m^(dim - 2)], V what is liquid of the rows' volumes; K = 1 / C, which is diagonal.

    The viscous force is minus this, times the velocity.
    """
    return (rows.B.T @ sparse.diags(rows.volume * rows.liquid / rows.compliance.diagonal()) @ rows.B).tocsr()


def laplacian_problem(
    mesh: StrainMesh, liquid: Fractions, viscosity: Viscosity, *, density: float | np.ndarray = 1.0, dt: float = 1.0
) -> VariationalProblem:
    """Baseline: the componentwise Laplacian; across the free surface no component changes."""
    full = Fractions.full(mesh)
    rows = laplacian_rows(mesh, liquid, full, viscosity)
    return VariationalProblem(rows, liquid.face, full.face, density=density, dt=dt)


def held_surface_laplacian(
    mesh: StrainMesh, inside: np.ndarray, viscosity: Viscosity, *, density: float | np.ndarray = 1.0, dt: float = 1.0
) -> VariationalProblem:
    """Baseline: the componentwise Laplacian over the faces `inside`; walls are the velocity continued from there."""
    full = Fractions.full(mesh)
    rows = laplacian_rows(mesh, full, full, viscosity)
    return VariationalProblem(rows, full.face, inside.astype(float), density=density, dt=dt)


@dataclass(frozen=True)
class LinearStep:
    """u -> A^-1 R u on the faces that a stress touches, with A symmetric and positive definite, R symmetric."""

    A: sparse.csr_matrix
    R: sparse.csr_matrix
    faces: np.ndarray

    def advance(self, u: np.ndarray) -> np.ndarray:
        out = u.copy()
        out[self.faces] = spsolve(self.A.tocsc(), self.R @ u[self.faces])
        return out

    def factors(self) -> np.ndarray:
        """What the step multiplies every mode by, ascending (dense)."""
        return eigvalsh(self.R.toarray(), self.A.toarray())

    def growth(self) -> float:
        """The factor of the mode that grows most: the spectral radius."""
        return float(np.abs(self.factors()).max())

    def overshoot(self) -> float:
        """The factor of the mode that is thrown back most, to the other side."""
        return float(max(-self.factors()[0], 0.0))


class SteppedViscosity:
    """Viscosity as a differential equation M du/dt = -(lap + cross) u: its explicit, mixed and implicit steps.

    M is the mass of the faces, `lap` the componentwise Laplacian, `cross` the transposed gradient, which couples the
    components. `liquid` weighs the stresses at cells and edges; those outside the liquid are none, so the surface has
    no tangential stress, in all parts of a step (Nichols and Hirt 1971). Faces count as full: with the small masses of
    cut ones no explicit step would be stable.
    """

    def __init__(self, mesh: StrainMesh, liquid: Fractions, viscosity: Viscosity, *, density: float | np.ndarray = 1.0):
        full = Fractions.full(mesh)
        strain = stiffness(stress_rows(mesh, liquid, full, viscosity, trace_free=False))
        laplacian = stiffness(laplacian_rows(mesh, liquid, full, viscosity))
        self.faces = np.asarray(abs(strain).sum(axis=0)).ravel() > 0
        self.lap = laplacian[self.faces][:, self.faces]
        self.cross = strain[self.faces][:, self.faces] - self.lap
        self.M = sparse.diags((density * mesh.face_volume)[self.faces], format="csr")

    def explicit(self, dt: float) -> LinearStep:
        """All stresses from the old velocity."""
        return LinearStep(self.M, self.M - dt * (self.lap + self.cross), self.faces)

    def mixed(self, dt: float) -> LinearStep:
        """`cross` from the old velocity, `lap` from the new one (Rasmussen et al. 2004)."""
        return LinearStep(self.M + dt * self.lap, self.M - dt * self.cross, self.faces)

    def transposed(self, dt: float) -> LinearStep:
        """The explicit part of the mixed step; no scheme of its own, `cross` makes some modes at the surface grow."""
        return LinearStep(self.M, self.M - dt * self.cross, self.faces)

    def implicit(self, dt: float) -> LinearStep:
        """All stresses from the new velocity."""
        return LinearStep(self.M + dt * (self.lap + self.cross), self.M, self.faces)
