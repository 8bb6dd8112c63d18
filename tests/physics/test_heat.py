"""Heat spreads as it should, stays in the liquid, and makes it thinner."""

import math

import numpy as np
import pytest

from glug.grids.regular import Grid
from glug.particles.seeding import hashed
from glug.particles.storage import Particles
from glug.physics import heat
from glug.simulation import Simulation

HOT, COLD = 80.0, 20.0
SPACE = Grid(0.02, (48, 14, 14))
FLAT = Grid(0.02, (48, 14, 1), dim=2)
GRIDS = pytest.mark.parametrize("grid", [SPACE, FLAT], ids=["3D", "2D"])
STEPS = 10


def bar(grid: Grid) -> Particles:
    """A bar of liquid with air around it, hot in its left half; sorted."""
    lower, upper = np.array([4, 3, 3]), np.array([44, 11, 11])
    if grid.dim == 2:
        lower[2], upper[2] = 0, 1
    parts = np.array([2, 2, 2 if grid.dim == 3 else 1])
    index = np.stack(np.meshgrid(*[np.arange(2 * 40), *[np.arange(p * 8) for p in parts[1:]]], indexing="ij"), -1)
    index = index.reshape(-1, 3)
    if grid.dim == 2:
        index = index[index[:, 2] == 0]
    jitter = np.stack([hashed(index, a) for a in range(3)], axis=1)
    if grid.dim == 2:
        jitter[:, 2] = 0.5
    position = grid.corner + grid.dx * (lower + (index + jitter) / parts)
    particles = Particles.empty(("temperature",))
    middle = grid.corner[0] + 24 * grid.dx
    particles.append(position, volume=1.0, temperature=np.where(position[:, 0] < middle, HOT, COLD))
    particles.sort(grid)
    assert (position[:, : grid.dim] < (grid.corner + grid.dx * upper)[: grid.dim]).all()
    return particles


def spread(particles: Particles, grid: Grid) -> float:
    """Standard deviation [m] of the slope of the temperature along the bar: sqrt(2 D t) for a step that diffuses."""
    cell = np.floor((particles.position[:, 0] - grid.corner[0]) / grid.dx).astype(int)
    mean = np.bincount(cell, particles.temperature[:, 0]) / np.maximum(np.bincount(cell), 1)
    slope = -np.diff(mean[4:44])
    x = grid.dx * np.arange(len(slope))
    slope /= slope.sum()
    centre = (slope * x).sum()
    return float(np.sqrt((slope * (x - centre) ** 2).sum()))


def diffused(grid: Grid, width: float) -> Particles:
    """The bar after a time in which heat spreads over `width` cells, in some steps."""
    particles = bar(grid)
    time, diffusivity = 2.0, (width * grid.dx) ** 2 / (2 * 2.0)
    for _ in range(STEPS):
        heat.diffuse(particles, particles.volume, grid, diffusivity, time / STEPS)
    return particles


WIDTHS = pytest.mark.parametrize("width", [2.0, 4.0, 6.0])


@GRIDS
@WIDTHS
def test_a_hot_half_spreads_over_the_diffusion_length(grid, width):
    assert spread(diffused(grid, width), grid) == pytest.approx(width * grid.dx, rel=0.15)


def test_heat_spreads_as_fast_where_cells_hold_more_and_less():
    """The decay of a cosine, by random places: cells hold their share but for a third of it. A test of the rate."""
    n, dx, number = 24, 1.0, 0.05
    grid = Grid(dx, (n, n, n))
    random = np.random.default_rng(5)
    particles = Particles.empty(("temperature",))
    particles.append(random.uniform(0.0, n * dx, (8 * n**3, 3)).astype(np.float32), volume=1.0)
    particles.sort(grid)
    wave = np.cos(np.pi * particles.position[:, 0] / (n * dx))
    particles.temperature[:, 0] = wave
    first, steps = float(wave @ particles.temperature[:, 0]), 200
    for _ in range(steps):
        heat.diffuse(particles, particles.volume, grid, number * dx**2, 1.0)
    rate = -math.log(float(wave @ particles.temperature[:, 0]) / first) / (steps * number)
    assert rate == pytest.approx((np.pi / n) ** 2, rel=0.1)


def mean(particles: Particles) -> float:
    """Temperature by volume."""
    volume = particles.volume[:, 0].astype(float)
    return float(volume @ particles.temperature[:, 0]) / float(volume.sum())


@GRIDS
@WIDTHS
def test_heat_stays_in_the_liquid(grid, width):
    """To rounding in float32, though cells at the surface hold less than others."""
    assert mean(diffused(grid, width)) == pytest.approx(mean(bar(grid)), rel=1e-6)


@GRIDS
def test_a_long_step_is_as_good_as_many_short_ones(grid):
    """One step of the whole time: nothing from the air around the liquid gets into it."""
    particles = bar(grid)
    heat.diffuse(particles, particles.volume, grid, (4.0 * grid.dx) ** 2 / 2.0, 1.0)
    assert mean(particles) == pytest.approx(0.5 * (HOT + COLD), rel=1e-6)
    assert spread(particles, grid) == pytest.approx(4.0 * grid.dx, rel=0.15)


