"""Triangle meshes of sampled distances: marching cubes at the zero level, always closed.

scikit-image's `marching_cubes` (Lewiner's topologically consistent tables) puts vertices where the linear
interpolant along lattice edges vanishes, so positions are second-order in the spacing.
"""

from collections.abc import Callable

import numpy as np

from glug.geometry.sampled import SampledDistance, SurfaceMesh


def extract(distance: SampledDistance, depth: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) float32 [m] and triangles (m, 3) int32 of the zero level, outward normals.

    The mesh is closed: liquid that reaches the border of the samples is capped there. Without liquid both are
    empty. A single layer of samples in z (a 2D scene) becomes a slab of `depth` [m] (default one spacing),
    centred on the layer.
    """
    values = np.asarray(distance.values, dtype=np.float32)
    flat = values.shape[2] == 1
    if not (values < 0.0).any():
        return np.empty((0, 3), np.float32), np.empty((0, 3), np.int32)
    from skimage.measure import marching_cubes

    h = distance.spacing
    if flat:
        values = np.repeat(values, 2, axis=2)
    vertices, triangles, _, _ = marching_cubes(_capped(values, h), 0.0, gradient_direction="descent")
    vertices -= 1.0  # the layer of the cap
    vertices = np.clip(vertices, 0.0, np.asarray(values.shape, np.float32) - 1.0)
    scale = np.full(3, h)
    corner = np.asarray(distance.corner, dtype=np.float64)
    if flat:
        scale[2] = h if depth is None else depth
        corner[2] -= 0.5 * scale[2]
    return (vertices * scale + corner).astype(np.float32), triangles.astype(np.int32)


def extract_cells(values: np.ndarray, own: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3), in samples, and triangles of the cubes whose lowest sample is one's `own` (bool); not capped."""
    none = np.empty((0, 3), np.float32), np.empty((0, 3), np.int32)
    mask = np.zeros_like(own)
    mask[1:, 1:, 1:] = own[:-1, :-1, :-1]  # cubes go by their highest sample there
    if not (mask.any() and values.min() < 0.0 < values.max()):
        return none
    from skimage.measure import marching_cubes

    try:
        vertices, triangles, _, _ = marching_cubes(
            _off_level(values.copy(), h), 0.0, gradient_direction="descent", mask=mask
        )
    except RuntimeError:  # the level passes none of them
        return none
    return vertices, triangles


def surface_mesh(
    distance: SampledDistance,
    velocity_at: Callable[[np.ndarray], np.ndarray],
    depth: float | None = None,
) -> SurfaceMesh:
    """The mesh of `extract` with `velocity_at(vertices (n, 3)) -> (n, 3)` [m/s] at its vertices."""
    vertices, triangles = extract(distance, depth)
    velocities = np.zeros((0, 3), np.float32)
    if len(vertices):
        velocities = np.asarray(velocity_at(vertices), dtype=np.float32)
    return SurfaceMesh(vertices, triangles, velocities)


def _capped(values: np.ndarray, h: float) -> np.ndarray:
    """`values` inside one more layer of samples outside the liquid; exact zeros count as outside."""
    return _off_level(np.pad(values, 1, constant_values=np.float32(h)), h)


def _off_level(values: np.ndarray, h: float) -> np.ndarray:
    """In place: a sample on the level gives triangles without area and, where sheets meet, edges of four triangles."""
    tiny = np.float32(1e-5 * h)
    np.copyto(values, tiny, where=np.abs(values) < tiny)
    return values
