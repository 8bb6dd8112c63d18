"""Compile kernels before they are called, in several processes.

`python -m glug.precompile` is such a process: it reads one kernel call a line and answers every one.
"""

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numba import types
from numba.core.registry import cpu_target

import glug

MOST_PROCESSES = 16
DONE, FAILED = "done", "failed"


@dataclass(frozen=True, order=True)
class KernelCall:
    """A kernel by its full name, and the types of the arguments it is called with, an expression of Numba's types."""

    kernel: str
    types: str

    @classmethod
    def of(cls, kernel: str, signature: tuple) -> "KernelCall":
        return cls(kernel, f"({', '.join(map(_expression, signature))},)")

    @classmethod
    def parse(cls, text: str) -> "KernelCall":
        name, _, rest = text.partition("(")
        return cls(name, f"({rest}")

    def __str__(self) -> str:
        return self.kernel + self.types

    def _dispatcher(self) -> Any:
        module, _, name = self.kernel.rpartition(".")
        return getattr(importlib.import_module(module), name)

    def _signature(self) -> tuple:
        self._dispatcher()  # its module knows the classes of named tuples
        return eval(self.types, {**vars(types), "glug": glug})  # our own text, from `of`

    def entry(self) -> str:
        """The name that the compiled kernel has in an archive."""
        return self._dispatcher()._cache.entry(self._signature(), cpu_target.target_context.codegen())

    def exists(self) -> bool:
        """Whether there still is such a kernel."""
        try:
            self._dispatcher()
        except (ImportError, AttributeError):
            return False
        return True

    def there(self) -> bool:
        """Whether the compiled kernel is there, carried or kept."""
        return self.exists() and self._dispatcher()._cache.holds(self._signature(), cpu_target.target_context.codegen())

    def stored(self) -> bytes:
        """The compiled kernel; OSError where it would have to be compiled first."""
        return self._dispatcher()._cache.stored(self._signature(), cpu_target.target_context.codegen())

    def compile(self) -> None:
        """Compile the kernel and keep it, unless that was done before."""
        self._dispatcher().compile(self._signature())


def _expression(kind: types.Type) -> str:
    """A type as it can be evaluated: Numba writes most of them so, but not tuples with names."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        name = f"{kind.instance_class.__module__}.{kind.instance_class.__qualname__}"
        if isinstance(kind, types.NamedUniTuple):
            return f"NamedUniTuple({_expression(kind.dtype)}, {kind.count}, {name})"
        return f"NamedTuple(({', '.join(map(_expression, kind.types))},), {name})"
    return repr(kind)


def missing(calls: Iterable[KernelCall]) -> list[KernelCall]:
    """The calls whose kernels would have to be compiled; those of kernels that are no more do not count."""
    return [call for call in calls if call.exists() and not call.there()]


def compile_all(calls: Iterable[KernelCall], on_done: Callable[[int, int], None] = lambda done, total: None) -> list:
    """Compile kernels in as many processes as there are cores; returns the calls that no longer fit their kernels.

    on_done  called with (done, in all)
    """
    waiting = deque(calls)
    total = len(waiting)
    failed: list[KernelCall] = []
    finished: list[KernelCall] = []

    def work() -> None:
        command = [sys.executable, "-m", "glug.precompile"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None and process.stdout is not None
            while waiting:
                try:
                    call = waiting.popleft()
                except IndexError:  # another one took the last
                    break
                process.stdin.write(f"{call}\n")
                process.stdin.flush()
                if process.stdout.readline().strip() != DONE:
                    failed.append(call)
                finished.append(call)
                on_done(len(finished), total)

    on_done(0, total)
    workers = [threading.Thread(target=work, daemon=True) for _ in range(min(processes(), total))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return failed


def processes() -> int:
    """How many kernels are compiled at a time: one on every core that is ours."""
    ours = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST_PROCESSES, ours)


def main() -> None:
    """Compile what is asked for on standard input."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a word
    for line in sys.stdin:
        try:
            KernelCall.parse(line.strip()).compile()
            print(DONE, flush=True)
        except Exception:  # whatever is wrong with a call: it is left for the process that makes it
            print(FAILED, flush=True)


if __name__ == "__main__":
    main()
