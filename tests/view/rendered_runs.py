"""A run folder without a simulation: a ball of liquid that moves to the right, frame by frame."""

from pathlib import Path

import numpy as np
from shapes import sphere

import glug.scene
from glug.geometry.surface import surface_mesh
from glug.output import RunFolder
from glug.scene import to_toml
from glug.simulation.frame import Frame

SCENE = {
    "name": "ball",
    "domain": {"size": [1.0, 1.0, 1.0], "origin": [-0.5, 0.0, -0.5], "resolution": 24},
    "time": {"fps": 24, "frames": 3},
    "liquids": {"liquid": {"material": "honey"}},
    "volumes": [{"shape": {"kind": "sphere", "centre": [0, 0.5, 0], "radius": 0.3}, "liquid": "liquid"}],
}


def frame(index: int, speed: float = 0.0, radius: float = 0.2) -> Frame:
    """A ball at rest on the floor, a little farther to the right in every frame; `speed` [m/s] is what it says."""
    ball = sphere(radius, centre=(-0.1 + 0.1 * index, radius, 0.0))
    surface = surface_mesh(ball, lambda points: np.full_like(points, [speed, 0.0, 0.0]))
    return Frame(index, index / 24, surface, {}, ball, [], [])


def write_run(path: Path, written: int = 4, complete: bool = True, speed: float = 0.0, **scene) -> RunFolder:
    """A run of frames 0 to 3, of which `written` are there."""
    loaded = glug.scene.load({**SCENE, **scene})
    folder = RunFolder.create(path, to_toml(loaded), {"scene": loaded.name, "fps": 24.0, "frames": 3})
    for index in range(written):
        folder.write_frame(frame(index, speed))
    if complete:
        folder.finish()
    folder._lock = None  # as if the process that wrote it had ended
    return folder
