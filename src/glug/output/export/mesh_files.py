"""A mesh file per frame: PLY with velocities, or OBJ.

liquid/0001.ply          the surface
solids/NAME.ply          a solid that stays as it is
solids/NAME/0001.ply     one that moves or deforms, where it is in that frame
"""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from glug.geometry.sampled import SurfaceMesh
from glug.output.export.shot import Shot
from glug.output.ply import write_ply

WriteMesh = Callable[[BinaryIO, SurfaceMesh, np.ndarray], None]


def ply_files(shot: Shot, folder: Path) -> None:
    """Numbers are of single precision: `offset` in export.json is not in them."""
    _write(shot, folder, ".ply", lambda file, mesh, _: write_ply(file, mesh))


def obj_files(shot: Shot, folder: Path) -> None:
    _write(shot, folder, ".obj", write_obj)


def write_obj(file: BinaryIO, mesh: SurfaceMesh, offset: np.ndarray) -> None:
    """Vertices [m], with the digits that give the same numbers (double precision with an offset), and triangles."""
    file.write(b"# glug, metres, y up\n")
    vertices = (mesh.vertices.astype(np.float64) + offset).ravel().tolist()
    line = "v %.17g %.17g %.17g\n" if offset.any() else "v %.9g %.9g %.9g\n"
    file.write(((line * len(mesh.vertices)) % tuple(vertices)).encode())
    corners = (mesh.triangles + 1).ravel().tolist()
    file.write((("f %d %d %d\n" * len(mesh.triangles)) % tuple(corners)).encode())


def _write(shot: Shot, folder: Path, suffix: str, write_mesh: WriteMesh) -> None:
    def save(path: Path, mesh: SurfaceMesh) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            write_mesh(file, mesh, shot.offset)

    for frame in shot:
        save(folder / "liquid" / f"{frame.index:04d}{suffix}", frame.surface)
        for body in shot.bodies:
            if body.moving or body.deforming:
                save(folder / "solids" / body.name / f"{frame.index:04d}{suffix}", body.placed(frame))
            elif frame.index == shot.frames[0]:
                save(folder / "solids" / f"{body.name}{suffix}", body.placed(frame))
