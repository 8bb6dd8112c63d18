"""Stages and solvers of one's own: put in, put in the place of others, taken out; and wrong use said in one line."""

import numpy as np
import pytest

import glug
from glug.errors import InputError, SceneError
from glug.scene.settings import PRESSURE_SOLVERS, PRESSURE_TAKES, VISCOSITY_SOLVERS
from glug.simulation.run import run_to_folder
from glug.simulation.stages import stages_of
from glug.solvers.stats import SolveStats

SCENE = {
    "domain": {"size": [0.5, 0.5], "resolution": 8},
    "liquids": {"water": {"material": "water"}},
    "volumes": [{"liquid": "water", "shape": {"kind": "box", "lower": [0, 0], "upper": [0.5, 0.25]}}],
}


def names(stages=None) -> list[str]:
    return [stage.name for stage in glug.Simulation(SCENE, stages=stages).stages]


def nothing(context: glug.StepContext) -> None:
    """A stage that does nothing."""


STAGE = glug.Stage("mine", nothing)


def test_a_stage_is_put_in():
    usual = names()
    at = usual.index("forces")
    assert names(lambda stages: stages.before("forces", STAGE)) == [*usual[:at], "mine", *usual[at:]]
    assert names(lambda stages: stages.after("forces", STAGE)) == [*usual[: at + 1], "mine", *usual[at + 1 :]]


def test_a_stage_is_taken_out():
    assert names(lambda stages: stages.without("heat", "reseed")) == [n for n in names() if n not in ("heat", "reseed")]


def test_a_stage_in_the_place_of_another_keeps_its_name_and_its_time_is_taken():
    simulation = glug.Simulation(SCENE, stages=lambda stages: stages.replaced("forces", nothing))
    stats = simulation.step_once()
    assert names(lambda stages: stages.replaced("forces", nothing)) == names()
    assert stats.seconds["forces"] >= 0.0
    assert np.abs(simulation.state.particles.velocity).max() == 0.0  # no gravity


def test_the_stages_of_other_simulations_stay_as_they_are():
    first = glug.Simulation(SCENE)
    before = list(first.stages)
    glug.Simulation(SCENE, stages=lambda stages: stages.without("heat"))
    assert list(first.stages) == before == list(stages_of(first.setting))


@pytest.mark.parametrize(
    "change",
    [
        lambda stages: stages.before("presure", STAGE),
        lambda stages: stages.after("presure", STAGE),
        lambda stages: stages.replaced("presure", nothing),
        lambda stages: stages.without("heat", "presure"),
        lambda stages: stages.upto("presure"),
    ],
)
def test_a_stage_that_is_not_there_is_named_beside_those_that_are(change):
    with pytest.raises(InputError) as error:
        glug.Simulation(SCENE, stages=change)
    message = str(error.value)
    assert "'presure'" in message
    assert "transfer_to_grid, forces, weigh, pressure" in message
    assert "\n" not in message


@pytest.fixture(autouse=True)
def own_names(monkeypatch):
    """What a test registers is forgotten after it."""
    for names in (PRESSURE_SOLVERS, VISCOSITY_SOLVERS):
        monkeypatch.setattr(names, "registered", [])
    takes = dict(PRESSURE_TAKES)
    yield
    PRESSURE_TAKES.clear()
    PRESSURE_TAKES.update(takes)


def test_a_stage_reads_what_earlier_ones_wrote_and_not_what_later_ones_will():
    early = glug.Stage("early", lambda context: context.velocity)
    simulation = glug.Simulation(SCENE, stages=lambda stages: stages.before("geometry", early))
    with pytest.raises(AttributeError, match="velocity"):
        simulation.step_once()


@pytest.mark.parametrize(
    ("register", "name"),
    [(glug.register_pressure_solver, "multigrid"), (glug.register_viscosity_solver, "auto")],
)
def test_solvers_of_glug_are_not_replaced(register, name):
    with pytest.raises(InputError) as error:
        register(name, nothing)
    assert str(error.value) == f"'{name}' is one of glug's own solvers: give yours another name"


@pytest.mark.parametrize("key", ["pressure", "viscosity"])
def test_a_solver_that_nobody_registered_is_named_beside_those_that_are(key):
    with pytest.raises(SceneError) as error:
        glug.load(SCENE, {f"solver.{key}": "multgrid"})
    message = str(error.value)
    assert f"solver.{key}: 'multgrid' is not valid; valid: " in message
    assert "jacobi-cg" in message
    assert "\n" not in message


BEYOND = {
    "tiles": {"solver.tiles": 4},
    "affine air": {"solver.air": "affine"},
    "separating walls": {"domain.walls": "separating"},
}


