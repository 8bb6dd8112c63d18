"""The tree of a step: found from its particles, and what is on it. Nothing is as large as the domain.

Particles say which cells hold liquid, each as large as its level; a first tree of those tells where the surface is.
Marks spread from there, and the tree of the step is finest where they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from glug.grids.octree.linear import kernels_marks
from glug.grids.octree.linear.build import Shape, Tiles, dilated, marked, places
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.lattice import BEHIND, WALL, TreeLattice
from glug.grids.octree.linear.morton import cells_of, inside, keys_of
from glug.grids.octree.linear.tree import LinearTree
from glug.particles.leaves import LeafTransfer, Place
from glug.particles.levels import level_of
from glug.particles.storage import Particles
from glug.physics.pressure.octree.problem import OctreePressure
from glug.simulation.octree.boxes import boxes
from glug.simulation.octree.sizing import CALM_SHARE, Asked, asked_by_flow, asked_by_places, joined, nothing
from glug.simulation.setting import Setting

# Finest cells above and below the surface, besides those that it may cross in a step. Velocities go on as far above; a
# ball that turns has 0.0105 omega H beside its motion with leaves of two sizes one cell nearer, and 0.0094 so.
AIR, UNDER = 2, 3
CALM = 2  # cells by which liquid must be deeper than the band before its particles are merged: nothing flickers
HALF_DIAGONAL = 0.5 * math.sqrt(3.0)  # of a cell


@dataclass
class StepTree:
    """A tree over the domain, from lattice index `lo` on, and fields on its leaves and faces."""

    tree: LinearTree
    lo: np.ndarray  # (3,) int64
    place: Place
    calm: LinearTree  # a tree with a wider band
    problem: OctreePressure | None = None
    bricks: dict[int, list] = field(default_factory=dict)  # windows along finest leaves, by the cells around them
    phi: np.ndarray = field(init=False)  # float32: distance of the liquid at leaves [m]
    fraction: np.ndarray = field(init=False)  # float32: open liquid fraction
    area: np.ndarray = field(init=False)  # float32 (leaves, 6): open fraction of sides
    wet: np.ndarray = field(init=False)  # uint8
    inflow: np.ndarray | None = field(init=False)  # float32: what moving solids press into leaves, if any
    u: np.ndarray = field(init=False)  # float32: velocities of faces and ghosts
    before: np.ndarray | None = field(init=False)  # the same as particles brought it
    reached: np.ndarray = field(init=False)  # uint8: faces and ghosts that particles reach

    @property
    def origin(self) -> tuple[float, float, float]:
        """Of the lattice [m]."""
        x, y, z = (float(c) for c in self.place.corner - self.place.dx * self.lo)
        return x, y, z

    @cached_property
    def faces(self) -> TreeFaces:
        return TreeFaces.of(self.tree)

    @cached_property
    def transfer(self) -> LeafTransfer:
        return LeafTransfer(TreeLattice.of(self.faces), self.place)

    @property
    def lattice(self) -> TreeLattice:
        return self.transfer.lattice

    @cached_property
    def wall_ghosts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Finest ghosts on and behind walls: for every axis their cells (3, n), and their numbers in vectors."""
        lattice, found = self.lattice, []
        finest = (lattice.place[:, 4] == 0) & ((lattice.kind == BEHIND) | (lattice.kind == WALL))
        for a in range(3):
            some = np.flatnonzero(finest & (lattice.place[:, 0] == a))
            found.append((np.ascontiguousarray(lattice.place[some, 1:4].T), lattice.faces.count + some))
        return found

    @cached_property
    def boxes(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """The finest leaves box by box: numbers, cells (n, 3) int32 in the box, and its ends."""
        finest, found = np.flatnonzero(self.tree.level == 0), []
        tile = self.tree.key[finest] >> 9
        first = np.flatnonzero(np.append(True, tile[1:] != tile[:-1])) if len(finest) else np.zeros(0, np.int64)
        count = np.diff(np.append(first, len(finest)))
        for some in boxes(cells_of(tile[first])):
            mine = finest[np.repeat(first[some] - np.cumsum(count[some]) + count[some], count[some])
                          + np.arange(count[some].sum())]  # fmt: skip
            cells = cells_of(self.tree.key[mine])
            low, high = (np.array([f(x) for x in cells.T]) for f in (np.min, np.max))
            found.append((mine, (cells - low).astype(np.int32), low, high + 1))
        return found

    def levels_at(self, tree: LinearTree, position: np.ndarray) -> np.ndarray:
        """The level of the leaf of a tree at every position, 0 where there is none."""
        leaf = self.place.leaves(tree, position)
        return np.where(leaf >= 0, tree.level[leaf], 0)


def box_of(setting: Setting) -> tuple[np.ndarray, Shape]:
    """Lower lattice index and cells of the tree's box: the domain, and beyond open sides a root more."""
    root = 1 << (setting.scene.refine.levels - 1)
    lo, shape = np.zeros(3, np.int64), []
    for a, cells in enumerate(setting.scene.domain.shape):
        lo[a] = 0 if math.isfinite(setting.walls.lower[a]) else -root
        open_above = not math.isfinite(setting.walls.upper[a])
        shape.append(int((-(-cells // root) + 1) * root if open_above else cells) - int(lo[a]))
    return lo, (shape[0], shape[1], shape[2])


@dataclass(frozen=True)
class Occupied:
    """The cells that hold particles, by level, in a tree of their own."""

    tree: LinearTree
    wet: np.ndarray  # uint8: leaves with liquid
    roots: np.ndarray  # keys

    @classmethod
    def by(cls, cells: list[np.ndarray], shape: Shape) -> Occupied:
        """From sorted keys of cells at every level."""
        top = len(cells) - 1
        roots = np.unique(np.concatenate([keys >> (3 * (top - l)) for l, keys in enumerate(cells)]))
        tree = LinearTree.grown([*cells[:-1], roots], shape)
        wet, filled = np.empty(len(tree), np.uint8), np.empty(len(tree), np.uint8)
        first = np.cumsum([0, *map(len, cells)])
        kernels_marks.mark_wet(tree.key, tree.level, np.concatenate(cells), first, wet)
        kernels_marks.fill_surrounded(tree.links, tree.level, wet, filled)
        return cls(tree, filled, roots)

    def surface(self) -> np.ndarray:
        """Keys of the finest cells of wet leaves with a neighbour that is not."""
        mark = np.empty(len(self.tree), np.bool_)
        kernels_marks.mark_surface(self.tree.links, self.tree.level, self.wet, mark)
        key, level = self.tree.key[mark], self.tree.level[mark]
        found = [key[level == 0]]
        for l in range(1, self.tree.levels):
            found.append((key[level == l][:, None] + np.arange(8**l)).ravel())
        return np.concatenate(found)

    def holds(self, key: np.ndarray) -> np.ndarray:
        """Whether finest cells are in wet leaves."""
        leaf = self.tree.index.find(key, self.tree.levels)
        return (leaf >= 0) & (self.wet[leaf] > 0)


def occupied_cells(p: Particles, place: Place, shape: Shape, levels: int, nominal: float) -> list[np.ndarray]:
    """Sorted keys of the cells of every level that hold particles of that level."""
    key = place.keys(p.position)
    level = np.minimum(level_of(p.volume, nominal), levels - 1)
    level[(key < 0) | ~inside(key, shape)] = -1
    return [distinct(key[level == l] >> (3 * l)) for l in range(levels)]


def distinct(keys: np.ndarray) -> np.ndarray:
    """Sorted, each once; those one after the other are often equal."""
    return without_repeats(np.sort(without_repeats(keys)))


def without_repeats(keys: np.ndarray) -> np.ndarray:
    """Those that differ from the one before them."""
    new = np.ones(len(keys), np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new]


def place_of(setting: Setting) -> Place:
    """Where the tree's box is."""
    return Place(np.asarray(setting.origin) + setting.dx * box_of(setting)[0], setting.dx)


def grow(setting: Setting, p: Particles, t: float) -> StepTree:
    """The tree for the particles as they are, at time t [s]."""
    shape = box_of(setting)[1]
    place, levels = place_of(setting), setting.scene.refine.levels
    held = Occupied.by(occupied_cells(p, place, shape, levels, setting.particle_volume), shape)
    return grow_around(setting, held, t, *asked_by_flow(p, place, shape, levels))


def grow_around(
    setting: Setting, held: Occupied, t: float, flow: Asked | None = None, calm_flow: Asked | None = None
) -> StepTree:
    """The tree for liquid in known cells, and for what its flow asks for."""
    refine, place = setting.scene.refine, place_of(setting)
    lo, shape = box_of(setting)
    surface = np.concatenate([held.surface(), solid_cells(setting, held, place, t), cut_sides(setting, held, lo)])
    crossed = math.ceil(setting.scene.time.cfl)
    near = spread_marks(marked(surface), crossed + AIR, shape)
    marks = spread_marks(near, max(refine.band, crossed + UNDER) - crossed - AIR, shape)
    sides = uneven_sides(held, shape)

    def keep(key: np.ndarray, level: np.ndarray) -> np.ndarray:
        kept = held.holds(key)
        dry = np.flatnonzero((level == 0) & ~kept)
        kept[dry] = holds(near, key[dry])
        return inside(key, shape) & kept

    def grown(marks: Tiles, *asked: Asked) -> LinearTree:
        finest, *others, _ = joined(sides, *asked)
        return LinearTree.grown([with_cells(marks, finest), *others, held.roots], shape, keep)

    if refine.levels == 1:
        tree = LinearTree.grown([np.concatenate([keys_of_tiles(marks), held.roots])], shape, keep)
        return StepTree(tree, lo, place, tree)
    none = nothing(refine.levels)
    tree = grown(marks, flow or none, asked_by_places(setting, held, place))
    wider = asked_by_places(setting, held, place, CALM * place.dx, CALM_SHARE)
    return StepTree(tree, lo, place, grown(spread_marks(marks, CALM, shape), calm_flow or none, wider))


def spread_marks(marks: Tiles, reach: int, shape: Shape) -> Tiles:
    """Marks within so many cells of others."""
    while reach > 0:
        marks = dilated(marks, min(reach, 8), shape)
        reach -= 8
    return marks


def keys_of_tiles(tiles: Tiles) -> np.ndarray:
    """Keys of the cells that are marked."""
    tile, cell = np.nonzero(tiles.cells)
    return (tiles.key[tile] << 9) + cell


def holds(tiles: Tiles, keys: np.ndarray) -> np.ndarray:
    """Whether cells are marked."""
    if len(tiles.key) == 0:
        return np.zeros(len(keys), np.bool_)
    tile = places(tiles.key, keys >> 9)
    return (tile >= 0) & (tiles.cells[tile, keys & 511] > 0)


def with_cells(marks: Tiles, keys: np.ndarray) -> Tiles:
    """Marks with more cells."""
    return marks if len(keys) == 0 else marked(np.concatenate([keys_of_tiles(marks), keys]))


def solid_cells(setting: Setting, held: Occupied, place: Place, t: float) -> np.ndarray:
    """Keys of the finest cells near liquid that solids may cut, found from wet leaves down."""
    found = [np.zeros(0, np.int64)]
    for solid in setting.holding(t):
        key, level = held.tree.key[held.wet > 0], held.tree.level[held.wet > 0]
        near = np.zeros(0, np.int64)
        for l in range(held.tree.levels - 1, -1, -1):
            near = np.concatenate([((near[:, None] << 3) + np.arange(8)).ravel(), key[level == l] >> (3 * l)])
            centre = place.corner + place.dx * (1 << l) * (cells_of(near) + 0.5)
            reach = (
                HALF_DIAGONAL * place.dx * ((1 << l) + 2)
            )  # beside the cell too: it may be its neighbour that is cut
            near = near[np.abs(solid.distance(centre, t)) < reach]
        found.append(near)
    return np.concatenate(found)


def cut_sides(setting: Setting, held: Occupied, lo: np.ndarray) -> np.ndarray:
    """Keys of the finest wet cells that a side of the domain passes through."""
    found = [np.zeros(0, np.int64)]
    for a in range(3):
        end = (setting.walls.upper[a] - setting.origin[a]) / setting.dx
        if math.isfinite(end) and abs(end - round(end)) > 1e-6:
            found.append(_layer(held, a, math.floor(end) - int(lo[a]), 0))
    return np.concatenate(found)


def uneven_sides(held: Occupied, shape: Shape) -> list[np.ndarray]:
    """Keys, by level, of cells that must be there for leaves to end at the box's upper sides; not of the coarsest."""
    levels = held.tree.levels
    found: list[list[np.ndarray]] = [[np.zeros(0, np.int64)] for _ in range(levels)]
    for a in range(3):
        l = (shape[a] & -shape[a]).bit_length() - 1  # of the largest leaves that end there
        if l < levels - 1:
            found[l].append(_layer(held, a, (shape[a] >> l) - 1, l))
    return [np.concatenate(keys) for keys in found]


def _layer(held: Occupied, axis: int, index: int, l: int) -> np.ndarray:
    """Keys of the cells of level l in a layer of such cells, in wet leaves that are as large or larger."""
    found = []
    for big in range(l, held.tree.levels):
        mine = (held.wet > 0) & (held.tree.level == big)
        corner = cells_of(held.tree.key[mine] >> (3 * l))
        side = 1 << (big - l)
        corner = corner[(corner[:, axis] <= index) & (index < corner[:, axis] + side)]
        corner[:, axis] = index
        offset = np.zeros((side * side, 3), np.int64)
        offset[:, [b for b in range(3) if b != axis]] = np.indices((side, side)).reshape(2, -1).T
        found.append(keys_of((corner[:, None, :] + offset).reshape(-1, 3)))
    return np.concatenate(found)
