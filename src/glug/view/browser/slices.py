"""A plane through the grid fields of a frame: one value per cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from glug.errors import InputError
from glug.output import RunFolder
from glug.output.export.quantities import cell_velocity
from glug.scene.schema import Domain

# Name, arrays it needs, unit, scale of its colours.
_KNOWN = (
    ("pressure", ("p",), "Pa", "linear"),
    ("speed", ("u", "v", "w"), "m/s", "linear"),
    ("distance", ("phi",), "m", "signed"),
    ("level", ("level",), "", "category"),
)


def slice_quantities(names: Sequence[str]) -> list[dict[str, str]]:
    """Those that fields of these names allow."""
    return [
        {"name": name, "unit": unit, "scale": scale}
        for name, arrays, unit, scale in _KNOWN
        if set(arrays) <= set(names)
    ]


def cut(
    folder: RunFolder, index: int, quantity: str, axis: int, at: float, domain: Domain
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The layer of cells across `axis` (0, 1, 2) nearest to `at` [m].

    Header: `corner` of the plane [m], `dx` [m], `axis`, `at`, and the `range` of the quantity in all the liquid.
    Array `value` (a, b) along the other two axes, in order; NaN in cells without liquid, except for distances
    and levels.
    """
    arrays = next((needs for name, needs, _, _ in _KNOWN if name == quantity), None)
    if arrays is None or axis not in (0, 1, 2) or not np.isfinite(at):
        valid = ", ".join(name for name, *_ in _KNOWN)
        raise InputError(f"no slice of '{quantity}' across axis {axis} at {at}; quantities: {valid}; axes: 0, 1, 2")
    data = folder.read_fields(index, (*arrays, "phi", "corner", "dx"))
    if missing := [name for name in (*arrays, "phi", "corner", "dx") if name not in data]:
        raise InputError(f"{folder.path}: the fields of frame {index} have no {', '.join(missing)}")
    phi, corner, dx = data["phi"], data["corner"], float(data["dx"])
    whole = _centred(data, quantity)
    layer = int(np.clip(np.floor((at - corner[axis]) / dx), 0, phi.shape[axis] - 1))
    inside = (phi < 0.0) & _within(phi.shape, corner, dx, domain)
    value = np.take(whole, layer, axis=axis).astype(np.float32)
    if quantity not in ("distance", "level"):
        value = np.where(np.take(inside, layer, axis=axis), value, np.float32(np.nan))
    start = [float(x) for x in corner]
    start[axis] += (layer + 0.5) * dx
    known = whole if quantity in ("distance", "level") else whole[inside]
    bounds = [float(known.min()), float(known.max())] if known.size else None
    header = {"corner": start, "dx": dx, "axis": axis, "at": start[axis], "range": bounds}
    return header, {"value": value}


def _within(shape: tuple[int, ...], corner: np.ndarray, dx: float, domain: Domain) -> np.ndarray:
    """Cells inside the domain: the liquid's distance is continued into the walls."""
    within = np.ones(shape, bool)
    for a in range(domain.dim):
        centre = corner[a] + (np.arange(shape[a]) + 0.5) * dx
        ok = (centre > domain.lower[a]) & (centre < domain.upper[a])
        within &= ok.reshape([-1 if b == a else 1 for b in range(3)])
    return within


def _centred(data: dict[str, np.ndarray], quantity: str) -> np.ndarray:
    """The quantity at the centres of cells."""
    if quantity == "speed":
        return np.linalg.norm(cell_velocity(data), axis=-1)
    return data[{"pressure": "p", "distance": "phi", "level": "level"}[quantity]]
