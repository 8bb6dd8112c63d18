"""Every name that `glug validate` and `glug bench` list can be run."""

from importlib import import_module

import pytest

from glug.errors import InputError
from glug.studies.registry import BENCHES, STUDIES, BenchOptions, StudyOptions, run_bench, run_study


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_where_it_is_said_to_be(name):
    assert callable(import_module(STUDIES[name].module).study)


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_is_where_it_is_said_to_be(name):
    assert callable(import_module(BENCHES[name].module).bench)


def test_a_name_that_is_not_there_is_an_error():
    """Negative control: the nearest one is suggested."""
    with pytest.raises(InputError, match="did you mean 'coiling'"):
        run_study("coilings", StudyOptions())
    with pytest.raises(InputError, match="there are: bodies"):
        run_bench("nonsense", BenchOptions())
