"""`glug bench tetrahedra`: what a tetrahedron costs in meshing, weights, solve and reconstruction, and in a step.

It answers one question: do the parts keep to their goals, on two threads, and a step of a dam break of about a million
tetrahedra to 6 s? (The source has 31 s a frame for 0.4 to 1.1 million, tracking included: Batty et al. 2010.)
CPU seconds of all threads are given beside the seconds, for machines that are not quiet.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION = 128  # cells of dx along the longest side of the dam break; the parts have as many leaves per metre / 4
STEPS, WARM_STEPS = 3, 1
TOLERANCE = 1e-6
GOALS = {"mesh": 0.5, "weights and assembly": 0.3, "solve": 6.0, "reconstruction": 0.1}  # us per tetrahedron or unknown
STEP_GOAL = 6.0  # [s]


def liquid(points: np.ndarray) -> np.ndarray:
    """A wavy surface."""
    return points[:, 1] - 0.6 - 0.05 * np.sin(9.0 * points[:, 0]) * np.cos(7.0 * points[:, 2])


def solid(points: np.ndarray) -> np.ndarray:
    """A box with a ball in it."""
    box = np.minimum(points, 1.0 - points).min(axis=1)
    return np.minimum(box, np.linalg.norm(points - np.array([0.5, 0.25, 0.5]), axis=1) - 0.17)


def measure_parts(leaves: int, graded: bool, threads: int) -> dict[str, Any]:
    """The parts of a step on a pool with a ball in it, one after the other; the second of two rounds counts."""
    from glug import jit

    jit.set_threads(threads)
    _parts(8, graded)  # loads kernels
    return _parts(leaves, graded)


def _parts(leaves: int, graded: bool) -> dict[str, Any]:
    from glug.grids.tetrahedra.field import Surroundings
    from glug.grids.tetrahedra.lattice import Box, Grading
    from glug.grids.tetrahedra.mesh import Tetrahedra
    from glug.physics.covolume.projection import CovolumeProblem, EmbeddedGeometry, Incidence
    from glug.solvers.limits import SolveLimits

    levels = 3 if graded else 1
    box = Box.covering(np.full(3, -2.0 / leaves), np.full(3, 1.0 + 2.0 / leaves), 1.0 / leaves, levels)
    tree = box.leaves([liquid], Grading(levels, 3))
    watch = Watch()
    watch("warm", lambda: Tetrahedra.over(box, tree))
    mesh: Tetrahedra = watch("mesh", lambda: Tetrahedra.over(box, tree))
    incidence: Incidence = watch("incidence", lambda: Incidence.of(mesh))
    phi, inside = liquid(mesh.cell_position), solid(mesh.simplices.points)
    u = mesh.face_normal @ np.array([0.3, -1.0, 0.1])

    def weigh() -> CovolumeProblem:
        geometry = EmbeddedGeometry(phi, inside)
        given = geometry.surface(mesh), geometry.open_parts(mesh), np.zeros(len(u)), geometry.ghosts(mesh)
        problem = CovolumeProblem.build(mesh, incidence, *given)
        assert problem.system.unknowns == len(problem.closed_parts)
        return problem

    problem: CovolumeProblem = watch("weights and assembly", weigh)
    after = u.copy()
    stats = watch("solve", lambda: problem.project(after, SolveLimits(TOLERANCE, 1000))[1])
    other = watch("smoothed aggregation", lambda: problem.project(u.copy(), SolveLimits(TOLERANCE, 1000), "amg")[1])
    around = Surroundings(mesh, incidence.start, incidence.face, box.spacing)
    used = problem.link > 0.0
    watch("surroundings", lambda: (around.of_vertices, around.of_cells, around.face_of, around.simplex, around.seeds))
    around.field(after, used)  # loads kernels
    watch("reconstruction", lambda: around.field(after, used))
    return {
        "tetrahedra": len(mesh.simplices.corners),
        "unknowns": stats.unknowns,
        "iterations": {"solve": stats.iterations, "smoothed aggregation": other.iterations},
        "residual": stats.residual,
        "seconds": watch.seconds,
        "cpu": watch.cpu,
        "peak": isolated.peak_bytes(),
    }


class Watch:
    """Seconds and CPU seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu: dict[str, float] = {}

    def __call__(self, name: str, run: Callable[[], Any]) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = run()
        self.seconds[name], self.cpu[name] = time.perf_counter() - wall, time.process_time() - cpu
        return result


