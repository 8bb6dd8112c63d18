"""Run folders for the tests of the viewer: a ball of honey that falls past a paddle, without a simulation."""

import json
from pathlib import Path

import numpy as np

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.geometry.surface import surface_mesh
from glug.output import RunFolder
from glug.scene import load, to_toml
from glug.simulation.frame import Amounts, BodyPose, Frame, SolveStats, StepStats

SCENE = {
    "name": "falling-ball",
    "description": "a ball of honey falls",
    "domain": {"size": [1.0, 1.0, 1.0], "resolution": 16},
    "time": {"fps": 24, "frames": 5},
    "liquids": {"honey": {"material": "honey"}},
    "volumes": [{"liquid": "honey", "shape": {"kind": "sphere", "centre": [0.5, 0.7, 0.5], "radius": 0.25}}],
    "solids": [
        {"name": "post", "shape": {"kind": "box", "centre": [0.1, 0.2, 0.1], "size": [0.1, 0.4, 0.1]}},
        {
            "name": "paddle",
            "shape": {"kind": "box", "centre": [0.8, 0.2, 0.5], "size": [0.1, 0.3, 0.3]},
            "motion": {"kind": "linear", "velocity": [0.0, 0.0, 1.0]},
        },
    ],
}
DX = 1 / 16


def ball(index: int) -> SurfaceMesh:
    """A ball that sinks by 2 cm a frame, at a speed of 0.5 m/s."""
    h, n = 0.025, 26
    centre = np.array([0.5, 0.7 - 0.02 * index, 0.5])
    corner = centre - 0.5 * (n - 1) * h
    axes = [c + h * np.arange(n) for c in corner]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = (np.linalg.norm(points - centre, axis=-1) - 0.25).astype(np.float32)
    distance = SampledDistance(values, (float(corner[0]), float(corner[1]), float(corner[2])), h)
    return surface_mesh(distance, lambda x: np.tile(np.float32([0.0, -0.5, 0.0]), (len(x), 1)))


def frame(index: int) -> Frame:
    """Frame `index`: surface, eight particles, fields of 16^3 cells, the paddle's pose, two steps."""
    corners = np.array([[(c >> a) & 1 for a in range(3)] for c in range(8)], np.float32)
    particles = {
        "position": 0.4 + 0.2 * corners,
        "velocity": np.tile(np.float32([0.0, -0.5, 0.0]), (8, 1)),
        "id": np.arange(8, dtype=np.int64),
        "temperature": np.linspace(20, 60, 8, dtype=np.float32),
    }
    centres = (np.arange(16) + 0.5) * DX
    x, y, z = np.meshgrid(centres, centres, centres, indexing="ij")
    phi = np.sqrt((x - 0.5) ** 2 + (y - 0.7 + 0.02 * index) ** 2 + (z - 0.5) ** 2) - 0.25
    fields = {
        "phi": phi.astype(np.float32),
        "u": np.zeros((17, 16, 16), np.float32),
        "v": np.full((16, 17, 16), -0.5, np.float32),
        "w": np.zeros((16, 16, 17), np.float32),
        "p": (1000 * (1 - y)).astype(np.float32),
        "corner": np.zeros(3),
        "dx": np.array(DX),
    }
    pose = BodyPose("paddle", np.eye(3), np.array([0.0, 0.0, index / 24]))
    stats = [_step(s, index) for s in (2 * index - 1, 2 * index)] if index else []
    distance = SampledDistance(np.ones((2, 2, 2), np.float32), (0.0, 0.0, 0.0), 1.0)
    return Frame(index, index / 24, ball(index), particles, distance, [pose], stats, fields)


def _step(step: int, index: int) -> StepStats:
    solve = SolveStats("jacobi-cg", 10, 7, 1e-6, 0.1, True)
    numbers = {"particles": 8, "cells": 4096, "liquid_volume": 0.065, "target_volume": 0.066, "max_speed": 0.5}
    seconds = {"sort": 0.25, "pressure": 0.5}
    found = {"seconds": seconds, "solves": {"pressure": solve}}
    ball = Amounts(92.0, 11.5, 632.0, (0.0, -46.0, 0.0), (23.0, 0.0, -23.0))
    left = {"bottom": Amounts(0.5), "sinks": Amounts(0.25)}
    return StepStats(step, index, step / 48, 1 / 48, **numbers, **found, liquid=ball, left=left)


def forget_amounts(path: Path) -> None:
    """Make the run in a folder one of an earlier version, whose steps knew nothing of momentum and energy."""
    lines = [json.loads(line) for line in (path / "stats.jsonl").read_text().splitlines()]
    for line in lines:
        for key in ("liquid", "came", "left", "by_stage"):
            del line[key]
    (path / "stats.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def begin_run(path: Path) -> RunFolder:
    """A run without frames."""
    return RunFolder.create(path, to_toml(load(SCENE)), {"scene": "falling-ball", "fps": 24.0, "frames": 5})


def write_run(path: Path) -> RunFolder:
    """A complete run of six frames."""
    run = begin_run(path)
    for index in range(6):
        run.write_frame(frame(index))
    run.finish()
    return run
