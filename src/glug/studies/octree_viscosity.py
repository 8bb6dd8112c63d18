"""`glug bench octree-viscosity`: one viscous solve of a scene's frame on the regular grid and on octrees.

It answers: how much does an octree save, in unknowns, time and memory, and is it faster than regular multigrid? The
regular grid is also a tree without coarsening, so that the same code solves both. Seconds are those of a viscous step:
`weights` (fractions and walls, the same for all), `adapt` (tree and numbers of faces), `assemble`, `transfer`, `setup`
(of a multigrid hierarchy) and `solve`. Bytes are the peak above what the input takes, per unknown.
"""

from __future__ import annotations

import time
from typing import Any

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

CASES = (("beam", 300), ("figure", 192), ("buckling-sheet", 96), ("melting", 64), ("letter-mixer", 96))
LIMIT = 4000
# Name: on a tree, levels, band, preconditioner, tolerance.
SOLVERS: dict[str, tuple[bool, int, int, str, float]] = {
    "tree-1-level": (True, 1, 2, "jacobi-cg", 1e-3),
    "tree-2-levels": (True, 2, 2, "jacobi-cg", 1e-3),
    "tree-3-levels": (True, 3, 2, "jacobi-cg", 1e-3),
    "octree": (True, 4, 2, "jacobi-cg", 1e-3),
    "octree-band-3": (True, 4, 3, "jacobi-cg", 1e-3),
    "octree-band-4": (True, 4, 4, "jacobi-cg", 1e-3),
    "regular-jacobi": (False, 1, 2, "jacobi-cg", 1e-3),
    "octree-multigrid": (True, 4, 2, "multigrid", 1e-6),
    "regular-multigrid": (False, 1, 2, "multigrid", 1e-6),
}
IN_SCENES = ("tree-1-level", "octree", "octree-multigrid", "regular-multigrid")
STAGES = ("weights", "adapt", "assemble", "transfer", "setup", "solve")


def measure(case: str, n: int, solver: str, threads: int) -> dict[str, Any]:
    """One viscous step in this process."""
    import psutil

    from glug.jit import set_threads
    from glug.studies.octree_problems import figure, frame

    set_threads(threads)
    _step(figure(32), solver)  # loads or compiles the kernels
    problem = frame(case, n)
    before = psutil.Process().memory_info().rss
    result = _step(problem, solver)
    return {**result, "voxels": problem.voxels, "bytes": isolated.peak_bytes() - before, "peak": isolated.peak_bytes()}


def _step(frame: Any, solver: str) -> dict[str, Any]:
    from glug.physics.octree_viscosity import OctreeViscosity
    from glug.physics.viscosity import ViscosityProblem

    on_tree, levels, band, preconditioner, tolerance = SOLVERS[solver]
    limits: dict[str, Any] = {"tolerance": tolerance, "max_iterations": LIMIT, "solver": preconditioner}
    begin = time.perf_counter()
    problem = ViscosityProblem.build(frame.grid, frame.phi, frame.solid, frame.diffusion)
    built = time.perf_counter() - begin
    seconds = dict.fromkeys(STAGES, 0.0)
    leaves, entries = frame.voxels, 0
    if on_tree:
        octree = OctreeViscosity.build(problem, frame.diffusion, levels=levels, band=band)
        stats = octree.solve(frame.velocity, **limits)
        seconds |= octree.seconds
        entries = octree.system.entries
        leaves = int(_leaves(octree))
    else:
        stats = problem.solve(frame.velocity, **limits)
    total = time.perf_counter() - begin
    seconds["weights"] += built
    seconds["solve"] = stats.seconds
    seconds["setup"] = total - sum(v for k, v in seconds.items() if k != "setup")
    return {
        "unknowns": stats.unknowns,
        "entries": entries,
        "leaves": leaves,
        "iterations": stats.iterations,
        "residual": stats.residual,
        "seconds": seconds,
        "total": total,
    }


def _leaves(octree: Any) -> int:
    """Leaves with liquid in them."""
    import numpy as np

    level = octree.tree.level
    wet = octree.regular.c[0] > 0
    return sum(int(np.count_nonzero(wet & (level == l))) // 8**l for l in range(octree.tree.levels))


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case and solver, each in its own process; --resolution measures the figure alone, on that grid."""
    threads = max(options.threads)
    cases = CASES if options.resolution is None else (("figure", options.resolution),)
    head = ["case", "solver", "voxels", "unknowns", "fewer", "per row", "iterations", *(f"{s} s" for s in STAGES)]
    lines = [[*head, "step s", "bytes/unknown"]]
    rows = []
    for case, n in cases:
        chosen = SOLVERS if case in ("beam", "figure") else IN_SCENES
        regular = None
        for solver in chosen:
            if options.solver not in (None, "all", solver):
                continue
            r = isolated.call(f"{__name__}:measure", case=case, n=n, solver=solver, threads=threads)
            regular = regular or (r["unknowns"] if SOLVERS[solver][1] == 1 else None)
            fewer = f"{regular / r['unknowns']:.2f}" if regular else "-"
            per_row = f"{r['entries'] / r['unknowns']:.2f}" if r["entries"] else "-"
            stages = [f"{r['seconds'][s]:.2f}" for s in STAGES]
            numbers = [str(r["leaves"]), str(r["unknowns"]), fewer, per_row, str(r["iterations"]), *stages]
            lines.append([f"{case} {n}", solver, *numbers, f"{r['total']:.2f}", f"{r['bytes'] / r['unknowns']:.0f}"])
            options.say(aligned([lines[0], lines[-1]]))
            rows.append(
                BenchRow(
                    f"{case}/viscosity",
                    solver,
                    n,
                    dofs=r["unknowns"],
                    threads=threads,
                    iterations=r["iterations"],
                    seconds=r["seconds"]["solve"],
                    setup_seconds=r["total"] - r["seconds"]["solve"],
                    peak_gb=r["peak"] / 1e9,
                    residual=r["residual"],
                )
            )
    options.say("")
    options.say(aligned(lines))
    return rows
