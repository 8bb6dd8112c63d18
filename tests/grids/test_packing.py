"""Parts that lie far apart are moved together: nothing is lost, nothing meets, and a solve has the same solution."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import glug.grids.packing
from glug.geometry.solids.field import sample_solids
from glug.grids.blocks import active_blocks
from glug.grids.packing import pack_parts
from glug.physics.viscosity import preconditioners as viscosity
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.cg import zeros_like
from glug.solvers.limits import SolveLimits
from glug.studies.problems.systems import BOX, add_balls, window
from glug.studies.problems.viscosity import noise

WINDOW = (130, 95, 141)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10_000))
@example(6, 7074)  # boxes that meet only once others are one
def test_every_active_cell_has_a_place_of_its_own_and_its_neighbours(count, seed):
    rng = np.random.default_rng(seed)
    active = np.zeros(WINDOW, np.uint8)
    for centre in rng.integers(2, np.array(WINDOW) - 2, (count, 3)):
        reach = rng.integers(1, 6, 3)
        active[tuple(slice(max(c - r, 1), c + r) for c, r in zip(centre, reach))] = 1
    active[-1], active[:, -1], active[:, :, -1] = 0, 0, 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glug.grids.packing, "WORTH", 10.0)
        packing = pack_parts(active_blocks(active), WINDOW)
    assume(packing is not None)
    number = np.arange(1, active.size + 1).reshape(WINDOW)
    moved, cells = packing.pack(number), packing.pack(active)
    assert np.array_equal(np.sort(moved[cells > 0]), number[active > 0])
    for axis in range(3):  # what is next to an active cell is next to it still
        for side in (-1, 1):
            before = np.roll(number, side, axis)[active > 0]
            after = np.roll(moved, side, axis)[cells > 0]
            assert np.array_equal(after[np.argsort(moved[cells > 0])], before)
    back = np.zeros_like(active)
    packing.unpack(cells, back)
    assert np.array_equal(back, active)


def test_one_part_stays_where_it_is():
    active = np.zeros(WINDOW, np.uint8)
    active[5:20, 5:20, 5:20] = 1
    assert pack_parts(active_blocks(active), WINDOW) is None


def lumps_on_walls(n: int) -> ViscosityProblem:
    """Half balls on the floor and on the ceiling of a box, and a ball between them."""
    grid = window(n, (1.0, 1.0, 1.0))
    phi = np.full(grid.shape, 1.0, np.float32)
    add_balls(grid, phi, np.array([[0.2, 0.0, 0.2], [0.8, 1.0, 0.8], [0.2, 0.5, 0.9]]), np.full(3, 0.06))
    return ViscosityProblem.build(grid, phi, sample_solids(grid, BOX, [], 0.0), float(n * n))


@pytest.mark.parametrize("solver", ["multigrid", "jacobi-cg"])
def test_packed_lumps_have_the_solution_of_the_whole_window(solver, monkeypatch):
    problem = lumps_on_walls(96)
    system = problem.system()
    b = noise(problem.grid, system)
    solutions = []
    for together in (True, False):
        if not together:
            monkeypatch.setattr(viscosity, "pack_parts", lambda blocks, window: None)
        packing = viscosity.pack_parts(system.blocks, system.shape)
        assert (packing is not None) == together
        x = zeros_like(system, np.float64)
        stats = viscosity.solve_parts(system, viscosity.SOLVERS[solver], b, x, SolveLimits(1e-9, 1000))
        assert stats.converged
        solutions.append(x)
    largest = max(float(np.abs(u).max()) for u in solutions[1])
    for u, v in zip(*solutions):
        assert np.abs(u - v).max() <= 1e-6 * largest
