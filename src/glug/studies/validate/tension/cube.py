"""A cube of water without gravity (the scene `cube-drop`): its corners come in, go out as an octahedron's, and so on.

What is followed is the cubic harmonic of degree 4 of the surface, positive of an octahedron and negative of a cube,
whose period would be that of mode 4 (Rayleigh 1879) if it were small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from glug.geometry.sampled import SurfaceMesh
from glug.scene import load
from glug.simulation import Simulation


def shape_of(surface: SurfaceMesh) -> float:
    """The mean of (x^4 + y^4 + z^4) / r^4 - 3/5 over a surface around the origin, weighted by r."""
    a, b, c = (surface.vertices[surface.triangles[:, k]].astype(float) for k in range(3))
    area, middle = np.linalg.norm(np.cross(b - a, c - a), axis=1), (a + b + c) / 3.0
    square = np.maximum((middle**2).sum(axis=1), 1e-300)
    weight = area * np.sqrt(square)
    return -float(weight @ ((middle**4).sum(axis=1) / square**2 - 0.6) / weight.sum())


@dataclass(frozen=True)
class Rung:
    """What the cube did until the time that was asked for."""

    oscillations: float  # half the number of times that its shape passed through its mean
    volume: float  # farthest that the surface's volume came from the first, over it
    kept: float  # of the shape's excursions: the last one over the first


def ring(resolution: int, mesh: str, frames: int) -> Rung:
    """Run the scene on a mesh, for some frames of 2 ms."""
    keys = {"domain.resolution": resolution, "solver.mesh": mesh, "output.preview": False}
    simulation = Simulation(load("cube-drop", keys))
    found = [(shape_of(frame.surface), frame.surface.volume()) for frame in simulation.run(frames)]
    shape, volume = np.array(found).T
    swing = shape - shape[len(shape) // 4 :].mean()
    turns = np.flatnonzero(swing[1:] * swing[:-1] < 0.0)
    ends = [0, *(turns + 1), len(swing)]
    heights = [float(np.abs(swing[a:b]).max()) for a, b in pairwise(ends)]
    worst = float(np.abs(volume / volume[0] - 1.0).max())
    return Rung(len(turns) / 2.0, worst, heights[-1] / heights[0] if heights[0] > 0.0 else math.nan)
