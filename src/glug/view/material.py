"""How a liquid looks."""

from collections.abc import Sequence
from dataclasses import dataclass

from glug.geometry.sampled import SampledDistance

Colour = tuple[float, float, float]
# A solid and its colour (sRGB, 0 to 1); a fourth number below 1 makes thin glass of that opacity.
ColouredSolid = tuple[SampledDistance, Sequence[float]]


@dataclass(frozen=True)
class Material:
    """A liquid's colour (sRGB, 0 to 1) and how far one sees into it.

    White light that has passed `depth` [m] of a clear liquid has the colour `colour`; None chooses a depth
    that suits the size of the scene. `clarity` 1 is clear, 0 opaque. `refraction` is the index of refraction.
    """

    colour: Colour
    clarity: float = 0.9
    refraction: float = 1.4
    depth: float | None = None
