"""`glug bench octree-viscosity`: one viscous solve of a scene's frame on the regular grid and on octrees.

It answers: how much does an octree save, in unknowns, time and memory, and is it faster than regular multigrid? The
regular grid is also a tree without coarsening, so that the same code solves both. Seconds are those of a viscous step
whose memory has been in use before: `weights` (fractions and walls, the same for all), `adapt` (tree and numbers of
faces), `assemble`, `transfer`, `setup` (of a multigrid hierarchy) and `solve`; rows/s are those of `assemble`. Beside
them is one product with the matrix: stored rows on trees, matrix-free on the regular grid. Bytes are the peak above
what the input takes, per unknown.

The figure has all solvers and trees (one to four levels, bands of two to four finest cells), the beam and three library
scenes the four that matter. Jacobi solves to 1e-3, as in the source, multigrid to 1e-6. The whole takes some minutes
on two cores; the tree's gain grows with the liquid: `--case figure --resolution 192`, or 256, is worth waiting for.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from glug.studies import isolated
from glug.studies.bench.solves.measured import Result, alone, chosen, row
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

CASES = (("beam", 218), ("figure", 128), ("buckling-sheet", 64), ("melting", 48), ("letter-mixer", 64))
SHAPES = ("beam", "figure")  # what their solve is given needs no run
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
COUNT = "count"  # --solver count: unknowns only
HEAD = ["case", "solver", "voxels", "unknowns", "fewer", "per row", "iterations", *(f"{s} s" for s in STAGES)]
HEAD += ["step s", "M rows/s", "product ns/row", "bytes/unknown"]


def capture(case: str, n: int, path: str) -> None:
    """Write what the solve of a library scene is given to a file, for the processes that measure it."""
    import pickle

    from glug.studies.problems.octree import viscous_input

    Path(path).write_bytes(pickle.dumps(viscous_input(case, n)))


def measure(case: str, n: int, solver: str, path: str | None) -> Result:
    """One viscous step in this process, after one that stops at once but takes as much memory."""
    import pickle

    from glug.studies.problems.octree import figure, viscous_input

    _step(figure(32), solver, LIMIT)  # loads or compiles the kernels
    given = viscous_input(case, n) if path is None else pickle.loads(Path(path).read_bytes())
    before = isolated.resident_bytes()
    _step(given, solver, 1)
    result = _step(given, solver, LIMIT)
    return {**result, "voxels": given.voxels, "bytes": isolated.peak_bytes() - before}


def _step(given: Any, solver: str, most: int) -> Result:
    from glug.grids.regular import copied
    from glug.physics.viscosity.octree.problem import OctreeViscosity
    from glug.physics.viscosity.octree.tree import adapt
    from glug.physics.viscosity.preconditioners import SOLVERS as METHODS
    from glug.physics.viscosity.problem import ViscosityProblem
    from glug.solvers.limits import SolveLimits

    on_tree, levels, band, preconditioner, tolerance = SOLVERS[solver]
    limits, method = SolveLimits(tolerance, most), METHODS[preconditioner]
    velocity = copied(given.velocity)
    seconds = dict.fromkeys(STAGES, 0.0)
    begin = time.perf_counter()
    solid = replace(given.solid, keeps=False) if on_tree else given.solid  # as in scenes
    problem = ViscosityProblem.build(given.grid, given.phi, solid, given.diffusion)
    seconds["weights"] = time.perf_counter() - begin
    if on_tree:
        adapted = adapt(problem, levels, band)
        del problem
        octree = OctreeViscosity(adapted, given.diffusion, solver=method)
        del adapted
        stats = octree.solve(velocity, limits)
        total = time.perf_counter() - begin
        for stage, spent in octree.seconds.items():
            seconds[stage] += spent
        system: Any = octree.system
    else:
        stats = problem.solve(velocity, limits, solver=method)
        total = time.perf_counter() - begin
        system = problem.system()
    seconds["solve"] = stats.seconds
    seconds["setup"] += total - sum(seconds.values())
    return {
        "unknowns": stats.unknowns,
        "entries": system.entries if on_tree else 0,
        "product": _product(system),
        "iterations": stats.iterations,
        "residual": stats.residual,
        "seconds": seconds,
        "total": total,
    }


def _product(system: Any) -> float:
    """Seconds of one product with the matrix."""
    from glug.solvers.cg import zeros_like

    q = zeros_like(system)
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        system.apply(system.mask, q)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def count(case: str, n: int) -> dict[str, int]:
    """Voxels, and unknowns of the regular grid and of the octree, in this process."""
    from glug.physics.viscosity.octree.tree import adapt
    from glug.physics.viscosity.problem import ViscosityProblem
    from glug.studies.problems.octree import viscous_input

    given = viscous_input(case, n)
    adapted = adapt(ViscosityProblem.build(given.grid, given.phi, given.solid, given.diffusion))
    return {"voxels": given.voxels, "regular": adapted.regular.unknowns, "octree": adapted.faces.count}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case and solver, each in its own process; --resolution measures the figure alone, on that grid."""
    usual = dict(CASES) if options.resolution is None else {"figure": options.resolution}
    sizes = dict.fromkeys(dict(CASES), options.resolution) if options.resolution else dict(CASES)
    cases = [(case, sizes[case]) for case in chosen("case", options.case, usual, sizes)]
    solvers = chosen("solver", options.solver, SOLVERS, SOLVERS if options.solver != COUNT else (COUNT,))
    if solvers == (COUNT,):
        return [counted for case, n in cases for counted in _counted(case, n, options)]
    threads = max(options.threads)
    lines, rows = [HEAD], []
    for case, n in cases:
        mine = [s for s in solvers if case == "figure" or s in IN_SCENES or options.solver]
        with tempfile.TemporaryDirectory() as folder:
            path = None if case in SHAPES or not mine else str(Path(folder) / "given")
            if path is not None:
                isolated.call(f"{__name__}:capture", case=case, n=n, path=path)
            found = {}
            for solver in mine:
                found[solver] = r = alone(measure, threads, case=case, n=n, solver=solver, path=path)
                lines.append(_line(f"{case} {n}", solver, r, found.get("tree-1-level")))
                options.say(aligned([HEAD, lines[-1]]))
                rows.append(_row(case, n, solver, threads, r))
        options.say(_gain(f"{case} {n}", found))
    options.say("")
    options.say(aligned(lines))
    return rows


