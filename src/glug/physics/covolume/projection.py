"""The projection on a covolume mesh, with the surface and the solids where they are inside the cells.

With q = p dt / rho, open parts w and ghost distances theta of the faces,

    u = u* - (q_b - q_a) / (theta d),      sum_f +-A (w u + (1 - w) u_wall) = 0 in every wet cell,

a symmetric positive system with the links w A / (theta d). `physics.reference.covolume` is the same, assembled from D.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from glug.grids.covolume import Covolume
from glug.grids.kernels import join_pairs
from glug.grids.mesh import Distance
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.physics.covolume import kernels
from glug.physics.covolume.levels import multigrid
from glug.solvers.assembled.direct import factorise
from glug.solvers.assembled.rows import AssembledSystem
from glug.solvers.balance import Balanced
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, solve_with_fallback
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

LEAST_OPEN = 1e-6  # of a face: less is closed
LEAST_THETA = 1e-4
ON_SURFACE = 1e-3  # of the distance between pressures: pressures this near to the surface are the air's
CROSSING_STEPS = 8
PATIENCE = 100  # iterations of multigrid
SolverName = Literal["multigrid", "jacobi-cg", "amg", "direct"]


@dataclass(frozen=True)
class Incidence:
    """The faces of every cell: from start[c] to start[c + 1] of `face`."""

    start: np.ndarray
    face: np.ndarray

    @classmethod
    def of(cls, mesh: Covolume) -> Incidence:
        return cls(*mesh.faces_of_cells)


@dataclass(frozen=True)
class EmbeddedGeometry:
    """Distances where tetrahedra take them: of the liquid at the pressures, of solids at the vertices.

    Where the liquid's `distance` between pressures is given, the surface is at its zero there; otherwise distances
    count as linear. The baselines: `solid_cells` (solids' distance at the pressures) makes cells solid or not; a
    surface that is not `embedded` is at the faces, where ghost pressures are mirrored.
    """

    phi: np.ndarray
    solid: np.ndarray
    solid_cells: np.ndarray | None = None
    embedded: bool = True
    distance: Distance | None = None

    def surface(self, mesh: Covolume) -> np.ndarray:
        """`phi`, with pressures that are all but on the surface in the air.

        As the liquid's they would have ghost distances of rounding. Bounded from below, these would push the faces of
        such a cell against each other, however small the bound: by g dt, since q is the weight of what is above.
        """
        nothing = ON_SURFACE * float(np.median(mesh.distance)) if len(mesh.distance) else 0.0
        return np.where(self.phi > -nothing, np.maximum(self.phi, 0.0), self.phi)

    def open_parts(self, mesh: Tetrahedra) -> np.ndarray:
        opened = np.empty(len(mesh.area))
        if self.solid_cells is None:
            kernels.open_faces(self.solid, mesh.ends, LEAST_OPEN, opened)
        else:
            opened[:] = np.where((self.solid_cells[mesh.beside] < 0.0).any(axis=0), 0.0, 1.0)
        return opened

    def ghosts(self, mesh: Covolume) -> np.ndarray:
        """theta of every face: more than 1 where the surface is just beyond a pressure of the air."""
        wet, theta = self.surface(mesh) < 0.0, np.empty(len(mesh.area))
        kernels.ghost_fractions(mesh.beside, wet, self.phi, LEAST_THETA, theta)
        if not self.embedded:
            cut = wet[mesh.beside[0]] != wet[mesh.beside[1]]
            theta = np.where(cut, mirrored_fractions(mesh, wet), theta)
        elif self.distance is not None:
            cut = np.flatnonzero(theta < 1.0)
            theta[cut] = np.maximum(crossings(mesh, cut, self.phi, self.distance), LEAST_THETA)
        return theta


def mirrored_fractions(mesh: Covolume, wet: np.ndarray) -> np.ndarray:
    """The part of the way between the pressures of a face that is on the side of the wet one, as it were."""
    inside = np.where(wet[mesh.beside[0]], *mesh.beside)
    way = np.abs(((mesh.face_position - mesh.cell_position[inside]) * mesh.face_normal).sum(axis=1))
    return np.maximum(way / mesh.distance, LEAST_THETA)


def crossings(mesh: Covolume, faces: np.ndarray, phi: np.ndarray, distance: Distance) -> np.ndarray:
    """The part of the way from the wet to the dry pressure of some faces at which a distance is zero.

    A surface made of particles has a distance that bends beside it: taken as linear between pressures at all heights, a
    level surface would not be level. Regula falsi with halved ends (Illinois).
    """
    wet = np.where(phi[mesh.beside[0, faces]] < 0.0, mesh.beside[:, faces], mesh.beside[::-1, faces])
    begin, way = mesh.cell_position[wet[0]], mesh.cell_position[wet[1]] - mesh.cell_position[wet[0]]
    low, high = np.zeros(len(faces)), np.ones(len(faces))
    at_low, at_high = phi[wet[0]], phi[wet[1]]
    part = at_low / (at_low - at_high)
    for _ in range(CROSSING_STEPS):
        value = distance(begin + part[:, None] * way)
        inside = value < 0.0
        at_high = np.where(inside, 0.5 * at_high, value)
        at_low = np.where(inside, value, 0.5 * at_low)
        low, high = np.where(inside, part, low), np.where(inside, high, part)
        part = np.clip(low + (high - low) * at_low / np.minimum(at_low - at_high, -1e-300), low, high)
    return part


@dataclass(frozen=True)
class CovolumeProblem:
    """One geometry, without a velocity."""

    mesh: Covolume
    incidence: Incidence
    opened: np.ndarray  # w of every face
    theta: np.ndarray
    wall: np.ndarray  # (2, faces): normal velocity there of the solid that the cell on either side has [m/s]
    cells: np.ndarray  # the wet ones
    number: np.ndarray  # of every cell's unknown, negative in dry ones

    @classmethod
    def build(
        cls,
        mesh: Covolume,
        incidence: Incidence,
        phi: np.ndarray,
        opened: np.ndarray,
        wall: np.ndarray,
        theta: np.ndarray,
    ) -> CovolumeProblem:
        """`phi` is the liquid's distance at the pressures; wet cells without an open face have none.

        `wall` (faces,) is the same for both sides. Where solids slide along each other a cell must have one of them:
        what flows into it with both would have to leave through what is open, however little that is.
        """
        wall = np.ascontiguousarray(np.broadcast_to(wall, (2, len(opened))))
        reach = np.bincount(mesh.beside.ravel(), np.tile(opened, 2), len(phi)) > 0.0
        wet = (phi < 0.0) & reach
        number = np.where(wet, np.cumsum(wet, dtype=np.int32) - np.int32(1), np.int32(-1))
        return cls(mesh, incidence, opened, theta, wall, np.flatnonzero(wet).astype(np.int32), number)

    @cached_property
    def link(self) -> np.ndarray:
        out = np.empty(len(self.opened))
        m = self.mesh
        kernels.links_of(m.beside, m.area, m.distance, self.opened, self.theta, self.number, out)
        return out

    @property
    def volume(self) -> np.ndarray:
        """w A theta d of every face [m^dim]: the liquid's weight in the energy that the projection makes least."""
        return self.opened * self.mesh.area * self.theta * self.mesh.distance

    @cached_property
    def system(self) -> AssembledSystem:
        i, cells = self.incidence, self.cells
        room = (i.start[1:] - i.start[:-1])[cells]
        first = np.zeros(len(cells) + 1, np.int64)
        np.cumsum(room, out=first[1:])
        length, rest = np.empty(len(cells), np.uint16), np.empty(len(cells), np.float32)
        column, value = np.empty(int(first[-1]), np.int32), np.empty(int(first[-1]), np.float32)
        kernels.fill_rows(
            cells, self.number, i.start, i.face, self.mesh.beside, self.link, first, length, column, value, rest
        )
        return AssembledSystem("pressure", first[:-1].astype(np.uint32), length, column, value, rest)

    @cached_property
    def matrix(self) -> sparse.csc_matrix:
        """The same in double precision, assembled."""
        n, both = len(self.cells), self.number[self.mesh.beside]
        inner = (both >= 0).all(axis=0) & (self.link > 0.0)
        own = both >= 0
        diagonal = np.bincount(both[own], np.tile(self.link, (2, 1))[own], n)
        (a, b), link = both[:, inner], -self.link[inner]
        around = sparse.coo_matrix((np.tile(link, 2), (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(n, n))
        return (around + sparse.diags(diagonal)).tocsc()

    @cached_property
    def closed_parts(self) -> np.ndarray:
        """Per unknown the number of the part that it is in, if that touches no air; -1 otherwise."""
        both = self.number[self.mesh.beside]
        inner = np.flatnonzero((both >= 0).all(axis=0) & (self.link > 0.0))
        parent = np.arange(len(self.cells), dtype=np.int32)
        join_pairs(both, inner, parent)
        open_to_air = np.zeros(len(parent), np.bool_)
        open_to_air[parent[self.system.rest > 0.0]] = True
        closed = ~open_to_air[parent]
        name = np.cumsum((parent == np.arange(len(parent))) & closed, dtype=np.int32) - np.int32(1)
        return np.where(closed, name[parent], np.int32(-1)).astype(np.int32)

    def right_side(self, u: np.ndarray) -> np.ndarray:
        """What flows into the wet cells [m^dim/s]; in closed parts without its mean."""
        b, m, i = np.empty(len(self.cells)), self.mesh, self.incidence
        kernels.outflows(self.cells, i.start, i.face, m.beside, m.area, self.opened, u, self.wall, b)
        part = self.closed_parts
        if (part >= 0).any():
            sums, counts = np.bincount(part + 1, b), np.bincount(part + 1)
            means = sums / np.maximum(counts, 1)
            means[0] = 0.0
            b -= means[part + 1]
        return b

    def project(
        self, u: np.ndarray, limits: SolveLimits, solver: SolverName = "multigrid", guess: np.ndarray | None = None
    ) -> tuple[np.ndarray, SolveStats]:
        """Make `u` (faces,) free of divergence in place; q of every cell, and how the solve went.

        `guess` is a q of every cell to begin with.
        """
        m, b = self.mesh, self.right_side(u)
        x = np.zeros(len(b)) if guess is None else guess[self.cells]
        stats = SolveStats("nothing to solve", 0, 0, 0.0, 0.0, True)
        if len(b):
            x, stats = (self._direct if solver in ("amg", "direct") else self._iterate)(b, x, limits, solver)
        q = np.zeros(len(self.number))
        q[self.cells] = x
        kernels.push(m.beside, m.distance, self.theta, self.link, q, self.wall, self.opened, u)
        return q, stats

    def _iterate(self, b: np.ndarray, x: np.ndarray, limits: SolveLimits, solver: str) -> tuple[np.ndarray, SolveStats]:
        system, part = self.system, self.closed_parts

        def cycle() -> Preconditioner:
            found = multigrid(system, self.mesh.cell_position[self.cells], float(np.median(self.mesh.distance)))
            balanced = (part >= 0).any()
            return Cycle(system, Balanced(found, system, part.reshape(1, 1, -1)) if balanced else found)

        def jacobi() -> Preconditioner:
            return Diagonal(system.mask, system.blocks)

        makers = [cycle, jacobi] if solver == "multigrid" else [jacobi]
        solution = system.vector(x, np.float64)
        stats = solve_with_fallback(system, makers, system.vector(b), solution, limits, patience=(PATIENCE,))
        return solution[0][0, 0], replace(stats, solver=solver)

    def _direct(self, b: np.ndarray, x: np.ndarray, limits: SolveLimits, solver: str) -> tuple[np.ndarray, SolveStats]:
        """By factors, or by PyAMG's smoothed aggregation: the reference."""
        begin = time.perf_counter()
        matrix, iterations, setup = self.matrix, 1, 0.0
        if solver == "amg":
            import pyamg

            residuals: list[float] = []
            hierarchy = pyamg.smoothed_aggregation_solver(matrix.tocsr(), max_coarse=400)
            setup = time.perf_counter() - begin
            x = hierarchy.solve(b, x0=x, tol=limits.tolerance, accel="cg", residuals=residuals)
            iterations = len(residuals) - 1
        else:
            x = factorise(matrix)(b)
        scale = max(float(np.abs(b).max()), limits.floor, 1e-300)
        residual = float(np.abs(b - matrix @ x).max()) / scale
        seconds = time.perf_counter() - begin - setup
        return x, SolveStats(
            solver, len(b), iterations, residual, seconds, residual < max(1e-6, limits.tolerance), setup
        )
