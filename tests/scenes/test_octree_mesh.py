"""Scenes on an octree: with one level the regular path, at rest as still, a drop that falls alike, nothing lost."""

import gc
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

import glug
from glug.errors import InputError, SolverError
from glug.geometry.sampled import SampledDistance
from glug.grids.octree.linear.build import cells_at
from glug.grids.octree.linear.morton import inside
from glug.scene import load
from glug.simulation.forecast import estimate, forecast
from glug.simulation.octree.seeding import filled_cells
from glug.simulation.octree.tree import box_of
from glug.simulation.setting import Setting
from glug.simulation.stages import octree as octree_stages
from glug.simulation.stages import stages_of

N = 32
MESHES = ("regular", "octree")
POOL = {"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.7, 1]}, "liquid": "water"}
BOX = {"kind": "box", "lower": [0, 0, 0], "upper": [1, 1, 1]}
DROP = {
    "shape": {"kind": "sphere", "centre": [0.5, 0.85, 0.5], "radius": 0.1},
    "liquid": "water",
    "velocity": [0.0, -1.0, 0.0],
}

PADDLE = {
    "name": "paddle",
    "shape": {"kind": "box", "lower": [0.1, 0.1, 0.1], "upper": [0.2, 0.2, 0.2]},
    "motion": {"kind": "linear", "velocity": [1.0, 0.0, 0.0]},
}


def tank(mesh: str, *volumes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": "tank",
        "domain": {"size": [1, 1, 1], "resolution": N},
        "time": {"fps": 48},
        "liquids": {"water": {"material": "water"}},
        "volumes": volumes or [POOL],
        "solver": {"mesh": mesh},
        "refine": {"levels": 4, "band": 4},
        **more,
    }


def stepped(scene: dict[str, Any], steps: int, **options: Any) -> glug.Simulation:
    simulation = glug.Simulation(scene, **options)
    for _ in range(steps):
        stats = simulation.step_once()
        assert not stats.warnings
    return simulation


def dam_break(mesh: str, levels: int, without: tuple[str, ...]) -> np.ndarray:
    """Particles after 20 steps [cells]."""
    changes = {"domain.resolution": 24, "solver.mesh": mesh, "refine.levels": levels}
    scene = load("dam-break", changes)
    simulation = stepped(scene, 20, stages=lambda stages: stages.without(*without))  # type: ignore[arg-type]
    return simulation.state.particles.position / simulation.setting.dx


def test_one_level_is_the_regular_path():
    """A dam break: no particle is more than a thousandth of a cell elsewhere after 20 steps.

    Volumes are corrected cell by cell there and part by part here, and momenta of parts in flight are kept there only:
    without both. Ids say nothing of particles that were split in one step: their order is that of the cells.
    """
    regular = dam_break("regular", 1, ("displace", "weigh", "keep_momentum"))
    octree = dam_break("octree", 1, ("displace",))
    assert regular.shape == octree.shape
    for some, others in ((octree, regular), (regular, octree)):
        assert cKDTree(some).query(others)[0].max() < 1e-3


def test_resting_water_rests_as_on_the_regular_grid():
    energy = {}
    for mesh in ("regular", "octree"):
        simulation = glug.Simulation(tank(mesh))
        energy[mesh] = [simulation.step_once().liquid.kinetic for _ in range(12)]
    assert np.mean(energy["octree"]) < 1.2 * np.mean(energy["regular"])
    volume = simulation.state.particles.volume[:, 0] / simulation.setting.particle_volume
    assert (volume > 100.0).any()  # particles of the third size


@pytest.mark.parametrize("band", [None, 0.015])
def test_a_deep_tank_gets_its_volume_back(band, monkeypatch):
    """Particles that carry 1 % more: it is left off by what noise explains, not by what a ball's curvature would."""
    if band is not None:  # the control: all parts left alone as if they were balls
        monkeypatch.setattr(octree_stages, "dead_band", lambda surface, cells, dim: np.full(len(cells), band))
    pool = {"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.9, 1]}, "liquid": "water"}
    simulation = glug.Simulation({**tank("octree", pool), "domain": {"size": [1, 1, 1], "resolution": 24}})
    simulation.state.particles.volume *= np.float32(1.01)
    for _ in range(25):
        stats = simulation.step_once()
    off = stats.liquid_volume / simulation.state.particles.volume.sum(dtype=float) - 1.0
    assert -0.006 < off < 0.0 if band is None else -0.011 < off < -0.008


@pytest.mark.slow
def test_water_rests_for_a_thousand_steps():
    energy = {}
    for mesh in ("regular", "octree"):
        simulation = glug.Simulation({**tank(mesh), "domain": {"size": [1, 1, 1], "resolution": 24}})
        energy[mesh] = np.mean([simulation.step_once().liquid.kinetic for _ in range(1000)][500:])
    assert energy["octree"] < 1.2 * energy["regular"]


def test_a_drop_falls_as_on_the_regular_grid():
    runs = {mesh: stepped(tank(mesh, POOL, DROP), 8) for mesh in ("regular", "octree")}
    regular, octree = (runs[mesh].steps[-1] for mesh in ("regular", "octree"))
    assert octree.time == regular.time
    assert octree.liquid.kinetic == pytest.approx(regular.liquid.kinetic, rel=0.01)
    assert octree.liquid.mass == pytest.approx(regular.liquid.mass, rel=1e-6)
    assert octree.liquid_volume == pytest.approx(regular.liquid_volume, rel=0.005)
    assert octree.particles < 0.9 * regular.particles
    frames = {mesh: run.frame() for mesh, run in runs.items()}
    fallen = [liquid_at_centres(frame.distance) for frame in frames.values()]
    assert (fallen[0] ^ fallen[1]).sum() < 0.01 * fallen[0].sum()
    assert frames["octree"].distance.values.min() < -3.0 / N  # deep where particles are few


def liquid_at_centres(distance: SampledDistance) -> np.ndarray:
    """Where the middles of halved cells are in the liquid; there is air where nothing is sampled."""
    first = np.round((0.25 / N - np.array(distance.corner)) / distance.spacing).astype(int)
    assert np.allclose(distance.corner + first * distance.spacing, 0.25 / N, atol=1e-5)
    assert (first >= 0).all()
    sampled = distance.values[tuple(slice(n, n + 2 * N) for n in first)] < 0.0
    return np.pad(sampled, [(0, 2 * N - n) for n in sampled.shape])


def test_the_surface_is_closed_and_holds_the_liquid(monkeypatch):
    """Bricks meet, and walls along coarse leaves are covered: the mesh holds what volumes were filled."""
    monkeypatch.setattr("glug.simulation.octree.boxes.LONGEST", 8)  # tiles, 64 cells: several of them
    scene = tank("octree", POOL, DROP) | {"domain": {"size": [1, 1, 1], "resolution": 72}}
    surface = glug.Simulation(scene).frame().surface
    assert surface.volume() == pytest.approx(0.7 + 4.0 / 3.0 * np.pi * 0.1**3, rel=1e-3)
    drop = surface.vertices[:, 1] > 0.725  # below it is the pool
    assert np.abs(surface.velocities[drop] - [0.0, -1.0, 0.0]).max() < 1e-3
    edges = np.sort(
        surface.triangles[drop[surface.triangles].all(axis=1)][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1
    )
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()  # where bricks meet, too


def test_particles_begin_as_large_as_their_leaves():
    regular, octree = (glug.Simulation(tank(mesh, POOL, DROP)).state.particles for mesh in MESHES)
    assert len(octree) < 0.5 * len(regular)
    assert octree.volume.sum(dtype=float) == pytest.approx(regular.volume.sum(dtype=float), rel=1e-6)
    centre = [(p.position * p.volume).sum(axis=0, dtype=float) / p.volume.sum(dtype=float) for p in (regular, octree)]
    assert np.abs(centre[0] - centre[1]).max() < 1e-3


def test_what_a_scene_needs_is_said_before_it_runs():
    scene = load(tank("octree", POOL, DROP))
    needs, stats = estimate(scene), stepped(scene, 1).steps[-1]
    assert needs["cells"] == pytest.approx(stats.cells, rel=0.05)
    assert needs["particles"] == pytest.approx(stats.particles, rel=0.1)
    assert "leaves" in forecast(scene).text()


def test_a_domain_that_is_not_whole_roots_holds_its_water():
    """Leaves end at walls, wherever those are: 27 cells across, and 25.6, where walls cut finest ones."""
    full = tank("octree", POOL | {"shape": BOX}) | {"domain": {"size": [27 / 32, 1, 1], "resolution": N}}
    assert stepped(full, 1).steps[-1].max_speed < 1e-5  # there is no surface at all
    for size in ([27 / 32, 1, 1], [0.8, 1, 0.8]):
        pool = {"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [size[0], 0.7, size[2]]}, "liquid": "water"}
        regular, octree = (
            stepped(tank(mesh, pool) | {"domain": {"size": size, "resolution": N}}, 3).steps[-1] for mesh in MESHES
        )
        assert octree.liquid_volume == pytest.approx(0.7 * size[0] * size[2], rel=0.01)
        assert octree.max_speed < min(0.02, 1.05 * regular.max_speed)  # a leak would fall at g dt = 0.2


def test_water_that_ends_at_walls_fills_no_cell_behind_them():
    """Sides that cut roots: 40 cells are two and a half of 16."""
    setting = Setting(load("octree-crown", {"domain.resolution": 40}))
    lo, shape = box_of(setting)
    cells = filled_cells(setting)
    assert len(shape) == 3 and shape[0] == 40 and lo[0] == 0
    assert all(inside(keys, cells_at(shape, l)).all() for l, keys in enumerate(cells))
    assert sum(map(len, cells)) > 1000


@pytest.mark.parametrize("domain", [64, 1024])
def test_a_step_takes_no_memory_for_the_domain(domain):
    """The same water in a corner of a small and of a huge domain: as many leaves and bytes."""
    block = {"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [24 / domain] * 3}, "liquid": "water"}
    scene = tank("octree", block) | {"domain": {"size": [1, 1, 1], "resolution": domain}}
    simulation = glug.Simulation(scene)
    simulation.step_once()
    tracemalloc.start()
    stats = simulation.step_once()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert stats.cells < 60_000
    assert peak < 60e6  # an array of the larger domain's cells would have gigabytes


def test_a_paddle_pushes_water_as_on_the_regular_grid():
    runs = [stepped(tank(mesh, solids=[PADDLE]), 6).steps[-1] for mesh in MESHES]
    still = stepped(tank("octree"), 6).steps[-1]
    assert runs[1].liquid.kinetic == pytest.approx(runs[0].liquid.kinetic, rel=0.02)
    assert runs[1].liquid.momentum[0] == pytest.approx(runs[0].liquid.momentum[0], rel=0.02, abs=0.01)
    assert runs[1].liquid.kinetic > 10.0 * still.liquid.kinetic


def test_a_sphere_is_drawn_through_water_as_on_the_regular_grid():
    """It begins and ends below the surface, in deep water: momentum, energy and level are those of the regular grid."""
    sphere = {
        "name": "sphere",
        "shape": {"kind": "sphere", "centre": [0.3, 0.35, 0.5], "radius": 0.12},
        "motion": {"kind": "linear", "velocity": [0.8, 0.0, 0.0]},
    }
    runs = [stepped(tank(mesh, solids=[sphere]), 12) for mesh in MESHES]
    regular, octree = (run.steps[-1] for run in runs)
    assert octree.time == regular.time
    assert octree.liquid.kinetic == pytest.approx(regular.liquid.kinetic, rel=0.03)
    assert octree.liquid_volume == pytest.approx(regular.liquid_volume, rel=0.005)
    assert octree.particles < regular.particles
    for run in runs:  # nobody is inside
        p, (solid,) = run.state.particles, run.setting.solids
        assert solid.distance(p.position.astype(float), run.state.time).min() > -1e-3 / N


def test_adapting_keeps_mass_and_momentum_and_hardly_any_energy_is_lost():
    simulation = stepped(tank("octree", POOL, DROP, output={"budget": True}), 6)
    for stats in simulation.steps:
        change, now = stats.by_stage["adapt"], stats.liquid
        assert abs(change.mass) < 1e-6 * now.mass
        assert np.abs(change.momentum).max() < 1e-4 * np.abs(now.momentum).max()
        assert -0.005 * now.kinetic < change.kinetic <= 1e-6 * now.kinetic


@pytest.mark.parametrize("volume, said", [(np.nan, "not a number"), (np.inf, "not a number"), (1e6, "larger than")])
def test_particles_are_not_split_for_ever(volume, said):
    """One of no size that can be told, or larger than any cell, is not split into millions."""
    simulation = stepped(tank("octree"), 1)
    simulation.state.particles.volume[0] = volume
    with pytest.raises(SolverError, match=said):
        simulation.step_once()


def test_a_run_goes_on_from_a_checkpoint_with_the_same_bits():
    scene = tank("octree", POOL, DROP)
    first = stepped(scene, 2)
    data = {name: values.copy() for name, values in first.checkpoint().items()}
    second = glug.Simulation.restore(scene, data)
    for simulation in (first, second):
        simulation.step_once()
    for name, values in first.state.particles.attributes.items():
        assert np.array_equal(values, second.state.particles.attributes[name]), name
    assert np.array_equal(first.frame().surface.vertices, second.frame().surface.vertices)


def test_steps_are_the_same_in_bricks_of_any_size(monkeypatch):
    """What a brick computes looks no further than its window: a step in bricks of 16 cells has the same surface."""
    found = []
    for tiles in (2, 32):
        monkeypatch.setattr("glug.simulation.octree.boxes.LONGEST", tiles)
        p = stepped(tank("octree", POOL, DROP), 2).state.particles
        found.append(p.position[np.argsort(p.id[:, 0])])
    assert found[0].shape == found[1].shape
    assert np.abs(found[0] - found[1]).max() < 1e-4 / N


def test_nothing_of_a_step_outlives_it():
    """Its tree goes with it, without a search for circles: arrays of several steps would add up."""
    held: list[Any] = []
    for look in (weakref.ref, lambda tree: lambda: tree):  # and the control, which holds it
        note = glug.Stage("note", lambda context, look=look: held.append(look(context.tree)))
        gc.disable()
        try:
            stepped(tank("octree", POOL, DROP), 1, stages=lambda stages, note=note: stages.after("advect", note))
        finally:
            gc.enable()
    assert held[0]() is None and held[1]() is not None


def test_threads_change_no_bit():
    one, two = (stepped(tank("octree", POOL, DROP), 2, threads=count).state.particles for count in (1, 2))
    for name, values in one.attributes.items():
        assert np.array_equal(values, two.attributes[name]), name


def test_particles_have_the_sizes_of_their_leaves():
    simulation = stepped(tank("octree", POOL, DROP), 2)
    p, setting = simulation.state.particles, simulation.setting
    level = np.round(np.log2(p.volume[:, 0] / setting.particle_volume) / 3.0)
    near = p.position[:, 1] > 0.7 - 4.0 / N
    assert (level[near] <= 0).all()
    assert level.max() >= 2
    per_leaf = [(level == l).sum() for l in range(3)]
    assert per_leaf[0] > per_leaf[1] > per_leaf[2] > 0


def test_the_stages_of_a_tree_are_its_own():
    names = [stage.name for stage in stages_of(Setting(load(tank("octree"))))]
    assert "adapt" in names and "keep_momentum" not in names


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"refine.band": 3}, "refine.band.*at least 4, got 3"),
        ({"refine.levels": 7}, "refine.levels: 7 levels do not fit"),
        ({"refine.levels": 9}, "refine.levels"),
        ({"solids": [{"name": "cork", "shape": PADDLE["shape"], "density": 500.0}]}, "rigid bodies"),
        ({"solids": [PADDLE], "liquids.water.viscosity": 100.0}, "solids that move"),
        ({"domain.resolution": 2_200_000}, "domain.resolution"),
        ({"solver.air": "constraint"}, "solver.air.*'vacuum'"),
        ({"solver.tiles": 16}, "solver.tiles"),
        ({"solver.viscosity": "octree"}, "solver.viscosity.*'multigrid', 'none'"),
        ({"solver.viscosity": "reference"}, "solver.viscosity.*'multigrid', 'none'"),
        ({"solver.coupling": "stokes", "liquids.water.viscosity": 100.0}, "solver.coupling"),
        ({"output.fields": True}, "output.fields"),
        ({"domain.walls": "separating"}, "solver.mesh"),
    ],
)
def test_what_does_not_go_with_a_tree_is_refused_in_one_line(changes, words):
    with pytest.raises(InputError, match=words) as refused:
        load(tank("octree"), changes)
    assert "\n" not in str(refused.value)


def test_a_plane_scene_is_refused():
    with pytest.raises(InputError, match="3D scenes only"):
        load("dam-break-2d", {"solver.mesh": "octree"})
