"""A thin sheet does not fold, a thicker one does, and a thick one folds wide."""

import numpy as np

from glug.studies.registry import StudyOptions
from glug.studies.validate.sheet_viscosity import study


def test_folds_appear_and_grow_with_viscosity():
    # At 40 cells the slit is 2.8 cells wide and the scatter of a thin sheet alone is 0.28 widths: judge the finer grid.
    rows = [r for r in study(StudyOptions(name="sheet-viscosity", largest_grid=60)) if r.grid == 60]
    folds = {r.table: r.ours for r in rows if r.quantity == "folds"}
    swing = {r.table: r.ours for r in rows if r.quantity == "swing"}
    print(folds, {k: np.round(v, 2) for k, v in swing.items()})
    assert folds["low"] == 0  # negative control: the scatter of the particles is no fold
    assert folds["middle"] >= 3
    assert folds["high"] >= 3
    assert swing["low"] < 0.7 * swing["middle"] < 0.7 * 0.7 * swing["high"]
