"""The Stokes step of 2D scenes: rest, rotation, inlets, and what it refuses."""

import numpy as np
import pytest
from setups import NO_WALLS, HalfSpace

from glug.errors import SceneError
from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, FACES, Grid
from glug.physics.stokes.scene import StokesFluid, solve_stokes
from glug.scene import load
from glug.simulation import Simulation

N = 24
GRID = Grid(1.0 / N, (N + 8, N + 8, 1), (-4, -4, 0), dim=2)


def level(height: float) -> np.ndarray:
    return np.clip(GRID.points(CENTRE)[..., 1] - height, -4 / N, 4 / N).astype(np.float32)


def test_liquid_rests_over_a_slope():
    floor = HalfSpace((0.5, 0.21, 0.0), (-0.2, 1.0, 0.0))
    solid = sample_solids(GRID, Walls((0.013, 0.0, -np.inf), (0.97, 1.0, np.inf)), [floor], 0.0)
    velocity = GRID.staggered()
    velocity[1][:] = -1.0
    p, stats = solve_stokes(StokesFluid(GRID, level(0.537), solid, 2.0, 1.0, 0.1), velocity)
    assert stats.converged and stats.solver == "stokes"
    wet = [GRID.points(FACES[a])[..., 1] < 0.537 for a in (0, 1)]
    # The fractions and u* are float32.
    assert max(float(np.abs(u[w]).max()) for u, w in zip(velocity, wet)) < 1e-5
    x, y = np.moveaxis(GRID.points(CENTRE)[..., :2], -1, 0)
    deep = (y < 0.537 - 1 / N) & (y > 0.35) & (x > 0.1) & (x < 0.9)
    assert p[deep] == pytest.approx(10.0 * (0.537 - y[deep]), abs=1e-3)  # rho g times the depth


def test_a_free_disc_keeps_turning():
    solid = sample_solids(GRID, NO_WALLS, [], 0.0)
    points = GRID.points(CENTRE)[..., :2]
    phi = np.clip(np.linalg.norm(points - 0.5, axis=-1) - 0.3, -4 / N, 4 / N).astype(np.float32)
    velocity = GRID.staggered()
    velocity[0][:] = -(GRID.points(FACES[0])[..., 1] - 0.5)
    velocity[1][:] = GRID.points(FACES[1])[..., 0] - 0.5
    before = [u.copy() for u in velocity]
    solve_stokes(StokesFluid(GRID, phi, solid, 50.0, 1.0, 0.1), velocity)
    for a in (0, 1):
        inside = np.linalg.norm(GRID.points(FACES[a])[..., :2] - 0.5, axis=-1) < 0.3
        assert np.abs(velocity[a] - before[a])[inside].max() < 1e-6


def test_what_comes_in_is_what_the_inlet_gives():
    scene = load("jet-2d", {"domain.resolution": 100, "time.frames": 8})
    frames = list(Simulation(scene).run())
    area = [float(f.particles["volume"].sum()) / scene.domain.dx for f in (frames[3], frames[8])]
    assert area[1] - area[0] == pytest.approx(0.06 * 0.5 * (frames[8].time - frames[3].time), rel=0.03)
    position, velocity = frames[8].particles["position"], frames[8].particles["velocity"]
    entering = (position[:, 1] < 0.795) & (position[:, 1] > 0.78)
    assert velocity[entering, 1].mean() == pytest.approx(-0.5, abs=0.1)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"domain.sides": {"left": "slip"}}, "'slip'"),
        ({"domain.slip_length": "free"}, "slip_length"),
    ],
)
def test_stokes_refuses_what_it_cannot_do(overrides, words):
    with pytest.raises(SceneError, match=words):
        load("dam-break-2d", {"solver.coupling": "stokes", **overrides})
