"""A solid given as one mesh file per frame."""

from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field

from glug.errors import MeshError
from glug.geometry.mesh import ClosedMesh, read_mesh
from glug.scene.model import Model, NonNegative, Positive, at_least_one
from glug.scene.shapes.transform import Bounds


class MeshSequence(Model):
    """Meshes shown one after the other; the first and the last are held.

    The mesh nearest in time gives the shape. When consecutive meshes have the same triangles, the velocity
    is that of the nearest surface point; otherwise the normal velocity, from the change of the distance.
    """

    files: Annotated[tuple[str, ...], BeforeValidator(at_least_one)] = Field(
        description="mesh files, relative to the scene file; or a pattern such as 'spoon/*.obj'"
    )
    fps: Positive = Field(default=24.0, description="meshes per second [1/s]")
    start: NonNegative = Field(default=0.0, description="time of the first mesh [s]")

    def require_files(self, key: str) -> None:
        """Read every mesh; MeshError, naming the key, when one cannot be used."""
        for i, file in enumerate(self.files):
            try:
                read_mesh(Path(file))
            except MeshError as error:
                raise MeshError(f"{key}.files.{i}: {error}") from None

    def distance(self, points: np.ndarray, t: float) -> np.ndarray:
        """Signed distance (n,) [m] to the mesh nearest in time."""
        return self.mesh(t).distance(points)

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        """Velocity (n, 3) [m/s] of the surface nearest to each point; zero while a mesh is held."""
        frame = self._frame(t)
        before = min(int(frame), len(self.files) - 2)
        if before < 0 or not 0.0 < (t - self.start) * self.fps < len(self.files) - 1:
            return np.zeros((len(points), 3))
        here, there = self._mesh(before), self._mesh(before + 1)
        if np.array_equal(here.triangles, there.triangles):
            mesh = here if round(frame) == before else there
            shift = (there.vertices - here.vertices) * self.fps
            return _at_surface(mesh, shift, points)
        rate = (there.distance(points) - here.distance(points)) * self.fps
        _, _, nearest = here.closest(points)
        away = points - nearest
        away *= np.sign(here.distance(points))[:, None]
        away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
        return -rate[:, None] * away

    def bounds(self, t: float) -> Bounds:
        """Corners of the box around the mesh nearest in time [m]."""
        return self.mesh(t).bounds()

    def mesh(self, t: float) -> ClosedMesh:
        """The mesh nearest in time."""
        return self._mesh(round(self._frame(t)))

    def _frame(self, t: float) -> float:
        return float(np.clip((t - self.start) * self.fps, 0.0, len(self.files) - 1))

    def _mesh(self, index: int) -> ClosedMesh:
        return read_mesh(Path(self.files[index]))


def _at_surface(mesh: ClosedMesh, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Vertex values (n, 3) at the surface points nearest to the given points (barycentric)."""
    _, triangle, nearest = mesh.closest(points)
    corners = mesh.triangles[triangle]
    a, b, c = (mesh.vertices[corners[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    area = np.maximum(np.einsum("ij,ij->i", normal, normal), 1e-300)
    weight_b = np.einsum("ij,ij->i", np.cross(nearest - a, c - a), normal) / area
    weight_c = np.einsum("ij,ij->i", np.cross(b - a, nearest - a), normal) / area
    weights = np.stack([1.0 - weight_b - weight_c, weight_b, weight_c], axis=1)
    return np.einsum("ij,ijk->ik", weights, values[corners])
