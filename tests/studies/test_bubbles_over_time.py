"""Long runs of bubbles, beside their controls: volumes that are kept, and a bottle that glugs."""

import pytest

from glug.studies.validate.air import rising_bubble, water_cooler


@pytest.mark.slow
def test_bubbles_keep_their_volume_over_200_frames():
    kept = rising_bubble.follow(1.0, 40)
    assert kept["frames"] == 200
    assert kept["sum_drift_percent"] < 1.0
    assert kept["large_bubble_drift_percent"] < 3.0
    assert kept["voids_gone_after_3_steps_percent"] > 90.0


@pytest.mark.slow
def test_uncorrected_they_do_not():
    lost = rising_bubble.follow(0.0, 40, frames=60)
    assert lost["sum_drift_percent"] > 10.0
    assert lost["large_bubble_drift_percent"] > 10.0


@pytest.mark.slow
def test_a_bottle_on_its_head_glugs():
    assert water_cooler.follow("constraint", 48).glugs >= 5


@pytest.mark.slow
def test_in_a_vacuum_it_pours():
    assert water_cooler.follow("vacuum", 48).glugs <= 1
