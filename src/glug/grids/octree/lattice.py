"""The velocities of an octree on the lattice of its finest cells, as sparse matrices: the reference of `to_regular`.

Going up, a face of level l next to a divided cell is the mean of its parts; going down, a face inside a coarser leaf is
interpolated linearly between the faces of level l + 1. All weights are positive, and linear velocities are met. Faces
of the forest's border have none.
"""

from functools import reduce

import numpy as np
from scipy import sparse

from glug.grids.octree.tree import Faces, Octree


def lattice_faces(tree: Octree, faces: Faces, axis: int) -> sparse.csr_matrix:
    """Faces across `axis` of the lattice, in C order, from the tree's faces."""
    fields = [_own(tree, faces, axis, l) for l in range(tree.levels)]
    marks = [_around(tree, axis, l) for l in range(tree.levels)]
    for l in range(1, tree.levels):
        divided = sparse.diags((marks[l].min(axis=0) < 0).ravel().astype(float))
        fields[l] = fields[l] + divided @ _factors(tree, axis, l, _taken, _mean) @ fields[l - 1]
    for l in range(tree.levels - 2, -1, -1):
        covered = sparse.diags((marks[l].min(axis=0) > 0).ravel().astype(float))
        fields[l] = fields[l] + covered @ _factors(tree, axis, l + 1, _between, _quarters) @ fields[l + 1]
    return fields[0].tocsr()


def _own(tree: Octree, faces: Faces, axis: int, l: int) -> sparse.csr_matrix:
    """The tree's faces of level l among those of a lattice of that level."""
    mine = np.flatnonzero((faces.axis == axis) & (faces.level == l))
    shape = _shape(tree, axis, l)
    scale = np.array([1 << l, 1 << l, 1 << (l * tree.deep)])
    place = np.ravel_multi_index(tuple((faces.corner[mine] // scale).T), shape)
    return sparse.csr_matrix((np.ones(len(mine)), (place, mine)), shape=(int(np.prod(shape)), faces.count))


def _around(tree: Octree, axis: int, l: int) -> np.ndarray:
    """The labels of the two cells beside every face of level l; 0 outside."""
    labels = tree.labels(l)
    ends = [[(1, 0) if a == axis else (0, 0) for a in range(3)], [(0, 1) if a == axis else (0, 0) for a in range(3)]]
    return np.stack([np.pad(labels, end) for end in ends])


def _shape(tree: Octree, axis: int, l: int) -> tuple[int, ...]:
    return tuple(n + (a == axis) for a, n in enumerate(tree.shape_at(l)))


def _factors(tree: Octree, axis: int, l: int, along, across) -> sparse.csr_matrix:  # type: ignore[no-untyped-def]
    """Between the lattices of levels l and l - 1: one matrix along the axis of the faces, another across it."""
    parts = []
    for a, n in enumerate(tree.shape_at(l)):
        parts.append(sparse.identity(n) if a >= tree.dim else along(n) if a == axis else across(n))
    return reduce(lambda a, b: sparse.kron(a, b, format="csr"), parts)


def _taken(n: int) -> sparse.csr_matrix:
    """Every second of 2 n + 1 samples."""
    return sparse.csr_matrix((np.ones(n + 1), (np.arange(n + 1), 2 * np.arange(n + 1))), shape=(n + 1, 2 * n + 1))


def _mean(n: int) -> sparse.csr_matrix:
    """Means of pairs of 2 n samples."""
    return sparse.kron(sparse.identity(n), np.full((1, 2), 0.5), format="csr")


def _between(n: int) -> sparse.csr_matrix:
    """n + 1 samples and the means between them."""
    fine = np.arange(2 * n + 1)
    low, high = fine // 2, (fine + 1) // 2
    return 0.5 * (_picked(low, n + 1) + _picked(high, n + 1))


def _quarters(n: int) -> sparse.csr_matrix:
    """2 n samples from n: three quarters of the nearer one and a quarter of the next; the last hold at the ends."""
    fine = np.arange(2 * n)
    other = np.clip(fine // 2 + 2 * (fine % 2) - 1, 0, n - 1)
    return 0.75 * _picked(fine // 2, n) + 0.25 * _picked(other, n)


def _picked(index: np.ndarray, count: int) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones(len(index)), (np.arange(len(index)), index)), shape=(len(index), count))
