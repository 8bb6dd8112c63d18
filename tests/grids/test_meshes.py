"""What a mesh must supply, on all meshes: exact gradients, strains and interpolation, and volumes that fit together."""

import numpy as np
import pytest
from meshes import EVERY_MESH, GRIDS, MESHES, SIMPLICES, TREES, WITH_STRAINS
from stretched import Stretched

from glug.grids.mesh import (
    Fractions,
    Mesh,
    StrainMesh,
    face_velocities,
    gradient,
    shear_strains,
    strain,
    transfer,
    velocity_at,
)
from glug.grids.octree.operators import OctreeOperators
from glug.grids.octree.transfer import to_regular
from glug.grids.octree.tree import Octree
from glug.physics.reference.pressure import AreaPressure, ghost_distance
from glug.studies.validate.exactness import Blob, area_pressure, fractions, left_of_gravity, rigid
from glug.studies.validate.tables.octree import LEVELS, base_tree

SLOPE = np.array([0.3, -0.7, 0.4])
INSIDE = 0.9  # [m]: no sample so near to the origin has the border beside it, or a leaf there


@pytest.fixture(params=EVERY_MESH)
def mesh(request) -> Mesh:
    return MESHES[request.param](Blob(radius=0.6))


@pytest.fixture(params=WITH_STRAINS)
def strain_mesh(request) -> StrainMesh:
    return MESHES[request.param](Blob(radius=0.6))


def within(position: np.ndarray) -> np.ndarray:
    return np.abs(position).max(axis=1) < INSIDE


def linear(points: np.ndarray) -> np.ndarray:
    """A velocity with all gradients."""
    slope = np.array([[0.2, -0.5, 0.1], [0.7, 0.4, -0.3], [-0.6, 0.9, -0.6]])
    return 0.3 + points @ slope[: points.shape[1], : points.shape[1]]


def test_linear_pressures_have_exact_gradients(mesh):
    slope = SLOPE[: mesh.dim]
    off = gradient(mesh) @ (mesh.cell_position @ slope) - mesh.face_normal @ slope
    assert np.abs(off[within(mesh.face_position)]).max() < 1e-12


def test_strains_of_linear_velocities_are_exact(strain_mesh):
    mesh = strain_mesh
    u, n = face_velocities(mesh, linear), len(mesh.cell_volume)
    slope = (linear(np.eye(mesh.dim)) - linear(np.zeros((1, mesh.dim)))).T  # d u_a / d x_b
    exact = [np.full(n, slope[a, a]) for a in range(mesh.dim)]
    pairs = [(a, b) for a in range(mesh.dim) for b in range(a + 1, mesh.dim)]
    exact += [np.full(rows.shape[0], slope[a, b] + slope[b, a]) for (a, b), rows in zip(pairs, shear_strains(mesh))]
    position = np.concatenate([*[mesh.cell_position] * mesh.dim, mesh.edge_position])
    assert np.abs(strain(mesh) @ u - np.concatenate(exact))[within(position)].max() < 1e-12


def test_what_leaves_a_cell_enters_its_neighbour(mesh):
    flow = mesh.cell_volume @ mesh.D
    assert np.abs(flow[within(mesh.face_position)]).max() < 1e-14


@pytest.mark.parametrize("name", [*GRIDS, *SIMPLICES])
def test_rigid_motion_has_no_divergence(name):
    mesh = MESHES[name]()
    assert np.abs((mesh.D @ face_velocities(mesh, rigid))[within(mesh.cell_position)]).max() < 1e-12


@pytest.mark.parametrize("name", GRIDS)
def test_uniform_stress_has_no_force(name):
    mesh = MESHES[name]()
    assert np.abs(force_of_uniform_stress(mesh)[within(mesh.face_position)]).max() < 1e-12


@pytest.mark.parametrize("name", TREES)
def test_on_trees_they_have_next_to_other_levels_only(name):
    mesh = MESHES[name](Blob(radius=0.6))
    divergence = np.abs(mesh.D @ face_velocities(mesh, rigid))[within(mesh.cell_position)]
    force = np.abs(force_of_uniform_stress(mesh))[within(mesh.face_position)]
    spin = 1.0 if mesh.dim == 2 else np.abs([0.4, -0.2, 1.0]).sum()  # of `rigid` [rad/s]
    assert 0.25 * spin < divergence.max() < 0.51 * spin
    assert np.median(divergence) < 1e-12
    assert force.max() > 0.1
    assert np.median(force) < 1e-12


