"""How far two surfaces are from each other."""

import numpy as np

from glug.geometry.sampled import SurfaceMesh


def surface_distance(a: SurfaceMesh, b: SurfaceMesh) -> tuple[float, float] | None:
    """(mean, largest) distance [m] between two surfaces; None if one of them is empty.

    The distance of a point of one surface to the other, taken at the vertices of both. The mean is over the area, and
    over both directions; the largest is the Hausdorff distance, as far as vertices see it.
    """
    if len(a.triangles) == 0 or len(b.triangles) == 0:
        return None
    (mean_a, largest_a), (mean_b, largest_b) = _one_way(a, b), _one_way(b, a)
    return 0.5 * (mean_a + mean_b), max(largest_a, largest_b)


def _one_way(a: SurfaceMesh, b: SurfaceMesh) -> tuple[float, float]:
    import igl

    vertices, triangles = b.vertices.astype(np.float64), b.triangles.astype(np.int64)
    tree = igl.AABB()
    tree.init(vertices, triangles)
    squared, _, _ = tree.squared_distance(vertices, triangles, a.vertices.astype(np.float64))
    distance = np.sqrt(squared)
    weights = _areas(a)
    return float(distance @ weights / weights.sum()), float(distance[weights > 0].max())


def _areas(mesh: SurfaceMesh) -> np.ndarray:
    """A third of the area of the triangles around each vertex [m2]; zero where there are none."""
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(np.float64) for i in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return np.bincount(mesh.triangles.ravel(), np.repeat(areas, 3), len(mesh.vertices))
