"""`glug bench stokes-solve`: pressure and viscosity in one solve, beside the three of a split step and assembled ones.

It answers two questions: how many iterations does one solve take, whatever mu dt / (rho dx^2) and the grid, and what
does it cost beside projection, viscosity, projection? All are solved to 1e-6: the residual of every velocity over the
largest force, that of every cell's continuity over the largest flux that the velocity before leaves. The assembled
forms are the whole matrix (factorised), and the positive one of stresses and pressures (Batty 2010, eq. 4.41) by
conjugate gradients, to a Euclidean residual of 1e-6 of their own right-hand side.
"""

import time
from typing import Any

import numpy as np

from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves import measured
from glug.studies.bench.solves.measured import Result
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

RESOLUTION = 64
TOLERANCE = 1e-6
LIMIT = 2000  # iterations
DIFFUSIONS = (0.1, 10.0, 1e3, 1e5)  # mu dt / (rho dx^2)
ONE = 1e3  # that of the assembled peers
SOLVERS = ("stokes", "block-triangular", "split", "direct", "ic-cg", "pyamg")
USUAL = ("stokes", "split")
LARGEST = {"direct": 24, "ic-cg": 48, "pyamg": 48}  # cells along a side that a matrix of each can hold


def measure(n: int, solver: str, case: str, diffusion: float) -> Result:
    """Solve in this process; set-up is from the weights to a solver that is ready."""
    return measured.fastest(lambda size: _solve(size, solver, case, diffusion), n)


def _solve(n: int, solver: str, case: str, diffusion: float) -> Result:
    from glug.physics.reference.stokes import reference_stokes, stress_form
    from glug.studies.problems import stokes

    if solver == "split":
        return _split(n, case, diffusion)
    problem = stokes.problem(case, n, diffusion)
    velocity = stokes.waves(problem.grid)
    if solver == "direct":
        return measured.numbers(reference_stokes(problem, velocity)[1])
    if solver in LARGEST:
        return _conjugate(*stress_form(problem, velocity), solver)
    choices = [problem.block_triangular] if solver == "block-triangular" else None
    _, stats = problem.solve(velocity, SolveLimits(TOLERANCE, LIMIT), choices=choices)
    return measured.numbers(stats)


def _split(n: int, case: str, diffusion: float) -> Result:
    """Projection, viscosity, projection: the sums of the three."""
    from glug.physics.pressure.problem import PressureProblem
    from glug.physics.viscosity.problem import ViscosityProblem
    from glug.studies.problems import stokes

    grid, phi, solid = stokes.GEOMETRIES[case](n)
    velocity, limits = stokes.waves(grid), SolveLimits(TOLERANCE, LIMIT)
    begin = time.perf_counter()
    pressure = PressureProblem.build(grid, phi, solid)
    viscous = ViscosityProblem.build(grid, phi, solid, stokes.thickness(case, n, diffusion))
    built = time.perf_counter() - begin
    three = [
        pressure.project(velocity, limits)[1],
        viscous.solve(velocity, limits),
        pressure.project(velocity, limits)[1],
    ]
    return {
        "residuals": [],
        "iterations": sum(s.iterations for s in three),
        "residual": max(s.residual for s in three),
        "seconds": sum(s.seconds for s in three),
        "setup": built + sum(s.setup_seconds for s in three),
        "unknowns": sum(s.unknowns for s in three[:2]),
    }


def _conjugate(matrix: Any, b: np.ndarray, solver: str) -> Result:
    from scipy.sparse.linalg import LinearOperator, cg

    from glug.solvers.incomplete import AssembledCholesky

    count, begin = [0], time.perf_counter()
    if solver == "ic-cg":
        precondition = LinearOperator(matrix.shape, AssembledCholesky(matrix))
    else:
        import pyamg

        precondition = pyamg.smoothed_aggregation_solver(matrix, symmetry="symmetric").aspreconditioner()
    setup = time.perf_counter() - begin

    def tick(_: np.ndarray) -> None:
        count[0] += 1

    x, _ = cg(matrix, b, rtol=TOLERANCE, maxiter=LIMIT, M=precondition, callback=tick)
    residual = float(np.linalg.norm(b - matrix @ x) / np.linalg.norm(b))
    seconds = time.perf_counter() - begin - setup
    numbers = {"iterations": count[0], "residual": residual, "seconds": seconds, "setup": setup}
    return {**numbers, "residuals": [], "unknowns": len(b)}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per case, thickness and solver, each in its own process; prints the table."""
    from glug.studies.problems.stokes import GEOMETRIES

    n, threads = options.resolution or RESOLUTION, max(options.threads)
    rows, lines = [], [[measured.HEADER[0], "mu dt/(rho dx^2)", *measured.HEADER[1:]]]
    for case in measured.chosen("case", options.case, GEOMETRIES, GEOMETRIES):
        for solver in measured.chosen("solver", options.solver, USUAL, SOLVERS):
            if n > LARGEST.get(solver, n):
                reason = f"at most {LARGEST[solver]} cells along a side fit"
                rows.append(BenchRow(f"stokes/{case}", solver, n, threads=threads, skipped=reason))
                lines.append([case, "", solver, f"skipped: {reason}", *[""] * 5])
                continue
            for diffusion in (ONE,) if solver in LARGEST else DIFFUSIONS:
                r = measured.alone(measure, threads, n=n, solver=solver, case=case, diffusion=diffusion)
                rows.append(measured.row(f"stokes/{case}/{diffusion:g}", solver, n, threads, r))
                lines.append([case, f"{diffusion:g}", solver, *measured.figures(r, threads)])
    options.say(aligned(lines))
    return rows
