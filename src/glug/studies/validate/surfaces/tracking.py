"""The tracked surface by itself: known flows, random changes of topology, and what goes wrong without its parts.

Enright's deformation (LeVeque 1996; Enright et al. 2002): a ball of radius 0.15 is drawn out to a thin sheet and comes
back after T = 3; edges of 0.036, steps of 0.01. Zalesak's slotted ball turns once about the middle of the domain.
Crowds of balls in random flows meet, tear and are counted: before the next weld or cut nothing may intersect, which is
decided exactly (`geometry.tracking.exact`).

Controls: Enright's deformation without the correction of volumes, and a crowd that moves without looking for
collisions, where intersections must be found.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from glug.geometry.sampled import SampledDistance
from glug.geometry.surface import extract
from glug.geometry.tracking.exact import intersections
from glug.geometry.tracking.surface import Limits, TrackedSurface, Velocity
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

EDGE = 0.036  # of Enright's ball, whose radius is 0.15
PERIOD, DT = 3.0, 0.01
SLOT = 0.02  # edges of Zalesak's ball of radius 0.15, with a slot 0.05 wide and 0.125 deep
TURNS = 200  # steps of a full turn
EVENTS = 1000  # welds and cuts in random crowds, 10 of them with these many together
CROWDS = 10
DEFAULT = Limits()


class Unchecked(TrackedSurface):
    """Control: moves without looking for collisions."""

    def move(self, displacement: np.ndarray) -> None:
        self.vertices = self.vertices + displacement


def ball(centre: tuple[float, float, float], radius: float, edge: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a ball with edges of about that length."""
    import trimesh

    level = max(1, round(np.log2(1.1 * radius / edge)))
    mesh = trimesh.creation.icosphere(subdivisions=level, radius=radius)
    return np.asarray(mesh.vertices) + centre, np.asarray(mesh.faces)


def deformation(points: np.ndarray, t: float) -> np.ndarray:
    """Enright's flow: back where it began after a period."""
    s, (x, y, z) = np.sin, np.pi * points.T
    u = 2.0 * s(x) ** 2 * s(2 * y) * s(2 * z)
    v = -s(2 * x) * s(y) ** 2 * s(2 * z)
    w = -s(2 * x) * s(2 * y) * s(z) ** 2
    return np.cos(np.pi * t / PERIOD) * np.stack([u, v, w], axis=1)


def turning(points: np.ndarray, t: float) -> np.ndarray:
    """Once about the axis through (0.5, 0.5) in unit time."""
    x, y = points[:, 0] - 0.5, points[:, 1] - 0.5
    return 2.0 * np.pi * np.stack([-y, x, np.zeros_like(x)], axis=1)


def slotted_ball(edge: float) -> TrackedSurface:
    """Zalesak's ball, triangulated from its distance and improved."""
    h = 0.75 * edge
    x, y, z = np.meshgrid(*[np.arange(-0.18, 0.18, h)] * 3, indexing="ij")
    whole = np.sqrt(x**2 + y**2 + z**2) - 0.15
    slot = np.maximum(np.abs(x) - 0.025, y - (-0.15 + 0.125))
    values = np.maximum(whole, -slot).astype(np.float32)
    vertices, triangles = extract(SampledDistance(values, (-0.18 + 0.5, -0.18 + 0.75, -0.18 + 0.5), h))
    surface = TrackedSurface(vertices, triangles, edge)
    for _ in range(5):
        surface.improve()
        surface.move(surface.smoothing())
    return TrackedSurface(surface.vertices, surface.triangles, edge)


