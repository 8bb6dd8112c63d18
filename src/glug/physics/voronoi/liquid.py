"""A liquid without viscosity on Voronoi cells around its tracked surface (Brochu, Batty and Bridson 2010).

A step moves the surface with the velocity, puts new cells around it, brings the velocity onto them (semi-Lagrangian,
which also carries it from the old mesh to the new one), adds gravity, and projects with the surface's tension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from glug.geometry.embedded.cells import EmbeddedCells
from glug.geometry.embedded.curvature import curvature
from glug.geometry.embedded.elements import Elements
from glug.geometry.embedded.sites import Placement
from glug.geometry.tracking.surface import TrackedSurface
from glug.grids.voronoi.field import Interpolation, VoronoiField
from glug.physics.covolume.projection import SolverName
from glug.physics.voronoi.problem import Distance, SurfaceFaces, open_parts
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

Velocity = Callable[[np.ndarray], np.ndarray]
SURFACE_SITES = Placement()
LIMITS = SolveLimits(1e-8, 500)


FAIRING = 0.25  # share of the roughness between vertices that a step takes away: pressures do not resist it
CLEAR = 2.0  # cells from solids: nearer, where the surface has its edge, it is moved by the flow alone
NEAR, DEEP, PULL = 0.25, 0.75, 0.25  # cells: surfaces this near to a solid go on this deep into it, by so much a step


def directions(x: np.ndarray, solid: Distance, dx: float) -> np.ndarray:
    """Unit vectors (n, dim) out of the nearest solid."""
    out = np.zeros_like(x)
    for a in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[a] = 1e-3 * dx
        out[:, a] = solid(x + step) - solid(x - step)
    return out / np.maximum(np.linalg.norm(out, axis=1), 1e-300)[:, None]


@dataclass(frozen=True)
class Method:
    """How a liquid is solved."""

    placement: Placement = SURFACE_SITES
    interpolation: Interpolation = "refined"
    solver: SolverName = "direct"
    limits: SolveLimits = LIMITS


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
    stats: SolveStats | None = None

    @property
    def elements(self) -> Elements:
        return Elements(self.surface.vertices, self.surface.triangles, self.surface.dx)

    def normals(self) -> np.ndarray:
        return self.surface.measure(self.surface.part, len(self.surface.target))[2]

    def step(self, dt: float) -> None:
        """One step; the first one begins with a projection alone."""
        if not isinstance(self.velocity, VoronoiField):
            self.settle_velocity()
        self.move(dt)
        cells = EmbeddedCells.around(self.elements, self.normals(), self.method.placement)
        self.project(cells, self.brought(cells, dt), dt)

    def settle_velocity(self) -> None:
        """The velocity that the liquid begins with, free of divergence."""
        cells = EmbeddedCells.around(self.elements, self.normals(), self.method.placement)
        u = np.zeros(len(cells.mesh.area))
        if self.velocity is not None:
            assert not isinstance(self.velocity, VoronoiField)
            u = (self.velocity(cells.mesh.face_position) * cells.mesh.face_normal).sum(axis=1)
        self.project(cells, u, 0.0)

    def move(self, dt: float) -> None:
        """The surface moves with the velocity."""
        assert isinstance(self.velocity, VoronoiField)
        s = self.surface
        s.improve()
        s.join()
        s.settle()
        if len(s.triangles) == 0:
            return
        flow = self.velocity.carried(s.vertices, dt) - s.vertices
        if self.solid is None:
            s.move(flow + s.smoothing() + s.fairing(FAIRING) + s.correction())
            return
        distance, outwards = self.solid(s.vertices), directions(s.vertices, self.solid, s.dx)
        free = distance > NEAR * s.dx
        out = np.where(free, 0.0, NEAR * s.dx - distance)
        beside = self.velocity(s.vertices + out[:, None] * outwards)  # behind a wall as just before it, along it
        along = beside - (beside * outwards).sum(axis=1)[:, None] * outwards
        depth = np.clip(distance + DEEP * s.dx, -PULL * s.dx, PULL * s.dx)
        flow = np.where(free[:, None], flow, dt * along - depth[:, None] * outwards)
        held = np.bincount(s.part[~free], minlength=len(s.target)) > 0
        volume = s.liquid(s.measure(s.part, len(s.target))[0], s.part)
        s.target = np.where(held, volume, s.target)  # what is behind walls is no liquid: only free parts are corrected
        clear = distance > CLEAR * s.dx
        s.move(flow + clear[:, None] * (s.smoothing() + s.fairing(FAIRING)) + s.correction(free))

    def brought(self, cells: EmbeddedCells, dt: float) -> np.ndarray:
        """The velocities of the faces, from where their liquid was, with gravity."""
        assert isinstance(self.velocity, VoronoiField)
        m = cells.mesh
        vector = self.velocity(self.velocity.carried(m.face_position, -dt))
        if len(self.gravity):
            vector = vector + dt * np.asarray(self.gravity, float)
        return (vector * m.face_normal).sum(axis=1)

    def project(self, cells: EmbeddedCells, u: np.ndarray, dt: float) -> None:
        """Make the velocities of the faces free of divergence, and a field of them."""
        s = self.surface
        opened = open_parts(cells, self.solid)
        seen = self.method.placement.sites == "surface"
        faces = SurfaceFaces.build(cells, opened, np.zeros_like(u), part_liquid=seen)
        both = faces.both_sides(u)
        q_surface = np.zeros_like(both)
        if self.tension > 0.0 and dt > 0.0:
            kappa = curvature(s.vertices, s.triangles, self.normals())
            q_surface = dt / self.density * self.tension * faces.jump(s.triangles, kappa)
        self.q, self.stats = faces.project(both, q_surface, self.method.limits, self.method.solver)
        used = faces.problem.link[: len(u)] > 0.0
        used[faces.parted] = False
        self.cells = cells
        self.velocity = VoronoiField.of(cells.mesh, both[: len(u)], used, cells.wet, self.method.interpolation)
