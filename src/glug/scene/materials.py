"""Named liquids: densities, viscosities, looks and surface tensions.

The simple liquids have their textbook values. Foods and melts vary widely between samples and thin when they
are sheared: theirs are typical values, to begin from. Surface tensions are against air: water from IAPWS R1-76(2014),
glycerine and olive oil from the CRC Handbook of Chemistry and Physics, basaltic lava from Walker & Mullins (1981), the
others typical values for foods (0.03 for fats to 0.07 for syrups).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Material(NamedTuple):
    """density [kg/m3], viscosity [Pa s], colour (red, green, blue in 0..1), clarity 0..1, conditions, tension [N/m]"""

    density: float
    viscosity: float
    colour: tuple[float, float, float]
    clarity: float
    note: str
    surface_tension: float


MATERIALS = {
    "water": Material(998.2, 1.0e-3, (0.55, 0.78, 0.92), 1.0, "20 C", 0.0728),
    "milk": Material(1030.0, 2.0e-3, (0.97, 0.96, 0.92), 0.0, "whole milk, 20 C", 0.047),
    "cream": Material(1010.0, 1.0e-2, (0.98, 0.95, 0.86), 0.0, "about 20% fat, 20 C, typical", 0.045),
    "oil": Material(911.0, 8.4e-2, (0.86, 0.74, 0.18), 0.9, "olive oil, 20 C", 0.032),
    "glycerine": Material(1261.0, 1.41, (0.93, 0.94, 0.95), 1.0, "pure, 20 C", 0.0634),
    "syrup": Material(1320.0, 0.4, (0.55, 0.22, 0.05), 0.7, "maple-style table syrup, 20 C, typical", 0.07),
    "honey": Material(
        1420.0, 10.0, (0.90, 0.55, 0.08), 0.7, "about 18% water, 20 C, typical; doubles every 5 C cooler", 0.06
    ),
    "cold-honey": Material(1430.0, 40.0, (0.88, 0.52, 0.07), 0.7, "about 18% water, 10 C, typical", 0.06),
    "chocolate": Material(1270.0, 3.0, (0.23, 0.11, 0.05), 0.0, "molten, 40 C, at low shear, typical", 0.03),
    "ketchup": Material(1140.0, 50.0, (0.70, 0.08, 0.04), 0.0, "at low shear, typical; yield stress ignored", 0.05),
    "toothpaste": Material(1300.0, 100.0, (0.85, 0.93, 0.95), 0.0, "at low shear, typical; yield stress ignored", 0.05),
    "caramel": Material(1380.0, 25.0, (0.68, 0.34, 0.07), 0.4, "thick sauce, warm, typical", 0.06),
    "wax": Material(800.0, 1.0e-2, (0.95, 0.90, 0.75), 0.3, "molten paraffin, about 70 C, typical", 0.027),
    "lava": Material(2700.0, 100.0, (0.95, 0.25, 0.03), 0.0, "basaltic, about 1150 C, typical", 0.35),
    "pitch": Material(1100.0, 2.3e8, (0.04, 0.035, 0.03), 0.0, "room temperature, as in the pitch drop one", 0.03),
}


def linear(colour: Sequence[float]) -> np.ndarray:
    """Linear from sRGB, both 0 to 1 (IEC 61966-2-1): scenes have sRGB, light and other programs linear colours."""
    c = np.clip(np.asarray(colour, dtype=np.float64), 0.0, 1.0)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
