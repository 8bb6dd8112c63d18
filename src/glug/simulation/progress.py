"""What a run shows while it goes on: a bar on a terminal, nothing elsewhere, warnings always."""

import sys
import time
from collections import deque
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from glug.simulation.frame import StepStats

_RECENT = 8  # frames whose duration predicts the next ones


class Display(Protocol):
    """Told of every step and frame of a run."""

    def __enter__(self) -> "Display": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def step(self, stats: StepStats) -> None: ...

    def frame(self, index: int) -> None: ...


class Quiet:
    """Shows nothing."""

    def __enter__(self) -> "Quiet":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def step(self, stats: StepStats) -> None:
        pass

    def frame(self, index: int) -> None:
        pass


class Bar:
    """A Rich bar: frame, steps and iterations of the frame in work, volume error, time left."""

    def __init__(self, console: Console, first: int, last: int):
        self._progress = Progress(
            TextColumn("frame {task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
        )
        self._task = self._progress.add_task(f"{first}/{last}", total=last, completed=first, detail="starting")
        self._last = last
        self._at = first
        self._left = TimeLeft(last)
        self._steps = self._iterations = 0

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def step(self, stats: StepStats) -> None:
        self._steps += 1
        self._iterations += sum(solve.iterations for solve in stats.solves.values())
        detail = f"{self._steps} steps, {self._iterations} iterations, volume {volume_error(stats):+.2%}"
        if (seconds := self._left.seconds()) is not None:
            detail += f", {clock(seconds)} left"
        self._progress.update(self._task, detail=detail)

    def frame(self, index: int) -> None:
        self._left.frame(index)
        self._steps = self._iterations = 0
        self._progress.update(self._task, description=f"{index}/{self._last}", completed=index)


class TimeLeft:
    """Predicts the rest of a run from the latest frames. The first one is left out: it compiles kernels."""

    def __init__(self, last: int):
        self._last = last
        self._index = 0
        self._compiled = False
        self._ends: deque[float] = deque(maxlen=_RECENT + 1)

    def frame(self, index: int) -> None:
        """Frame `index` is complete now."""
        self._index = index
        self._ends.append(time.monotonic())
        if len(self._ends) == 3 and not self._compiled:
            self._compiled = True
            self._ends.popleft()

    def seconds(self) -> float | None:
        """Seconds to the end of the last frame; None as long as nothing is known."""
        if len(self._ends) < 2:
            return None
        per_frame = (self._ends[-1] - self._ends[0]) / (len(self._ends) - 1)
        since = time.monotonic() - self._ends[-1]
        return max(0.0, per_frame * (self._last - self._index) - since)


class Warnings:
    """Says a kind of trouble when it first occurs, and counts solves that did not converge.

    Such a solve does not end a run, but it is never silent. The kind is what a warning says before its colon.
    """

    def __init__(self) -> None:
        self.unconverged = 0  # solves
        self._said: set[str] = set()

    def step(self, stats: StepStats) -> None:
        self.unconverged += sum(not solve.converged for solve in stats.solves.values())
        for text in stats.warnings:
            kind = text.partition(":")[0]
            if kind not in self._said:
                self._said.add(kind)
                where = f"step {stats.step}, frame {stats.frame}"
                print(f"glug: warning: {text} ({where}; said once)", file=sys.stderr)


def volume_error(stats: StepStats) -> float:
    """Liquid volume on the grid against what the particles carry, relative; 0 when there is none."""
    return stats.liquid_volume / stats.target_volume - 1.0 if stats.target_volume > 0 else 0.0


def clock(seconds: float) -> str:
    """A duration as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
