"""USD stages opened again with Pixar's library, sample by sample."""

import numpy as np
import pytest
from export_runs import FPS, make_run, nothing, particles, scene, surface, write_frame

from glug.output import RunFolder
from glug.output.export import export_run, usd
from glug.scene import load, to_toml

pxr = pytest.importorskip("pxr", reason="usd-core is not installed: pip install 'glug[usd]'")
from pxr import Gf, Usd, UsdGeom, UsdShade  # noqa: E402

FRAMES = range(5)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("usd") / "run")
    return export_run(run.path, "usd").path


@pytest.fixture
def stage(path):
    return Usd.Stage.Open(str(path))


def at(stage, path, kind):
    prim = stage.GetPrimAtPath(path)
    assert prim.IsA(kind)
    return kind(prim)


def test_stage_has_the_scene_units_axis_and_time(stage):
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == FPS
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 4)
    assert stage.GetDefaultPrim().GetPath() == "/test_shot"


def test_surface_changes_topology_and_keeps_every_bit(stage):
    mesh = at(stage, "/test_shot/liquid", UsdGeom.Mesh)
    for attribute in (mesh.GetPointsAttr(), mesh.GetFaceVertexIndicesAttr(), mesh.GetVelocitiesAttr()):
        assert attribute.GetTimeSamples() == list(FRAMES)
    counts = set()
    for index in FRAMES:
        expected = surface(index)
        points = np.array(mesh.GetPointsAttr().Get(index))
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(index)).reshape(-1, 3)
        np.testing.assert_array_equal(points, expected.vertices)
        np.testing.assert_array_equal(corners, expected.triangles)
        np.testing.assert_array_equal(mesh.GetVelocitiesAttr().Get(index), expected.velocities)
        np.testing.assert_array_equal(mesh.GetNormalsAttr().Get(index), expected.normals())
        assert set(mesh.GetFaceVertexCountsAttr().Get(index)) == {3}
        assert len(mesh.GetFaceVertexCountsAttr().Get(index)) == len(corners)
        extent = [expected.vertices.min(0), expected.vertices.max(0)]
        np.testing.assert_array_equal(mesh.GetExtentAttr().Get(index), extent)
        counts.add(len(points))
    assert len(counts) == 2
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert mesh.GetOrientationAttr().Get() == "rightHanded"


def test_velocities_are_metres_per_second(stage):
    """Frames of equal topology: the mean velocity is the shift between them over the time."""
    mesh = at(stage, "/test_shot/liquid", UsdGeom.Mesh)
    shift = np.array(mesh.GetPointsAttr().Get(2)).mean(0) - np.array(mesh.GetPointsAttr().Get(0)).mean(0)
    mean = np.array(mesh.GetVelocitiesAttr().Get(0)).mean(0)
    np.testing.assert_allclose(mean, shift / (2 / FPS), rtol=1e-3)


def test_particles_have_ids_velocities_widths_and_their_attributes(stage):
    points = at(stage, "/test_shot/particles", UsdGeom.Points)
    for index in FRAMES:
        expected = particles(index)
        np.testing.assert_array_equal(points.GetPointsAttr().Get(index), expected["position"])
        np.testing.assert_array_equal(points.GetVelocitiesAttr().Get(index), expected["velocity"])
        np.testing.assert_array_equal(points.GetIdsAttr().Get(index), expected["id"])
        widths = np.array(points.GetWidthsAttr().Get(index), dtype=float)
        np.testing.assert_allclose(np.pi / 6 * widths**3, expected["volume"], rtol=1e-5)
        age = UsdGeom.PrimvarsAPI(points).GetPrimvar("age").Get(index)
        np.testing.assert_array_equal(age, expected["age"])


def test_moving_solids_are_meshes_under_a_sampled_matrix(stage):
    solid = scene().solids[0]
    mesh = at(stage, "/test_shot/solids/paddle_1", UsdGeom.Mesh)
    assert mesh.GetPointsAttr().GetNumTimeSamples() == 0
    cache = UsdGeom.XformCache()
    for index in FRAMES:
        cache.SetTime(index)
        matrix = cache.GetLocalToWorldTransform(mesh.GetPrim())
        world = np.array([matrix.Transform(Gf.Vec3d(*map(float, p))) for p in mesh.GetPointsAttr().Get()])
        np.testing.assert_allclose(solid.distance(world, index / FPS), 0.0, atol=1e-6)
    assert np.abs(solid.distance(world, 0.0)).max() > 0.05  # negative control: the pose of frame 4 is not that of 0