@GRIDS
def test_an_even_temperature_stays_even(grid):
    particles = bar(grid)
    particles.temperature[:] = HOT
    heat.diffuse(particles, particles.volume, grid, (6.0 * grid.dx) ** 2 / 2.0, 1.0)
    assert np.abs(particles.temperature - HOT).max() < 0.01


@GRIDS
@pytest.mark.parametrize("number", [1e-3, 0.05, 0.1, 0.15, 1.0, 30.0])
def test_no_temperature_leaves_the_range(grid, number):
    """In steps of any length: D dt / dx^2. A thousandth is what rounding makes of it."""
    particles = bar(grid)
    for _ in range(20):
        heat.diffuse(particles, particles.volume, grid, number * grid.dx**2, 1.0)
        assert particles.temperature.max() <= HOT + 1e-3
        assert particles.temperature.min() >= COLD - 1e-3


def out_of_range(seconds: float = 2.0) -> float:
    """How far temperatures have left the range when a hot ball has fallen into a cold pool; its heat is kept."""
    honey = {"density": 1000.0, "viscosity": 5.0}
    ball = {"kind": "sphere", "centre": [0.12, 0.1], "radius": 0.05}
    pool = {"kind": "box", "lower": [0.0, 0.0], "upper": [0.3, 0.06]}
    simulation = Simulation(
        {
            "domain": {"size": [0.3, 0.3], "resolution": 24},
            "liquids": {"hot": {**honey, "temperature": HOT}, "cold": {**honey, "temperature": COLD}},
            "volumes": [{"liquid": "hot", "shape": ball}, {"liquid": "cold", "shape": pool}],
            "heat": {"diffusivity": 2e-4},
        }
    )
    begun = mean(simulation.state.particles)
    while simulation.state.time < seconds:
        simulation.step_once()
    p = simulation.state.particles
    assert mean(p) == pytest.approx(begun, rel=1e-5)
    return max(COLD - float(p.temperature.min()), float(p.temperature.max()) - HOT)


def test_liquids_that_flow_into_each_other_keep_heat_and_range(monkeypatch):
    """Control: particles that keep what they differ from their cell by, as it cools, get colder than anything was."""
    assert out_of_range() < 1e-3
    monkeypatch.setattr(heat, "kept", lambda share, passes: 1.0)
    assert out_of_range() > 5.0


def test_without_diffusion_nothing_changes():
    """Negative control."""
    particles = bar(SPACE)
    heat.diffuse(particles, particles.volume, SPACE, 0.0, 1.0)
    assert np.array_equal(particles.temperature, bar(SPACE).temperature)
    assert spread(particles, SPACE) < 0.1 * SPACE.dx


# -- viscosity that follows -------------------------------------------------------------------------------

TABLE = [[20.0, 1000.0], [80.0, 10.0]]


def syrup(**parts) -> Simulation:
    return Simulation(
        {
            "domain": {"size": [1.0, 1.0], "resolution": 16},
            "liquids": {
                "syrup": {"density": 1000.0, "viscosity": {"kind": "temperature", "table": TABLE}, "temperature": 20.0}
            },
            "volumes": [{"liquid": "syrup", "shape": {"kind": "box", "lower": [0.2, 0.0], "upper": [0.8, 0.6]}}],
            **parts,
        }
    )


def test_viscosity_follows_the_temperature():
    simulation = syrup()
    p = simulation.state.particles
    p.temperature[:, 0] = np.linspace(10.0, 90.0, len(p))
    simulation.step_once()
    p = simulation.state.particles
    # Log-linear between the ends of the table, constant beyond.
    share = np.clip((p.temperature[:, 0] - 20.0) / 60.0, 0.0, 1.0)
    assert p.viscosity[:, 0] == pytest.approx(1000.0 * (10.0 / 1000.0) ** share, rel=1e-4)


def test_a_hot_block_slumps_more_than_a_cold_one():
    heights = {}
    for name, temperature in (("cold", 20.0), ("hot", 80.0)):
        simulation = syrup()
        simulation.state.particles.temperature[:] = temperature
        while simulation.state.frame < 6:
            simulation.step_once()
        heights[name] = float(simulation.state.particles.position[:, 1].mean())
    assert heights["hot"] < heights["cold"] - 0.03


def test_heat_reaches_the_viscosity_in_a_run():
    """A cold block with a hot side gets thinner where the heat arrives."""
    simulation = syrup(heat={"diffusivity": 0.02}, gravity=[0.0, 0.0, 0.0])
    p = simulation.state.particles
    p.temperature[:, 0] = np.where(p.position[:, 0] < 0.5, 80.0, 20.0)
    while simulation.state.frame < 3:
        simulation.step_once()
    p = simulation.state.particles
    x, value = p.position[:, 0], p.viscosity[:, 0]
    length = math.sqrt(2 * 0.02 * simulation.state.time)
    beside, far = (x > 0.5) & (x < 0.5 + 0.5 * length), x > 0.5 + 3 * length
    assert far.sum() > 10
    assert value[beside].mean() < 0.5 * value[far].mean()
    assert value[far].mean() == pytest.approx(1000.0, rel=0.05)
