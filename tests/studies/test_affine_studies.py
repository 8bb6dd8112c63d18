"""What affine regions save and what they change: the pool of `splash-tank` and the scene `sinking-bubble`.

Initial accelerations are in `test_bubble_acceleration.py`, fluxes of bubbles in `test_reference_bubbles.py` and
`test_bubbles.py`, as is the piston.
"""

import numpy as np
import pytest

from glug.errors import InputError
from glug.physics.affine.projection import Depths
from glug.physics.affine.system import UNKNOWNS
from glug.physics.pressure.problem import PressureProblem
from glug.physics.pressure.solvers import JACOBI
from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.tiles import pool
from glug.studies.registry import BenchOptions, run_bench
from glug.studies.validate.air.affine_tiles import compare
from glug.studies.validate.air.sinking_bubble import BOTH, START, follow

pytestmark = pytest.mark.slow


def with_tiles(problem: PressureProblem) -> PressureProblem:
    return problem.with_affine_regions([Depths(problem.liquid > 0, 9, 16)])


def fewer(deep: int) -> float:
    """How many times fewer unknowns tiles of 16 cells leave."""
    problem, _ = pool(deep)
    regions = with_tiles(problem).regions.regions
    cells = int(np.count_nonzero(problem.liquid))
    return cells / (cells - regions.cells + UNKNOWNS * regions.count)


def test_a_deep_pool_has_three_times_fewer_unknowns_and_a_shallow_one_has_not():
    assert fewer(104) > 3.0
    assert fewer(48) < 2.5


def test_tiles_take_fewer_iterations_by_the_same_diagonal():
    problem, velocity = pool(64)
    taken = []
    for projection in (problem, with_tiles(problem)):
        start = tuple(u.copy() for u in velocity)
        _, stats = projection.project(start, SolveLimits(1e-5, 5000), solver=JACOBI)
        taken.append(stats.iterations)
    assert taken[1] < 0.8 * taken[0]


def test_a_splash_over_tiles_is_where_it_is_without_and_one_region_is_too_stiff():
    share = compare("splash-tank", {"tiles": 16, "whole": "whole"}, 0.5, resolution=68)
    assert share["tiles"] < 0.01
    assert share["whole"] > 1.2 * share["tiles"]


def test_an_affine_heavy_bubble_sinks_as_two_phases_do_and_one_as_light_as_water_does_not():
    fast = {"solver.pressure": "multigrid"}
    truth = follow(48, {"solver.tiles": 0, **fast})
    fallen = START - truth.height

    def off(changes) -> float:
        return float((np.abs(follow(48, {**fast, **changes}).height - truth.height) / fallen).max())

    assert fallen[-1] > 0.3
    assert off({}) < 0.05
    assert off(BOTH) < 0.05
    assert off({"liquids.heavy.density": 1000}) > 0.9


def test_a_part_of_the_bench_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="valid are column, pool, sinking-bubble, water-cooler and all"):
        run_bench("bubbles", BenchOptions(case="cup"))
