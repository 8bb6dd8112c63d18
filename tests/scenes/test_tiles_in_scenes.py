"""Liquid whose depths are affine tiles moves as without them; as one affine region it is too stiff."""

import numpy as np
import pytest

import glug
from glug.errors import SceneError
from glug.studies.validate.air.affine_tiles import compare


def test_a_ball_runs_up_a_round_wall():
    """Goldade 2021, Figure 4.11, coarser: measured are 4% with tiles and 20% with one region."""
    share = compare("ball-in-circle", {"tiles": 8, "whole": "whole"}, 0.4, resolution=64)
    assert share["tiles"] < 0.07
    assert share["whole"] > 2.0 * share["tiles"]


def test_particles_know_their_tile():
    simulation = glug.Simulation(glug.load("ball-in-circle", {"domain.resolution": 64}))
    first = simulation.frame().particles["tile"]
    assert not first.any()  # nothing is solved yet
    names = []
    for _ in range(2):
        simulation.step_once()
        particles = simulation.state.particles
        tile, cells = particles.tile[:, 0], particles.position / simulation.setting.dx
        assert 0.05 < np.mean(tile > 0) < 0.95
        for number in np.unique(tile[tile > 0]):
            mine = cells[tile == number]
            assert (np.ptp(mine, axis=0) < 8.5).all()  # it has moved a little since
        names.append(set(tile.tolist()))
    assert len(names[0] & names[1]) > 0.8 * len(names[0])


@pytest.mark.parametrize("value", [3, -1, True, "big", 16.5])
def test_refuses_other_tiles(value):
    with pytest.raises(SceneError, match=r"solver\.tiles: must be 0 \(no tiles\), 4 to 128 cells"):
        glug.load("ball-in-circle", {"solver.tiles": value})


def test_refuses_tiles_in_stokes_flow():
    with pytest.raises(SceneError, match=r"solver\.tiles: .*'stokes' has none"):
        glug.load("jet-2d", {"solver.tiles": 16})
