"""Where liquid meets a wall and air at once, more sweeps save iterations."""

import numpy as np

from glug.physics import contact_smoothing
from glug.physics.octree_viscosity import OctreeViscosity
from glug.physics.viscosity import ViscosityProblem
from glug.studies.octree_problems import figure

FRAME = figure(40)


def problem() -> ViscosityProblem:
    return ViscosityProblem.build(FRAME.grid, FRAME.phi, FRAME.solid, FRAME.diffusion)


def iterations() -> int:
    velocity = tuple(u.copy() for u in FRAME.velocity)
    octree = OctreeViscosity.build(problem(), FRAME.diffusion)
    stats = octree.solve(velocity, tolerance=1e-6, max_iterations=60)
    assert stats.converged
    return stats.iterations


def test_a_figure_that_stands_on_a_floor_takes_few_iterations(monkeypatch):
    few = iterations()
    monkeypatch.setattr(contact_smoothing, "SWEEPS", 0)
    monkeypatch.setattr("glug.physics.octree_levels.MORE_SWEEPS", 0)
    assert few <= 12
    assert iterations() >= few + 3  # without them, the negative control


def test_contact_cells_are_at_the_floor_and_at_the_surface():
    marked = contact_smoothing.contact_cells(problem().system(), 1.0)
    i, j, k = np.nonzero(marked)
    floor = 0.02 * 0.3
    height = FRAME.grid.corner[1] + FRAME.grid.dx * j - floor
    assert len(j) > 20 and height.max() < contact_smoothing.REACH * FRAME.grid.dx
    assert (np.abs(FRAME.phi[i, j, k]) < 2.0 * FRAME.grid.dx).all()
