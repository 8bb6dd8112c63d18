"""Measurements in a process of their own, because the peak memory of a process never falls.

`call("package.module:function", **arguments)` runs the function in a new Python and returns its result;
arguments and result are whatever JSON can hold. `peak_bytes` is the peak of the process that asks.
"""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from glug.allocation import keep_memory, return_memory
from glug.errors import GlugError

_RESULT = "glug-result:"


def call(target: str, /, **arguments: Any) -> Any:
    """`target(**arguments)` in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "glug.studies.isolated", target],
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
    )
    for line in reversed(done.stdout.splitlines()):
        if done.returncode == 0 and line.startswith(_RESULT):
            return json.loads(line.removeprefix(_RESULT))
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    raise GlugError(f"{target} failed in its own process: {reason}")


def named(target: str) -> Any:
    """The function that `package.module:function` names."""
    module, function = target.split(":")
    return getattr(import_module(module), function)


def peak_bytes() -> int:
    """The most memory this process has had resident so far [bytes]."""
    status = Path("/proc/self/status")
    if status.exists():
        # VmHWM starts at zero in a new program; ru_maxrss below inherits the parent's peak on Linux.
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_bytes() -> int:
    """The memory that is in use in this process [bytes], without what was dropped."""
    import psutil

    return_memory()
    return psutil.Process().memory_info().rss


def _main() -> None:
    keep_memory()
    result = named(sys.argv[1])(**json.load(sys.stdin))
    print(_RESULT + json.dumps(result), flush=True)


if __name__ == "__main__":
    _main()
