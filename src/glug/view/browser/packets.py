"""What the server sends for a frame: named arrays behind a JSON header, ready for a typed array in the page.

4 bytes    length of the header, little-endian
header     JSON: whatever the packet says, and `arrays`: [{name, type, shape, offset}]
arrays     each from its `offset`, a multiple of 4
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

_TYPES = {"<f4": "f4", "<u4": "u4", "|u1": "u1"}


def pack(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """One packet. Arrays are float32, uint32 (or int32, not negative) or uint8."""
    plain = {name: _plain(array) for name, array in arrays.items()}
    described: list[dict[str, Any]] = []
    offset = 0
    for name, array in plain.items():
        described.append({"name": name, "type": _TYPES[array.dtype.str], "shape": array.shape, "offset": offset})
        offset += _padded(array.nbytes)
    text = json.dumps({**header, "arrays": described}, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    parts: list[bytes | memoryview] = [len(text).to_bytes(4, "little"), text]
    for array in plain.values():
        parts += [array.data.cast("B") if array.size else b"", b"\0" * (_padded(array.nbytes) - array.nbytes)]
    return b"".join(parts)


def unpack(packet: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a packet, as the page reads them."""
    length = int.from_bytes(packet[:4], "little")
    header = json.loads(packet[4 : 4 + length])
    arrays = {}
    for a in header.pop("arrays"):
        count = int(np.prod(a["shape"], dtype=int))
        dtype = np.dtype(a["type"])
        arrays[a["name"]] = np.frombuffer(packet, dtype, count, 4 + length + a["offset"]).reshape(a["shape"])
    return header, arrays


def _plain(array: np.ndarray) -> np.ndarray:
    if array.dtype == np.int32:
        array = array.view(np.uint32)
    return np.ascontiguousarray(array)


def _padded(size: int) -> int:
    return size + (-size % 4)
