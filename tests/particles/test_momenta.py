"""Momenta of particles: formulas of rigid motion, what transfers keep, and setting them."""

from dataclasses import replace

import numpy as np
import pytest

from glug.grids.regular import Grid
from glug.jit import threads
from glug.particles import transfer
from glug.particles.momenta import Groups, Momenta, momenta_of, momenta_of_flow, set_momenta
from glug.particles.storage import Particles

SPACE = Grid(0.125, (12, 10, 11), lo=(-2, 1, 3), origin=(0.3, 0.1, -0.2))
FLAT = Grid(0.125, (12, 10, 1), lo=(-2, 1, 0), origin=(0.3, 0.1, 0.0), dim=2)
GRIDS = pytest.mark.parametrize("grid", [SPACE, FLAT], ids=["3D", "2D"])
TRANSFERS = pytest.mark.parametrize("affine", [True, False], ids=["apic", "flip"])
# Values are of order one and float32; sums are float64.
ROUNDING = 1e-6


def scattered(grid: Grid, affine: bool) -> Particles:
    """Eight particles a cell on average, of uneven volume and random velocity; sorted."""
    rng = np.random.default_rng(0)
    border = np.array([2, 2, 2 if grid.dim == 3 else 0])
    cells = np.array(grid.shape) - 2 * border
    index = border + rng.uniform(0.001, 0.999, (8 * int(cells.prod()), 3)) * cells
    if grid.dim == 2:
        index[:, 2] = 0.5
    particles = Particles.empty(("affine",) if affine else ())
    particles.append(grid.corner + grid.dx * index, volume=rng.uniform(0.5, 1.5, len(index)))
    particles.sort(grid)
    moving = rng.normal(size=(len(particles), 3))
    moving[:, grid.dim :] = 0.0
    particles.velocity[:] = moving
    if affine:
        gradient = rng.normal(size=(len(particles), 3, 3))
        gradient[:, grid.dim :] = gradient[:, :, grid.dim :] = 0.0
        particles.affine[:] = gradient.reshape(-1, 9)
    return particles


def rotate(particles: Particles, grid: Grid, spin: np.ndarray, centre: np.ndarray) -> None:
    """Let particles turn about a point, with the gradient that belongs to it."""
    particles.velocity[:] = np.cross(spin, particles.position - centre)
    if particles.has("affine"):
        a, b, c = spin
        particles.affine[:] = grid.dx * np.array([0, -c, b, c, 0, -a, -b, a, 0])


def spin_in(grid: Grid) -> np.ndarray:
    return np.array([0.3, -0.7, 1.1]) if grid.dim == 3 else np.array([0.0, 0.0, 1.1])


def all_of(particles: Particles, grid: Grid) -> Momenta:
    return momenta_of(particles, particles.volume, grid, Groups.one(particles))


@GRIDS
def test_a_rotation_has_the_angular_momentum_of_a_rigid_body(grid):
    particles, spin = scattered(grid, affine=False), spin_in(grid)
    mass, x = particles.volume.astype(float), particles.position.astype(float)
    centre = (mass * x).sum(axis=0) / mass.sum()
    rotate(particles, grid, spin, centre)
    r = x - centre
    exact = (mass * ((r**2).sum(axis=1)[:, None] * spin - (r @ spin)[:, None] * r)).sum(axis=0)
    found = all_of(particles, grid)
    assert found.mass[0] == pytest.approx(mass.sum())
    assert np.allclose(found.centre[0], centre, atol=1e-9)
    assert np.allclose(found.angular[0], exact, atol=ROUNDING * np.abs(exact).max())
    assert np.allclose(found.momentum[0], 0.0, atol=ROUNDING * mass.sum())
    assert found.energy[0] == pytest.approx(0.5 * exact @ spin, rel=ROUNDING)


@GRIDS
def test_the_gradient_adds_what_a_particle_spreads_over_samples(grid):
    """A particle in the middle between two samples along x and y spreads by a quarter of dx^2 along both."""
    particles = Particles.empty(("affine",))
    middle = np.array([3.0, 4.0, 5.0 if grid.dim == 3 else 0.5])  # cell corners: between the middles of cells
    particles.append((grid.corner + grid.dx * middle)[None], volume=np.array([2.0]))
    particles.sort(grid)
    rotate(particles, grid, np.array([0.0, 0.0, 1.1]), particles.position[0].astype(float))
    assert all_of(particles, grid).angular[0, 2] == pytest.approx(2.0 * 1.1 * 2 * 0.25 * grid.dx**2, rel=1e-4)


@GRIDS
@TRANSFERS
def test_the_flow_that_particles_bring_has_their_momenta(grid, affine):
    particles = scattered(grid, affine)
    velocity, _ = transfer.to_grid(particles, grid, 1e-6)
    ours = all_of(particles, grid)
    flow = momenta_of_flow(particles, particles.volume, grid, Groups.one(particles), velocity)
    scale = ours.mass[0] * grid.dx
    assert np.allclose(flow.momentum, ours.momentum, atol=ROUNDING * ours.mass[0])
    assert np.allclose(flow.angular, ours.angular, atol=ROUNDING * scale)
    assert flow.energy[0] < ours.energy[0]  # what differs between particles at one place is lost


