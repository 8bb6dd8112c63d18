"""What octrees save, and that multigrid on them takes as few iterations on fine grids as on coarse ones."""

import pytest

from glug.physics.viscosity.octree.problem import OctreeViscosity
from glug.physics.viscosity.octree.tree import adapt
from glug.physics.viscosity.preconditioners import SOLVERS
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.limits import SolveLimits
from glug.studies.bench.solves.octree_viscosity import count
from glug.studies.problems.octree import viscous_input


@pytest.mark.slow
@pytest.mark.parametrize("case, n, fewer", [("beam", 218, 3.3), ("figure", 192, 4.0)])
def test_unknowns_are_fewer(case: str, n: int, fewer: float) -> None:
    found = count(case, n)
    assert found["regular"] > fewer * found["octree"]


def solved(n: int, preconditioner: str) -> tuple[int, float]:
    """Iterations to 1e-6 on the figure, and entries per row."""
    given = viscous_input("figure", n)
    problem = ViscosityProblem.build(given.grid, given.phi, given.solid, given.diffusion)
    octree = OctreeViscosity(adapt(problem), given.diffusion, solver=SOLVERS[preconditioner])
    velocity = tuple(u.copy() for u in given.velocity)
    stats = octree.solve(velocity, SolveLimits(1e-6, 4000))
    assert stats.converged
    return stats.iterations, octree.system.entries / stats.unknowns


@pytest.mark.slow
def test_multigrid_takes_few_iterations_at_any_size() -> None:
    found = [solved(n, "multigrid") for n in (64, 128, 192)]
    iterations = [count for count, _ in found]
    diagonal, _ = solved(64, "jacobi-cg")
    assert max(iterations) <= 12 and max(iterations) - min(iterations) <= 3
    assert diagonal > 5 * iterations[0]
    assert max(entries for _, entries in found) <= 17
