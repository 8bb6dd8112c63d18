"""Frames of scenes on an octree: the surface brick by brick, from finest leaves, and a distance for pictures.

Marching cubes on the bricks meet at lattice edges, by whose numbers their vertices are joined. Where coarse leaves end
at a wall the mesh is closed by two triangles per leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.geometry.liquid import IntoSolids, cut_solid, liquid_distance, smoothed
from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.geometry.solids.full import DEPTH, sink_full
from glug.geometry.solids.kernels_full import fill_ranges
from glug.geometry.surface import extract_cells
from glug.grids.octree.linear.morton import cells_of
from glug.grids.octree.linear.tree import OUTSIDE
from glug.particles.leaves import sort_by_leaf
from glug.particles.storage import Particles
from glug.simulation.octree.bricks import Brick, bricks
from glug.simulation.octree.tree import StepTree, grow
from glug.simulation.setting import Setting
from glug.simulation.stages.octree import fill_lattice, fit
from glug.simulation.state import State

MOST_SAMPLES = 1 << 23  # of the distance for pictures: it is sampled more coarsely where there would be more
AROUND = 3  # cells of that distance around the liquid
LEAST_SHARE = np.float32(1e-3)  # of the faces around a point that particles reach, for a velocity there
CORNER, SINGLE = 3, 1e-4  # number of a vertex that lies on a sample, and how near it then is


@dataclass
class TreeFrame:
    """The surface of a state, in `refine` samples per cell edge."""

    setting: Setting
    state: State

    def __post_init__(self) -> None:
        names = [n for n in ("position", "velocity", "volume", "affine", "id") if self.state.particles.has(n)]
        given = {name: self.state.particles.attributes[name].copy() for name in names}
        self.particles = Particles(given, self.state.particles.next_id)
        self.step: StepTree = grow(self.setting, self.particles, self.state.time)
        fit(self.setting, self.particles, self.step)
        sort_by_leaf(self.particles, self.step.tree, self.step.place)
        self.refine = self.setting.scene.surface.resolution

    @cached_property
    def _coarse(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower corners and sides of coarse leaves."""
        tree = self.step.tree
        some = tree.level > 0
        return cells_of(tree.key[some]), np.int64(1) << tree.level[some].astype(np.int64)

    def sampled(self) -> tuple[SurfaceMesh, SampledDistance]:
        """The mesh with velocities at its vertices, and the distance for pictures."""
        vertices, triangles, numbers = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)]
        whole = self._empty_distance()
        count = 0
        for brick in bricks(self.step):
            phi = self._distance(brick)
            self._put(brick, phi, whole)
            mesh = self._mesh(brick, phi)
            vertices.append(mesh[0])
            triangles.append(mesh[1] + count)
            numbers.append(mesh[2])
            count += len(mesh[0])
        place, corners = joined(np.concatenate(vertices), np.concatenate(triangles), np.concatenate(numbers))
        sides = self._sides(len(place))
        place = np.concatenate([place, sides[0]]).astype(np.float32)
        corners = np.concatenate([corners, sides[1]]).astype(np.int32)
        return SurfaceMesh(place, corners, self._velocity(place)), self._cut_walls(whole)

    def _distance(self, brick: Brick) -> np.ndarray:
        """The liquid outside solids, at the samples of a brick's window."""
        solid = brick.solid(self.setting, self.state.time)
        given = *brick.particles(self.particles), brick.grid, brick.closed(self.setting, self.state.time)
        phi = liquid_distance(*given, self.refine, IntoSolids(self.setting.up))
        phi = smoothed(phi, self.setting.scene.surface.smoothing)
        sink_full(phi, brick.full, self.setting.dx, self.refine)
        return cut_solid(phi, brick.grid, solid.distance, self.refine).values

    def _mesh(self, brick: Brick, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vertices [m], triangles and numbers of the lattice edges that vertices lie on, of the brick's own leaves."""
        own = np.zeros(brick.grid.shape, np.bool_)
        own[tuple(brick.cells.T)] = True
        behind = (
            self.step.lo - np.asarray(brick.grid.lo) - 1
        )  # the layer of cells below the box, where cubes begin, too
        for axis in range(3):
            if behind[axis] >= 0:
                layers = np.moveaxis(own, axis, 0)
                layers[behind[axis]] = layers[behind[axis] + 1]
        for axis in range(3):
            own = own.repeat(self.refine, axis=axis)
        local, triangles = extract_cells(phi, own, self.setting.dx / self.refine)
        first = (np.asarray(brick.grid.lo) - self.step.lo) * self.refine
        spacing = self.setting.dx / self.refine
        corner = self.step.place.corner + spacing * (first + 0.5)
        return corner + spacing * local.astype(np.float64), triangles, edge_numbers(local, first)

    def _velocity(self, points: np.ndarray) -> np.ndarray:
        """At points, from the faces that particles reach; slightly inside the domain, whose sides end the tree."""
        step = self.step
        u, reached = step.transfer.velocities(self.particles, self.setting.particle_volume)
        inner = np.clip(
            points, np.asarray(self.setting.walls.lower) + 1e-3 * self.setting.dx,
            np.asarray(self.setting.walls.upper) - 1e-3 * self.setting.dx,
        )  # fmt: skip
        found = []
        for values in (u, reached.astype(np.float32)):
            step.u = values
            fill_lattice(step, reached)
            found.append(step.transfer.sample(inner, values))
        return found[0] / np.maximum(found[1], LEAST_SHARE)

    def _sides(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Squares where coarse leaves end at sides of the domain; they meet those of bricks, which begin at samples."""
        tree, dx = self.step.tree, self.setting.dx
        shift, room = 0.5 / self.refine, np.array(tree.shape, float)
        vertices, triangles = [np.zeros((0, 3))], [np.zeros((0, 3), np.int64)]
        for side in range(6):
            some = np.flatnonzero((tree.level > 0) & (tree.links[:, side] == OUTSIDE))
            a = side >> 1
            b, c = ((a + 1) % 3, (a + 2) % 3) if side & 1 else ((a + 2) % 3, (a + 1) % 3)
            low = cells_of(tree.key[some]).astype(float)
            high = low + np.ldexp(1.0, tree.level[some].astype(np.int32))[:, None]
            low, high = np.where(low > 0.0, low + shift, low), np.where(high < room, high + shift, high)
            square = np.empty((len(some), 4, 3))
            square[:, :, a] = (high if side & 1 else low)[:, a, None]
            square[:, :, b] = np.stack([low[:, b], high[:, b], high[:, b], low[:, b]], axis=1)
            square[:, :, c] = np.stack([low[:, c], low[:, c], high[:, c], high[:, c]], axis=1)
            first = count + 4 * np.arange(len(some))[:, None]
            triangles += [first + np.array([0, 1, 2]), first + np.array([0, 2, 3])]
            vertices.append(square.reshape(-1, 3))
            count += 4 * len(some)
        return self.step.place.corner + dx * np.concatenate(vertices), np.concatenate(triangles)

    def _empty_distance(self) -> SampledDistance:
        """In the box of the leaves: air, and deep liquid in coarse leaves."""
        dx, refine = self.setting.dx, self.refine
        low, high = _box(self.step)
        low, high = refine * (low - AROUND), refine * (high + AROUND)
        stride = 1
        while np.prod((high - low) / stride) > MOST_SAMPLES:
            stride += 1
        low = -(-low // stride)
        shape = tuple(-(-high // stride) - low)
        values = np.full(shape, np.float32(DEPTH * dx), np.float32)
        corner, side = self._coarse
        first, last = (-(-refine * n // stride) - low for n in (corner, corner + side[:, None]))
        fill_ranges(first, last, np.float32(-DEPTH * dx), values)
        self._stride, self._low = stride, low
        x, y, z = self.step.place.corner + dx / refine * (low * stride + 0.5)
        return SampledDistance(values, (float(x), float(y), float(z)), dx / refine * stride)

    def _put(self, brick: Brick, phi: np.ndarray, whole: SampledDistance) -> None:
        """A brick's samples of finest leaves, and of absent space around them."""
        stride, first = self._stride, (np.asarray(brick.grid.lo) - self.step.lo) * self.refine
        low, high = brick.cells.min(axis=0) * self.refine, (brick.cells.max(axis=0) + 1) * self.refine
        begin = -(-(first + low) // stride) * stride  # in samples of the box
        mine = tuple(slice(int(b - f), int(h), stride) for b, f, h in zip(begin, first, high))
        some = phi[mine]
        theirs = tuple(
            slice(int(b // stride - n), int(b // stride - n) + m) for b, n, m in zip(begin, self._low, some.shape)
        )
        whole.values[theirs] = some

    def _cut_walls(self, whole: SampledDistance) -> SampledDistance:
        """The liquid ends at closed sides, in coarse leaves too."""
        for a in range(3):
            x = whole.corner[a] + whole.spacing * np.arange(whole.values.shape[a])
            out = np.maximum(self.setting.walls.lower[a] - x, x - self.setting.walls.upper[a]).astype(np.float32)
            np.maximum(whole.values, out.reshape([-1 if b == a else 1 for b in range(3)]), out=whole.values)
        return whole


def _box(step: StepTree) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corner of the tree's leaves."""
    if len(step.tree) == 0:
        return np.zeros(3, np.int64), np.ones(3, np.int64)
    corner, size = cells_of(step.tree.key), step.tree.size.astype(np.int64)
    return corner.min(axis=0), (corner + size[:, None]).max(axis=0)


def edge_numbers(local: np.ndarray, first: np.ndarray) -> np.ndarray:
    """A number for the lattice edge that each vertex lies on, or the sample; -1 inside a cube, where none is shared.

    local  vertices in samples of a window that begins at sample `first`
    """
    whole = np.round(local)
    between = np.abs(local - whole) >= SINGLE
    at = np.where(between, np.floor(local), whole).astype(np.int64) + first + 16
    count = between.sum(axis=1)
    axis = np.where(count == 1, between.argmax(axis=1), CORNER)
    number = (((((at[:, 0] << 20) | at[:, 1]) << 20) | at[:, 2]) << 2) | axis
    return np.where(count > 1, -1, number)


def joined(vertices: np.ndarray, triangles: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of equal numbers become one."""
    numbers = np.where(numbers < 0, -1 - np.arange(len(numbers)), numbers)
    _, kept, became = np.unique(numbers, return_index=True, return_inverse=True)
    corners = became[triangles]
    real = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    return vertices[kept], corners[real]
