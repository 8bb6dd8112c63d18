"""The experiments of Batty (2010), chapters 2 and 3, that have a number: tilted walls, a paddle, explicit steps."""

import numpy as np

from glug.studies.explicit_substeps import DIFFUSION, Blob, radius, substeps
from glug.studies.registry import StudyOptions, run_study
from glug.studies.tilted_boxes import stirred_energy


def test_explicit_viscosity_needs_28_steps_where_the_implicit_one_needs_one():
    blob = Blob()
    assert substeps(blob.explicit, DIFFUSION) == 28
    assert radius(blob.explicit(DIFFUSION / 27)) > 1.0 + 1e-6
    assert substeps(blob.implicit, DIFFUSION) == 1
    assert substeps(blob.mixed, DIFFUSION) == 1  # not the source's 14: see the study


def test_a_tilted_box_holds_the_vortex_of_an_aligned_one_unless_it_is_made_of_whole_cells():
    rows = run_study("rotated-vortex", StudyOptions(largest_grid=64))
    error = {(row.table, row.norm): row.ours for row in rows if row.grid == 64}
    for norm in ("Linf", "L1"):
        for scheme in ("volumes", "open-area"):
            assert error[f"tilted, {scheme}", norm] < 0.2 * error["tilted, voxelised", norm]


def test_stirring_does_not_depend_on_the_angle_of_the_paddle_unless_it_is_made_of_whole_cells():
    spread = {}
    for scheme in ("volumes", "open-area", "voxelised"):
        energy = [stirred_energy(64, scheme, angle) for angle in np.arange(4) * np.pi / 8]
        spread[scheme] = np.ptp(energy) / np.mean(energy)
    assert max(spread["volumes"], spread["open-area"]) < 0.4 * spread["voxelised"]
