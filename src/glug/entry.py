"""What the command runs first: from here on Ctrl-C ends it with 130 and no traceback, also while it imports."""

import os
import signal
import sys
from types import FrameType

from glug.errors import INTERRUPTED


def _stop(number: int, frame: FrameType | None) -> None:
    os.write(2, b"\nglug: stopped\n")
    os._exit(INTERRUPTED)  # half-imported modules have nothing to put away


def main() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell ignores it for us
        signal.signal(signal.SIGINT, _stop)
    from glug.cli import execute

    if signal.getsignal(signal.SIGINT) is _stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(execute(sys.argv[1:]))
