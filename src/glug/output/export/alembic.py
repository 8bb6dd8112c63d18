"""Alembic (Ogawa), through the `alembic3d` wheel: samples go to the file as they come.

    /NAME/liquid/shape          PolyMesh  positions, topology, normals and velocities per frame
    /NAME/particles/shape       Points    ids, widths, velocities
    /NAME/solids/<solid>/shape  PolyMesh  under a transform, sampled per frame where it moves

Alembic has no unit and no up axis of its own: numbers are metres, y up, which is what its readers assume. A frame
is at its number / fps [s].
"""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

import glug
from glug import extras
from glug.output.export.quantities import widths
from glug.output.export.shot import Body, Shot, ShotFrame


def write(shot: Shot, path: Path) -> None:
    extras.require("alembic3d", "alembic", "exporting to Alembic")
    from alembic3d import Abc, AbcCoreAbstract, AbcGeom

    archive = Abc.CreateArchiveWithInfo(str(path), float(shot.fps), f"glug {glug.__version__}", shot.scene.name)
    sampling = AbcCoreAbstract.TimeSampling(1.0 / shot.fps, shot.frames[0] / shot.fps)
    time = archive.addTimeSampling(sampling)
    root = AbcGeom.OXform(archive.getTop(), shot.name)
    if shot.offset.any():
        _move(root, np.eye(3), shot.offset)
    parts: list[Any] = [_Liquid(root, time)]
    if shot.has_particles:
        parts.append(_Particles(root, time))
    if shot.bodies:
        group = AbcGeom.OXform(root, "solids")
        parts += [_Solid(group, body, time) for body in shot.bodies]
    try:
        for frame in shot:
            for part in parts:
                part.sample(frame)
    except RuntimeError:
        # Alembic also writes when its objects go, and aborts the process if that fails: these stay for ever.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(parts))
        raise
    # The file is finished when the last object that refers to it is gone, which is when this function ends.


class _Mesh:
    """A triangle mesh; Alembic's faces turn the other way."""

    def __init__(self, parent: Any, time: int):
        from alembic3d import AbcGeom

        self.schema = AbcGeom.OPolyMesh(parent, "shape", time).getSchema()

    def made(self, vertices: np.ndarray, triangles: np.ndarray) -> Any:
        from alembic3d import AbcGeom

        corners = _integers(triangles[:, ::-1].ravel())
        return AbcGeom.OPolyMeshSchemaSample(_vectors(vertices), corners, _integers(np.full(len(triangles), 3)))


class _Liquid(_Mesh):
    def __init__(self, root: Any, time: int):
        from alembic3d import AbcGeom

        super().__init__(AbcGeom.OXform(root, "liquid"), time)

    def sample(self, frame: ShotFrame) -> None:
        from alembic3d import AbcGeom

        surface = frame.surface
        sample = self.made(surface.vertices, surface.triangles)
        normals = AbcGeom.ON3fGeomParamSample(_vectors(surface.normals()), AbcGeom.GeometryScope.kVertexScope)
        sample.setNormals(normals)
        sample.setVelocities(_vectors(surface.velocities))
        self.schema.set(sample)


class _Particles:
    def __init__(self, root: Any, time: int):
        from alembic3d import AbcGeom

        self.schema = AbcGeom.OPoints(AbcGeom.OXform(root, "particles"), "shape", time).getSchema()

    def sample(self, frame: ShotFrame) -> None:
        from alembic3d import AbcGeom

        particles = frame.particles
        size = AbcGeom.OFloatGeomParamSample(_floats(widths(particles)), AbcGeom.GeometryScope.kVertexScope)
        ids = _integers(particles["id"])
        positions, velocities = _vectors(particles["position"]), _vectors(particles["velocity"])
        self.schema.set(AbcGeom.OPointsSchemaSample(positions, ids, velocities, size))


class _Solid:
    def __init__(self, group: Any, body: Body, time: int):
        from alembic3d import AbcGeom

        self.body = body
        self.place = AbcGeom.OXform(group, body.name, time)
        self.mesh = _Mesh(self.place, time)
        self.drawn = False

    def sample(self, frame: ShotFrame) -> None:
        if self.body.moving:
            _move(self.place, *self.body.pose(frame))
        if self.body.deforming or not self.drawn:
            self.mesh.schema.set(self.mesh.made(*self.body.mesh(frame)))
            self.drawn = True


def _move(place: Any, R: np.ndarray, x: np.ndarray) -> None:
    """The next sample of a transform: p -> R p + x."""
    import imath
    from alembic3d import AbcGeom

    matrix = np.eye(4)
    matrix[:3, :3], matrix[3, :3] = R.T, x  # Imath multiplies rows from the left
    sample = AbcGeom.XformSample()
    sample.setMatrix(imath.M44d(*matrix.ravel().tolist()))
    place.getSchema().set(sample)


def _vectors(array: np.ndarray) -> Any:
    import imath

    array = np.ascontiguousarray(array, dtype=np.float32)
    return imath.V3fArrayFromBuffer(array) if len(array) else imath.V3fArray(0)


def _floats(array: np.ndarray) -> Any:
    import imath

    array = np.ascontiguousarray(array, dtype=np.float32)
    return imath.FloatArrayFromBuffer(array) if len(array) else imath.FloatArray(0)


def _integers(array: np.ndarray) -> Any:
    import imath

    array = np.ascontiguousarray(array, dtype=np.int32)
    return imath.IntArrayFromBuffer(array) if len(array) else imath.IntArray(0)