class Crowd:
    """Random balls in a random, changing flow that keeps them together."""

    def __init__(self, seed: int, kind: type[TrackedSurface] = TrackedSurface, edge: float = 0.06):
        random = np.random.default_rng(seed)
        places: list[tuple[np.ndarray, float]] = []
        while len(places) < 10:
            centre, radius = random.uniform(0.2, 0.8, 3), random.uniform(0.07, 0.13)
            if all(np.linalg.norm(centre - c) > radius + r + 0.01 for c, r in places):
                places.append((centre, radius))
        meshes = [ball(tuple(c), r, edge) for c, r in places]
        first = np.cumsum([0] + [len(v) for v, _ in meshes])
        triangles = np.concatenate([t + n for n, (_, t) in zip(first, meshes)])
        self.surface = kind(np.concatenate([v for v, _ in meshes]), triangles, edge)
        wave = random.integers(1, 3, (12, 3)) * random.choice([-1.0, 1.0], (12, 3))
        across = np.cross(random.normal(size=(12, 3)), wave)
        self.wave, self.across = wave, across / np.linalg.norm(across, axis=1, keepdims=True)
        self.phase, self.rate = random.uniform(0.0, 2 * np.pi, 12), random.uniform(1.0, 5.0, 12)

    def velocity(self, points: np.ndarray, t: float) -> np.ndarray:
        """A sum of waves without divergence, and a pull back to the middle from outside of it."""
        angle = 4.4 * points @ self.wave.T + self.phase + self.rate * t
        away = points - 0.5
        far = np.maximum(0.0, np.linalg.norm(away, axis=1, keepdims=True) - 0.3)
        return 0.35 * np.cos(angle) @ self.across - 15.0 * np.minimum(far, 0.2) * away

    def step(self, n: int, check: Callable[[], None]) -> None:
        """One step; `check` is called after every single cut and weld, and after the motion."""
        surface = self.surface
        for operate, name in ((surface.improve, "cut"), (surface.join, "weld")):
            while True:
                before = surface.events[name]
                operate(1)
                check()
                if surface.events[name] == before:
                    break
        surface.settle()
        if len(surface.triangles):
            flow = DT * self.velocity(surface.vertices, n * DT)
            moved = flow + surface.smoothing()
            surface.move(moved + surface.correction(at=surface.vertices + moved))
            check()


def random_events(events: int, seeds: int, kind: type[TrackedSurface] = TrackedSurface) -> dict[str, float]:
    """So many welds and cuts in crowds; how many checks, and in how many of them something intersected."""
    done: dict[str, float] = {"events": 0, "welds": 0, "cuts": 0, "checks": 0, "intersecting": 0}
    for seed in range(seeds):
        crowd, wanted = Crowd(seed, kind), (seed + 1) * events // seeds - done["events"]

        def check(surface: TrackedSurface = crowd.surface) -> None:
            done["checks"] += 1
            done["intersecting"] += len(intersections(surface.vertices, surface.triangles)) > 0

        counted, n = crowd.surface.events, 0
        while counted["weld"] + counted["cut"] < wanted and n < 300:
            crowd.step(n, check)
            n += 1
        done["welds"] += counted["weld"]
        done["cuts"] += counted["cut"]
        done["events"] = done["welds"] + done["cuts"]
    return done


def follow(surface: TrackedSurface, velocity: Velocity, dt: float, steps: int, every: int) -> dict[str, float]:
    """A surface through a flow: largest and last error of its volume, and intersections found every so many steps."""
    begun, worst, crossed = surface.volume(), 0.0, 0
    for n in range(steps):
        surface.step(velocity, n * dt, dt)
        worst = max(worst, abs(surface.volume() / begun - 1.0))
        if n % every == every - 1:
            crossed += len(intersections(surface.vertices, surface.triangles))
    last = abs(surface.volume() / begun - 1.0)
    return {"volume_error_max": worst, "volume_error": last, "intersections": crossed, "parts": len(surface.target)}


def enright(edge: float = EDGE, limits: Limits = DEFAULT, steps: int = round(PERIOD / DT)) -> dict[str, float]:
    """Volume, intersections, and how far the surface is from the ball at the end, over its radius."""
    surface = TrackedSurface(*ball((0.35, 0.35, 0.35), 0.15, edge), edge, limits)
    found = follow(surface, deformation, DT, steps, 10)
    away = np.abs(np.linalg.norm(surface.vertices - 0.35, axis=1) - 0.15) / 0.15
    return found | {"shape_error_mean": float(away.mean()), "triangles": len(surface.triangles)}


def study(options: StudyOptions) -> list[StudyRow]:
    """All of it, about three minutes on one core."""
    no_correction = replace(Limits(), correction=0.0)
    cases: dict[str, tuple[int, Callable[[], dict[str, float]]]] = {
        "Enright": (round(1 / EDGE), enright),
        "Enright, edges halved": (round(2 / EDGE), lambda: enright(0.5 * EDGE)),
        "control: volumes not corrected": (round(1 / EDGE), lambda: enright(limits=no_correction)),
        "Zalesak": (round(1 / SLOT), lambda: follow(slotted_ball(SLOT), turning, 1.0 / TURNS, TURNS, 10)),
        "random events": (0, lambda: random_events(EVENTS, CROWDS)),
        "control: collisions not looked for": (0, lambda: random_events(40, 2, Unchecked)),
    }
    rows = []
    for label, (grid, run) in cases.items():
        begin = time.perf_counter()
        found = run()
        seconds = time.perf_counter() - begin
        rows += [StudyRow(options.name, label, grid, q, "value", float(v), seconds=seconds) for q, v in found.items()]
    return rows
