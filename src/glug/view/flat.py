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
    inside = ((x >= centre[0] - extent[0] / 2) & (x <= centre[0] + extent[0] / 2))[None, :] & (
        (y >= centre[1] - extent[1] / 2) & (y <= centre[1] + extent[1] / 2)
    )[:, None]
    picture[inside] = (1.0, 1.0, 1.0)
    for solid, colour in solids:
        _paint(picture, _sampled(solid, x, y), np.asarray(colour[:3]), pixel)
    liquid = _sampled(distance, x, y)
    body = np.asarray(material.colour)
    rim = np.clip(1.0 + liquid / (RIM_CELLS * distance.spacing), 0.0, 1.0)[..., None]
    _paint(picture, liquid, body * (1.0 - 0.28 * rim), pixel)
    return np.floor(np.clip(picture, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)


def _sampled(distance: SampledDistance, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Distance [m] at pixels (rows y, columns x), bilinear; outside the lattice it is outside the shape."""
    i = (x - distance.corner[0]) / distance.spacing
    j = (y - distance.corner[1]) / distance.spacing
    where = np.broadcast_arrays(i[None, :], j[:, None])
    layer = distance.values[:, :, 0].astype(np.float64)
    return map_coordinates(layer, where, order=1, mode="constant", cval=10.0 * distance.spacing)


def _paint(picture: np.ndarray, distance: np.ndarray, colour: np.ndarray, pixel: float) -> None:
    """Blend `colour` where `distance` is negative, with borders one pixel wide."""
    part = np.clip(0.5 - distance / pixel, 0.0, 1.0)[..., None]
    picture[:] = picture * (1.0 - part) + colour * part
