"""A shape read from a mesh file."""

from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from glug.errors import MeshError
from glug.geometry.mesh import ClosedMesh, read_mesh
from glug.scene.shapes.primitives import Placed
from glug.scene.shapes.transform import Bounds


class Mesh(Placed):
    """A closed triangle mesh (OBJ, PLY, STL), turned and scaled about the file's own origin."""

    kind: Literal["mesh"] = "mesh"
    file: str = Field(description="mesh file, relative to the scene file")

    def mesh(self) -> ClosedMesh:
        """The mesh; raises MeshError when it is missing, empty or not closed."""
        return read_mesh(Path(self.file))

    def require_files(self, key: str) -> None:
        try:
            self.mesh()
        except MeshError as error:
            raise MeshError(f"{key}.file: {error}") from None

    def _box(self) -> Bounds:
        return self.mesh().bounds()

    def _centre(self) -> np.ndarray:
        return np.zeros(3)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return self.mesh().distance(np.stack([x, y, z], axis=1))
