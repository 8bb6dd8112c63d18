"""Cells that a scene asks for: small in shapes, by their size in a picture, where liquid turns or bends; no popping."""

from typing import Any

import numpy as np
import pytest

import glug
from glug.errors import InputError
from glug.scene import load
from glug.simulation.forecast import estimate
from glug.simulation.octree.seeding import HOLDS_PARTICLES, begun_tree
from glug.simulation.octree.tree import StepTree, grow
from glug.simulation.setting import Setting

N = 48
DX = 1.0 / N
BALL = {"kind": "sphere", "centre": [0.5, 0.35, 0.5], "radius": 0.15}
CAMERA = {"eye": [0.5, 0.4, 1.3], "target": [0.5, 0.4, 0.0], "fov": 60.0}


def deep(n: int = N, height: float = 0.8, **refine: Any) -> dict[str, Any]:
    """Water in a box, on four levels."""
    pool = {"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, height, 1]}, "liquid": "water"}
    return {
        "domain": {"size": [1, 1, 1], "resolution": n},
        "time": {"fps": 48},
        "liquids": {"water": {"material": "water"}},
        "volumes": [pool],
        "solver": {"mesh": "octree"},
        "refine": {"levels": 4, "band": 4, **refine},
    }


def sides(step: StepTree, points: np.ndarray) -> np.ndarray:
    """Of the cells at points, in finest ones."""
    return 2 ** step.levels_at(step.tree, points.astype(np.float32)).astype(int)


def inside_ball(count: int = 400) -> np.ndarray:
    way = np.random.default_rng(0).normal(size=(count, 3))
    return np.array(BALL["centre"]) + 0.14 * way / np.linalg.norm(way, axis=1, keepdims=True)


@pytest.mark.parametrize(("size", "largest"), [(0.0, 1), (0.05, 2)])
def test_cells_are_small_in_a_shape_and_as_large_as_ever_elsewhere(size, largest):
    scene = load(deep(shapes=[{"shape": BALL, "size": size}]))
    fine, coarse = begun_tree(Setting(scene)), begun_tree(Setting(load(deep())))
    assert sides(fine, inside_ball()).max() == largest
    assert sides(coarse, inside_ball()).min() > largest  # the control
    far = np.array([[0.05, 0.05, 0.05], [0.95, 0.05, 0.95]])
    assert np.array_equal(sides(fine, far), sides(coarse, far))
    assert len(coarse.tree) < len(fine.tree) < 1.2 * len(coarse.tree)
    held = begun_tree(Setting(scene), HOLDS_PARTICLES)
    assert estimate(scene)["cells"] == len(held.tree)  # what `glug check` says


def test_a_shape_stays_fine_while_the_water_stays_at_rest():
    simulation, plain = glug.Simulation(deep(32, shapes=[{"shape": BALL}])), glug.Simulation(deep(32))
    counts = {simulation.step_once().cells for _ in range(4)}
    speeds = [max(run.step_once().max_speed for _ in range(4)) for run in (simulation, plain)]
    assert len(counts) == 1 and speeds[0] < 1.2 * speeds[1]
    p = simulation.state.particles
    inside = np.linalg.norm(p.position - np.array(BALL["centre"]), axis=1) < 0.14
    assert (p.volume[inside, 0] < 2.0 * simulation.setting.particle_volume).all()


def test_cells_grow_with_the_distance_to_the_camera():
    """None is larger than asked in the picture, and as the picture's rays go away they grow; not without the key."""
    pixels, height = 30.0, 360
    step, plain = (begun_tree(Setting(load(deep(**key) | {"camera": CAMERA}))) for key in ({"pixels": pixels}, {}))
    z = np.linspace(0.02, 0.98, 49)
    line = np.stack([np.full(49, 0.5), np.full(49, 0.4), z], axis=1)
    side = sides(step, line)
    seen = side * DX * 0.5 * height / np.tan(np.radians(30.0)) / (CAMERA["eye"][2] - z)
    assert seen.max() < 1.05 * pixels
    assert (np.diff(side) <= 0).all() and side[0] == 4 and side[-1] == 1
    assert sides(plain, line).max() == 8
    behind = deep(pixels=pixels) | {"camera": CAMERA | {"target": [0.5, 0.4, 2.0]}}  # nothing is in its picture
    assert len(begun_tree(Setting(load(behind))).tree) == len(plain.tree)


def stirred(turn: Any, steps: int = 2, **refine: Any) -> glug.Simulation:
    """Deep water that moves at turn(x, z) about the middle of the box, and the tree of its last step."""
    simulation = glug.Simulation(deep(32, 0.9, **({"levels": 3} | refine)) | {"gravity": [0, 0, 0]})
    p = simulation.state.particles
    x, z = p.position[:, 0] - 0.5, p.position[:, 2] - 0.5
    p.velocity[:, 0], p.velocity[:, 2] = -turn(np.hypot(x, z)) * z, turn(np.hypot(x, z)) * x
    for _ in range(steps):
        simulation.step_once()
    return simulation


def particle_sides(simulation: glug.Simulation, inner: float, outer: float) -> np.ndarray:
    """Sizes of the cells that particles far from surface and floor fill, between two radii [finest cells]."""
    p = simulation.state.particles
    r = np.hypot(p.position[:, 0] - 0.5, p.position[:, 2] - 0.5)
    some = (r > inner) & (r < outer) & (np.abs(p.position[:, 1] - 0.3) < 0.2)
    return np.cbrt(p.volume[some, 0] / simulation.setting.particle_volume)


def core(r: np.ndarray) -> np.ndarray:
    """A vortex of 8 rad/s that ends at 0.2 m."""
    return 8.0 * np.exp(-((r / 0.2) ** 2))


@pytest.mark.parametrize("key", [{"vorticity": 0.2}, {"bend": 0.02}])
def test_cells_are_small_where_liquid_turns_and_bends(key):
    plain, fine = stirred(core), stirred(core, **key)
    assert particle_sides(plain, 0.0, 0.15).min() > 1.5
    assert particle_sides(fine, 0.0, 0.15).min() < 1.5
    assert particle_sides(fine, 0.4, 0.5).max() > 3.0
    assert not plain.state.particles.has("detail")


def test_liquid_that_turns_as_one_does_not_bend():
    """A rotation is linear: where there is no wall it asks for nothing by `bend`, but by `vorticity`."""
    detail = {}
    for key in ("bend", "vorticity"):
        p = stirred(lambda r: np.full_like(r, 2.0), 1, **{key: 0.05}).state.particles
        middle = np.linalg.norm(p.position - [0.5, 0.45, 0.5], axis=1) < 0.15
        detail[key] = p.detail[middle, 0] / 32
    assert detail["vorticity"].min() > 0.5
    assert detail["bend"].max() < 0.25 * detail["vorticity"].min()


def wave(**refine: Any) -> tuple[glug.Simulation, float]:
    """A tilted pool that swings, and the share of places deep in it whose cells change their size in a step."""
    cut = {"kind": "half-space", "point": [0.5, 0.7, 0.5], "normal": [0.25, 1, 0]}
    box = {"kind": "box", "lower": [0, 0, 0], "upper": [1, 1, 1]}
    pool = {"shape": {"kind": "intersection", "parts": [box, cut]}, "liquid": "water"}
    simulation = glug.Simulation(deep(32, **refine) | {"volumes": [pool]})
    points = (np.indices((16, 7, 16)).reshape(3, -1).T + 0.5) / 16
    found = []
    for _ in range(24):
        simulation.step_once()
        found.append(sides(grow(simulation.setting, simulation.state.particles, simulation.state.time), points))
    return simulation, float((np.diff(found, axis=0) != 0).mean())


def test_sizes_are_remembered_and_do_not_pop():
    """Below a limit hardly any cell comes or goes (5 % of places a step); near one, those that remember stay small."""
    calm, changes = wave(bend=0.06, decay=0.1)
    assert changes < 0.06
    assert calm.steps[-1].cells < 1.1 * calm.steps[0].cells  # what is split and merged for ever is noise, which bends
    (kept, _), (forgotten, _) = (wave(bend=0.056, decay=decay) for decay in (0.1, 1e-6))
    assert kept.steps[-1].cells > 1.2 * forgotten.steps[-1].cells


def test_a_wave_turns_nowhere_and_asks_for_nothing():
    """It is a potential flow: as many cells as without the key."""
    (plain, _), (fine, _) = wave(), wave(vorticity=0.1)
    assert [stats.cells for stats in fine.steps] == [stats.cells for stats in plain.steps]
    assert fine.state.particles.detail.max() > 0.0


def test_what_was_asked_for_is_in_the_checkpoint():
    first = stirred(core, 1, vorticity=0.2)
    data = {name: values.copy() for name, values in first.checkpoint().items()}
    second = glug.Simulation.restore(first.scene, data)
    for simulation in (first, second):
        simulation.step_once()
    for name, values in first.state.particles.attributes.items():
        assert np.array_equal(values, second.state.particles.attributes[name]), name


@pytest.mark.parametrize(
    ("refine", "words"),
    [
        ({"pixels": 8.0}, r"refine.pixels: .*\[camera\]"),
        ({"pixels": -1.0}, "refine.pixels"),
        ({"bend": -1.0}, "refine.bend"),
        ({"vorticity": float("nan")}, "refine.vorticity"),
        ({"decay": 0.0}, "refine.decay"),
        ({"shapes": [{"shape": BALL, "size": 0.001}]}, r"refine.shapes.0.size: no cell is smaller than 0.0208"),
        ({"shapes": [{"shape": {"kind": "sphere", "centre": [0, 0, 0]}}]}, "refine.shapes.0.shape"),
        ({"shapes": [{"size": 0.1}]}, "refine.shapes.0.shape"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_in_one_line(refine, words):
    with pytest.raises(InputError, match=words) as refused:
        load(deep(**refine))
    assert "\n" not in str(refused.value)


def test_shapes_move_with_a_scene_that_is_far_away():
    far = 3e7
    scene = deep(shapes=[{"shape": {**BALL, "centre": [far + 0.5, 0.35, 0.5]}}])
    scene["domain"]["origin"] = [far, 0, 0]
    scene["volumes"][0]["shape"] |= {"lower": [far, 0, 0], "upper": [far + 1, 0.8, 1]}
    near = load(deep(shapes=[{"shape": BALL}]))
    assert len(begun_tree(Setting(load(scene))).tree) == len(begun_tree(Setting(near)).tree)
