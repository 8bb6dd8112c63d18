"""The projection on Voronoi cells around a surface, and the tension of the surface in it.

    u = u* - (q_b - q_a) / (theta d),      q = gamma kappa dt / rho at the surface, theta of the way to it.

A face between two sites in the liquid with a surface between them is two: one on either side, each up to the surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.geometry.embedded.cells import EmbeddedCells
from glug.geometry.tracking.shore import directions
from glug.grids.covolume import Covolume
from glug.grids.mesh import Distance
from glug.grids.voronoi.field import Behind
from glug.grids.voronoi.mesh import Voronoi
from glug.physics.covolume.projection import CovolumeProblem, Incidence, SolverName
from glug.physics.voronoi import kernels
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

LEAST_THETA = {2: 1e-3, 3: 1e-2}  # Brochu, Batty and Bridson 2010
LEAST_OPEN = 0.02  # of a face: less is closed, as its velocity is hardly felt by any pressure
UNMET = 0.5  # theta where rounding hides the surface from a ray


@dataclass(frozen=True)
class SurfaceFaces:
    """Faces with the surface on their line, one-sided: where it is, and what lies where on the surface."""

    problem: CovolumeProblem
    cells: EmbeddedCells
    parted: np.ndarray  # the faces that are two; their second halves come after all others, in the same order
    wet_first: np.ndarray  # per face of the problem: the liquid is on the side of its first cell ...
    wet_second: np.ndarray  # ... or on that of its second

    @classmethod
    def build(
        cls, cells: EmbeddedCells, opened: np.ndarray, wall: np.ndarray, *, part_liquid: bool = True
    ) -> SurfaceFaces:
        """`opened` is the open part of every face, `wall` the normal velocity of solids there [m/s].

        Without `part_liquid`, a surface between two sites in the liquid is not seen: the baseline.
        """
        m = cells.mesh
        parted = cells.parted if part_liquid else np.zeros(0, np.int64)
        ghosts = len(m.cell_volume) + np.arange(len(parted), dtype=np.int32)
        halves = np.stack([ghosts, m.beside[1, parted]]).astype(np.int32)
        beside = np.concatenate([m.beside, halves], axis=1)
        beside[1, parted] = ghosts
        more = [np.concatenate([a, a[parted]]) for a in (m.face_position, m.face_normal, m.area, m.distance)]
        position = np.concatenate([m.cell_position, m.face_position[parted]])
        volume = np.concatenate([m.cell_volume, np.full(len(parted), np.inf)])
        mesh = Covolume(position, volume, beside, *more)
        wet = np.concatenate([cells.wet, np.zeros(len(parted), np.bool_)])
        first, second = wet[beside[0]] & ~wet[beside[1]], wet[beside[1]] & ~wet[beside[0]]
        time = np.where(
            first,
            np.concatenate([cells.from_first.time, np.full(len(parted), np.inf)]),
            np.concatenate([cells.from_second.time, cells.from_second.time[parted]]),
        )
        theta = np.where(first | second, np.where(np.isfinite(time), time, UNMET), 1.0)
        theta = np.maximum(theta, LEAST_THETA[m.dim])
        opened, wall = (np.concatenate([a, a[parted]]) for a in (opened, wall))
        phi = np.where(wet, -1.0, 1.0)
        incidence = Incidence.of(mesh)
        problem = CovolumeProblem.build(mesh, incidence, phi, opened, wall, theta)
        return cls(problem, cells, parted, first, second)

    def both_sides(self, u: np.ndarray) -> np.ndarray:
        """Velocities of the problem's faces from those of the mesh."""
        return np.concatenate([u, u[self.parted]])

    def jump(self, triangles: np.ndarray, at_vertices: np.ndarray) -> np.ndarray:
        """What the surface's vertices have where it crosses the problem's faces; 0 on others."""
        first = self.cells.from_first.value(triangles, at_vertices)
        second = self.cells.from_second.value(triangles, at_vertices)
        one, two = (np.concatenate([a, a[self.parted]]) for a in (first, second))
        return np.where(self.wet_first, one, np.where(self.wet_second, two, 0.0))

    def project(
        self, u: np.ndarray, q_surface: np.ndarray, limits: SolveLimits, solver: SolverName
    ) -> tuple[np.ndarray, SolveStats]:
        """Make `u` (faces of the problem) free of divergence, in place, with this q at the surface; q of every cell.

        Only differences count: the part of the surface's q that the velocities feel is taken in at the beginning.
        """
        p = self.problem
        push = np.where(p.link > 0.0, q_surface / (p.theta * p.mesh.distance), 0.0)
        u += np.where(self.wet_second, push, np.where(self.wet_first, -push, 0.0))
        return p.project(u, limits, solver)


@dataclass(frozen=True)
class CellsAshore:
    """What solids leave of cells."""

    mesh: Voronoi
    opened: np.ndarray  # the part of every face outside solids, whose distance is linear between vertices and middle
    behind: Behind | None  # what is in them; None without solids

    @classmethod
    def of(cls, mesh: Voronoi, solid: Distance | None) -> CellsAshore:
        opened = np.ones(len(mesh.area))
        if solid is None:
            return cls(mesh, opened, None)
        at_vertices, (start, corner) = solid(mesh.vertices), mesh.ring
        shape = start, corner, mesh.vertices, mesh.face_position, mesh.face_normal
        kernels.open_rings(*shape, at_vertices, solid(mesh.face_position), opened)
        opened[opened < LEAST_OPEN] = 0.0
        hidden, spacing = at_vertices < 0.0, float(np.median(mesh.distance))
        outwards = directions(mesh.vertices[hidden], solid, spacing)
        return cls(mesh, opened, Behind(solid(mesh.cell_position) < 0.0, hidden, outwards))
