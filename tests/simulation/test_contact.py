"""Collisions by MuJoCo: rebound, rest, friction, state; and the whole run with bodies goes on with the same bits."""

import numpy as np
import pytest

import glug
from glug.errors import SceneError
from glug.simulation.bodies import contact_shapes
from glug.simulation.bodies.contact import Contact
from glug.simulation.bodies.motion import body_descriptions, reduced
from glug.simulation.simulation import Simulation

G = np.array([0.0, -9.81, 0.0])
BOX = {"kind": "box", "centre": [0.5, 0.7, 0.5], "size": [0.1, 0.1, 0.1]}


def scene(*solids: dict, size: tuple[float, ...] = (1.0, 1.0, 1.0), **more) -> glug.Scene:
    zero = [0.0] * len(size)
    return glug.load(
        {
            "name": "bodies",
            "domain": {"size": size, "resolution": 16},
            "liquids": {"water": {"material": "water"}},
            "volumes": [
                {"shape": {"kind": "box", "lower": zero, "upper": [size[0], 0.1, *size[2:]]}, "liquid": "water"}
            ],
            "solids": list(solids),
            **more,
        }
    )


def ball(height: float = 0.5, **more) -> dict:
    return {
        "name": "ball",
        "shape": {"kind": "sphere", "centre": [0.5, height, 0.5], "radius": 0.1},
        "density": 1000.0,
        **more,
    }


def fall(world: glug.Scene, seconds: float, dt: float = 0.01, size: float = 1.0) -> list[list]:
    """The bodies' motions, step by step, without liquid; gravity is `size` times its own."""
    descriptions = body_descriptions(world)
    contact = Contact(world.domain, list(world.solids), descriptions)
    bodies = [description.begin() for description in descriptions]
    state = contact.begin(bodies)
    history, t = [bodies], 0.0
    for _ in range(round(seconds / dt)):
        pull = np.zeros((len(bodies), 3 if world.domain.dim == 2 else 6))
        pull[:, :2] = dt * size * G[:2]
        v = np.array([reduced(b, world.domain.dim) for b in bodies]) + pull
        state, bodies = contact.advance(state, bodies, v, t, dt)
        t += dt
        history.append(bodies)
    return history


def two_boxes(size: float, density: float) -> glug.Scene:
    """A box that falls on another one, in a domain of any size [m]."""
    boxes = [
        {
            "name": f"box{n}",
            "shape": {"kind": "box", "centre": [0.5 * size, y * size, 0.52 * size], "size": [0.25 * size] * 3},
            "density": density,
        }
        for n, y in enumerate((0.2, 0.6))
    ]
    liquid = {"shape": {"kind": "box", "lower": [0.0] * 3, "upper": [size, 0.05 * size, size]}, "liquid": "water"}
    return scene(*boxes, size=(size,) * 3, volumes=[liquid], solver={"viscosity": "none"}, gravity=[0, -9.81 * size, 0])


@pytest.mark.parametrize(("size", "density"), [(2.0**-9, 1000.0), (2.0**-25, 1000.0), (1.0, 1e-9), (2.0**30, 1e9)])
def test_bodies_of_any_size_and_density_collide_alike(size: float, density: float) -> None:
    """MuJoCo refuses masses and moments of inertia below 1e-15: a box of 0.5 mm, one of 1e-9 kg/m3."""
    like, found = fall(two_boxes(1.0, 1000.0), 0.5), fall(two_boxes(size, density), 0.5, size=size)
    for n in range(2):
        expected = np.array([bodies[n].centre for bodies in like])
        assert np.ptp(expected[:, 1]) > (0.05, 0.1)[n]  # they move, and meet
        np.testing.assert_allclose(np.array([bodies[n].centre for bodies in found]) / size, expected, rtol=0, atol=1e-6)


def test_masses_that_no_solve_holds_are_named() -> None:
    world = scene(ball(0.3), ball(0.7, name="dust", density=1e-9, shape=BOX | {"size": [1e-7] * 3}))
    with pytest.raises(SceneError, match="cannot collide"):
        fall(world, 0.1)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.8])
