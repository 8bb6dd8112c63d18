"""On any domain a multigrid cycle is a symmetric, positive preconditioner, and the answer is the reference's."""

import numpy as np
import pytest
from hypothesis import given
from test_projection import FEW, GRID, containers, liquids, number, seeds

from glug.geometry.solids.field import SolidField, Walls, sample_solids
from glug.grids.regular import CENTRE, Grid
from glug.physics.pressure import levels as pressure_levels
from glug.physics.pressure.problem import PressureProblem
from glug.physics.viscosity import levels as viscosity_levels
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import Vector, zeros_like
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel, chebyshev


def tank() -> ViscosityProblem:
    """A full box with an open top, on any grid."""
    grid = Grid(1.0 / 16, (22, 22, 22), (-3, -3, -3))
    phi = (grid.points(CENTRE)[..., 1] - 0.63).astype(np.float32)
    return ViscosityProblem.build(grid, phi, sample_solids(grid, Walls((0.0,) * 3, (1.0,) * 3), [], 0.0), 10.0)


def random_vector(system, rng) -> Vector:
    return tuple(np.where(m > 0, rng.normal(size=m.shape), 0.0).astype(np.float32) for m in system.mask)


def dot(a: Vector, b: Vector) -> float:
    return sum(float((x.astype(np.float64) * y).sum()) for x, y in zip(a, b))


def check(cycle: Multigrid, rng) -> None:
    system = cycle.levels[0]
    x, y = random_vector(system, rng), random_vector(system, rng)
    mx, my, scratch = zeros_like(system), zeros_like(system), zeros_like(system)
    energy = cycle(x, mx, scratch)
    cycle(y, my, scratch)
    size = np.sqrt(dot(x, mx) * dot(y, my))
    assert energy >= 0.0
    assert energy == pytest.approx(dot(x, mx), rel=1e-4, abs=1e-12)
    assert abs(dot(x, my) - dot(y, mx)) <= 1e-5 * size


@FEW
@given(liquids(), containers, seeds, number(0.1, 1e4))
def test_viscosity(phi: np.ndarray, solid: SolidField, seed: int, diffusion: float):
    system = ViscosityProblem.build(GRID, phi, solid, diffusion).system()
    if system.unknowns:
        levels = viscosity_levels.hierarchy(system)
        check(Multigrid(levels, GaussSeidel(2), 2), np.random.default_rng(seed))
        check(Multigrid(levels, chebyshev(3, 3.0)), np.random.default_rng(seed))


@FEW
@given(liquids(), containers, seeds)
def test_pressure(phi: np.ndarray, solid: SolidField, seed: int):
    problem = PressureProblem.build(GRID, phi, solid)
    if problem.system.unknowns and problem.components.free.all():
        levels = pressure_levels.hierarchy(problem.system)
        check(Multigrid(levels, GaussSeidel(2)), np.random.default_rng(seed))


def test_a_smoother_without_its_adjoint_is_not_symmetric():
    """Negative control: the check above can fail."""

    class OneWay(GaussSeidel):
        def backward(self, level, b, x, scratch):
            self.forward(level, b, x, scratch)

    rng = np.random.default_rng(0)
    system = tank().system()
    with pytest.raises(AssertionError):
        check(Multigrid(viscosity_levels.hierarchy(system), OneWay(2)), rng)
