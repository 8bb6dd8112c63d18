"""Universal Scene Description: one stage with time samples, through Pixar's own library (usd-core).

    /NAME/liquid           Mesh    points, topology, normals and velocities per frame
    /NAME/particles        Points  ids, widths, velocities; other attributes as primvars
    /NAME/solids/<solid>   Mesh    placed by a matrix per frame; meshes that deform have points per frame
    /NAME/materials/...    UsdPreviewSurface

Time codes are frame numbers. Metres, y up. The stage is saved every few frames: what is saved is read from the
file when needed, so memory does not grow with the length of the run.
"""

from pathlib import Path
from typing import Any

import numpy as np

import glug
from glug import extras
from glug.output.export.quantities import widths
from glug.output.export.shot import NEEDED, Body, Shot, ShotFrame
from glug.scene.materials import linear

SAVE_BYTES = 64e6  # of new samples
REFRACTION = 1.4  # as in glug's own pictures


def write(shot: Shot, path: Path) -> None:
    extras.require("pxr.Usd", "usd", "exporting to USD")
    from pxr import Sdf, Tf, Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(shot.fps)
    stage.SetFramesPerSecond(shot.fps)
    stage.SetStartTimeCode(shot.frames[0])
    stage.SetEndTimeCode(shot.frames[-1])
    stage.GetRootLayer().customLayerData = {"glug": {"version": glug.__version__, "scene": shot.scene.name}}
    root = Sdf.Path(f"/{Tf.MakeValidIdentifier(shot.name)}")
    place = UsdGeom.Xform.Define(stage, root)
    if shot.offset.any():
        place.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(tuple(shot.offset.tolist()))
    stage.SetDefaultPrim(place.GetPrim())
    parts: list[Any] = [_Liquid(stage, root, shot)]
    if shot.has_particles:
        parts.append(_Particles(stage, root))
    parts += [_Solid(stage, root, body) for body in shot.bodies]
    unsaved = 0
    for frame in shot:
        unsaved += sum(part.sample(frame) for part in parts)
        if unsaved > SAVE_BYTES:
            stage.Save()
            unsaved = 0
    stage.Save()


class _Mesh:
    """A triangle mesh."""

    def __init__(self, stage: Any, path: Any, material: Any, rgb: tuple[float, float, float]):
        from pxr import UsdGeom, UsdShade

        self.mesh = UsdGeom.Mesh.Define(stage, path)
        self.mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        self.mesh.CreateDisplayColorAttr([tuple(linear(rgb).tolist())])
        UsdShade.MaterialBindingAPI.Apply(self.mesh.GetPrim()).Bind(material)

    def set(self, vertices: np.ndarray, triangles: np.ndarray, time: Any) -> int:
        """One sample; its size [bytes]."""
        from pxr import Vt

        counts = np.full(len(triangles), 3, np.int32)
        self.mesh.CreatePointsAttr().Set(_vectors(vertices), time)
        self.mesh.CreateFaceVertexIndicesAttr().Set(Vt.IntArray.FromNumpy(triangles.ravel().astype(np.int32)), time)
        self.mesh.CreateFaceVertexCountsAttr().Set(Vt.IntArray.FromNumpy(counts), time)
        self.mesh.CreateExtentAttr().Set(_extent(vertices), time)
        return vertices.nbytes + 16 * len(triangles)


class _Liquid(_Mesh):
    """The surface of all liquids, with the look of the first."""

    def __init__(self, stage: Any, root: Any, shot: Shot):
        liquid = next(iter(shot.scene.liquids.values()))
        look = _material(stage, root, "liquid", liquid.colour, liquid.clarity)
        super().__init__(stage, root.AppendChild("liquid"), look, liquid.colour)
        self.mesh.SetNormalsInterpolation("vertex")  # smooth, where a bare mesh is drawn in facets

    def sample(self, frame: ShotFrame) -> int:
        surface = frame.surface
        self.mesh.CreateVelocitiesAttr().Set(_vectors(surface.velocities), frame.index)
        self.mesh.CreateNormalsAttr().Set(_vectors(surface.normals()), frame.index)
        return self.set(surface.vertices, surface.triangles, frame.index) + 24 * len(surface.vertices)


