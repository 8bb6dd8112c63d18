"""Scenes whose surface is a mesh that moves with the liquid (`surface.tracking = "mesh"`)."""

import numpy as np
import pytest

import glug
from glug.errors import InputError, SceneError
from glug.geometry.mesh import count_holes
from glug.geometry.tracking.exact import intersections
from glug.simulation.simulation import Simulation
from glug.simulation.stages.tracking import sampled_solids

POOL = {"liquid": "water", "shape": {"kind": "box", "lower": [0.0, 0.0, 0.0], "upper": [0.2, 0.06, 0.2]}}
DROP = {"liquid": "water", "shape": {"kind": "sphere", "centre": [0.1, 0.12, 0.1], "radius": 0.04}}


def scene(*volumes, **more):
    return glug.load(
        {
            "name": "tracked",
            "domain": {"size": [0.2, 0.2, 0.2], "resolution": 16},
            "time": {"fps": 60, "frames": 12},
            "liquids": {"water": {"material": "water"}},
            "volumes": list(volumes),
            "surface": {"tracking": "mesh"},
        }
        | more
    )


def whole(surface):
    return count_holes(surface.triangles) == 0 and len(intersections(surface.vertices, surface.triangles)) == 0


def ashore(simulation):
    """The surface's vertices, those behind walls on them: what they enclose is the liquid."""
    state, setting = simulation.state, simulation.setting
    grid = setting.window(state.particles.position, state.bodies)
    field = setting.solid_field(grid, state.time, state.bodies)
    return sampled_solids(setting, field, grid).outside(state.surface.vertices)


def test_a_drop_falls_into_a_pool():
    off = [falls_into_a_pool(seed) for seed in range(3)]
    assert np.mean(off) < 0.02  # where the splash meets walls, particles of one draw or another make it 0.009 to 0.027


def falls_into_a_pool(seed):
    """By how much the volume is off where it is most."""
    simulation = Simulation(scene(POOL, DROP, seed=seed))
    off = []
    begun = simulation.state.surface.target.sum()
    particles, top = simulation.state.particles, simulation.state.surface.vertices[:, 1].max()
    own = particles.id[particles.position[:, 1] > 0.07, 0].copy()
    assert len(simulation.state.surface.target) == 2
    for frame in simulation.run():
        tracked = simulation.state.surface
        assert whole(tracked)
        off.append(abs(tracked.volume(ashore(simulation)) / begun - 1.0))
        if frame.index == 3:  # still in the air: the mesh falls as its particles do
            fallen = 0.12 - frame.particles["position"][np.isin(frame.particles["id"], own), 1].mean()
            assert fallen == pytest.approx(0.5 * 9.81 * frame.time**2, rel=0.02)
            assert top - tracked.vertices[:, 1].max() == pytest.approx(fallen, abs=0.05 * simulation.setting.dx)
    assert tracked.events["weld"] > 0
    assert tracked.target.sum() + tracked.vanished == pytest.approx(begun, rel=1e-3)
    # The particles are still where the mesh says that the liquid is.
    p = simulation.state.particles.position
    inside = frame.distance.values[tuple(((p - frame.distance.corner) / frame.distance.spacing).round().astype(int).T)]
    assert (inside < simulation.setting.dx).mean() > 0.99
    return max(off)


def test_the_mesh_is_written_as_it_is():
    simulation = Simulation(scene(DROP))
    simulation.step_once()
    frame, tracked = simulation.frame(), simulation.state.surface
    assert (frame.surface.triangles == tracked.triangles).all()
    assert (frame.surface.vertices == tracked.vertices.astype(np.float32)).all()
    speed = np.linalg.norm(frame.surface.velocities, axis=1)
    assert speed == pytest.approx(0.5 * simulation.steps[-1].dt * 9.81, rel=1e-3)  # that of the first step's middle
    places = ((tracked.vertices - frame.distance.corner) / frame.distance.spacing).round().astype(int)
    assert np.abs(frame.distance.values[tuple(places.T)]).max() < frame.distance.spacing


@pytest.mark.parametrize(("fps", "steps"), [(24, 60), (200, 200)])
def test_a_pool_comes_to_rest(fps, steps):
    """The mesh goes on behind the walls; with a rim at them it swayed at 5 percent of the speed of waves, and more."""
    simulation = Simulation(scene(POOL, time={"fps": fps}))
    stats = [simulation.step_once() for _ in range(steps)]
    assert stats[-1].max_speed < 0.01 * np.sqrt(9.81 * 0.06)
    x, y, z = simulation.state.surface.vertices.T
    inner = (np.minimum(np.minimum(x, 0.2 - x), np.minimum(z, 0.2 - z)) > 0.001) & (y > 0.03)
    assert inner.sum() > 100
    assert y[inner] == pytest.approx(0.06, abs=0.1 * simulation.setting.dx)


def test_it_comes_to_rest_around_a_ball():
    ball = {"name": "ball", "shape": {"kind": "sphere", "centre": [0.1, 0.05, 0.1], "radius": 0.04}}
    simulation = Simulation(scene(POOL, solids=[ball], time={"fps": 24}))
    stats = [simulation.step_once() for _ in range(60)]
    assert max(s.max_speed for s in stats[30:]) < 0.1 * 9.81 / 24
    assert whole(simulation.state.surface)


def test_a_restored_run_has_the_same_bits_and_so_have_two_threads():
    described = scene(POOL, DROP)
    one = Simulation(described, threads=2)
    for _ in range(4):
        one.step_once()
    saved = {name: np.array(values) for name, values in one.checkpoint().items()}
    other = Simulation.restore(described, saved, threads=1)
    for _ in range(4):
        one.step_once()
        other.step_once()
    assert (one.frame().surface.vertices == other.frame().surface.vertices).all()
    assert (one.state.particles.position == other.state.particles.position).all()


def test_a_damaged_mesh_in_a_checkpoint_is_refused():
    described = scene(DROP)
    saved = dict(Simulation(described).checkpoint())
    saved["surface.triangles"] = saved["surface.triangles"] + len(saved["surface.vertices"])
    with pytest.raises(InputError, match=r"surface\.triangles"):
        Simulation.restore(described, saved)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"domain": {"size": [0.2, 0.2]}}, "scenes of two dimensions"),
        ({"sinks": [{"shape": DROP["shape"]}]}, "sinks"),
        ({"solver": {"air": "constraint"}}, "'constraint' air"),
        ({"solver": {"mesh": "tetrahedra"}}, "'tetrahedra'"),
        ({"liquids": {"water": {"material": "water"}, "honey": {"material": "honey"}}}, "several liquids"),
    ],
)
def test_what_it_does_not_go_with(more, what):
    flat = {"liquid": "water", "shape": {"kind": "box", "lower": [0.0, 0.0], "upper": [0.1, 0.1]}}
    with pytest.raises(SceneError, match=f"'mesh' does not go with {what} yet"):
        scene(flat if "domain" in more else DROP, **more)
