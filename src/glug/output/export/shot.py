"""What exporters read: the frames of a run, one at a time, and the solids as meshes with poses."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from glug.errors import InputError, SceneError, sentence
from glug.geometry.sampled import SurfaceMesh
from glug.output.folder import RunFolder
from glug.output.motions import as_recorded
from glug.output.ply import check_ply
from glug.scene import Scene, door, load
from glug.scene.bodies import Solid
from glug.scene.shapes.solid_mesh import Triangles, rest_mesh

Pose = tuple[np.ndarray, np.ndarray]
NEEDED = ("position", "velocity", "id", "volume")  # of particles; exports have places of their own for them


class ShotFrame:
    """A frame, read when asked for."""

    def __init__(self, shot: "Shot", index: int):
        self.shot = shot
        self.index = index
        self.time = index / shot.fps  # [s]

    @cached_property
    def surface(self) -> SurfaceMesh:
        return self.shot.run.read_surface(self.index)

    @cached_property
    def particles(self) -> dict[str, np.ndarray]:
        found = self.shot.run.read_particles(self.index)
        for name in NEEDED:
            if name not in found:
                raise InputError(f"{self.shot.run.file('particles', self.index)}: damaged (no {name})")
        return found

    @cached_property
    def fields(self) -> dict[str, np.ndarray]:
        """Fields of the last step, empty where there are none (frame 0 has none)."""
        there = self.shot.run.file("fields", self.index).exists()
        return self.shot.run.read_fields(self.index) if there else {}


@dataclass(frozen=True)
class Body:
    """A solid to export; `name` is an identifier that no other body has."""

    name: str
    solid: Solid
    shot: "Shot"

    @property
    def moving(self) -> bool:
        return self.solid.motion.kind != "static"

    @property
    def deforming(self) -> bool:
        return self.solid.sequence is not None

    @cached_property
    def _rest(self) -> Triangles:
        return rest_mesh(self.solid, self.shot.scene.domain)

    def mesh(self, frame: ShotFrame) -> Triangles:
        """Vertices at rest [m] and triangles; not the same in every frame if the body deforms."""
        return rest_mesh(self.solid, self.shot.scene.domain, frame.time) if self.deforming else self._rest

    def pose(self, frame: ShotFrame) -> Pose:
        """R and x [m]: a point p at rest is at R p + x."""
        return self.solid.motion.pose(frame.time)

    def placed(self, frame: ShotFrame) -> SurfaceMesh:
        """The mesh where it is in a frame, with its velocity."""
        vertices, triangles = self.mesh(frame)
        R, x = self.pose(frame)
        vertices = (vertices @ R.T + x).astype(np.float32)
        velocities = self.solid.velocity(vertices.astype(np.float64), frame.time).astype(np.float32)
        return SurfaceMesh(vertices, triangles, velocities)


@dataclass(frozen=True)
class Shot:
    """The frames of a run that are exported. Iterating reads them one by one and reports progress.

    The scene's moving solids move as the run recorded it.
    """

    run: RunFolder
    scene: Scene
    frames: range
    fps: float
    has_particles: bool
    on_frame: Callable[[int, int], None] | None = None

    def __iter__(self) -> Iterator[ShotFrame]:
        for done, index in enumerate(self.frames, start=1):
            yield ShotFrame(self, index)
            if self.on_frame is not None:
                self.on_frame(done, len(self.frames))

    @property
    def name(self) -> str:
        """The scene's name as an identifier of most programs."""
        return identifier(self.scene.name)

    @property
    def offset(self) -> np.ndarray:
        """What the run's positions lack (3,) [m]: a scene far from the point 0 is run near it."""
        return np.asarray(self.scene.domain.offset)

    @cached_property
    def bodies(self) -> list[Body]:
        bodies: list[Body] = []
        for solid in self.scene.solids:
            name, number = identifier(solid.name), 2
            while any(body.name == name for body in bodies):
                name, number = f"{identifier(solid.name)}_{number}", number + 1
            bodies.append(Body(name, solid, self))
        return bodies


def open_shot(
    folder: Path, first: int | None, last: int | None, on_frame: Callable[[int, int], None] | None = None
) -> Shot:
    """The frames `first` to `last` of a run (all that it was to have, when None); InputError if one is missing."""
    run = RunFolder(folder)
    manifest = run.manifest()
    run.require_reasonable()
    try:
        fps, final = float(manifest["fps"]), int(manifest["frames"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{folder / 'manifest.json'}: damaged (no fps or no number of frames)") from None
    wanted = range(0 if first is None else first, (final if last is None else last) + 1)
    if len(wanted) == 0:
        raise InputError(f"{folder}: no frames from {wanted.start} to {wanted.stop - 1}; it has 0 to {final}")
    _require_frames(run, wanted, bool(manifest.get("complete")))
    try:
        scene = load(door.parse(run.scene_toml()))
    except SceneError as error:
        raise InputError(sentence(f"{folder / 'scene.toml'}: {error}")) from None
    return Shot(run, as_recorded(scene, run), wanted, fps, _has_particles(run, wanted), on_frame)


def _require_frames(run: RunFolder, wanted: range, complete: bool) -> None:
    there = set(run.frames())
    if not there:
        raise InputError(f"{run.path}: the run has no frames yet")
    missing = [index for index in wanted if index not in there]
    if not missing:
        for index in wanted:
            check_ply(run.file("surface", index))
        return
    before = missing[0] - 1  # the last frame before the first gap
    if not complete and before >= wanted.start and missing == list(range(before + 1, wanted.stop)):
        raise InputError(
            f"{run.path}: the run is not finished: it has frames {wanted.start} to {before} of "
            f"{wanted.stop - 1}; wait for it, or take what is there with --last {before}"
        )
    more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
    raise InputError(
        f"{run.path}: frame {missing[0]} is missing{more}; it has {min(there)} to {max(there)}: resume the run, or "
        "choose whole frames with --first and --last"
    )


def _has_particles(run: RunFolder, wanted: range) -> bool:
    missing = [index for index in wanted if not run.file("particles", index).exists()]
    if 0 < len(missing) < len(wanted):
        raise InputError(f"{run.path}: the particles of frame {missing[0]} are missing")
    return not missing


def identifier(name: str) -> str:
    """`name` with letters, digits and underscores only, not beginning with a digit."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return text if text and not text[0].isdigit() else f"_{text}"
