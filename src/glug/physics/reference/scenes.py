"""The reference solvers of scenes: the same problems as the fast ones, assembled in float64 and solved directly.

2D scenes run on them; a 3D scene asks for them with `solver.pressure = "reference"`, `solver.viscosity = "reference"`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from glug.grids.regular import Grid, Staggered, lower_upper
from glug.physics.affine.regions import Regions
from glug.physics.pressure.levels import PressureLevel
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.affine import AffineProjection
from glug.physics.terms import Eliminated
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.strain_rows import WallRows, strain_rows
from glug.solvers.assembled.direct import direct_solve
from glug.solvers.bounded import direct_bounded
from glug.solvers.cg import Vector
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats


def pressure_matrix(system: PressureLevel, axes: range = range(3)) -> sparse.csc_matrix:
    """The matrix of the links over the liquid cells in C order."""
    number = np.full(system.shape, -1, np.int64)
    active = system.liquid > 0
    number[active] = np.arange(active.sum())
    rows, columns, values = [], [], []
    diagonal = np.zeros(int(active.sum()))
    for a in axes:
        low, high = (side.ravel() for side in lower_upper(number, a))
        inner = tuple(slice(1, -1) if b == a else slice(None) for b in range(3))
        c = system.links[a][inner].astype(np.float64).ravel()
        for p in (low, high):
            np.add.at(diagonal, p[p >= 0], c[p >= 0])
        both = (low >= 0) & (high >= 0) & (c > 0)
        rows += [low[both], high[both]]
        columns += [high[both], low[both]]
        values += [-c[both], -c[both]]
    n = len(diagonal)
    rows.append(np.arange(n))
    columns.append(np.arange(n))
    values.append(diagonal)
    return sparse.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n))


def assemble_pressure(problem: PressureProblem) -> sparse.csc_matrix:
    """The pressure matrix over the liquid cells in C order, with all terms eliminated."""
    matrix, low = pressure_matrix(problem.system, problem.grid.axes), problem.eliminated.low_rank
    return matrix if low is None else (matrix + low.assemble(problem.system.mask)).tocsc()


def reference_pressure(
    problem: PressureProblem, b: np.ndarray, given: Sequence[np.ndarray], q: np.ndarray, limits: SolveLimits
) -> SolveStats:
    """Solve a projection's system directly."""
    bounds = problem.bounds
    if problem.regions is not None:
        return _with_regions(problem, b, given, q)
    if bounds is None and problem.bubbles is not None and len(problem.terms) == 1:
        return _with_bubbles(problem, b, given[0], q)
    problem.eliminated.prepare((b,), given)
    matrix = assemble_pressure(problem)
    if bounds is None:
        return direct_solve("pressure", problem.system.mask, (b,), (q,), matrix)
    return direct_bounded("pressure", problem.system.mask, bounds, (b,), (q,), matrix)


def _with_bubbles(problem: PressureProblem, b: np.ndarray, given: np.ndarray, q: np.ndarray) -> SolveStats:
    """[A J'; J H], nothing eliminated: it stays sparse."""
    bubbles, mask = problem.bubbles, problem.system.mask[0]
    assert bubbles is not None
    A, number = pressure_matrix(problem.system, problem.grid.axes), np.cumsum(mask.ravel() > 0) - 1
    cell = np.concatenate([np.zeros(0, np.int64), *(number[c] for c, _ in bubbles.rows)])
    link = np.concatenate([np.zeros(0), *(k for _, k in bubbles.rows)])
    bubble = np.repeat(np.arange(len(bubbles)), [len(c) for c, _ in bubbles.rows])
    J = sparse.coo_matrix((link, (cell, bubble)), shape=(A.shape[0], len(bubbles))).tocsr().T
    matrix = sparse.bmat([[A, J.T], [J, sparse.diags(bubbles.H)]], format="csr")
    return direct_solve("pressure", (mask, bubbles.H), (b, given[:, 0]), (q, np.zeros(len(bubbles))), matrix)


class OrdinaryCells:
    """The pressures that regions leave, numbered as their cells are; `unknowns` are these and the regions' own."""

    name = "pressure"

    def __init__(self, affine: AffineProjection):
        self.affine, self.cell = affine, np.flatnonzero(affine.ordinary)
        self.unknowns = len(self.cell) + affine.R.shape[1]
        self.mask: Vector = (np.ones((1, 1, len(self.cell)), np.float32),)
        self.blocks = np.array([[0, 0, 0, len(self.cell)]], np.int32)
        self.number = np.full(len(affine.ordinary), -1)
        self.number[self.cell] = np.arange(len(self.cell))

    def gather(self, field: np.ndarray) -> Vector:
        return (field.ravel()[self.cell][None, None],)

    def scatter(self, x: Vector, field: np.ndarray) -> None:
        field.ravel()[self.cell] = x[0][0, 0]

    def apply(self, d: Vector, q: Vector) -> float:
        q[0][0, 0] = self.affine.matrix() @ d[0][0, 0]
        return float((d[0] * q[0]).sum(dtype=np.float64))

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        r[0][0, 0] = b[0][0, 0] - self.affine.matrix() @ x[0][0, 0]


