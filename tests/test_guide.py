"""The guide names every key of the scene file, its scenes load, and its programs run and are the examples."""

import re
import tomllib
import typing
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import glug
from glug.scene.materials import MATERIALS
from glug.scene.model import Model
from glug.simulation.stages import STAGES

GUIDE = (Path(__file__).parents[1] / "docs" / "guide.md").read_text()
REFERENCE = GUIDE[GUIDE.index("### Top level") : GUIDE.index("## What a run writes")]
# The words in code spans of the reference, over line ends too.
WORDS = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]+)`", REFERENCE))))


# Fields of the step context that only glug's own stages need.
HIDDEN = {"tree", "merged", "fraction", "liquids", "mobility", "air", "air_lost", "before", "speed", "seconds"}


def models(annotation: Any, seen: set[type]) -> Iterator[type[Model]]:
    """All models that an annotation leads to."""
    if isinstance(annotation, type) and issubclass(annotation, Model) and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation, seen)
    for part in typing.get_args(annotation):
        yield from models(part, seen)


KEYS = sorted({f.alias or name for m in models(glug.Scene, set()) for name, f in m.model_fields.items()})


def test_the_scene_has_the_keys_that_this_test_is_about():
    assert len(KEYS) > 50
    assert {"domain", "flip_ratio", "tube", "interpolation"} <= set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_names_the_key(key):
    assert key in WORDS, f"docs/guide.md does not explain '{key}'"


@pytest.mark.parametrize("material", MATERIALS)
def test_names_the_material(material):
    assert f"`{material}`" in GUIDE


def test_its_scenes_load():
    blocks = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    assert blocks
    for block in blocks:
        glug.load(tomllib.loads(block))


EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("name", ["wind", "own_pressure_solver"])
def test_shows_the_example_as_it_is(name):
    assert (EXAMPLES / f"{name}.py").read_text() in PROGRAMS


def test_its_other_programs_run(capsys):
    examples = [path.read_text() for path in EXAMPLES.glob("*.py")]
    programs = [program for program in PROGRAMS if program not in examples]
    assert len(programs) == 1
    for program in programs:
        exec(compile(program, "docs/guide.md", "exec"), {})
    assert "'forces', 'calm', 'weigh', 'pressure'" in capsys.readouterr().out


def test_names_every_stage_and_every_field_of_the_context():
    own = GUIDE[GUIDE.index("## Stages, forces") : GUIDE.index("### A force")]
    words = set(re.findall(r"\w+", own))
    assert set(STAGES) <= words
    assert {field.name for field in fields(glug.StepContext)} - HIDDEN <= words
