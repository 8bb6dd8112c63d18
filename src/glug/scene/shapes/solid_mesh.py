"""Solids as triangle meshes, for programs that draw and export them. The simulation never uses these."""

import numpy as np

from glug.geometry.sampled import SampledDistance, sample_box
from glug.geometry.surface import extract
from glug.scene.bodies import Solid
from glug.scene.schema import Domain
from glug.scene.shapes.mesh import Mesh
from glug.scene.shapes.primitives import Box
from glug.scene.shapes.transform import Bounds

SAMPLES = 96  # along the longest side of a solid
MOST_SAMPLES = 320  # of one with thin walls
THIN = 1.0  # spacings: walls whose middle is less deep are sampled again, finer
MARGIN = 2  # samples around it

Triangles = tuple[np.ndarray, np.ndarray]
# Corners of a box are numbered by their bits zyx; outward normals.
_BOX_TRIANGLES = [
    *[(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4)],
    *[(2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)],
]


def rest_mesh(solid: Solid, domain: Domain, time: float = 0.0, samples: int | None = None) -> Triangles:
    """Vertices (n, 3) float32 [m] and triangles (m, 3) int32 of a solid that its motion has not moved yet.

    A point p of it is at R p + x at the time of the pose (R, x). `time` [s] matters for a sequence of meshes only.
    Boxes and mesh files keep their own corners; other shapes are sampled, `samples` along their longest side. What has
    no end ends at the domain, or the domain's diagonal beyond it if it moves. In 2D it is a slab as deep as a cell.
    """
    if domain.dim == 3 and solid.sequence is not None:
        mesh = solid.sequence.mesh(time)
        return mesh.vertices.astype(np.float32), mesh.triangles.astype(np.int32)
    if domain.dim == 3 and isinstance(solid.shape, Mesh):
        mesh = solid.shape.mesh()
        return solid.shape.place(mesh.vertices).astype(np.float32), mesh.triangles.astype(np.int32)
    if domain.dim == 3 and isinstance(solid.shape, Box) and solid.shape.rounding == 0.0:
        corners = solid.shape.corners()
        if np.isfinite(corners).all():
            return solid.shape.place(corners).astype(np.float32), np.array(_BOX_TRIANGLES, np.int32)
    return _sampled(solid, domain, time, SAMPLES if samples is None else samples)


def _sampled(solid: Solid, domain: Domain, time: float, samples: int) -> Triangles:
    lower, upper = _limits(solid, domain, time)
    if not (upper > lower).all():
        return np.empty((0, 3), np.float32), np.empty((0, 3), np.int32)
    while True:
        distance = _lattice(solid, lower, upper, samples, time, domain)
        deepest = -float(distance.values.min())
        if deepest >= THIN * distance.spacing or samples >= MOST_SAMPLES:
            return extract(distance, depth=domain.dx)
        samples = min(2 * samples, MOST_SAMPLES)


def _limits(solid: Solid, domain: Domain, time: float) -> Bounds:
    """The box that is sampled."""
    if solid.shape is not None:
        lower, upper = solid.shape.bounds()
    else:
        assert solid.sequence is not None
        lower, upper = solid.sequence.bounds(time)
    beyond = float(np.linalg.norm(domain.upper - domain.lower)) if solid.moving else 0.0
    return (
        np.where(np.isfinite(lower), lower, domain.lower - beyond),
        np.where(np.isfinite(upper), upper, domain.upper + beyond),
    )


def _lattice(
    solid: Solid, lower: np.ndarray, upper: np.ndarray, samples: int, time: float, domain: Domain
) -> SampledDistance:
    """The distance at rest, no larger than the box allows, on a lattice around it."""

    def distance(points: np.ndarray) -> np.ndarray:
        if solid.shape is not None:
            return solid.shape.distance(points)
        assert solid.sequence is not None
        return solid.sequence.distance(points, time)

    h = float((upper - lower)[: domain.dim].max()) / samples
    return sample_box(distance, lower, upper, h, MARGIN, 0.5 * domain.dx if domain.dim == 2 else None)
