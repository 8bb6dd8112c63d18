"""The viscous matrix of an octree, assembled in parallel straight into compressed rows."""

from dataclasses import dataclass

import numpy as np

from glug.grids.octree import Faces, Octree
from glug.grids.regular import Staggered
from glug.physics import kernels_octree_rows as kernels
from glug.solvers.csr import CsrSystem


@dataclass(frozen=True)
class OctreeWeights:
    """Mass and stress weights: of the regular problem on finest cells, and mu dt / (rho dx^2) on coarser ones."""

    mass: Staggered  # what acts on a face alone
    cell: np.ndarray
    edges: Staggered
    coupling: Staggered
    kappa: np.ndarray  # levels 1, 2, ... one after the other
    first: np.ndarray  # where each level begins


def coarse_diffusion(tree: Octree, diffusion: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
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


def assemble(
    tree: Octree, faces: Faces, weights: OctreeWeights, *, enhanced: bool = True, laplacian: bool = False
) -> CsrSystem:
    """M + E' K V E over `faces`; others, where a stencil meets them, count as zero.

    `laplacian` is the baseline: the gradient of every component on its own.
    """
    corner, level = faces.leaves
    starts = np.zeros((-(-len(level) // int(kernels.CHUNK)), 2), np.int64)
    fixed = (tree.level, tree.deep, enhanced, laplacian, corner, level, faces.numbers)
    fields = weights.cell, weights.edges, weights.kappa, weights.first
    none = np.zeros(0, np.int32)
    kernels.irregular_samples(*fixed, *fields, starts, np.zeros(0), none, none, np.zeros(0, np.float32))
    samples, entries = (int(n) for n in starts.sum(axis=0))
    starts = np.cumsum(starts, axis=0) - starts
    # With values in float32 all differences of a row still share one rounded distance: rigid motions cancel.
    sample_weight, entry_value = np.empty(samples), np.empty(entries, np.float32)
    sample, entry = np.empty(entries, np.int32), np.empty(entries, np.int32)
    kernels.irregular_samples(*fixed, *fields, starts, sample_weight, sample, entry, entry_value)
    sample_first = np.zeros(samples + 1, np.int64)
    if samples:
        np.cumsum(np.bincount(sample, minlength=samples), out=sample_first[1:])
    begin, order = np.zeros(faces.count + 1, np.int64), np.empty(entries, np.int32)
    kernels.where_faces_occur(entry, begin, order)

    start = np.zeros(faces.count + 1, np.int64)

    def fill(column: np.ndarray, value: np.ndarray) -> None:
        e, f, kappa, first = weights.edges, weights.coupling, weights.kappa, weights.first
        for a in range(tree.dim):
            b, d = (a + 1) % 3, (a + 2) % 3
            fields = weights.mass[a], weights.cell, e[d], e[b], f[d], f[b], kappa, first
            fixed = a, tree.deep, laplacian, faces.numbers, faces.place
            kernels.fill_plain_rows(*fixed, *fields, begin, start, column, value)
        kernels.fill_rows(
            *(tree.level, tree.deep, laplacian, faces.numbers, faces.place),
            *(weights.mass, weights.cell, e, f, kappa, first),
            *(begin, order, sample, sample_first, sample_weight, entry, entry_value),
            *(start, column, value),
        )

    fill(none, np.zeros(0))
    np.cumsum(start, out=start)
    column, value = np.empty(start[-1], np.int32), np.empty(start[-1])
    fill(column, value)
    return CsrSystem("viscosity", start, column, value)