def force_of_uniform_stress(mesh: StrainMesh) -> np.ndarray:
    """Per volume [N/m3]."""
    normal = [np.full(len(mesh.cell_volume), s) for s in (0.9, -0.9, 0.3)[: mesh.dim]]
    volume = np.concatenate([*[mesh.cell_volume] * mesh.dim, mesh.edge_volume])
    stress = np.concatenate([*normal, np.full(len(mesh.edge_volume), 0.4)])
    return strain(mesh).T @ (volume * stress) / mesh.face_volume


def test_fractions_add_up_to_the_blob_and_are_whole_where_nothing_is_cut(mesh):
    blob = Blob(radius=0.6)
    part = mesh.fractions(blob)
    fine = np.linspace(-0.99, 0.99, 100)
    points = np.stack(np.meshgrid(*[fine] * mesh.dim), axis=-1).reshape(-1, mesh.dim)
    exact = (blob(points) < 0).mean() * 2.0**mesh.dim
    assert part.cell @ mesh.cell_volume == pytest.approx(exact, rel=0.015)
    assert part.face @ mesh.face_volume == pytest.approx(mesh.dim * exact, rel=0.015)
    for fraction, position in ((part.cell, mesh.cell_position), (part.face, mesh.face_position)):
        far = np.abs(blob(position)) > 0.5
        assert np.array_equal(fraction[far], (blob(position) < 0)[far])


def plane(points: np.ndarray) -> np.ndarray:
    return points @ SLOPE[: points.shape[1]] / np.linalg.norm(SLOPE[: points.shape[1]]) - 0.0123


@pytest.mark.parametrize("name", EVERY_MESH)
def test_open_areas_are_exact_for_planes(name):
    """In a cell that a plane cuts the open areas balance the plane's own: sum A n = -A_plane n_plane."""
    mesh = MESHES[name](plane)
    area = mesh.open_area(plane)
    normal = SLOPE[: mesh.dim]
    inside = within(mesh.cell_position)
    for tangent in np.linalg.svd(normal[None])[2][1:]:
        assert np.abs((mesh.D @ (area * (mesh.face_normal @ tangent)))[inside]).max() < 1e-10


def test_the_distance_to_a_plane_surface_makes_its_pressure_exact(mesh):
    """Where one face has several pressures on a side too, that the surface divides."""
    slope = SLOPE[: mesh.dim] / np.linalg.norm(SLOPE[: mesh.dim])
    phi = plane(mesh.cell_position)
    theta = ghost_distance(mesh, phi)
    pull = gradient(mesh) @ np.where(phi < 0, phi, 0.0) / theta
    wet = (np.abs(mesh.D.T) @ (phi < 0).astype(float) > 0) & within(mesh.face_position)
    assert np.abs(pull - mesh.face_normal @ slope)[wet].max() < 1e-9


def test_uniform_velocities_between_the_faces(mesh):
    points, uniform = np.random.default_rng(0).uniform(-INSIDE, INSIDE, (200, mesh.dim)), SLOPE[: mesh.dim]
    assert np.abs(velocity_at(mesh, points, mesh.face_normal @ uniform) - uniform).max() < 1e-12


def test_linear_velocities_between_the_faces(strain_mesh):
    points = np.random.default_rng(0).uniform(-INSIDE, INSIDE, (200, strain_mesh.dim))
    found = velocity_at(strain_mesh, points, face_velocities(strain_mesh, linear))
    assert np.abs(found - linear(points)).max() < 1e-12


def test_particles_give_the_faces_their_momentum(strain_mesh):
    mesh = strain_mesh
    rng = np.random.default_rng(0)
    points = rng.uniform(-INSIDE, INSIDE, (500, mesh.dim))
    mass, velocity = rng.uniform(0.5, 2.0, 500), rng.normal(size=points.shape)
    u, held = transfer(mesh, points, velocity, mass)
    momentum = (held * u) @ mesh.face_normal
    assert momentum == pytest.approx(mass @ velocity, rel=1e-12)
    uniform, held = transfer(mesh, points, np.broadcast_to(SLOPE[: mesh.dim], points.shape), mass)
    assert np.abs(uniform - mesh.face_normal @ SLOPE[: mesh.dim])[held > 0].max() < 1e-12


