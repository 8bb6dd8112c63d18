"""The examples run, and one number of each is right."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_honey_pours_at_the_rate_of_the_nozzle():
    poured = example("honey").pour(frames=6, resolution=24)
    volumes, heights = zip(*poured)
    area, speed, seconds = math.pi * 0.007**2, 0.5, 5 / 24
    # A nozzle 1.7 cells wide: particles are seeded cell by cell, so its area is known to about a fifth.
    assert volumes[-1] - volumes[0] == pytest.approx(area * speed * seconds, rel=0.2)
    assert heights[-1] < heights[0] - speed * seconds
