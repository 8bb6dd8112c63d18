"""The viscous matrix of an octree, assembled in parallel straight into compressed rows."""

from dataclasses import dataclass
from functools import partial

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

# Entries of rows at transitions beyond those of plain ones, on average over a chunk of rows. The first is enough for
# all but a few chunks, which get LATE times as many.
SPARE, LATE = (11, 56, kernels.MOST), 4


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
        return self.mass, self.finest.number, self.finest.packed, self.kappa, self.steps, self.shift, np.array(self.sides, np.float64)


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
    sample, listed = np.empty(entries, np.int32), np.empty(entries, np.int32)
    listing.irregular_samples(*fixed, starts, sample_weight, sample, listed, listed_value)
    sample_first = np.zeros(samples + 1, np.int32)
    if samples:
        np.cumsum(np.bincount(sample, minlength=samples), out=sample_first[1:])
    begin, order = np.zeros(faces.count + 1, np.int32), np.empty(entries, np.int32)
    listing.where_faces_occur(listed, begin, order)
    return begin, order, sample, sample_first, sample_weight, listed, listed_value


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
    fits = np.zeros(-(-faces.count // kernels.CHUNK), np.bool_)
    for spare in SPARE:
        sizes = chunk_sizes(lists[0], int(kernels.PLAIN), spare)
        ends = np.cumsum(sizes)
        column, value = entry_room(int(sizes.sum()))
        fill = partial(kernels.fill_rows, *fixed)
        out = fits, start, length, column, value, rest
        fill(np.arange(len(sizes)), ends - sizes, ends, *out)
        late = np.flatnonzero(~fits)
        if len(late):
            sizes[late] = chunk_sizes(lists[0], int(kernels.PLAIN), LATE * spare)[late]
            ends[late] = ends[-1] + np.cumsum(sizes[late])  # behind all others
            if ends[late[-1]] <= len(column):
                fill(late, ends - sizes, ends, *out)
        if fits.all():
            return AssembledSystem("viscosity", start, length, column, value, rest)
    raise AssertionError("a row of an octree has more entries than samples can give it")


def entry_room(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values for `size` entries, and for those that need more room than others."""
    size += size // 20 + LATE * kernels.CHUNK * kernels.MOST // 4
    if size >= 1 << 32:
        raise SolverError(f"viscosity: {size} entries in the matrix of an octree; at most 2^32 - 1 fit")
    return np.empty(size, np.int32), np.empty(size, np.float32)


def chunk_sizes(begin: np.ndarray, plain: int, spare: int) -> np.ndarray:
    """Entries of every chunk of rows: `plain` per row, and `spare` more where a listed sample adds to it."""
    listed = np.diff(begin) > 0
    rows = np.arange(0, len(listed), kernels.CHUNK)
    return plain * np.diff(rows, append=len(listed)) + spare * np.add.reduceat(listed, rows, dtype=np.int64)
