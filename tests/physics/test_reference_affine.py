"""Affine regions: no divergence inside, momentum kept, rest kept, and the motion of a fluid of any density."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import laplacian
from two_fluids import Bubble

from glug.grids.operators import Operators
from glug.grids.regular import Grid
from glug.physics.affine.regions import Regions, deep_cells, find_regions, owners
from glug.physics.reference.affine import AffineProjection, idle_pressures
from glug.solvers.assembled.krylov import Cholesky, solve_general

RATIOS = (1e-6, 1e-3, 1e-2, 1e-1, 1.0, 10.0)


def core(bubble: Bubble, band: int = 3, tile: int = 0) -> Regions:
    """The regions inside the bubble."""
    inside = deep_cells(bubble.box & (bubble.phi < 0), bubble.area, band, bubble.grid.dim)
    return find_regions(bubble.grid, inside, tile)


def nowhere(grid: Grid) -> Regions:
    return Regions(np.full(grid.shape, -1, np.int32), np.zeros((0, 3)))


def projection(bubble: Bubble, regions: Regions) -> AffineProjection:
    return AffineProjection(bubble.grid, bubble.area, bubble.mobility, bubble.box, regions)


@pytest.fixture(params=[(2, 32), (3, 12)], ids=["2D", "3D"])
def light(request):
    dim, n = request.param
    bubble = Bubble.build(n, 0.02, dim, radius=0.35)
    return bubble, projection(bubble, core(bubble, band=1))


def test_its_velocities_have_no_divergence(light):
    bubble, affine = light
    dim = bubble.grid.dim
    assert affine.regions.count == 1
    assert affine.R.shape[1] == {2: 5, 3: 11}[dim]
    assert np.linalg.matrix_rank(affine.R.toarray()) == affine.R.shape[1]
    inside = affine.regions.label.ravel() >= 0
    divergence = Operators(bubble.grid).D[inside] @ affine.R * bubble.grid.dx
    assert abs(divergence).max() < 1e-12


def test_a_region_keeps_the_momentum_it_holds(light):
    bubble, affine = light
    u = np.random.default_rng(1).normal(size=affine.R.shape[0])
    fitted = affine.R @ affine.fit(u)
    along_y = np.concatenate([np.full(c.size, float(a == 1)) for a, c in enumerate(bubble.split(u))]) * affine.owned
    momentum = bubble.density * (along_y @ np.column_stack([u, fitted]))
    assert np.isclose(*momentum, rtol=1e-12)
    assert np.abs(fitted - u)[affine.owned].max() > 0.1  # though it is another velocity
    affinely = affine.R @ np.random.default_rng(2).normal(size=affine.R.shape[1])
    assert np.abs(affine.R @ affine.fit(affinely) - affinely).max() < 1e-12


def test_the_matrix_is_positive_and_as_printed_it_is_not(light):
    _, affine = light
    held = affine.matrix()[1:, 1:]  # a closed box: one pressure held
    assert Cholesky(held).least_pivot > 0.0
    assert abs(affine.matrix().sum(axis=1)).max() < 1e-12  # constants have no effect
    printed = (2.0 * affine.ordinary_matrix() - affine.matrix()).toarray()
    assert np.linalg.eigvalsh(printed)[0] < -1e-3 * np.abs(printed).max()


def test_factors_apply_the_assembled_matrix(light):
    _, affine = light
    x = np.random.default_rng(3).normal(size=affine.J.shape[1])
    factored = affine.ordinary_matrix() @ x + affine.J.T @ np.linalg.solve(affine.mass[0], affine.J @ x)
    assert np.abs(factored - affine.matrix() @ x).max() < 1e-12 * np.abs(factored).max()


def test_it_is_the_nearest_velocity_among_those_allowed(light):
    """Against the whole minimisation, with every cell's pressure and the affine motion as a constraint."""
    bubble, affine = light
    D = Operators(bubble.grid).D[bubble.box.ravel()] * bubble.grid.dx
    opening, motion = (
        np.concatenate([c.ravel() for c in f[: bubble.grid.dim]]) for f in (bubble.area, bubble.mobility)
    )
    moves = opening > 0.0
    star = np.random.default_rng(4).normal(size=len(moves))
    free = moves & ~affine.owned
    allowed = sparse.hstack([sparse.diags(free.astype(float)).tocsc()[:, free], affine.R])
    mass = allowed.T @ sparse.diags(np.where(moves, 1.0 / np.where(moves, motion, 1.0), 0.0)) @ allowed
    rhs = allowed.T @ (np.where(moves, star / np.where(moves, motion, 1.0), 0.0))
    rows = D @ allowed
    # Interior rows vanish and one row repeats the others: keep what is independent.
    useful = np.flatnonzero(affine.ordinary[bubble.box.ravel()])[1:]
    rows = rows[useful]
    kkt = sparse.bmat([[mass, rows.T], [rows, None]])
    chosen = solve_general(kkt, np.concatenate([rhs, np.zeros(len(useful))]))[0][: allowed.shape[1]]
    ours = affine.project(star).u
    assert np.abs(ours - allowed @ chosen)[moves].max() < 1e-10
    assert np.abs(D @ np.where(moves, ours, 0.0)).max() < 1e-10


