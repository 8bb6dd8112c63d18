"""Voronoi cells by cutting: Qhull's, closed, with exact fluxes, whatever the number of threads; and fields on them."""

import numpy as np
import pytest
from scipy.spatial import Delaunay, cKDTree

from glug import jit
from glug.errors import SolverError
from glug.grids.voronoi.cut import ROOM, CutCells
from glug.grids.voronoi.field import VoronoiField
from glug.grids.voronoi.mesh import Voronoi

DIMENSIONS = (2, 3)


def uneven_points(dim: int, n: int = 600, seed: int = 1) -> np.ndarray:
    """At random, a quarter of them in a corner."""
    points = np.random.default_rng(seed).random((n, dim))
    points[: n // 4] *= 0.2
    return points


def inner_cells(mesh: Voronoi) -> np.ndarray:
    """Cells that end before the mesh does."""
    return (np.abs(mesh.cell_position - 0.5) < 0.25).all(axis=1)


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_cells_meet_where_qhulls_do(dim):
    points = uneven_points(dim)
    mesh, qhull = Voronoi.of(points), Delaunay(points)
    mine, theirs = (set(map(tuple, np.sort(s, axis=1).tolist())) for s in (mesh.meeting, qhull.simplices))
    assert mine <= theirs
    inside = {t for t in theirs if (np.abs(points[list(t)] - 0.5) < 0.25).all()}
    assert len(inside) > 100
    assert inside <= mine
    assert (mesh.ring[1] >= 0).all()


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_cells_are_closed_and_fluxes_of_linear_velocities_exact(dim):
    mesh = Voronoi.of(uneven_points(dim))
    G = np.random.default_rng(0).normal(size=(dim, dim))
    u = ((mesh.face_position @ G.T) * mesh.face_normal).sum(axis=1)
    inner = inner_cells(mesh)
    assert inner.sum() > 10
    for a in range(dim):
        assert np.abs((mesh.D @ mesh.face_normal[:, a])[inner] * mesh.cell_volume[inner]).max() < 1e-13
    np.testing.assert_allclose((mesh.D @ u)[inner], np.trace(G), atol=1e-9)


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_cells_do_not_depend_on_threads(dim):
    points = uneven_points(dim)
    found = []
    for count in (1, 2):
        with jit.threads(count):
            found.append(Voronoi.of(points))
    for name in ("vertices", "meeting", "beside", "area", "face_position", "distance"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_sites_that_come_later_give_the_same_cells(dim):
    """Of which most stay as they are: so sheets that were missed get sites, and restarts have the same bits."""
    points = uneven_points(dim)
    before, more = points[:-20], points[-20:]
    found = [Voronoi.of(points, 0.3), Voronoi.of_cells(CutCells.of(before, 0.3).with_sites(more))]
    for name in ("vertices", "meeting", "beside", "area", "face_position"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))
    np.testing.assert_array_equal(found[0].ring[1], found[1].ring[1])
    assert len(Voronoi.of(before, 0.3).area) != len(found[0].area)


def one_among(n: int) -> np.ndarray:
    """A site with n others all around it."""
    rng = np.random.default_rng(1)
    way = rng.normal(size=(n, 3))
    return np.concatenate([np.zeros((1, 3)), way * (rng.uniform(0.98, 1.02, n) / np.linalg.norm(way, axis=1))[:, None]])


def test_cells_may_have_many_neighbours():
    """More than there is room for at first; with more still, it is said."""
    points = one_among(70)
    meeting = Voronoi.of(points).meeting
    found = set(map(tuple, meeting[(meeting == 0).any(axis=1)].tolist()))
    assert found == {tuple(sorted(t)) for t in Delaunay(points).simplices.tolist() if 0 in t}
    assert len(found) > ROOM[3]
    with pytest.raises(SolverError, match="neighbours"):
        Voronoi.of(one_among(200))


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_pairs_are_the_faces_of_cells_without_a_mark(dim):
    points = uneven_points(dim)
    marked = points[:, 0] < 0.5
    beside = Voronoi.of(points, 0.3).beside
    np.testing.assert_array_equal(
        CutCells.of(points, 0.3).pairs(marked), beside[:, ~marked[beside[0]] & ~marked[beside[1]]]
    )


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_points_are_in_the_cells_of_their_nearest_sites(dim):
    """Outside the mesh and beside its end too, and wherever the points before them are."""
    sites = uneven_points(dim)
    mesh = Voronoi.of(sites, 0.3)
    points = np.random.default_rng(3).uniform(-0.5, 1.5, (2000, dim))
    nearest = cKDTree(sites).query(points)[1]
    np.testing.assert_array_equal(mesh.locate(points).site, nearest)
    np.testing.assert_array_equal(mesh.locate(points, mesh.locate(points[::-1])).site, nearest)


def test_points_between_two_sites_that_are_all_but_one_are_found():
    """By rounding each cell may send a point to the other: a way without an end would go to and fro."""
    others = np.random.default_rng(1).random((60, 2))
    others = others[np.linalg.norm(others - 0.5, axis=1) > 0.1]
    apart = np.array([2.6e-7, 1.5e-7])
    sites = np.concatenate([others, [0.5 + apart, 0.5 - apart]])
    mesh = Voronoi.of(sites, 0.3)
    way = sites[-1] - sites[-2]
    along = np.random.default_rng(2).uniform(-0.04, 0.04, (200_000, 1))
    points = 0.5 + along * np.array([-apart[1], apart[0]]) / np.linalg.norm(apart)
    for _ in range(3):
        points -= ((points - sites[-2:].mean(axis=0)) @ way / (way @ way))[:, None] * way
    assert (mesh.locate(points).site >= len(others)).all()


@pytest.mark.parametrize("kind", ["refined", "barycentric", "generalised"])
@pytest.mark.parametrize("dim", DIMENSIONS)
def test_fields_have_constants_exactly_and_linear_velocities_nearly(dim, kind):
    mesh = Voronoi.of(np.random.default_rng(2).random((600, dim)))
    everything = np.ones(len(mesh.area), np.bool_), np.ones(len(mesh.cell_volume), np.bool_)
    points = 0.5 + 0.2 * np.random.default_rng(3).uniform(-1.0, 1.0, (500, dim))
    constant = np.arange(1.0, dim + 1.0)
    field = VoronoiField.of(mesh, mesh.face_normal @ constant, *everything, kind)
    np.testing.assert_allclose(field(points), np.tile(constant, (500, 1)), rtol=1e-9)
    G = np.random.default_rng(4).normal(size=(dim, dim))
    u = ((mesh.face_position @ G.T) * mesh.face_normal).sum(axis=1)
    error = np.abs(VoronoiField.of(mesh, u, *everything, kind)(points) - points @ G.T).max()
    without = np.abs(points @ G.T - (points @ G.T).mean(axis=0)).max()  # what a constant would be off
    assert error < (0.2 if kind == "barycentric" else 0.1) * without


def test_a_refined_field_keeps_what_faces_have():
    """Where it is brought back onto the same mesh; between sites alone it is not."""
    mesh = Voronoi.of(np.random.default_rng(2).random((600, 2)))
    u = np.random.default_rng(5).normal(size=len(mesh.area))
    everything = np.ones(len(mesh.area), np.bool_), np.ones(len(mesh.cell_volume), np.bool_)
    inner = (np.abs(mesh.face_position - 0.5) < 0.25).all(axis=1)
    back = {
        kind: (VoronoiField.of(mesh, u, *everything, kind)(mesh.face_position) * mesh.face_normal).sum(axis=1)[inner]
        for kind in ("refined", "barycentric")
    }
    off = {kind: np.abs(values - u[inner]).mean() for kind, values in back.items()}
    assert off["refined"] < 0.1 * off["barycentric"]
