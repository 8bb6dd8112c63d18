"""Surfaces as binary PLY: vertices x y z [m] with velocities vx vy vz [m/s], and triangles.

The bytes depend on the mesh alone, so equal surfaces give equal files.
"""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from glug.errors import InputError
from glug.geometry.sampled import SurfaceMesh

_VERTEX = ("x", "y", "z", "vx", "vy", "vz")
_FACE = np.dtype([("count", "u1"), ("vertices", "<i4", (3,))])
_HEADER_LIMIT = 4096


def _header(vertices: int, triangles: int) -> bytes:
    lines = ["ply", "format binary_little_endian 1.0", "comment glug surface, metres, y up"]
    lines += [f"element vertex {vertices}", *(f"property float {name}" for name in _VERTEX)]
    lines += [f"element face {triangles}", "property list uchar int vertex_indices", "end_header", ""]
    return "\n".join(lines).encode("ascii")


def write_ply(file: BinaryIO, mesh: SurfaceMesh) -> None:
    """Write `mesh` to a binary file."""
    vertices = np.concatenate([mesh.vertices, mesh.velocities], axis=1).astype("<f4")
    faces = np.empty(len(mesh.triangles), dtype=_FACE)
    faces["count"] = 3
    faces["vertices"] = mesh.triangles
    file.write(_header(len(vertices), len(faces)))
    file.write(vertices.tobytes())
    file.write(faces.tobytes())


def read_ply(path: Path) -> SurfaceMesh:
    """The mesh that `write_ply` wrote; InputError if the file is missing, truncated or of another layout."""
    check_ply(path)  # before all of it is in memory
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    end, n, m = _layout(path, data[:_HEADER_LIMIT], len(data))
    split = end + n * 4 * len(_VERTEX)
    vertices = np.frombuffer(data, "<f4", n * len(_VERTEX), end).reshape(n, len(_VERTEX))
    faces = np.frombuffer(data, _FACE, m, split)
    return SurfaceMesh(
        vertices=vertices[:, :3].astype(np.float32),
        triangles=faces["vertices"].astype(np.int32),
        velocities=vertices[:, 3:].astype(np.float32),
    )


def check_ply(path: Path) -> None:
    """InputError as `read_ply` would raise it, from the header and the file's size alone."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may never end
            raise InputError(f"{path}: not a file")
        with open(path, "rb") as file:
            start = file.read(_HEADER_LIMIT)
            size = file.seek(0, 2)
    except OSError as error:
        raise _unreadable(path, error) from None
    _layout(path, start, size)


def _layout(path: Path, start: bytes, size: int) -> tuple[int, int, int]:
    """Where the header ends, vertices and triangles, of a file of `size` bytes that begins with `start`."""
    end = start.find(b"end_header\n") + len(b"end_header\n")
    counts = [
        int(line.split()[2])
        for line in start[:end].decode("ascii", "replace").splitlines()
        if line.startswith("element ") and line.split()[2:3] and line.split()[2].isdigit()
    ]
    if len(counts) != 2 or start[:end] != _header(*counts):
        raise InputError(f"{path}: not a surface file written by glug")
    vertices, triangles = counts
    if size != end + vertices * 4 * len(_VERTEX) + triangles * _FACE.itemsize:
        raise InputError(f"{path}: truncated or damaged ({size} bytes)")
    return end, vertices, triangles


def _unreadable(path: Path, error: OSError) -> InputError:
    reason = "no such file" if isinstance(error, FileNotFoundError) else f"cannot read: {error.strerror}"
    return InputError(f"{path}: {reason}")
