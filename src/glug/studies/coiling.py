"""Does a poured jet fold or coil? Counts how often it swings the other way, in a finished run.

Just above the pile the jet's axis is the lateral (x, z) centroid of the particles in a thin slab. A stable
jet keeps it in place; a folding one moves it to and fro, a coiling one in circles. Seen along the direction
in which it moves most, both reverse; a reversal counts when the axis has come back from its farthest
point by more than half a cell, so that the scatter of the particles does not.
"""

from dataclasses import dataclass

import numpy as np

from glug.errors import InputError
from glug.output import RunFolder
from glug.scene import load
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

PILE = 3.0  # a slab with this many times the jet's particles belongs to the pile
SLABS = 3  # slabs, each one cell high, over which the axis is averaged
HYSTERESIS = 0.5  # cells


@dataclass(frozen=True)
class JetPath:
    """The jet's axis just above the pile, from the frame in which the jet has landed."""

    frames: np.ndarray  # (n,) indices
    axis: np.ndarray  # (n, 2): x, z [m]
    dx: float  # cell size [m]

    @property
    def direction_changes(self) -> int:
        """Reversals along the direction in which the axis moves most."""
        return reversals(_principal(self.axis), HYSTERESIS * self.dx)

    @property
    def span(self) -> float:
        """How far the axis wanders along that direction [m]."""
        return float(np.ptp(_principal(self.axis))) if len(self.axis) else 0.0


def jet_path(folder: RunFolder, dx: float) -> JetPath:
    """Follow the jet through the frames of a run with cells of size `dx` [m].

    The floor is where the lowest particle of the last frame lies.
    """
    indices = [index for index in folder.frames() if folder.file("particles", index).exists()]
    frames, path = [], []
    if indices:
        last = folder.read_particles(indices[-1])["position"]
        floor = float(last[:, 1].min()) if len(last) else 0.0
    for index in indices:
        position = folder.read_particles(index)["position"]
        if (axis := jet_axis(position, dx, floor)) is not None:
            frames.append(index)
            path.append(axis)
    return JetPath(np.array(frames, dtype=int), np.array(path).reshape(-1, 2), dx)


def jet_axis(position: np.ndarray, dx: float, floor: float) -> np.ndarray | None:
    """Centroid (x, z) [m] of the jet just above the pile; None before it lands or when there is no jet.

    Counts the particles of each slab. What the upper half of the slabs holds (the median) is the jet; the
    pile ends with the highest slab below that holds `PILE` times as much.
    """
    if len(position) == 0:
        return None
    slab = np.floor((position[:, 1] - floor) / dx).astype(int)
    slab = np.maximum(slab, 0)
    count = np.bincount(slab)
    if len(count) < 2 * SLABS + 2 or count[:2].sum() == 0:
        return None
    jet = float(np.median(count[len(count) // 2 :]))
    thick = np.flatnonzero(count > PILE * max(jet, 1.0))
    if len(thick) == 0:
        return None
    low = int(thick[-1]) + 1
    inside = (slab >= low) & (slab < low + SLABS)
    if low + SLABS > len(count) or not inside.any():
        return None
    return position[inside][:, [0, 2]].astype(np.float64).mean(axis=0)


def reversals(values: np.ndarray, threshold: float) -> int:
    """How often a signal turns round, ignoring excursions of up to `threshold`."""
    turns, direction = 0, 0
    low = high = values[0] if len(values) else 0.0
    for value in values:
        low, high = min(low, value), max(high, value)
        if direction >= 0 and high - value > threshold:
            turns += direction > 0
            direction, low, high = -1, value, value
        elif direction <= 0 and value - low > threshold:
            turns += direction < 0
            direction, low, high = 1, value, value
    return int(turns)


def _principal(axis: np.ndarray) -> np.ndarray:
    """The path's coordinate along its direction of largest variance."""
    if len(axis) < 2:
        return np.zeros(len(axis))
    centred = axis - axis.mean(axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][0]


def study(options: StudyOptions) -> list[StudyRow]:
    """Rows for the run folder `options.run`."""
    assert options.run is not None
    folder = RunFolder(options.run)
    scene = load(options.run / "scene.toml")
    path = jet_path(folder, scene.domain.dx)
    if len(path.frames) == 0:
        raise InputError(f"{options.run}: no frame has a jet that has landed, so its axis cannot be followed")
    grid = "x".join(str(n) for n in scene.domain.shape)

    def row(quantity: str, value: float) -> StudyRow:
        return StudyRow("coiling", scene.name, grid, quantity, "value", value)

    return [
        row("jet_direction_changes", path.direction_changes),
        row("jet_axis_span_cells", path.span / path.dx),
        row("frames_followed", len(path.frames)),
    ]
