"""The velocity between the faces of simplices: constants exactly, linear fields to first order, walls left out."""

import numpy as np
import pytest

from glug.grids.regular import FACES, Grid, copied
from glug.grids.tetrahedra.field import Surroundings, from_grid, values_at
from glug.grids.tetrahedra.lattice import Box, Grading
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.physics.covolume.projection import Incidence

DIMENSIONS = (2, 3)


def surroundings(dim: int, spacing: float = 0.125, levels: int = 2) -> Surroundings:
    box = Box.covering(np.full(dim, -0.3), np.full(dim, 1.3), spacing, levels)
    mesh = Tetrahedra.over(box, box.leaves([lambda x: x[:, 0] - 0.5], Grading(levels, 2)))
    incidence = Incidence.of(mesh)
    return Surroundings(mesh, incidence.start, incidence.face, spacing)


def regular(dim: int, n: int = 8) -> Grid:
    return Grid(1.0 / n, (n, n, n if dim == 3 else 1), dim=dim)


def sampled(around: Surroundings, grid: Grid, u: np.ndarray, used: np.ndarray) -> list[np.ndarray]:
    velocity = grid.staggered()
    wanted = tuple(np.ones(c.shape, np.uint8) for c in velocity)
    around.field(u, used).to_grid(grid, wanted, velocity)
    return [velocity[a] for a in grid.axes]


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_points_are_found_in_their_simplices(dim):
    around = surroundings(dim)
    points = np.random.default_rng(0).uniform(0.0, 1.0, (500, dim))
    corners = around.mesh.simplices.points[around.mesh.simplices.corners[around.locate(points)]]
    parts = np.einsum("px,pxe->pe", points - corners[:, 0], np.linalg.inv(corners[:, 1:] - corners[:, :1]))
    assert parts.min() > -1e-8 and parts.sum(axis=1).max() < 1.0 + 1e-8
    assert around.locate(np.full((1, dim), 9.0))[0] >= 0  # outside


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_constants_are_kept(dim):
    around, constant = surroundings(dim), np.array([0.3, -0.7, 0.2])[:dim]
    u = around.mesh.face_normal @ constant
    for a, found in enumerate(sampled(around, regular(dim), u, np.ones(len(u), np.bool_))):
        np.testing.assert_allclose(found, constant[a], atol=1e-6)


TURN = np.array([[0.0, -1.0, 0.4], [1.0, 0.0, -0.2], [-0.4, 0.2, 0.0]])
STRETCH = np.array([[1.0, 0.5, 0.4], [0.5, -1.0, -0.2], [0.4, -0.2, 0.0]])


def error_of(slope: np.ndarray, dim: int, spacing: float, levels: int) -> float:
    """The largest error of a linear field, from the velocities of the faces."""
    around, grid, slope = surroundings(dim, spacing, levels), regular(dim), slope[:dim, :dim]
    u = ((around.mesh.face_position @ slope.T) * around.mesh.face_normal).sum(axis=1)
    found = sampled(around, grid, u, np.ones(len(u), np.bool_))
    points = [grid.points(offset).reshape(-1, 3)[:, :dim] for offset in FACES]
    return max(np.abs(f.ravel() - (x @ slope.T)[:, a]).max() for a, (f, x) in enumerate(zip(found, points)))


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_linear_fields_are_kept_on_uniform_lattices(dim):
    for slope in (TURN, STRETCH):
        assert error_of(slope, dim, 0.125, 1) < 1e-6


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_they_are_met_to_first_order_on_graded_ones(dim):
    """Fields whose gradient is 1 /s; rotations much better, since the fit of a cell is exact for them."""
    assert error_of(TURN, dim, 0.125, 2) < 1e-3
    coarse, fine = (error_of(STRETCH, dim, spacing, 2) for spacing in (0.125, 0.0625))
    assert coarse < 0.02
    assert fine < 0.6 * coarse


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_closed_faces_do_not_hold_what_slips(dim):
    """Liquid slides along x = 0.5, with nothing behind. With closed faces in the fit it would lag."""
    around = surroundings(dim, levels=1)
    mesh = around.mesh
    along = np.array([0.0, 1.0, 0.0])[:dim]
    closed = (mesh.simplices.points[mesh.ends][:, :, 0] > 0.5).all(axis=1)
    u = np.where(closed, 0.0, mesh.face_normal @ along)
    faces = [np.bincount(mesh.beside.ravel(), np.tile(some, 2), len(mesh.cell_volume)) for some in (closed, ~closed)]
    beside = (faces[0] == 1) & (faces[1] == dim)
    dropped, kept = (around.field(u, used).cell[beside] for used in (~closed, np.ones(len(u), np.bool_)))
    assert np.abs(dropped[:, :dim] - along).max() < 1e-9
    assert np.abs(kept[:, :dim] - along).max() > 0.1


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_a_velocity_goes_to_the_mesh_and_back(dim):
    """A smooth field, there and back: to first order in the spacing."""
    errors = []
    for n in (8, 16):
        grid = regular(dim, n)
        around = surroundings(dim, 2.0 / n, levels=1)
        velocity = grid.staggered()
        for a in grid.axes:
            offset = tuple(0.0 if b == a else 0.5 for b in range(3))
            x = grid.points(offset)
            velocity[a][:] = np.sin(2.0 * x[..., (a + 1) % dim])
        before = copied(velocity)
        u = from_grid(around.mesh, grid, velocity)
        found = sampled(around, grid, u, np.ones(len(u), np.bool_))
        inner = tuple(slice(n // 4, -n // 4) for _ in range(dim))
        errors.append(max(np.abs(found[a] - before[a])[inner].max() for a in grid.axes))
    assert errors[0] < 0.15
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_linear_distances_are_sampled_exactly(dim):
    grid = regular(dim)
    slope = np.array([0.3, -0.8, 0.5])
    field = (grid.points((0.5, 0.5, 0.5))[..., :dim] @ slope[:dim]).astype(np.float32)
    points = np.random.default_rng(1).uniform(0.1, 0.9, (50, dim))
    np.testing.assert_allclose(values_at(field, grid, (0.5, 0.5, 0.5), points), points @ slope[:dim], atol=1e-6)
