"""The experiments of Batty (2010), chapters 2 and 3, that have a number: tilted walls, a paddle, explicit steps."""

import numpy as np
import pytest

from glug.studies.registry import StudyOptions, run_study
from glug.studies.validate.explicit_substeps import DIFFUSION, disc, limit, schemes, substeps
from glug.studies.validate.tilted_boxes import stirred_energy


def test_explicit_viscosity_needs_28_steps_where_the_implicit_one_needs_one():
    steps = {name: substeps(growth) for name, (growth, _) in schemes(24).items()}
    # 28 follows from DIFFUSION; that the transposed part alone needs half of that, and the mixed step one, does not.
    assert steps == {"explicit": 28, "mixed, explicit part": 14, "mixed": 1, "implicit": 1}


def test_the_limits_are_an_eighth_and_a_quarter():
    """2 over the largest eigenvalue, 16 and 8 in an endless liquid; those of a disc are a little smaller."""
    limits = {name: limit(growth) for name, (growth, _) in schemes(24).items()}
    assert 0.125 < limits["explicit"] < 0.13
    assert limits["mixed, explicit part"] == pytest.approx(2 * limits["explicit"], rel=2e-3)
    assert limits["mixed"] == limits["implicit"] == np.inf


def test_what_is_unstable_by_its_spectral_radius_blows_up_when_it_is_run():
    stepped = disc(12)
    start = np.random.default_rng(0).normal(size=len(stepped.faces)) * stepped.faces
    largest = {}
    for name, scheme, parts in (("24", stepped.explicit, 24), ("28", stepped.explicit, 28), ("1", stepped.mixed, 1)):
        u, step = start, scheme(DIFFUSION / parts)
        for _ in range(300):
            u = step.advance(u)
        largest[name] = np.abs(u).max()
    assert largest["24"] > 1e3
    assert max(largest["28"], largest["1"]) < np.abs(start).max()


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
