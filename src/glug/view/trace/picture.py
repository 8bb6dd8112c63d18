"""A picture of a liquid, its solids and the floor, by sphere tracing. Needs no GPU and no display."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from glug.geometry.sampled import SampledDistance
from glug.scene.materials import linear
from glug.view.camera import Camera
from glug.view.material import OPAQUE, Colour, ColouredSolid, Material
from glug.view.trace.flat import flat_picture
from glug.view.trace.volumes import gather

if TYPE_CHECKING:
    from glug.view.trace.kernels_march import Stage

FLOOR_COLOUR: Colour = (0.90, 0.895, 0.885)  # sRGB
# Where a pixel at an edge is sampled again, around its centre: no two in a row or a column.
SUBSAMPLES = np.array([(-7, -1), (-5, 5), (-3, -5), (-1, 3), (1, -7), (3, 1), (5, 7), (7, -3)]) / 16
EDGE_CONTRAST = 0.035  # between neighbouring pixels, of 1, from which a pixel is sampled again
SKY_REACH = 0.25  # of the scene's size: from there on, things do not shade the light of the sky


def render(
    distance: SampledDistance,
    material: Material,
    solids: Sequence[ColouredSolid],
    camera: Camera,
    size: tuple[int, int],
    floor: float | None = None,
    scale: float | None = None,
) -> np.ndarray:
    """A picture (height, width, 3) uint8 (sRGB); `size` is (width, height).

    distance  of the liquid; one layer in z gives a flat picture of the plane
    solids    distances and colours (see `ColouredSolid`)
    floor     height y [m] of a floor that fades into the backdrop; None for none
    scale     size of the scene [m], from which the depth of colour follows if the material names none; give
              the same one for all frames of a run. Default: the largest side of the samples.

    The same input gives the same bytes whatever the number of threads.
    """
    if distance.values.shape[2] == 1:
        corner = np.asarray(distance.corner)
        extent = distance.spacing * (np.asarray(distance.values.shape) - 1)
        return flat_picture(distance, material, solids, size, corner, corner + extent)
    if scale is None:
        scale = max(distance.values.shape) * distance.spacing
    stage = _stage(distance, material, solids, camera, floor, scale)
    width, height = size
    view = _view(camera, size)

    def sampled(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from glug.view.trace import kernels

        seen = np.empty((len(points), 3), np.float32)
        what = np.empty(len(points), np.int32)
        kernels.trace(stage, view, points.astype(np.float32), seen, what)
        return tone(seen), what

    y, x = (axis.ravel() + 0.5 for axis in np.mgrid[:height, :width])
    centres = np.stack([x, y], axis=-1)
    picture, what = sampled(centres)
    again = _edges(picture.reshape(height, width, 3), what.reshape(height, width)).ravel()
    if again.any():
        parts = [sampled(centres[again] + offset)[0] for offset in SUBSAMPLES]
        picture[again] = sum(parts[1:], parts[0]) / np.float32(len(parts))
    return quantised(picture.reshape(height, width, 3))


def _stage(
    distance: SampledDistance,
    material: Material,
    solids: Sequence[ColouredSolid],
    camera: Camera,
    floor: float | None,
    scale: float,
) -> "Stage":
    """All that rays meet, as the kernels want it."""
    from glug.view.trace.kernels_march import Stage

    surfaces = np.array([_surface(FLOOR_COLOUR), *(_surface(colour) for _, colour in solids)], np.float32)
    volumes = gather(
        distance,
        [solid for solid, _ in solids],
        [float(opacity) for opacity in surfaces[1:, 3]],
        -np.inf if floor is None else floor,
    )
    return Stage(
        volumes.samples,
        volumes.table,
        volumes.place,
        volumes.density,
        volumes.density_place,
        _lights(camera),
        _optics(material, scale),
        surfaces,
        _floor(floor, camera, scale),
    )


def tone(seen: np.ndarray) -> np.ndarray:
    """sRGB 0 to 1 from radiance: linear below, with a soft shoulder towards white."""
    knee = np.float32(0.6)
    over = np.maximum(seen - knee, 0.0) / (1.0 - knee)
    soft = np.minimum(seen, knee) + (1.0 - knee) * (1.0 - np.exp(-over))
    low = soft <= 0.0031308
    curve = np.where(low, 12.92 * soft, 1.055 * np.maximum(soft, 1e-6) ** (1 / 2.4) - 0.055)
    return np.clip(curve, 0.0, 1.0).astype(np.float32)


def quantised(picture: np.ndarray) -> np.ndarray:
    """Bytes, with an ordered dither of one unit that hides the bands of slow gradients."""
    pattern = np.zeros((1, 1))
    for _ in range(3):
        pattern = np.block([[4 * pattern, 4 * pattern + 2], [4 * pattern + 3, 4 * pattern + 1]])
    height, width, _ = picture.shape
    tiles = np.tile((pattern + 0.5) / pattern.size, (-(-height // 8), -(-width // 8)))[:height, :width, None]
    return np.minimum(picture * 255.0 + tiles, 255.0).astype(np.uint8)


def _edges(picture: np.ndarray, what: np.ndarray) -> np.ndarray:
    """Pixels that differ from a neighbour in what they show or by EDGE_CONTRAST in any colour."""
    edge = np.zeros(what.shape, dtype=bool)
    for axis in (0, 1):
        differs = (np.abs(np.diff(picture, axis=axis)) > EDGE_CONTRAST).any(-1) | (np.diff(what, axis=axis) != 0)
        first, second = [slice(None)] * 2, [slice(None)] * 2
        first[axis], second[axis] = slice(None, -1), slice(1, None)
        edge[tuple(first)] |= differs
        edge[tuple(second)] |= differs
    return edge


def _view(camera: Camera, size: tuple[int, int]) -> np.ndarray:
    width, height = size
    right, up, forward = camera.axes()
    pixel = 2.0 * np.tan(np.radians(camera.fov_degrees) / 2) / height
    corner = forward - 0.5 * width * pixel * right + 0.5 * height * pixel * up
    return np.array([camera.eye, corner, pixel * right, -pixel * up], dtype=np.float32)


def _lights(camera: Camera) -> np.ndarray:
    """The key light stands left of the camera and behind the liquid, the rim light right of it."""
    right, _, forward = camera.axes()
    ahead = np.array([forward[0], 0.0, forward[2]])
    if np.linalg.norm(ahead) < 1e-6:
        ahead = np.cross((0.0, 1.0, 0.0), right)
    ahead /= np.linalg.norm(ahead)
    rows: list[np.ndarray] = []
    for sideways, high, behind in ((-0.62, 0.80, 0.30), (0.95, 0.35, -0.25)):
        towards = sideways * right + np.array([0.0, high, 0.0]) + behind * ahead
        towards /= np.linalg.norm(towards)
        across = np.cross(towards, (0.0, 1.0, 0.0))
        across /= np.linalg.norm(across)
        rows += [towards, across, np.cross(across, towards)]
    return np.array(rows, dtype=np.float32)


def _optics(material: Material, scale: float) -> np.ndarray:
    """See `Stage.optics`."""
    clarity = material.clarity
    colour = np.clip(linear(material.colour), 1e-3, 1.0)
    absorption, scattering = material.absorption(scale), material.scattering(scale)
    if clarity < OPAQUE:
        absorption, scattering = np.zeros(3), 2e6
    shadow = 1.0 - 0.65 * clarity  # a clear liquid bends light away: its shadow is not white either
    return np.array([*absorption, *colour, scattering, material.refraction, shadow, SKY_REACH * scale], np.float32)


def _surface(colour: Sequence[float]) -> np.ndarray:
    """Linear colour and opacity."""
    return np.array([*linear(colour[:3]), colour[3] if len(colour) > 3 else 1.0])


def _floor(floor: float | None, camera: Camera, scale: float) -> np.ndarray:
    height = -1e30 if floor is None else floor
    return np.array([height, camera.target[0], camera.target[2], scale], dtype=np.float32)
