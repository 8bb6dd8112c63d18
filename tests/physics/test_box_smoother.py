"""Boxes are sub-matrices of the operator, sweeps over them solve the last one, and the cycle takes few iterations."""

import numpy as np
import pytest

from glug.physics.viscosity.boxes import BOXES, Boxes, BoxSmoother, box_entries
from glug.physics.viscosity.kernels_boxes import BOX
from glug.physics.viscosity.levels import ViscosityLevel, hierarchy
from glug.physics.viscosity.strain_rows import strain_rows
from glug.solvers.cg import Cycle, conjugate_gradients, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Multigrid
from glug.studies.problems.viscosity import CASES

N = 16


def box_matrix(level: ViscosityLevel, fields: tuple[np.ndarray, ...], axis: int, centre: np.ndarray) -> np.ndarray:
    matrix = np.zeros((BOX, BOX))
    for p, q, which, i, j, k, sign in box_entries(BOXES[axis]):
        matrix[p, q] += sign * fields[which][tuple(centre + np.array((i, j, k)))]
    return np.tril(matrix) + np.tril(matrix, -1).T


@pytest.mark.parametrize("case", ["delta", "plane"])
def test_a_box_is_the_submatrix_of_the_faces_in_one_row(case):
    problem = CASES[case].problem(N)
    system = problem.system()
    rows = strain_rows(problem.grid, problem.solid, problem.solid_faces, problem.weights, every=True)
    full = rows.assemble(problem.mass)[0].tocsr()
    number = [np.full(m.shape, -1) for m in problem.mass]
    start = 0
    for n, m in zip(number, problem.mass):
        count = int((m > 0).sum())
        n[m > 0] = np.arange(start, start + count)
        start += count
    fields = Boxes.of(system).fields
    rng = np.random.default_rng(0)
    for axis in range(3):
        faces = np.argwhere(system.m[axis] > 0)
        for centre in rng.permutation(faces)[:40]:
            members = [number[a][tuple(centre + o)] for a, o in BOXES[axis]]
            row = full[members[0]]
            assert {m for m in members if m >= 0} >= set(row.indices[row.data != 0.0])
            used = [p for p, m in enumerate(members) if m >= 0]
            here = [members[p] for p in used]
            ours = box_matrix(system, fields, axis, centre)[np.ix_(used, used)]
            np.testing.assert_allclose(ours, full[np.ix_(here, here)].toarray(), rtol=1e-4, atol=1e-5 * ours.max())


def test_shared_and_own_factorisations_give_the_same_sweep():
    problem = CASES["smooth"].problem(24)
    system = problem.system()
    b = CASES["smooth"].right(problem.grid, system)
    results = []
    for shared in (True, False):
        smoother, x = BoxSmoother(), zeros_like(system)
        boxes, _ = smoother.boxes(system)
        assert any(r.any() for r in boxes.regular)
        if not shared:
            for r in boxes.regular:
                r[:] = 0
        smoother.forward(system, b, x, x)
        results.append(x)
    size = max(float(np.abs(a).max()) for a in results[0])
    for one, other in zip(*results):
        np.testing.assert_allclose(one, other, atol=1e-4 * size)


@pytest.mark.parametrize("case", ["delta", "smooth"])
def test_three_to_five_iterations(case):
    for n in (16, 32):
        problem = CASES[case].problem(n)
        system = problem.system()
        b, x = CASES[case].right(problem.grid, system), zeros_like(system, np.float64)
        cycle = Cycle(system, Multigrid(hierarchy(system), BoxSmoother(2), 2))
        stats = conjugate_gradients(system, cycle, b, x, SolveLimits(1e-6, 20))
        print(f"{case}: {stats.iterations} iterations at {n} cells")
        assert stats.converged
        assert stats.iterations <= 5
