"""Files of one JSON object a line, which grow while a run goes on."""

import dataclasses
import json
import math
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from glug.output.atomic import append_bytes, replace_file


def append_lines(path: Path, records: Iterable[Any]) -> None:
    """Add a line per record (a dictionary or a dataclass). NaN and infinity become null."""
    text = "".join(_line(record) for record in records)
    if text:
        append_bytes(path, text.encode())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The finished lines; an unfinished last one (a run being written, or killed) is left out."""
    if not path.exists():
        return []
    finished = path.read_bytes().rpartition(b"\n")[0]
    return [json.loads(line) for line in finished.splitlines() if line]


class Tail:
    """The finished lines of a file that grows; each is read once. Threads may share it."""

    def __init__(self, path: Path):
        self._path = path
        self._lock = threading.Lock()
        self._file_id: tuple[int, int] | None = None
        self._read = 0
        self._records: list[dict[str, Any]] = []

    def records(self) -> list[dict[str, Any]]:
        """All lines so far. A file that was replaced or cut (a run resumed) is read anew. Not to be changed."""
        with self._lock:
            try:
                with open(self._path, "rb") as file:
                    found = os.fstat(file.fileno())
                    if (found.st_dev, found.st_ino) != self._file_id or found.st_size < self._read:
                        self._file_id, self._read, self._records = (found.st_dev, found.st_ino), 0, []
                    file.seek(self._read)
                    finished, newline, _ = file.read().rpartition(b"\n")
            except FileNotFoundError:
                self._file_id, self._read, self._records = None, 0, []
                return []
            self._read += len(finished) + len(newline)
            if finished:
                self._records = self._records + [json.loads(line) for line in finished.splitlines() if line]
            return self._records


def keep_lines(path: Path, wanted: Callable[[dict[str, Any]], bool]) -> None:
    """Drop the lines that are not `wanted`, and an unfinished last one."""
    if path.exists():
        text = "".join(_line(record) for record in read_lines(path) if wanted(record))
        replace_file(path, lambda file: file.write(text.encode()))


def _line(record: Any) -> str:
    return json.dumps(_plain(record), allow_nan=False, separators=(",", ":")) + "\n"


def _plain(value: Any) -> Any:
    """`value` in terms that JSON knows."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
