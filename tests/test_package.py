"""`import glug` is light, and what the README shows is what is tested."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("numba", "scipy", "trimesh", "skimage", "igl", "PIL")


def modules_after(code: str) -> set[str]:
    """The modules that a new Python has imported after `code`."""
    script = f"{code}\nimport sys; print('modules:', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import glug",
        "import glug; dir(glug); glug.__version__; glug.GlugError",
        "from glug.cli import execute; execute(['--help'])",
        "from glug.cli import execute; execute(['scenes'])",
        "from glug.cli import execute; execute(['validate'])",
    ],
)
def test_is_light(code):
    """Nothing is compiled, because the compiler is not even there."""
    assert modules_after(code).isdisjoint(HEAVY)


def test_the_heavy_names_are_those_of_real_modules():
    """Negative control for the test above."""
    assert "numba" in modules_after("import glug.jit")


def test_every_public_name_exists():
    import glug

    for name in dir(glug):
        assert getattr(glug, name) is not None


def test_the_readme_shows_the_example_as_it_is():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert (ROOT / "examples" / "honey.py").read_text() in blocks


def test_the_readme_shows_a_scene_that_loads():
    import tomllib

    import glug

    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        glug.load(tomllib.loads(block))
