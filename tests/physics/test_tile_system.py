"""Tiles in 3D: the matrix-free system is the assembled one, and so is the velocity it leads to."""

from dataclasses import replace

import numpy as np
import pytest
from setups import PRESSURE, tank

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import FACES, Grid, Staggered
from glug.physics.affine.projection import Depths, region_densities
from glug.physics.affine.regions import deep_cells
from glug.physics.affine.system import CoupledCycle, RegionFaces, TileSystem
from glug.physics.densities import mobility_of
from glug.physics.pressure.levels import hierarchy
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.affine import AffineProjection
from glug.physics.reference.scenes import AssembledRegions
from glug.solvers.cg import zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel


@pytest.fixture(scope="module", params=["one liquid", "two densities"])
def tiled(request) -> PressureProblem:
    """A tank over a tilted floor, with a wavy surface; the lower half may be of a heavier liquid."""
    grid, phi, solid = tank(n=28, surface=0.8)
    x, y, z = (p[..., 0] for p in np.split(grid.points((0.5, 0.5, 0.5)), 3, axis=-1))
    phi = phi + (0.06 * np.sin(6.0 * x) * np.cos(5.0 * z)).astype(np.float32)
    if request.param == "one liquid":
        return with_tiles(PressureProblem.build(grid, phi, solid))
    heavy = (y - 0.5 - 0.02 * x).astype(np.float32)
    problem = PressureProblem.build(grid, phi, solid, mobility=mobility_of([heavy], [10.0], grid))
    wet = problem.liquid > 0
    return problem.with_affine_regions([Depths(part, 2, 6) for part in (wet & (heavy < 0), wet & (heavy >= 0))])


def with_tiles(problem: PressureProblem) -> PressureProblem:
    return problem.with_affine_regions([Depths(problem.liquid > 0, 2, 6)])


def assembled(problem: PressureProblem) -> AffineProjection:
    area = problem.solid.area
    mobility = [np.divide(k, a, out=np.zeros_like(k), where=a > 0.0) for k, a in zip(problem.system.links, area)]
    return AffineProjection(problem.grid, area, mobility, problem.liquid > 0, problem.regions.regions)


def stirred(grid: Grid) -> Staggered:
    """Gravity and eddies of about a tile's size."""
    velocity = grid.staggered()
    for a in range(3):
        x, y, z = (grid.points(FACES[a])[..., b] for b in range(3))
        velocity[a][:] = np.sin(9.0 * y + a) * np.cos(7.0 * z + 2.0 * a) + 0.5 * np.sin(8.0 * x)
    velocity[1][:] -= np.float32(1.0)
    return velocity


def test_the_setup_has_tiles_of_many_shapes(tiled):
    sizes = np.bincount(tiled.regions.regions.label[tiled.regions.regions.label >= 0])
    assert len(sizes) > 20
    assert sizes.max() <= 5**3
    assert sizes.min() < 60
    assert set(np.round(region_densities(tiled.regions.regions, tiled.links), 5)) in ({1.0}, {1.0, 10.0})


