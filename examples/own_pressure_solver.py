"""Solve for pressure your own way: here with conjugate gradients of SciPy, by a name that scenes can say."""

import time
from collections.abc import Sequence

import numpy as np
from scipy.sparse.linalg import cg

import glug
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.scenes import assemble_pressure
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats


def scipy_cg(
    problem: PressureProblem, b: np.ndarray, given: Sequence[np.ndarray], q: np.ndarray, limits: SolveLimits
) -> SolveStats:
    """Solve A q = b over the liquid cells, in place; q is zero elsewhere."""
    begin, steps = time.perf_counter(), list[np.ndarray]()
    problem.eliminated.prepare((b,), given)  # what rigid bodies and bubbles do to b; without any, nothing
    A, liquid = assemble_pressure(problem), problem.liquid > 0
    right = b[liquid].astype(np.float64)
    size = max(np.abs(right).max(initial=0.0), limits.floor)
    q[liquid], _ = cg(
        A, right, rtol=0.0, atol=limits.tolerance * size, maxiter=limits.max_iterations, callback=steps.append
    )
    residual = np.abs(right - A @ q[liquid]).max(initial=0.0) / max(size, 1e-300)
    seconds = time.perf_counter() - begin
    return SolveStats("scipy-cg", len(right), len(steps), residual, seconds, residual <= limits.tolerance)


glug.register_pressure_solver("scipy-cg", scipy_cg)


def velocities(solver: str, steps: int = 5) -> np.ndarray:
    """The particles' velocities (n, 3) [m/s] a few steps after a dam broke."""
    changes = {"domain.resolution": 32, "solver.pressure": solver, "solver.tolerance.pressure": 1e-9}
    simulation = glug.Simulation(glug.load("dam-break-2d", changes))
    for _ in range(steps):
        simulation.step_once()
    return simulation.state.particles.velocity.copy()


if __name__ == "__main__":
    ours, built_in = velocities("scipy-cg"), velocities("reference")
    print(f"fastest {np.abs(ours).max():.2f} m/s, largest difference {np.abs(ours - built_in).max():.1e} m/s")