def test_a_neutrally_buoyant_bubble_rests():
    for dim, n, tile in ((2, 64, 0), (2, 64, 6), (3, 16, 0)):
        bubble = Bubble.build(n, 1.0, dim, radius=0.3)
        affine = projection(bubble, core(bubble, band=2, tile=tile))
        assert affine.regions.count >= 1
        u = affine.project(bubble.fall()).u
        moves = np.concatenate([c.ravel() for c in bubble.area[:dim]]) > 0.0
        assert np.abs(u[moves]).max() < 1e-8


@pytest.mark.parametrize("ratio", RATIOS)
def test_it_accelerates_as_two_fluids_do(ratio):
    """The initial acceleration of the disc, whole and in tiles (Goldade 2021, section 4.2.1)."""
    bubble = Bubble.build(96, ratio)
    two_fluids = bubble.rise(projection(bubble, nowhere(bubble.grid)).project(bubble.fall()).u)
    for tile in (0, 8):
        affine = bubble.rise(projection(bubble, core(bubble, tile=tile)).project(bubble.fall()).u)
        assert abs(affine - two_fluids) < 0.01 * max(abs(two_fluids), 1e-6)


def test_a_ball_accelerates_as_two_fluids_do():
    bubble = Bubble.build(20, 10.0, dim=3, radius=0.25)
    two_fluids = bubble.rise(projection(bubble, nowhere(bubble.grid)).project(bubble.fall()).u)
    affine = bubble.rise(projection(bubble, core(bubble, band=2)).project(bubble.fall()).u)
    assert two_fluids < -0.5
    assert abs(affine - two_fluids) < 0.01 * abs(two_fluids)


def test_tiles_are_apart_and_thin_ones_are_given_back():
    grid = Grid(1.0, (40, 40, 40), (-3, -3, -3))
    inside = np.zeros(grid.shape, bool)
    inside[3:37, 5:36, 4:29] = True
    inside[30, 10, 36] = True  # a speck
    regions = find_regions(grid, inside, tile=8)
    for a in range(3):
        cut = np.moveaxis(regions.label, a, 0)
        assert not ((cut[1:] != cut[:-1]) & (cut[1:] >= 0) & (cut[:-1] >= 0)).any()
        layer = (np.arange(40) - 3) % 8 == 0
        assert (cut[layer] == -1).all()
        owner = owners(regions, a)
        assert (np.moveaxis(owner, a, 0)[1:][cut >= 0] == cut[cut >= 0]).all()
    sizes = np.bincount(regions.label[regions.label >= 0])
    assert sizes.max() == 7**3
    assert regions.label[30, 10, 36] == -1
    assert regions.cells == sizes.sum()


def test_regions_keep_their_distance():
    grid = Grid(1.0, (24, 24, 1), dim=2)
    fluid = np.ones(grid.shape, bool)
    fluid[12, 20] = False
    area = grid.staggered()
    for a in range(2):
        area[a][:] = 1.0
    area[0][4] = 0.3  # a wall cuts the cells beside it
    deep = deep_cells(fluid, area, 3, dim=2)[:, :, 0]
    assert not deep[9:16, 17:24].any() and deep[8, 20] and deep[12, 16]
    assert not deep[2:6].any() and deep[1, 5] and deep[6, 5]


def test_a_body_that_closes_many_pockets_leaves_combinations_of_their_pressures_idle():
    """Four pockets of two cells and a closed pool, pressed upon by a body with two unknowns."""
    rng = np.random.default_rng(3)
    size = [2, 2, 2, 2, 9]
    links = laplacian(sparse.block_diag([np.ones((n, n)) for n in size], format="csr")).tocsr()
    press = np.zeros((2, sum(size)))
    press[:, [0, 2, 4, 6]] = rng.normal(size=(2, 4))
    matrix = sparse.csr_matrix(links + press.T @ press)
    idle, held = idle_pressures(matrix, links)
    assert idle.shape == (17, 3)  # the pool's, and what two unknowns leave of four pockets
    assert np.abs(matrix @ idle).max() < 1e-14
    assert (np.linalg.eigvalsh(matrix.toarray()) < 1e-12).sum() == 3
    regular = np.delete(np.delete(matrix.toarray(), held, 0), held, 1)
    assert np.linalg.cond(regular) < 1e3
    one = np.delete(np.delete(matrix.toarray(), held[:1], 0), held[:1], 1)  # the control: one is not enough
    assert np.linalg.cond(one) > 1e12
    # Liquid that two unknowns see whole has no idle pressures.
    everywhere = rng.normal(size=(5, sum(size)))
    assert idle_pressures(sparse.csr_matrix(links + everywhere.T @ everywhere), links)[0].shape[1] == 0
