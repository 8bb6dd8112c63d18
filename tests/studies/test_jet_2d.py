"""The measure of a folding plane jet on made-up jets; and, slowly, on the real ones."""

import numpy as np
import pytest

from glug.studies.registry import StudyOptions, run_study
from glug.studies.validate.coiling import reversals
from glug.studies.validate.jet_2d import HYSTERESIS, axis


def frames(swing: float, landed: bool = True):
    """36 frames of a jet whose foot swings three times to and fro, with scatter."""
    random = np.random.default_rng(0)
    for frame in range(36):
        y = random.uniform(0.11 if landed else 0.2, 0.8, 800)
        x = 0.5 + swing * np.sin(2 * np.pi * frame / 12) + random.normal(0.0, 0.004, 800)
        yield np.column_stack([x, y, 0 * x])


def test_a_swinging_jet_turns_round():
    assert reversals(axis(frames(0.02)), HYSTERESIS) in (5, 6)


def test_scatter_is_no_turn():
    assert reversals(axis(frames(0.0)), HYSTERESIS) == 0


def test_a_jet_in_the_air_is_not_followed():
    assert len(axis(frames(0.02, landed=False))) == 0


@pytest.mark.slow
def test_the_thick_jet_folds_and_the_thin_one_does_not():
    """Batty (2010), section 4.9: at least twice by 1.5 s at Re 0.4. The thin jet on the source's grid only."""
    rows = {(row.table, row.grid, row.quantity): row.ours for row in run_study("jet-2d", StudyOptions())}
    assert {grid for _, grid, _ in rows} == {100, 150}
    for label in ("Re 0.4", "Re 8"):
        assert rows[label, 150, "frames_followed"] > 20
    for grid in (100, 150):
        assert rows["Re 0.4", grid, "jet_direction_changes"] >= 2
    assert rows["Re 8", 150, "jet_direction_changes"] == 0
