"""Extruded text: glyphs drawn large, their exact distance in the plane, extruded along z."""

from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import Field, field_validator

from glug.scene.model import NonNegative, Point, Positive, fail
from glug.scene.shapes.primitives import Placed, corner_distance, in_space, open_along_z
from glug.scene.shapes.transform import Bounds

PIXELS = 400
"""Height of the drawn text in pixels."""
MARGIN = 40
"""Empty pixels around it, where the distance is still sampled."""


class Text(Placed):
    """Letters that stand upright, face +z and are `depth` thick."""

    kind: Literal["text"] = "text"
    text: str = Field(description="what to write; \\n starts a new line")
    centre: Point = Field(default=(0.0, 0.0, 0.0), description="centre of the block of letters [m]")
    height: Positive = Field(description="from the lowest to the highest inked point [m]")
    depth: Positive | None = Field(default=None, description="thickness along z [m]; without it, endless")

    thicken: NonNegative = Field(default=0.0, description="how far the strokes are grown outwards [m]")

    @field_validator("text")
    @classmethod
    def _visible(cls, text: str) -> str:
        if not text.strip():
            raise fail("must hold at least one visible letter")
        return text

    def _half(self) -> np.ndarray:
        ink = drawn_distance(self.text).shape
        width, height = ink[1] - 2 * MARGIN, ink[0] - 2 * MARGIN
        half = 0.5 * np.array([self.height * width / height, self.height, self.depth or 0.0])
        half[:2] += self.thicken
        return half

    def _box(self) -> Bounds:
        centre, half = in_space(self.centre), self._half()
        return open_along_z((centre - half, centre + half), self.depth is None)

    def _centre(self) -> np.ndarray:
        return in_space(self.centre)

    def _field(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        from scipy.ndimage import map_coordinates

        picture = drawn_distance(self.text)
        rows, columns = picture.shape
        pixel = self.height / (rows - 2 * MARGIN)
        centre = in_space(self.centre)
        # Pixel (row, column) has its centre at (column + 1/2, row + 1/2) pixels from the upper left corner.
        row = (centre[1] - y) / pixel + (0.5 * rows - 0.5)
        column = (x - centre[0]) / pixel + (0.5 * columns - 0.5)
        nearest_row, nearest_column = np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)
        d = map_coordinates(picture, np.stack([nearest_row, nearest_column]), order=1, mode="nearest")
        row -= nearest_row
        column -= nearest_column
        d += np.hypot(row, column)  # outside the picture: an upper bound, of the right sign
        d *= pixel
        d -= self.thicken
        if self.depth is None:
            return d
        across = np.abs(z - centre[2])
        across -= 0.5 * self.depth
        return corner_distance(d, across)


@lru_cache(maxsize=32)
def drawn_distance(text: str) -> np.ndarray:
    """Signed distance in pixels to the letters' outline, on a picture with a margin around the ink."""
    from PIL import Image, ImageDraw, ImageFont
    from scipy.ndimage import distance_transform_edt, gaussian_filter

    font = ImageFont.load_default(PIXELS)
    left, top, right, bottom = ImageDraw.Draw(Image.new("L", (1, 1))).multiline_textbbox((0, 0), text, font)
    # Redraw so that the ink, not the line box, is PIXELS high.
    font = ImageFont.load_default(round(PIXELS * PIXELS / (bottom - top)))
    left, top, right, bottom = ImageDraw.Draw(Image.new("L", (1, 1))).multiline_textbbox((0, 0), text, font)
    picture = Image.new("L", (int(right - left) + 8, int(bottom - top) + 8))
    ImageDraw.Draw(picture).multiline_text((4 - left, 4 - top), text, fill=255, font=font, align="center")
    ink = np.asarray(picture) > 127
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    ink = np.pad(ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1], MARGIN)
    distance = distance_transform_edt(~ink) - distance_transform_edt(ink)
    distance -= 0.5 * np.sign(distance)  # the outline runs between the pixels
    return gaussian_filter(distance, 0.7)
