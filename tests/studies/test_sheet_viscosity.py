"""A thin sheet does not fold, a thicker one does, and a thick one folds wide."""

import numpy as np

from glug.studies.registry import StudyOptions
from glug.studies.sheet_viscosity import study


def test_folds_appear_and_grow_with_viscosity():
    rows = study(StudyOptions(name="sheet-viscosity", largest_grid=40))
    folds = {r.table: r.ours for r in rows if r.quantity == "folds"}
    swing = {r.table: r.ours for r in rows if r.quantity == "swing"}
    print(folds, {k: np.round(v, 2) for k, v in swing.items()})
    assert folds["low"] == 0  # negative control: the scatter of the particles is no fold
    assert folds["middle"] >= 3
    assert folds["high"] >= 3
    assert swing["low"] < 0.7 * swing["middle"] < 0.7 * 0.7 * swing["high"]
