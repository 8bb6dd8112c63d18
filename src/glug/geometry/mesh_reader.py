"""Mesh files, read by a process of its own: what a stranger's file does to a reader happens there, within limits.

The parent sends the name of a file and gets its triangles or a reason. A reader that takes too long is killed, one that
wants too much memory dies; the next file has a new one. It ends with its parent.
"""

import io
import json
import os
import re
import select
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import numpy as np

from glug.errors import MeshError, shown_path

FORMATS = (".obj", ".ply", ".stl")
MOST_BYTES = 4 << 30  # of a file
MEMORY_PER_BYTE = 64  # of a file, that its reader may use, besides
LEAST_MEMORY = 2 << 30
LONGEST = 60.0  # [s] for a file, and as much again for every 100 MB
FACE_OF_VERTEX_0 = re.compile(rb"^f[ \t](?:.*[ \t])?0(?:/|\s|$)", re.MULTILINE)
LARGEST = 1e15  # [m] of coordinates: their squares and products are finite in single precision


def read_triangles(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) float64 and triangles (m, 3) int64 of a mesh file; MeshError if it has none or is unsound."""
    name = shown_path(path)
    if path.suffix.lower() not in FORMATS:
        raise MeshError(f"{name}: unknown mesh format '{shown_path(path.suffix)}'; valid: {', '.join(FORMATS)}")
    try:
        size = path.stat().st_size if path.is_file() else None
    except OSError:  # a name that no file can have
        size = None
    if size is None:
        raise MeshError(f"{name}: mesh file not found")
    if size > MOST_BYTES:
        raise MeshError(f"{name}: larger than {MOST_BYTES >> 30} GB")
    return _READER.read(path, size)


class Reader:
    """The process that reads; it is started by the first file and stays for the next ones."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._limit = 0

    def read(self, path: Path, size: int) -> tuple[np.ndarray, np.ndarray]:
        limit = max(LEAST_MEMORY, size * MEMORY_PER_BYTE)
        if self._process is None or self._process.poll() is not None or limit > self._limit:
            self._begin(limit)
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(str(path.absolute())).encode() + b"\n")
            process.stdin.flush()
            deadline = time.monotonic() + LONGEST * (1.0 + size / 1e8)
            (length,) = struct.unpack("<q", _received(process.stdout, 8, deadline))
            answer = np.load(io.BytesIO(_received(process.stdout, length, deadline)), allow_pickle=False)
        except TimeoutError:
            self.close()
            raise MeshError(f"{shown_path(path)}: cannot be read as a mesh in reasonable time") from None
        except (OSError, EOFError, struct.error):
            self.close()
            raise MeshError(f"{shown_path(path)}: cannot be read as a mesh (its reader died: too large?)") from None
        if "reason" in answer:
            raise MeshError(f"{shown_path(path)}: {answer['reason']}")
        return answer["vertices"], answer["triangles"]

    def _begin(self, limit: int) -> None:
        self.close()
        command = [sys.executable, "-m", "glug.geometry.mesh_reader", str(limit)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, **pipes, start_new_session=True)  # type: ignore[call-overload]
        self._limit = limit

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


_READER = Reader()  # a process, not state: any two are alike


def _received(stream: IO[bytes], count: int, deadline: float) -> bytes:
    """That many bytes from a pipe; TimeoutError if they do not come in time."""
    parts, left, descriptor = [], count, stream.fileno()
    while left > 0:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        part = os.read(descriptor, min(left, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a file as it has them; MeshError if they make no sense."""
    import trimesh

    if path.suffix.lower() == ".obj" and FACE_OF_VERTEX_0.search(path.read_bytes()):
        raise MeshError("a face names vertex 0: OBJ files count from 1")
    try:
        found = trimesh.load_mesh(path, process=False, skip_materials=True)
        vertices = np.asarray(found.vertices, np.float64).reshape(-1, 3)
        triangles = np.asarray(found.faces, np.int64).reshape(-1, 3)
    except Exception as error:  # each format's reader raises its own kinds
        reason = str(error).splitlines()[0] if str(error) and not isinstance(error, ImportError) else "its text is none"
        raise MeshError(f"cannot be read as a mesh ({reason[:80]})") from None
    if len(triangles) == 0:
        raise MeshError("the mesh is empty; it needs triangles that enclose a volume")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise MeshError(f"a triangle names a vertex that is not among the {len(vertices)} of the mesh")
    if not np.isfinite(vertices).all():
        raise MeshError("the mesh has vertices that are not finite")
    if np.abs(vertices).max() > LARGEST:
        raise MeshError(f"the mesh has coordinates larger than {LARGEST:g} m")
    return vertices, triangles


def serve(limit: int) -> None:
    """Answer the names of files that come in, until no more do."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin.buffer:
        try:
            vertices, triangles = load(Path(json.loads(line)))
            answer = {"vertices": vertices, "triangles": triangles}
        except MeshError as error:
            answer = {"reason": np.array(str(error))}
        except MemoryError:
            answer = {"reason": np.array("cannot be read as a mesh (it needs too much memory)")}
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **answer)
        answers.write(struct.pack("<q", buffer.tell()) + buffer.getvalue())
        answers.flush()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
