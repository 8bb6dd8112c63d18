"""Rigid bodies in the reference projection: added mass, rest, energy, and the mass matrix."""

import numpy as np
import pytest
from meshes import MESHES

from glug.geometry.exact_fractions import ball_fraction, face_fraction, function_fraction
from glug.grids.mesh import Fractions
from glug.grids.operators import Operators
from glug.grids.regular import Grid
from glug.physics.reference.pressure import AreaPressure
from glug.physics.reference.rigid import Body, RigidPressure
from glug.studies.validate.exactness import Blob, area_pressure, fractions

INNER, OUTER = 0.4, 1.0  # radii of the cylinders [m]
ADDED = (OUTER**2 + INNER**2) / (OUTER**2 - INNER**2)  # mass of liquid that moves along, over that displaced (Lamb, 77)


def concentric(cells: int, density: float = 1.0) -> RigidPressure:
    """A cylinder in a cylinder full of liquid of density 1, with fractions of volume as in the thesis."""
    grid = Grid(2.4 / cells, (cells, cells, 1), origin=(-1.2, -1.2, 0.0), dim=2)
    operators = Operators(grid)
    inner, outer = (np.concatenate([ball_fraction(grid, o, r) for o in operators.faces]) for r in (INNER, OUTER))
    problem = AreaPressure(operators, outer - inner, np.ones(grid.cells, bool))
    return RigidPressure(problem, [Body.at(operators, inner, density)])


def box(phi, density: float, cells: int = 24, dim: int = 2, dt: float = 0.1) -> RigidPressure:
    """A body in a closed box full of liquid of density 1; the walls are grid lines."""
    grid = Grid(1.0 / cells, (cells, cells, cells if dim == 3 else 1), dim=dim)
    operators = Operators(grid)
    open_ = np.concatenate([np.ones(operators.count(o)) for o in operators.faces])
    wall = np.concatenate(
        [((p[:, a] < 1e-9) | (p[:, a] > 1 - 1e-9)) for a, p in enumerate(map(operators.points, operators.faces))]
    )
    open_[wall] = 0.0
    if dim == 2:
        closed = np.concatenate([face_fraction(grid, a, phi) for a in (0, 1)])
    else:
        closed = np.concatenate([function_fraction(grid, o, phi, parts=4) for o in operators.faces])
    problem = AreaPressure(operators, open_ - closed, np.ones(grid.cells, bool), dt=dt)
    return RigidPressure(problem, [Body.at(operators, closed, density)])


def tilted_square(points: np.ndarray) -> np.ndarray:
    c, s = np.cos(0.4), np.sin(0.4)
    x, y = (points - [0.52, 0.47]).T
    return np.maximum(abs(c * x + s * y) - 0.22, abs(c * y - s * x) - 0.13)


def ball(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points - [0.5, 0.45, 0.55], axis=1) - 0.28


@pytest.mark.parametrize(("cells", "error"), [(32, 0.01), (64, 0.003)])
@pytest.mark.parametrize("density", [1.0, 0.1])
def test_added_mass_of_a_cylinder_in_a_cylinder(cells: int, error: float, density: float) -> None:
    coupled = concentric(cells, density)
    _, (v,), _ = coupled.solve(np.zeros(len(coupled.problem.moves)), [np.array([1.0, 0.0, 0.0])])
    added = density * (1.0 / v[0] - 1.0)
    assert added == pytest.approx(ADDED, rel=error)
    assert abs(v[1]) < 1e-12
    assert abs(v[2]) < 1e-12


def test_a_turning_cylinder_feels_no_liquid() -> None:
    coupled = concentric(32)
    _, (v,), _ = coupled.solve(np.zeros(len(coupled.problem.moves)), [np.array([0.0, 0.0, 1.0])])
    assert v[2] == pytest.approx(1.0, abs=2e-3)  # to what the fractions see of the circle


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("density", [1.0, 1.1])
def test_only_a_body_as_heavy_as_the_liquid_rests(dim: int, density: float) -> None:
    coupled = box(tilted_square if dim == 2 else ball, density, cells=24 if dim == 2 else 12, dim=dim)
    fall = -9.81 * coupled.problem.dt
    v = np.zeros(coupled.bodies[0].R.shape[1])
    v[1] = fall
    u, (v,), _ = coupled.solve(fall * coupled.problem.rows.mesh.face_normal[:, 1], [v])
    speed = max(np.abs(u[coupled.problem.moves]).max(), np.abs(v).max())
    assert (speed < 1e-10) == (density == 1.0)
    assert density == 1.0 or v[1] < -1e-3


def test_kinetic_energy_never_increases() -> None:
    rng = np.random.default_rng(0)
    for density in (0.01, 0.1, 1.0, 10.0):
        coupled = box(tilted_square, density)
        for _ in range(3):
            u, v = rng.normal(size=len(coupled.problem.moves)), [rng.normal(size=3)]
            after = coupled.solve(u, v)[:2]
            assert coupled.energy(*after) < coupled.energy(u, v)
            again = coupled.solve(*after)[:2]
            assert coupled.energy(*again) == pytest.approx(coupled.energy(*after), rel=1e-9)


def test_mass_and_centre_are_those_of_the_body() -> None:
    coupled = box(tilted_square, density=2.0, cells=64)
    mass = coupled.bodies[0].mass / 64**2
    assert mass[0, 0] == pytest.approx(2.0 * 0.44 * 0.26, rel=0.01)
    assert mass[2, 2] == pytest.approx(2.0 * 0.44 * 0.26 * (0.44**2 + 0.26**2) / 12.0, rel=0.02)
    assert np.abs(mass[0, 2]) < 1e-4


@pytest.mark.parametrize("name", ["stretched", "quadtree", "triangles"])
@pytest.mark.parametrize("density", [1.0, 1.1])
def test_on_every_mesh_only_a_body_as_heavy_as_the_liquid_rests(name: str, density: float) -> None:
    """In a wavy container, which the surface of the body does not touch."""

    def body(points: np.ndarray) -> np.ndarray:
        return tilted_square(points + 0.5)

    mesh = MESHES[name](Blob(), body)
    inside = fractions(mesh, Blob())
    problem = area_pressure(mesh, Fractions.full(mesh), inside)
    closed = mesh.open_area(body)
    problem = AreaPressure(mesh, problem.fluid_face - closed, problem.rows.liquid > 0, dt=0.1)
    coupled = RigidPressure(problem, [Body.at(mesh, closed, density)])
    fall = -9.81 * problem.dt * np.array([0.6, 0.8])
    u, (v,), _ = coupled.solve(mesh.face_normal @ fall, [np.append(fall, 0.0)])
    speed = max(np.abs(u[problem.moves]).max(), np.abs(v).max())
    assert (speed < 1e-10) == (density == 1.0)
