"""Scenes load, round-trip, and say in one line what is wrong with them."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import glug
from glug.errors import InputError, MeshError, SceneError
from glug.scene import Scene, load, parse_override, scenes, starter_scene, to_toml
from glug.scene.materials import MATERIALS

PROMISED = {
    "honey-coil",
    "dam-break",
    "viscous-beam",
    "buckling-sheet",
    "variable-viscosity-block",
    "melting",
    "letter-mixer",
    "water-drop",
    "container-fill",
    "water-cooler",
    "rising-bubble",
    "bubble-tube",
    "chocolate",
}
NAMES = [name for name, _ in scenes()]
MINIMAL: dict[str, Any] = {
    "name": "tank",
    "domain": {"size": [1, 1, 1]},
    "liquids": {"water": {"material": "water"}},
    "volumes": [{"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [0.5, 0.5, 0.5]}, "liquid": "water"}],
}
PLATE = {"kind": "box", "lower": [0, 0, 0], "upper": [1, 0.1, 1]}


def test_library_holds_the_promised_scenes_with_descriptions() -> None:
    assert set(NAMES) >= PROMISED
    assert all(description and "\n" not in description for _, description in scenes())


@pytest.mark.parametrize("name", NAMES)
def test_library_scene_round_trips_through_toml(name: str, tmp_path: Path) -> None:
    scene = load(name)
    assert scene.name == name
    file = tmp_path / "scene.toml"
    file.write_text(to_toml(scene))
    assert load(file) == scene
    assert load(tomllib.loads(to_toml(scene))) == scene


@pytest.mark.parametrize("name", NAMES)
def test_library_scene_has_liquid_clear_of_solids(name: str) -> None:
    scene = load(name)
    lower, upper = scene.domain.lower, scene.domain.upper
    points = np.random.default_rng(0).uniform(lower, upper, (200_000, 3))
    for solid in scene.solids:
        points = points[solid.distance(points, 0.0) > 0]
    for volume in scene.volumes:
        assert np.count_nonzero(volume.shape.distance(points) < 0) > 100
    for source in scene.sources:
        assert np.count_nonzero(source.distance(points, source.start) < 0) > 10
        # A nozzle thinner than three cells gives no smooth stream.
        lower, upper = source.shape.bounds()
        assert np.sort((upper - lower)[: scene.domain.dim])[-2] > 3 * scene.domain.dx


def test_honey_coil_is_fine_and_long_enough() -> None:
    scene = load("honey-coil")
    assert min(scene.domain.shape[0], scene.domain.shape[2]) >= 48 and scene.time.frames >= 48


def test_starter_scene_loads(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(starter_scene())
    scene = load(tmp_path / "mine.toml")
    assert scene.name == "mine" and scene.solids[0].moving
    assert all(material in starter_scene() for material in MATERIALS)


def test_domain_geometry() -> None:
    domain = load(MINIMAL, {"domain": {"size": [2.0, 1.01, 0.5], "resolution": 100, "origin": [-1, -0.5, -0.2]}}).domain
    assert (domain.dim, domain.dx, domain.shape) == (3, 0.02, (100, 51, 25))
    assert domain.upper == pytest.approx([1.0, 0.51, 0.3])
    assert set(domain.sides.values()) == {"closed"} and len(domain.sides) == 6


def test_two_numbers_make_a_2d_scene() -> None:
    scene = load("dam-break-2d")
    domain = scene.domain
    assert domain.dim == 2 and domain.shape == (96, 48, 1)
    assert domain.lower[2] == 0.0 and domain.upper[2] == domain.dx
    assert scene.solver.particles_per_cell == 4 and load("dam-break").solver.particles_per_cell == 8


def test_overrides_reach_tables_and_list_entries() -> None:
    scene = load("honey-coil", {"domain.resolution": 96, "sources.0.velocity": [0, -1, 0], "heat.diffusivity": 1.0})
    assert scene.domain.resolution == 96 and scene.sources[0].velocity == (0.0, -1.0, 0.0)
    assert scene.heat is not None and scene.heat.diffusivity == 1.0
    again = load(scene, {"time.frames": 7, "sources.0.start": 0.5})
    assert again.time.frames == 7 and again.sources[0].start == 0.5 and again.domain == scene.domain
    assert load(scene) is scene


def test_a_dict_is_not_changed_by_overrides() -> None:
    load(MINIMAL, {"domain.resolution": 32})
    assert "resolution" not in MINIMAL["domain"]


def test_override_text() -> None:
    assert parse_override("domain.resolution=96") == ("domain.resolution", 96)
    assert parse_override("gravity = [0, 0, 0]") == ("gravity", [0, 0, 0])
    assert parse_override("solver.transfer=apic") == ("solver.transfer", "apic")
    assert parse_override("output.fields=true") == ("output.fields", True)
    with pytest.raises(InputError, match="'resolution' is not of the form key=value"):
        parse_override("resolution")


def test_materials_fill_in_what_is_not_given() -> None:
    liquid = load(MINIMAL, {"liquids.water": {"material": "honey", "viscosity": 25.0}}).liquids["water"]
    assert liquid.density == 1420.0 and liquid.viscosity.at(np.zeros((2, 3)), None) == pytest.approx([25.0, 25.0])


def test_viscosity_laws_are_log_linear() -> None:
    law = {"kind": "temperature", "table": [[20, 100.0], [60, 1.0]]}
    by_heat = load(MINIMAL, {"liquids.water.viscosity": law}).liquids["water"].viscosity
    assert by_heat.at(np.zeros((4, 3)), np.array([0, 20, 40, 90])) == pytest.approx([100, 100, 10, 1])
    law = {"kind": "position", "axis": "y", "table": [[0, 1.0], [1, 1e4]]}
    by_place = load(MINIMAL, {"liquids.water.viscosity": law}).liquids["water"].viscosity
    assert by_place.kind == "position"
    assert by_place.at(np.array([[9, 0.5, 9], [0, 0.25, 0]]), None) == pytest.approx([100, 10])


VALID_PRESSURE = "'multigrid', 'jacobi-cg', 'ic-cg' or 'reference'"
MORE_THAN_A_MATRIX = "'multigrid', 'jacobi-cg' or 'reference'"
FLAT = {
    "domain.size": [1, 1],
    "volumes.0.shape": {"kind": "box", "lower": [0, 0], "upper": [0.5, 0.5]},
    "solver.coupling": "stokes",
}
MISTAKES: list[tuple[dict[str, Any], str]] = [
    (
        {"domain.resolutoin": 5},
        "domain.resolutoin: unknown key; did you mean 'resolution'? "
        "(valid: size, resolution, origin, offset, sides, walls, slip_length)",
    ),
    ({"domain.resolution": "high"}, "domain.resolution: must be a whole number, got 'high'"),
    ({"domain.resolution": 5.5}, "domain.resolution: must be a whole number, got 5.5"),
    ({"domain.resolution": -5}, "domain.resolution: must be greater than or equal to 4, got -5"),
    ({"domain.size": [1, float("nan"), 1]}, "domain.size.1: must be a finite number, got nan"),
    ({"domain.size": [1, -1, 1]}, "domain.size.1: must be greater than 0, got -1"),
    ({"domain.size": [1]}, "domain.size: needs 3 numbers (or 2 in a 2D scene), got 1"),
    (
        {"domain.sides": {"lef": "open"}},
        "domain.sides: unknown side 'lef'; did you mean 'left'? (valid: left, right, bottom, top, back, front)",
    ),
    ({"domain.sides.top": "opn"}, "domain.sides.top: 'opn' is not valid; valid: 'closed', 'slip' or 'open'"),
    ({"solver.pressure": "magic"}, f"solver.pressure: 'magic' is not valid; valid: {VALID_PRESSURE}"),
    ({"solver.coupling": "fast"}, "solver.coupling: 'fast' is not valid; valid: 'split' or 'stokes'"),
    (
        {"solver.coupling": "stokes", "solver.viscosity": "octree"},
        "solver.viscosity: 'stokes' needs velocities and pressures on one grid, and a tree has only velocities; "
        "valid with it: 'auto', 'multigrid'",
    ),
    (
        {"solver.tiles": 16, "solver.pressure": "ic-cg"},
        f"solver.pressure: 'ic-cg' does not go with tiles; valid: {MORE_THAN_A_MATRIX}",
    ),
    (
        {"solver.air": "affine", "solver.pressure": "ic-cg"},
        f"solver.pressure: 'ic-cg' does not go with affine air; valid: {MORE_THAN_A_MATRIX}",
    ),
    (
        {"domain.walls": "separating", "solver.pressure": "ic-cg"},
        f"solver.pressure: 'ic-cg' does not go with separating walls; valid: {MORE_THAN_A_MATRIX}",
    ),
    (
        FLAT | {"solver.air": "constraint"},
        "solver.air: 'stokes' has no bubbles in 2D; valid with it: 'vacuum'",
    ),
    (
        FLAT | {"liquids.oil": {"density": 800.0, "viscosity": 1.0}},
        "liquids.oil.density: 'stokes' has one density in 2D: 800 here, 998.2 in 'water'",
    ),
    (
        FLAT | {"domain.walls": {"left": "separating"}},
        "solver.coupling: 'stokes' solves equations, but a 'separating' wall that may let go is an inequality; "
        "valid with it: 'split'",
    ),
    *(
        ({"name": name}, f"name: must be the name of a folder: 1 to 100 characters without slashes, got {name[:40]!r}")
        for name in ("..", ".", "", " ", "../up", "/any/absolute", "a\\b", "x\0y", "[/]", "a\nb", 101 * "a")
    ),
    ({"solver.tile_liquid": "oil"}, "solver.tile_liquid: no liquid is called 'oil' (valid: all, water)"),
    (
        {"solver.air": "helium"},
        "solver.air: 'helium' is not valid; valid: 'vacuum', 'constraint', 'affine' or 'two-phase'",
    ),
    (
        {"solver.air": "constraint", "sinks": [{"shape": PLATE}]},
        "solver.air: sources and sinks need an open side of the domain with 'constraint': closed air does not give way",
    ),
    (
        {"solver.air": "two-phase", "solver.air_density": 500},
        "solver.air_density: air has no inertia of its own: at most 99.82, a tenth of the liquid's density, got 500",
    ),
    ({"time.cfl": 0}, "time.cfl: must be greater than 0, got 0"),
    ({"time.cfl": 0, "time.fps": -1}, "time.fps: must be greater than 0, got -1 (and 1 more)"),
    ({"gravity": [0, "down", 0]}, "gravity.1: must be a number, got 'down'"),
    ({"output.preview": 1}, "output.preview: must be true or false, got 1"),
    ({"liquids.water.viscosity": -1}, "liquids.water.viscosity: must be greater than or equal to 0, got -1"),
    (
        {"volumes.0.liquid": "watr"},
        "volumes.0.liquid: no liquid is called 'watr'; did you mean 'water'? (valid: water)",
    ),
    (
        {"volumes.0.shape": {"kind": "sphere", "centre": [0, 0, 0]}},
        "volumes.0.shape.radius: missing, but required",
    ),
    (
        {"volumes.0.shape": {"kind": "text", "text": "a", "height": -3}},
        "volumes.0.shape.height: must be greater than 0, got -3",
    ),
    (
        {
            "volumes.0.shape": {
                "kind": "union",
                "parts": [PLATE, {"kind": "sphere", "centre": [0, 0], "radius": 0}],
            }
        },
        "volumes.0.shape.parts.1.radius: must be greater than 0, got 0",
    ),
    (
        {"volumes.0.shape": {"kind": "sphere", "centre": [5, 5, 5], "radius": 1}},
        "volumes.0.shape: the volume is outside the domain, which spans (0, 0, 0) to (1, 1, 1)",
    ),
    (
        {"sources": [{"shape": PLATE | {"translate": [0, 2, 0]}, "liquid": "water"}]},
        "sources.0.shape: the source is outside the domain, which spans (0, 0, 0) to (1, 1, 1)",
    ),
    (
        {"sources": [{"shape": PLATE, "liquid": "water", "start": 2, "stop": 1}]},
        "sources.0.stop: must be later than start, 2",
    ),
    ({"volumes": []}, "the scene has no liquid in it: add [[volumes]] or [[sources]]"),
    ({"volumes.1.liquid": "water"}, "volumes.1.liquid: '1' is not an entry; valid: 0 to 0"),
    (
        {"solids": [{"name": "a", "shape": PLATE, "walls": "loose"}]},
        "solids.0.walls: 'loose' is not valid; valid: 'sticking' or 'separating'",
    ),
    (
        {"domain.walls": {"top": "loose"}},
        "domain.walls.top: 'loose' is not valid; valid: 'sticking' or 'separating'",
    ),
    (
        {"domain.walls": {"lft": "separating"}},
        "domain.walls: unknown side 'lft'; did you mean 'left'? (valid: left, right, bottom, top, back, front)",
    ),
    (
        {"solids": [{"name": "a", "shape": PLATE, "slip_length": -0.1}]},
        "solids.0.slip_length: must be a length of at least 0 (no-slip), or 'free', got -0.1",
    ),
    (
        {"domain.slip_length": {"bottom": float("nan")}},
        "domain.slip_length.bottom: must be a length of at least 0 (no-slip), or 'free', got nan",
    ),
    (
        {"domain.slip_length": {"left": "loose"}},
        "domain.slip_length.left: must be a length of at least 0 (no-slip), or 'free', got 'loose'",
    ),
    (
        {"domain.sides": {"left": "slip"}, "domain.slip_length": {"left": 0.1}},
        "domain.slip_length: a 'slip' side has no friction; slip lengths are those of 'closed' ones",
    ),
    (
        {"domain.walls": "separating", "solver.air": "two-phase"},
        "solver.air: walls cannot be separating with 'two-phase' air: it flows in behind the liquid, "
        "and what a wall lets go would be a vacuum; valid: 'vacuum', 'constraint'",
    ),
    (
        {"solids": [{"name": "a", "shape": PLATE}, {"name": "a", "shape": PLATE}]},
        "solids.1.name: another solid is called 'a'; names must differ",
    ),
    ({"solids": [{"name": "a"}]}, "solids.0: a solid needs either shape or sequence"),
]


@pytest.mark.parametrize(("overrides", "message"), MISTAKES, ids=[next(iter(m[0])) for m in MISTAKES])
def test_a_mistake_is_named_in_one_line(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(SceneError) as error:
        load(MINIMAL, overrides)
    assert str(error.value) == f"tank: {message}"
    assert error.value.exit_code == 2


def test_unknown_shape_kind_lists_the_valid_ones() -> None:
    with pytest.raises(SceneError, match=r"volumes\.0\.shape: unknown kind 'bax'; did you mean 'box'\? \(valid: box, "):
        load(MINIMAL, {"volumes.0.shape": {"kind": "bax"}})


def test_a_source_that_moves_into_the_domain_is_accepted() -> None:
    outside = {"kind": "box", "lower": [-0.5, 0, 0], "upper": [-0.3, 1, 1]}
    source = {"shape": outside, "liquid": "water", "motion": {"kind": "linear", "velocity": [0.5, 0, 0]}}
    assert load(MINIMAL, {"sources": [source]}).sources[0].moving
    with pytest.raises(SceneError, match="outside the domain"):
        load(MINIMAL, {"sources": [source], "time.frames": 3})


def test_file_is_named_with_its_mistake(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text("[domain]\nsize = [1, 1, 1\nresolution = 4\n")
    with pytest.raises(SceneError, match=r"bad\.toml: not valid TOML: .*line 3"):
        load(file)
    file.write_text(starter_scene().replace("fps = 24", 'fps = "fast"'))
    with pytest.raises(SceneError) as error:
        load(file)
    assert str(error.value) == f"{file}: time.fps: must be a number, got 'fast'"
    with pytest.raises(SceneError, match=r"none\.toml: no such file"):
        load(tmp_path / "none.toml")


def test_unknown_scene_names_the_nearest() -> None:
    with pytest.raises(SceneError, match=r"honey-coli: no such scene .* did you mean honey-coil"):
        load("honey-coli")


def test_python_construction_raises_the_same_error() -> None:
    with pytest.raises(SceneError, match=r"^domain\.size\.0: must be greater than 0, got -1$"):
        Scene(**(MINIMAL | {"domain": {"size": [-1, 1, 1]}}))


class TestMeshFiles:
    scene = starter_scene() + '[[solids]]\nname = "mesh"\nshape = { kind = "mesh", file = "ball.ply", scale = 0.01 }\n'

    def test_relative_to_the_scene_file(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text(self.scene)
        trimesh.creation.icosphere(2).export(tmp_path / "ball.ply")
        scene = load(tmp_path / "mine.toml")
        assert scene.solids[1].distance(np.zeros((1, 3)))[0] < 0
        assert load(tomllib.loads(to_toml(scene))) == scene

    def test_missing_names_scene_key_and_file(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text(self.scene)
        with pytest.raises(MeshError) as error:
            load(tmp_path / "mine.toml")
        assert str(error.value) == (
            f"{tmp_path}/mine.toml: solids.1.shape.file: {tmp_path}/ball.ply: mesh file not found"
        )
        assert error.value.exit_code == 2

    def test_sequence_pattern(self, tmp_path: Path) -> None:
        for i in range(3):
            trimesh.creation.icosphere(1).export(tmp_path / f"ball{i}.ply")
        text = starter_scene() + '[[solids]]\nname = "mesh"\nsequence = { files = "ball*.ply" }\n'
        (tmp_path / "mine.toml").write_text(text)
        sequence = load(tmp_path / "mine.toml").solids[1].sequence
        assert sequence is not None and [Path(file).name for file in sequence.files] == [
            "ball0.ply",
            "ball1.ply",
            "ball2.ply",
        ]


def test_loading_a_scene_imports_no_heavy_library() -> None:
    script = (
        "import sys, glug; glug.load('honey-coil'); "
        "print([m for m in ('scipy', 'trimesh', 'igl', 'PIL', 'numba') if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]" and glug.load is load
