"""Viscosity on the faces of the pressure's tree: one level is the regular grid, rotations stay, sides hold."""

import numpy as np
import pytest
from setups import NO_WALLS

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.tree import LinearTree
from glug.grids.regular import CENTRE, Grid
from glug.physics.viscosity.octree.on_faces import BEYOND, TreeLiquid
from glug.physics.viscosity.octree.tree import STICKING
from glug.physics.viscosity.problem import ViscosityProblem
from glug.solvers.limits import SolveLimits

N = 32
TIGHT = SolveLimits(1e-7, 400)
BOX = Grid(1.0 / N, (N, N, N))
FULL = np.full(BOX.shape, -BOX.dx, np.float32)


def liquid(finest: np.ndarray, phi: np.ndarray, walls: Walls, levels: int, **more) -> TreeLiquid:
    """`phi` in the cells of the box; coarse leaves are full."""
    tree = LinearTree.refined(finest, levels)
    at_leaves = np.where(tree.level == 0, phi[tuple(tree.corner.T)], np.float32(-BOX.dx))
    solids = {"solids": lambda grid: sample_solids(grid, walls, [], 0.0)}
    return TreeLiquid(TreeFaces.of(tree), BOX, at_leaves.astype(np.float32), **{"diffusion": 50.0, **solids, **more})


def flow(points: np.ndarray) -> np.ndarray:
    x, y, z = points.T / N
    return np.stack([np.sin(3 * y) + z, np.cos(4 * z) * x, np.sin(2 * x + y)], axis=1)


def ball() -> np.ndarray:
    return (np.linalg.norm(BOX.points(CENTRE) - (0.51, 0.49, 0.5), axis=-1) - 0.42).astype(np.float32)


def near_surface(phi: np.ndarray) -> np.ndarray:
    return phi > -4.0 * BOX.dx


def test_one_level_is_the_regular_grid():
    """A box half full of liquid that sticks to its sides."""
    walls = Walls((0.0,) * 3, (1.0,) * 3)
    phi = np.broadcast_to(BOX.points(CENTRE)[..., 1] - 0.53, BOX.shape).astype(np.float32)
    given = liquid(np.ones(BOX.shape, bool), phi, walls, 1)
    u = given.faces.sampled(flow)
    start = u.copy()
    stats = given.solve(u, TIGHT)
    grid = Grid(BOX.dx, (N + 2 * BEYOND,) * 3, (-BEYOND,) * 3)
    problem = ViscosityProblem.build(
        grid, np.pad(phi, BEYOND, mode="edge"), sample_solids(grid, walls, [], 0.0), given.diffusion
    )
    velocity = grid.staggered()
    at = (given.faces.corner + BEYOND).T
    for a in range(3):
        mine = given.faces.axis == a
        velocity[a][tuple(at[:, mine])] = start[mine]
    problem.solve(velocity, TIGHT)
    assert stats.converged and stats.unknowns > 10_000
    for a in range(3):
        mine = given.faces.axis == a
        there = tuple(at[:, mine])
        wet = problem.mass[a][there] > 0
        assert np.abs(u[mine] - velocity[a][there])[wet].max() < 2e-5
    assert np.abs(u - start).max() > 0.3


def test_a_free_ball_with_coarse_leaves_turns_on():
    phi = ball()
    given = liquid(near_surface(phi), phi, NO_WALLS, 4, diffusion=2e3)
    assert given.faces.tree.level.max() >= 2
    turn, centre = np.array([0.2, 1.0, -0.4]), np.array([0.51, 0.49, 0.5]) * N
    u = given.faces.sampled(lambda p: np.cross(turn, (p - centre) / N))
    start = u.copy()
    assert given.solve(u, TIGHT).converged
    assert np.abs(u - start).max() < 1e-5
    bent = given.faces.sampled(flow)  # the control: what is no rotation is damped
    before = bent.copy()
    given.solve(bent, TIGHT)
    assert np.abs(bent - before).max() > 0.1


@pytest.mark.parametrize(("sides", "held"), [(STICKING, True), (((np.inf, np.inf),) * 3, False)])
def test_coarse_leaves_stick_to_the_sides_of_the_domain(sides, held):
    """A box full of liquid that moves along x, between sides across y that stick: the mean velocity is the regular one.

    The tree is finest in the middle alone. The control is a tree whose coarse leaves slip.
    """
    lengths = ((np.inf, np.inf), (0.0, 0.0), (np.inf, np.inf))
    walls = Walls((0.0,) * 3, (1.0,) * 3, lengths)
    means = []
    for fine in (np.ones(BOX.shape, bool), np.zeros(BOX.shape, bool)):
        fine[:, N // 2, :] = True
        own = tuple((a, b) if axis == 1 else (np.inf, np.inf) for axis, (a, b) in enumerate(sides))
        given = liquid(fine, FULL, walls, 3, diffusion=20.0, sides=own)
        u = given.faces.sampled(lambda p: np.broadcast_to([1.0, 0.0, 0.0], p.shape))
        assert given.solve(u, TIGHT).converged
        inner = (given.faces.axis == 0) & (np.abs(given.faces.position[:, 0] - N / 2) < 1.0)
        area = 4.0 ** given.faces.level[inner]
        means.append(float((u[inner] * area).sum() / area.sum()))
    assert given.faces.tree.level.max() == 2
    assert (abs(means[1] - means[0]) < 0.03 * means[0]) == held, means
