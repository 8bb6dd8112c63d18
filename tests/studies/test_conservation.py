"""What whole runs keep: small runs, and long ones that are marked slow."""

import numpy as np
import pytest

from glug.physics.pressure import volume
from glug.simulation.context import StepContext
from glug.simulation.stages import motion
from glug.studies.registry import StudyOptions, run_study
from glug.studies.validate.conserved.free_flight import (
    Ball,
    Collision,
    as_it_is,
    with_constants_beyond,
    without_keeping,
)
from glug.studies.validate.conserved.standing_wave import Wave, watch
from glug.studies.validate.lid_driven import GHIA, SECONDS, Box

TRANSFERS = pytest.mark.parametrize("transfer", ["flip", "apic"])


# A standing wave


def check(wave: Wave, seconds: float, frequency: float) -> None:
    """No void deeper than two cells, no energy from nowhere, the formula's frequency, no thin cells and no crowds.

    Thin by what particles share with a cell, which is what is evened out: they may all be just beyond its sides.
    """
    found = watch(wave, seconds)
    assert found.void <= 2
    assert found.energy() < 1.05
    assert found.motion() < 1.05
    assert found.frequency() == pytest.approx(1.0, abs=frequency)
    assert found.sunk() < 0.05  # cells
    nominal = 4 if wave.dim == 2 else 8
    assert found.most <= 2 * nominal + 1  # the twin of a particle that was split in the cell beside
    assert found.thinnest > 0.5 and found.fullest < 1.5


def test_a_standing_wave_keeps_its_frequency_and_makes_no_voids() -> None:
    check(Wave(24, fps=60.0), 3.8, 0.02)  # three periods; 24 cells see the surface to 1%


TANK = Wave(32, fps=24.0, transfer="apic", dim=3)


def test_water_between_walls_does_not_sink() -> None:
    assert watch(TANK, 1.0).sunk() < 0.005  # cells


def test_it_does_where_fractions_are_narrower_than_particles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: particles at walls seem to be missing, and the volume correction makes the liquid contract."""
    monkeypatch.setattr(volume, "as_spread", lambda fraction, dim: fraction)
    assert watch(TANK, 1.0).sunk() > 0.02


COARSE = Wave(32, fps=48.0, seed=1)  # its surface is a third of a cell high


def test_a_wave_lower_than_a_cell_gains_no_energy() -> None:
    found = watch(COARSE, 20.0)
    assert found.energy() < 1.05 and found.motion() < 1.05
    assert found.left() > 0.9


def test_it_does_where_faces_beside_the_surface_see_the_velocity_below_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control."""
    monkeypatch.setattr("glug.simulation.stages.transfer.BESIDE_AIR", -1e9)
    assert watch(COARSE, 20.0).energy() > 1.1


def energy_with_unequal_steps(monkeypatch: pytest.MonkeyPatch) -> float:
    """Of a wave that every step may see for twice as long as the one before, or for half as long."""
    chance = np.random.default_rng(0)

    def either(setting, state):
        return min(float(chance.choice([1 / 16, 1 / 32])), (state.frame + 1) / setting.scene.time.fps - state.time)

    monkeypatch.setattr(motion, "choose_time_step", either)
    return watch(Wave(48, fps=4.0), 20.0).energy()


def test_a_wave_gains_nothing_where_steps_change(monkeypatch: pytest.MonkeyPatch) -> None:
    assert energy_with_unequal_steps(monkeypatch) < 1.05


