"""Named arrays as .npz, and checkpoints: arrays with plain values beside them.

NumPy dates every member 1980-01-01, so equal arrays give equal files.
"""

import json
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from glug.errors import InputError

# Zip members are arrays; this one holds the JSON of everything that is not.
_PLAIN = "_plain"


@dataclass(frozen=True)
class Checkpoint:
    """The state after `step` steps; the last frame written before it was `frame`."""

    frame: int
    step: int
    data: dict[str, Any]


def write_arrays(file: BinaryIO, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name, in the order given. Python objects are refused (ValueError)."""
    members: dict[str, Any] = dict(arrays)
    np.savez(file, allow_pickle=False, **members)


def read_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, or those of `names` that it has.

    InputError if it is missing or damaged (every member has a checksum).
    """
    with _opened(path) as archive:
        return {name: archive[name] for name in archive.files if names is None or name in names}


def array_names(path: Path) -> list[str]:
    """The names of the arrays of an .npz file; InputError if it is missing or has no readable table of contents."""
    with _opened(path) as archive:
        return list(archive.files)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may never end
            raise InputError(f"{path}: not a file")
        with np.load(path, allow_pickle=False) as archive:
            yield archive
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: truncated or damaged") from error


def write_checkpoint(file: BinaryIO, checkpoint: Checkpoint) -> None:
    """Write arrays and NumPy scalars as such, all else (numbers, text, lists, dictionaries) as JSON."""
    arrays, plain = {}, {}
    for name, value in checkpoint.data.items():
        if isinstance(value, np.ndarray | np.generic):
            arrays[name] = np.asarray(value)
        else:
            plain[name] = value
    text = json.dumps({"frame": checkpoint.frame, "step": checkpoint.step, "data": plain})
    arrays[_PLAIN] = np.frombuffer(text.encode(), dtype=np.uint8)
    write_arrays(file, arrays)


def read_checkpoint(path: Path) -> Checkpoint:
    """What `write_checkpoint` wrote, with the same bits and types (tuples come back as lists)."""
    arrays = read_arrays(path)
    if _PLAIN not in arrays:
        raise InputError(f"{path}: not a checkpoint")
    plain = json.loads(arrays.pop(_PLAIN).tobytes())
    data = {name: array[()] if array.ndim == 0 else array for name, array in arrays.items()}
    return Checkpoint(plain["frame"], plain["step"], {**data, **plain["data"]})
