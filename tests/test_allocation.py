"""Memory that was dropped is used again, not asked from the system anew."""

import os
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
from glug.allocation import keep_memory

if sys.argv[1] == "kept":
    assert keep_memory()
for n in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(16_000_000, np.float32)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults_of_a_repeated_array(kept: str) -> int:
    """Pages that the system had to give for an array of 64 MB made the third time."""
    env = {**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0"}
    return int(subprocess.run([sys.executable, "-c", FAULTS, kept], capture_output=True, check=True, env=env).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a setting of the C library of Linux")
def test_an_array_made_again_costs_no_pages():
    assert faults_of_a_repeated_array("kept") < 100
    assert faults_of_a_repeated_array("usual") > 10_000  # negative control
