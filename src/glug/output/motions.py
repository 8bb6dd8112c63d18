"""The moving solids of a run where it wrote them to be, whoever moved them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from glug.errors import InputError
from glug.output.folder import RunFolder
from glug.scene import Scene
from glug.scene.motions.recorded import Recorded, with_motions


def as_recorded(scene: Scene, run: RunFolder) -> Scene:
    """The scene of a run, its moving solids with the motions in bodies.jsonl. Solids not in there keep their own."""
    try:
        return with_motions(scene, recorded_motions(run.bodies(), scene.time.fps))
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{run.path / 'bodies.jsonl'}: damaged (a pose is not understood)") from None


def recorded_motions(records: Iterable[Mapping[str, Any]], fps: float) -> dict[str, Recorded]:
    """By name of the solid, from lines of bodies.jsonl."""
    found: dict[str, dict[float, tuple[np.ndarray, np.ndarray]]] = {}
    for line in records:
        for body in line["bodies"]:
            pose = np.array(body["rotation"], float).reshape(3, 3), np.array(body["translation"], float).reshape(3)
            found.setdefault(body["name"], {})[line["frame"] / fps] = pose
    return {name: Recorded(sorted(poses), [poses[t] for t in sorted(poses)]) for name, poses in found.items()}