class _Particles:
    """The particles; every attribute that has no place of its own is a primvar."""

    def __init__(self, stage: Any, root: Any):
        from pxr import UsdGeom

        self.points = UsdGeom.Points.Define(stage, root.AppendChild("particles"))
        # A surface shows the liquid; the particles are there for who wants them.
        self.points.CreatePurposeAttr(UsdGeom.Tokens.guide)
        self.points.SetWidthsInterpolation(UsdGeom.Tokens.vertex)

    def sample(self, frame: ShotFrame) -> int:
        from pxr import Sdf, UsdGeom, Vt

        particles, time = frame.particles, frame.index
        self.points.CreatePointsAttr().Set(_vectors(particles["position"]), time)
        self.points.CreateExtentAttr().Set(_extent(particles["position"]), time)
        self.points.CreateVelocitiesAttr().Set(_vectors(particles["velocity"]), time)
        self.points.CreateIdsAttr().Set(Vt.Int64Array.FromNumpy(particles["id"].astype(np.int64)), time)
        self.points.CreateWidthsAttr().Set(Vt.FloatArray.FromNumpy(widths(particles)), time)
        size = 36 * len(particles["id"])
        api = UsdGeom.PrimvarsAPI(self.points)
        for name, values in particles.items():
            if name in NEEDED or values.ndim != 1:
                continue
            primvar = api.CreatePrimvar(name, Sdf.ValueTypeNames.FloatArray, UsdGeom.Tokens.vertex)
            primvar.Set(Vt.FloatArray.FromNumpy(values.astype(np.float32)), time)
            size += 4 * len(values)
        return size


class _Solid(_Mesh):
    """A solid: a mesh at rest, moved by a matrix."""

    def __init__(self, stage: Any, root: Any, body: Body):
        from pxr import UsdGeom

        path = root.AppendChild("solids").AppendChild(body.name)
        UsdGeom.Scope.Define(stage, path.GetParentPath())
        super().__init__(
            stage,
            path,
            _material(stage, root, f"solid_{body.name}", body.solid.colour, body.solid.clarity),
            body.solid.colour,
        )
        self.body = body
        self.place = self.mesh.AddTransformOp() if body.moving else None
        self.drawn = False

    def sample(self, frame: ShotFrame) -> int:
        from pxr import Gf, Usd

        if self.place is not None:
            R, x = self.body.pose(frame)
            matrix = np.eye(4)
            matrix[:3, :3], matrix[3, :3] = R.T, x  # USD multiplies rows from the left
            self.place.Set(Gf.Matrix4d(matrix.tolist()), frame.index)
        if self.drawn and not self.body.deforming:
            return 0
        self.drawn = True
        time = frame.index if self.body.deforming else Usd.TimeCode.Default()
        return self.set(*self.body.mesh(frame), time)


def _material(stage: Any, root: Any, name: str, rgb: tuple[float, float, float], clarity: float) -> Any:
    """A preview surface; it knows no absorption, so a clear liquid is a tinted, see-through one."""
    from pxr import Gf, Sdf, UsdGeom, UsdShade

    types = Sdf.ValueTypeNames
    UsdGeom.Scope.Define(stage, root.AppendChild("materials"))
    material = UsdShade.Material.Define(stage, root.AppendChild("materials").AppendChild(name))
    shader = UsdShade.Shader.Define(stage, material.GetPath().AppendChild("surface"))
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("diffuseColor", types.Color3f).Set(Gf.Vec3f(*linear(rgb).tolist()))
    shader.CreateInput("roughness", types.Float).Set(0.05 if name == "liquid" else 0.5)
    shader.CreateInput("ior", types.Float).Set(REFRACTION)
    shader.CreateInput("opacity", types.Float).Set(1.0 - 0.8 * clarity)
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def _vectors(array: np.ndarray) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(array, dtype=np.float32))


def _extent(points: np.ndarray) -> Any:
    return _vectors(np.stack([points.min(axis=0), points.max(axis=0)]) if len(points) else np.zeros((2, 3)))
