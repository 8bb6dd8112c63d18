"""Imported triangle meshes: read, checked to be closed, and their signed distance."""

from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from glug.errors import MeshError, shown_path
from glug.geometry.mesh_reader import read_triangles

FLAT = 1e-9  # of the cube around a mesh: what is less is no volume
LATTICE = 48
"""Lattice cells along the longest side of a mesh; exact queries cost a hundred times an interpolated one."""
MARGIN = 4
"""Lattice cells around it."""


class ClosedMesh:
    """A closed triangle mesh with outward normals and the search trees for its distance.

    vertices (n, 3) float64 [m], triangles (m, 3) int64
    """

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray) -> None:
        import igl

        self.vertices = np.ascontiguousarray(vertices, dtype=np.float64)
        self.triangles = np.ascontiguousarray(triangles, dtype=np.int64)
        self._tree = igl.AABB()
        self._tree.init(self.vertices, self.triangles)
        self._winding = igl.FastWindingNumberBVH()
        self._winding.init(self.vertices, self.triangles)

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Signed distance (n,) [m] at points (n, 3).

        Exact closer to the surface than a lattice cell's diagonal; elsewhere interpolated from the lattice.
        A distance changes by at most the diagonal within a cell, so the sign is always right.
        """
        from scipy.ndimage import map_coordinates

        points = np.asarray(points, dtype=np.float64)
        corner, spacing, values = self._lattice
        where = (points - corner).T / spacing
        inside = np.clip(where, 0.0, np.array(values.shape)[:, None] - 1.0)
        distance = map_coordinates(values, inside, order=1)
        where -= inside
        where *= where
        distance += spacing * np.sqrt(where.sum(axis=0))  # beyond the lattice: an upper bound
        near = np.flatnonzero(np.abs(distance) < np.sqrt(3.0) * spacing)
        distance[near] = self.closest(points[near])[0]
        return distance

    @cached_property
    def _lattice(self) -> tuple[np.ndarray, float, np.ndarray]:
        """First sample, spacing and distances on a lattice around the mesh."""
        lower, upper = self.bounds()
        spacing = float((upper - lower).max()) / LATTICE
        corner = lower - MARGIN * spacing
        counts = np.ceil((upper - lower) / spacing).astype(int) + 2 * MARGIN + 1
        samples = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
        return corner, spacing, self.closest(corner + spacing * samples)[0].reshape(counts)

    def closest(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Signed distance (n,), nearest triangle (n,) and nearest point (n, 3) on the surface.

        A point is inside where the winding number exceeds 1/2.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        if len(points) == 0:
            return np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, 3))
        squared, triangle, nearest = self._tree.squared_distance(self.vertices, self.triangles, points)
        distance = np.sqrt(squared, out=squared)
        inside = self._winding.winding_number(points) > 0.5
        return np.negative(distance, out=distance, where=inside), triangle, nearest

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box around the mesh [m]."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)


def read_mesh(path: Path) -> ClosedMesh:
    """The mesh in an OBJ, PLY or STL file; MeshError when it is missing, empty, flat or not closed."""
    try:
        modified = path.stat().st_mtime_ns
    except (OSError, ValueError):  # `read_triangles` says why
        modified = 0
    return _read(path, modified)


@lru_cache(maxsize=256)
def _read(path: Path, _modified: int) -> ClosedMesh:
    vertices, triangles = weld(*read_triangles(path))
    name = shown_path(path)
    holes = count_holes(triangles)
    if holes or len(triangles) == 0:
        plural = "hole" if holes == 1 else "holes"
        raise MeshError(f"{name}: the mesh is not closed; it has {holes} {plural}, fill them before import")
    volume, size = _volume(vertices, triangles), np.ptp(vertices, axis=0).max()
    if abs(volume) < FLAT * size**3:
        raise MeshError(f"{name}: the mesh is flat: it encloses no volume")
    return ClosedMesh(vertices, triangles[:, ::-1] if volume < 0.0 else triangles)


def weld(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices at the same place (to single precision) made one; collapsed triangles dropped."""
    _, first, index = np.unique(vertices.astype(np.float32), axis=0, return_index=True, return_inverse=True)
    triangles = index.reshape(-1)[triangles]
    a, b, c = triangles.T
    return vertices[first], triangles[(a != b) & (b != c) & (c != a)]


def count_holes(triangles: np.ndarray) -> int:
    """Connected groups of edges that belong to an odd number of triangles."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    edges, uses = np.unique(edges, axis=0, return_counts=True)
    border = edges[uses % 2 == 1]
    if len(border) == 0:
        return 0
    corners, ends = np.unique(border, return_inverse=True)
    ends = ends.reshape(-1, 2)
    # A matrix has indices of 32 bits; older versions of SciPy find nothing in an array, whose indices have 64.
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(corners),) * 2)
    return int(connected_components(graph, directed=False, return_labels=False))


def _volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)