def test_still_solids_have_no_samples(stage):
    mesh = at(stage, "/test_shot/solids/ball", UsdGeom.Mesh)
    assert not mesh.GetPrim().GetAttribute("xformOp:transform")
    radius = np.linalg.norm(np.array(mesh.GetPointsAttr().Get()) - [0.2, 0.1, 0.1], axis=1)
    np.testing.assert_allclose(radius, 0.05, rtol=0.01)


def test_materials_are_bound_and_show_the_scene_colours(stage):
    def shader(path):
        material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath(path)).ComputeBoundMaterial()
        source, _, _ = material.ComputeSurfaceSource()
        assert source.GetIdAttr().Get() == "UsdPreviewSurface"
        return source

    red = shader("/test_shot/solids/paddle_1").GetInput("diffuseColor").Get()
    assert tuple(red) == (1.0, 0.0, 0.0)
    honey = shader("/test_shot/liquid")
    r, g, b = honey.GetInput("diffuseColor").Get()
    assert r > g > b
    assert honey.GetInput("opacity").Get() < 1.0
    assert shader("/test_shot/solids/ball").GetInput("opacity").Get() == 1.0


def test_saving_in_between_changes_nothing(path, tmp_path, monkeypatch):
    monkeypatch.setattr(usd, "SAVE_BYTES", 1.0)
    run = path.parents[1]
    again = export_run(run, "usd", tmp_path / "again.usdc").path
    once, often = Usd.Stage.Open(str(path)), Usd.Stage.Open(str(again))
    assert once.ExportToString(False) == often.ExportToString(False)


def test_frames_keep_their_numbers_when_a_part_is_exported(path, tmp_path):
    part = export_run(path.parents[1], "usd", tmp_path / "part.usd", first=2, last=3).path
    stage = Usd.Stage.Open(str(part))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (2, 3)
    mesh = at(stage, "/test_shot/liquid", UsdGeom.Mesh)
    assert mesh.GetPointsAttr().GetTimeSamples() == [2, 3]


def test_frames_without_liquid_are_empty_samples(tmp_path):
    run = make_run(tmp_path / "run", frames=2, written=1)
    write_frame(run, 2, nothing())
    run.finish()
    stage = Usd.Stage.Open(str(export_run(run.path, "usd").path))
    mesh = at(stage, "/test_shot/liquid", UsdGeom.Mesh)
    assert [len(mesh.GetPointsAttr().Get(i)) for i in range(3)] == [42, 162, 0]


def test_solids_that_deform_have_points_per_frame(tmp_path):
    import trimesh

    for i, radius in enumerate((0.05, 0.1)):
        trimesh.creation.icosphere(subdivisions=1 + i, radius=radius).export(tmp_path / f"{i}.obj")
    files = [str(tmp_path / "0.obj"), str(tmp_path / "1.obj")]
    solid = {"name": "3 blobs", "sequence": {"files": files, "fps": FPS}}
    changed = load(
        {**scene().model_dump(by_alias=True, exclude_none=True), "solids": [solid, {**solid, "name": "3-blobs"}]}
    )
    run = RunFolder.create(tmp_path / "run", to_toml(changed), {"scene": "s", "fps": FPS, "frames": 1})
    for index in range(2):
        write_frame(run, index)
    run.finish()
    stage = Usd.Stage.Open(str(export_run(run.path, "usd").path))
    for name in ("_3_blobs", "_3_blobs_2"):
        mesh = at(stage, f"/test_shot/solids/{name}", UsdGeom.Mesh)
        for index, radius in enumerate((0.05, 0.1)):
            found = np.linalg.norm(np.array(mesh.GetPointsAttr().Get(index)), axis=1)
            np.testing.assert_allclose(found, radius, rtol=1e-5)
