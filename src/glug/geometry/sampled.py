"""Geometry as plain data: a sampled distance and a triangle mesh. Frames carry both."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

CHUNK = 1 << 18  # points at a time


@dataclass(frozen=True)
class SampledDistance:
    """Signed distance [m] on a regular lattice, negative inside.

    Sample (i, j, k) of `values` (float32) is at corner + (i, j, k) spacing. Farther than a few cells from the
    zero level the values are clamped, but keep their sign.
    """

    values: np.ndarray
    corner: tuple[float, float, float]
    spacing: float


def sample_box(
    distance: Callable[[np.ndarray], np.ndarray],
    lower: np.ndarray,
    upper: np.ndarray,
    spacing: float,
    margin: int,
    plane: float | None = None,
) -> SampledDistance:
    """What of a shape is in the box from `lower` to `upper` [m], sampled there and `margin` samples around it.

    distance  of the shape [m], at points (n, 3)
    plane     samples are at this z [m] only, and the box has no ends there
    """
    counts = np.ceil((upper - lower) / spacing).astype(int) + 1 + 2 * margin
    corner = lower - margin * spacing
    if plane is not None:
        counts[2], corner[2] = 1, plane
    dim = 3 if plane is None else 2
    x, y, z = (c + spacing * np.arange(n) for c, n in zip(corner, counts))
    values = np.empty(tuple(counts), np.float32)
    rows = max(1, CHUNK // (len(y) * len(z)))
    for i in range(0, len(x), rows):
        points = np.stack(np.meshgrid(x[i : i + rows], y, z, indexing="ij"), axis=-1).reshape(-1, 3)
        outside = np.maximum(lower - points, points - upper)[:, :dim].max(axis=1)
        values[i : i + rows] = np.maximum(distance(points), outside).reshape(-1, len(y), len(z))
    return SampledDistance(values, (float(corner[0]), float(corner[1]), float(corner[2])), spacing)


@dataclass(frozen=True)
class SurfaceMesh:
    """A triangle mesh with the liquid's velocity at its vertices.

    vertices (n, 3) float32 [m], triangles (m, 3) int32 with outward normals, velocities (n, 3) float32 [m/s]
    """

    vertices: np.ndarray
    triangles: np.ndarray
    velocities: np.ndarray

    def volume(self) -> float:
        """Enclosed volume [m3] (divergence theorem)."""
        a, b, c = (self.vertices[self.triangles[:, i]].astype(np.float64) for i in range(3))
        return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)

    def normals(self) -> np.ndarray:
        """Unit normals (n, 3) float32 at the vertices: means over the triangles around them, weighted by area."""
        a, b, c = (self.vertices[self.triangles[:, i]].astype(np.float64) for i in range(3))
        weighted, corners = np.cross(b - a, c - a), self.triangles.ravel()
        count = len(self.vertices)
        sums = np.stack([np.bincount(corners, np.repeat(weighted[:, k], 3), count) for k in range(3)], axis=1)
        return (sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)).astype(np.float32)
