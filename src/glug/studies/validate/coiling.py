"""Does a poured jet fold or coil? Counts how often it swings the other way and follows it round, in a finished run.

Just above the pile the jet's axis is the lateral (x, z) centroid of the particles in a thin layer. A stable
jet keeps it in place; a folding one moves it to and fro, a coiling one in circles. Seen along the direction
in which it moves most, both reverse; a reversal counts when the axis has come back from its farthest
point by more than half a cell, so that the scatter of the particles does not.

The pile grows, so the layer rises with it; from one frame to the next the axis is compared at one height,
or a leaning jet would seem to move. Frames in which the jet has not landed or is torn are left out.

Rotation. The direction in which the axis moves turns with the coil, wherever its middle is; its angle is unwrapped from
frame to frame. `coil_turns_one_way` are the turns of the longest stretch that never goes back by more than `BACK`
turns, positive about the y axis; `coil_frequency` [1/s] and `coil_radius` [m] are those of this stretch. A jet that
folds turns by half and back. Frames must be dense: with fewer than `PER_TURN` in a turn the sense of a rotation is a
guess, and the rows of rotation are left out. `--set time.fps=96` is enough for `honey-coil`.

Beside them are the rates [1/s] at which a thread of radius a, flow Q and fall H coils where viscosity alone, viscosity
against weight or viscosity against inertia set it (Ribe 2004; Maleki et al. 2004), up to factors of order one:

    viscous  Q / (H a^2)      gravitational  (g Q^3 / (nu a^8))^(1/4)      inertial  (Q^4 / (nu a^10))^(1/3)

over 2 pi, with a that of the thinnest slab above the pile (next to it the thread bends), H from the pile to the top of
the jet and Q what the liquid grows by. Only exponents can be compared: how a rate changes with a height or a flow.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from glug.errors import InputError
from glug.output import RunFolder
from glug.scene import Scene, load
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

PILE = 3.0  # a slab (one cell high) with this many times the jet's particles belongs to the pile
LAYER = 3  # slabs over which the axis is averaged
TORN = 4  # particles in a slab, half of what one cell is seeded with; fewer, and the jet is torn there
HYSTERESIS = 0.5  # cells
BACK = 0.75  # turns
PER_TURN = 5  # frames


@dataclass(frozen=True)
class Jet:
    """The particles of a frame, by slabs of one cell above the floor, and the slab where the pile ends."""

    position: np.ndarray  # (n, 3) [m]
    slab: np.ndarray  # (n,)
    above_pile: int

    def axis(self, slab: int) -> np.ndarray:
        """Centroid (x, z) [m] of the layer that begins at `slab`."""
        inside = (self.slab >= slab) & (self.slab < slab + LAYER)
        return self.position[inside][:, [0, 2]].astype(np.float64).mean(axis=0)


@dataclass(frozen=True)
class JetPath:
    """How the jet's axis moves just above the pile."""

    frames: np.ndarray  # (n,) indices of the frames that were followed
    axis: np.ndarray  # (n, 2): x, z [m], from where it was in the first of them
    dx: float  # cell size [m]

    @property
    def direction_changes(self) -> int:
        """Reversals along the direction in which the axis moves most."""
        return reversals(_principal(self.axis), HYSTERESIS * self.dx)

    @property
    def span(self) -> float:
        """How far the axis wanders along that direction [m]."""
        return float(np.ptp(_principal(self.axis))) if len(self.axis) else 0.0


@dataclass(frozen=True)
class Rotation:
    """The longest stretch of a jet's path that goes round one way."""

    turns: float  # positive about the y axis
    frequency: float  # [1/s]
    radius: float  # [m]
    frames_per_turn: float

    @classmethod
    def of(cls, path: JetPath, fps: float) -> "Rotation":
        if len(path.axis) < 3:
            return cls(0.0, 0.0, 0.0, 0.0)
        step = np.diff(path.axis, axis=0)
        phase = np.unwrap(np.arctan2(-step[:, 1], step[:, 0])) / (2.0 * np.pi)  # (x, z) is left-handed about y
        begin, end = longest_stretch(phase, BACK)
        turns = float(phase[end] - phase[begin])
        count, seconds = end - begin, (path.frames[end] - path.frames[begin]) / fps
        if turns == 0.0:
            return cls(0.0, 0.0, 0.0, 0.0)
        length = float(np.linalg.norm(step[begin:end], axis=1).sum())
        return cls(turns, abs(turns) / seconds, length / (2.0 * np.pi * abs(turns)), count / abs(turns))


@dataclass(frozen=True)
class Thread:
    """A jet that coils, in SI units."""

    flow: float  # [m3/s]
    radius: float  # where it is thinnest, above the pile [m]
    fall: float  # from the top of the jet to the pile [m]
    viscosity: float  # kinematic [m2/s]
    gravity: float  # [m/s2]

    @property
    def rates(self) -> dict[str, float]:
        """Of coiling [1/s], by what sets them."""
        q, a, nu = self.flow, self.radius, self.viscosity
        angular = {
            "viscous": q / (self.fall * a**2),
            "gravitational": (self.gravity * q**3 / (nu * a**8)) ** 0.25,
            "inertial": (q**4 / (nu * a**10)) ** (1.0 / 3.0),
        }
        return {name: rate / (2.0 * np.pi) for name, rate in angular.items()}


