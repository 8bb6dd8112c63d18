"""Pictures of 2D scenes: the plane as filled regions, drawn without tracing."""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import map_coordinates

from glug.geometry.sampled import SampledDistance
from glug.view.material import Colour, ColouredSolid, Material

PAPER: Colour = (0.96, 0.957, 0.95)  # sRGB
MARGIN = 1.06
RIM_CELLS = 1.5  # width of the darker line along the surface, in samples


def flat_picture(
    distance: SampledDistance,
    material: Material,
    solids: Sequence[ColouredSolid],
    size: tuple[int, int],
    lower: np.ndarray,
    upper: np.ndarray,
) -> np.ndarray:
    """The plane from `lower` to `upper` [m], as large as `size` allows: (height, width, 3) uint8."""
    width, height = size
    extent = np.asarray(upper[:2]) - np.asarray(lower[:2])
    pixel = MARGIN * float(max(extent[0] / width, extent[1] / height))
    centre = np.asarray(lower[:2]) + 0.5 * extent
    x = centre[0] + pixel * (np.arange(width) + 0.5 - width / 2)
    y = centre[1] - pixel * (np.arange(height) + 0.5 - height / 2)
    picture = np.empty((height, width, 3), np.float64)
    picture[:] = PAPER
    outside = np.maximum(
        np.abs(x - centre[0])[None, :] - 0.5 * extent[0], np.abs(y - centre[1])[:, None] - 0.5 * extent[1]
    )
    _paint(picture, outside, np.ones(3), pixel)
    for solid, colour in solids:
        _paint(picture, np.maximum(_sampled(solid, x, y), outside), np.asarray(colour[:3]), pixel)
    liquid = _sampled(distance, x, y)
    body = np.asarray(material.colour)
    rim = np.clip(1.0 + liquid / (RIM_CELLS * distance.spacing), 0.0, 1.0)[..., None]
    _paint(picture, np.maximum(liquid, outside), body * (1.0 - 0.28 * rim), pixel)
    return np.floor(np.clip(picture, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)


def _sampled(distance: SampledDistance, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Distance [m] at pixels (rows y, columns x), bilinear; it goes on for one sample beyond the lattice."""
    h = distance.spacing
    where = np.broadcast_arrays((x[None, :] - distance.corner[0]) / h, (y[:, None] - distance.corner[1]) / h)
    layer = distance.values[:, :, 0].astype(np.float64)
    beyond = np.max([np.maximum(-w, w - (n - 1)) for w, n in zip(where, layer.shape)], axis=0)
    near = map_coordinates(layer, where, order=1, mode="nearest")
    return np.where(beyond > 1.0, np.maximum(near, h * beyond), near)


def _paint(picture: np.ndarray, distance: np.ndarray, colour: np.ndarray, pixel: float) -> None:
    """Blend `colour` where `distance` is negative, with borders one pixel wide."""
    part = np.clip(0.5 - distance / pixel, 0.0, 1.0)[..., None]
    picture[:] = picture * (1.0 - part) + colour * part
