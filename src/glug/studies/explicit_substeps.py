"""Steps that explicit and mixed viscosity need where the implicit one takes a single step (Batty 2010, section 3.4).

A free disc of liquid, 12 cells across, of whole cells. The explicit step takes all stresses from the old velocity. The
mixed one takes the Laplacian of each component from the new velocity, and from the old one the transposed gradient
(Rasmussen et al. 2004) and the velocities just outside the surface, which are continued from inside. A scheme is
stable in n steps when no mode grows: the spectral radius of one step, computed from the whole matrix, is at most 1.

The source gives neither its viscosity nor its step, only that its explicit scheme needed about 28 steps and its mixed
one about 14. The diffusion number mu dt / (rho dx^2) here is the one at which the explicit scheme needs 28: its limit
is an eighth, the interior's. The mixed scheme on this grid is stable in one step: its explicit part is bounded by its
implicit part, sample by sample, and the continued velocities do not undo that. The 14 steps are not reproduced: the
source used the tangential surface condition of Nichols and Hirt, which is not written here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid
from glug.physics.reference_viscosity import extrapolated, laplacian_rows, viscosity_problem
from glug.physics.variational import stress_rows
from glug.physics.weights import Fractions
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

CELLS = 24  # along a side of the plane
RADIUS = 6.0  # of the disc, in cells
DIFFUSION = 3.5  # mu dt / (rho dx^2) of the whole step
GROWTH = 1e-9  # of the spectral radius above 1 that is rounding
MOST = 200  # steps that are tried


class Blob:
    """The disc as whole cells, in units of dx: samples inside have the weight 1."""

    def __init__(self, n: int = CELLS):
        self.operators = Operators(Grid(1.0, (n, n, 1), origin=(-n / 2, -n / 2, 0.0), dim=2))

        def inside(offset: tuple[float, float, float]) -> np.ndarray:
            return np.linalg.norm(self.operators.points(offset), axis=1) < RADIUS

        self.cells = inside(CENTRE)
        self.edges = np.concatenate([inside(o) for o in self.operators.edges])
        self.faces = np.concatenate([inside(o) for o in self.operators.faces])

    def explicit(self, diffusion: float) -> np.ndarray:
        """u - dt K u over the faces that a stress touches."""
        full = Fractions.full(self.operators)
        liquid = Fractions(self.cells.astype(float), full.face, self.edges.astype(float))
        rows = stress_rows(self.operators, liquid, full, 1.0, trace_free=False)
        B = rows.B[rows.liquid > 0]
        stiffness = B.T @ sparse.diags(1.0 / rows.compliance.diagonal()[rows.liquid > 0]) @ B
        touched = np.asarray(abs(B).sum(axis=0)).ravel() > 0
        K = stiffness[touched][:, touched].toarray()
        return np.eye(len(K)) - diffusion * K

    def mixed(self, diffusion: float) -> np.ndarray:
        """(1 + dt L)^-1 (u - dt (K - L) u) with the velocities outside from the old step."""
        full = Fractions.full(self.operators)
        gradient = laplacian_rows(self.operators, full, full, 1.0).B
        strain = stress_rows(self.operators, full, full, 1.0, trace_free=False)
        L = (gradient.T @ gradient).tocsr()
        K = (strain.B.T @ sparse.diags(1.0 / strain.compliance.diagonal()) @ strain.B).tocsr()
        inner = np.flatnonzero(self.faces)
        count = len(self.faces)
        # Columns of P: what the whole plane is when one inner face moves.
        source = extrapolated(self.operators, np.arange(count, dtype=float), self.faces).astype(int)
        P = sparse.csr_matrix((np.ones(count), (np.arange(count), np.searchsorted(inner, source))))
        outside = sparse.diags((~self.faces).astype(float))
        lagged = ((K - L) @ P + L @ outside @ P)[inner].toarray()
        implicit = np.eye(len(inner)) + diffusion * L[inner][:, inner].toarray()
        return np.linalg.solve(implicit, np.eye(len(inner)) - diffusion * lagged)

    def implicit(self, diffusion: float) -> np.ndarray:
        """(1 + dt K)^-1, the variational step with whole cells."""
        full = Fractions.full(self.operators)
        liquid = Fractions(self.cells.astype(float), full.face, self.edges.astype(float))
        problem = viscosity_problem(self.operators, liquid, full, 1.0, dt=diffusion)
        matrix = problem.velocity_matrix().toarray() * diffusion
        return np.linalg.inv(matrix)


def radius(step: np.ndarray) -> float:
    """Largest growth of a mode in one step."""
    return float(np.abs(np.linalg.eigvals(step)).max())


def substeps(step: Callable[[float], np.ndarray], diffusion: float) -> int:
    """The least number of equal steps in which nothing grows."""
    for n in range(1, MOST + 1):
        if radius(step(diffusion / n)) <= 1.0 + GROWTH:
            return n
    return MOST + 1


def study(options: StudyOptions) -> list[StudyRow]:
    """Substeps of the three schemes, and how fast explicit and mixed blow up in a single step."""
    blob = Blob()
    rows = []
    for name, step, published in (
        ("explicit", blob.explicit, None),  # 28 by the choice of DIFFUSION: no comparison
        ("mixed", blob.mixed, 14.0),
        ("implicit", blob.implicit, 1.0),
    ):
        found = float(substeps(step, DIFFUSION))
        ratio = None if published is None else found / published
        rows.append(StudyRow(options.name, name, CELLS, "substeps", "value", found, published, ratio))
        rows.append(StudyRow(options.name, name, CELLS, "growth_in_one_step", "value", radius(step(DIFFUSION))))
    return rows
