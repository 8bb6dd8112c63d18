"""surface_tension in scenes: where it comes from, and what is refused."""

import pytest

from glug.errors import SceneError
from glug.scene import load, scenes
from glug.simulation.forecast.outlook import forecast
from glug.simulation.setting import Setting
from glug.simulation.stages import stages_of

CUBE = {
    "domain": {"size": [0.016, 0.016, 0.016], "resolution": 32},
    "volumes": [{"liquid": "water", "shape": {"kind": "sphere", "centre": [0.008] * 3, "radius": 0.004}}],
}


def drop(**liquid):
    return load(CUBE | {"liquids": {"water": {"material": "water"} | liquid}})


def test_a_material_pulls_only_where_it_is_asked_to():
    still = drop()
    assert still.liquids["water"].surface_tension == 0.0
    assert "tension" not in [stage.name for stage in stages_of(Setting(still))]
    asked = drop(surface_tension="material")
    assert asked.liquids["water"].surface_tension == 0.0728
    assert "tension" in [stage.name for stage in stages_of(Setting(asked))]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-0.07, "must be 0 to 10 N/m"),
        (72, "72 mN/m are 0.072"),
        ("strong", "must be a number [N/m]"),
        (True, "must be a number"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(value, said):
    with pytest.raises(SceneError) as error:
        drop(surface_tension=value)
    assert said in str(error.value) and "\n" not in str(error.value)
    assert "liquids.water.surface_tension" in str(error.value)


def test_material_needs_a_named_one():
    with pytest.raises(SceneError, match="surface_tension"):
        load(CUBE | {"liquids": {"water": {"density": 1000, "viscosity": 0, "surface_tension": "material"}}})


@pytest.mark.parametrize("mesh", ["tetrahedra", "octree"])
def test_a_mesh_without_tension_is_refused(mesh):
    water = {"density": 1000.0, "viscosity": 0.0, "surface_tension": 0.07}
    with pytest.raises(SceneError, match="surface tension needs regular cells"):
        load(CUBE | {"liquids": {"water": water}, "solver": {"mesh": mesh}, "refine": {"levels": 2}})


def test_check_says_what_acts_and_what_is_left_out():
    assert "0.0728 N/m, explicit" in forecast(drop(surface_tension="material")).text()
    assert 'surface_tension = "material" has it' in forecast(drop()).text()
    assert "tension" not in forecast(load("dam-break")).text()


def test_scenes_of_before_have_no_tension():
    own = {"ringing-drop", "cube-drop", "rayleigh-plateau", "dripping-tap", "crown"}
    own |= {"thin-sheet", "liquid-column", "sphere-splash", "drop-2d"}
    pulled = {name for name, _ in scenes() if Setting(load(name)).tension > 0.0}
    assert pulled == own
