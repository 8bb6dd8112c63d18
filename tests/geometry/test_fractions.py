"""Fractions are exact for planes and second-order accurate for a sphere."""

import numpy as np
import pytest

from glug.geometry.fractions import liquid_volume, open_area, solid_volume
from glug.grids.regular import CENTRE, EDGES, FACES, NODE, Grid

GRID = Grid(0.1, (16, 16, 16))
INNER = (slice(3, 13),) * 3  # samples whose stencils do not meet the border of the grid


def plane(rng: np.random.Generator):
    """A random plane through the middle of the grid: unit normal and offset."""
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    point = np.full(3, 0.8) + rng.uniform(-0.05, 0.05, 3)
    return normal, float(normal @ point)


def exact_cube_fraction(normal: np.ndarray, distance: np.ndarray, side: float) -> np.ndarray:
    """Volume fraction of cubes on the negative side of a plane at signed `distance` from their centres.

    The distribution function of a sum of three uniform variables of widths side |n_a|, from its eight
    corner terms.
    """
    widths = np.abs(normal) * side
    total = np.zeros_like(distance)
    for signs in np.ndindex(2, 2, 2):
        corner = sum((0.5 if s else -0.5) * w for s, w in zip(signs, widths))
        sign = (-1) ** (3 - sum(signs))
        total += sign * np.maximum(corner - distance, 0.0) ** 3
    return total / (6.0 * np.prod(widths))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("offset", [CENTRE, *FACES, *EDGES])
def test_volume_fraction_is_exact_for_planes(offset, seed):
    normal, level = plane(np.random.default_rng(seed))
    phi = (GRID.points(CENTRE) @ normal - level).astype(np.float32)
    exact = exact_cube_fraction(normal, GRID.points(offset) @ normal - level, GRID.dx)
    assert np.abs(liquid_volume(phi, GRID, offset) - exact)[INNER].max() < 1e-5  # float32 distances: 6e-8 / 0.1
    assert np.ptp(exact[INNER]) > 0


@pytest.mark.parametrize("seed", range(4))
def test_volume_fraction_of_float64_distances_is_exact_to_1e_6(seed):
    normal, level = plane(np.random.default_rng(seed))
    for sample, fraction in ((CENTRE, liquid_volume), (NODE, solid_volume)):
        phi = GRID.points(sample) @ normal - level
        for offset in (CENTRE, *FACES, *EDGES):
            exact = exact_cube_fraction(normal, GRID.points(offset) @ normal - level, GRID.dx)
            assert np.abs(fraction(phi, GRID, offset) - exact)[INNER].max() < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_open_area_is_exact_for_planes(seed):
    normal, level = plane(np.random.default_rng(seed))
    areas = open_area(GRID.points(NODE) @ normal - level, GRID)
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        centre = GRID.points(FACES[axis]) @ normal - level
        # Exact area of a square beyond a line: a sum of two uniform variables.
        w1, w2 = abs(normal[b]) * GRID.dx, abs(normal[c]) * GRID.dx
        solid = np.zeros_like(centre)
        for s in np.ndindex(2, 2):
            corner = (s[0] - 0.5) * w1 + (s[1] - 0.5) * w2
            solid += (-1) ** (sum(s)) * np.maximum(corner - centre, 0.0) ** 2
        exact = 1.0 - solid / (2.0 * w1 * w2)
        assert np.abs(areas[axis] - exact)[INNER].max() < 1e-6


def test_volume_of_a_sphere_converges_with_second_order():
    errors = []
    for n in (16, 32, 64):
        grid = Grid(1.0 / n, (n, n, n))
        phi = (np.linalg.norm(grid.points(CENTRE) - (0.51, 0.48, 0.5), axis=-1) - 0.3).astype(np.float32)
        volume = liquid_volume(phi, grid, CENTRE).sum(dtype=np.float64) * grid.dx**3
        errors.append(abs(volume / (4 / 3 * np.pi * 0.3**3) - 1.0))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 1e-4
    assert orders.min() > 1.8


def test_area_of_a_sphere_section_converges_with_second_order():
    errors = []
    for n in (16, 32, 64):
        grid = Grid(1.0 / n, (n, n, n))
        nodes = 0.3 - np.linalg.norm(grid.points(NODE) - (0.5, 0.48, 0.51), axis=-1)
        section = (1.0 - open_area(-nodes, grid)[0][n // 2]).sum(dtype=np.float64) * grid.dx**2
        errors.append(abs(section / (np.pi * 0.3**2) - 1.0))
    assert errors[-1] < 2e-3
    assert np.log2(np.array(errors[:-1]) / errors[1:]).min() > 1.6


def test_all_control_volumes_sum_to_the_same_volume():
    grid = Grid(1.0 / 32, (32, 32, 32))
    phi = (np.linalg.norm(grid.points(CENTRE) - 0.5, axis=-1) - 0.3).astype(np.float32)
    sums = [liquid_volume(phi, grid, o).sum(dtype=np.float64) * grid.dx**3 for o in (CENTRE, *FACES, *EDGES)]
    assert np.ptp(sums) < 1e-3 * sums[0] * 5