def thread_of(jets: dict[int, Jet], volumes: dict[int, float], scene: Scene) -> Thread:
    """The thread over all frames with a jet; `volumes` [m3] are the liquid's by frame."""
    dx, frames = scene.domain.dx, list(jets)
    seconds = (frames[-1] - frames[0]) / scene.time.fps
    flow = (volumes[frames[-1]] - volumes[frames[0]]) / seconds
    liquid = next(iter(scene.liquids.values()))
    share = [volumes[f] / len(jets[f].position) for f in frames]
    count = [np.bincount(j.slab)[j.above_pile : -2].min() for j in jets.values()]  # the last slabs are not full
    radius = np.sqrt(np.mean(np.multiply(share, count)) / (np.pi * dx))
    fall = dx * float(np.mean([j.slab.max() + 1 - j.above_pile for j in jets.values()]))
    gravity = float(np.linalg.norm(scene.gravity))
    place = jets[frames[-1]].position[:1]
    viscosity = float(liquid.viscosity.at(place, np.full(1, liquid.temperature))[0])
    return Thread(flow, float(radius), fall, viscosity / liquid.density, gravity)


def longest_stretch(phase: np.ndarray, back: float) -> tuple[int, int]:
    """First and last index between which a signal changes most without going back by more than `back`."""
    best = (0, 0)
    for sign in (1.0, -1.0):
        begin = high = 0
        for n, value in enumerate(sign * phase):
            if value > sign * phase[high]:
                high = n
                if value - sign * phase[begin] > abs(phase[best[1]] - phase[best[0]]):
                    best = (begin, n)
            elif sign * phase[high] - value > back or value < sign * phase[begin]:
                begin = high = n
    return best


def find_jet(position: np.ndarray, dx: float, floor: float) -> Jet | None:
    """The jet above the pile; None if it has not landed, is torn, or is too short to be followed.

    What the upper half of the slabs holds (the median) is the jet. The pile is what lies below the lowest
    slab that holds less than `PILE` times as much.
    """
    if len(position) == 0:
        return None
    slab = np.maximum(np.floor((position[:, 1] - floor) / dx).astype(int), 0)
    count = np.bincount(slab)
    limit = PILE * float(np.median(count[len(count) // 2 :]))
    above_pile = int(np.argmax(count < limit))
    if above_pile == 0 or above_pile + 2 * LAYER > len(count) or count[above_pile:-1].min() < TORN:
        return None
    return Jet(position, slab, above_pile)


def jet_path(jets: dict[int, Jet], dx: float) -> JetPath:
    """Follow the jets of the frames in `jets`, ascending; cells have the size `dx` [m]."""
    path = [np.zeros(2)][: len(jets)]
    frames = list(jets)
    for before, after in pairwise(frames):
        slab = max(jets[before].above_pile, jets[after].above_pile)
        path.append(path[-1] + jets[after].axis(slab) - jets[before].axis(slab))
    return JetPath(np.array(frames, dtype=int), np.array(path).reshape(-1, 2), dx)


def jets_of_run(folder: RunFolder, dx: float) -> dict[int, Jet]:
    """The jet of every frame that has one. The floor is where the last frame's lowest particle lies."""
    frames = [index for index in folder.frames() if folder.file("particles", index).exists()]
    found: dict[int, Jet] = {}
    floor = None
    for index in reversed(frames):
        position = folder.read_particles(index)["position"]
        if floor is None and len(position):
            floor = float(position[:, 1].min())
        if floor is not None and (jet := find_jet(position, dx, floor)) is not None:
            found[index] = jet
    return dict(sorted(found.items()))


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
    jets = jets_of_run(folder, scene.domain.dx)
    path = jet_path(jets, scene.domain.dx)
    if len(path.frames) == 0:
        raise InputError(f"{options.run}: no frame has a whole jet that has landed, so there is none to follow")

    def row(quantity: str, value: float) -> StudyRow:
        return StudyRow("coiling", scene.name, scene.domain.resolution, quantity, "value", value)

    rotation = Rotation.of(path, scene.time.fps)
    dense = rotation.frames_per_turn >= PER_TURN
    round_ = [
        row("coil_turns_one_way", rotation.turns),
        row("coil_frequency", rotation.frequency),
        row("coil_radius", rotation.radius),
    ]
    if dense:
        volumes = {f: float(folder.read_particles(f)["volume"].sum(dtype=np.float64)) for f in jets}
        thread = thread_of(jets, volumes, scene)
        round_ += [row(f"rate_{name}", rate) for name, rate in thread.rates.items()]
        round_ += [row("thread_radius", thread.radius), row("thread_fall", thread.fall)]
    return [
        *(round_ if dense else ()),
        row("frames_per_turn", rotation.frames_per_turn),
        row("jet_direction_changes", path.direction_changes),
        row("jet_axis_span_cells", path.span / path.dx),
        row("frames_followed", len(path.frames)),
        row("frames_written", len(folder.frames())),
    ]
