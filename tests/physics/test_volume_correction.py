"""The divergence that a volume correction asks for: nothing for noise, no more than a share, nothing inside solids."""

import numpy as np
import pytest

from glug.grids.regular import Grid
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


def test_fractions_are_spread_as_wide_as_particles():
    """A full half-space of particles in rows, shared between two centres, and its fraction agree around every cell."""
    cells = np.arange(20)
    carried = np.where(cells < 10, 1.0, 0.0).astype(np.float32)
    carried[9], carried[10] = 7 / 8, 1 / 8  # a box of width dx shared by a hat: an eighth beyond the side
    fraction = np.where(cells < 10, 1.0, 0.0).astype(np.float32)
    shape = (20, 12, 12)
    of_particles = around(np.broadcast_to(carried[:, None, None], shape).copy())
    of_fractions = around(as_spread(np.broadcast_to(fraction[:, None, None], shape).copy(), 3))
    assert np.abs(of_particles - of_fractions)[2:18, 5:7, 5:7].max() < DEAD_CURVED * FULL