def test_tiles_reach_as_far_into_the_edges_of_a_box_as_along_its_walls():
    grid = Grid(1.0 / 20, (28, 28, 28), (-4, -4, -4))
    solid = sample_solids(grid, Walls((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), [], 0.0)
    deep = deep_cells(solid.openness > 0.5, solid.area, band=9)
    assert deep[6:-6, 6:-6, 6:-6].all() and deep.sum() == 16**3


def test_applies_the_assembled_matrix(tiled):
    level, regions = tiled.system, tiled.regions.regions
    system = TileSystem(level, regions, RegionFaces.build(tiled.grid, regions, region_densities(regions, tiled.links)))
    affine = assembled(tiled)
    field = tiled.grid.scalar()
    field.ravel()[affine.ordinary] = np.random.default_rng(0).normal(size=int(affine.ordinary.sum()))
    d, q = system.gather(field), zeros_like(system)
    product = system.apply(d, q)
    out = tiled.grid.scalar()
    system.scatter(q, out)
    x = field.ravel()[affine.ordinary].astype(np.float64)
    exact = affine.matrix() @ x
    assert np.abs(out.ravel()[affine.ordinary] - exact).max() < 1e-5 * np.abs(exact).max()
    assert product == pytest.approx(float(x @ exact), rel=1e-5)
    diagonal = tiled.grid.scalar()
    system.scatter(system.mask, diagonal)
    assert np.abs(diagonal.ravel()[affine.ordinary] / affine.matrix().diagonal() - 1.0).max() < 0.01

    b, r = zeros_like(system), zeros_like(system)
    system.residual(b, tuple(c.astype(np.float64) for c in d), r)
    system.scatter(r, out)
    assert np.abs(out.ravel()[affine.ordinary] + exact).max() < 1e-6 * np.abs(exact).max()


def test_leads_to_the_velocity_of_the_reference(tiled):
    limits = SolveLimits(1e-7, 2000)
    start = stirred(tiled.grid)
    fast, slow = tuple(u.copy() for u in start), tuple(u.copy() for u in start)
    q, stats = tiled.project(fast, limits, solver=PRESSURE["jacobi-cg"])
    exact, _ = replace(tiled, regions=AssembledRegions(tiled.grid, tiled.system, tiled.regions.regions)).project(
        slow, limits, solver=PRESSURE["reference"]
    )
    assert stats.converged and stats.iterations > 10
    assert stats.unknowns < np.count_nonzero(tiled.liquid)
    for a, b, u in zip(fast, slow, start):
        assert np.abs(a - b).max() < 1e-4
        assert np.abs(a - u).max() > 0.1
    assert np.abs(q - exact).max() < 1e-4 * np.abs(exact).max()


def test_the_coupled_cycle_is_symmetric_and_takes_fewer_iterations(tiled):
    level, regions = tiled.system, tiled.regions.regions
    system = TileSystem(level, regions, RegionFaces.build(tiled.grid, regions, region_densities(regions, tiled.links)))
    cycle = CoupledCycle(system, level, Multigrid(hierarchy(level), GaussSeidel(level.sweeps)))
    rng = np.random.default_rng(5)
    x, y, mx, my = (zeros_like(system) for _ in range(4))
    for v in (x, y):
        v[0][0, 0, : system.pressures] = rng.normal(size=system.pressures)
    forms = cycle(x, mx, zeros_like(system)), cycle(y, my, zeros_like(system))
    assert min(forms) > 0.0
    dots = [float((a[0].astype(np.float64) * b[0]).sum()) for a, b in ((x, my), (y, mx))]
    assert dots[0] == pytest.approx(dots[1], abs=1e-5 * max(forms))

    taken, results = [], []
    for solver in ("jacobi-cg", "multigrid"):
        velocity = stirred(tiled.grid)
        _, stats = tiled.project(velocity, SolveLimits(1e-6, 2000), solver=PRESSURE[solver])
        assert stats.converged
        taken.append(stats.iterations)
        results.append(velocity)
    assert taken[1] < 0.3 * taken[0]
    assert max(float(np.abs(a - b).max()) for a, b in zip(*results)) < 1e-3


def test_liquid_at_rest_stays_at_rest():
    grid, phi, solid = tank(n=28, surface=0.8)
    still = with_tiles(PressureProblem.build(grid, phi, solid))
    velocity = grid.staggered()
    velocity[1][:] = -1.0
    still.project(velocity, SolveLimits(1e-6, 2000))
    wet = still.liquid > 0
    faces = [wet[1:] & wet[:-1], wet[:, 1:] & wet[:, :-1], wet[:, :, 1:] & wet[:, :, :-1]]
    inner = (velocity[0][1:-1], velocity[1][:, 1:-1], velocity[2][:, :, 1:-1])
    areas = (solid.area[0][1:-1], solid.area[1][:, 1:-1], solid.area[2][:, :, 1:-1])
    for u, f, a in zip(inner, faces, areas):
        assert np.abs(u[f & (a > 0)]).max() < 1e-4