@GRIDS
def test_without_the_gradient_the_flow_has_less(grid):
    """Negative control: velocities at the particles alone."""
    particles = scattered(grid, affine=True)
    rotate(particles, grid, spin_in(grid), np.zeros(3))
    whole = all_of(particles, grid)
    particles.affine[:] = 0.0
    assert np.abs(whole.angular - all_of(particles, grid).angular).max() > 1e-3 * np.abs(whole.angular).max()


def wanted_of(now: Momenta, grid: Grid, shift: float) -> Momenta:
    """Others, with the centre moved by a share of a cell."""
    rng = np.random.default_rng(5)
    by, push, turn = rng.normal(size=(3, *now.momentum.shape))
    if grid.dim == 2:
        by[:, 2] = push[:, 2] = turn[:, :2] = 0.0
    mass = now.mass[:, None]
    return replace(
        now,
        centre=now.centre + shift * grid.dx * by,
        momentum=now.momentum + mass * push,
        angular=now.angular + mass * grid.dx * turn,
    )


@GRIDS
@TRANSFERS
@pytest.mark.parametrize("shift", [0.0, 1e-3])
def test_groups_get_the_momenta_that_are_wanted(grid, affine, shift):
    particles = scattered(grid, affine)
    left = particles.position[:, 0] < np.median(particles.position[:, 0])
    groups = Groups(left.astype(np.int32), 2)
    wanted = wanted_of(momenta_of(particles, particles.volume, grid, groups), grid, shift)
    set_momenta(particles, particles.volume, grid, groups, wanted)
    found = momenta_of(particles, particles.volume, grid, groups)
    mass = wanted.mass[:, None]
    assert (np.abs(found.momentum - wanted.momentum) < ROUNDING * mass).all()
    assert (np.abs(found.centre - wanted.centre) < ROUNDING).all()
    # Where particles spread over samples depends on their place: a shift changes that part of angular momentum.
    moved = shift * grid.dx if affine else 0.0
    assert (np.abs(found.angular - wanted.angular) < mass * (ROUNDING + moved)).all()


def test_groups_are_counted_apart_and_others_not_at_all():
    particles = scattered(SPACE, affine=True)
    number = (np.arange(len(particles)) % 3 - 1).astype(np.int32)
    both = momenta_of(particles, particles.volume, SPACE, Groups(number, 2))
    for group in (0, 1):
        alone = momenta_of(particles, particles.volume, SPACE, Groups(np.where(number == group, 0, -1), 1))
        assert np.allclose(alone.angular[0], both.angular[group], rtol=1e-12)
        assert np.allclose(alone.momentum[0], both.momentum[group], rtol=1e-12)
        assert alone.mass[0] == pytest.approx(particles.volume[number == group].sum(dtype=float))


def test_particles_of_no_group_stay_as_they_are():
    particles = scattered(SPACE, affine=True)
    number = (np.arange(len(particles)) % 2 - 1).astype(np.int32)
    before = {name: values.copy() for name, values in particles.attributes.items()}
    groups = Groups(number, 1)
    set_momenta(
        *(particles, particles.volume, SPACE, groups),
        wanted_of(momenta_of(particles, particles.volume, SPACE, groups), SPACE, 0.1),
    )
    for name in ("position", "velocity", "affine"):
        assert np.array_equal(particles.attributes[name][number < 0], before[name][number < 0])
        assert not np.array_equal(particles.attributes[name][number == 0], before[name][number == 0])


def test_angular_momentum_about_a_point_adds_that_of_the_centre():
    particles, point = scattered(SPACE, affine=False), np.array([0.4, -1.0, 2.0])
    mass, x = particles.volume.astype(float), particles.position.astype(float)
    exact = (mass * np.cross(x - point, particles.velocity)).sum(axis=0)
    assert np.allclose(all_of(particles, SPACE).angular_about(point)[0], exact, rtol=1e-5)


@GRIDS
@TRANSFERS
def test_the_bits_do_not_depend_on_the_number_of_threads(grid, affine):
    answers = []
    for count in (1, 2):
        particles = scattered(grid, affine)
        groups = Groups.one(particles)
        with threads(count):
            now = momenta_of(particles, particles.volume, grid, groups)
            set_momenta(particles, particles.volume, grid, groups, wanted_of(now, grid, 0.1))
        moved = np.concatenate([particles.position, particles.velocity, particles.affine_or_none.reshape(-1, 3)])
        answers.append((now.angular.tobytes(), now.energy.tobytes(), moved.tobytes()))
    assert answers[0] == answers[1]
