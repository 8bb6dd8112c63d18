"""Compiled kernels are found by what they were compiled from and for, wherever that was done."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from glug import kernel_store
from glug.kernel_store import PACKAGE

# Uses the package whose path it is given, and tells the result of a kernel and how many kernels were compiled.
PROGRAM = """\
import hashlib, json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from glug import jit
{kernel}
if "pack" in sys.argv:
    from glug.simulation.warm_up import needs, shipping
    shipping.pack(sorted(needs.called()))
print(json.dumps([hashlib.sha256(result.tobytes()).hexdigest(), jit.compilations()]))
"""

# Fuses a product and a sum; Numba optimises its parallel loop twice, and the two copies fuse differently.
SMOOTH = """\
from glug.geometry.kernels import smooth
a = np.random.default_rng(0).normal(size=(24, 24, 1)).astype(np.float32)
result = np.zeros_like(a)
smooth(a, result)
"""

# Serial, so that it compiles quickly.
SORT = """\
from glug.particles.kernels import counting_sort
key, start, result = np.array([2, 0, 1, 2], np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)
counting_sort(key, start, result)
"""


def use(kernel, package, cache, *arguments, **environment):
    """The digest of what a kernel makes, and the number of kernels compiled, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(kernel=kernel), package, *arguments],
        env={**os.environ, "GLUG_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(json.loads(done.stdout))


@pytest.fixture
def copy(tmp_path):
    """The folder of a copy of the package, without the kernels that come with it."""
    shutil.copytree(PACKAGE, tmp_path / "elsewhere" / "glug", ignore=shutil.ignore_patterns("__pycache__", "*.zip"))
    return tmp_path / "elsewhere"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """`top` imports `middle`, which imports `bottom` and, from packages, `b.side` and `b.c`; `other` stands alone."""
    monkeypatch.setattr(kernel_store, "PACKAGE", tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bottom.py").write_text("ONE = 1\n")
    (tmp_path / "b" / "c").mkdir(parents=True)
    for module in ("b/__init__.py", "b/side.py", "b/c/__init__.py", "compiler.py", "jit.py"):
        (tmp_path / module).write_text("")
    middle = "import math\nfrom glug.a.bottom import ONE\nfrom glug.b import c, side as beside\n"
    (tmp_path / "a" / "middle.py").write_text(middle)
    (tmp_path / "top.py").write_text("from glug.jit import kernel\nfrom glug.a.middle import (\n    ONE,\n)\n")
    (tmp_path / "other.py").write_text("ONE = 1\n")
    return tmp_path


def digest(package, name):
    kernel_store.digest_of.cache_clear()
    kernel_store._imported.cache_clear()
    return kernel_store.digest_of(str(package / name))


def edit(path):
    path.write_text(path.read_text() + "TWO = 2\n")


@pytest.mark.parametrize(
    "edited", ["a/bottom.py", "a/middle.py", "top.py", "b/__init__.py", "b/side.py", "b/c/__init__.py"]
)
def test_an_edited_callee_moves_its_callers(package, edited):
    top, other = digest(package, "top.py"), digest(package, "other.py")
    edit(package / edited)
    assert digest(package, "top.py") != top
    assert digest(package, "other.py") == other


def test_how_kernels_are_compiled_moves_them_and_how_they_are_called_does_not(package):
    top = digest(package, "top.py")
    edit(package / "jit.py")
    assert digest(package, "top.py") == top
    edit(package / "compiler.py")
    assert digest(package, "top.py") != top


def test_every_kernel_module_imports_in_the_form_that_is_followed():
    for path in PACKAGE.rglob("kernels*.py"):
        text = path.read_text()
        lines = [
            line for line in text.splitlines() if {"import", "glug"} <= set(re.findall(r"\w+", line.split("#")[0]))
        ]
        assert len(kernel_store.IMPORTS.findall(text)) == len(lines), path.name


def test_a_kernel_just_compiled_gives_the_bits_of_one_that_is_loaded(tmp_path):
    cold, warm = (use(SMOOTH, str(PACKAGE.parent), tmp_path, GLUG_SHIPPED="0") for _ in range(2))
    assert (cold[1], warm[1]) == (1, 0)
    assert cold[0] == warm[0]


def test_a_kernel_compiled_in_another_place_and_time_is_found(tmp_path, copy):
    here = use(SORT, str(PACKAGE.parent), tmp_path / "cache", GLUG_SHIPPED="0")
    assert use(SORT, str(copy), tmp_path / "cache") == (here[0], 0)
    edit(copy / "glug" / "particles" / "kernels.py")
    assert use(SORT, str(copy), tmp_path / "cache") == (here[0], 1)


def test_kernels_that_come_with_the_package_are_not_compiled(tmp_path, copy):
    bits, _ = use(SORT, str(copy), tmp_path / "maker", "pack")
    assert use(SORT, str(copy), tmp_path / "empty") == (bits, 0)
    assert not (tmp_path / "empty").exists()
    assert use(SORT, str(copy), tmp_path / "empty", GLUG_SHIPPED="0") == (bits, 1)
    assert use(SORT, str(copy), tmp_path / "maker", GLUG_PROCESSOR="native")[1] == 1  # code for another processor


def test_a_folder_that_cannot_be_written_costs_a_compilation_and_no_more(tmp_path):
    (tmp_path / "file").write_text("")
    assert use(SORT, str(PACKAGE.parent), tmp_path / "file" / "below", GLUG_SHIPPED="0")[1] == 1
