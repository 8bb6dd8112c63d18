"""What a transfer keeps: affine fields (APIC), particle velocities (FLIP), momentum (both); PIC does not."""

import numpy as np
import pytest

from glug.grids.regular import FACES, Grid, Staggered
from glug.jit import threads
from glug.particles import kernels, transfer
from glug.particles.storage import Particles
from glug.simulation.stages.transfer import beside_air

SPACE = Grid(0.125, (12, 10, 11), lo=(-2, 1, 3), origin=(0.3, 0.1, -0.2))
FLAT = Grid(0.125, (12, 10, 1), lo=(-2, 1, 0), origin=(0.3, 0.1, 0.0), dim=2)
GRIDS = pytest.mark.parametrize("grid", [SPACE, FLAT], ids=["3D", "2D"])
VOLUME = 1.0
# Values are of order one and a transfer adds some ten of them: float32 leaves 1e-6.
ROUNDING = 5e-6


def scattered(grid: Grid, affine: bool = True, seed: int = 0) -> Particles:
    """Eight particles a cell on average, of uneven volume, two cells away from the grid's border; sorted."""
    rng = np.random.default_rng(seed)
    border = np.array([2, 2, 2 if grid.dim == 3 else 0])
    cells = np.array(grid.shape) - 2 * border
    index = border + rng.uniform(0.001, 0.999, (8 * int(cells.prod()), 3)) * cells
    if grid.dim == 2:
        index[:, 2] = 0.5
    particles = Particles.empty(("affine",) if affine else ())
    particles.append(grid.corner + grid.dx * index, volume=VOLUME * rng.uniform(0.5, 1.5, len(index)))
    particles.sort(grid)
    return particles


