"""Two phases of the fast path against the assembled problem, and a light bubble against constraint bubbles."""

import numpy as np
import pytest
from setups import PRESSURE

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.physics.air.two_phase import affine_air, two_phase_problem
from glug.physics.pressure.levels import PressureLevel, hierarchy
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.bubbles import two_phase_pressure
from glug.physics.reference.scenes import AssembledRegions
from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.bubbles import column

N = 16
LIQUID = 1000.0


def tank(open_top: bool):
    grid = Grid(1.0 / N, (N + 8,) * 3, (-4,) * 3)
    solid = sample_solids(grid, Walls((0.013, 0.0, 0.007), (0.97, np.inf if open_top else 1.0, 0.981)), [], 0.0)
    x = grid.points(CENTRE)
    phi = np.maximum(x[..., 1] - 0.8, 0.22 - np.linalg.norm(x - (0.5, 0.4, 0.47), axis=-1))
    return grid, phi.astype(np.float32), solid


def falling(grid: Grid) -> Staggered:
    u, v, w = grid.staggered()
    return u, v - np.float32(1.0), w


@pytest.mark.parametrize("air", [1.2, 100.0])
@pytest.mark.parametrize("solver", ["multigrid", "reference"])
def test_equals_the_assembled_problem(air: float, solver: str):
    grid, phi, solid = tank(open_top=False)
    problem = two_phase_problem(grid, phi, solid, air / LIQUID)
    velocity = falling(grid)
    _, stats = problem.project(velocity, SolveLimits(1e-7, 3000), solver=PRESSURE[solver])
    assert stats.converged
    operators = Operators(grid)
    area = np.concatenate([a.ravel() for a in solid.area]).astype(float)
    exact = two_phase_pressure(
        operators, area, phi.ravel().astype(float), problem.liquid.ravel() > 0, density=LIQUID, air_density=air
    )
    u = exact.solve(np.concatenate([a.ravel() for a in falling(grid)]).astype(float)).u
    wet = (np.abs(operators.D.T) @ (phi.ravel() < 0).astype(float) > 0) & exact.moves
    apart = np.abs(np.concatenate([a.ravel() for a in velocity]) - u)[wet].max()
    assert apart <= 2e-4 * np.abs(u[wet]).max()


def test_light_air_is_a_constraint_bubble():
    grid, phi, solid = tank(open_top=True)
    light = falling(grid)
    two_phase_problem(grid, phi, solid, 1e-6).project(light, SolveLimits(1e-6, 3000))
    bubbles, without = falling(grid), falling(grid)
    problem = PressureProblem.build(grid, phi, solid)
    problem.project(without, SolveLimits(1e-6, 500))
    problem = problem.with_closed_air()
    problem.project(bubbles, SolveLimits(1e-6, 500))
    links = [link > 0 for link in problem.system.links]

    def apart(one: Staggered, other: Staggered) -> float:
        return max(float(np.abs(a - b)[k].max()) for a, b, k in zip(one, other, links))

    assert apart(light, bubbles) < 0.05 * apart(light, without)


def test_affine_air_is_the_assembled_projection_and_moves_as_two_phases_do():
    n = 28
    grid = Grid(1.0 / n, (n + 4,) * 3, (-2,) * 3)
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), [], 0.0)
    x = grid.points(CENTRE)
    phi = (0.33 - np.linalg.norm(x - (0.48, 0.5, 0.52), axis=-1)).astype(np.float32)
    problem = two_phase_problem(grid, phi, solid, 1.2e-3)
    air = problem.with_affine_regions([affine_air(problem)])
    regions = air.regions.regions
    assert regions.count == 1
    swift, direct, whole = falling(grid), falling(grid), falling(grid)
    _, stats = air.project(swift, SolveLimits(1e-6, 2000))
    exact = problem.with_affine_regions([affine_air(problem)], AssembledRegions)
    exact.project(direct, SolveLimits(1e-6, 1), solver=PRESSURE["reference"])
    _, two = problem.project(whole, SolveLimits(1e-6, 2000))
    assert stats.converged and two.converged
    assert stats.unknowns == two.unknowns - regions.cells + 11
    open_faces = [link > 0 for link in problem.system.links]
    scale = max(float(np.abs(u)[k].max()) for u, k in zip(direct, open_faces))
    assert max(float(np.abs(a - b)[k].max()) for a, b, k in zip(swift, direct, open_faces)) < 1e-4 * scale
    # In the water, the largest difference from a pressure in every cell.
    wet = [k.copy() for k in open_faces]
    for a, w in enumerate(wet):
        lower = np.take(problem.wet, range(-1, grid.shape[a]), axis=a, mode="wrap") > 0
        upper = np.take(problem.wet, range(grid.shape[a] + 1), axis=a, mode="wrap") > 0
        w &= lower & upper
    off = max(float(np.abs(a - b)[w].max()) for a, b, w in zip(swift, whole, wet))
    print(f"affine air: {stats.unknowns} of {two.unknowns} unknowns, water {off / scale:.1e} from two phases")
    assert off < 1e-2 * scale


