"""Geometry as plain data: a sampled distance and a triangle mesh. Frames carry both."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SampledDistance:
    """Signed distance [m] on a regular lattice, negative inside.

    Sample (i, j, k) of `values` (float32) is at corner + (i, j, k) spacing. Farther than a few cells from the
    zero level the values are clamped, but keep their sign.
    """

    values: np.ndarray
    corner: tuple[float, float, float]
    spacing: float


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
