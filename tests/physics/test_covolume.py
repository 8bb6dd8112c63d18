"""Pressure on simplices: the fast projection equals the assembled one, whatever cuts the mesh, on any threads."""

import numpy as np
import pytest

from glug import jit
from glug.grids.tetrahedra.lattice import Box, Grading
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.physics.covolume.projection import CovolumeProblem, EmbeddedGeometry, Incidence
from glug.physics.reference.covolume import embedded_pressure
from glug.solvers.limits import SolveLimits

LIMITS = SolveLimits(1e-6, 1000)
DIMENSIONS = (2, 3)


def wavy(points: np.ndarray) -> np.ndarray:
    return points[:, 1] - 0.4 - 0.07 * np.sin(7.0 * points[:, 0])


def room(points: np.ndarray) -> np.ndarray:
    """Negative where a box with a ball in it is open."""
    box = np.abs(points - 0.5).max(axis=1) - 0.4937
    ball = 0.2 - np.linalg.norm(points - 0.45, axis=1)
    return np.maximum(box, ball)


def meshes(dim: int, levels: int = 2) -> Tetrahedra:
    box = Box.covering(np.full(dim, -0.1), np.full(dim, 1.1), 1.0 / {2: 16, 3: 9}[dim], levels)
    return Tetrahedra.over(box, box.leaves([wavy], Grading(levels, 2)))


def problem(mesh: Tetrahedra, liquid=wavy, wall: np.ndarray | None = None) -> CovolumeProblem:
    phi = np.full(len(mesh.cell_volume), -1.0) if liquid is None else liquid(mesh.cell_position)
    geometry = EmbeddedGeometry(phi, -room(mesh.simplices.points))
    wall = np.zeros(len(mesh.area)) if wall is None else wall
    given = geometry.surface(mesh), geometry.open_parts(mesh), wall, geometry.ghosts(mesh)
    return CovolumeProblem.build(mesh, Incidence.of(mesh), *given)


def start(mesh: Tetrahedra) -> np.ndarray:
    x = mesh.face_position
    return mesh.face_normal[:, 0] * np.sin(9.0 * x[:, 1]) - mesh.face_normal[:, 1] * (1.0 + x[:, 0] ** 2)


@pytest.mark.parametrize("solver", ["multigrid", "jacobi-cg", "direct", "amg"])
@pytest.mark.parametrize("dim", DIMENSIONS)
def test_the_fast_projection_is_the_assembled_one(dim, solver):
    """With a surface, and a ball that moves: every solver."""
    mesh = meshes(dim)
    wall = 0.3 * mesh.face_normal[:, 0] * (np.abs(mesh.face_position - 0.45).max(axis=1) < 0.3)
    fast, u = problem(mesh, wall=wall), start(mesh)
    _, stats = fast.project(u, LIMITS, solver)
    slow = embedded_pressure(mesh, wavy, room)
    exact = slow.solve(start(mesh), u_wall=wall)
    same = slow.moves & (fast.link > 0.0)
    assert same.sum() > 0.99 * slow.moves.sum()
    assert stats.converged or solver == "amg"
    assert np.abs(u - exact.u)[same].max() < 3e-4 * np.abs(start(mesh)).max()


def test_without_ghost_distances_it_is_another():
    """The control of the test above."""
    mesh = meshes(2)
    u = start(mesh)
    problem(mesh).project(u, LIMITS, "direct")
    other = embedded_pressure(mesh, wavy, room, surface="none").solve(start(mesh)).u
    assert np.abs(u - other)[problem(mesh).link > 0.0].max() > 0.05


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_closed_liquid_loses_its_mean_only(dim):
    """A ball that grows in a closed box: the rest of the divergence goes, its mean cannot."""
    mesh = meshes(dim)
    wall = 0.2 * np.sign(((mesh.face_position - 0.45) * mesh.face_normal).sum(axis=1))
    wall *= np.abs(mesh.face_position - 0.45).max(axis=1) < 0.3
    closed, u = problem(mesh, None, wall), start(mesh)
    assert (closed.closed_parts == 0).all()
    _, stats = closed.project(u, LIMITS, "multigrid")
    assert stats.converged
    assert np.abs(closed.right_side(u)).max() < 1e-5 * np.abs(closed.right_side(start(mesh))).max()


def test_multigrid_takes_few_iterations_on_any_size_and_grading():
    found = []
    for n, levels in ((8, 1), (16, 1), (16, 3)):
        box = Box.covering(np.full(3, -0.1), np.full(3, 1.1), 1.0 / n, levels)
        mesh = Tetrahedra.over(box, box.leaves([wavy], Grading(levels, 2)))
        u = start(mesh)
        _, stats = problem(mesh).project(u, LIMITS)
        assert stats.converged
        found.append(stats.iterations)
    assert max(found) <= 14


def test_the_projection_does_not_depend_on_threads():
    mesh = meshes(3)
    found = []
    for count in (1, 2):
        with jit.threads(count):
            u = start(mesh)
            problem(mesh).project(u, LIMITS)
            found.append(u)
    assert np.array_equal(*found)


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_liquid_rests_over_a_ball_and_below_a_level(dim):
    mesh = meshes(dim)
    level = lambda points: points[:, 1] - 0.61234  # noqa: E731
    still = problem(mesh, level)
    u = -mesh.face_normal[:, 1].copy()
    still.project(u, SolveLimits(1e-7, 1000), "direct")
    assert np.abs(u[still.link > 0.0]).max() < 1e-5


class TestSurfaceBesideAPressure:
    """A level surface just above a pressure of an irregular mesh."""

    LEVELS = (0.05, 2e-3, 9e-4, 1e-5, 1e-9)  # of the distance between pressures, above it

    def moved(self, above: float, bounded: bool) -> float:
        """How much of g dt a pool at rest moves by; `bounded` ghost distances are the control."""
        box = Box.covering(np.full(2, -0.1), np.full(2, 1.1), 1.0 / 16, 1)
        mesh = Tetrahedra.over(box).irregular(0.2 / 16, 5)
        middle = np.linalg.norm(mesh.cell_position - np.array([0.5, 0.6]), axis=1).argmin()
        phi = mesh.cell_position[:, 1] - mesh.cell_position[middle, 1] - above * np.median(mesh.distance)
        points = mesh.simplices.points
        geometry = EmbeddedGeometry(phi, np.minimum(points, 1.0 - points).min(axis=1))
        surface, theta = geometry.surface(mesh), geometry.ghosts(mesh)
        if bounded:
            (a, b), cut = phi[mesh.beside], np.diff(phi[mesh.beside] < 0.0, axis=0)[0]
            low, high = np.minimum(a, b), np.maximum(a, b)
            surface, theta = phi, np.where(cut, np.maximum(low / np.where(cut, low - high, 1.0), 1e-3), 1.0)
        given = surface, geometry.open_parts(mesh), np.zeros(len(mesh.area)), theta
        problem = CovolumeProblem.build(mesh, Incidence.of(mesh), *given)
        u = -mesh.face_normal[:, 1]
        problem.project(u, LIMITS, "direct")
        return float(np.abs(u[problem.link > 0.0]).max())

    @pytest.mark.parametrize("above", LEVELS)
    def test_liquid_rests(self, above):
        assert self.moved(above, bounded=False) < 1e-9

    def test_a_bound_on_ghost_distances_moves_it_however_small(self):
        assert self.moved(1e-5, bounded=True) > 0.05
