"""What benches of solves share: a process for every measurement, the fastest of several solves, rows, tables and plots.

A result is a dictionary that JSON can hold: `iterations`, `residual`, `seconds`, `setup` [s], `unknowns`, and `peak`
[bytes]; with `residuals`, one after every iteration, it can be plotted.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from glug.errors import InputError
from glug.output.atomic import replace_file
from glug.solvers.stats import SolveStats
from glug.studies import isolated
from glug.studies.rows import BenchRow
from glug.view.plot import Line, Panel, plot

TIMES, BRIEF = 3, 10.0  # solves, and seconds beyond which there are no more of them
HEADER = ["case", "solver", "iterations", "set-up s", "solve s", "core-us/unknown", "GB", "residual"]  # of `figures`

Result = dict[str, Any]


def alone(measure: Callable[..., Result], threads: int, **arguments: Any) -> Result:
    """`measure(**arguments)` on so many threads in a process of its own, and the peak of that process."""
    target = f"{measure.__module__}:{measure.__name__}"
    return isolated.call(f"{__name__}:on_threads", target=target, threads=threads, arguments=arguments)


def on_threads(target: str, threads: int, arguments: dict[str, Any]) -> Result:
    """What `alone` runs in the new process."""
    from glug.jit import set_threads

    set_threads(threads)
    return {**isolated.named(target)(**arguments), "peak": isolated.peak_bytes()}


def fastest(solve: Callable[[int], Result], n: int) -> Result:
    """The fastest of a few solves of size `n`, one if they take long."""
    solve(24)  # loads or compiles the kernels
    best = solve(n)
    begin = time.perf_counter()
    for _ in range(TIMES):
        if best["setup"] + best["seconds"] + time.perf_counter() - begin > BRIEF:
            break
        best = faster(best, solve(n))
    return best


def faster(*results: Result) -> Result:
    """The result that took the least time, set-up included."""
    return min(results, key=lambda r: r["setup"] + r["seconds"])


def numbers(stats: SolveStats, residuals: Sequence[float] = ()) -> Result:
    """What a row and a plot need of a solve."""
    return {
        "residuals": list(residuals),
        "iterations": stats.iterations,
        "residual": stats.residual,
        "seconds": stats.seconds,
        "setup": stats.setup_seconds,
        "unknowns": stats.unknowns,
    }


def chosen(kind: str, wish: str | None, usual: Iterable[str], every: Iterable[str]) -> tuple[str, ...]:
    """The names that the option `kind` asks for: `usual` if it is not given, `every` for "all"."""
    if wish is None:
        return tuple(usual)
    names = tuple(every)
    if wish == "all":
        return names
    if wish not in names:
        raise InputError(f"no {kind} of this bench is called '{wish}': there are all, {', '.join(names)}")
    return (wish,)


def row(case: str, solver: str, n: int, threads: int, r: Result, **more: Any) -> BenchRow:
    """The row of a result; `more` are columns of its own."""
    numbers = {"iterations": r["iterations"], "seconds": r["seconds"], "setup_seconds": r["setup"]}
    peak = r["peak"] / 1e9 if "peak" in r else None
    return BenchRow(case, solver, n, r["unknowns"], threads, peak_gb=peak, residual=r["residual"], **numbers, **more)


def figures(r: Result, threads: int) -> list[str]:
    """Cells of a table, under the last six of HEADER."""
    cost = (r["setup"] + r["seconds"]) * threads / r["unknowns"] * 1e6
    numbers = [f"{r['setup']:.2f}", f"{r['seconds']:.2f}", f"{cost:.2f}", f"{r['peak'] / 1e9:.2f}"]
    return [str(r["iterations"]), *numbers, f"{r['residual']:.1e}"]


def curve(solver: str, r: Result, threads: int) -> list[Line]:
    """Residual against time, where the solver tells it."""
    if not r["residuals"]:
        return []
    steps = np.linspace(r["setup"], r["setup"] + r["seconds"], len(r["residuals"]))
    return [Line(solver, list(steps * threads / r["unknowns"] * 1e6), r["residuals"], dots=len(steps) < 20)]


def draw(what: str, n: int, curves: dict[str, list[Line]], path: Path) -> None:
    """A picture of how the residuals of every case fall."""
    panels = [
        Panel(f"{what}, {case}, {n} cells", "core-microseconds per unknown", "residual", lines, log_x=True, log_y=True)
        for case, lines in curves.items()
        if lines
    ]
    picture = Image.fromarray(plot(panels))
    replace_file(path, lambda file: picture.save(file, "PNG", optimize=True))
