"""Gaps between solids that are narrower than a kernel hold liquid, and particles stay in them."""

import numpy as np
import pytest

import glug
from glug.geometry import kernels, kernels_liquid, liquid
from glug.geometry.liquid import DENSE, FAR_FROM_WALL, FRACTIONS, LEAST_OPEN, liquid_distance
from glug.geometry.liquid import RADIUS as KERNEL
from glug.geometry.solids.field import Solid, SolidField, Walls, sample_solids
from glug.grids.regular import NODE, Grid
from glug.particles.storage import Particles
from glug.particles.transfer import to_cells
from glug.physics.advection import Obstacles, leave_solids
from glug.simulation import Simulation
from glug.simulation.context import StepContext
from glug.simulation.frame import Amounts
from glug.simulation.stages import Stage

# A ball of a bit more than two cells that touches three walls: behind it a cell, to which three tunnels lead.
RADIUS, SIZE = 2.25, 12.0
BALL = {"kind": "sphere", "centre": [SIZE - RADIUS, RADIUS, SIZE - RADIUS], "radius": RADIUS}
CORNER = (11, 0, 11)
TUNNELS = ((9, 0, 11), (11, 2, 11), (11, 0, 9))


def tank(solids: list[dict], **changes) -> glug.Scene:
    """A tank of water a metre a cell wide, with solids in it."""
    size = {"size": [SIZE] * 3, "resolution": int(SIZE)}
    water = {"liquid": "water", "shape": {"kind": "box", "lower": [0.0] * 3, "upper": [SIZE, 8.0, SIZE]}}
    scene = {"name": "tank", "domain": size, "liquids": {"water": {"material": "water"}}, "volumes": [water]}
    return glug.load(scene | {"solids": solids} | changes)


@pytest.fixture(scope="module")
def cornered() -> tuple[Grid, SolidField, list[Solid], Walls, Particles]:
    """The ball in its corner, and water around it."""
    simulation = Simulation(tank([{"name": "ball", "shape": BALL}]))
    setting, particles = simulation.setting, simulation.state.particles
    grid = setting.window(particles.position, [])
    particles.sort(grid)
    solids = setting.solids_with(simulation.state.bodies)
    return grid, sample_solids(grid, setting.walls, solids, 0.0), list(solids), setting.walls, particles


def wet(cornered, keep: float, seed: int = 0) -> np.ndarray:
    """Whether the corner and its tunnels are inside the liquid, of which a share of the particles is left."""
    grid, solid, _, _, all_of_it = cornered
    particles = Particles.empty()
    chosen = np.random.default_rng(seed).random(len(all_of_it)) < keep
    particles.append(all_of_it.position[chosen], volume=all_of_it.volume[chosen])
    particles.sort(grid)
    phi = liquid_distance(particles.position, particles.volume, particles.start, grid, solid.distance)
    return np.array([phi[tuple(np.array(cell) - grid.lo)] < 0.0 for cell in (CORNER, *TUNNELS)])


def test_liquid_fills_tunnels_narrower_than_a_kernel(cornered):
    """With half of the particles, as they come and go where so few have room; with two fifths nearly always."""
    assert all(wet(cornered, 0.5, seed).all() for seed in range(8))
    assert sum(wet(cornered, 0.4, seed).all() for seed in range(8)) >= 6


def test_as_parts_of_whole_kernels_tunnels_would_be_air(cornered, monkeypatch):
    """Control: a pressure solve would take them for a surface."""
    monkeypatch.setattr(kernels_liquid, "fill_gaps", lambda *_: None)
    assert sum(wet(cornered, 0.4, seed).all() for seed in range(8)) <= 3


def test_tunnels_with_hardly_any_particles_are_air(cornered):
    assert sum(wet(cornered, 0.02, seed).sum() for seed in range(8)) <= 4  # of 32


def test_particles_in_a_tunnel_stay_where_they_are(cornered):
    """Sampled at cell corners, all of which lie on walls or in the ball, the tunnel is solid: it threw them out."""
    grid, solid, solids, walls, _ = cornered
    rng = np.random.default_rng(0)
    position = np.stack([rng.uniform(9.0, 9.9, 50), rng.uniform(0.2, 0.6, 50), rng.uniform(11.4, 11.8, 50)], axis=1)
    away = solids[0].distance(position, 0.0) > 0.05
    particles = Particles.empty()
    particles.append(position[away].astype(np.float32), volume=np.float32(0.125))
    sampled = np.empty((away.sum(), 1), np.float32)
    kernels.trilinear_many(solid.distance, (particles.position - grid.corner).astype(np.float32), sampled)
    assert away.sum() > 20 and (sampled < 0.01).mean() > 0.5
    before = particles.position.copy()
    assert leave_solids(particles, before, Obstacles(grid, solid, walls, solids, 0.0), 0.01) == 0.0
    assert (particles.position == before).all()


