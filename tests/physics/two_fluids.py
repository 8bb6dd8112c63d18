"""A disc or ball of one fluid in a closed box of another, for the tests of affine regions."""

from dataclasses import dataclass

import numpy as np

from glug.grids.regular import CENTRE, Grid, Staggered, lower_upper


@dataclass
class Bubble:
    """In the middle of a unit box; `density` relative to the liquid around it."""

    grid: Grid
    density: float
    phi: np.ndarray  # negative inside the bubble
    box: np.ndarray  # cells of the box
    area: Staggered
    mobility: Staggered

    @classmethod
    def build(cls, n: int, density: float, dim: int = 2, radius: float = 0.15) -> "Bubble":
        shape = (n + 2, n + 2, n + 2 if dim == 3 else 1)
        grid = Grid(1.0 / n, shape, (-1, -1, -1 if dim == 3 else 0), dim=dim)
        away = grid.points(CENTRE) - 0.5
        phi = np.linalg.norm(away[..., :dim], axis=-1) - radius
        box = np.zeros(shape, bool)
        box[tuple(slice(1, -1) if a < dim else slice(None) for a in range(3))] = True
        area, mobility = grid.staggered(np.float64), grid.staggered(np.float64)
        for a in range(dim):
            inner = tuple(slice(1, -1) if b == a else slice(None) for b in range(3))
            area[a][inner] = np.logical_and(*lower_upper(box, a))
            share = np.clip(-np.minimum(*lower_upper(phi, a)), 0.0, None)
            share = share / (share + np.clip(np.maximum(*lower_upper(phi, a)), 0.0, None) + 1e-300)
            mobility[a][inner] = 1.0 / (share * density + 1.0 - share)
        return cls(grid, density, phi, box, area, mobility)

    def fall(self, step: float = 1.0) -> np.ndarray:
        """Face velocities, flat, after falling for a moment with g = 1."""
        return np.concatenate([np.full(c.size, -step if a == 1 else 0.0) for a, c in self._faces()])

    def rise(self, u: np.ndarray) -> float:
        """Velocity of the bubble's centroid: mean over the vertical faces of its cells."""
        v = self.split(u)[1]
        return float((0.5 * (v[:, :-1] + v[:, 1:]))[self.phi < 0].mean())

    def split(self, u: np.ndarray) -> list[np.ndarray]:
        ends = np.cumsum([c.size for _, c in self._faces()])[:-1]
        return [part.reshape(c.shape) for part, (_, c) in zip(np.split(u, ends), self._faces())]

    def _faces(self) -> list[tuple[int, np.ndarray]]:
        return [(a, self.area[a]) for a in self.grid.axes]