class AssembledRegions:
    """Affine regions in 2D and 3D, as sparse matrices."""

    def __init__(self, grid: Grid, level: PressureLevel, regions: Regions):
        self.regions, self._dim = regions, grid.dim
        mobility = [np.divide(k, a, out=np.zeros_like(k), where=a > 0.0) for k, a in zip(level.links, level.area)]
        self.affine = AffineProjection(grid, level.area, mobility, level.liquid > 0, regions)
        self.system = OrdinaryCells(self.affine)

    def enter(self, velocity: Staggered) -> np.ndarray:
        """The regions' unknowns."""
        u = np.concatenate([c.ravel() for c in velocity[: self._dim]]).astype(np.float64)
        v = self.affine.fit(u)
        self._write(v, velocity)
        return v

    def finish(self, q: np.ndarray, motion: np.ndarray, velocity: Staggered) -> None:
        self._write(motion - self.affine.response(-q.ravel()[self.system.cell]), velocity)

    def _write(self, v: np.ndarray, velocity: Staggered) -> None:
        """The regions' velocities on their faces; others are left to the pressures around them."""
        u, begin = self.affine.R @ v, 0
        for c in velocity[: self._dim]:
            mine = self.affine.owned[begin : begin + c.size].reshape(c.shape)
            c[mine] = u[begin : begin + c.size].reshape(c.shape)[mine]
            begin += c.size


def _with_regions(problem: PressureProblem, b: np.ndarray, given: Sequence[np.ndarray], q: np.ndarray) -> SolveStats:
    begin, regions = time.perf_counter(), problem.regions
    assert isinstance(regions, AssembledRegions)
    right, system, low = problem.vector(b.astype(np.float64)), regions.system, problem.eliminated.low_rank
    problem.eliminated.prepare(right, given)
    added = None if low is None else low.assemble(system.mask)
    if problem.bounds is not None:
        matrix = regions.affine.matrix() if added is None else regions.affine.matrix() + added
        x = problem.vector(q)
        stats = direct_bounded("pressure", system.mask, problem.bounds, right, x, sparse.csc_matrix(matrix))
        problem.unpack(x, q)
        return stats
    # The sign of the affine projection: q there pushes what it here pulls.
    found, residual = regions.affine.pressures(-right[0][0, 0], added)
    system.scatter((-found[None, None],), q)
    seconds = time.perf_counter() - begin
    return SolveStats("reference", system.unknowns, 1, residual, seconds, residual < 1e-6)


def reference_viscosity(problem: ViscosityProblem, velocity: Staggered, *, laplacian: bool = False) -> SolveStats:
    """Replace `velocity` on the unknown faces by the solution, in place; solid faces take the solid's.

    `laplacian` is the componentwise baseline: every component's gradient is penalised on its own, which damps rotation
    (Batty 2010, section 3.4). It takes bodies for solids whose velocity is known.
    """
    if laplacian and problem.bodies is not None:
        problem = replace(problem, bodies=None, solid=replace(problem.solid, velocity=problem.bodies.walls))
    return _solve_viscosity(problem, velocity, _strain_rows(problem, laplacian))


def held_surface_viscosity(problem: ViscosityProblem, velocity: Staggered, phi: np.ndarray) -> SolveStats:
    """A second baseline: componentwise, and faces outside the liquid keep the velocity that they have.

    With the liquid's velocity continued into the air this is the extrapolated Dirichlet condition (Batty 2010,
    section 3.4): the surface is held back as if by a wall that moves as the liquid did. Build it full of liquid.
    """
    rows = _strain_rows(problem, laplacian=True)
    mass, held = [], []
    for a, (m, u) in enumerate(zip(problem.mass, velocity)):
        padded = np.pad(phi, [(1, 1) if b == a else (0, 0) for b in range(3)], mode="edge")
        low, high = lower_upper(padded, a)
        inside = low + high < 0.0
        mass.append(np.where(inside, m, np.float32(0.0)))
        held.append(np.where(inside, 0.0, u).ravel())
    rows = replace(rows, known=rows.known + rows.matrix() @ np.concatenate(held))
    return _solve_viscosity(replace(problem, mass=(mass[0], mass[1], mass[2]), bodies=None), velocity, rows)


def _strain_rows(problem: ViscosityProblem, laplacian: bool) -> WallRows:
    solid = replace(problem.solid, velocity=problem.known_walls)
    return strain_rows(problem.grid, solid, problem.solid_faces, problem.weights, every=True, laplacian=laplacian)


def _solve_viscosity(problem: ViscosityProblem, velocity: Staggered, rows: WallRows) -> SolveStats:
    matrix, diagonal = rows.assemble(problem.held_mass, problem.added())
    b = tuple(m * u.astype(np.float64) for m, u in zip(problem.mass, velocity))
    rows.subtract_known(b)
    problem.pull_along(b)
    terms = problem.terms
    eliminated = Eliminated(diagonal, terms)
    given = [term.given(b, velocity) for term in terms]
    eliminated.prepare(b, given)
    if eliminated.low_rank is not None:
        matrix = matrix + eliminated.low_rank.assemble(diagonal)
    x = tuple(np.zeros(u.shape) for u in velocity)
    stats = direct_solve("viscosity", diagonal, b, x, matrix)
    eliminated.finish(x, x, given)
    problem.write(velocity, x, diagonal)
    return stats