def bubbly(n: int):
    """A closed column with a large bubble, 100 small ones and air on top, and the problem of 1000:1."""
    grid, phi, solid = column(n)
    return two_phase_problem(grid, phi, solid, 1e-3), falling(grid)


@pytest.mark.parametrize(("solver", "most"), [("multigrid", 60), ("jacobi-cg", 1500)])
def test_a_closed_box_of_many_bubbles_converges(solver: str, most: int):
    problem, velocity = bubbly(48)
    _, stats = problem.project(velocity, SolveLimits(1e-5, most), solver=PRESSURE[solver])
    print(f"{solver}: {stats.iterations} iterations")
    assert stats.converged and stats.residual <= 1e-5
    assert stats.iterations <= most


def test_coarse_grids_of_an_open_box_stay_tied_to_the_air_above():
    """Else their constant is free, and cycles take twice as many iterations: 72 against 38 at 64 cells."""
    grid, phi, _ = column(48)
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (1.0, np.inf, 1.0)), [], 0.0)
    problem = two_phase_problem(grid, phi, solid, 1e-3)
    energy = []
    for level in hierarchy(problem.system):
        one = (level.diagonal > 0).astype(np.float32)
        energy.append(level.apply((one,), (np.zeros_like(one),)))
    assert len(energy) > 2
    assert energy == pytest.approx([energy[0]] * len(energy), rel=0.01)
    taken = [p.project(v, SolveLimits(1e-5, 200))[1].iterations for p, v in (bubbly(48), (problem, falling(grid)))]
    print(f"closed and open: {taken} iterations")
    assert taken[1] < 1.3 * taken[0]


def test_a_constant_pressure_costs_nothing_beside_heavy_and_light():
    """Rows with a rounded diagonal would hold it, or worse: this is why they are written in differences."""
    problem, _ = bubbly(32)
    level = problem.system
    one = np.float32(0.7) * (level.diagonal > 0)
    q = np.zeros_like(one)
    level.apply((one,), (q,))
    assert not q.any()
    rounded = PressureLevel(level.shape, level.phi, level.liquid, level.area, level.links, level.diagonal, level.blocks)
    rounded.apply((one,), (q,))
    print(f"rounded rows hold a constant by {q.min():.1e} to {q.max():.1e}")
    assert q.min() < -1e-5 and q.max() > 1e-5


def test_coarse_grids_keep_constants_and_restrict_by_the_transpose():
    problem, _ = bubbly(32)
    fine, coarse = hierarchy(problem.system)[:2]
    one = np.zeros_like(fine.diagonal)
    fine.interpolate(((coarse.diagonal > 0).astype(np.float32),), (one,))
    assert one[fine.diagonal > 0] == pytest.approx(1.0, abs=1e-6)
    rng = np.random.default_rng(3)
    r, e = (rng.standard_normal(m.shape).astype(np.float32) * (m > 0) for m in (fine.diagonal, coarse.diagonal))
    b, x = np.zeros_like(e), np.zeros_like(r)
    fine.restrict((r,), coarse, (b,))
    fine.interpolate((e,), (x,))
    assert np.vdot(b, e) == pytest.approx(np.vdot(r, x), rel=1e-4)
