"""What meshes of boxes share: the cuts of boxes and of their sides, and interpolation on a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy import sparse

from glug.grids.mesh import Distance

SLACK = 1.5  # a distance may be understated by this factor
PARTS = {2: 8, 3: 3}  # per axis, into which a box that is cut is divided, by dimension


@dataclass(frozen=True)
class Boxes:
    """Boxes along the axes by their middles and sizes (n, dim) [m]."""

    middle: np.ndarray
    size: np.ndarray

    @property
    def volume(self) -> np.ndarray:
        return self.size.prod(axis=1)

    def fraction(self, distance: Distance, parts: int = 0) -> np.ndarray:
        """The part of every box where `distance` is negative.

        Boxes near its zero are cut into `parts` per axis; in each part it counts as linear across the part along its
        steepest axis, so that the fraction is a smooth function of the geometry.
        """
        dim = self.middle.shape[1]
        parts = parts or PARTS[dim]
        value = distance(self.middle)
        fraction = (value < 0).astype(float)
        near = np.abs(value) < SLACK * 0.5 * np.linalg.norm(self.size, axis=1)
        middle, h = self.middle[near], self.size[near] / parts
        total = np.zeros(len(middle))
        for shift in product(np.arange(parts) + 0.5 - parts / 2, repeat=dim):
            here = middle + np.array(shift) * h
            half = [0.5 * h * axis for axis in np.eye(dim)]
            width = sum(np.abs(distance(here + d) - distance(here - d)) for d in half)
            total += np.clip(0.5 - distance(here) / np.maximum(width, 1e-12 * h[:, 0]), 0.0, 1.0)
        fraction[near] = total / parts**dim
        return fraction


def linear_fraction(values: np.ndarray) -> np.ndarray:
    """The part of a segment, triangle or tetrahedron where the linear function with these values (k, n) is negative."""
    v = np.sort(values, axis=0)
    cut = (v[0] < 0) & (v[-1] >= 0)
    v = np.where(cut, v, np.linspace(-1.0, 1.0, len(v))[:, None])
    low, high, middle = v[0], v[-1], v[len(v) // 2]
    if len(v) == 2:
        part = low / (low - high)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.prod([low / (low - other) for other in v[1:]], axis=0)
            rest = np.prod([high / (high - other) for other in v[:-1]], axis=0)
            part = np.where(middle < 0, 1.0 - rest, one)
            if len(v) == 4:
                part = np.where((v[1] < 0) & (v[2] >= 0), _two_of_four(v), part)
    return np.where(cut, part, (values.max(axis=0) < 0).astype(float))


def _two_of_four(v: np.ndarray) -> np.ndarray:
    """The part of a tetrahedron that is negative where two ascending values are: three parts at its first corner."""
    a, b, c, d = v
    ac, ad, bc, bd = a / (a - c), a / (a - d), b / (b - c), b / (b - d)
    return bc * bd + ac * ad * (1.0 - bc) + ad * bc * (1.0 - bd)


def side_fraction(middle: np.ndarray, size: np.ndarray, axis: int, distance: Distance) -> np.ndarray:
    """The part of sides across `axis` where `distance` is negative, from its values at their corners.

    In 2D it counts as linear along the side, in 3D in each of the four triangles between an edge and the middle, where
    it is the mean of the corners. Exact lengths would do worse: slivers that no corner sees spoil the velocities beside
    them.
    """
    dim = middle.shape[1]
    across = [0.5 * size * np.eye(dim)[b] for b in range(dim) if b != axis]
    if dim == 2:
        return linear_fraction(np.stack([distance(middle - across[0]), distance(middle + across[0])]))
    e, f = across
    corners = [distance(middle + shift) for shift in (-e - f, e - f, e + f, f - e)]
    mean = 0.25 * np.sum(corners, axis=0)
    triangles = [linear_fraction(np.stack([a, b, mean])) for a, b in pairwise([*corners, corners[0]])]
    return 0.25 * np.sum(triangles, axis=0)


def lattice_interpolation(lines: Sequence[np.ndarray], points: np.ndarray) -> sparse.csr_matrix:
    """Multilinear interpolation at points (n, dim) of samples in C order at the crossings of lines.

    `lines` are the coordinates along each axis, ascending. Beyond the last line its samples hold.
    """
    index, weight = [], []
    for x, at in zip(points.T, lines):
        low = np.clip(np.searchsorted(at, x, side="right") - 1, 0, max(len(at) - 2, 0))
        high = np.minimum(low + 1, len(at) - 1)
        apart = np.where(high > low, at[high] - at[low], 1.0)
        share = np.clip((x - at[low]) / apart, 0.0, 1.0)
        index.append((low, high))
        weight.append((1.0 - share, share))
    rows, columns, values = [], [], []
    shape = tuple(len(at) for at in lines)
    for corner in product((0, 1), repeat=len(lines)):
        rows.append(np.arange(len(points)))
        columns.append(np.ravel_multi_index([i[c] for i, c in zip(index, corner)], shape))
        values.append(np.prod([w[c] for w, c in zip(weight, corner)], axis=0))
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_matrix(entries, shape=(len(points), int(np.prod(shape))))
