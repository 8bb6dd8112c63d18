"""Stopping a run politely: the first Ctrl-C (or SIGTERM) asks, the second aborts."""

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_MESSAGE = b"\nstopping after this step, with a checkpoint; once more to stop at once\n"


class Interrupts:
    """While entered, `asked` turns true at the first signal; the second raises KeyboardInterrupt.

    Outside the main thread Python allows no signal handlers: `asked` then stays false.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        # Straight to the terminal: a handler may interrupt a print, and print may not be entered twice.
        os.write(2, _MESSAGE)
