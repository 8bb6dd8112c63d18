"""Particles as arrays sorted by cell."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from glug.grids.regular import Grid
from glug.particles import kernels


@dataclass
class Particles:
    """The liquid's particles. Every attribute is a (n, width) array; rows are sorted by cell after `sort`.

    position [m], velocity [m/s], volume [m3], age [s]: float32; id: int32, never reused.
    Optional: affine (n, 9) the velocity gradient times dx, by rows; temperature [C]; viscosity [Pa s]; liquid
    (int32, index of the scene's liquid); bubble (int32, the bubble beside it: see `physics.air.tracking`);
    tile (int32, the affine region it is in, 0 in none); detail [1/m], one over the largest cells that the flow wants.
    """

    attributes: dict[str, np.ndarray]
    next_id: int = 0
    start: np.ndarray = field(default_factory=lambda: np.zeros(2, np.int32))  # first particle of every cell

    WIDTHS: ClassVar = {"position": 3, "velocity": 3, "affine": 9}
    INTEGERS: ClassVar = ("id", "liquid", "bubble", "tile")

    @classmethod
    def empty(cls, names: tuple[str, ...] = ()) -> "Particles":
        """No particles, with the always-present attributes and the optional `names`."""
        every = ("position", "velocity", "volume", "age", "id", *names)
        return cls({n: np.zeros((0, cls.WIDTHS.get(n, 1)), cls.dtype_of(n)) for n in every})

    @classmethod
    def dtype_of(cls, name: str) -> type:
        return np.int32 if name in cls.INTEGERS else np.float32

    def __len__(self) -> int:
        return len(self.attributes["position"])

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self.__dict__["attributes"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: object) -> None:
        """`p.volume *= 2` changes the particles: a value of its own would hide them from then on."""
        if name in self.__dict__.get("attributes", ()):
            self.attributes[name][:] = value
        else:
            super().__setattr__(name, value)

    def has(self, name: str) -> bool:
        return name in self.attributes

    @property
    def affine_or_none(self) -> np.ndarray:
        """The affine rows, or an array of no rows when the transfer is not affine."""
        return self.attributes.get("affine", np.zeros((0, 9), np.float32))

    def occupied(self, grid: Grid) -> np.ndarray:
        """1 in the cells of `grid` that hold particles (uint8); the particles are sorted."""
        return (np.diff(self.start[:-1]).reshape(grid.shape) > 0).view(np.uint8)

    def append(self, position: np.ndarray, **values: np.ndarray | float) -> None:
        """Add particles; attributes that are not given start at zero, ids are new."""
        count = len(position)
        new = dict(values, position=position, id=np.arange(self.next_id, self.next_id + count))
        self.next_id += count
        for name, old in self.attributes.items():
            rows = np.zeros((count, old.shape[1]), old.dtype)
            if name in new:
                value = np.asarray(new[name])
                rows[:] = value[:, None] if value.ndim == 1 and old.shape[1] == 1 else value
            self.attributes[name] = np.concatenate([old, rows])

    def chosen(self, rows: np.ndarray | slice) -> "Particles":
        """A copy of some of them, not sorted."""
        return Particles({name: np.array(values[rows]) for name, values in self.attributes.items()})

    def keep(self, mask: np.ndarray) -> None:
        """Drop the particles where `mask` is false."""
        if not mask.all():
            for name in self.attributes:
                self.attributes[name] = self.attributes[name][mask]

    def sort(self, grid: Grid) -> None:
        """Order the rows by cell of `grid` and drop the particles outside it and those without volume."""
        key = np.empty(len(self), np.int32)
        corner, inverse = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
        kernels.cell_keys(self.position, self.volume, corner, inverse, grid.shape, key)
        self.sort_by(key, grid.cells)

    def sort_by(self, key: np.ndarray, count: int) -> None:
        """Order the rows by `key` (int32, below `count`) and drop those whose key is `count`."""
        start = np.zeros(count + 2, np.int32)
        order = np.empty(len(self), np.int32)
        kernels.counting_sort(key, start, order)
        order = order[: start[count]]
        for name, old in self.attributes.items():
            new = np.empty((len(order), old.shape[1]), old.dtype)
            kernels.gather_rows(old, order, new)
            self.attributes[name] = new
        self.start = start
