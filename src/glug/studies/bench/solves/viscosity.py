"""`glug bench viscosity-solve`: the published viscosity problem by every solver, beside the published figures.

It answers one question: how many core-microseconds does an unknown cost, to a recomputed residual of 1e-6 of the
right-hand side's, set-up included? A problem is solved once to load the kernels and, where that takes little time, the
fastest of three more solves counts: runs solve step after step, and other programs only ever add to a time.
"""

import time
from typing import Any

import numpy as np

from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves import measured
from glug.studies.bench.solves.measured import Result
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned
from glug.view.plot import Line

RESOLUTION = 128
TOLERANCE = 1e-6
LIMIT = 3000  # iterations
PUBLISHED_CASES = ("delta", "smooth")
SOLVERS = ("default", "box", "chebyshev", "jacobi-mg", "jacobi-cg", "ic-cg", "pyamg", "scipy-cg")
ASSEMBLED = ("ic-cg", "pyamg", "scipy-cg")
LARGEST_ASSEMBLED = 128  # an assembled matrix of the next size does not fit
BOX_SWEEPS, BOX_REPEATS = 2, 2

# Aanjaneya et al. 2019, Table 2, 16 cores: iterations, seconds, GB.
PUBLISHED = {
    128: {"box multigrid": (3, 27.3, 0.256), "ICPCG": (39, 6.7, 1.024), "CG": (377, 35.6, 1.536)},
    256: {"box multigrid": (3, 119.6, 2.18), "ICPCG": (53, 95.3, 8.32), "CG": (707, 619.4, 11.78)},
    512: {"box multigrid": (4, 834.7, 15.94)},
}
PUBLISHED_CORES = 16


def measure(n: int, solver: str, case: str) -> Result:
    """Solve in this process; set-up is from the assembled problem's fields to a solver that is ready."""
    return measured.fastest(lambda size: _solve(size, solver, case), n)


def _solve(n: int, solver: str, case: str) -> Result:
    from glug.solvers.cg import zeros_like
    from glug.studies.problems.viscosity import CASES

    problem = CASES[case].problem(n)
    begin = time.perf_counter()
    system = problem.system()
    ready = time.perf_counter() - begin
    b = CASES[case].right(problem.grid, system)
    if solver in ASSEMBLED:
        return {**_run_assembled(problem, solver, b), "unknowns": system.unknowns}
    result = _run(system, solver, b, zeros_like(system, np.float64), problem.stiff_above)
    return {**result, "setup": result["setup"] + ready, "unknowns": system.unknowns}


def _run(system: Any, solver: str, b: Any, x: Any, stiff_above: float | None) -> Result:
    from glug.physics.viscosity.boxes import BoxSmoother
    from glug.physics.viscosity.levels import hierarchy
    from glug.physics.viscosity.preconditioners import MULTIGRID, solve_parts
    from glug.physics.viscosity.preconditioners import SOLVERS as METHODS
    from glug.solvers.cg import Cycle, solve_with_fallback
    from glug.solvers.multigrid import Multigrid
    from glug.solvers.smoothers import chebyshev, damped_jacobi

    smoothers: dict[str, Any] = {
        "box": BoxSmoother(BOX_SWEEPS),
        "chebyshev": chebyshev(3, 3.0),
        "jacobi-mg": damped_jacobi(2, 0.5),
    }
    residuals: list[float] = []
    if solver in smoothers:
        repeats = BOX_REPEATS if solver == "box" else 0
        choices = [lambda: Cycle(system, Multigrid(hierarchy(system), smoothers[solver], repeats))]
        stats = solve_with_fallback(system, choices, b, x, SolveLimits(TOLERANCE, LIMIT), residuals=residuals)
    else:
        method = METHODS.get(solver, MULTIGRID)
        stats = solve_parts(
            system, method, b, x, SolveLimits(TOLERANCE, LIMIT), stiff_above=stiff_above, residuals=residuals
        )
    return measured.numbers(stats, residuals)


def _run_assembled(problem: Any, solver: str, b: Any) -> Result:
    from scipy.sparse.linalg import LinearOperator, cg

    from glug.physics.viscosity.strain_rows import strain_rows
    from glug.solvers.incomplete import AssembledCholesky

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
    elif solver == "ic-cg":
        preconditioner = LinearOperator(matrix.shape, AssembledCholesky(matrix))
    setup = time.perf_counter() - begin
    begin = time.perf_counter()
    # The Euclidean tolerance is tightened until the largest entry meets ours.
    x, tolerance, residual = np.zeros_like(rhs), TOLERANCE, 1.0
    for _ in range(6):
        x, _ = cg(matrix, rhs, x0=x, rtol=tolerance, maxiter=LIMIT, M=preconditioner, callback=step)
        residual = float(np.abs(rhs - matrix @ x).max() / np.abs(rhs).max())
        if residual <= TOLERANCE:
            break
        tolerance *= 0.3
    seconds = time.perf_counter() - begin
    return {"iterations": count["n"], "residual": residual, "seconds": seconds, "setup": setup, "residuals": []}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case and solver, each in its own process; prints the table."""
    from glug.studies.problems.viscosity import CASES

    n = options.resolution or RESOLUTION
    threads = max(options.threads)
    cases = measured.chosen("case", options.case, PUBLISHED_CASES, CASES)
    rows, lines = [], [measured.HEADER]
    curves: dict[str, list[Line]] = {case: [] for case in cases}
    for case in cases:
        for solver in measured.chosen("solver", options.solver, SOLVERS, SOLVERS):
            if solver in ASSEMBLED and n > LARGEST_ASSEMBLED:
                reason = f"an assembled matrix of {n} cells does not fit"
                rows.append(BenchRow(f"viscosity/{case}", solver, n, threads=threads, skipped=reason))
                lines.append([case, solver, f"skipped: {reason}", *[""] * 5])
                continue
            r = measured.alone(measure, threads, n=n, solver=solver, case=case)
            rows.append(measured.row(f"viscosity/{case}", solver, n, threads, r))
            lines.append([case, solver, *measured.figures(r, threads)])
            curves[case] += measured.curve(solver, r, threads)
    for name, (iterations, seconds, gb) in PUBLISHED.get(n, {}).items() if "delta" in cases else ():
        lines.append(["delta", f"published {name}, 16 cores", str(iterations), "-", f"{seconds}", "-", f"{gb}", "-"])
    options.say(aligned(lines))
    if options.plot is not None:
        measured.draw("viscosity", n, curves, options.plot)
    return rows
