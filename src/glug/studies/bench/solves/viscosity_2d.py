"""`glug bench viscosity-solve-2d`: the published plane problem by assembled multigrid, beside the published counts.

It answers one question: how many iterations does each smoother take, and do they grow with the grid? (Aanjaneya et al.
2019, Table 1; the matrices are assembled and in float64, so its seconds say nothing about the matrix-free solver.)
"""

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage, sparse

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, FACES, Grid
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.strain_rows import strain_rows
from glug.solvers.assembled.cycle import AssembledCycle, BandedJacobi, Boxes, Rows, assembled_cg
from glug.solvers.incomplete import AssembledCholesky
from glug.studies.bench.solves.measured import Result, chosen, row
from glug.studies.problems.systems import DELTA_AT, PADDING, StillBall
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

GRIDS = (256, 512, 1024)
COARSEST = 16  # cells along a side
TOLERANCE = 1e-6
LIMIT = 20000
BAND = 3  # cells along boundaries that damped Jacobi smooths more often
SMOOTHERS: dict[str, Any] = {"box": Boxes, "gauss-seidel": Rows, "jacobi-mg": BandedJacobi}
SOLVERS = (*SMOOTHERS, "ic-cg", "scipy-cg")
# Table 1, iterations by cells along a side; "improved multigrid" is damped Jacobi with a bottom that is solved.
PUBLISHED = {
    "box": {256: 4, 512: 5, 1024: 5, 2048: 4},
    "jacobi-mg": {256: 12, 512: 14, 1024: 16, 2048: 18},
    "ic-cg": {256: 80, 512: 143, 1024: 255, 2048: 465},
    "scipy-cg": {256: 729, 512: 1434, 1024: 2816, 2048: 5522},
}


def problem(n: int) -> ViscosityProblem:
    """Liquid where x - 1/2 + sin(x y) / 4 < 0 around a disc in a unit square, mu dt / rho = 1."""
    i, j = (int(np.ceil(n * u)) + 2 * PADDING + 1 for u in (0.5, 1.0))
    grid = Grid(1.0 / n, (i, j, 1), (-PADDING, -PADDING, 0), dim=2)
    x, y, _ = np.meshgrid(*grid.coordinates(CENTRE), indexing="ij", sparse=True)
    phi = (x - 0.5 + 0.25 * np.sin(x * y)).astype(np.float32)
    walls = Walls((0.0, 0.0, -np.inf), (1.0, 1.0, np.inf))
    disc = StillBall((0.5, 0.5, 0.5 / n), 0.2)
    return ViscosityProblem.build(grid, phi, sample_solids(grid, walls, [disc], 0.0), float(n * n))


class AssembledLevel:
    """The matrix of one grid, its unknown faces and which of them are near a boundary."""

    def __init__(self, n: int):
        self.problem = problem(n)
        p = self.problem
        rows = strain_rows(p.grid, p.solid, p.solid_faces, p.weights, every=True)
        matrix, diagonal = rows.assemble(p.mass)
        self.matrix = sparse.csr_matrix(matrix)
        self.matrix.sort_indices()
        self.unknown = [d > 0 for d in diagonal[:2]]
        full = [ndimage.binary_erosion(m >= 0.999, iterations=BAND) for m in p.mass[:2]]
        self.band = np.flatnonzero(~np.concatenate([f[u] for f, u in zip(full, self.unknown)]))

    def delta(self) -> np.ndarray:
        """One at the faces nearest to (0.1, 0.1)."""
        grid, parts = self.problem.grid, []
        for a, unknown in enumerate(self.unknown):
            b = np.zeros(unknown.shape)
            i, j = np.round((DELTA_AT - grid.corner[:2]) / grid.dx - np.array(FACES[a][:2])).astype(int)
            b[i, j, 0] = 1.0
            parts.append(b[unknown])
        return np.concatenate(parts)


def linear(fine: np.ndarray, coarse: np.ndarray) -> sparse.csr_matrix:
    """Interpolation between samples along an axis; zero beyond the coarse ones."""
    place = (fine - coarse[0]) / (coarse[1] - coarse[0])
    left = np.floor(place + 1e-9).astype(int)
    share = place - left
    rows, columns, values = np.tile(np.arange(len(fine)), 2), np.concatenate([left, left + 1]), np.r_[1 - share, share]
    inside = (columns >= 0) & (columns < len(coarse)) & (values > 1e-9)
    return sparse.csr_matrix((values[inside], (rows[inside], columns[inside])), (len(fine), len(coarse)))


def prolongation(fine: AssembledLevel, coarse: AssembledLevel) -> sparse.csr_matrix:
    """Linear interpolation of either component between the unknown faces."""
    blocks = []
    for a in range(2):
        along = zip(fine.problem.grid.coordinates(FACES[a])[:2], coarse.problem.grid.coordinates(FACES[a])[:2])
        both = sparse.kron(*(linear(f, c) for f, c in along), format="csr")
        blocks.append(both[np.flatnonzero(fine.unknown[a])][:, np.flatnonzero(coarse.unknown[a])])
    return sparse.block_diag(blocks, format="csr")


def levels(n: int) -> list[AssembledLevel]:
    found = [AssembledLevel(n)]
    while n > COARSEST and n % 2 == 0:
        n //= 2
        found.append(AssembledLevel(n))
    return found


def measure(n: int, solver: str) -> Result:
    """Solve once; set-up is what follows the finest matrix."""
    finest = AssembledLevel(n)
    matrix, b = finest.matrix, finest.delta()
    begin = time.perf_counter()
    if solver in SMOOTHERS:
        chain = [finest, *levels(n // 2)]
        # The restriction is the transpose of the interpolation: a coarse matrix counts four times per level.
        matrices = [4.0**depth * level.matrix for depth, level in enumerate(chain)]
        down = [prolongation(f, c) for f, c in itertools.pairwise(chain)]
        smoothers = [SMOOTHERS[solver](m, level.band) for m, level in zip(matrices, chain)]
        precondition: Callable[[np.ndarray], np.ndarray] = AssembledCycle(matrices, down, smoothers)
    elif solver == "ic-cg":
        precondition = AssembledCholesky(matrix)
    else:
        precondition = np.copy
    setup = time.perf_counter() - begin
    begin = time.perf_counter()
    _, residuals = assembled_cg(matrix, precondition, b, TOLERANCE, LIMIT)
    return {
        "iterations": len(residuals) - 1,
        "seconds": time.perf_counter() - begin,
        "setup": setup,
        "residual": residuals[-1],
        "unknowns": len(b),
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per grid and solver; prints the table."""
    rows, lines = [], [["grid", "solver", "unknowns", "iterations", "published", "set-up s", "solve s", "residual"]]
    for n in (options.resolution,) if options.resolution else GRIDS:
        for solver in chosen("solver", options.solver, SOLVERS, SOLVERS):
            r = measure(n, solver)
            published = PUBLISHED.get(solver, {}).get(n)
            times = [f"{r['setup']:.2f}", f"{r['seconds']:.2f}", f"{r['residual']:.1e}"]
            counts = [str(r["unknowns"]), str(r["iterations"]), str(published or "-")]
            lines.append([str(n), solver, *counts, *times])
            rows.append(row("viscosity-2d/delta", solver, n, 1, r))
    options.say(aligned(lines))
    return rows
