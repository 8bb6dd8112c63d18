"""Memory that a process has had stays with it.

Every step makes and drops the same large arrays. The C library of Linux returns them to the system at once, and the
next step gets fresh pages, whose first touch takes ten times as long as writing to them again: a third of the time of
a viscous solve with little liquid in a large window at 128 cells, two thirds of the set-up of a pressure solve at 256.

Environment:
    GLUG_KEEP_MEMORY=0   return it, for a program that does other things after its simulations
"""

import ctypes
import functools
import os

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # parameters of mallopt, from malloc.h


def return_memory() -> None:
    """Give the memory of dropped arrays back to the system now, where the C library can."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return


@functools.cache
def keep_memory() -> bool:
    """Let this process reuse the memory of dropped arrays; False where the C library has no such setting."""
    if os.environ.get("GLUG_KEEP_MEMORY") == "0":
        return False
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    # No arrays in mappings of their own, and nothing that is free goes back to the system.
    return bool(set_option(MMAP_MAX, 0)) and bool(set_option(TRIM_THRESHOLD, -1))
