"""The grids of a viscous solve: the operator on every level, and how the coarse ones follow from the fine.

The coarse operator bounds the fine energy of interpolated velocities: strains are interpolated like velocities, so the
restriction of mass and stress weights does it, at free surfaces too, and for viscosities that jump. Walls are seen anew
on every level, from the same distance: a face of a coarse grid is stopped where it lies in a solid and held at the
wall's true distance elsewhere. A coarse face in a solid that mostly moves liquid which does not touch it, hanging over
it with a gap thinner than a coarse cell, is not stopped: the coarse grid would hold what the fine one does not.
Walls that stop no coarse face, being thinner than its cells, hold what liquid they touch by its restricted weights.

With the restriction the transpose of the interpolation a coarse matrix is eight times that of its own volume, which
the sums do by themselves; differences over twice the distance divide the stress weights by four.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np

from glug.grids.blocks import TILE, active_blocks
from glug.grids.coarsen import (
    CELLS,
    NODES,
    PAIRS,
    coarse_blocks,
    coarse_shape,
    every_other,
    gather,
    interpolate,
    quarter,
    weights_at,
)
from glug.grids.packing import Packing
from glug.grids.regular import EDGES, FACES, Grid, Staggered, clear_border, copied, mapped
from glug.physics.viscosity import kernels as wall_kernels
from glug.physics.viscosity import kernels_contact_line, kernels_lost_walls
from glug.physics.viscosity import kernels_stress as kernels
from glug.physics.viscosity.slip import SlipTerm, SurfaceRows
from glug.solvers.cg import Vector
from glug.solvers.multigrid import BOTTOM
from glug.solvers.smoothers import Colours, coloured

COARSEST = 8  # cells along the longest side, padding included, below which a grid holds next to nothing
# Cells from a solid within which a face moves with it. On curved walls the rows that hold such a face hardly have
# any volume in front of the wall: the face would go with the liquid around it (taylor-couette: 2% of the wall's speed).
NEAR_SOLID = 0.1
# The same on coarse grids. A face held nearer than this would be freer there than its interpolant is on the finer grid:
# with 0.1 the largest eigenvalue of the preconditioned matrix passes 2 at 256 cells, with 0.3 it is 1.1.
NEAR_SOLID_COARSE = 0.3
# Share of the fine faces that touch the solid, up to which a coarse face in it is not stopped. Of those at a plain wet
# wall two thirds and more do: with 0.7 walls come loose, and the cycle is no longer positive.
TOUCHING = 0.5

SolidFaces = tuple[np.ndarray, np.ndarray, np.ndarray]  # uint8 per axis


@dataclass
class ViscosityLevel:
    """A x = M x + E' K V E x on one grid (see `kernels_stress` for the fields).

    `stopping` is the distance at cell corners to what stops each component [m], `solid` the faces that are stopped.
    """

    dx: float
    shape: tuple[int, int, int]
    mass: Staggered
    m: Staggered
    c: Staggered
    e: Staggered
    f: Staggered
    stopping: Staggered
    solid: SolidFaces
    blocks: np.ndarray
    slip: SlipTerm | None = None
    name: str = "viscosity"

    def __post_init__(self) -> None:
        self.mask: Vector = self.m
        self.unknowns = sum(int(np.count_nonzero(m > 0)) for m in self.m)  # of flags: five times faster than of floats
        self.colours = coloured(self.blocks)
        self.rows = None if self.slip is None else SurfaceRows(self, self.slip)
        self.swept = self.m if self.rows is None else self.rows.held
        self.far = self.rows is not None  # rows that reach farther than the next sample
        self._sums = np.zeros(len(self.blocks))

    def apply(self, x: Vector, q: Vector) -> float:
        kernels.apply_viscosity(x, q, self.m, self.c, self.e, self.f, self.blocks, self._sums)
        total = float(self._sums.sum())
        return total if self.rows is None else total + self.rows.apply(x, q)

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        kernels.residual_viscosity(b, x, r, self.m, self.c, self.e, self.f, self.blocks)
        if self.rows is not None:
            self.rows.residual(b, x, r)

    def sweep(self, b: Vector, x: Vector, colours: Colours, forward: bool, times: int) -> None:
        fields = self.swept, self.c, self.e, self.f
        if self.rows is None:
            kernels.relax_viscosity(x, b, *fields, colours.blocks, colours.starts, forward, times)
            return
        for _ in range(times):
            if not forward:
                self.rows.sweep(b, x, forward)
            with self.holding(b, x):
                kernels.relax_viscosity(x, b, *fields, colours.blocks, colours.starts, forward, 1)
            if forward:
                self.rows.sweep(b, x, forward)

    def holding(self, b: Vector, x: Vector) -> AbstractContextManager[None]:
        """Within it, kernels that sweep with the diagonal `swept` leave the faces of `rows` as they are."""
        return nullcontext() if self.rows is None else self.rows.holding(b, x)

    def relax(self, b: Vector, x: Vector, before: Vector, keep: float, step: float) -> None:
        if self.slip is not None:
            raise NotImplementedError("polynomial smoothing does not see the rows of solids that slip")
        fields = self.m, self.c, self.e, self.f
        kernels.relax_polynomial(x, before, b, *fields, self.blocks, np.float32(keep), np.float32(step))

    def restrict(self, r: Vector, coarse: "ViscosityLevel", b: Vector) -> None:
        for a, offset in enumerate(FACES):
            gather(r[a], weights_at(offset), b[a], coarse.blocks, coarse.m[a])

    def interpolate(self, e: Vector, x: Vector) -> None:
        for a, offset in enumerate(FACES):
            interpolate(e[a], offset, self.m[a], x[a], self.blocks)

    def forget_walls(self) -> None:
        """Let go of what only coarser levels are made of."""
        none = np.empty((0, 0, 0), np.float32)
        self.mass, self.stopping, self.solid = ((none,) * 3,) * 3

    def diagonal(self) -> Vector:
        g = self.diagonal_with(self.m)
        if self.slip is not None:
            for u, w in zip(g, self.slip.diagonal_of(g)):
                u += w
        return g

    def diagonal_with(self, m: Vector) -> Vector:
        """The diagonal of the stresses and of m."""
        g = tuple(np.zeros(u.shape, np.float32) for u in m)
        kernels.viscosity_diagonal(m, self.c, self.e, self.blocks, g)
        return g


def packed(level: ViscosityLevel, packing: Packing) -> ViscosityLevel:
    """The same system with its parts moved together; no solid slips."""

    def staggered(fields: tuple[np.ndarray, ...], empty: float = 0.0) -> Staggered:
        moved = {id(f): packing.pack(f, empty) for f in fields}
        return mapped(lambda f: moved[id(f)], fields)

    mass, m, c, e, f = (staggered(weights) for weights in (level.mass, level.m, level.c, level.e, level.f))
    far = max(packing.shape) * level.dx  # between parts there is no solid
    stopping, solid = staggered(level.stopping, far), staggered(level.solid)
    blocks = active_blocks(cells_with_unknowns(m, packing.shape))
    return ViscosityLevel(level.dx, packing.shape, mass, m, c, e, f, stopping, solid, blocks)


def hierarchy(finest: ViscosityLevel) -> list[ViscosityLevel]:
    """`finest` and ever coarser levels, down to one that is solved at once."""
    levels = [finest]
    while levels[-1].unknowns > BOTTOM and max(levels[-1].shape) > COARSEST:
        levels.append(coarser(levels[-1]))
    return levels


def coarser(fine: ViscosityLevel) -> ViscosityLevel:
    """The level with cells twice as large."""
    dx = 2.0 * fine.dx
    grid = Grid(dx, coarse_shape(fine.shape))
    blocks = coarse_blocks(fine.blocks, fine.shape, grid.shape)
    distances = {id(d): every_other(d, fine.dx, grid.shape) for d in fine.stopping}
    stopping = mapped(lambda d: distances[id(d)], fine.stopping)

    mass, c, e = grid.staggered(), [], []
    for a in range(3):
        gather(fine.mass[a], weights_at(FACES[a]), mass[a], blocks)
        clear_border(mass[a])
        c.append(grid.scalar())
        gather(fine.c[a], [quarter(PAIRS) if b == a else CELLS for b in range(3)], c[a], blocks)
        e.append(grid.scalar(EDGES[a]))
        gather(fine.e[a], [quarter(CELLS) if b == a else NODES for b in range(3)], e[a], blocks)
    cells, edges = (c[0], c[1], c[2]), (e[0], e[1], e[2])

    solid = mapped(lambda m: np.empty(m.shape, np.uint8), mass)
    for a, s in enumerate(solid):
        wall_kernels.solid_faces(a, stopping[a], np.float32(NEAR_SOLID_COARSE * dx), np.zeros((0, 0, 0), np.float32), s)
        b, d = (a + 2) % 3, (a + 1) % 3
        above = fine.m[a], fine.solid[a], fine.c[a], fine.e[b], fine.e[d]
        kernels_contact_line.release_faces(a, *above, TOUCHING, mass[a], s)
        hold_by_lost_walls(a, fine, s, blocks, mass[a])
        mass[a][s > 0] = 0.0
    m = held_faces(mass, stopping, solid, cells, edges)
    coupling = mapped(grid.scalar, EDGES)
    for a in range(3):
        couple(a, stopping, solid, edges[a], coupling[a])
    blocks = active_blocks(cells_with_unknowns(m, grid.shape))
    slip = None if fine.slip is None else fine.slip.coarser(fine.m, m)
    return ViscosityLevel(dx, grid.shape, mass, m, cells, edges, coupling, stopping, solid, blocks, slip)


def hold_by_lost_walls(a: int, fine: ViscosityLevel, solid: np.ndarray, blocks: np.ndarray, mass: np.ndarray) -> None:
    """Add to the coarse masses of one axis what holds the fine faces beside walls that stop no coarse face."""
    lost, found = np.zeros_like(fine.solid[a]), np.zeros(len(fine.solid[a]), np.uint8)
    kernels_lost_walls.lost_walls(a, fine.solid[a], solid, lost, found)
    if not found.any():
        return
    held, more = np.zeros_like(fine.m[a]), np.zeros_like(mass)
    stresses = fine.c[a], fine.e[(a + 2) % 3], fine.e[(a + 1) % 3]
    kernels_lost_walls.hold_by_lost_walls(a, lost, *stresses, fine.m[a], held)
    # Blocks that take from slabs with a lost face, or next to one.
    before = np.concatenate([[0], np.cumsum(found)])
    first, end = (np.clip(2 * blocks[:, 0] + n, 0, len(found)) for n in (-4, 2 * TILE))
    gather(held, weights_at(FACES[a]), more, blocks[before[end] > before[first]])
    clear_border(more)
    mass += more


def held_faces(mass: Staggered, stopping: Staggered, solid: SolidFaces, c: Staggered, e: Staggered) -> Staggered:
    """What acts on the unknown faces alone: their mass, and walls nearer than the next face."""
    held = copied(mass)
    for a, m in enumerate(held):
        hold_by_walls(a, stopping, solid, c, e, m)
    return held


def hold_by_walls(
    axis: int, stopping: Staggered, solid: SolidFaces, c: Staggered, e: Staggered, mass: np.ndarray
) -> None:
    """The same for one axis, to its masses, in place."""
    sides = e[(axis + 2) % 3], e[(axis + 1) % 3]
    wall_kernels.hold_by_walls(axis, stopping[axis], solid[axis], c[axis], *sides, mass)


def couple(axis: int, stopping: Staggered, solid: SolidFaces, e: np.ndarray, coupling: np.ndarray) -> None:
    """`coupling` = what couples the two components of the shears `e` along `axis`."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    wall_kernels.couple(axis, stopping[b], stopping[c], solid[b], solid[c], e, coupling)


def cells_with_unknowns(m: Vector, shape: tuple[int, int, int]) -> np.ndarray:
    """Cells any of whose lower faces is an unknown."""
    nx, ny, nz = shape
    active = np.zeros(shape, np.uint8)
    for g in m:
        active |= (g[:nx, :ny, :nz] > 0).view(np.uint8)
    return active
