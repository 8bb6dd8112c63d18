"""Studies of rigid bodies: what they measure on the coarsest grids."""

import pytest

from glug.studies.registry import StudyOptions, run_study
from glug.studies.validate.rigid_bodies import draught, first_share, neutral, restless
from glug.studies.validate.sinking_sphere import FACTOR, settled_speed, settled_speed_at_once, stokes_speed


def test_added_mass_is_within_the_errors_that_are_stated() -> None:
    rows = run_study("added-mass", StudyOptions(largest_grid=64))
    volumes = {row.grid: row.ratio for row in rows if row.table == "volumes"}
    assert volumes[32] == pytest.approx(1.0, abs=0.01)
    assert volumes[64] == pytest.approx(1.0, abs=0.003)


@pytest.mark.parametrize("cells", [8, 16])
def test_a_box_sinks_through_gaps_of_half_a_cell_but_not_on_whole_cells(cells: int) -> None:
    assert first_share(cells, voxelised=False) > 0.01
    assert abs(first_share(cells, voxelised=True)) < 1e-9


@pytest.mark.slow
def test_a_ball_sinks_at_stokes_speed_over_the_wall_factor() -> None:
    coarse, fine, finest = (abs(stokes_speed() / settled_speed(n, 0.05) / FACTOR - 1.0) for n in (4, 6, 10))
    assert finest < fine < coarse
    assert finest < 0.05
    long, short, shorter = (stokes_speed() / settled_speed(4, step) for step in (0.1, 0.05, 0.025))
    assert abs(shorter - short) < abs(short - long)


@pytest.mark.parametrize("step", [1.0, 25.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_in_one_solve_its_speed_does_not_depend_on_the_step(step: float) -> None:
    """Within 3 % at 4 cells a radius, where split solves are 12 % off with steps of 25 a^2 / nu."""
    assert stokes_speed() / settled_speed_at_once(4, step) == pytest.approx(FACTOR, rel=0.03)


@pytest.mark.slow
def test_in_one_solve_eight_cells_a_radius_are_within_a_percent() -> None:
    assert stokes_speed() / settled_speed_at_once(8, 25.0) == pytest.approx(FACTOR, rel=0.01)


@pytest.mark.slow
def test_a_ball_that_the_viscous_solve_does_not_see_sinks_too_fast() -> None:
    assert stokes_speed() / settled_speed(4, 0.05, coupled=False) < 0.5 * FACTOR


@pytest.mark.slow
@pytest.mark.parametrize("dim, seconds", [(2, 8.0), (3, 4.0)])
def test_a_box_floats_as_deep_as_archimedes_says(dim: int, seconds: float) -> None:
    assert draught(dim, 32, 0.5, seconds) == pytest.approx(0.1, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0.01, 0.1, 1.0, 10.0])
def test_boxes_of_any_density_stay_slow(ratio: float) -> None:
    """Slower than a wave of the tank's depth, 500 steps long."""
    assert restless(ratio) < 0.25 * (9.81 * 0.4) ** 0.5


@pytest.mark.slow
def test_a_ball_as_dense_as_the_liquid_stays_at_rest() -> None:
    assert neutral(24, 1.0) < 1e-4
    assert neutral(24, 1.1) > 1e-3
