"""A full disk while exporting: one line, exit code 1, and nothing that looks whole."""

import subprocess
import sys

import pytest
from export_runs import make_run

# In a process of its own: a library that aborts must not take the tests with it.
SCRIPT = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))  # the system refuses as it does on a full disk
from glug.cli import execute
sys.exit(execute(sys.argv[1:]))
"""


@pytest.mark.parametrize("to", ["usd", "abc", "vtk", "ply", "obj"])
def test_one_line_and_nothing_left(tmp_path, to):
    if to in ("usd", "abc"):
        pytest.importorskip({"usd": "pxr", "abc": "alembic3d"}[to])
    run = make_run(tmp_path / "run")
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "export", str(run.path), "--to", to], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1, done.stderr
    assert "cannot be written: " in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 400
    assert sorted(tmp_path.rglob("*")) == before
