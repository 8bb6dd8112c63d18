"""Lattices of simplices: they fill space, their pressures lie in order, and they do not depend on threads."""

import numpy as np
import pytest

from glug import jit
from glug.grids.tetrahedra.lattice import Box, Grading, Leaves, lattice
from glug.grids.tetrahedra.mesh import Faces, Simplices, Tetrahedra

DIMENSIONS = (2, 3)


def random_leaves(dim: int, seed: int, n: int = 32) -> Leaves:
    """Leaves of up to four sizes, finest at some random cells."""
    rng = np.random.default_rng(seed)
    wanted = np.full((n,) * dim, 3, np.uint8)
    for place in rng.integers(0, n, (rng.integers(1, 12), dim)):
        wanted[tuple(place)] = rng.integers(0, 2)
    return Leaves.balanced(wanted)


def of(leaves: Leaves) -> Tetrahedra:
    return Tetrahedra.build(*lattice(leaves, 1.0, np.zeros(leaves.dim)))


def unflipped(leaves: Leaves) -> tuple[Simplices, Faces]:
    simplices = Simplices.connected(*lattice(leaves, 1.0, np.zeros(leaves.dim)))
    return simplices, Faces.of(simplices, simplices.circumcentres()[0])


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_leaves_that_touch_along_a_side_or_an_edge_differ_by_one_level(dim):
    level = random_leaves(dim, 0).level.astype(int).reshape((32,) * dim)
    assert level.max() >= 2
    for step in np.ndindex((3,) * dim):
        shift = np.array(step) - 1
        if 0 < np.abs(shift).sum() <= 2:
            here = tuple(slice(max(0, -s), 32 - max(0, s)) for s in shift)
            there = tuple(slice(max(0, s), 32 - max(0, -s)) for s in shift)
            assert np.abs(level[here] - level[there]).max() <= 1


def test_a_uniform_lattice_is_the_body_centred_one():
    """Per leaf 12 tetrahedra and 24 faces, all alike (Batty 2010, chapter 5), with barycentres for circumcentres."""
    mesh = Tetrahedra.over(Box(np.zeros(3), (8, 8, 8), 1.0))
    root = np.sqrt(2.0) / 4.0
    assert len(mesh.cell_volume) == 12 * 7 * 8 * 8
    np.testing.assert_allclose(mesh.cell_volume, 1.0 / 12.0)
    np.testing.assert_allclose(mesh.area, root)
    np.testing.assert_allclose(mesh.distance, root)
    middles = mesh.simplices.points[mesh.simplices.corners].mean(axis=1)
    np.testing.assert_allclose(mesh.cell_position, middles, atol=1e-12)


def test_a_uniform_plane_lattice_has_equilateral_triangles():
    mesh = Tetrahedra.over(Box(np.zeros(2), (8, 8), 1.0))
    np.testing.assert_allclose(mesh.area, 1.0)
    np.testing.assert_allclose(mesh.distance, 1.0 / np.sqrt(3.0))


@pytest.mark.parametrize("dim", DIMENSIONS)
@pytest.mark.parametrize("seed", range(20))
def test_no_dual_edge_is_negative_on_random_gradings(dim, seed):
    mesh = of(random_leaves(dim, seed))
    assert mesh.turned == 0
    assert mesh.distance.min() > 0.1


def test_graded_lattices_are_not_delaunays_before_flips():
    """The control: some dual edges of every graded lattice are negative until faces are flipped."""
    for seed in range(5):
        assert unflipped(random_leaves(3, seed))[1].distance.min() < -1e-3


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_flips_and_clusters_keep_the_volume(dim):
    leaves = random_leaves(dim, 1)
    simplices, _ = unflipped(leaves)
    assert of(leaves).cell_volume.sum() == pytest.approx(simplices.circumcentres()[1].sum(), rel=1e-12)


def test_circumcentres_that_coincide_are_one_cell():
    leaves = random_leaves(3, 2)
    mesh = of(leaves)
    apart = unflipped(leaves)[1].distance
    assert (np.abs(apart) < 1e-9).sum() > 100
    assert len(mesh.cell_volume) < len(mesh.simplices.corners)
    inside = np.bincount(mesh.cell_of)
    assert inside.max() > 1


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_neighbours_share_all_corners_but_one_after_flips(dim):
    simplices = of(random_leaves(dim, 3)).simplices
    for t, k in np.argwhere(simplices.across >= 0)[::7]:
        mine, theirs = set(simplices.corners[t]), set(simplices.corners[simplices.across[t, k]])
        assert mine - theirs == {simplices.corners[t, k]}
        assert t in simplices.across[simplices.across[t, k]]


def test_the_mesh_does_not_depend_on_threads():
    leaves = random_leaves(3, 4)
    found = []
    for count in (1, 2):
        with jit.threads(count):
            found.append(of(leaves))
    one, two = found
    for name in ("cell_position", "cell_volume", "beside", "face_position", "face_normal", "area", "distance", "ends"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_barycentres_of_a_graded_lattice_do_not_lie_across_faces():
    """The baseline is not exact for linear pressures."""
    mesh = of(random_leaves(3, 5)).barycentric()
    slope = np.array([0.3, -0.7, 0.4])
    found = (mesh.cell_position[mesh.beside[1]] - mesh.cell_position[mesh.beside[0]]) @ slope / mesh.distance
    assert np.abs(found - mesh.face_normal @ slope).max() > 0.1


def test_leaves_are_finest_around_a_surface():
    box = Box.covering(np.full(3, -1.0), np.full(3, 1.0), 0.125, levels=3)
    ball = lambda points: np.linalg.norm(points, axis=1) - 0.7  # noqa: E731
    leaves = box.leaves([ball], Grading(levels=3, band=1))
    away = np.abs(ball(box.centres().reshape(-1, 3))).reshape(box.shape)
    assert leaves.level[away < 0.125].max() == 0
    assert leaves.level.max() == 2
