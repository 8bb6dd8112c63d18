"""A whole scene, moved: one far from the point 0 is run near it, where single precision holds positions.

`domain.offset` is what a position of the run lacks to be one of the scene's file. A scene that was moved is an ordinary
scene: it is written, read, continued and drawn as such, and exports put it back.
"""

from typing import Any

import numpy as np

from glug.errors import SceneError
from glug.scene.number_checks import FINEST
from glug.scene.schema import Domain

ROUNDING = 2.0**-24  # of single precision
POINTS = ("centre", "lower", "upper", "start", "end", "point", "pivot")  # of shapes


def is_far(domain: Domain) -> bool:
    """Whether single precision is too coarse for positions in the domain."""
    return float(np.abs([domain.lower, domain.upper]).max()) > FINEST * domain.dx / ROUNDING


def moved_by(data: dict[str, Any], shift: np.ndarray) -> dict[str, Any]:
    """The data of a valid scene, changed in place so that all of it is `shift` [m] further."""
    domain = data["domain"]
    domain["origin"] = _sum(domain["origin"], shift)
    domain["offset"] = _sum(domain["offset"], -shift)
    for group in ("volumes", "sources", "sinks", "solids"):
        for number, item in enumerate(data.get(group, ())):
            if "shape" in item:
                _move_shape(item["shape"], shift)
                _move_axis(item.get("motion", {}), shift)
            else:
                _move_sequence(item, shift, f"solids.{number}.motion")
    for wish in data.get("refine", {}).get("shapes", ()):
        _move_shape(wish["shape"], shift)
    for point in ("eye", "target") if "camera" in data else ():
        data["camera"][point] = _sum(data["camera"][point], shift)
    for liquid in data["liquids"].values():
        law = liquid["viscosity"]  # a number where it is the same everywhere
        if isinstance(law, dict) and law["kind"] == "position":
            along = float(shift @ np.asarray(law["axis"]) / np.linalg.norm(law["axis"]))
            law["table"] = [[place + along, value] for place, value in law["table"]]
    return data


def _sum(point: Any, shift: np.ndarray) -> list[float]:
    return [float(x) for x in np.asarray(point, float) + shift]


def _move_shape(shape: dict[str, Any], shift: np.ndarray) -> None:
    """The points of a shape and of its parts; a mesh file has no points here, and is translated."""
    if shape["kind"] == "mesh":
        shape["translate"] = _sum(shape["translate"], shift)
        return
    for key in POINTS:
        if key in shape:
            shape[key] = _sum(shape[key], shift[: len(shape[key])])
    for part in [*shape.get("parts", ()), *([shape["part"]] if "part" in shape else ())]:
        _move_shape(part, shift)


def _move_axis(motion: dict[str, Any], shift: np.ndarray) -> None:
    """The point about which a motion turns; other motions are the same everywhere."""
    for key in ("point", "pivot"):
        if key in motion:
            motion[key] = _sum(motion[key], shift)


def _move_sequence(item: dict[str, Any], shift: np.ndarray, key: str) -> None:
    """Meshes of a sequence have no place of their own: their motion carries them."""
    motion = item["motion"]
    if motion["kind"] == "static":
        item["motion"] = {"kind": "keyframes", "keys": [{"time": 0.0, "position": shift.tolist()}]}
    elif motion["kind"] == "keyframes":
        for pose in motion["keys"]:
            pose["position"] = _sum(pose["position"], shift)
    else:
        raise SceneError(f"{key}: a sequence so far from the point 0 takes 'static' or 'keyframes' alone")
