"""The forecast of memory follows what a scene holds."""

import pytest

from glug.scene import load
from glug.simulation import Simulation, estimate


@pytest.mark.parametrize("name", ["dam-break", "honey-coil", "honey-2d"])
def test_estimate_grows_with_resolution_as_the_cells_do(name):
    coarse, fine = (estimate(load(name, {"domain.resolution": n})) for n in (64, 128))
    dim = load(name).domain.dim
    assert 0.6 * 2**dim < fine["memory"] / coarse["memory"] < 1.4 * 2**dim


def test_estimated_particles_are_those_that_are_seeded():
    scene = load("dam-break", {"domain.resolution": 48})
    assert estimate(scene)["particles"] == pytest.approx(len(Simulation(scene).state.particles), rel=0.05)


def test_finer_surfaces_need_more_memory():
    plain, fine = (estimate(load("dam-break", {"surface.resolution": n}))["memory"] for n in (1, 4))
    assert fine > 3 * plain