def test_a_ball_rebounds_with_its_restitution(restitution: float) -> None:
    heights = np.array([b[0].centre[1] for b in fall(scene(ball(0.6, restitution=restitution)), 0.9)])
    hit = int(np.argmin(heights))
    rebound = (heights[hit:].max() - 0.1) / (0.6 - 0.1)
    assert rebound == pytest.approx(restitution**2, abs=0.06)


def test_a_ball_falls_as_gravity_says() -> None:
    bodies = fall(scene(ball(0.6)), 0.2)[-1]
    assert bodies[0].centre[1] == pytest.approx(0.6 - 0.5 * 9.81 * 0.2**2, rel=0.02)


def test_a_box_comes_to_rest_on_the_floor_and_slides_on_ice() -> None:
    speeds = {}
    for friction in (0.0, 0.6):
        box = {
            "name": "box",
            "shape": {"kind": "box", "centre": [0.3, 0.06, 0.5], "size": [0.2, 0.1, 0.2]},
            "density": 500.0,
            "velocity": [0.8, 0.0, 0.0],
            "friction": friction,
        }
        body = fall(scene(box, size=(4.0, 1.0, 1.0)), 0.5)[-1][0]
        assert body.centre[1] == pytest.approx(0.05, abs=2e-3)
        speeds[friction] = body.velocity_of_centre[0]
    assert speeds[0.0] == pytest.approx(0.8, rel=0.02)
    assert abs(speeds[0.6]) < 0.02


def test_a_moving_solid_pushes_a_body_and_a_body_does_not_stop_it() -> None:
    plate = {
        "name": "plate",
        "shape": {"kind": "box", "centre": [0.1, 0.15, 0.5], "size": [0.1, 0.28, 0.6]},
        "motion": {"kind": "linear", "velocity": [0.5, 0.0, 0.0]},
    }
    body = fall(scene(plate, ball(0.1, friction=0.0), size=(2.0, 1.0, 1.0)), 1.4)[-1][0]
    assert body.centre[0] > 0.1 + 0.05 + 0.5 * 1.4 + 0.09


def test_a_ring_is_made_of_convex_parts() -> None:
    world = scene(
        {
            "name": "ring",
            "shape": {"kind": "torus", "centre": [0.5, 0.5, 0.5], "axis": [0, 1, 0], "radius": 0.2, "tube": 0.05},
            "density": 500.0,
        }
    )
    description = body_descriptions(world)[0]
    assert description.mass == pytest.approx(500.0 * 2 * np.pi**2 * 0.2 * 0.05**2, rel=0.01)
    assert len(contact_shapes.parts_of(world.solids[0], world.domain, description.centre)) > 3


def test_bodies_of_a_2d_scene_stay_in_their_plane() -> None:
    square = {
        "name": "square",
        "shape": {"kind": "box", "centre": [0.5, 0.5], "size": [0.2, 0.1], "rotate": [0, 0, 30]},
        "density": 500.0,
    }
    body = fall(scene(square, size=(1.0, 1.0)), 1.5)[-1][0]
    assert body.centre[1] == pytest.approx(0.05, abs=3e-3)
    assert abs(body.R[2, 2] - 1.0) < 1e-12


def run_2d(steps: int) -> tuple[Simulation, glug.Scene]:
    raft = {"name": "raft", "shape": {"kind": "box", "centre": [0.5, 0.3], "size": [0.4, 0.1]}, "density": 400.0}
    world = scene(raft, size=(1.0, 1.0))
    simulation = Simulation(world)
    for _ in range(steps):
        simulation.step_once()
    return simulation, world


def test_a_checkpoint_holds_the_bodies_and_goes_on_with_the_same_bits() -> None:
    one, world = run_2d(6)
    other = Simulation.restore(world, {k: v.copy() for k, v in run_2d(3)[0].checkpoint().items()})
    for _ in range(3):
        other.step_once()
    a, b = one.checkpoint(), other.checkpoint()
    assert a.keys() == b.keys()
    assert "bodies.contact_state" in a
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_a_frame_tells_where_the_bodies_are() -> None:
    simulation, _ = run_2d(4)
    (pose,) = simulation.frame().bodies
    assert pose.name == "raft"
    assert pose.translation[1] != 0.0