def _counted(case: str, n: int, options: BenchOptions) -> list[BenchRow]:
    r = isolated.call(f"{__name__}:count", case=case, n=n)
    options.say(
        f"{case} {n}: {r['voxels']} voxels, {r['regular']} unknowns on the regular grid, {r['octree']} on the octree: "
        f"{r['regular'] / r['octree']:.2f} times fewer"
    )
    return [BenchRow(f"{case}/viscosity", f"{COUNT}-{name}", n, dofs=r[name]) for name in ("regular", "octree")]


def _line(case: str, solver: str, r: Result, regular: Result | None) -> list[str]:
    unknowns, seconds = r["unknowns"], r["seconds"]
    fewer = f"{regular['unknowns'] / unknowns:.2f}" if regular else "-"
    per_row = f"{r['entries'] / unknowns:.2f}" if r["entries"] else "-"
    rate = f"{unknowns / seconds['assemble'] / 1e6:.2f}" if r["entries"] else "-"
    stages = [f"{seconds[s]:.2f}" for s in STAGES]
    numbers = [str(r["voxels"]), str(unknowns), fewer, per_row, str(r["iterations"]), *stages]
    product = f"{1e9 * r['product'] / unknowns:.1f}"
    return [case, solver, *numbers, f"{r['total']:.2f}", rate, product, f"{r['bytes'] / unknowns:.0f}"]


def _gain(case: str, found: dict[str, Result]) -> str:
    """How much faster trees are than one without coarsening, and multigrid on them than on the regular grid."""
    text = []
    for name, other in (("octree", "tree-1-level"), ("octree-multigrid", "regular-multigrid")):
        if name in found and other in found:
            a, b = found[name], found[other]
            solve = b["seconds"]["solve"] / a["seconds"]["solve"]
            text.append(f"{name} / {other}: solve {solve:.2f}x, step {b['total'] / a['total']:.2f}x faster")
    return f"{case}: {'; '.join(text)}" if text else ""


def _row(case: str, n: int, solver: str, threads: int, r: Result) -> BenchRow:
    solve, unknowns = r["seconds"]["solve"], r["unknowns"]
    return row(
        f"{case}/viscosity",
        solver,
        n,
        threads,
        {**r, "seconds": solve, "setup": r["total"] - solve},
        voxels=r["voxels"],
        per_row=r["entries"] / unknowns if r["entries"] else None,
        bytes_per_dof=r["bytes"] / unknowns,
        stages=r["seconds"],
    )
