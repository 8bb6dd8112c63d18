"""Reference viscosity in float64, 2D and 3D.

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
from scipy.ndimage import distance_transform_edt
from scipy.sparse.linalg import spsolve

from glug.grids.operators import AXIS, Operators, difference
from glug.grids.regular import CENTRE
from glug.physics.variational import Rows, VariationalProblem, stress_rows
from glug.physics.weights import Fractions


def viscosity_problem(
    operators: Operators,
    liquid: Fractions,
    fluid: Fractions,
    viscosity: float | tuple[np.ndarray, np.ndarray],
    *,
    trace_free: bool = False,
    density: float | np.ndarray = 1.0,
    dt: float = 1.0,
) -> VariationalProblem:
    """One implicit step of viscosity alone; `viscosity` [Pa s] is a number or values at cells and at edges."""
    rows = stress_rows(operators, liquid, fluid, viscosity, trace_free=trace_free)
    return VariationalProblem(rows, liquid.face, fluid.face, density=density, dt=dt)


def laplacian_rows(operators: Operators, liquid: Fractions, fluid: Fractions, viscosity: float) -> Rows:
    """The gradient of every component, d_b u_a = s / mu, at the cells (a = b) and edges."""
    edges = dict(zip(operators.pairs, operators.edges))
    ends = np.cumsum([operators.count(o) for o in operators.edges])
    span = {pair: slice(end - operators.count(edges[pair]), end) for pair, end in zip(edges, ends)}
    parts = []
    for a in range(operators.dim):
        for b in range(operators.dim):
            pair = (min(a, b), max(a, b))
            offset = edges.get(pair, CENTRE)
            n = operators.count(offset)
            blocks = [
                difference(operators.grid, o, b) if c == a else sparse.csr_matrix((n, operators.count(o)))
                for c, o in enumerate(operators.faces)
            ]
            wet, open_ = (f.cell if a == b else f.edge[span[pair]] for f in (liquid, fluid))
            compliance = sparse.identity(n, format="csr") / viscosity
            name = f"d{AXIS[b]}_u{AXIS[a]}"
            parts.append(
                Rows(
                    sparse.hstack(blocks, format="csr"),
                    compliance,
                    wet,
                    open_,
                    operators.face_axis,
                    {name: slice(0, n)},
                )
            )
    return Rows.stack(*parts)


def laplacian_problem(
    operators: Operators, liquid: Fractions, viscosity: float, *, density: float = 1.0, dt: float = 1.0
) -> VariationalProblem:
    """Baseline: the componentwise Laplacian; across the free surface no component changes."""
    full = Fractions.full(operators)
    rows = laplacian_rows(operators, liquid, full, viscosity)
    return VariationalProblem(rows, liquid.face, full.face, density=density, dt=dt)


def held_surface_laplacian(
    operators: Operators, inside: np.ndarray, viscosity: float, *, density: float = 1.0, dt: float = 1.0
) -> VariationalProblem:
    """Baseline: the componentwise Laplacian over the faces `inside`; solve it with `extrapolated` as the wall."""
    full = Fractions.full(operators)
    rows = laplacian_rows(operators, full, full, viscosity)
    return VariationalProblem(rows, full.face, inside.astype(float), density=density, dt=dt)


def extrapolated(operators: Operators, u: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Every component continued from the nearest face `inside`."""
    parts = []
    for values, known in zip(operators.split(u, operators.faces), operators.split(inside, operators.faces)):
        nearest = distance_transform_edt(~known, return_distances=False, return_indices=True)
        parts.append(values[tuple(nearest)].ravel())
    return np.concatenate(parts)


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
    """Viscosity as an ordinary differential equation rho u' = -(L + T) u: its explicit, mixed and implicit steps.

    L is the componentwise Laplacian, T the transposed gradient, which couples the components. `liquid` weighs the
    stresses at cells and edges; those outside the liquid are none, so the surface has no tangential stress, in all
    parts of a step (Nichols and Hirt 1971). Faces count as full: with the small masses of cut ones no explicit step
    would be stable.
    """

    def __init__(self, operators: Operators, liquid: Fractions, viscosity: float, *, density: float = 1.0):
        full = Fractions.full(operators)
        strain = stress_rows(operators, liquid, full, viscosity, trace_free=False)
        gradient = laplacian_rows(operators, liquid, full, viscosity)
        stiffness, laplacian = (
            (rows.B.T @ sparse.diags(rows.liquid / rows.compliance.diagonal()) @ rows.B / density).tocsr()
            for rows in (strain, gradient)
        )
        self.faces = np.asarray(abs(stiffness).sum(axis=0)).ravel() > 0
        self.L = laplacian[self.faces][:, self.faces]
        self.T = stiffness[self.faces][:, self.faces] - self.L
        self.one = sparse.identity(self.L.shape[0], format="csr")

    def explicit(self, dt: float) -> LinearStep:
        """All stresses from the old velocity."""
        return LinearStep(self.one, self.one - dt * (self.L + self.T), self.faces)

    def mixed(self, dt: float) -> LinearStep:
        """T from the old velocity, L from the new one (Rasmussen et al. 2004)."""
        return LinearStep(self.one + dt * self.L, self.one - dt * self.T, self.faces)

    def transposed(self, dt: float) -> LinearStep:
        """The explicit part of the mixed step; no scheme of its own, T makes some modes at the surface grow."""
        return LinearStep(self.one, self.one - dt * self.T, self.faces)

    def implicit(self, dt: float) -> LinearStep:
        """All stresses from the new velocity."""
        return LinearStep(self.one + dt * (self.L + self.T), self.one, self.faces)
