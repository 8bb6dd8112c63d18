"""A liquid that hangs over a wall it touches elsewhere: more sweeps at the line, and coarse grids that let it hang."""

import numpy as np
import pytest

from glug.physics.viscosity import levels as viscosity_levels
from glug.physics.viscosity.octree import levels as octree_levels
from glug.physics.viscosity.octree.problem import OctreeViscosity
from glug.physics.viscosity.octree.tree import adapt
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.limits import SolveLimits
from glug.studies.problems.octree import figure

FRAME = figure(40)


def problem() -> ViscosityProblem:
    return ViscosityProblem.build(FRAME.grid, FRAME.phi, FRAME.solid, FRAME.diffusion)


def iterations() -> int:
    velocity = tuple(u.copy() for u in FRAME.velocity)
    octree = OctreeViscosity(adapt(problem()), FRAME.diffusion)
    stats = octree.solve(velocity, SolveLimits(1e-6, 60))
    assert stats.converged
    return stats.iterations


@pytest.mark.parametrize(
    ("module", "name", "without"), [(octree_levels, "CONTACT_SWEEPS", 0), (viscosity_levels, "TOUCHING", -1.0)]
)
def test_a_figure_that_stands_on_a_floor_takes_few_iterations(monkeypatch, module, name, without):
    few = iterations()
    monkeypatch.setattr(module, name, without)
    assert few <= 12
    assert iterations() > few  # without them, the negative control


def test_contact_cells_are_at_the_floor_and_at_the_surface():
    marked = octree_levels.contact_cells(problem().system())
    i, j, k = np.nonzero(marked)
    floor = 0.02 * 0.3
    height = FRAME.grid.corner[1] + FRAME.grid.dx * j - floor
    assert len(j) > 20 and height.max() < octree_levels.REACH * FRAME.grid.dx
    assert (np.abs(FRAME.phi[i, j, k]) < 2.0 * FRAME.grid.dx).all()
