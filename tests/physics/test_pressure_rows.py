"""Rows of every kind act as the matrix they stand for, also beside cells that are held and surfaces at cell centres."""

from dataclasses import replace

import numpy as np
import pytest

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.blocks import active_blocks
from glug.grids.coarsen import CELLS, coarse_shape, gather
from glug.grids.regular import CENTRE, Grid
from glug.physics.pressure import kernels_grids
from glug.physics.pressure.kernels_rows import GENERAL, LISTED, UNIFORM
from glug.physics.pressure.levels import PressureLevel
from glug.physics.pressure.problem import PressureProblem

GRID = Grid(1.0, (20, 22, 60), (-2, -2, -2))


def domain(kind: str, seed: int = 0) -> PressureLevel:
    """Liquid in a box: with balls of air and a drop over it, up to a level with zero distance in the air, or full.

    Of the cells on the floor of the full one half are held at q = 0, like those at walls that have let go.
    """
    rng = np.random.default_rng(seed)
    points = GRID.points(CENTRE)
    phi = np.full(GRID.shape, -3.0)
    if kind == "level":
        phi = points[..., 1] - 12.5  # of a centre
    elif kind == "balls":
        for centre, radius in zip(rng.uniform(0.0, (16.0, 18.0, 56.0), (4, 3)), rng.uniform(1.5, 4.0, 4)):
            phi = np.maximum(phi, radius - np.linalg.norm(points - centre, axis=-1))
        phi = np.maximum(phi, points[..., 1] - 12.3)
        phi = np.minimum(phi, np.linalg.norm(points - (8.0, 15.0, 20.0), axis=-1) - 2.2)
    solid = sample_solids(GRID, Walls((0.0,) * 3, (16.0, 18.0, 56.0)), [], 0.0)
    level = PressureProblem.build(GRID, phi.astype(np.float32), solid).system
    if kind == "held":
        floor = rng.random((GRID.shape[0], GRID.shape[2])) < 0.5
        liquid, diagonal = level.liquid.copy(), level.diagonal.copy()
        liquid[:, 2][floor] = 0
        diagonal[:, 2][floor] = 0.0
        level = replace(level, liquid=liquid, diagonal=diagonal)
    return level


def across(level: PressureLevel, x: np.ndarray) -> np.ndarray:
    """The sum over liquid neighbours of link times x."""
    total, known = np.zeros(level.shape), x * level.liquid
    for a, link in enumerate(level.links):
        inner = np.moveaxis(link, a, 0)[1:-1]
        out, values = np.moveaxis(total, a, 0), np.moveaxis(known, a, 0)
        out[1:] += inner * values[:-1]
        out[:-1] += inner * values[1:]
    return np.where(level.diagonal > 0, total, 0.0)


KINDS = ("balls", "level", "held")


@pytest.mark.parametrize("kind", KINDS)
def test_what_ties_cells_to_air_is_all_that_no_link_to_liquid_takes(kind: str):
    level = domain(kind)
    tied = level.diagonal - across(level, np.ones(level.shape))
    assert (tied[tied > 1e-5] > 0.01).all()
    tied[tied < 1e-5] = 0.0  # the rounding of six links
    coarse = Grid(1.0, coarse_shape(level.shape))
    expected, held = coarse.scalar(), coarse.scalar()
    gather(tied.astype(np.float32), [CELLS] * 3, expected, active_blocks(np.ones(coarse.shape, np.uint8)))
    colours = level.colours
    kernels_grids.coarsen_springs(*level.rows.matrix, level.liquid, colours.numbers, colours.starts, held)
    assert expected.max() > 1.0
    np.testing.assert_allclose(held, expected, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_product_is_that_of_the_matrix(kind: str):
    level = domain(kind)
    x = np.where(level.diagonal > 0, np.random.default_rng(1).normal(size=level.shape), 0.0).astype(np.float32)
    q = np.zeros_like(x)
    energy = level.apply((x,), (q,))
    expected = level.diagonal.astype(np.float64) * x - across(level, x)
    np.testing.assert_allclose(q, expected, atol=1e-5 * np.abs(expected).max())
    assert energy == pytest.approx(float((x * expected).sum()), rel=1e-5)


def test_the_domains_have_rows_of_every_kind():
    found = {kind for name in KINDS for kind in domain(name).rows.rows[:, 4]}
    assert found == {GENERAL, UNIFORM, LISTED}
