"""OpenVDB: a file per frame with the surface's distance and the liquid's velocity.

    surface   level set [m], negative inside, three voxels to each side, made of the frame's mesh
    velocity  [m/s] at the simulation's cells: of the run's fields, else averaged from its particles

There is no wheel of OpenVDB's Python module: it comes with Debian, with conda-forge, and inside Blender's.
"""

import errno
import importlib.util
import os
import struct
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np

import glug
from glug.errors import InputError
from glug.output.export.quantities import average_velocity, cell_velocity
from glug.output.export.shot import Shot, ShotFrame

HALF_WIDTH = 3.0  # voxels; OpenVDB's own
HEADER = 8 + 4 + 8 + 1 + 36  # bytes: magic number, versions of file and library, a flag, an identifier
HOW = (
    "exporting to VDB needs the Python module of OpenVDB; add it with: pip install bpy (Python 3.11; Blender's, "
    "which brings it), or conda install -c conda-forge openvdb, or Debian's python3-openvdb"
)


def write(shot: Shot, folder: Path) -> None:
    vdb = find_openvdb()
    for frame in shot:
        grids = [_surface(vdb, shot, frame)]
        if (velocity := _velocity(vdb, shot, frame)) is not None:
            grids.append(velocity)
        about = {"creator": f"glug {glug.__version__}", "frame": frame.index, "time": frame.time, "fps": shot.fps}
        path = folder / f"{shot.name}_{frame.index:04d}.vdb"
        vdb.write(str(path), grids, about)
        require_whole(path)


def require_whole(path: Path) -> None:
    """OSError if a file ends before its last grid does: OpenVDB says nothing when the disk is full.

    The layout is that of OpenVDB's `io/Archive.cc` and `io/GridDescriptor.cc`, file version 224: magic number and
    versions, an identifier, metadata, then every grid after a description that says where it ends.
    """
    with open(path, "rb") as file:

        def number(kind: str) -> int:
            return int(struct.unpack(kind, file.read(struct.calcsize(kind)))[0])

        def skip_text() -> None:
            file.seek(number("<I"), os.SEEK_CUR)

        try:
            file.seek(HEADER)
            for _ in range(number("<I")):  # name, type and value
                for _ in range(3):
                    skip_text()
            for _ in range(number("<I")):  # name, type and parent of a grid; where it, its voxels and its end are
                for _ in range(3):
                    skip_text()
                file.seek(16, os.SEEK_CUR)
                file.seek(number("<q"))
            end = file.tell()
        except struct.error:
            end = -1
        if end != file.seek(0, os.SEEK_END):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def find_openvdb() -> Any:
    """The module, wherever it is from; InputError that says where to get it."""
    for name in ("openvdb", "pyopenvdb"):
        try:
            return import_module(name)
        except ModuleNotFoundError:
            continue
        except ImportError as error:
            raise InputError(f"exporting to VDB needs {name}, which cannot be imported: {error}") from error
    blender = importlib.util.find_spec("bpy")
    for place in (blender.submodule_search_locations or []) if blender else []:
        for file in sorted(Path(place).glob("*/python/lib/*/site-packages/openvdb.*")):
            if not file.name.endswith(EXTENSION_SUFFIXES[0]):
                continue  # built for another Python
            spec = importlib.util.spec_from_file_location("openvdb", file)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise InputError(HOW)


def _surface(vdb: Any, shot: Shot, frame: ShotFrame) -> Any:
    """The mesh as a level set, with voxels as large as the samples that the mesh was made of."""
    mesh, h = frame.surface, shot.scene.domain.dx / shot.scene.surface.resolution
    transform = vdb.createLinearTransform(voxelSize=h)
    if len(mesh.triangles):
        grid = vdb.FloatGrid.createLevelSetFromPolygons(
            mesh.vertices, triangles=mesh.triangles.astype(np.uint32), transform=transform, halfWidth=HALF_WIDTH
        )
    else:
        grid = vdb.FloatGrid(HALF_WIDTH * h)
        grid.transform = transform
        grid.gridClass = vdb.GridClass.LEVEL_SET
    if shot.offset.any():
        grid.transform = _transform(vdb, h, shot.offset)
    grid.name = "surface"
    return grid


def _velocity(vdb: Any, shot: Shot, frame: ShotFrame) -> Any:
    if frame.fields:
        values = cell_velocity(frame.fields)
        dx, corner = float(frame.fields["dx"]), np.asarray(frame.fields["corner"])
    elif shot.has_particles:
        dx = shot.scene.domain.dx
        values, corner = average_velocity(frame.particles, shot.scene.domain.lower, dx)
    else:
        return None
    grid = vdb.Vec3SGrid()
    grid.copyFromArray(np.ascontiguousarray(values))  # strides would be ignored
    first = corner.astype(float) + 0.5 * dx  # voxel (0, 0, 0) is where the first cell has its centre
    grid.transform = _transform(vdb, dx, first + shot.offset)
    grid.name = "velocity"
    return grid


def _transform(vdb: Any, h: float, first: np.ndarray) -> Any:
    """Voxels of edge h, the first at a point."""
    return vdb.createLinearTransform([[h, 0, 0, 0], [0, h, 0, 0], [0, 0, h, 0], [*map(float, first), 1]])
