"""The only place that configures Numba.

Kernels are compiled lazily, cached on disk and counted. The cache folder of a kernel is keyed on a hash of its
module and of the modules of the package it imports, because Numba alone misses an edited callee in another file.

Environment:
    GLUG_CACHE_DIR   where compiled kernels are kept (default: the user's cache folder)
    GLUG_DEBUG=1     run kernels as plain Python: slow, but bounds errors and prints work
"""

import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numba
from numba.core.codegen import CPUCodeLibrary

DEBUG = os.environ.get("GLUG_DEBUG", "") not in ("", "0")

# Contraction and reassociation let reductions vectorise; NaN and infinity keep their meaning, because a
# solve must notice them.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}

_dispatchers: list[Any] = []


PACKAGE = Path(__file__).parent
IMPORTS = re.compile(r"^[ \t]*from glug(?:\.([\w.]+))? import (\([^)]*\)|[^\n(]+)", re.MULTILINE)
IMPORTED_NAME = re.compile(r"(\w+)(?: as \w+)?")


def _file(place: Path) -> Path:
    """Where the code of a module or package is."""
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _imported(path: Path) -> set[Path]:
    """The files of the package that a module imports from: b of `from glug.a import b`, where `a` is a package, too."""
    files = set()
    for module, names in IMPORTS.findall(path.read_text()):
        place = PACKAGE.joinpath(*filter(None, module.split(".")))
        files.add(_file(place))
        if place.is_dir():
            files |= {_file(place / name) for name in IMPORTED_NAME.findall(names)}
    return {file for file in files if file.exists()}  # a name that `__init__` defines is no file


def _sources(path: Path) -> set[Path]:
    """A module of the package and, through any number of steps, the modules it imports from it."""
    found: set[Path] = set()
    new = {path}
    while new:
        found |= new
        new = {file for path in new for file in _imported(path)} - found
    return found


@functools.cache
def cache_folder(module: str) -> Path:
    """The folder of the kernels compiled from the present sources of a module file."""
    base = os.environ.get("GLUG_CACHE_DIR")
    root = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "glug"
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_sources(Path(module)) | {Path(__file__)}):
        digest.update(path.read_bytes())
    return root / "kernels" / digest.hexdigest()[:16]


# Threads that wait at a barrier spin for some microseconds and then sleep. Spinning on makes a small kernel fifty
# times slower as soon as other programs want the cores (8.0 ms against 0.15 ms for a 48^3 vector update), sleeping
# at once makes it three times slower when they do not (65 us against 17 us).
os.environ.setdefault("GOMP_SPINCOUNT", "5000")


def _bind_own_copies(finalize: Callable) -> Callable:
    """Let a kernel run the copies of its callees and of its parallel loops that are cached with it.

    Numba compiles the body of a `prange` loop by itself, then once more as a part of the kernel, and the optimiser may
    leave the two in another order of operations. In the process that compiles, the symbols of the second copy, being
    weak, are bound to the first one, but only the second one is cached: without this the first run on an empty cache
    gives other bits than all later ones. The linkage is changed while machine code is made and not for the optimiser.
    """

    @functools.wraps(finalize)
    def wrapper(library: Any) -> None:
        parts = (part._get_module_for_linking().functions for part in library._linking_libraries)
        linked = {function.name for functions in parts for function in functions if not function.is_declaration}
        copies = [f for f in library._final_module.functions if f.name in linked and not f.is_declaration]
        before = [f.linkage for f in copies]
        for f in copies:
            f.linkage = "internal"
        try:
            finalize(library)
        finally:
            for f, linkage in zip(copies, before):
                f.linkage = linkage

    return wrapper


CPUCodeLibrary._finalize_final_module = _bind_own_copies(CPUCodeLibrary._finalize_final_module)  # type: ignore


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
    numba.config.CACHE_DIR = str(cache_folder(function.__code__.co_filename))  # type: ignore[attr-defined]
    dispatcher = numba.njit(
        cache=not inline,
        parallel=parallel,
        fastmath=FASTMATH if nan else FASTMATH | {"nnan"},
        error_model="numpy",
        inline="never",
        nogil=True,
    )(function)
    if not inline:
        _dispatchers.append(dispatcher)
    return dispatcher


def compiled() -> dict[str, int]:
    """Signatures in memory per kernel, of the kernels that were called in this process."""
    return {f"{d.py_func.__module__}.{d.__name__}": len(d.signatures) for d in _dispatchers if d.signatures}


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
    return threads(1) if samples < SMALL else nullcontext()


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
