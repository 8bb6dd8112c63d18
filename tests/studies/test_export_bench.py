"""The bench of exports measures what it says."""

import numpy as np
import pytest

from glug.geometry.mesh import count_holes
from glug.studies import isolated
from glug.studies.bench import export
from glug.studies.registry import BenchOptions


def test_rings_are_closed_and_have_about_as_many_triangles_as_asked_for():
    rings = [export.ring(index, 10_000) for index in range(4)]
    for ring in rings:
        assert abs(len(ring.triangles) / 10_000 - 1) < 0.02
        assert count_holes(ring.triangles) == 0
        assert ring.volume() > 0
    assert len({ring.triangles.tobytes() for ring in rings}) == 4


def test_a_row_per_format_and_a_reason_where_there_is_none(monkeypatch):
    said = []
    monkeypatch.setattr(export, "TRIANGLES", 200)
    monkeypatch.setattr(export, "FORMATS", ("ply", "abc"))
    monkeypatch.setattr(export, "NEEDS", {"abc": "no_such_module"})
    ply, abc = export.bench(BenchOptions(steps=2, say=said.append))
    assert (ply.case, ply.n) == ("export/ply", 2)
    assert ply.seconds > 0
    assert abc.seconds is None
    assert "no_such_module" in abc.skipped
    assert "ply" in said[0]


@pytest.mark.slow
def test_a_hundred_large_frames_are_whole_in_one_usd_file_and_never_in_memory_together(tmp_path):
    pytest.importorskip("pxr", reason="usd-core is not installed: pip install 'glug[usd]'")
    from pxr import Usd, UsdGeom

    folder = str(tmp_path / "run")
    made = isolated.call(
        "glug.studies.bench.export:make_run", folder=folder, frames=export.FRAMES, triangles=export.TRIANGLES
    )
    done = isolated.call("glug.studies.bench.export:measure", folder=folder, to="usd")
    assert done["peak"] < 0.5 * done["bytes"]
    (path,) = (tmp_path / "run" / "export").glob("*.usdc")
    stage = Usd.Stage.Open(str(path))
    liquid = UsdGeom.Mesh(stage.GetPrimAtPath("/rings/liquid"))
    points = UsdGeom.Points(stage.GetPrimAtPath("/rings/particles"))
    assert liquid.GetPointsAttr().GetTimeSamples() == list(range(export.FRAMES))
    assert points.GetPointsAttr().GetTimeSamples() == list(range(export.FRAMES))
    total = 0
    for index in range(export.FRAMES):
        expected = export.ring(index, export.TRIANGLES)
        np.testing.assert_array_equal(liquid.GetPointsAttr().Get(index), expected.vertices)
        corners = np.array(liquid.GetFaceVertexIndicesAttr().Get(index)).reshape(-1, 3)
        np.testing.assert_array_equal(corners, expected.triangles)
        np.testing.assert_array_equal(liquid.GetVelocitiesAttr().Get(index), expected.velocities)
        assert len(points.GetPointsAttr().Get(index)) == len(points.GetIdsAttr().Get(index)) == export.TRIANGLES
        total += len(corners)
    assert total == made["triangles"]
