"""Memory that was dropped is used again, not asked from the system anew."""

import os
import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import numpy as np
from glug.allocation import keep_memory

keep_memory()
for n in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(16_000_000, np.float32)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults_of_a_repeated_array(keep: str) -> int:
    """Pages that the system had to give for an array of 64 MB made the third time."""
    env = {**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0", "GLUG_KEEP_MEMORY": keep}
    return int(subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, check=True, env=env).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of the GNU C library")
def test_an_array_made_again_costs_no_pages():
    assert faults_of_a_repeated_array("1") < 100
    assert faults_of_a_repeated_array("0") > 10_000  # negative control
