"""Viscosity on an octree: the assembled rows, the transfers, and the solve against the regular grid."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from setups import NO_WALLS, rotation, tank

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.mesh import Fractions
from glug.grids.octree.linear.faces import TreeFaces
from glug.grids.octree.linear.kept import KeptFaces
from glug.grids.octree.linear.tree import LinearTree
from glug.grids.octree.operators import OctreeOperators
from glug.grids.octree.transfer import to_octree, to_regular
from glug.grids.octree.tree import Octree
from glug.grids.regular import CENTRE, FACES, Grid
from glug.physics.reference.viscosity import laplacian_rows, stiffness
from glug.physics.rigid.bodies import Inertia, RigidBodies
from glug.physics.variational import stress_rows
from glug.physics.viscosity.octree import rows as octree_rows
from glug.physics.viscosity.octree import tree as octree_tree
from glug.physics.viscosity.octree.finest import FinestWeights
from glug.physics.viscosity.octree.levels import OctreeSmoother
from glug.physics.viscosity.octree.problem import OctreeViscosity
from glug.physics.viscosity.octree.rows import OctreeWeights, assemble, coarse_diffusion
from glug.physics.viscosity.octree.tree import adapt, bent_cells, tree_inside
from glug.physics.viscosity.preconditioners import SOLVERS
from glug.physics.viscosity.problem import ViscosityProblem
from glug.scene.bodies import Solid
from glug.scene.motions.free import FreeMotion
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Multigrid
from glug.studies.problems.linear_octree import linear
from glug.studies.problems.octree import figure

SLOPE = np.array([0.31, 0.17, 0.44])


def viscosity(position: np.ndarray) -> np.ndarray:
    """Linear, so that all means of it are exact."""
    return 5.0 + position @ SLOPE[: position.shape[1]]


def random_tree(levels: int, seed: int) -> Octree:
    rng = np.random.default_rng(seed)
    root = 1 << (levels - 1)
    n = root * (5 if levels < 4 else 3)
    finest = np.zeros((n, n, n), bool)
    for _ in range(4):
        finest[tuple(rng.integers(root, n - root, 3))] = True
    return Octree.refined(finest, levels)


def sparse_faces(tree: Octree) -> tuple[KeptFaces, np.ndarray]:
    """All faces as a sparse tree has them, and which of them the faces of `tree` are."""
    faces = KeptFaces.of(TreeFaces.of(linear(tree)))
    return faces, np.argsort(tree.faces().numbers[faces.place[:, 0], *faces.place[:, 2:].T])


def samples_at(shape: tuple[int, ...], offset: tuple[float, ...]) -> np.ndarray:
    axes = [np.arange(n + (o == 0.0)) + o for n, o in zip(shape, offset)]
    return viscosity(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)).astype(np.float32)


def sampled_shapes(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Of the cells and of the edges along every axis."""
    return [shape, *(tuple(n + (a != axis) for a, n in enumerate(shape)) for axis in range(3))]


@pytest.mark.parametrize("laplacian", [False, True])
@pytest.mark.parametrize("gradient", ["enhanced", "sloped"])
@pytest.mark.parametrize("levels", [3, 4])
def test_assembled_rows_are_the_sparse_products(levels, gradient, laplacian):
    tree = random_tree(levels, seed=levels)
    faces, theirs = sparse_faces(tree)
    cell = samples_at(tree.shape, (0.5, 0.5, 0.5))
    edges = tuple(samples_at(tree.shape, o) for o in ((0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)))
    finest = FinestWeights.of(faces.tree, 0, 2 * cell, edges, edges)
    weights = OctreeWeights(np.ones(faces.count, np.float32), finest, *coarse_diffusion(faces.tree, cell))
    ours = assemble(faces, weights, enhanced=gradient == "enhanced", laplacian=laplacian).matrix()[theirs][:, theirs]
    operators = OctreeOperators(tree, gradient)
    full = Fractions.full(operators)
    mu = viscosity(operators.cell_position), viscosity(operators.edge_position)
    rows = laplacian_rows(operators, full, full, mu)
    rows = rows if laplacian else stress_rows(operators, full, full, mu, trace_free=False)
    reference = sparse.diags(operators.face_volume) + stiffness(rows)
    root = 1 << (levels - 1)  # near the border the reference leaves samples out
    p = operators.face_position
    inner = np.all((p > root) & (p < tree.shape[0] - root), axis=1)
    assert inner.sum() > 30
    assert abs(ours - reference)[inner].max() < 1e-6 * abs(reference).max()  # weights are float32
    assert abs(ours - ours.T).max() <= 1e-14 * abs(ours).max()
    assert np.array_equal(faces.volume[theirs], operators.face_volume.astype(np.float32))


