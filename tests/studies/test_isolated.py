"""Measurements in a process of their own."""

import pytest

from glug.errors import GlugError
from glug.studies import isolated


def test_returns_what_the_function_returns():
    assert isolated.call("statistics:fmean", data=[1.0, 2.0]) == 1.5


def test_the_peak_is_that_of_the_new_process_alone():
    ballast = bytearray(300_000_000)
    here = isolated.peak_bytes()
    there = isolated.call("glug.studies.isolated:peak_bytes")
    assert here >= len(ballast) > there > 1_000_000


def test_a_failure_says_why():
    with pytest.raises(GlugError, match=r"statistics:fmean.*StatisticsError"):
        isolated.call("statistics:fmean", data=[])
