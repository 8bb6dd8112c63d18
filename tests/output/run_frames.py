"""Small frames for the tests of the frame cache."""

import numpy as np

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.simulation.frame import BodyPose, Frame, SolveStats, StepStats

SCENE = 'name = "drop"\n[time]\nfps = 24.0\nframes = 10\n[domain]\nresolution = 16\n'
MANIFEST = {"scene": "drop", "fps": 24.0, "frames": 10}


def make_frame(index: int, vertices: int = 5) -> Frame:
    """A frame whose numbers depend on `index` alone; two steps lead to it, none to frame 0."""
    generator = np.random.default_rng(index)
    surface = SurfaceMesh(
        generator.normal(size=(vertices, 3)).astype(np.float32),
        generator.integers(0, vertices, size=(2 * vertices, 3)).astype(np.int32),
        generator.normal(size=(vertices, 3)).astype(np.float32),
    )
    particles = {
        "position": generator.normal(size=(vertices, 3)).astype(np.float32),
        "id": np.arange(vertices, dtype=np.int64),
    }
    distance = SampledDistance(np.ones((2, 2, 2), np.float32), (0.0, 0.0, 0.0), 1.0)
    bodies = [BodyPose("paddle", np.eye(3), np.array([0.0, index, 0.0]))]
    stats = [make_step(step, index) for step in (2 * index - 2, 2 * index - 1)] if index else []
    return Frame(index, index / 24, surface, particles, distance, bodies, stats)


def make_step(step: int, frame: int) -> StepStats:
    solve = SolveStats("jacobi-cg", 10, 3, float("nan"), 0.1, False)
    numbers = {"particles": 5, "cells": 8, "liquid_volume": 1.0, "target_volume": 1.0, "max_speed": 2.0}
    return StepStats(step, frame, step / 48, 1 / 48, **numbers, solves={"pressure": solve})