def test_rows_in_float32_are_positive_definite_with_viscosities_a_million_apart():
    tree = random_tree(2, seed=5)
    faces, _ = sparse_faces(tree)
    rng = np.random.default_rng(3)
    cell, *edges = ((10.0 ** rng.uniform(0, 6, shape)).astype(np.float32) for shape in sampled_shapes(tree.shape))
    ones, edges = np.ones(faces.count, np.float32), tuple(edges)
    finest = FinestWeights.of(faces.tree, 0, 2 * cell, edges, edges)
    weights = OctreeWeights(ones, finest, *coarse_diffusion(faces.tree, cell))
    system = assemble(faces, weights)
    matrix = system.matrix().toarray()
    assert system.value.dtype == np.float32
    assert np.abs(matrix - matrix.T).max() <= 1e-14 * np.abs(matrix).max()
    np.linalg.cholesky(matrix)
    with pytest.raises(np.linalg.LinAlgError):  # translations cost their mass, and no more: the negative control
        np.linalg.cholesky(matrix - np.diag(1.01 * system.rest.astype(np.float64)))


def thick_ball(n: int = 32) -> tuple[ViscosityProblem, float, np.ndarray]:
    """A free ball, thick enough for three levels."""
    grid = Grid(1.0 / n, (n, n, n))
    phi = (np.linalg.norm(grid.points(CENTRE) - (0.51, 0.49, 0.5), axis=-1) - 0.42).astype(np.float32)
    diffusion = 2.0 * n * n
    return ViscosityProblem.build(grid, phi, sample_solids(grid, NO_WALLS, [], 0.0), diffusion), diffusion, phi


def painted(tree: LinearTree) -> Octree:
    return Octree(tree.painted(), tree.levels)


def test_rows_that_need_more_room_than_was_made_are_the_same(monkeypatch):
    faces, _ = sparse_faces(random_tree(3, seed=2))
    shape = faces.tree.shape
    cell = np.ones(shape, np.float32)
    edges = tuple(np.ones(s, np.float32) for s in sampled_shapes(shape)[1:])
    finest = FinestWeights.of(faces.tree, 0, 2 * cell, edges, edges)
    weights = OctreeWeights(np.ones(faces.count, np.float32), finest, *coarse_diffusion(faces.tree, 1.0))
    usual = assemble(faces, weights)
    for name, value in (("SPARE", 1), ("WAVE", 3), ("TRANSITION", 1.0)):
        monkeypatch.setattr(octree_rows, name, value)
    late = assemble(faces, weights)
    assert (usual.length == late.length).all() and (usual.rest == late.rest).all()
    assert len(late.value) == late.length.sum(dtype=np.int64)  # no room is left between them
    assert abs(usual.matrix() - late.matrix()).max() == 0.0


def test_transfers_are_exact_for_linear_velocities():
    problem, _, _ = thick_ball()
    grid = problem.grid
    tree = painted(tree_inside(problem.system().m, 4, 2))
    assert tree.level.max() >= 2
    faces = tree.faces()
    slope = np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -1.0], [2.0, 0.1, 0.4]])
    velocity = tuple((grid.points(FACES[a]) @ slope[a] + a).astype(np.float32) for a in range(3))
    back = tuple(u.copy() for u in velocity)
    values = to_octree(tree, faces.place, velocity)
    position = OctreeOperators(tree, faces=faces).face_position * grid.dx
    exact = np.sum(position * slope[faces.axis], axis=1) + faces.axis
    assert np.abs(values - exact).max() < 2e-6
    to_regular(tree, faces.place, values, back)
    for u, v in zip(velocity, back):
        assert np.abs(u - v).max() < 2e-6


def test_a_viscous_velocity_loses_little_on_the_way_there_and_back():
    problem, _, _ = thick_ball()
    grid = problem.grid
    velocity = tuple(np.sin(9.0 * grid.points(FACES[a]) @ [1.0, 0.7, -0.4] + a).astype(np.float32) for a in range(3))
    problem.solve(velocity, SolveLimits(1e-5, 200))
    octree = OctreeViscosity(adapt(problem), 1.0)
    back = tuple(u.copy() for u in velocity)
    tree = painted(octree.tree)
    to_regular(tree, octree.place, to_octree(tree, octree.place, velocity), back)
    inside = [m > 0 for m in problem.system().m]
    lost = sum(float(((u - v)[m] ** 2).sum()) for u, v, m in zip(velocity, back, inside))
    assert lost < 0.01**2 * sum(float((u[m] ** 2).sum()) for u, m in zip(velocity, inside))


