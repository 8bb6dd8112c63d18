"""Kernels and their threads: functions of arrays that are compiled when they are first called.

How they are compiled is in `glug.compiler`, where compiled ones are kept in `glug.kernel_store`.

Environment:
    GLUG_DEBUG=1     run kernels as plain Python: slow, but bounds errors and prints work
"""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numba

from glug import compiler
from glug.kernel_store import KernelCache

DEBUG = os.environ.get("GLUG_DEBUG", "") not in ("", "0")

_dispatchers: list[Any] = []

# Threads that wait at a barrier spin for some microseconds and then sleep. Spinning on makes a small kernel fifty
# times slower as soon as other programs want the cores (8.0 ms against 0.15 ms for a 48^3 vector update), sleeping
# at once makes it three times slower when they do not (65 us against 17 us).
os.environ.setdefault("GOMP_SPINCOUNT", "5000")


def kernel(function: Callable | None = None, *, parallel: bool = False, inline: bool = False, nan: bool = True) -> Any:
    """Compile a function of arrays and scalars on first call.

    parallel  loops written with `prange` run on all threads
    inline    for small functions called from kernels: no entry point of their own is cached
    nan       arguments may be NaN; without, a maximum vectorises
    """
    if function is None:
        return functools.partial(kernel, parallel=parallel, inline=inline, nan=nan)
    if DEBUG:
        return function
    options = compiler.options(parallel, nan)
    dispatcher = numba.njit(**options)(function)
    if not inline:
        dispatcher._cache = KernelCache(function, options)
        _dispatchers.append(dispatcher)
    return dispatcher


def compiled() -> dict[str, int]:
    """Signatures in memory per kernel, of the kernels that were called in this process."""
    return {f"{d.py_func.__module__}.{d.__name__}": len(d.signatures) for d in _dispatchers if d.signatures}


def signatures() -> dict[str, list[tuple]]:
    """The types of the arguments that kernels were called with in this process, per kernel."""
    return {f"{d.py_func.__module__}.{d.__name__}": list(d.overloads) for d in _dispatchers if d.overloads}


def compilations() -> int:
    """Kernels that this process has compiled, because no compiled ones were there."""
    return sum(sum(d.stats.cache_misses.values()) for d in _dispatchers)


def set_threads(count: int | None) -> int:
    """Use `count` threads in parallel kernels (all cores when None); returns the number in force."""
    limit = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(limit if count is None else max(1, min(count, limit)))
    return numba.get_num_threads()


@contextmanager
def threads(count: int | None) -> Iterator[int]:
    """`set_threads` for the length of a block."""
    before = numba.get_num_threads()
    try:
        yield set_threads(count)
    finally:
        numba.set_num_threads(before)


SMALL = 60_000  # samples: to share the work of a kernel over fewer takes longer than the work


def threads_for(samples: int) -> AbstractContextManager[Any]:
    """One thread for the length of a block whose kernels have few samples to visit."""
    return threads(1) if samples < SMALL and numba.get_num_threads() > 1 else nullcontext()


@functools.cache
def _dense_libraries() -> Any:
    import scipy.linalg  # noqa: F401  (loads the library that is to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def dense_on_one_thread() -> AbstractContextManager[Any]:
    """Leave dense linear algebra to one thread for the length of a block.

    Threads of that library wait for each other even longer than ours while other programs want the cores: the set-up
    of a viscous solve of 21,000 unknowns, with a factorisation of 400 rows, took 280 ms instead of 40.
    """
    return _dense_libraries().limit(limits=1)


prange = numba.prange
