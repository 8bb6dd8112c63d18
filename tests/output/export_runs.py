"""A run that no simulation made: a ball of changing topology, particles, and solids of all kinds."""

from pathlib import Path

import numpy as np
import trimesh

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.output import RunFolder
from glug.scene import Scene, load, to_toml
from glug.simulation.frame import BodyPose, Frame

FPS = 30.0
RADIUS = 0.1
AXIS_RATE = 3.0  # [rad/s]

SCENE = {
    "name": "test shot",
    "domain": {"size": [1.0, 0.8, 0.6], "resolution": 20},
    "time": {"fps": FPS, "frames": 4},
    "liquids": {"honey": {"material": "honey"}},
    "volumes": [{"liquid": "honey", "shape": {"kind": "sphere", "centre": [0.3, 0.4, 0.3], "radius": RADIUS}}],
    "solids": [
        {
            "name": "paddle 1",
            "shape": {"kind": "box", "lower": [0.6, 0.1, 0.2], "upper": [0.8, 0.2, 0.5]},
            "motion": {"kind": "rotation", "axis": [0, 1, 0], "point": [0.5, 0.0, 0.3], "rate": AXIS_RATE},
            "colour": [1.0, 0.0, 0.0],
        },
        {"name": "ball", "shape": {"kind": "sphere", "centre": [0.2, 0.1, 0.1], "radius": 0.05}},
    ],
}


def scene() -> Scene:
    return load(SCENE)


def centre(index: int) -> np.ndarray:
    """Of the liquid; it goes along x, y and z at different speeds, so that no axis can be taken for another."""
    return np.array([0.3 + 0.02 * index, 0.4 + 0.01 * index, 0.3 - 0.005 * index])


def surface(index: int) -> SurfaceMesh:
    """Finer in odd frames. A vertex moves with the ball and turns about it."""
    ball = trimesh.creation.icosphere(subdivisions=1 + index % 2, radius=RADIUS)
    local = np.asarray(ball.vertices)
    velocities = (centre(1) - centre(0)) * FPS + np.cross([0.0, 2.0, 0.0], local)
    return SurfaceMesh(
        (local + centre(index)).astype(np.float32), ball.faces.astype(np.int32), velocities.astype(np.float32)
    )


def nothing() -> SurfaceMesh:
    return SurfaceMesh(np.empty((0, 3), np.float32), np.empty((0, 3), np.int32), np.empty((0, 3), np.float32))


def particles(index: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(index)
    count = 40 + index
    position = centre(index) + 0.05 * generator.uniform(-1, 1, (count, 3))
    return {
        "position": position.astype(np.float32),
        "velocity": generator.normal(size=(count, 3)).astype(np.float32),
        "volume": np.full(count, 1e-6, np.float32),
        "age": generator.uniform(size=count).astype(np.float32),
        "id": generator.permutation(count).astype(np.int32),
    }


def fields() -> dict[str, np.ndarray]:
    """On 3 x 4 x 5 cells: v = (x, 2 y, 3 z) [1/s], p = x + 10 y + 100 z, level = i + 2 j."""
    dx, corner, shape = 0.05, np.array([0.1, 0.2, 0.3]), (3, 4, 5)
    x, y, z = np.meshgrid(*(c + dx * (np.arange(n) + 0.5) for c, n in zip(corner, shape)), indexing="ij")
    found = {"phi": x - 0.2, "p": x + 10 * y + 100 * z}
    for axis, name in enumerate("uvw"):
        places = corner[axis] + dx * np.arange(shape[axis] + 1)
        extended = [n + (a == axis) for a, n in enumerate(shape)]
        index = [None] * 3
        index[axis] = slice(None)
        found[name] = np.broadcast_to((axis + 1) * places[tuple(index)], extended)
    return {name: np.ascontiguousarray(a, np.float32) for name, a in found.items()} | {
        "corner": corner,
        "dx": np.array(dx),
        "level": np.broadcast_to(np.add.outer(np.arange(3), 2 * np.arange(4))[..., None], shape).astype(np.uint8),
    }


def write_frame(run: RunFolder, index: int, shown: SurfaceMesh | None = None, with_fields: bool = False) -> None:
    pose = scene().solids[0].motion.pose(index / FPS)
    frame = Frame(
        index=index,
        time=index / FPS,
        surface=surface(index) if shown is None else shown,
        particles=particles(index),
        distance=SampledDistance(np.ones((2, 2, 2), np.float32), (0.0, 0.0, 0.0), 1.0),
        bodies=[BodyPose("paddle 1", *pose)],
        stats=[],
        fields=fields() if with_fields and index else {},
    )
    run.write_frame(frame)


def make_run(path: Path, frames: int = 4, written: int | None = None, with_fields: bool = False) -> RunFolder:
    """Frames 0 to `written` of `frames`; complete when both are the same."""
    manifest = {"scene": "test shot", "fps": FPS, "frames": frames}
    run = RunFolder.create(path, to_toml(scene()), manifest)
    last = frames if written is None else written
    for index in range(last + 1):
        write_frame(run, index, with_fields=with_fields)
    if last == frames:
        run.finish()
    return run
