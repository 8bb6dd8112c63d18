"""Kernels compiled before they are called: which ones, and in which processes."""

import numpy as np

from glug.geometry.kernels import sign_distance
from glug.precompile import KernelCall, compile_all, missing
from glug.scene import load
from glug.simulation.warm_up import needs
from glug.simulation.warm_up.needs import called, needed, recorded

ARRAY = "Array(float32, 3, 'C', False, aligned=True)"
SIGN = KernelCall("glug.geometry.kernels.sign_distance", f"({ARRAY}, {ARRAY}, float32,)")


def test_a_call_is_written_as_it_is_read():
    sign_distance(np.zeros((2, 2, 2), np.float32), np.zeros((2, 2, 2), np.float32), np.float32(1.0))
    assert SIGN in called()
    assert all(KernelCall.parse(str(call)) == call for call in called())


def test_what_was_recorded_of_the_library_can_be_read():
    """Tuples with names, too, which Numba writes otherwise."""
    for call in needs.all_needed():
        assert KernelCall.of(call.kernel, call._signature()) == call
    assert any("NamedTuple" in call.types for call in needs.all_needed())


def test_kernels_are_compiled_in_other_processes_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("GLUG_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("GLUG_SHIPPED", "0")
    wrong = KernelCall(SIGN.kernel, "(float32,)")
    seen = []
    failed = compile_all([SIGN, wrong], lambda done, total: seen.append((done, total)))
    assert failed == [wrong]
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert [path.name.split("-")[0] for path in (tmp_path / "kernels").glob("*/*")] == ["sign_distance"]


def test_a_kernel_that_is_no_more_is_not_missed():
    gone = KernelCall("glug.geometry.kernels.gone", SIGN.types)
    unknown = KernelCall(SIGN.kernel, f"({ARRAY}, {ARRAY}, float64,)")
    assert missing([gone, unknown]) == [unknown]


def test_another_scene_needs_what_the_most_similar_one_does():
    def renamed(name):
        return {call.kernel for call in needed(load(name).model_copy(update={"name": "mine"}))}

    assert "glug.physics.viscosity.kernels_stress.relax_viscosity" in renamed("honey-coil")
    assert "glug.physics.viscosity.kernels_stress.relax_viscosity" not in renamed("dam-break")
    assert "glug.view.trace.kernels.trace" not in renamed("dam-break-2d")
    assert needed(load("honey-coil")) == recorded()["honey-coil"].calls