# -- controls ------------------------------------------------------------------------------------------------


class EqualVolumes(Stretched):
    """As if the faces of a stretched grid were those of a regular one."""

    @property
    def face_volume(self) -> np.ndarray:
        return np.full_like(super().face_volume, super().face_volume.mean())


def test_wrong_control_volumes_set_resting_liquid_in_motion():
    for make, rests in ((Stretched, True), (EqualVolumes, False)):
        mesh = make(Stretched.random(32).lines)
        moved = left_of_gravity(area_pressure(mesh, Fractions.full(mesh), fractions(mesh, Blob())), (0.6, -0.8))
        assert moved < 1e-12 if rests else moved > 0.1


# -- the pressure of trees -----------------------------------------------------------------------------------


def graded(dim: int, n: int) -> OctreeOperators:
    """The tree of the published tables in a closed box of side pi: its border is the wall."""
    level = base_tree(dim)
    for axis in range(dim):
        level = np.repeat(level, n // level.shape[axis], axis=axis)
    return OctreeOperators(Octree(np.ascontiguousarray(level), LEVELS[dim], dim), dx=np.pi / n)


def projection_errors(mesh: Mesh) -> np.ndarray:
    """Largest and mean error of pressure and velocity, of a vortex and the gradient of a product of cosines."""

    def vortex(points: np.ndarray) -> np.ndarray:
        s, c = np.sin(points), np.cos(points)
        both = np.prod(c[:, 2:], axis=1)
        return np.stack([s[:, 0] * c[:, 1] * both, -c[:, 0] * s[:, 1] * both, 0 * both], axis=1)[:, : mesh.dim]

    def slope(points: np.ndarray) -> np.ndarray:
        s, c = np.sin(points), np.cos(points)
        return np.stack([-s[:, a] * np.prod(np.delete(c, a, axis=1), axis=1) for a in range(mesh.dim)], axis=1)

    exact = face_velocities(mesh, vortex)
    problem = AreaPressure(mesh, np.ones(len(exact)), np.ones(len(mesh.cell_volume), bool))
    solution = problem.solve(exact + face_velocities(mesh, slope))
    p = solution["p"] - np.prod(np.cos(mesh.cell_position), axis=1)
    p = np.abs(p - mesh.cell_volume @ p / mesh.cell_volume.sum())
    u = np.abs(solution.u - exact)
    return np.array([p.max(), mesh.cell_volume @ p, u.max(), mesh.face_volume @ u])


@pytest.mark.parametrize(("dim", "n"), [(2, 64), (3, 16)])
def test_the_pressure_of_a_graded_tree_is_of_second_order_and_its_velocity_at_jumps_of_first(dim, n):
    coarse, fine = (projection_errors(graded(dim, m)) for m in (n, 2 * n))
    order = np.log2(coarse / fine)
    assert order[[0, 1, 3]].min() > 1.85
    assert 0.9 < order[2] < 1.1


def test_the_interpolation_of_a_tree_is_its_transfer_to_the_regular_grid():
    mesh = MESHES["octree"](Blob(radius=0.6))
    values = np.random.default_rng(0).normal(size=mesh.faces.count).astype(np.float32)
    lattice = tuple(np.zeros([n + (a == b) for b, n in enumerate(mesh.tree.shape)], np.float32) for a in range(3))
    to_regular(mesh.tree, mesh.faces.place, values, lattice)
    root = 1 << (mesh.tree.levels - 1)
    for a, field in enumerate(lattice):
        index = np.argwhere(np.ones_like(field))
        place = mesh.corner + mesh.dx * (index + np.where(np.arange(3) == a, 0.0, 0.5))
        deep = ((index > root) & (index < np.array(field.shape) - root - 1)).all(axis=1)
        found = velocity_at(mesh, place[deep], values)[:, a]
        assert np.abs(found - field[tuple(index[deep].T)]).max() < 1e-5
