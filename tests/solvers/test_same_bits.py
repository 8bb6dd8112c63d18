"""Solves give the same bits on one thread and on two, also where little work is usually left to one."""

import numpy as np
import pytest

from glug import jit
from glug.physics.viscosity.preconditioners import MULTIGRID, solve_parts
from glug.solvers.cg import zeros_like
from glug.solvers.limits import SolveLimits
from glug.studies.problems import systems as solve_problems
from glug.studies.problems.viscosity import CASES


@pytest.fixture(autouse=True)
def shared_work(monkeypatch):
    monkeypatch.setattr(jit, "SMALL", 0)


def answers(solve):
    """What `solve` returns on one thread and on two."""
    found = []
    for count in (1, 2):
        with jit.threads(count) as given:
            if given != count:
                pytest.skip("there is one core")
            found.append(solve())
    return zip(*found)


@pytest.mark.parametrize("case", ["balls", "ball"])
def test_viscosity(case):
    problem = CASES[case].problem(32)
    system = problem.system()
    b = CASES[case].right(problem.grid, system)

    def solve():
        x = zeros_like(system, np.float64)
        assert solve_parts(system, MULTIGRID, b, x, SolveLimits(1e-6, 200), stiff_above=problem.stiff_above).converged
        return x

    for one, two in answers(solve):
        assert np.array_equal(one, two)


def test_pressure():
    problem = solve_problems.splash(48)
    start = [np.random.default_rng(0).standard_normal(u.shape, np.float32) for u in problem.grid.staggered()]

    def solve():
        u, v, w = (a.copy() for a in start)
        assert problem.project((u, v, w), SolveLimits(1e-6, 200))[1].converged
        return u, v, w

    for one, two in answers(solve):
        assert np.array_equal(one, two)
