"""A bar for work of known length: on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def counting(title: str, console: Console | None = None) -> Iterator[Callable[[int, int], None]]:
    """Yields a function to call with (done, in all); the bar appears when it is first called."""
    console = Console(stderr=True) if console is None else console
    if not console.is_terminal:  # older versions of Rich end a bar that is disabled with an empty line
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, visible=False)
        yield lambda done, total: progress.update(task, completed=done, total=total, visible=True)
