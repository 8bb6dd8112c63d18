"""`glug bench separation`: the projection of a splash between walls that let go, beside the ordinary one.

It answers one question: how many times what walls that hold cost do walls that let go? `cold` begins with no cell freed
and a velocity of a few random waves, which pulls at half of all walls; `warm` begins with the cells that the cold solve
freed, and a velocity that differs by a twentieth. The table also says how well the conditions of the minimum are met.
"""

from dataclasses import dataclass

import numpy as np

from glug.grids.regular import FACES, Grid, Staggered
from glug.physics.pressure.problem import PressureProblem
from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.measured import Result, alone, numbers, row
from glug.studies.problems.systems import splash
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION = 128
TOLERANCE = 1e-5
CASES = ("ordinary", "cold", "warm")


@dataclass(frozen=True)
class Conditions:
    """What the minimum has at separating walls, relative to the largest pressure and right-hand side."""

    least_pressure: float
    least_opening: float
    product: float  # the largest of pressure times opening
    divergence: float  # elsewhere

    @classmethod
    def measure(cls, problem: PressureProblem, q: np.ndarray, before: Staggered, after: Staggered) -> "Conditions":
        """From the velocities on both sides of a projection, in float64."""
        b = problem.right_hand_side(before)
        opening = -problem.right_hand_side(after).astype(np.float64) / np.abs(b).max()
        pressure = q / np.abs(q).max()
        assert problem.solid.separating is not None
        wet = problem.liquid > 0
        at = wet & (problem.solid.separating > 0)
        rest = np.abs(opening[wet & ~at]).max(initial=0.0)
        return cls(pressure[at].min(), opening[at].min(), float((pressure * opening)[at].max()), float(rest))


def waves(grid: Grid, seed: int, count: int = 5) -> Staggered:
    """A velocity of a few random waves."""
    rng = np.random.default_rng(seed)
    components = []
    for a, offset in enumerate(FACES):
        x, y, z = np.meshgrid(*grid.coordinates(offset), indexing="ij", sparse=True)
        total = np.zeros(grid.staggered()[a].shape)
        for _ in range(count):
            k = 6.0 * rng.normal(size=3)
            total += np.sin(k[0] * x + k[1] * y + k[2] * z + rng.uniform(0, 6))
        components.append(total.astype(np.float32))
    return components[0], components[1], components[2]


def measure(n: int, case: str) -> Result:
    """Solve once in this process, after a small one that loads or compiles the kernels."""
    _run(24, case)
    return _run(n, case)


def _run(n: int, case: str) -> Result:
    problem = splash(n, separating=case != "ordinary")
    velocity, change = waves(problem.grid, 2), waves(problem.grid, 3)
    limits, freed = SolveLimits(TOLERANCE, 1000), problem.grid.scalar(dtype=np.uint8)
    if case == "warm":
        problem.project(_copy(velocity), limits, freed=freed)
    if case != "cold":
        for u, d in zip(velocity, change):
            u += np.float32(0.05) * d
    after = _copy(velocity)
    q, stats = problem.project(after, limits, freed=freed)
    found = numbers(stats)
    if problem.walls is not None:
        found["freed"] = int(freed.sum())
        found["conditions"] = vars(Conditions.measure(problem, q, velocity, after))
    return found


def _copy(velocity: Staggered) -> Staggered:
    return velocity[0].copy(), velocity[1].copy(), velocity[2].copy()


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case, each in its own process; prints the table."""
    n, threads = options.resolution or RESOLUTION, max(options.threads)
    head = ["walls", "iterations", "set-up s", "solve s", "x ordinary", "freed", "least p", "least opening", "product"]
    rows, lines, ordinary = [], [head], 0.0
    for case in CASES:
        r = alone(measure, threads, n=n, case=case)
        rows.append(row("separation/splash", case, n, threads, r))
        total = r["setup"] + r["seconds"]
        ordinary = ordinary or total
        figures = [str(r["iterations"]), f"{r['setup']:.2f}", f"{r['seconds']:.2f}", f"{total / ordinary:.2f}"]
        if "conditions" in r:
            c = r["conditions"]
            figures += [str(r["freed"]), *(f"{c[k]:.1e}" for k in ("least_pressure", "least_opening", "product"))]
        lines.append([case, *figures, *["-"] * (len(head) - 1 - len(figures))])
    options.say(aligned(lines))
    return rows
