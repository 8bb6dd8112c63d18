"""A ball that turns and flies, coarse inside: jumps between leaves and changes of the tree leave it alone."""

from itertools import pairwise

import numpy as np

import glug
from glug.simulation.context import StepContext

OMEGA, RADIUS = 1.0, 0.35  # rad/s, m: 14 cells
BALL = {
    "shape": {"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": RADIUS},
    "liquid": "water",
    "velocity": [0.6, 0.0, 0.0],
    "spin": [0.0, 0.0, OMEGA],
}
SCENE = {
    "name": "ball",
    "domain": {"size": [1.2, 1, 1], "resolution": 48, "sides": "open"},
    "time": {"fps": 48},
    "gravity": [0.0, 0.0, 0.0],
    "liquids": {"water": {"material": "water"}},
    "volumes": [BALL],
    "solver": {"mesh": "octree", "transfer": "apic"},
    "refine": {"levels": 3, "band": 4},
    "output": {"budget": True},
}


def spurious(context: StepContext) -> np.ndarray:
    """What faces where leaves of two sizes meet have beside the ball's motion, over omega H of the larger leaf."""
    step, tree = context.tree, context.tree.tree
    faces, place = step.faces, step.place.corner + step.place.dx * step.faces.position
    motion = np.cross([0.0, 0.0, OMEGA], place - np.array([0.5, 0.5, 0.5])) + BALL["velocity"]
    beside = np.where(tree.links >= 0, tree.level[np.maximum(tree.links, 0)], tree.level[:, None])
    finer = (beside > tree.level[:, None]).any(axis=1)
    some = finer[np.repeat(np.arange(len(tree)), np.diff(np.append(faces.first, faces.count)))]
    off = np.abs(step.u[: faces.count] - motion[np.arange(faces.count), faces.axis])[some]
    return off / (OMEGA * step.place.dx * np.ldexp(2.0, faces.level[some].astype(int)))


def area(simulation: glug.Simulation) -> float:
    surface = simulation.frame().surface
    a, b, c = (surface.vertices[surface.triangles[:, n]].astype(float) for n in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0


def test_a_turning_ball_keeps_turning_where_leaves_of_two_sizes_meet():
    """After transfer and projection of a step; a ball without cohesion turns rigidly for that one only."""
    found: list[np.ndarray] = []
    seen = glug.Stage("seen", lambda context: found.append(spurious(context)))
    simulation = glug.Simulation(SCENE, stages=lambda stages: stages.after("pressure", seen))
    turning = np.array([[0.0, -OMEGA, 0.0], [OMEGA, 0.0, 0.0], [0.0, 0.0, 0.0]])
    simulation.state.particles.affine[:] = (turning * simulation.setting.dx).ravel()
    simulation.step_once()
    assert len(found[0]) > 1000
    assert found[0].max() < 0.01


def test_the_area_and_the_energy_of_a_ball_stay_when_the_tree_changes():
    trees: list[np.ndarray] = []
    seen = glug.Stage("seen", lambda context: trees.append(context.tree.tree.key.copy()))
    simulation = glug.Simulation(SCENE, stages=lambda stages: stages.after("pressure", seen))
    areas = [area(simulation)]
    for _ in range(5):
        stats = simulation.step_once()
        areas.append(area(simulation))
        assert abs(stats.by_stage["adapt"].kinetic) < 0.005 * stats.liquid.kinetic
    assert not any(np.array_equal(a, b) for a, b in pairwise(trees))  # it flies through the lattice
    assert np.abs(np.diff(areas) / areas[:-1]).max() < 0.005
    assert abs(areas[0] / (4.0 * np.pi * RADIUS**2) - 1.0) < 0.01
