"""Studies of rigid bodies: what they measure on the coarsest grids."""

import pytest

from glug.studies.registry import StudyOptions, run_study
from glug.studies.rigid_bodies import first_share
from glug.studies.sinking_sphere import FACTOR, settled_speed, stokes_speed


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
    coarse, fine = (stokes_speed() / settled_speed(n, 0.05) / FACTOR - 1.0 for n in (4, 6))
    assert abs(fine) < abs(coarse)
    assert abs(fine) < 0.1
