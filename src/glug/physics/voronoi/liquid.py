"""A liquid without viscosity on Voronoi cells around its tracked surface (Brochu, Batty and Bridson 2010).

A step moves the surface with the velocity, puts new cells around it, brings the velocity onto them (semi-Lagrangian,
which also carries it from the old mesh to the new one), adds gravity, and projects with the surface's tension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from glug.geometry.embedded.cells import EmbeddedCells
from glug.geometry.embedded.curvature import curvature
from glug.geometry.embedded.elements import Elements, Meetings
from glug.geometry.embedded.sites import Placement, touching
from glug.geometry.tracking.shore import NEAR, Solids
from glug.geometry.tracking.surface import TrackedSurface
from glug.grids.mesh import Distance
from glug.grids.voronoi.field import Interpolation, VoronoiField
from glug.physics.covolume.projection import SolverName
from glug.physics.voronoi.flight import given_back, velocities_of_parts
from glug.physics.voronoi.problem import CellsAshore, SurfaceFaces
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

Velocity = Callable[[np.ndarray], np.ndarray]
SURFACE_SITES = Placement()
LIMITS = SolveLimits(1e-8, 500)


FAIRING = 0.25  # share of the roughness between vertices that a step takes away: pressures do not resist it
SHARPEST = 0.5  # cells: the radius of the ball that no curvature exceeds


@dataclass(frozen=True)
class Method:
    """How a liquid is solved."""

    placement: Placement = SURFACE_SITES
    interpolation: Interpolation = "refined"
    solver: SolverName = "direct"
    limits: SolveLimits = LIMITS
    compensated: bool = True  # what a step forth and back of the velocity loses is made up for


@dataclass
class VoronoiLiquid:
    """Surface and velocity; `density` [kg/m3], `tension` [N/m], `gravity` (dim,) [m/s2]."""

    surface: TrackedSurface
    density: float = 1.0
    tension: float = 0.0
    gravity: np.ndarray | tuple = ()
    solid: Distance | None = None  # negative in solids
    method: Method = Method()
    velocity: VoronoiField | Velocity | None = None  # None: at rest
    q: np.ndarray = field(default_factory=lambda: np.zeros(0))  # p dt / rho of the cells, of the last projection
    cells: EmbeddedCells | None = None  # of the last projection
    pace: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # of the surface's parts before their last move
    swept: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # [m/s] of the surface's vertices, the same
    stats: SolveStats | None = None
    ashore_cells: CellsAshore | None = None  # of the last cells that were asked for
    kept: tuple[tuple[np.ndarray, ...], tuple[Elements, Meetings]] | None = None  # what was `seen` of a surface

    @property
    def solids(self) -> Solids | None:
        """Those that the surface goes on behind."""
        if self.solid is None:
            return None
        return Solids(self.solid, self.surface.dx)

    @property
    def elements(self) -> Elements:
        """The surface for rays. Parts that touch somewhere are one: there, their surfaces have met."""
        return self.seen[0]

    @property
    def seen(self) -> tuple[Elements, Meetings]:
        """The same, and what the outward normals of its vertices meet within a cell; kept until the surface changes."""
        s = self.surface
        now = s.vertices, s.triangles, s.part
        if self.kept is None or any(a is not b for a, b in zip(self.kept[0], now)):
            found, x = Elements(s.vertices, s.triangles, s.dx, s.part), s.vertices
            before = found.meetings(x, x + s.dx * self.normals(), np.arange(len(x)))
            if len(s.target) > 1:
                found = found.of_parts(self.meeting_parts(found, before))
            self.kept = now, (found, before)
        return self.kept[1]

    def meeting_parts(self, surface: Elements, before: Meetings) -> np.ndarray:
        """The part of every vertex (n,), those that touch having the same number."""
        own, count = self.surface.part, len(self.surface.target)
        near = before.time < self.method.placement.gap
        pairs = own[near], surface.parts_of(before.element[near])
        graph = sparse.coo_matrix((np.ones(len(pairs[0]), np.int8), pairs), shape=(count, count))
        return connected_components(graph, directed=False)[1][own]

    def normals(self) -> np.ndarray:
        return self.surface.normals()

    def step(self, dt: float) -> None:
        """One step; the first one begins with a projection alone."""
        if not isinstance(self.velocity, VoronoiField):
            self.settle_velocity()
        self.move(dt)
        cells = self.cells_now()
        u, used = self.project(cells, self.brought(cells, dt), dt)
        self.keep_momentum(cells, u, used, dt * np.asarray(self.gravity, float) if len(self.gravity) else 0.0)

    def cells_now(self) -> EmbeddedCells:
        """Cells around the surface as it is."""
        return EmbeddedCells.around(self.elements, self.normals(), self.method.placement)

    def settle_velocity(self) -> tuple[np.ndarray, np.ndarray]:
        """The velocity that the liquid begins with, free of divergence; its volumes now are those that it keeps.

        Returns what `solve` does.
        """
        self.surface.keep_volumes(self.ashore())
        cells = self.cells_now()
        u = np.zeros(len(cells.mesh.area))
        if self.velocity is not None:
            assert not isinstance(self.velocity, VoronoiField)
            u = (self.velocity(cells.mesh.face_position) * cells.mesh.face_normal).sum(axis=1)
        return self.project(cells, u, 0.0)

    def ashore(self) -> np.ndarray | None:
        """The surface's vertices, those behind solids on their surfaces: what they enclose is the liquid."""
        return None if self.solids is None else self.solids.outside(self.surface.vertices)

    def volume(self) -> float:
        """Of the liquid [m^dim]."""
        return self.surface.volume(self.ashore())

    def move(self, dt: float) -> None:
        """The surface moves with the velocity."""
        assert isinstance(self.velocity, VoronoiField)
        s = self.surface
        s.improve()
        s.join()
        s.settle(self.ashore())
        if len(s.triangles) == 0:
            return
        facing, seam = self.facing()
        self.swept = self.at_surface(facing)
        self.pace = velocities_of_parts(s, self.swept)
        flow = self.velocity.carried(s.vertices, dt) - s.vertices
        flow[facing] = dt * self.swept[facing]
        loose = ~seam[:, None]
        if self.solids is None:
            moved = flow + s.smoothing() + loose * s.fairing(FAIRING)
            s.move(moved + s.correction(~seam, s.vertices + moved))
            return
        shore = self.solids.beside(s.vertices, self.normals())
        flow = shore.along(flow, self.velocity(shore.before(s.vertices)), dt)
        moved = flow + shore.clear[:, None] * (s.smoothing() + loose * s.fairing(FAIRING))
        s.move(moved + s.correction(shore.free & ~seam, self.solids.outside(s.vertices + moved)))

    def facing(self) -> tuple[np.ndarray, np.ndarray]:
        """Which vertices have another piece of the surface before them, within a cell; and which touch one."""
        surface, before = self.seen
        seam = touching(surface, before, self.method.placement)
        return (before.time < 1.0) & ~seam, seam

    def at_surface(self, facing: np.ndarray) -> np.ndarray:
        """The velocity of the surface's vertices; those that are `facing` others have that of the liquid behind them.

        Between the faces, the velocity is one and continuous: liquids that come near to each other would slow down
        before they touch.
        """
        assert isinstance(self.velocity, VoronoiField)
        s = self.surface
        found = self.velocity(s.vertices)
        if facing.any():
            x, inwards, numbers = s.vertices[facing], -s.dx * self.normals()[facing], np.flatnonzero(facing)
            way = np.minimum(self.elements.meetings(x, x + inwards, numbers).time, 1.0)
            found[facing] = self.velocity.one_sided(x, x + self.method.placement.inside * way[:, None] * inwards)
        return found

    def brought(self, cells: EmbeddedCells, dt: float) -> np.ndarray:
        """The velocities of the faces, from where their liquid was, with gravity.

        Those between liquid and air at a surface that faces another have it from their own side.
        """
        assert isinstance(self.velocity, VoronoiField)
        m, old, wet = cells.mesh, self.velocity, cells.wet
        at = np.flatnonzero(wet[m.beside].any(axis=0) & (self.shore_of(cells).opened > 0.0))
        place, (a, b) = m.face_position[at], m.beside[:, at]
        came, where = old.carried_to(place, -dt)
        vector = old(came, where)
        if self.method.compensated:
            low, high = old.bounds
            vector += 0.5 * self.lost(cells, at, vector, dt)(came, where)
            np.clip(vector, low[where.site], high[where.site], out=vector)
        first, second = wet[a] & ~wet[b], wet[b] & ~wet[a]
        element = np.where(first, cells.from_first.element[at], np.where(second, cells.from_second.element[at], -1))
        triangles = self.surface.triangles
        faced = np.append(self.facing()[0][triangles].any(axis=1), False)
        some = np.flatnonzero(faced[element])
        if len(some):
            before = -dt * self.swept[triangles[element[some]]].mean(axis=1)
            site = m.cell_position[np.where(first, a, b)[some]]
            vector[some] = old.one_sided(place[some] + before, site + before)
        if len(self.gravity):
            vector = vector + dt * np.asarray(self.gravity, float)
        u = np.zeros(len(m.area))
        u[at] = (vector * m.face_normal[at]).sum(axis=1)
        return u

    def lost(self, cells: EmbeddedCells, at: np.ndarray, vector: np.ndarray, dt: float) -> VoronoiField:
        """What the velocity loses where its values on faces `at` of new cells (k, dim) are brought back to old ones.

        A way forth and back loses twice what the way forth does (Dupont and Liu 2003). Faces at the surface lose
        nothing: what is continued beyond it differs by more than that.
        """
        field, m = self.velocity, cells.mesh
        assert isinstance(field, VoronoiField)
        used, u = np.zeros(len(m.area), np.bool_), np.zeros(len(m.area))
        used[at], u[at] = True, (vector * m.face_normal[at]).sum(axis=1)
        there = self.field_on(cells, u, used)
        old = field.mesh
        inner = np.flatnonzero(field.used & field.wet[old.beside].all(axis=0))
        back = there(field.faces_carried(inner, dt))
        missing = np.zeros_like(field.u)
        missing[inner] = field.u[inner] - (back * old.face_normal[inner]).sum(axis=1)
        return field.of_faces(missing)

    def project(self, cells: EmbeddedCells, u: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Make the velocities of the faces free of divergence, and a field of them; returns what `solve` does."""
        found, used = self.solve(cells, u, dt)
        self.reconstruct(cells, found, used)
        return found, used

    def solve(self, cells: EmbeddedCells, u: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """The velocities of the faces, free of divergence, and which of them are the liquid's; 0 elsewhere."""
        s = self.surface
        opened = self.shore_of(cells).opened
        seen = self.method.placement.sites == "surface"
        faces = SurfaceFaces.build(cells, opened, np.zeros_like(u), part_liquid=seen)
        both = faces.both_sides(u)
        q_surface = np.zeros_like(both)
        if self.tension > 0.0 and dt > 0.0:
            q_surface = dt / self.density * self.tension * faces.jump(s.triangles, self.curvatures())
        self.q, self.stats = faces.project(both, q_surface, self.method.limits, self.method.solver)
        used = faces.problem.link[: len(u)] > 0.0
        used[faces.parted] = False
        return np.where(used, both[: len(u)], 0.0), used

    def keep_momentum(
        self, cells: EmbeddedCells, u: np.ndarray, used: np.ndarray, gained: np.ndarray | float
    ) -> np.ndarray:
        """The velocities of the faces and their field, such that parts in free flight go on as before the move.

        `gained` is what gravity added [m/s]. Returns the velocities.
        """
        assert isinstance(self.velocity, VoronoiField)
        s = self.surface
        missing = self.pace + gained - velocities_of_parts(s, self.at_surface(self.facing()[0]))
        change = given_back(s, cells, used, self.shore_of(cells).opened, missing)
        if change.any():
            u = u + change
            self.velocity = self.velocity.of_faces(u)
        return u

    def curvatures(self) -> np.ndarray:
        """kappa (n,) [1/m] of the surface's vertices; those at solids and behind them have that of their neighbours."""
        s = self.surface
        most = (s.vertices.shape[1] - 1) / (SHARPEST * s.dx)
        kappa = np.clip(curvature(s.vertices, s.triangles, self.normals()), -most, most)
        if self.solid is None:
            return kappa
        free = self.solid(s.vertices) > NEAR * s.dx
        total, count = np.zeros(len(free)), np.zeros(len(free))
        for a in range(s.triangles.shape[1]):
            for b in range(s.triangles.shape[1]):
                one, other = s.triangles[:, a], s.triangles[:, b]
                total += np.bincount(one, free[other] * kappa[other], len(free))
                count += np.bincount(one, free[other], len(free))
        return np.where(free, kappa, total / np.maximum(count, 1))

    def reconstruct(self, cells: EmbeddedCells, u: np.ndarray, used: np.ndarray) -> None:
        """The field of velocities of the faces."""
        self.cells = cells
        self.velocity = self.field_on(cells, u, used)

    def field_on(self, cells: EmbeddedCells, u: np.ndarray, used: np.ndarray) -> VoronoiField:
        """The field of velocities of the faces of some cells."""
        behind, how = self.shore_of(cells).behind, self.method.interpolation
        return VoronoiField.of(cells.mesh, u, used, cells.wet, how, behind)

    def shore_of(self, cells: EmbeddedCells) -> CellsAshore:
        """What solids leave of cells; those of the last ones are kept."""
        if self.ashore_cells is None or self.ashore_cells.mesh is not cells.mesh:
            self.ashore_cells = CellsAshore.of(cells.mesh, self.solid)
        return self.ashore_cells
