"""A disc of any density sets off as two phases say; a constraint bubble only when it is light."""

import pytest

from glug.studies.validate.air.bubble_acceleration import MODELS, PUBLISHED, DiscInBox

LIGHT = [d for d in PUBLISHED if d <= 1.0]
HEAVY = [d for d in PUBLISHED if d >= 1000.0]


@pytest.fixture(scope="module")
def problem() -> DiscInBox:
    return DiscInBox.at(128)


@pytest.mark.parametrize("density", PUBLISHED)
def test_two_phases_give_the_published_figures(problem: DiscInBox, density: float):
    ours = problem.acceleration(MODELS["two-phase"](problem, density))
    assert ours == pytest.approx(PUBLISHED[density], abs=1e-4)  # four digits were published


@pytest.mark.parametrize("density", LIGHT)
def test_a_constraint_bubble_is_right_when_light(problem: DiscInBox, density: float):
    ours = problem.acceleration(MODELS["constraint"](problem, density))
    assert ours == pytest.approx(PUBLISHED[density], rel=0.005)


@pytest.mark.parametrize("density", HEAVY)
def test_a_constraint_bubble_is_wrong_when_heavy(problem: DiscInBox, density: float):
    ours = problem.acceleration(MODELS["constraint"](problem, density))
    assert ours > PUBLISHED[density] + 0.8


@pytest.mark.parametrize("density", PUBLISHED)
@pytest.mark.parametrize("model", ["affine", "affine-tiles"])
def test_an_affine_bubble_is_right_whatever_its_density(problem: DiscInBox, model: str, density: float):
    ours = problem.acceleration(MODELS[model](problem, density))
    assert ours == pytest.approx(problem.acceleration(MODELS["two-phase"](problem, density)), rel=0.01, abs=1e-8)
