"""The regular staggered grid: a window of cubic cells on the scene's lattice.

Fields are indexed [i, j, k] = [x, y, z] in C order. Cell (i, j, k) of the window is cell lo + (i, j, k) of
the lattice; its centre is at corner + (i + 1/2, j + 1/2, k + 1/2) dx. A staggered field is a tuple of three
arrays, the a-th one sample longer along axis a. A 2D scene has one cell in z, of depth dx.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

CENTRE = (0.5, 0.5, 0.5)
NODE = (0.0, 0.0, 0.0)
FACES = ((0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0))
# The edge along axis a carries the shear stress of the other two axes: EDGES[2] is tau_xy.
EDGES = ((0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5))

Offset = tuple[float, float, float]
# A plain tuple, which kernels take as it is: Numba refuses classes derived from tuple, and a NamedTuple is another type
# to it, with every kernel compiled anew and 0.6 us more per argument of every call.
Staggered = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Grid:
    """A box of cells: `shape` cells of size `dx` [m], starting at lattice index `lo`.

    `origin` [m] is the world position of lattice index (0, 0, 0): the domain's lower corner.
    """

    dx: float
    shape: tuple[int, int, int]
    lo: tuple[int, int, int] = (0, 0, 0)
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    dim: int = 3

    @property
    def corner(self) -> np.ndarray:
        """World position of the window's lower corner [m], float64."""
        return np.asarray(self.origin) + self.dx * np.asarray(self.lo, dtype=float)

    @property
    def cells(self) -> int:
        return int(np.prod(self.shape))

    @property
    def axes(self) -> range:
        """The axes along which there is motion: two in a 2D scene."""
        return range(self.dim)

    def sample_shape(self, offset: Offset) -> tuple[int, int, int]:
        """Samples per axis at `offset` (in cells) inside every cell; those on cell borders need one more."""
        nx, ny, nz = (n + (1 if o == 0.0 else 0) for n, o in zip(self.shape, offset))
        return nx, ny, nz

    def coordinates(self, offset: Offset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """World coordinates of the samples at `offset`, one vector per axis [m], to the bit those of other windows."""
        given = zip(self.origin, self.lo, self.sample_shape(offset), offset)
        x, y, z = (c + self.dx * (np.arange(first, first + n) + o) for c, first, n, o in given)
        return x, y, z

    def points(self, offset: Offset) -> np.ndarray:
        """World positions of the samples at `offset`, shape (..., 3) [m]."""
        return np.stack(np.meshgrid(*self.coordinates(offset), indexing="ij"), axis=-1)

    def scalar(self, offset: Offset = CENTRE, dtype: type = np.float32) -> np.ndarray:
        """A field of zeros at `offset`."""
        return np.zeros(self.sample_shape(offset), dtype=dtype)

    def staggered(self, dtype: type = np.float32) -> Staggered:
        """A vector field of zeros on the faces."""
        return mapped(lambda offset: self.scalar(offset, dtype), FACES)


def mapped(function: Callable[..., np.ndarray], *components: Iterable) -> Staggered:
    """The staggered field of `function` of the components of others."""
    x, y, z = map(function, *components)
    return x, y, z


def copied(field: Staggered) -> Staggered:
    """A staggered field with memory of its own."""
    return mapped(np.ndarray.copy, field)


def clear_border(field: np.ndarray) -> None:
    """Zero on the outermost samples, in place."""
    for end in (0, -1):
        field[end] = 0
        field[:, end] = 0
        field[:, :, end] = 0


def lower_upper(field: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper samples of all neighbours along an axis: all but the last, all but the first; views."""
    before = (slice(None),) * axis
    return field[(*before, slice(None, -1))], field[(*before, slice(1, None))]


def midway(field: np.ndarray, *axes: int) -> np.ndarray:
    """Means of neighbours along `axes`: a field at cell corners, along all three, is at cell centres."""
    for axis in axes:
        lower, upper = lower_upper(field, axis)
        field = 0.5 * (lower + upper)
    return field