@pytest.mark.parametrize("feature", BEYOND)
def test_a_registered_pressure_solver_is_refused_what_it_does_not_take(feature):
    glug.register_pressure_solver("plain", nothing)
    glug.register_pressure_solver("knowing", nothing, takes=[feature])
    assert glug.load(SCENE, {"solver.pressure": "knowing", **BEYOND[feature]}).solver.pressure == "knowing"
    with pytest.raises(SceneError) as error:
        glug.load(SCENE, {"solver.pressure": "plain", **BEYOND[feature]})
    message = str(error.value)
    assert f"solver.pressure: 'plain' does not go with {feature}; valid: 'multigrid', 'jacobi-cg', " in message
    assert "\n" not in message and "knowing" in message


def test_a_pressure_solver_cannot_take_what_there_is_not():
    with pytest.raises(InputError, match="no solver takes 'tyles'; valid: 'tiles', 'affine air' or 'separating walls'"):
        glug.register_pressure_solver("plain", nothing, takes=["tyles"])


def test_a_registered_solver_is_called_by_its_name():
    calls = []

    def still(fluid, velocity, limits):
        calls.append(fluid.grid.dim)
        return SolveStats("still", 0, 0, 0.0, 0.0, True)

    glug.register_viscosity_solver("still", still)
    scene = glug.load({**SCENE, "liquids": {"water": {"material": "honey"}}}, {"solver.viscosity": "still"})
    glug.Simulation(scene).step_once()
    assert calls == [2]


@pytest.mark.parametrize("change", [lambda stages: None, lambda stages: [nothing]], ids=["nothing", "a function"])
def test_what_is_no_list_of_stages_is_said_in_one_line(change):
    with pytest.raises(InputError, match="stage"):
        glug.Simulation(SCENE, stages=change)


def test_a_force_of_the_wrong_shape_is_said_in_one_line():
    simulation = glug.Simulation(SCENE, forces=[lambda points, t: np.zeros(3)])
    with pytest.raises(InputError, match=r"accelerations \(n, 3\)"):
        simulation.step_once()


HONEY = SCENE | {"liquids": {"honey": {"material": "honey"}}, "volumes": [SCENE["volumes"][0] | {"liquid": "honey"}]}


def writers_in(simulation: glug.Simulation) -> dict[str, set[str]]:
    """The stages that write each field of the context in one step."""
    writers: dict[str, set[str]] = {}

    class Watched(glug.StepContext):
        stage = ""

        def __setattr__(self, name, value):
            writers.setdefault(name, set()).update({type(self).stage} - {""})
            super().__setattr__(name, value)

    context = Watched(simulation.setting, simulation.state)
    for name, run in simulation.stages:
        Watched.stage = name
        run(context)
    return writers


def test_every_field_of_a_context_has_one_writer():
    """But for those that are changed in place, and those that are given back."""
    writers: dict[str, set[str]] = {}
    for extra in ({}, {"solver": {"air": "constraint"}}, {"solver": {"tiles": 4, "tile_band": 1}}):
        for name, found in writers_in(glug.Simulation(HONEY | extra)).items():
            writers.setdefault(name, set()).update(found)
    shared = {name: found for name, found in writers.items() if len(found) > 1}
    assert shared.pop("q") == {"project", "pressure"}
    assert shared.pop("fraction") == {"geometry", "volumes"}  # which forgets it
    assert shared.pop("before") == {"transfer_to_grid", "transfer_to_particles"}  # likewise
    assert shared.pop("problem") == {"free_surface", "air", "regions"}  # terms are added
    assert not shared


MADE_ANEW = {"geometry", "free_surface", "air"}


def test_bubbles_that_have_lost_volume_make_the_geometry_again():
    """The exception: their surfaces are moved, and all that follows from them is made anew."""
    simulation = glug.Simulation(HONEY | {"solver": {"air": "constraint"}})
    simulation.step_once()
    simulation.state.bubbles.rest[:] *= 1.05  # what they are to have: more than is there
    writers = writers_in(simulation)
    again = {name for name, found in writers.items() if "bubbles" in found}
    assert again == {name for name, found in writers.items() if found & MADE_ANEW} - {"air_lost"} | {"growth"}
    assert {"solid", "phi", "bodies", "wet"} <= again
    assert all(
        len(writers[name] & MADE_ANEW) == 1 for name in again - {"problem", "growth"}
    )  # to which `air` adds a term


def test_a_viscous_scene_runs_without_its_first_projection():
    simulation = glug.Simulation(HONEY, stages=lambda stages: stages.without("project"))
    solves = simulation.step_once().solves
    assert {"viscosity", "pressure"} <= set(solves) and "project" not in solves


def test_a_run_to_a_folder_has_the_stages_and_forces_of_ones_own(tmp_path):
    """From its beginning, and as it goes on."""
    times, steps = [], []

    def force(points, time):
        times.append(time)
        return np.zeros_like(points)

    count = glug.Stage("count", lambda context: steps.append(context.state.step))
    scene = glug.load(SCENE, {"output.preview": False, "time.max_substeps": 1})
    for frames in (1, 2):
        own = {"stages": lambda stages: stages.before("forces", count), "forces": [force]}
        run_to_folder(scene, tmp_path / "run", frames, resume=True, **own)
    assert steps == [0, 1]
    assert set(times) == {0.0, 1 / scene.time.fps}
