"""Constraint bubbles and two phases as assembled problems."""

import numpy as np
import pytest
from meshes import MESHES
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Grid
from glug.physics.reference.bubbles import ConstraintPressure, centroid_velocity, two_phase_pressure
from glug.physics.reference.pressure import AreaPressure, ghost_distance
from glug.studies.validate.exactness import Blob

DT, DENSITY = 0.01, 1000.0


class Tank:
    """A tilted-walled tank of liquid with air above it, a bubble with a drop in it and a bubble at a wall."""

    def __init__(self, dim: int, n: int, open_top: bool):
        self.operators = op = Operators(Grid(1.0 / n, (n, n, n if dim == 3 else 1), dim=dim))
        x = op.points(CENTRE)
        phi = x[:, 1] - 0.8
        for centre, radius in ((0.45, 0.2), (0.93, 0.11)):
            middle = np.array([centre, 0.4, 0.5])[:dim]
            phi = np.maximum(phi, radius - np.linalg.norm(x - middle, axis=1))
        drop = np.linalg.norm(x - np.array([0.45, 0.4, 0.5])[:dim], axis=1) - 0.1
        self.phi = np.minimum(phi, drop)
        area = []
        for a, offset in enumerate(op.faces):
            p = op.points(offset)
            wall = np.minimum(p[:, 0] - 0.06 - 0.2 * p[:, 1], 1.0 - p[:, 0])
            share = np.clip(0.5 + wall * n, 0.0, 1.0)
            share[p[:, 1] < 1e-9] = 0.0
            share[(np.abs(p[:, a] - 0.5) > 0.5 - 1e-9) & ~((a == 1) & (p[:, 1] > 0.5) & open_top)] = 0.0
            area.append(share)
        self.area = np.concatenate(area)
        self.cells = np.abs(op.D.T).T @ self.area > 0
        self.wet = (self.phi < 0) & self.cells
        self.theta = ghost_distance(op, self.phi)
        self.bubble = self._bubbles(open_top)

    def _bubbles(self, open_top: bool) -> np.ndarray:
        D = self.operators.D.tocsr()
        air = np.flatnonzero(self.cells & ~self.wet)
        inner = D[air] @ sparse.diags(self.area)
        count, label = connected_components(abs(inner) @ abs(inner).T, directed=False)
        # Every part but the one at the top, when that is open.
        top = label[np.argmax(self.operators.points(CENTRE)[air, 1])]
        kept = [c for c in range(count) if not (open_top and c == top)]
        number = np.full(count, -1)
        number[kept] = np.arange(len(kept))
        out = np.full(len(self.phi), -1)
        out[air] = number[label]
        return out

    def problem(self, bubble: np.ndarray | None = None) -> ConstraintPressure:
        bubble = self.bubble if bubble is None else bubble
        return ConstraintPressure(self.operators, self.area, self.wet, bubble, self.theta, density=DENSITY, dt=DT)

    def velocity(self, seed: int = 0) -> np.ndarray:
        return np.random.default_rng(seed).normal(size=len(self.area))

    def flux(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Net outflow of every bubble and what passes its surface either way."""
        open_flux = self.operators.D @ sparse.diags(self.area * u)
        members = sparse.csr_matrix(np.eye(self.bubble.max() + 1)[self.bubble] * (self.bubble >= 0)[:, None])
        through = members.T @ open_flux
        return np.asarray(through.sum(axis=1)).ravel(), np.asarray(abs(through).sum(axis=1)).ravel()


def merged_poisson(tank: Tank, u: np.ndarray) -> np.ndarray:
    """Pressures of the liquid cells and then of the bubbles, from a Poisson matrix made face by face."""
    op, n = tank.operators, len(tank.wet)
    number = np.full(n + 1, -1)
    number[:n][tank.wet] = np.arange(tank.wet.sum())
    members = tank.bubble >= 0
    number[:n][members] = tank.wet.sum() + tank.bubble[members]
    total = int(number.max()) + 1
    A, b = np.zeros((total, total)), np.zeros(total)
    D = op.D.tocsc()
    dry = ~np.append(tank.wet, False)
    for face in range(D.shape[1]):
        cells, signs = D.indices[D.indptr[face] : D.indptr[face + 1]], D.data[D.indptr[face] : D.indptr[face + 1]]
        if tank.area[face] == 0.0:
            continue
        if dry[cells].all():
            assert not np.ptp(number[cells]) or (number[cells] < 0).any()  # within a bubble, or outside
            continue
        k = DT / DENSITY * tank.area[face] / tank.theta[face] / op.grid.dx**2
        for cell, sign in zip(cells, signs):
            if number[cell] >= 0:
                b[number[cell]] -= sign * tank.area[face] * u[face]
                A[number[cell], number[cell]] += k
                for other in cells[cells != cell]:
                    if number[other] >= 0:
                        A[number[cell], number[other]] -= k
    return splu(sparse.csc_matrix(A)).solve(b)


@pytest.mark.parametrize("dim, n", [(2, 32), (3, 14)])
def test_equals_poisson_with_merged_air_cells(dim: int, n: int):
    tank = Tank(dim, n, open_top=True)
    assert tank.bubble.max() == 1  # the bubble around the drop, and the one at the wall
    u = tank.velocity()
    solution = tank.problem().solve(u)
    expected = merged_poisson(tank, u)
    ours = np.concatenate([solution.s[: len(tank.wet)][tank.wet], solution["bubble"]])
    assert np.abs(ours - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("dim, n", [(2, 32), (3, 14)])
@pytest.mark.parametrize("open_top", [True, False])
def test_every_bubble_keeps_its_volume(dim: int, n: int, open_top: bool):
    tank = Tank(dim, n, open_top)
    assert tank.bubble.max() == (1 if open_top else 2)
    net, through = tank.flux(tank.problem().solve(tank.velocity()).u)
    assert (np.abs(net) <= 1e-8 * through).all()
    net, through = tank.flux(AreaPressure(tank.operators, tank.area, tank.wet, tank.theta).solve(tank.velocity()).u)
    assert (np.abs(net) >= 1e-2 * through).any()  # without bubbles, volumes change


def test_eliminated_and_whole_system_agree():
    tank = Tank(2, 24, open_top=True)
    problem = tank.problem()
    one, other = (problem.solve(tank.velocity(), form=form).u for form in ("stress", "kkt"))
    assert np.abs(one - other).max() <= 1e-9 * np.abs(other).max()


@pytest.mark.parametrize("dim, n", [(2, 32), (3, 14)])
def test_without_bubbles_it_is_the_free_surface(dim: int, n: int):
    tank = Tank(dim, n, open_top=True)
    u = tank.velocity()
    free = AreaPressure(tank.operators, tank.area, tank.wet, tank.theta, density=DENSITY, dt=DT).solve(u)
    none = tank.problem(np.full_like(tank.bubble, -1)).solve(u)
    np.testing.assert_array_equal(none.u, free.u)
    np.testing.assert_array_equal(none["p"], free["p"])


def test_a_dry_cavity_is_left_out():
    tank = Tank(2, 32, open_top=True)
    cavity = tank.bubble.copy()
    dry = ~tank.cells
    cavity[dry] = tank.bubble.max() + 1  # cells inside solids: no open face
    u = tank.velocity()
    np.testing.assert_allclose(tank.problem(cavity).solve(u).u, tank.problem().solve(u).u, atol=1e-12)


@pytest.mark.parametrize("dim, n", [(2, 32), (3, 12)])
def test_two_phases_are_symmetric_and_leave_equal_densities_at_rest(dim: int, n: int):
    tank = Tank(dim, n, open_top=False)
    op = tank.operators
    fall = np.concatenate([np.full(op.count(o), -1.0 if a == 1 else 0.0) for a, o in enumerate(op.faces)])

    def project(air: float) -> tuple[np.ndarray, AreaPressure]:
        problem = two_phase_pressure(op, tank.area, tank.phi, tank.cells, density=DENSITY, air_density=air, dt=DT)
        return problem.solve(fall).u, problem

    u, _ = project(DENSITY)
    assert np.abs(u[tank.area > 0]).max() <= 1e-10
    u, problem = project(1.0)
    matrix = problem.stress_matrix()
    assert abs(matrix - matrix.T).max() <= 1e-14 * abs(matrix).max()
    assert np.abs(u[tank.area > 0]).max() > 0.1  # a light bubble does not rest


@pytest.mark.parametrize("name", ["stretched", "quadtree", "triangles"])
def test_on_every_mesh_a_bubble_keeps_its_volume_and_two_phases_rise(name: str):
    """A disc of air in a wavy container full of liquid."""

    def liquid(points: np.ndarray) -> np.ndarray:
        return 0.4 - np.linalg.norm(points - 0.1, axis=1)

    mesh = MESHES[name](Blob(), liquid)
    area, phi = mesh.open_area(Blob()), liquid(mesh.cell_position)
    cells = np.abs(mesh.D) @ area > 0
    bubble = np.where(phi < 0, -1, 0)
    u = np.random.default_rng(0).normal(size=len(area))
    problem = ConstraintPressure(mesh, area, cells & (phi < 0), bubble, ghost_distance(mesh, phi))
    flow = mesh.cell_volume[phi >= 0] @ mesh.D[phi >= 0] * area  # out of the bubble
    flow[np.abs(flow) < 1e-12] = 0.0
    found = problem.solve(u).u
    assert abs(flow @ found) < 1e-10 * np.abs(flow * found).sum()
    assert abs(flow @ u) > 1e-3 * np.abs(flow * u).sum()
    fall = -mesh.face_normal[:, 1]
    rise = []
    for air in (DENSITY, 1.0):
        both = two_phase_pressure(mesh, area, phi, cells, density=DENSITY, air_density=air)
        rise.append(centroid_velocity(mesh, area, (phi >= 0) & cells, both.solve(fall).u)[1])
    assert abs(rise[0]) < 1e-10
    assert rise[1] > 0.5  # of the gravity; 1 in infinite liquid
