"""The bench of the viewer, small: it measures what it says it measures."""

import pytest

from glug.errors import InputError
from glug.studies import isolated
from glug.studies.bench import view as viewing
from glug.studies.registry import BenchOptions, run_bench
from glug.view.browser.chromium import require_chromium


@pytest.mark.slow
def test_every_row_is_measured(monkeypatch):
    monkeypatch.setattr("glug.studies.bench.view.TURNS", 1)
    monkeypatch.setattr("glug.studies.bench.view.LIVE_FRAMES", 2)
    said = []
    rows = {row.case: row for row in run_bench("view", BenchOptions(steps=3, resolution=16, say=said.append))}
    browser = {"view/first", "view/scrub", "view/draw"}
    assert set(rows) == browser | {"view/receive", "view/live-alone", "view/live-watched", "view/live-server"}
    assert "sent 3 frames" in said[-1]
    try:
        require_chromium()
    except InputError as error:
        assert all(rows[case].skipped == str(error) for case in browser)
    for case, row in rows.items():
        assert row.skipped or row.seconds > 0, case
    assert 0.03 < rows["view/receive"].peak_gb < 1.0


@pytest.mark.slow
def test_the_server_stays_below_a_gigabyte_over_a_long_run(tmp_path):
    folder, frames, triangles = str(tmp_path / "run"), viewing.FRAMES, viewing.TRIANGLES
    options = {"frames": frames, "triangles": triangles, "with_particles": False}
    made = isolated.call("glug.studies.bench.export:make_run", folder=folder, **options)
    assert made["triangles"] > 0.98 * frames * triangles  # 1 GB of files: more than it may keep
    assert isolated.call("glug.studies.bench.view:receive", folder=folder, frames=frames)["peak"] < 1e9
