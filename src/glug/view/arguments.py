"""Sizes and frames as they are written on a command line."""

import re

from glug.errors import InputError


def parse_size(text: str) -> tuple[int, int]:
    """(width, height) from 640x480."""
    found = re.fullmatch(r"(\d{1,6})x(\d{1,6})", text.strip())
    if found is None:
        raise InputError(f"a size is written like 640x480, not '{text}'")
    return int(found[1]), int(found[2])


def parse_frames(text: str | None) -> list[int] | None:
    """Frame numbers from 60, 10-40, 0-40:2, or several of these with commas between; None from None."""
    if text is None:
        return None
    frames: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6})(?::(\d{1,6}))?)?", part.strip())
        if found is None:
            raise InputError(f"frames are written like 60, 10-40 or 0-40:2, not '{part}'")
        first = int(found[1])
        last, step = int(found[2] or first), int(found[3] or 1)
        if last < first or step < 1:
            raise InputError(f"the frames '{part}' are none: the second number must not be smaller than the first")
        frames.update(range(first, last + 1, step))
    return sorted(frames)
