"""Drops and waves under tension beside their formulas; without tension they do something else."""

import pytest

from glug.simulation import Simulation
from glug.studies.registry import STUDIES
from glug.studies.validate.tension.drops import Drop
from glug.studies.validate.tension.oscillation import Method, with_constant_curvature
from glug.studies.validate.tension.waves import BULGE, CapillaryWave, Thread


@pytest.mark.parametrize("n", [2, 4])
def test_a_disc_rings_with_rayleighs_period(n):
    drop = Drop(10.0)
    found = drop.ring(n)
    period, kept = found.oscillation(drop.omega(n))
    assert period == pytest.approx(1.0, abs=0.03)
    assert kept == pytest.approx(1.0, abs=0.03)
    assert found.momentum < 1e-3 * drop.speed  # tension is an internal force


def test_a_disc_of_constant_curvature_does_not_ring():
    """Control: after a period it is far from where it would be back."""
    drop = Drop(8.0)
    ringing, drifting = (drop.ring(3, 1.0, change=c) for c in (lambda s: s, with_constant_curvature))
    highest = max(abs(y - ringing.values[0]) for y in ringing.values)
    assert abs(ringing.values[-1] - ringing.values[0]) < 0.3 * highest
    assert abs(drifting.values[-1] - drifting.values[0]) > 3.0 * highest


def test_a_round_disc_has_laplaces_pressure_and_stays_at_rest():
    found = Drop(10.0).at_rest(500)
    assert found.jump == pytest.approx(1.0, abs=0.01)
    assert found.speed < 0.02


def test_implicit_tension_is_stable_at_ten_times_the_explicit_limit():
    drop = Drop(10.0, 2, Method("implicit", 2.5))
    period, kept = drop.ring(2).oscillation(drop.omega(2))
    assert period == pytest.approx(1.0, abs=0.03)
    assert kept == pytest.approx(1.0, abs=0.04)
    assert drop.at_rest(500).speed < 0.02


def test_a_capillary_wave_has_the_period_of_the_formula():
    wave = CapillaryWave(40)
    period, kept = wave.swing().oscillation(wave.omega)
    assert period == pytest.approx(1.0, abs=0.02)
    assert kept == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_ball_rings_with_rayleighs_period(n):
    drop = Drop(10.0, 3, Method(step=0.35))
    period, kept = drop.ring(n, 1.1).oscillation(drop.omega(n))
    assert period == pytest.approx(1.0, abs=0.03)
    assert kept == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("begin", [BULGE, -BULGE])
@pytest.mark.parametrize("number", [0.5, 0.7, 0.9])
def test_a_thread_grows_with_rayleighs_rate(number, begin):
    assert Thread(6.0, number, Method(step=0.5)).grow(amplitude=begin) == pytest.approx(1.0, abs=0.1)


def test_explicit_steps_keep_the_capillary_limit_and_say_where_they_may_not():
    scene = Drop(5.0, 2, Method(step=1.0)).scene()
    scene["time"] |= {"capillary": 0.25, "max_substeps": 4}
    simulation = Simulation(scene)
    assert simulation.step_once().dt == pytest.approx(0.25 / scene["time"]["fps"])
    scene["time"]["max_substeps"] = 1
    assert "surface tension wants steps" in Simulation(scene).step_once().warnings[0]
    scene["solver"]["tension"] = "implicit"
    implicit = Simulation(scene).setting.capillary_step
    assert implicit == pytest.approx(10.0 * 0.25 / scene["time"]["fps"])


def test_the_study_is_registered():
    assert "surface-tension" in STUDIES