@pytest.mark.parametrize("solver", ["multigrid", "jacobi-cg"])
def test_a_tree_without_coarsening_is_the_regular_grid(solver):
    grid, phi, solid = tank(24)
    diffusion = 50.0
    problem = ViscosityProblem.build(grid, phi, solid, diffusion)
    start = rotation(grid, (0.3, 1.0, -0.5), (0.5, 0.3, 0.5))
    ours, regular = (tuple(u.copy() for u in start) for _ in range(2))
    problem.solve(regular, SolveLimits(1e-7, 2000))
    octree = OctreeViscosity(adapt(problem, levels=1), diffusion, solver=SOLVERS[solver])
    stats = octree.solve(ours, SolveLimits(1e-7, 2000))
    assert stats.converged and stats.unknowns == problem.system().unknowns
    for u, v in zip(ours, regular):
        assert np.abs(u - v).max() < 2e-5


def test_a_thick_liquid_differs_little_from_the_regular_grid_with_fewer_unknowns():
    problem, diffusion, _ = thick_ball()
    start = tuple(
        np.sin(5.0 * problem.grid.points(FACES[a]) @ [1.0, 0.6, -0.3] + a).astype(np.float32) for a in range(3)
    )
    ours, regular = (tuple(u.copy() for u in start) for _ in range(2))
    stats = problem.solve(regular, SolveLimits(1e-6, 2000))
    octree = OctreeViscosity(adapt(problem), diffusion)
    mine = octree.solve(ours, SolveLimits(1e-6, 2000))
    assert mine.converged and mine.iterations <= 20
    assert mine.unknowns < 0.7 * stats.unknowns
    for u, v, m in zip(ours, regular, problem.system().m):
        assert np.abs(u - v)[m > 0].max() < 0.02


def test_a_jump_of_the_viscosity_inside_stays_resolved(monkeypatch):
    """Stiff below a wavy level, a million times softer above; a tree that coarsens across it is the control."""
    grid = thick_ball()[0].grid
    position = grid.points(CENTRE)
    below = position[..., 1] < 0.5 + 0.05 * np.sin(7.0 * position[..., 0])
    diffusion = np.where(below, 1e3, 1e-3).astype(np.float32)
    solid = sample_solids(grid, NO_WALLS, [], 0.0)
    problem = ViscosityProblem.build(grid, thick_ball()[2], solid, diffusion)
    m = problem.system().m
    start = tuple(np.sin(5.0 * grid.points(FACES[a]) @ [1.0, 0.6, -0.3] + a).astype(np.float32) for a in range(3))
    regular = tuple(u.copy() for u in start)
    problem.solve(regular, SolveLimits(1e-6, 2000))
    off, iterations = [], []
    for marks in (octree_tree.jump_cells, lambda cell: np.zeros(cell.shape, np.bool_)):
        monkeypatch.setattr(octree_tree, "jump_cells", marks)
        ours = tuple(u.copy() for u in start)
        stats = OctreeViscosity(adapt(problem), diffusion).solve(ours, SolveLimits(1e-6, 2000))
        squares = [((u - v)[w > 0] ** 2).mean() for u, v, w in zip(ours, regular, m)]
        off.append(float(np.sqrt(np.mean(squares))))
        iterations.append(stats.iterations)
        assert stats.converged
    print(f"differences {off}, iterations {iterations}")
    assert off[0] < 0.01 and off[1] > 3.0 * off[0]
    assert iterations[0] < iterations[1]


