"""How kernels become machine code: the only place that configures Numba's compiler.

Code is made for a processor that stands for many (x86-64-v3: every x86 with AVX2, about 2013 and later), so that
kernels compiled elsewhere can be loaded, and give the same bits on all of them. Compiled kernels depend on the text of
this module: it holds what changes machine code and nothing else.

Environment:
    GLUG_PROCESSOR=native   compile for the processor of this machine instead
"""

import functools
import os
import platform
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.codegen import CPUCodeLibrary
from numba.core.registry import cpu_target

# The processors that kernels are compiled for, by machine, and what one must have to run such code.
COMMON = {
    "x86_64": ("x86-64-v3", {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}),
    "aarch64": ("generic", {"neon"}),
}
MACHINES = {"AMD64": "x86_64", "arm64": "aarch64"}  # other names of them

# Contraction and reassociation let reductions vectorise; NaN and infinity keep their meaning, because a
# solve must notice them.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


def options(parallel: bool, nan: bool) -> dict[str, Any]:
    """What Numba is asked for. Without `nan`, arguments are no NaN and a maximum vectorises."""
    return {
        "parallel": parallel,
        "fastmath": FASTMATH if nan else FASTMATH | {"nnan"},
        "error_model": "numpy",
        "inline": "never",
        "nogil": True,
    }


def choose_processor() -> None:
    """Compile for the common processor, where this one can run its code and nobody has chosen another."""
    machine = platform.machine()
    name, needs = COMMON.get(MACHINES.get(machine, machine), ("", set()))
    chosen = os.environ.get("GLUG_PROCESSOR") == "native" or numba.config.CPU_NAME or numba.config.CPU_FEATURES  # type: ignore[attr-defined]
    has = {feature for feature, there in llvm.get_host_cpu_features().items() if there}
    if name and not chosen and needs <= has:
        numba.config.CPU_NAME, numba.config.CPU_FEATURES = name, ""  # type: ignore[attr-defined]


def processor() -> str:
    """What kernels are compiled for: the name of a common processor, or this one's with its features."""
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return f"{name} {features}".strip()


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
choose_processor()
