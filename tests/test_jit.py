"""The folder of compiled kernels follows the sources they are compiled from."""

import os
import re
import subprocess
import sys

import numba
import pytest

from glug import jit


@pytest.fixture
def package(tmp_path, monkeypatch):
    """`top` imports `middle`, which imports `bottom` and, from packages, `b.side` and `b.c`; `other` stands alone."""
    monkeypatch.setattr(jit, "PACKAGE", tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bottom.py").write_text("ONE = 1\n")
    (tmp_path / "b" / "c").mkdir(parents=True)
    for module in ("b/__init__.py", "b/side.py", "b/c/__init__.py"):
        (tmp_path / module).write_text("")
    middle = "import math\nfrom glug.a.bottom import ONE\nfrom glug.b import c, side as beside\n"
    (tmp_path / "a" / "middle.py").write_text(middle)
    (tmp_path / "top.py").write_text("from glug.a.middle import (\n    ONE,\n)\n")
    (tmp_path / "other.py").write_text("ONE = 1\n")
    return tmp_path


def folder(package, name):
    jit.cache_folder.cache_clear()
    return jit.cache_folder(str(package / name))


@pytest.mark.parametrize(
    "edited", ["a/bottom.py", "a/middle.py", "top.py", "b/__init__.py", "b/side.py", "b/c/__init__.py"]
)
def test_an_edited_callee_moves_its_callers(package, edited):
    top, other = folder(package, "top.py"), folder(package, "other.py")
    (package / edited).write_text((package / edited).read_text() + "TWO = 2\n")
    assert folder(package, "top.py") != top
    assert folder(package, "other.py") == other


def test_every_kernel_module_imports_in_the_form_that_is_followed():
    for path in jit.PACKAGE.rglob("kernels*.py"):
        text = path.read_text()
        lines = [
            line for line in text.splitlines() if {"import", "glug"} <= set(re.findall(r"\w+", line.split("#")[0]))
        ]
        assert len(jit.IMPORTS.findall(text)) == len(lines), path.name


def test_little_work_is_done_by_one_thread():
    before = jit.set_threads(None)
    with jit.threads_for(jit.SMALL - 1):
        assert numba.get_num_threads() == 1
    with jit.threads_for(jit.SMALL):
        assert numba.get_num_threads() == before
    assert numba.get_num_threads() == before


def test_dense_matrices_are_done_by_one_thread():
    from threadpoolctl import threadpool_info

    with jit.dense_on_one_thread():
        assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}


def test_a_kernel_just_compiled_gives_the_bits_of_one_that_is_loaded(tmp_path):
    """`smooth` fuses a product and a sum; Numba optimises its loop twice, and the two copies fuse differently."""
    program = (
        "import hashlib, numpy as np\n"
        "from glug.geometry.kernels import smooth\n"
        "a = np.random.default_rng(0).normal(size=(24, 24, 1)).astype(np.float32); b = np.zeros_like(a)\n"
        "smooth(a, b); print(hashlib.sha256(b.tobytes()).hexdigest())\n"
    )
    environment = {**os.environ, "GLUG_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