def test_it_does_where_forces_act_for_the_step_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: a leapfrog of first order in how steps change."""
    monkeypatch.setattr(StepContext, "acting", property(lambda context: context.dt))
    assert energy_with_unequal_steps(monkeypatch) > 1.3


@pytest.mark.slow
@TRANSFERS
@pytest.mark.parametrize("fps, seconds", [(24.0, 60.0), (120.0, 60.0), (480.0, 20.0)])
def test_a_standing_wave_lasts_with_short_and_long_steps(fps: float, transfer: str, seconds: float) -> None:
    check(Wave(64, fps=fps, transfer=transfer), seconds, 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("cfl, fps", [(0.2, 24.0), (4.0, 4.0)])  # the frames are long enough for steps of four cells
def test_a_standing_wave_lasts_at_any_cfl(cfl: float, fps: float) -> None:
    check(Wave(64, fps=fps, cfl=cfl), 60.0, 0.01)


@pytest.mark.slow
@TRANSFERS
def test_a_standing_wave_lasts_in_space(transfer: str) -> None:
    check(Wave(64, fps=60.0, transfer=transfer, dim=3), 4.0, 0.01)


@pytest.mark.slow
def test_without_volume_correction_voids_open_and_collapse() -> None:
    """Negative control: half a minute is long enough for particles to leave cells."""
    found = watch(Wave(64, fps=24.0, transfer="apic", volume_correction=0.0), 45.0)
    assert found.void > 2
    assert found.motion() > 2.0


# Honey in free space


@TRANSFERS
def test_a_ball_that_turns_keeps_its_angular_momentum_and_shape(transfer: str) -> None:
    found = Ball(16, transfer=transfer, steps_per_turn=12).turned(1.0)
    assert found.angular == pytest.approx(1.0, abs=1e-3)
    assert found.tilt < 0.1
    assert found.shape < 0.5
    assert found.centre < 1e-3


def test_without_what_keeps_it_a_ball_slows_down_and_with_constants_beyond_its_surface_more() -> None:
    """Negative controls."""
    linear, constant = (Ball(16, steps_per_turn=12).turned(0.5, c) for c in (without_keeping, with_constants_beyond))
    assert constant.angular < linear.angular < 0.95


@pytest.mark.slow
@TRANSFERS
@pytest.mark.parametrize("viscosity, spreading", [(10.0, 1e-5), (0.1, 1e-3)])
def test_a_ball_keeps_its_angular_momentum_over_ten_turns(viscosity: float, spreading: float, transfer: str) -> None:
    """Equally fast: honey, and a liquid of a hundredth of its viscosity."""
    found = Ball(48, viscosity, transfer, spreading=spreading).turned(10.0)
    assert found.angular == pytest.approx(1.0, abs=0.03)
    assert found.tilt < 1.0
    assert found.shape < 0.5


@TRANSFERS
def test_balls_that_collide_keep_their_momenta_and_path(transfer: str) -> None:
    found = Collision(24, transfer=transfer, fps=30.0).collided(0.5)
    assert found.momentum < 1e-3
    assert found.angular < 0.01
    assert found.centre < 0.05
    assert found.energy < 0.7  # they do meet


def test_without_what_keeps_them_they_do_not() -> None:
    """Negative control."""
    found = Collision(24, fps=30.0).collided(0.5, without_keeping)
    assert found.momentum > 0.01
    assert found.angular > 0.01


@pytest.mark.slow
@TRANSFERS
def test_balls_that_collide_keep_their_momenta_on_a_fine_grid(transfer: str) -> None:
    found = Collision(48, transfer=transfer).collided(1.0, as_it_is)
    assert found.momentum < 1e-3
    assert found.angular < 0.01
    assert found.centre < 0.05


# A box under a sliding lid


@pytest.mark.slow
@pytest.mark.parametrize("reynolds, error", [(100, 0.07), (400, 0.09)])
def test_a_box_under_a_lid_turns_nearly_as_fast_as_published_and_stays_full(reynolds: int, error: float) -> None:
    found = Box(32, reynolds).run(SECONDS[reynolds])
    assert found.smallest() == pytest.approx(GHIA[reynolds], rel=error)
    assert found.fewest >= 0.5 and found.most <= 1.5


# Rows


@pytest.mark.slow
def test_the_study_has_a_row_for_every_quantity() -> None:
    rows = run_study("conservation", StudyOptions(largest_grid=16))
    tables = {row.table.split("-")[0] for row in rows}
    assert tables == {"wave", "ball", "collision"}
    assert {row.quantity for row in rows} >= {"frequency", "energy", "void", "angular", "tilt", "shape", "centre_off"}
