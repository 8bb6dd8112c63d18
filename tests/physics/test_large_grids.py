"""Coarse grids hold a viscous liquid by its walls as firmly as fine ones do, however many there are."""

import numpy as np
import pytest

from glug.geometry.solids.field import sample_solids
from glug.grids.coarsen import every_other
from glug.grids.regular import Grid
from glug.physics.viscosity import levels
from glug.physics.viscosity.preconditioners import MULTIGRID, solve_parts
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.studies.problems import systems

WINDOW = 2  # empty cells around the walls: the fewer, the finer the grids whose walls lie at their border


def continued_constant(distance: np.ndarray, dx: float, shape: tuple[int, int, int]) -> np.ndarray:
    """Control: what lies beyond the fine grid is as far away as its border."""
    for a in range(3):
        distance = distance.take(np.clip(2 * np.arange(-1, shape[a]), 0, distance.shape[a] - 1), axis=a)
    return distance


@pytest.fixture
def near_borders(monkeypatch):
    monkeypatch.setattr(levels, "every_other", continued_constant)


def test_distances_of_walls_go_on_beyond_the_window():
    i, j, k = np.meshgrid(np.arange(9), np.arange(11), np.arange(7), indexing="ij", sparse=True)
    fine = (0.1 * (0.48 * i - 0.6 * j + 0.64 * k - 1.0)).astype(np.float32)
    coarse = every_other(fine, 0.1, (7, 8, 6))
    i, j, k = np.meshgrid(*(2 * np.arange(-1, n) for n in (7, 8, 6)), indexing="ij", sparse=True)
    np.testing.assert_allclose(coarse, 0.1 * (0.48 * i - 0.6 * j + 0.64 * k - 1.0), atol=1e-5)  # float32, six cells on


def test_no_distance_beyond_the_window_changes_faster_than_space_does():
    """Parts that were moved together have steps between them."""
    fine = np.full((9, 9, 9), 100.0, np.float32)
    fine[0] = 0.5
    coarse = every_other(fine, 0.1, (7, 7, 7))
    np.testing.assert_allclose(coarse[0], 0.3, atol=1e-6)


def largest_eigenvalue(n: int) -> float:
    """Of a V-cycle times the matrix of a full box, by powers."""
    side = n + 2 * WINDOW + 1
    grid = Grid(1.0 / n, (side,) * 3, (-WINDOW,) * 3)
    phi = np.full(grid.shape, -1.0, np.float32)
    system = ViscosityProblem.build(grid, phi, sample_solids(grid, systems.BOX, [], 0.0), float(n * n)).system()
    cycle = Multigrid(levels.hierarchy(system), GaussSeidel(2))
    x, q, scratch = systems.smooth(grid, system), zeros_like(system), zeros_like(system)
    quotient = 0.0
    for _ in range(20):
        size = np.float32(1.0 / np.sqrt(system.apply(x, q)))
        q, z = tuple(size * a for a in q), zeros_like(system)
        quotient = cycle(q, z, scratch)
        x = z
    return quotient


def test_coarse_grids_never_correct_too_far():
    """Twice what is missing, and a second visit undoes the first."""
    coarse, fine = largest_eigenvalue(32), largest_eigenvalue(64)
    print(f"largest eigenvalues: {coarse:.3f} at 32 cells, {fine:.3f} at 64")
    assert fine <= 1.1


def test_walls_nearer_than_they_are_let_coarse_grids_correct_too_far(near_borders):
    """Negative control."""
    coarse, fine = largest_eigenvalue(32), largest_eigenvalue(64)
    print(f"largest eigenvalues: {coarse:.3f} at 32 cells, {fine:.3f} at 64")
    assert fine > 1.2
    assert fine > coarse + 0.1


def iterations(n: int, monkeypatch) -> int:
    """For a smooth right-hand side."""
    monkeypatch.setattr(systems, "PADDING", WINDOW)
    problem = systems.viscosity_problem(n)
    system = problem.system()
    x = zeros_like(system, np.float64)
    stats = solve_parts(system, MULTIGRID, systems.smooth(problem.grid, system), x, SolveLimits(1e-6, 60))
    print(f"{stats.iterations} iterations at {n} cells")
    assert stats.converged
    return stats.iterations


@pytest.mark.slow
def test_smooth_right_hand_sides_take_as_many_iterations_on_large_grids(monkeypatch):
    assert iterations(192, monkeypatch) <= iterations(96, monkeypatch) + 1


@pytest.mark.slow
def test_they_take_more_with_walls_nearer_than_they_are(monkeypatch, near_borders):
    """Negative control."""
    assert iterations(192, monkeypatch) > iterations(96, monkeypatch) + 2