def measure_step(resolution: int, steps: int, threads: int) -> dict[str, Any]:
    """Steps of the dam break on a uniform lattice: seconds of every stage, volume and tetrahedra."""
    import statistics

    from glug.scene import load
    from glug.simulation import Simulation

    settings = {"solver.mesh": "tetrahedra", "solver.tetrahedra.levels": 1}
    Simulation(load("dam-break", {"domain.resolution": 24, **settings}), threads=threads).step_once()
    simulation = Simulation(load("dam-break", {"domain.resolution": resolution, **settings}), threads=threads)
    for _ in range(WARM_STEPS):
        simulation.step_once()
    cpu = time.process_time()
    taken = [simulation.step_once() for _ in range(steps)]
    cpu = (time.process_time() - cpu) / steps
    last = taken[-1]
    leaves = simulation.state.leaves
    return {
        "tetrahedra": int(12 * leaves.size),
        "particles": last.particles,
        "unknowns": last.solves["tetrahedra"].unknowns,
        "iterations": last.solves["tetrahedra"].iterations,
        "seconds": {s: statistics.median(stats.seconds.get(s, 0.0) for stats in taken) for s in last.seconds},
        "cpu": cpu,
        "volume": last.liquid_volume / last.target_volume,
        "peak": isolated.peak_bytes(),
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per part and mesh, and one per stage of a step; prints tables beside the goals."""
    resolution, threads = options.resolution or RESOLUTION, max(options.threads)
    rows: list[BenchRow] = []
    lines = [["mesh", "part", "us each", "CPU us each", "goal", "iterations"]]
    for name, graded in (("uniform", False), ("graded", True)):
        if options.case in (None, "all", name, "parts"):
            leaves = resolution // 3 if not graded else resolution // 2
            found = isolated.call(f"{__name__}:measure_parts", leaves=leaves, graded=graded, threads=threads)
            rows += _part_rows(name, leaves, threads, found, lines)
    if len(lines) > 1:
        options.say(aligned(lines))
    if options.case in (None, "all", "step"):
        steps = options.steps or STEPS
        found = isolated.call(f"{__name__}:measure_step", resolution=resolution, steps=steps, threads=threads)
        rows.append(_step_row(resolution, threads, found))
        options.say(_step_table(found, threads))
    return rows


def _part_rows(name: str, n: int, threads: int, found: dict[str, Any], lines: list[list[str]]) -> list[BenchRow]:
    rows = []
    for part, seconds in found["seconds"].items():
        if part in ("warm", "incidence"):
            continue
        each = found["unknowns"] if part in ("solve", "smoothed aggregation") else found["tetrahedra"]
        iterations = found["iterations"].get(part)
        us, cpu = (1e6 * s / each for s in (seconds, found["cpu"][part]))
        goal = f"{GOALS[part]:g}" if part in GOALS else "-"
        lines.append([f"{name}, {each:,}", part, f"{us:.3f}", f"{cpu:.3f}", goal, str(iterations or "-")])
        peak, residual = found["peak"] / 1e9, found["residual"] if part == "solve" else None
        solver = {"solve": "multigrid", "smoothed aggregation": "pyamg"}.get(part, "none")
        given = f"tetrahedra/{name}/{part}", solver, n, each, threads, iterations, seconds
        rows.append(BenchRow(*given, peak_gb=peak, residual=residual))
    return rows


def _step_row(n: int, threads: int, found: dict[str, Any]) -> BenchRow:
    total = sum(found["seconds"].values())
    given = "tetrahedra/dam-break step", "multigrid", n, found["unknowns"], threads, found["iterations"], total
    return BenchRow(*given, peak_gb=found["peak"] / 1e9, stages=found["seconds"])


def _step_table(found: dict[str, Any], threads: int) -> str:
    lines = [["stage", "s"]]
    lines += [[stage, f"{seconds:.3f}"] for stage, seconds in found["seconds"].items() if seconds >= 0.005]
    total = sum(found["seconds"].values())
    lines.append(["whole step", f"{total:.2f} (goal {STEP_GOAL:g}; CPU {found['cpu']:.2f})"])
    sizes = ", ".join(f"{found[name]:,} {name}" for name in ("tetrahedra", "unknowns", "particles"))
    return f"\ndam-break: {sizes}, {threads} thread(s), volume {found['volume']:.4f}\n" + aligned(lines)
