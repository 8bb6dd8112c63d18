"""Which tree fits a viscous problem: finest cells wherever it is not plain, coarser ones inside."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from glug.grids.octree import kernels
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.kept import KeptFaces
from glug.grids.octree.linear.morton import cells_of, keys_of
from glug.grids.octree.linear.tree import LinearTree
from glug.grids.regular import Staggered, lower_upper
from glug.physics.viscosity.levels import ViscosityLevel, coarser
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.weights import JUMP

LEVELS, BAND = 4, 2  # as the source has it: more levels or thinner bands gain nothing
# From how many unknowns of the regular grid on, and with how many times fewer, a step on a tree takes less time: the
# figure of the bench takes 1.5 times as long as on the regular grid with 1.7 million, 0.75 times with 5.6 million.
MANY, FEWER = 4_000_000, 4.0
Sides = tuple[tuple[float, float], ...]  # slip lengths of the lower and upper sides of a box along every axis
STICKING: Sides = ((0.0, 0.0),) * 3
SAME_DENSITY = 1e-3  # by which densities may differ that count as one


def tree_inside(
    m: Iterable[np.ndarray],
    levels: int,
    band: int,
    finest: np.ndarray | None = None,
    jumps: np.ndarray | None = None,
) -> LinearTree:
    """The coarsest tree of the liquid that has `band` finest cells of plain liquid around everything else.

    `m` is what acts on the regular faces alone, axis by axis: 1 where they are plain. `jumps` are cells that are not
    plain either (`jump_cells`), `finest` such that are finest without a band (`bent_cells`).
    """
    for a, field in enumerate(m):
        if a == 0:
            shape = field.shape[0] - 1, *field.shape[1:]
            inside, near = np.ones(shape, np.bool_), np.zeros(shape, np.bool_)
        kernels.look_at_faces(a, field, inside, near)
        del field
    if jumps is not None:
        inside &= ~jumps
    smaller = np.empty_like(inside)
    # A leaf touches plain cells only, even with a band of one: no stencil at a transition then meets a cut.
    for _ in range(max(band - 1, 1)):
        kernels.shrink(inside, smaller)
        inside, smaller = smaller, inside
    np.logical_not(inside, out=smaller)
    del inside
    if finest is not None:
        smaller |= finest
    widen(near)
    return tree_around(smaller, near, levels)


def widen(near: np.ndarray) -> None:
    """The cells beside those that are near are near too, in place, axis by axis."""
    for a in range(3):
        found = np.moveaxis(near, a, 0)
        wider = found.copy()
        wider[1:] |= found[:-1]
        wider[:-1] |= found[1:]
        found[:] = wider


def tree_around(finest: np.ndarray, near: np.ndarray, levels: int) -> LinearTree:
    """The coarsest tree whose leaves are finest where `finest` says so; those that are not `near` are absent."""
    top = levels - 1
    nx, ny, nz = finest.shape
    roots = near.reshape(nx >> top, 1 << top, ny >> top, 1 << top, nz >> top, 1 << top).any(axis=(1, 3, 5))
    none = np.zeros(0, np.int64)
    asked = [keys_of(np.argwhere(finest & near)), *[none] * (levels - 2), keys_of(np.argwhere(roots))]
    return LinearTree.grown(
        asked if levels > 1 else asked[-1:], (nx, ny, nz), lambda key, _: near[tuple(cells_of(key).T)]
    )


def jump_cells(cell: np.ndarray) -> np.ndarray:
    """Cells whose viscosity differs by more than a factor of `JUMP` from that of a neighbour."""
    marked = np.zeros(cell.shape, np.bool_)
    for axis in range(3):
        k, mine = np.moveaxis(cell, axis, 0), np.moveaxis(marked, axis, 0)
        apart = np.maximum(k[1:], k[:-1]) > JUMP * np.minimum(k[1:], k[:-1])
        mine[1:] |= apart
        mine[:-1] |= apart
    return marked


def bent_cells(velocity: Staggered, bend: float) -> np.ndarray:
    """Cells where coarser ones would lose detail of the velocity: it departs by more than `bend` [m/s] from linear.

    That is from the mean of its two neighbours along an axis. Linear velocities pass unchanged through coarse cells.
    """
    shape = velocity[1].shape[0], velocity[0].shape[1], velocity[0].shape[2]
    marked = np.zeros(shape, np.bool_)
    kernels.mark_bent(velocity, np.float32(bend), marked)
    return marked


@dataclass
class AdaptedProblem:
    """A regular problem and the tree for it, whose corner is `shift` cells inside the regular grid."""

    problem: ViscosityProblem
    regular: ViscosityLevel  # of finest cells, without what walls hold or couple
    faces: KeptFaces
    jumps: np.ndarray | None  # where the viscosity does
    seconds: dict[str, float]
    shift: int = 0
    sides: Sides = STICKING  # of the tree's box, in finest cells

    @property
    def tree(self) -> LinearTree:
        return self.faces.tree

    def coarser(self) -> ViscosityLevel:
        """The regular grid of twice the finest cells; that of finest cells is let go of."""
        del self.problem
        coarse = coarser(self.regular)
        del self.regular
        return coarse

    def let_go(self) -> None:
        """Keep no more of the regular problem."""
        self.__dict__.pop("problem", None)
        self.__dict__.pop("regular", None)


def adapt(
    problem: ViscosityProblem, levels: int = LEVELS, band: int = BAND, finest: np.ndarray | None = None
) -> AdaptedProblem:
    """The problem with the coarsest tree that fits it; cells where `finest` says so are not coarser."""
    begin = time.perf_counter()
    regular = problem.unheld()
    ready = time.perf_counter()
    jumps = None if problem.stiff_above is None else jump_cells(problem.weights.cell)
    m: Iterable[np.ndarray] = map(problem.held, range(3))
    if problem.density is not None:
        mixed = mixed_cells(problem.density)
        jumps = mixed if jumps is None else jumps | mixed
        m = map(np.divide, m, problem.density)  # what is full of a heavier liquid is as plain
    tree = tree_inside(m, levels, band, finest, jumps)
    faces = KeptFaces.of(TreeFaces.of(tree), regular.m)
    seconds = {"weights": ready - begin, "adapt": time.perf_counter() - ready}
    return AdaptedProblem(problem, regular, faces, jumps, seconds)


def mixed_cells(density: Staggered) -> np.ndarray:
    """Cells whose faces have different densities."""
    shape = density[1].shape[0], density[0].shape[1], density[0].shape[2]
    least, most = np.full(shape, np.inf, np.float32), np.zeros(shape, np.float32)
    for a, rho in enumerate(density):
        for side in lower_upper(rho, a):
            np.minimum(least, side, out=least)
            np.maximum(most, side, out=most)
    return most > (1.0 + SAME_DENSITY) * least


def adapt_if_faster(
    problem: ViscosityProblem, levels: int = LEVELS, band: int = BAND, finest: np.ndarray | None = None
) -> AdaptedProblem | None:
    """The same for a problem that is solved faster on a tree than on the regular grid; None where it is not.

    Where liquid slips rows are swept one by one, and where the viscosity jumps trees have no boxes: never there.
    """
    plain = problem.slip is None and problem.friction is None and problem.solid.slip is None
    plain = plain and problem.stiff_above is None
    if not plain or sum(int(np.count_nonzero(m)) for m in problem.mass) < MANY:
        return None
    adapted = adapt(problem, levels, band, finest)
    return adapted if adapted.regular.unknowns >= FEWER * adapted.faces.count else None
