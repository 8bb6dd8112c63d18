"""Liquid whose depths are affine tiles moves as without them; as one affine region it is too stiff."""

import pytest

import glug
from glug.errors import SceneError
from glug.studies.tiles import compare


def test_a_ball_runs_up_a_round_wall():
    """Goldade 2021, Figure 4.11, coarser: measured are 4% with tiles and 20% with one region."""
    share = compare("ball-in-circle", {"tiles": 8, "whole": "whole"}, 0.4, resolution=64)
    assert share["tiles"] < 0.07
    assert share["whole"] > 2.0 * share["tiles"]


@pytest.mark.parametrize("value", [3, -1, True, "big", 16.5])
def test_refuses_other_tiles(value):
    with pytest.raises(SceneError, match=r"solver\.tiles: must be 0 \(no tiles\), 4 to 128 cells"):
        glug.load("ball-in-circle", {"solver.tiles": value})


def test_refuses_tiles_in_stokes_flow():
    with pytest.raises(SceneError, match=r"solver\.tiles: .*'stokes' has none"):
        glug.load("jet-2d", {"solver.tiles": 16})
