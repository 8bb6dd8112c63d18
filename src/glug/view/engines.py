"""What turns a frame's surface into a picture: Mitsuba, or the plain renderer that needs nothing."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from glug.geometry.sampled import SurfaceMesh
from glug.scene import Scene
from glug.view.camera import Camera
from glug.view.material import Material
from glug.view.scene_pictures import ScenePictures
from glug.view.trace.voxels import mesh_distance, slab_distance

Moment = tuple[SurfaceMesh, float]  # a surface and its time [s]


class Engine(Protocol):
    """Renders frames of one scene, all with the same camera and light."""

    name: str

    def picture(self, moments: Sequence[Moment], colours: np.ndarray | None = None) -> np.ndarray:
        """The mean over the moments of the shutter: (height, width, 3) uint8.

        colours  linear, at the vertices of the surfaces, where liquids of several colours meet
        """
        ...


class PlainEngine:
    """The sphere tracer of the previews, on surfaces turned back into distances. One colour of liquid."""

    name = "plain"

    def __init__(self, scene: Scene, camera: Camera, material: Material, size: tuple[int, int]):
        self.scene = scene
        self.spacing = scene.domain.dx / scene.surface.resolution
        self.pictures = ScenePictures(scene, size, camera, material)

    def picture(self, moments: Sequence[Moment], colours: np.ndarray | None = None) -> np.ndarray:
        drawn = [self._draw(*moment) for moment in moments]
        if len(drawn) == 1:
            return drawn[0]
        mean: np.ndarray = np.stack(drawn).mean(axis=0)
        return np.round(mean).astype(np.uint8)

    def _draw(self, surface: SurfaceMesh, time: float) -> np.ndarray:
        domain = self.scene.domain
        if domain.dim == 2:
            distance = slab_distance(surface, self.spacing, domain.lower, domain.upper)
        else:
            distance = mesh_distance(surface, self.spacing)
        return self.pictures.picture(distance, time)