def test_stirred_water_does_not_gather_behind_a_ball_in_a_corner():
    """For 2 s of sloshing; the cell there once held 24 cells of liquid by then."""
    thrown = {"liquid": "water", "shape": {"kind": "box", "lower": [0.0] * 3, "upper": [6.0, 8.0, SIZE]}}
    scene = tank([{"name": "ball", "shape": BALL}], volumes=[thrown], gravity=[0.0, -50.0, 0.0])
    held = []

    def look(context: StepContext) -> None:
        particles, grid = context.state.particles, context.grid
        carried = to_cells(particles.volume * np.float32(grid.dx**-3), particles, grid)
        held.append(float(carried[tuple(np.array(CORNER) - grid.lo)]))

    simulation = Simulation(scene, stages=lambda usual: usual.after("volumes", Stage("look", look)))
    lost = 0.0
    while simulation.state.time < 2.0:
        lost += simulation.step_once().left.get("squeezed", Amounts()).mass
    assert max(held) < 3.0
    assert lost < 100.0  # [kg], a tenth of a cell: wedges have no room for some
    assert max(held) > 0.3  # it was there


def test_a_slot_a_cell_wide_is_open():
    """Between plates whose sides all corners lie on: of a kernel in its middle it leaves 0.71."""
    grid = Grid(1.0, (9, 9, 9))
    y = np.abs(grid.points(NODE)[..., 1] - 4.5)
    nodes = (0.5 - y).astype(np.float32)
    fraction, full = np.zeros(grid.shape, np.float32), 0.5
    fraction[:, 4] = full
    kernels_liquid.fill_gaps(fraction, nodes, *map(np.float32, (1.0, 1.0, FAR_FROM_WALL, KERNEL, LEAST_OPEN)))
    assert full / fraction[4, 4, 4] == pytest.approx(0.71, abs=0.05)


def level(height: float, dim: int) -> float:
    """By how much the surface is above the top of layers of particles that end at a height [cells]."""
    grid = Grid(1.0, (10, 12, 10 if dim == 3 else 1), dim=dim)
    rows = height - (np.arange(40) + 0.5) / 8
    across = (np.arange(80) + 0.5) / 8
    place = np.stack(np.meshgrid(across, rows[rows > 0], across if dim == 3 else [0.5], indexing="ij"), axis=-1)
    particles = Particles.empty()
    particles.append(place.reshape(-1, 3).astype(np.float32), volume=np.float32(8.0**-dim))
    particles.sort(grid)
    nodes = np.full(tuple(n + 1 for n in grid.shape), 9.0, np.float32)
    phi = liquid_distance(particles.position, particles.volume, particles.start, grid, nodes)[5, :, 5 * (dim - 2)]
    at = int(np.flatnonzero(phi < 0.0)[-1])
    return at + 0.5 + phi[at] / (phi[at] - phi[at + 1]) - height


def test_a_level_surface_is_where_its_particles_are(monkeypatch):
    """Within 0.008 cells wherever it is in its cell, as no half space is taken for a thread; by 0.017 if it were."""
    heights = 6.0 + np.arange(8) / 8.0
    assert np.abs([level(y, 3) for y in heights]).max() < 0.01
    monkeypatch.setattr(liquid, "whole_cores", lambda _: np.full(FRACTIONS, DENSE, np.float32))
    assert max(level(y, 3) for y in heights) > 0.014


def test_inside_a_plate_a_cell_thick_there_is_no_room():
    """All its corners lie on solids: a plate on the floor, up to the first layer of corners."""
    plate = {"kind": "box", "lower": [-SIZE] * 3, "upper": [2 * SIZE, 1.0, 2 * SIZE]}
    setting = Simulation(tank([{"name": "plate", "shape": plate}])).setting
    grid = Grid(1.0, (12, 4, 12))
    solid = sample_solids(grid, setting.walls, setting.solids_with([]), 0.0)
    assert (solid.distance[:, :2] == 0.0).sum() > 100  # what the corners see
    assert not solid.openness[:, 0].any()
    assert (solid.openness[2:-2, 1:, 2:-2] > 0.99).all()
