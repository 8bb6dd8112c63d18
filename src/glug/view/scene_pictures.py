"""What pictures of a scene have in common: camera, look of the liquid, solids, floor."""

from collections.abc import Mapping

import numpy as np

from glug.geometry.sampled import SampledDistance, sample_box
from glug.scene import Scene
from glug.scene.bodies import Solid
from glug.scene.motions.recorded import Recorded, with_motions
from glug.scene.motions.scripted import Pose
from glug.view.camera import Camera
from glug.view.framing import scene_camera
from glug.view.material import ColouredSolid, Material
from glug.view.trace.flat import flat_picture
from glug.view.trace.picture import render

SOLID_SAMPLES = 96  # along the longest side of a solid, at most
SAMPLES_PER_CELL = 4  # of the scene's grid, at most
SOLID_MARGIN = 3  # samples around it
GLASS = 0.85  # of a clear solid that one sees through


class ScenePictures:
    """Pictures of a scene's frames, all with the same camera and light. Still solids are sampled once."""

    def __init__(
        self,
        scene: Scene,
        size: tuple[int, int] | None = None,
        camera: Camera | None = None,
        material: Material | None = None,
    ):
        """`size` (width, height) in pixels, camera and look are the scene's when None."""
        self.scene = scene
        self.size = scene.output.preview_size if size is None else size
        domain = scene.domain
        self.scale = float(max(domain.size))
        self.floor = float(domain.lower[1]) if domain.sides["bottom"] != "open" else None
        self.camera = camera if camera is not None else scene_camera(scene, self.size)
        liquid = next(iter(scene.liquids.values()))
        self.material = material if material is not None else Material(liquid.colour, liquid.clarity)
        self._still: dict[str, SampledDistance | None] = {}

    def picture(self, distance: SampledDistance, time: float, poses: Mapping[str, Pose] | None = None) -> np.ndarray:
        """The liquid of a frame and the solids at `time` [s]: (height, width, 3) uint8.

        poses  of moving solids, by name; others are where their motions have them
        """
        solids: list[ColouredSolid] = []
        moved = with_motions(self.scene, {name: Recorded([time], [pose]) for name, pose in (poses or {}).items()})
        for solid in moved.solids:
            sampled = self._sampled(solid, time)
            if sampled is not None:
                solids.append((sampled, (*solid.colour, 1.0 - GLASS * solid.clarity)))
        domain = self.scene.domain
        if domain.dim == 2:
            return flat_picture(distance, self.material, solids, self.size, domain.lower, domain.upper)
        return render(distance, self.material, solids, self.camera, self.size, self.floor, self.scale)

    def _sampled(self, solid: Solid, time: float) -> SampledDistance | None:
        if solid.moving:
            return sample_solid(self.scene, solid, time)
        if solid.name not in self._still:
            self._still[solid.name] = sample_solid(self.scene, solid, time)
        return self._still[solid.name]


def sample_solid(scene: Scene, solid: Solid, time: float) -> SampledDistance | None:
    """The part of a solid in the domain at `time` [s], on its own lattice; None if there is none."""
    domain = scene.domain
    lower, upper = (np.asarray(corner, dtype=float) for corner in solid.bounds(time))
    lower, upper = np.maximum(lower, domain.lower), np.minimum(upper, domain.upper)
    if not (upper > lower).all():
        return None
    h = max(float((upper - lower).max()) / SOLID_SAMPLES, domain.dx / SAMPLES_PER_CELL)
    plane = 0.5 * domain.dx if domain.dim == 2 else None
    return sample_box(lambda points: solid.distance(points, time), lower, upper, h, SOLID_MARGIN, plane)
