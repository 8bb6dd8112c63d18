"""Mesh files as strangers send them: read, or refused in one line; none of them harms the process that asks."""

import os
import struct
import time

import numpy as np
import pytest

from glug.errors import MeshError
from glug.geometry import mesh_reader
from glug.geometry.mesh import read_mesh

CORNERS = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)], float)
SIDES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
TRIANGLES = [(s[0], s[i], s[i + 1]) for s in SIDES for i in (1, 2)]


def obj(vertices, faces, base=1):
    text = "".join(f"v {x} {y} {z}\n" for x, y, z in vertices)
    return (text + "".join("f " + " ".join(str(i + base) for i in face) + "\n" for face in faces)).encode()


def ply(order="<", comment="", vertices=CORNERS, triangles=TRIANGLES, counts=None):
    n, m = counts or (len(vertices), len(triangles))
    kind = {"<": "little", ">": "big"}[order]
    head = f"ply\nformat binary_{kind}_endian 1.0\n{comment}element vertex {n}\n"
    head += "".join(f"property float {axis}\n" for axis in "xyz")
    head += f"element face {m}\nproperty list uchar int vertex_indices\nend_header\n"
    body = b"".join(struct.pack(f"{order}3f", *v) for v in vertices)
    return head.encode() + body + b"".join(struct.pack(f"{order}B3i", 3, *t) for t in triangles)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cube.obj", obj(CORNERS, SIDES)),
        ("cube.ply", ply()),
        ("big-endian.ply", ply(">")),
        ("texture.ply", ply(comment="comment TextureFile /etc/hostname\n")),
    ],
)
def test_a_cube_is_a_cube(name, data, tmp_path, capfd):
    (tmp_path / name).write_bytes(data)
    mesh = read_mesh(tmp_path / name)
    assert mesh.distance(np.array([[0.5, 0.5, 0.5], [2.0, 0.5, 0.5]])) == pytest.approx([-0.5, 1.0])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("flat.obj", obj(CORNERS * [1, 1, 0], SIDES), "flat|not closed"),
        ("huge.obj", obj(CORNERS * 1e300, SIDES), "larger than"),
        ("zero.obj", obj(CORNERS, SIDES, 0), "count from 1"),
        ("far.obj", obj(CORNERS, SIDES, 10**12), "cannot be read|not among"),
        ("nan.obj", obj(CORNERS * np.nan, SIDES), "finite"),
        ("open.obj", obj(CORNERS, SIDES[1:]), "not closed"),
        ("empty.obj", b"", "empty|cannot be read"),
        ("index.ply", ply(triangles=[(0, 1, 2**30), *TRIANGLES[1:]]), "not among"),
        ("negative.ply", ply(triangles=[(0, 1, -(2**30)), *TRIANGLES[1:]]), "not among"),
        ("many.ply", ply(counts=(4 * 10**9, 4 * 10**9)), "cannot be read"),
        ("many.stl", b"\0" * 80 + struct.pack("<I", 2**31) + b"x" * 100, "cannot be read"),
        ("cube.exe", b"MZ", "unknown mesh format"),
    ],
)
def test_a_mesh_that_is_none_is_refused_in_one_line(name, data, says, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MeshError, match=says) as error:
        read_mesh(tmp_path / name)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


def test_a_pipe_is_no_mesh(tmp_path):
    os.mkfifo(tmp_path / "pipe.obj")
    with pytest.raises(MeshError, match="not found"):
        read_mesh(tmp_path / "pipe.obj")


def test_a_reader_that_takes_too_long_is_ended_and_the_next_file_has_another(tmp_path, monkeypatch):
    (tmp_path / "slow.obj").write_bytes(b"v 0 0 0\n" * 300_000)
    (tmp_path / "cube.obj").write_bytes(obj(CORNERS, SIDES))
    monkeypatch.setattr(mesh_reader, "LONGEST", 0.01)
    begin = time.monotonic()
    with pytest.raises(MeshError, match="time"):
        read_mesh(tmp_path / "slow.obj")
    assert time.monotonic() - begin < 30.0
    monkeypatch.undo()
    assert len(read_mesh(tmp_path / "cube.obj").triangles) == 12


def test_a_file_that_wants_all_memory_is_refused(tmp_path, monkeypatch):
    (tmp_path / "large.obj").write_bytes(obj(np.zeros((200_000, 3)), []) + b"f 1 2 3\n")
    monkeypatch.setattr(mesh_reader, "LEAST_MEMORY", 1 << 20)
    monkeypatch.setattr(mesh_reader, "MEMORY_PER_BYTE", 1)
    monkeypatch.setattr(mesh_reader, "_READER", mesh_reader.Reader())
    with pytest.raises(MeshError, match="cannot be read"):
        read_mesh(tmp_path / "large.obj")
