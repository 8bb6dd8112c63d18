"""What three conditions at the surface do to a turning disc and to a beam (Batty 2010, Figures 3.4 and 3.8)."""

import pytest

from glug.studies.validate.surface_conditions import beam, beam_values, disc_values


def test_only_a_surface_free_of_traction_lets_a_disc_turn():
    left = {c: disc_values(32, c, frames=(1, 100)) for c in ("variational", "neumann", "dirichlet")}
    print(left)
    assert left["variational"]["spin_after_100"] > 0.5
    assert left["neumann"]["spin_after_1"] < 0.3  # lost at once
    assert left["dirichlet"]["spin_after_100"] < 0.1  # a velocity that is continued linearly hides it for some frames
    assert left["dirichlet"]["spin_after_1"] > left["neumann"]["spin_after_1"]


def test_a_beam_bends_shears_or_falls():
    values = {c: beam_values(32, c) for c in ("variational", "neumann", "dirichlet")}
    print(values)
    assert values["variational"]["tip_angle"] > 10.0
    assert values["neumann"]["tip_angle"] < 1.0
    assert values["neumann"]["tip_drop"] < 0.1  # hardly gives way
    assert values["dirichlet"]["tip_drop"] == pytest.approx(1.0, abs=0.05)  # falls as if nothing held it
    assert values["dirichlet"]["tip_angle"] < 5.0


def test_a_beam_gives_way_as_slowly_as_it_is_thick():
    """A hundred times the viscosity: the beam neither breaks nor turns about a hinge anywhere along it."""
    simulation = beam(32, "variational")
    scene = simulation.scene.model_dump(mode="json", by_alias=True)
    thick = scene | {"liquids": {"paste": {"density": 1000.0, "viscosity": 1e6}}}
    simulation = type(simulation)(thick)
    p = simulation.state.particles
    before = float(p.position[:, 1].mean())
    while simulation.state.frame < 4:
        simulation.step_once()
    assert before - float(simulation.state.particles.position[:, 1].mean()) < 0.002  # free fall: 0.14 m
