"""`glug bench viscosity-solve`: the published viscosity problem by every solver, beside the published figures.

It answers one question: how many core-microseconds does an unknown cost, to a recomputed residual of 1e-6 of the
right-hand side's, set-up included?
"""

import time
from typing import Any

import numpy as np

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION = 128
TOLERANCE = 1e-6
LIMIT = 3000  # iterations
CASES = ("delta", "smooth")
SOLVERS = ("default", "chebyshev", "jacobi-mg", "jacobi-cg", "pyamg", "scipy-cg")
NOT_WRITTEN = {"box": "the box smoother is not written yet", "ic-cg": "incomplete Cholesky is not written yet"}
LARGEST_ASSEMBLED = 128  # an assembled matrix of the next size does not fit

# Aanjaneya et al. 2019, Table 2, 16 cores: iterations, seconds, GB.
PUBLISHED = {
    128: {"box multigrid": (3, 27.3, 0.256), "ICPCG": (39, 6.7, 1.024), "CG": (377, 35.6, 1.536)},
    256: {"box multigrid": (3, 119.6, 2.18), "ICPCG": (53, 95.3, 8.32), "CG": (707, 619.4, 11.78)},
    512: {"box multigrid": (4, 834.7, 15.94)},
}
PUBLISHED_CORES = 16


def measure(n: int, solver: str, case: str, threads: int) -> dict[str, Any]:
    """Solve once in this process; set-up is from the assembled problem's fields to a solver that is ready."""
    from glug.jit import set_threads
    from glug.solvers.cg import zeros_like
    from glug.studies import solve_problems

    set_threads(threads)
    _solve(24, solver, case)  # loads or compiles the kernels
    problem = solve_problems.viscosity_problem(n)
    begin = time.perf_counter()
    system = problem.system()
    ready = time.perf_counter() - begin
    b = getattr(solve_problems, case)(problem.grid, system)
    x = zeros_like(system, np.float64)
    result = _run(problem, system, solver, b, x)
    result["setup"] += ready
    return {**result, "unknowns": system.unknowns, "peak": isolated.peak_bytes()}


def _solve(n: int, solver: str, case: str) -> None:
    from glug.solvers.cg import zeros_like
    from glug.studies import solve_problems

    problem = solve_problems.viscosity_problem(n)
    system = problem.system()
    _run(problem, system, solver, getattr(solve_problems, case)(problem.grid, system), zeros_like(system, np.float64))


def _run(problem: Any, system: Any, solver: str, b: Any, x: Any) -> dict[str, Any]:
    from glug.physics.viscosity import preconditioners
    from glug.physics.viscosity_levels import hierarchy
    from glug.solvers.cg import Cycle, conjugate_gradients
    from glug.solvers.multigrid import Multigrid
    from glug.solvers.smoothers import Chebyshev, DampedJacobi

    if solver in ("pyamg", "scipy-cg"):
        return _run_assembled(problem, solver, b)
    begin = time.perf_counter()
    if solver == "chebyshev":
        preconditioner: Any = Cycle(system, Multigrid(hierarchy(system), Chebyshev(3, 3.0)))
    elif solver == "jacobi-mg":
        preconditioner = Cycle(system, Multigrid(hierarchy(system), DampedJacobi(2, 0.5)))
    else:
        preconditioner = preconditioners(system, "jacobi-cg" if solver == "jacobi-cg" else "multigrid")[0]()
    setup = time.perf_counter() - begin
    stats = conjugate_gradients(system, preconditioner, b, x, TOLERANCE, LIMIT)
    return {
        "iterations": stats.iterations,
        "residual": stats.residual,
        "seconds": stats.seconds,
        "setup": setup,
    }


def _run_assembled(problem: Any, solver: str, b: Any) -> dict[str, Any]:
    from scipy.sparse.linalg import cg

    from glug.physics.wall_rows import strain_rows

    rows = strain_rows(problem.grid, problem.solid, problem.solid_faces, problem.weights, every=True)
    matrix, diagonal = rows.assemble(problem.mass)
    matrix = matrix.tocsr()
    rhs = np.concatenate([c[g > 0] for c, g in zip(b, diagonal)]).astype(np.float64)
    count = {"n": 0}

    def step(_: Any) -> None:
        count["n"] += 1

    begin = time.perf_counter()
    preconditioner = None
    if solver == "pyamg":
        import pyamg

        axis = np.repeat(np.arange(3), [int((g > 0).sum()) for g in diagonal])
        translations = (axis[:, None] == np.arange(3)[None, :]).astype(float)
        hierarchy = pyamg.smoothed_aggregation_solver(matrix, B=translations, symmetry="symmetric", max_coarse=500)
        preconditioner = hierarchy.aspreconditioner(cycle="V")
    setup = time.perf_counter() - begin
    begin = time.perf_counter()
    # The Euclidean tolerance is tightened until the largest entry meets ours.
    x, tolerance = np.zeros_like(rhs), TOLERANCE
    for _ in range(6):
        x, _ = cg(matrix, rhs, x0=x, rtol=tolerance, maxiter=LIMIT, M=preconditioner, callback=step)
        residual = float(np.abs(rhs - matrix @ x).max() / np.abs(rhs).max())
        if residual <= TOLERANCE:
            break
        tolerance *= 0.3
    seconds = time.perf_counter() - begin
    return {"iterations": count["n"], "residual": residual, "seconds": seconds, "setup": setup}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case and solver, each in its own process; prints the table."""
    n = options.resolution or RESOLUTION
    threads = max(options.threads)
    chosen = SOLVERS + tuple(NOT_WRITTEN) if options.solver in (None, "all") else (options.solver,)
    rows, lines = [], [["case", "solver", "iterations", "set-up s", "solve s", "core-us/unknown", "GB", "residual"]]
    for case in CASES:
        for solver in chosen:
            reason = NOT_WRITTEN.get(solver)
            if solver in ("pyamg", "scipy-cg") and n > LARGEST_ASSEMBLED:
                reason = f"an assembled matrix of {n} cells does not fit"
            if reason:
                rows.append(BenchRow(f"viscosity/{case}", solver, n, threads=threads, skipped=reason))
                lines.append([case, solver, reason, "", "", "", "", ""])
                continue
            r = isolated.call(f"{__name__}:measure", n=n, solver=solver, case=case, threads=threads)
            rows.append(row(f"viscosity/{case}", solver, n, threads, r))
            lines.append([case, solver, *figures(r, threads)])
    for name, (iterations, seconds, gb) in PUBLISHED.get(n, {}).items():
        lines.append(["delta", f"published {name}, 16 cores", str(iterations), "-", f"{seconds}", "-", f"{gb}", "-"])
    options.say(aligned(lines))
    return rows


def row(case: str, solver: str, n: int, threads: int, r: dict[str, Any]) -> BenchRow:
    return BenchRow(
        case,
        solver,
        n,
        dofs=r["unknowns"],
        threads=threads,
        iterations=r["iterations"],
        seconds=r["seconds"],
        setup_seconds=r["setup"],
        peak_gb=r["peak"] / 1e9,
        residual=r["residual"],
    )


def figures(r: dict[str, Any], threads: int) -> list[str]:
    cost = (r["setup"] + r["seconds"]) * threads / r["unknowns"] * 1e6
    numbers = [f"{r['setup']:.2f}", f"{r['seconds']:.2f}", f"{cost:.2f}", f"{r['peak'] / 1e9:.2f}"]
    return [str(r["iterations"]), *numbers, f"{r['residual']:.1e}"]
