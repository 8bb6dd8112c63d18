"""What pictures of a scene have in common: camera, look of the liquid, solids, floor."""

import numpy as np

from glug.geometry.sampled import SampledDistance
from glug.scene import Scene
from glug.scene.bodies import Solid
from glug.view.camera import Camera
from glug.view.flat import flat_picture
from glug.view.framing import scene_camera
from glug.view.material import ColouredSolid, Material
from glug.view.picture import render

SOLID_SAMPLES = 96  # along the longest side of a solid
SOLID_MARGIN = 3  # samples around it
GLASS = 0.85  # of a clear solid that one sees through
CHUNK = 1 << 18  # points at a time


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

    def picture(self, distance: SampledDistance, time: float) -> np.ndarray:
        """The liquid of a frame and the solids at `time` [s]: (height, width, 3) uint8."""
        solids: list[ColouredSolid] = []
        for solid in self.scene.solids:
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
    h = float((upper - lower).max()) / SOLID_SAMPLES
    counts = np.ceil((upper - lower) / h).astype(int) + 1 + 2 * SOLID_MARGIN
    corner = lower - SOLID_MARGIN * h
    if domain.dim == 2:
        counts[2], corner[2] = 1, 0.5 * domain.dx
    axes = [c + h * np.arange(n) for c, n in zip(corner, counts)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    values = np.concatenate([solid.distance(part, time) for part in np.array_split(points, 1 + len(points) // CHUNK)])
    outside = np.maximum(domain.lower - points, points - domain.upper)[:, : domain.dim].max(axis=1)
    values = np.maximum(values, outside).astype(np.float32).reshape(tuple(counts))
    return SampledDistance(values, (float(corner[0]), float(corner[1]), float(corner[2])), h)
