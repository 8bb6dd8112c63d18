"""A surface mesh back into a sampled distance, for the plain renderer: runs keep the mesh only."""

import numpy as np
from PIL import Image, ImageDraw
from scipy.ndimage import binary_dilation, distance_transform_edt, gaussian_filter
from scipy.spatial import cKDTree

from glug.geometry.sampled import SampledDistance, SurfaceMesh

BAND = 2  # samples around the surface with a distance of their own
MARGIN = BAND + 2  # samples around the mesh
NEIGHBOURS = 6
FLAT_FINER = 4  # pixels per sample when a flat surface is drawn


def mesh_distance(surface: SurfaceMesh, spacing: float) -> SampledDistance:
    """Signed distance to a closed mesh whose triangles are about `spacing` [m] large, on a lattice of `spacing`.

    Near the surface the distance is the mean of those to the tangent planes of the nearest vertices, weighted by
    nearness (an implicit moving least squares surface, Kolluri 2005); elsewhere it is clamped and keeps its sign.
    """
    vertices = surface.vertices.astype(np.float64)
    if len(vertices) == 0:
        return SampledDistance(np.full((2, 2, 2), spacing, np.float32), (0.0, 0.0, 0.0), spacing)
    corner = vertices.min(axis=0) - MARGIN * spacing
    shape = tuple(np.ceil((vertices.max(axis=0) - corner) / spacing).astype(int) + MARGIN + 1)
    band = np.zeros(shape, bool)
    band[tuple(np.round((vertices - corner) / spacing).astype(int).T)] = True
    band = binary_dilation(band, np.ones((3, 3, 3), bool), iterations=BAND)
    points = corner + spacing * np.argwhere(band)
    values = np.zeros(shape)
    values[band] = _tangent_distance(points, vertices, surface.normals(), spacing)
    nearest = distance_transform_edt(~band, return_distances=False, return_indices=True)
    far = np.copysign((BAND + 1) * spacing, values[tuple(nearest)])
    values = np.where(band, np.clip(values, -BAND * spacing, BAND * spacing), far)
    x, y, z = (float(c) for c in corner)
    return SampledDistance(values.astype(np.float32), (x, y, z), spacing)


def _tangent_distance(points: np.ndarray, vertices: np.ndarray, normals: np.ndarray, spacing: float) -> np.ndarray:
    far, which = cKDTree(vertices).query(points, k=min(NEIGHBOURS, len(vertices)))
    far, which = far.reshape(len(points), -1), which.reshape(len(points), -1)
    # Nearness relative to the nearest vertex: points far from the surface must not underflow.
    weights = np.exp((far[:, :1] ** 2 - far**2) / (0.75 * spacing) ** 2)
    planes = np.einsum("ijk,ijk->ij", points[:, None, :] - vertices[which], normals[which])
    return (weights * planes).sum(axis=1) / weights.sum(axis=1)


def slab_distance(surface: SurfaceMesh, spacing: float, lower: np.ndarray, upper: np.ndarray) -> SampledDistance:
    """Signed distance in the plane of a 2D scene's surface (a slab), on a lattice of one layer over the domain."""
    h = spacing / FLAT_FINER
    width, height = (int(n) for n in np.ceil((upper - lower)[:2] / h).astype(int) + 1)
    drawing = Image.new("1", (width, height))
    pen = ImageDraw.Draw(drawing)
    corners = surface.vertices[surface.triangles]
    front = np.ptp(corners[:, :, 2], axis=1) < 1e-6 * spacing
    for triangle in np.round((corners[front][:, :, :2] - lower[:2]) / h).astype(int).tolist():
        pen.polygon([(x, y) for x, y in triangle], fill=1, outline=1)
    inside = np.asarray(drawing).T
    far = np.full(inside.shape, 1.0 + max(inside.shape))
    outward = distance_transform_edt(~inside) if inside.any() else far
    inward = distance_transform_edt(inside) if not inside.all() else far
    values = gaussian_filter(np.where(inside, 0.5 - inward, outward - 0.5) * h, 0.5 * FLAT_FINER, mode="nearest")
    values = values[::FLAT_FINER, ::FLAT_FINER, None].astype(np.float32)
    return SampledDistance(values, (float(lower[0]), float(lower[1]), 0.0), spacing)
