"""The viscous matrix of an octree, assembled in parallel straight into compressed rows."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from glug.errors import SolverError
from glug.grids.octree.tree import Faces, Octree
from glug.grids.regular import Staggered, mapped
from glug.grids.strain_stencil import matrix_row
from glug.physics.viscosity.octree import kernels_rows as kernels
from glug.physics.viscosity.octree import kernels_samples as listing
from glug.physics.viscosity.weights import Diffusion
from glug.solvers.assembled.rows import AssembledSystem

# Entries of rows at transitions beyond those of plain ones, on average over a chunk of rows. The first is enough for
# all but a few chunks, which get LATE times as many.
SPARE, LATE = (11, 56, kernels.MOST), 4


@dataclass(frozen=True)
class OctreeWeights:
    """Mass and stress weights: of the regular problem on finest cells, and mu dt / (rho dx^2) on coarser ones."""

    mass: Staggered  # what acts on a face alone
    cell: np.ndarray
    edges: Staggered
    coupling: Staggered
    kappa: np.ndarray  # levels 1, 2, ... one after the other
    first: np.ndarray  # where each level begins


def coarse_diffusion(tree: Octree, diffusion: Diffusion) -> tuple[np.ndarray, np.ndarray]:
    """Means over the cells of all levels above the finest, one after the other, and where each begins."""
    sizes = [0, 0] + [int(np.prod(tree.shape_at(l))) for l in range(1, tree.levels)]
    first = np.cumsum(sizes)[: max(tree.levels, 2)]
    kappa = np.empty(sum(sizes), np.float32)
    if not isinstance(diffusion, np.ndarray):
        kappa[:] = diffusion
        return kappa, first
    deep = tree.deep
    field = diffusion
    for l in range(1, tree.levels):
        nx, ny, nz = tree.shape_at(l)
        field = field.reshape(nx, 2, ny, 2, nz, 1 + deep).mean(axis=(1, 3, 5), dtype=np.float32)
        kappa[first[l] : first[l] + field.size] = field.ravel()
    return kappa, first


def stencils(steps: tuple[int, int, int], size: int, levels: int, dim: int, laplacian: bool) -> np.ndarray:
    """The entries of plain rows of every axis, as `fill_rows` takes them.

    `steps` along every axis lead from face to face in the numbers of one component; every component has `size`.
    """
    rows = []
    for axis in range(dim):
        row = []
        for sample, sign, (component, place) in matrix_row(axis, dim):
            if component == axis or not laplacian:
                far = sum(n * by for n, by in zip(place, steps))
                numbers = [(component - axis) * size + (far << l) for l in range(levels)]
                row.append((sample, sign if component != axis else 0, *numbers))
        rows.append(row)
    return np.array(rows, np.int64)


def list_samples(
    tree: Octree, faces: Faces, weights: OctreeWeights, enhanced: bool, laplacian: bool
) -> tuple[np.ndarray, ...]:
    """The irregular samples and where every face occurs in them, as `irregular_part` takes them."""
    corner, level = faces.transitions
    starts = np.zeros((-(-len(level) // int(listing.CHUNK)), 2), np.int64)
    fixed = (tree.level, tree.deep, enhanced, laplacian, corner, level, faces.numbers)
    fields = weights.cell, weights.edges, weights.kappa, weights.first
    none = np.zeros(0, np.int32)
    listing.irregular_samples(*fixed, *fields, starts, np.zeros(0), none, none, np.zeros(0, np.float32))
    samples, entries = (int(n) for n in starts.sum(axis=0))
    starts = np.cumsum(starts, axis=0) - starts
    # With values in float32 all differences of a row still share one rounded distance: rigid motions cancel.
    sample_weight, listed_value = np.empty(samples), np.empty(entries, np.float32)
    sample, listed = np.empty(entries, np.int32), np.empty(entries, np.int32)
    listing.irregular_samples(*fixed, *fields, starts, sample_weight, sample, listed, listed_value)
    sample_first = np.zeros(samples + 1, np.int32)
    if samples:
        np.cumsum(np.bincount(sample, minlength=samples), out=sample_first[1:])
    begin, order = np.zeros(faces.count + 1, np.int32), np.empty(entries, np.int32)
    listing.where_faces_occur(listed, begin, order)
    return begin, order, sample, sample_first, sample_weight, listed, listed_value


def assemble(
    tree: Octree, faces: Faces, weights: OctreeWeights, *, enhanced: bool = True, laplacian: bool = False
) -> AssembledSystem:
    """M + E' K V E over `faces`; others, where a stencil meets them, count as zero.

    `laplacian` is the baseline: the gradient of every component on its own.
    """
    lists = list_samples(tree, faces, weights, enhanced, laplacian)
    numbers, w = faces.numbers, weights
    fields = w.mass, w.cell, w.edges, w.coupling
    flat = flattened(w.mass), w.cell.ravel(), flattened(w.edges), flattened(w.coupling)
    shapes = [numbers[0].shape, *(a.shape for a in (*w.mass, w.cell, *w.edges))]
    shapes += map(tree.shape_at, range(1, tree.levels))
    steps = [(ny * nz, nz, 1) for _, ny, nz in shapes]
    entries = stencils(steps[0], numbers[0].size, tree.levels, tree.dim, laplacian)
    fixed = tree.level, tree.deep, laplacian, entries, np.array(steps, np.uint64), numbers, numbers.ravel(), faces.place
    start, length = np.empty(faces.count, np.uint32), np.empty(faces.count, np.uint8)
    rest = np.empty(faces.count, np.float32)
    fits = np.zeros(-(-faces.count // kernels.CHUNK), np.bool_)
    for spare in SPARE:
        sizes = chunk_sizes(lists[0], entries.shape[1], spare)
        ends = np.cumsum(sizes)
        column, value = entry_room(int(sizes.sum()))
        fill = partial(kernels.fill_rows, *fixed, fields, flat, w.kappa, w.first, lists)
        out = fits, start, length, column, value, rest
        fill(np.arange(len(sizes)), ends - sizes, ends, *out)
        late = np.flatnonzero(~fits)
        if len(late):
            sizes[late] = chunk_sizes(lists[0], entries.shape[1], LATE * spare)[late]
            ends[late] = ends[-1] + np.cumsum(sizes[late])  # behind all others
            if ends[late[-1]] <= len(column):
                fill(late, ends - sizes, ends, *out)
        if fits.all():
            return AssembledSystem("viscosity", start, length, column, value, rest)
    raise AssertionError("a row of an octree has more entries than samples can give it")


def flattened(fields: Staggered) -> Staggered:
    """The same samples in arrays of one dimension."""
    return mapped(np.ravel, fields)


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
