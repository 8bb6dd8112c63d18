"""How a liquid looks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from glug.errors import InputError
from glug.geometry.sampled import SampledDistance
from glug.scene.materials import linear

if TYPE_CHECKING:
    from glug.scene.liquids import Liquid

Colour = tuple[float, float, float]
# A solid and its colour (sRGB, 0 to 1); a fourth number below 1 makes thin glass of that opacity.
ColouredSolid = tuple[SampledDistance, Sequence[float]]

OPAQUE = 0.02  # clarity below which nothing is seen inside


@dataclass(frozen=True)
class Material:
    """A liquid's colour (sRGB, 0 to 1) and how far one sees into it.

    White light that has passed `depth` [m] of a clear liquid has the colour `colour`; None chooses a depth
    that suits the size of the scene. `clarity` 1 is clear, 0 opaque. `refraction` is the index of refraction.
    `roughness` of the surface, 0 for a mirror, is seen on opaque liquids.
    """

    colour: Colour
    clarity: float = 0.9
    refraction: float = 1.4
    depth: float | None = None
    roughness: float = 0.05

    def absorption(self, scale: float) -> np.ndarray:
        """Absorption (red, green, blue) [1/m] in a scene of size `scale` [m] (Beer and Lambert)."""
        return -np.log(np.clip(linear(self.colour), 1e-3, 1.0)) / self.colour_depth(scale)

    def scattering(self, scale: float) -> float:
        """Scattering [1/m] in a scene of size `scale` [m]."""
        return (1.0 - self.clarity) ** 2 / max(self.clarity, OPAQUE) / self.colour_depth(scale)

    def colour_depth(self, scale: float) -> float:
        """`depth`, or one for a scene of size `scale` [m]: the clearer a liquid, the deeper it must be to show."""
        return scale * (0.06 + 0.50 * self.clarity**6) if self.depth is None else self.depth


# The scene's materials as they look in daylight. Refraction: handbook values at 20 C for the simple liquids,
# typical ones for foods.
PRESETS = {
    "water": Material((0.60, 0.83, 0.92), 1.0, 1.333),
    "milk": Material((0.99, 0.985, 0.965), 0.0, 1.35, roughness=0.08),
    "cream": Material((0.99, 0.97, 0.90), 0.0, 1.36, roughness=0.10),
    "oil": Material((0.88, 0.79, 0.20), 0.9, 1.47),
    "glycerine": Material((0.94, 0.95, 0.95), 1.0, 1.473),
    "syrup": Material((0.66, 0.30, 0.08), 0.8, 1.48),
    "honey": Material((0.91, 0.68, 0.14), 0.7, 1.49),
    "cold-honey": Material((0.89, 0.65, 0.13), 0.7, 1.49),
    "chocolate": Material((0.42, 0.22, 0.11), 0.0, 1.5, roughness=0.12),
    "ketchup": Material((0.66, 0.06, 0.03), 0.0, 1.4, roughness=0.10),
    "toothpaste": Material((0.80, 0.92, 0.95), 0.0, 1.4, roughness=0.15),
    "caramel": Material((0.72, 0.38, 0.08), 0.4, 1.5, roughness=0.06),
    "wax": Material((0.95, 0.90, 0.75), 0.3, 1.44, roughness=0.20),
    "lava": Material((0.60, 0.12, 0.03), 0.0, 1.5, roughness=0.35),
    "pitch": Material((0.05, 0.045, 0.04), 0.0, 1.6, roughness=0.05),
}


def material_of(liquid: "Liquid", preset: str | None = None) -> Material:
    """How `liquid` looks: as the preset asked for, else as its material, with the scene's own colour if it has one."""
    if preset is not None:
        if preset not in PRESETS:
            raise InputError(f"no look is called '{preset}'; there are: {', '.join(PRESETS)}")
        return PRESETS[preset]
    from glug.scene.materials import MATERIALS

    if liquid.material is None:
        return Material(liquid.colour, liquid.clarity)
    usual, look = MATERIALS[liquid.material], PRESETS[liquid.material]
    if tuple(liquid.colour) != usual.colour:
        look = replace(look, colour=liquid.colour)
    return look if liquid.clarity == usual.clarity else replace(look, clarity=liquid.clarity)
