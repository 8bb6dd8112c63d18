"""The bench of exports measures what it says."""

from glug.geometry.mesh import count_holes
from glug.studies import export
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
