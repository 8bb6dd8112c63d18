"""The folder of compiled kernels follows the sources they are compiled from."""

import numba
import pytest

from glug import jit


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Three modules: `top` imports `middle`, which imports `bottom`; `other` stands alone."""
    monkeypatch.setattr(jit, "PACKAGE", tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bottom.py").write_text("ONE = 1\n")
    (tmp_path / "a" / "middle.py").write_text("import math\nfrom glug.a.bottom import ONE\n")
    (tmp_path / "top.py").write_text("from glug.a.middle import (\n    ONE,\n)\n")
    (tmp_path / "other.py").write_text("ONE = 1\n")
    return tmp_path


def folder(package, name):
    jit.cache_folder.cache_clear()
    return jit.cache_folder(str(package / name))


@pytest.mark.parametrize("edited", ["a/bottom.py", "a/middle.py", "top.py"])
def test_an_edited_callee_moves_its_callers(package, edited):
    top, other = folder(package, "top.py"), folder(package, "other.py")
    (package / edited).write_text((package / edited).read_text() + "TWO = 2\n")
    assert folder(package, "top.py") != top
    assert folder(package, "other.py") == other


def test_every_kernel_module_imports_in_the_form_that_is_followed():
    for path in jit.PACKAGE.rglob("kernels*.py"):
        for line in path.read_text().splitlines():
            if "import" in line.split("#")[0].split() and "glug" in line:
                assert jit.IMPORTS.match(line), f"{path.name}: {line}"


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
