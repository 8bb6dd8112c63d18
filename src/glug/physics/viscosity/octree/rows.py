"""The viscous matrix of an octree, assembled in parallel straight into compressed rows."""

from dataclasses import dataclass

import numpy as np

from glug.errors import SolverError
from glug.grids.octree.linear.kept import KeptFaces, Look
from glug.grids.octree.linear.morton import cells_of
from glug.grids.octree.linear.tree import LinearTree
from glug.physics.viscosity.octree import kernels_rows as kernels
from glug.physics.viscosity.octree import kernels_samples as listing
from glug.physics.viscosity.octree.finest import FinestWeights
from glug.physics.viscosity.octree.tree import STICKING, Sides
from glug.physics.viscosity.weights import Diffusion
from glug.solvers.assembled.rows import AssembledSystem

# Entries of rows at transitions beyond those of plain ones, on average over a chunk of rows: enough for all but a few
# chunks, which are filled again with room for LATE times as many, and so on. A WAVE of chunks is filled with such room
# and then closed up.
SPARE, LATE, WAVE = 11, 4, 64
CUT, TRANSITION = 9.5, 23.5  # entries of rows at surfaces and walls, and of those at transitions: found 8.5 and 22.4


@dataclass(frozen=True)
class OctreeWeights:
    """Mass and stress weights: of the regular problem on finest cells, and mu dt / (rho dx^2) on coarser ones."""

    mass: np.ndarray  # what acts on each of the unknown faces alone; 1 on coarse ones
    finest: FinestWeights
    kappa: np.ndarray  # one number, or those of the cells of levels 1, 2, ... one after the other
    steps: np.ndarray  # (levels, 4): where each level begins in it, and how far its cells are apart along every axis
    shift: int = 0  # the place of the tree's corner in the regular grid
    sides: Sides = STICKING  # of the tree's box, in finest cells

    @property
    def arrays(self) -> tuple:
        """What kernels take."""
        sides = np.array(self.sides, np.float64)
        return self.mass, *self.finest.arrays, self.kappa, self.steps, self.shift, sides


def coarse_diffusion(tree: LinearTree, diffusion: Diffusion) -> tuple[np.ndarray, np.ndarray]:
    """mu dt / (rho dx^2) of all levels above the finest and how to find it; fields are those of the tree's box."""
    steps = np.zeros((tree.levels, 4), np.int64)
    if not isinstance(diffusion, np.ndarray):
        return np.full(1, diffusion, np.float32), steps
    field, means = diffusion, [np.zeros(1, np.float32)]
    for l in range(1, tree.levels):
        nx, ny, nz = (n >> l for n in tree.shape)
        field = field.reshape(nx, 2, ny, 2, nz, 2).mean(axis=(1, 3, 5), dtype=np.float32)
        steps[l] = sum(m.size for m in means), ny * nz, nz, 1
        means.append(field.ravel())
    return np.concatenate(means), steps


def list_samples(
    faces: KeptFaces, look: Look, weights: OctreeWeights, enhanced: bool, laplacian: bool
) -> tuple[np.ndarray, ...]:
    """The irregular samples and where every face occurs in them, as `irregular_part` takes them."""
    tree = faces.tree
    corner, level = cells_of(tree.key[faces.transitions]), tree.level[faces.transitions]
    starts = np.zeros((-(-len(level) // int(listing.CHUNK)), 2), np.int64)
    fixed = look, weights.arrays, enhanced, laplacian, corner, level
    none = np.zeros(0, np.int32)
    listing.irregular_samples(*fixed, starts, np.zeros(0), none, none, np.zeros(0, np.float32))
    samples, entries = (int(n) for n in starts.sum(axis=0))
    starts = np.cumsum(starts, axis=0) - starts
    # With values in float32 all differences of a row still share one rounded distance: rigid motions cancel.
    sample_weight, listed_value = np.empty(samples), np.empty(entries, np.float32)
    sample_first, listed = np.full(samples + 1, entries, np.int32), np.empty(entries, np.int32)
    listing.irregular_samples(*fixed, starts, sample_weight, sample_first, listed, listed_value)
    begin, order = np.zeros(faces.count + 1, np.int32), np.empty(entries, np.int32)
    listing.where_faces_occur(listed, begin, order)
    return begin, order, sample_first, sample_weight, listed, listed_value


def assemble(
    faces: KeptFaces, weights: OctreeWeights, *, enhanced: bool = True, laplacian: bool = False
) -> AssembledSystem:
    """M + E' K V E over `faces`; others, where a stencil meets them, count as zero.

    `laplacian` is the baseline: the gradient of every component on its own.
    """
    look = faces.look
    lists = list_samples(faces, look, weights, enhanced, laplacian)
    leaves = faces.tree.links, faces.tree.level
    fixed = look, leaves, weights.arrays, laplacian, faces.place, lists
    start, length = np.empty(faces.count, np.uint32), np.empty(faces.count, np.uint8)
    rest = np.empty(faces.count, np.float32)
    plain, listed = chunk_sizes(lists[0])
    size, top = expected_entries(lists[0], weights.mass), 0
    column, value = np.empty(size, np.int32), np.empty(size, np.float32)
    for first in range(0, len(plain), WAVE):
        left, spare = np.arange(first, min(first + WAVE, len(plain))), SPARE
        while len(left):
            sizes = plain[left] + spare * listed[left]
            ends, fits = top + np.cumsum(sizes), np.empty(len(left), np.bool_)
            make_room(int(ends[-1]), column, value)
            kernels.fill_rows(*fixed, left, ends - sizes, ends, fits, start, length, column, value, rest)
            top = int(kernels.close_up(left[fits], top, start, length, column, value))
            left, spare = left[~fits], LATE * spare
    for entries in (column, value):
        entries.resize(top, refcheck=False)
    return AssembledSystem("viscosity", start, length, column, value, rest)


def make_room(size: int, *entries: np.ndarray) -> None:
    """Let arrays have room for `size` entries at least, in place."""
    if size >= 1 << 32:
        raise SolverError(f"viscosity: {size} entries in the matrix of an octree; at most 2^32 - 1 fit")
    for array in entries:
        if size > len(array):
            array.resize(max(size, len(array) + len(array) // 16), refcheck=False)


def expected_entries(begin: np.ndarray, mass: np.ndarray) -> int:
    """How many entries rows will have: more than were found in beams and figures."""
    listed = np.diff(begin) > 0
    cut = int(np.count_nonzero((np.abs(mass - np.float32(1.0)) > 1e-4) & ~listed))
    transitions = int(np.count_nonzero(listed))
    return int(TRANSITION * transitions + CUT * cut) + int(kernels.PLAIN) * (len(mass) - transitions - cut)


def chunk_sizes(begin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Entries of every chunk of rows if all of them were plain; how many of them have listed samples."""
    rows = np.arange(0, len(begin) - 1, kernels.CHUNK)
    plain = int(kernels.PLAIN) * np.diff(rows, append=len(begin) - 1)
    return plain, np.add.reduceat(np.diff(begin) > 0, rows, dtype=np.int64) if len(rows) else plain
