"""A tank that is never at rest, for minutes or hours: nothing grows, no volume is lost, every solve converges.

`GLUG_SOAK_MINUTES=120 pytest tests/fuzz/test_soak.py` takes two hours (`make soak` does). What grows is said of half an
hour and longer: before, pools and caches still fill.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MINUTES = float(os.environ.get("GLUG_SOAK_MINUTES", "3"))
FOLDER = os.environ.get("GLUG_SOAK_FOLDER")  # where the curve is kept
LEAST = 30.0  # minutes
MOST_GROWTH = 5.0  # MB an hour


@pytest.mark.slow
def test_nothing_grows(tmp_path):
    folder = Path(FOLDER) if FOLDER else tmp_path
    script = Path(__file__).parent / "soak.py"
    every = min(60.0, 10.0 * MINUTES)
    subprocess.run([sys.executable, script, "--minutes", str(MINUTES), "--every", str(every), "-o", folder], check=True)
    report = json.loads((folder / "report.json").read_text())
    assert report["steps"] > 10 and report["mean_bubbles"] > 0.5  # something went on
    assert report["unconverged"] == 0
    assert report["worst_balance"] < 1e-6
    assert report["worst_surface"] < 0.01
    assert report["memory_growth_MB_per_hour"] < MOST_GROWTH or MINUTES < LEAST
