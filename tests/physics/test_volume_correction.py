"""The divergence that a volume correction asks for: nothing for noise, no more than a share, nothing inside solids."""

import numpy as np
import pytest

from glug.grids.regular import Grid
from glug.particles.storage import Particles
from glug.particles.transfer import to_cells
from glug.physics.pressure.volume import (
    DEAD_AROUND,
    DEAD_CURVED,
    DEAD_NOISE,
    HALF_REACH,
    LEAST_HELD,
    MOST,
    VolumeCorrection,
    around,
    as_spread,
)

GRID = Grid(0.1, (8, 6, 4))
DT = 0.02
SCALE = GRID.dx / DT
FULL = (2 * HALF_REACH + 1) ** 6  # what `around` makes of cells that hold 1


def asked(
    ratio: np.ndarray | float,
    *,
    gain: float = 1.0,
    held: float = FULL,
    openness: np.ndarray | float = 1.0,
    label: np.ndarray | None = None,
) -> np.ndarray:
    """Relative growth of every cell in a step, where it carries `ratio` of what it holds."""
    holds = np.full(GRID.shape, held, np.float32)
    label = np.zeros(GRID.shape, np.int32) if label is None else label
    rhs = GRID.scalar()
    correction = VolumeCorrection((holds * ratio).astype(np.float32), holds, gain, DT)
    correction.add_to(rhs, label, int(label.max()) + 1, np.full(GRID.shape, openness, np.float32), GRID)
    return rhs / SCALE


@pytest.mark.parametrize("excess", [0.0, 0.9 * DEAD_NOISE, -0.9 * DEAD_NOISE])
def test_small_differences_are_left_alone(excess):
    assert not asked(1.0 + excess).any()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_component_is_corrected_beyond_its_dead_band(sign):
    assert asked(1.0 + sign * (DEAD_NOISE + 0.01)) == pytest.approx(sign * 0.01, rel=1e-3)


def test_the_dead_band_of_a_component_is_wider_the_more_of_it_is_surface():
    """Of sheets of one cell all is surface, of a block with a corner missing little, and beside a solid is none."""
    sheets, block = np.zeros(GRID.shape, np.int32), np.zeros(GRID.shape, np.int32)
    sheets[:, ::2], block[0, 0, 0] = -1, -1
    excess = DEAD_CURVED + 0.01
    for label, behind, dead in [(sheets, 1.0, DEAD_CURVED), (sheets, 0.0, DEAD_NOISE), (block, 1.0, DEAD_NOISE)]:
        openness = np.where(label < 0, behind, 1.0)
        growth = asked(1.0 + excess, label=label, openness=openness)
        assert growth[label == 0] == pytest.approx(excess - dead, rel=1e-3)


@pytest.mark.parametrize("sign", [1, -1])
def test_surroundings_are_corrected_beyond_theirs(sign):
    """One half has more and the other less, the component as a whole is right."""
    ratio = np.ones(GRID.shape)
    ratio[:4] += sign * (DEAD_AROUND + 0.01)
    ratio[4:] -= sign * (DEAD_AROUND + 0.01)
    growth = asked(ratio)
    assert growth[:4] == pytest.approx(sign * 0.01, rel=1e-3)
    assert growth[4:] == pytest.approx(-sign * 0.01, rel=1e-3)


@pytest.mark.parametrize("ratio, growth", [(2.0, MOST), (0.2, -MOST)])
def test_a_step_changes_no_more_than_a_share(ratio, growth):
    assert asked(ratio) == pytest.approx(growth)


def test_the_gain_is_a_share_of_the_error():
    assert asked(1.0 + DEAD_NOISE + 0.03, gain=0.1) == pytest.approx(0.003, rel=1e-3)


def test_what_is_inside_a_solid_does_not_grow():
    whole, half, none = (asked(1.2, openness=share).mean() for share in (1.0, 0.5, 0.0))
    assert half == pytest.approx(0.5 * whole)
    assert none == 0.0 and whole > 0.0


def test_spray_is_left_alone():
    least = LEAST_HELD * FULL
    assert not asked(2.0, held=0.99 * least).any()
    assert asked(2.0, held=1.01 * least).all()


def test_air_has_no_target_and_components_their_own():
    label = np.zeros(GRID.shape, np.int32)
    label[4:], label[:, :, 3] = 1, -1
    ratio = np.ones(GRID.shape)
    ratio[4:] = 1.0 + DEAD_CURVED + 0.01  # a third of its cells have air beside them
    growth = asked(ratio, label=label)
    assert not growth[:4].any() and not growth[:, :, 3].any()
    assert growth[4:, :, :3] == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("period", [2, 3, 4, 5, 8])
def test_sums_around_a_cell_never_turn_a_wave_over(period):
    """Crowds that alternate: where there are more, the sum must not be less. A plain box has the wrong sign."""
    wave = np.cos(2 * np.pi * np.arange(40) / period).astype(np.float32)
    values = np.broadcast_to(wave[:, None, None], (40, 12, 12)).copy()
    found = around(values)[10:30, 6, 6] / FULL
    assert found @ wave[10:30] >= -1e-5


@pytest.mark.parametrize("walls", [1, 2, 3])
def test_fractions_are_spread_as_wide_as_particles(walls):
    """Beside a wall, in an edge and in a corner that rows of particles fill, both agree around every cell."""
    grid, cells = Grid(1.0, (20, 20, 20)), [10] * walls + [20] * (3 - walls)
    rows = np.meshgrid(*((np.arange(2 * n) + 0.5) / 2 for n in cells))  # two particles to a cell along every axis
    particles = Particles.empty()
    particles.append(np.stack(rows, axis=-1).reshape(-1, 3), volume=1 / 8)
    particles.sort(grid)
    fraction = grid.scalar()
    fraction[tuple(slice(n) for n in cells)] = 1.0
    wide = as_spread(fraction.copy(), 3)
    fields = to_cells(particles.volume, particles, grid), wide, fraction
    beside = tuple(slice(4, min(n, 16)) for n in cells)
    carried, held, narrow = (around(field)[beside] for field in fields)
    assert np.abs(carried / held - 1.0).max() < 1e-5
    assert np.abs(carried / narrow - 1.0).max() > DEAD_CURVED  # the control
