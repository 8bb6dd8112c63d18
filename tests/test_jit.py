"""Kernels and their threads."""

import numba

from glug import jit


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