def test_cells_stay_fine_where_the_velocity_bends():
    """A thin shear layer in a thick ball; without it only a turn, which is linear, and the tree is the usual one."""
    problem, _, _ = thick_ball()
    m, grid = problem.system().m, problem.grid
    start = rotation(grid, (0.0, 1.0, 0.0), (0.5, 0.5, 0.5))
    assert not bent_cells(start, 0.01).any()
    height = grid.points(FACES[0])[..., 1]
    start[0][:] += np.tanh((height - 0.5) / 0.04).astype(np.float32)
    usual, refined = (painted(tree_inside(m, 4, 2, bent)) for bent in (None, bent_cells(start, 0.02)))
    n = grid.shape[0]
    assert usual.level[n // 2, n // 2, n // 2] >= 2 and refined.level[n // 2, n // 2, n // 2] == 0
    assert refined.level.max() >= 1  # away from it
    lost = []
    for tree in (usual, refined):
        back, place = tuple(u.copy() for u in start), tree.faces(m).place
        to_regular(tree, place, to_octree(tree, place, start), back)
        lost.append(max(float(np.abs(u - v)[w > 0].max()) for u, v, w in zip(start, back, m)))
    assert lost[1] < 0.2 * lost[0]


@pytest.mark.parametrize(("enhanced", "kept"), [(True, True), (False, False)])
def test_a_free_ball_turns_on(enhanced, kept):
    """Enhanced gradients keep a rigid rotation; sloped ones brake it (the negative control)."""
    problem, diffusion, _ = thick_ball()
    start = rotation(problem.grid, (0.2, 1.0, -0.4), (0.51, 0.49, 0.5))
    velocity = tuple(u.copy() for u in start)
    octree = OctreeViscosity(adapt(problem), diffusion, enhanced=enhanced)
    octree.solve(velocity, SolveLimits(1e-7, 2000))
    change = max(np.abs(u - v)[m > 0.5].max() for u, v, m in zip(start, velocity, problem.system().m))
    assert (change < 1e-5) == kept
    if not kept:
        assert change > 1e-3


def test_without_liquid_there_is_nothing_to_solve():
    grid, phi, solid = tank(16)
    problem = ViscosityProblem.build(grid, np.ones_like(phi), solid, 10.0)
    velocity = tuple(np.full(s.shape, 2.0, np.float32) for s in grid.staggered())
    stats = OctreeViscosity(adapt(problem), 10.0).solve(velocity, SolveLimits(1e-6, 10))
    assert stats.converged and stats.unknowns == 0


def standing_figure():
    """With a contact line on the floor, which is swept more often."""
    given = figure(40)
    return ViscosityProblem.build(given.grid, given.phi, given.solid, given.diffusion), given.diffusion, None


@pytest.mark.parametrize("make", [thick_ball, standing_figure])
def test_the_cycle_is_symmetric_and_positive(make):
    problem, diffusion, _ = make()
    octree = OctreeViscosity(adapt(problem), diffusion)
    cycle = Multigrid(octree.levels, OctreeSmoother(), 0)
    rng = np.random.default_rng(0)
    a, b = (octree.system.vector(rng.normal(size=octree.system.unknowns)) for _ in range(2))
    ma, mb, scratch = (octree.system.vector(np.zeros(octree.system.unknowns)) for _ in range(3))
    assert cycle(a, ma, scratch) > 0.0
    cycle(b, mb, scratch)
    one, two = (float((x[0] * y[0]).sum(dtype=np.float64)) for x, y in ((a, mb), (b, ma)))
    size = float(np.linalg.norm(a[0]) * np.linalg.norm(mb[0]))
    assert abs(one - two) < 1e-6 * size


def test_no_transition_touches_a_surface_or_a_solid():
    """The levels of every finest cell that is not plain, and of its neighbours, are zero."""
    grid, phi, solid = tank(24)
    problem = ViscosityProblem.build(grid, phi, solid, 10.0)
    m = problem.system().m
    tree = painted(tree_inside(m, 4, 2))
    plain = np.ones(grid.shape, bool)
    for a in range(3):
        full = np.abs(m[a] - 1.0) < 1e-4
        lower = np.moveaxis(full, a, 0)[:-1]
        plain &= np.moveaxis(lower & np.moveaxis(full, a, 0)[1:], 0, a)
    assert (tree.level[~plain] == 0).all()
    assert tree.level.max() > 0


def test_bodies_move_as_on_the_regular_grid():
    """Leaves are finest around bodies: only the flow far from them differs, and with it the bodies little."""
    found, start = {}, None
    for name in ("regular", "octree", "known"):
        solid = Solid(name="ball", shape={"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.1})
        at, zero = np.full(3, 0.5), np.zeros(3)
        grid = Grid(1.0 / 40, (48, 48, 48), (-4, -4, -4))
        ball = FreeMotion(np.eye(3), at, at, zero, zero).moved(solid)
        field = sample_solids(grid, Walls((0.0,) * 3, (1.0,) * 3), [ball], 0.0)
        mass = 2000.0 * 4 / 3 * np.pi * 0.1**3
        bodies = RigidBodies.build(grid, field, [Inertia(0, at, 2000.0, mass, 0.004 * mass * np.eye(3))], 1000.0)
        bodies.velocity[0] = start = np.array([0.3, -1.0, 0.1, 0.0, 2.0, 0.0])
        problem = ViscosityProblem.build(grid, np.full(grid.shape, np.float32(-1)), field, 20.0, bodies)
        if name == "known":
            problem = replace(problem, bodies=None, solid=replace(field, velocity=bodies.walls))
        velocity = tuple(np.zeros(m.shape, np.float32) for m in problem.mass)
        if name == "regular":
            problem.solve(velocity, SolveLimits(1e-6, 300))
        else:
            octree = OctreeViscosity(adapt(problem), 20.0)
            assert octree.tree.level.max() > 0
            assert octree.solve(velocity, SolveLimits(1e-6, 300)).converged
        found[name] = bodies.velocity[0].copy()
    assert np.abs(found["regular"] - start).max() > 0.2
    np.testing.assert_allclose(found["octree"], found["regular"], atol=0.01 * np.abs(start).max())
    np.testing.assert_array_equal(found["known"], start)  # the control: where it is no unknown it keeps its velocity