def gradient(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """A and b of a velocity A x + b; in 2D without any z."""
    rng = np.random.default_rng(7)
    A, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    if grid.dim == 2:
        A[2] = A[:, 2] = b[2] = 0.0
    return A, b


def on_faces(grid: Grid, A: np.ndarray, b: np.ndarray) -> Staggered:
    """The exact face values of A x + b."""
    u, v, w = ((grid.points(o) @ A[a] + b[a]).astype(np.float32) for a, o in enumerate(FACES))
    return u, v, w


def give(particles: Particles, grid: Grid, A: np.ndarray, b: np.ndarray) -> None:
    """Let the particles move as A x + b, with the gradient that belongs to it."""
    particles.velocity[:] = particles.position @ A.T + b
    particles.affine[:] = (grid.dx * A).ravel()


def random_motion(particles: Particles, grid: Grid) -> None:
    rng = np.random.default_rng(3)
    for name in particles.attributes:
        if name in ("velocity", "affine"):
            values = particles.attributes[name]
            values[:] = rng.normal(size=values.shape)
            if grid.dim == 2:
                values[:, 2::3] = 0.0
                values[:, 6:] = 0.0


@GRIDS
def test_apic_puts_an_affine_field_on_the_faces_exactly(grid):
    particles, (A, b) = scattered(grid), gradient(grid)
    give(particles, grid, A, b)
    velocity, reached = transfer.to_grid(particles, grid, VOLUME)
    for u, exact, face in zip(velocity, on_faces(grid, A, b), reached[: grid.dim]):
        assert (face > 0).sum() > 0.3 * face.size
        assert np.abs(u - exact)[face > 0].max() < ROUNDING


def test_without_the_gradient_an_affine_field_is_not_exact():
    """Negative control: FLIP's transfer to the grid smears it by a fraction of the change across a cell."""
    particles, (A, b) = scattered(SPACE, affine=False), gradient(SPACE)
    particles.velocity[:] = particles.position @ A.T + b
    velocity, reached = transfer.to_grid(particles, SPACE, VOLUME)
    error = np.abs(velocity[0] - on_faces(SPACE, A, b)[0])[reached[0] > 0].max()
    assert error > 0.1 * SPACE.dx


@GRIDS
def test_apic_takes_an_affine_field_from_the_faces_exactly(grid):
    particles, (A, b) = scattered(grid), gradient(grid)
    transfer.to_particles_apic(particles, grid, on_faces(grid, A, b))
    assert np.abs(particles.velocity - (particles.position @ A.T + b)).max() < ROUNDING
    assert np.abs(particles.affine - (grid.dx * A).ravel()).max() < ROUNDING


@GRIDS
def test_apic_keeps_an_affine_motion_on_the_way_to_the_grid_and_back(grid):
    particles, (A, b) = scattered(grid), gradient(grid)
    give(particles, grid, A, b)
    before = particles.velocity.copy()
    velocity, _ = transfer.to_grid(particles, grid, VOLUME)
    transfer.to_particles_apic(particles, grid, velocity)
    # Away from the border of the particles, where faces that they hardly reach count as empty.
    cell = (particles.position - grid.corner) / grid.dx
    inner = ((cell > 3) & (cell < np.array(grid.shape) - 3))[:, : grid.dim].all(axis=1)
    assert inner.sum() > 100
    assert np.abs(particles.velocity - before)[inner].max() < ROUNDING
    assert np.abs(particles.affine - (grid.dx * A).ravel())[inner].max() < ROUNDING


@GRIDS
@pytest.mark.parametrize("affine", [True, False], ids=["apic", "flip"])
def test_the_grid_has_the_momentum_of_the_particles(grid, affine):
    particles = scattered(grid, affine)
    random_motion(particles, grid)
    momentum, mass = grid.staggered(), grid.staggered()
    p = particles
    kernels.to_grid(
        p.position,
        p.velocity,
        p.affine_or_none,
        p.volume,
        p.start,
        grid.shape,
        grid.corner.astype(np.float32),
        np.float32(1.0 / grid.dx),
        *momentum,
        *mass,
    )
    size = float((p.volume * np.abs(p.velocity)).sum(dtype=np.float64))
    for a in grid.axes:
        exact = float((p.volume[:, 0] * p.velocity[:, a]).sum(dtype=np.float64))
        assert abs(momentum[a].sum(dtype=np.float64) - exact) < 1e-6 * size
        assert mass[a].sum(dtype=np.float64) == pytest.approx(p.volume.sum(dtype=np.float64), rel=1e-6)


@GRIDS
def test_flip_keeps_velocities_when_the_grid_does_not_change(grid):
    particles = scattered(grid, affine=False)
    random_motion(particles, grid)
    before = particles.velocity.copy()
    velocity, _ = transfer.to_grid(particles, grid, VOLUME)
    transfer.to_particles_flip(particles, grid, velocity, velocity, ratio=1.0)
    assert np.abs(particles.velocity - before).max() < ROUNDING


def test_pic_loses_what_the_grid_cannot_carry():
    """Negative control: of independent random velocities less than half the energy is left."""
    particles = scattered(SPACE, affine=False)
    random_motion(particles, SPACE)
    before = (particles.velocity**2).sum()
    velocity, _ = transfer.to_grid(particles, SPACE, VOLUME)
    transfer.to_particles_flip(particles, SPACE, velocity, velocity, ratio=0.0)
    assert (particles.velocity**2).sum() < 0.5 * before


def test_flip_adds_the_change_of_the_grid():
    particles = scattered(SPACE, affine=False)
    random_motion(particles, SPACE)
    before = particles.velocity.copy()
    velocity, _ = transfer.to_grid(particles, SPACE, VOLUME)
    A, b = gradient(SPACE)
    after = tuple(u + change for u, change in zip(velocity, on_faces(SPACE, A, b)))
    transfer.to_particles_flip(particles, SPACE, after, velocity, ratio=1.0)
    assert np.abs(particles.velocity - before - (particles.position @ A.T + b)).max() < ROUNDING


@pytest.mark.parametrize("affine", [True, False], ids=["apic", "flip"])
def test_faces_that_no_particle_reaches_are_marked(affine):
    particles = scattered(SPACE, affine)
    particles.velocity[:] = 1.0
    velocity, reached = transfer.to_grid(particles, SPACE, VOLUME)
    for u, face in zip(velocity, reached):
        assert set(np.unique(face)) == {0.0, 1.0}
        assert not u[face == 0].any()
        assert not face[0].any() and not face[-1].any()


@pytest.mark.parametrize("affine", [True, False], ids=["apic", "flip"])
def test_the_grid_does_not_depend_on_the_number_of_threads(affine):
    particles = scattered(SPACE, affine)
    random_motion(particles, SPACE)
    answers = []
    for count in (1, 2):
        with threads(count):
            answers.append(transfer.to_grid(particles, SPACE, VOLUME)[0])
    for a, b in zip(*answers):
        assert np.array_equal(a, b)


def test_cell_means_are_means_over_the_particles_of_a_cell():
    grid = Grid(1.0, (3, 2, 2))
    particles = Particles.empty(("temperature",))
    position = np.array([[0.5, 0.5, 0.5], [0.2, 0.9, 0.1], [2.5, 1.5, 1.5]])
    particles.append(position, volume=1.0, temperature=np.array([10.0, 30.0, 50.0]))
    particles.sort(grid)
    means = transfer.cell_means(particles.temperature, particles, grid, missing=-1.0)
    expected = np.full(grid.shape, -1.0)
    expected[0, 0, 0], expected[2, 1, 1] = 20.0, 50.0
    assert np.array_equal(means, expected)


# -- faces beside a surface ---------------------------------------------------------------------------------


def below_a_surface(grid: Grid, A: np.ndarray, b: np.ndarray) -> tuple[Particles, np.ndarray]:
    """Particles that move as A x + b, all below the middle of the grid and sorted; 1 in the cells below it."""
    particles = scattered(grid, affine=False)
    cell = (particles.position[:, 1] - grid.corner[1]) / grid.dx
    particles.keep(cell < 0.5 * grid.shape[1])
    particles.sort(grid)
    particles.velocity[:] = particles.position @ A.T + b
    below = np.zeros(grid.shape, np.uint8)
    below[:, : grid.shape[1] // 2] = 1
    return particles, below


def missed_beside_a_surface(grid: Grid, near: bool) -> float:
    """The mean error of v on the faces of the surface, over the change of v across a cell."""
    A, b = np.zeros((3, 3)), np.zeros(3)
    A[1, 1] = 1.0
    particles, below = below_a_surface(grid, A, b)
    velocity, reached = transfer.to_grid(particles, grid, VOLUME, near=below if near else None)
    inner = (slice(3, -3), grid.shape[1] // 2, slice(3, -3) if grid.dim == 3 else slice(None))
    assert (reached[1][inner] > 0).all()
    return float((velocity[1] - on_faces(grid, A, b)[1])[inner].mean() / grid.dx)


@GRIDS
def test_faces_of_a_surface_have_the_velocity_of_their_own_place(grid):
    """Their particles are a third of a cell below them, on average: of that a ninth and a share of it are left."""
    assert abs(missed_beside_a_surface(grid, near=True)) < 0.08


@GRIDS
def test_without_slopes_faces_of_a_surface_have_the_velocity_below_them(grid):
    """Negative control."""
    assert missed_beside_a_surface(grid, near=False) == pytest.approx(-1 / 3, abs=0.05)


@GRIDS
def test_slopes_keep_the_momentum_of_the_grid(grid):
    """What they add to one face of a particle they take from another."""
    particles, below = below_a_surface(grid, *gradient(grid))
    slopes, p = grid.staggered(), particles
    velocity, _ = transfer.to_grid(p, grid, VOLUME)
    place = grid.corner.astype(np.float32), np.float32(1.0 / grid.dx)
    kernels.slopes_to_grid(p.position, p.volume, p.start, below, *place, *velocity, *slopes)
    for a in grid.axes:
        size = np.abs(slopes[a]).sum(dtype=np.float64)
        assert size > 0.1
        assert abs(slopes[a].sum(dtype=np.float64)) < 1e-6 * size


def test_particles_that_reach_beyond_the_grid_give_no_slopes():
    """Those in its outermost cells."""
    near = beside_air(np.full((5, 6, 7), 0.1, np.float32), 0.1)
    assert near[1:-1, 1:-1, 1:-1].all() and near.sum() == 3 * 4 * 5
    assert beside_air(np.full((5, 6, 1), 0.1, np.float32), 0.1)[1:-1, 1:-1].all()  # in 2D there is one layer
