"""The fast kernels against matrices assembled from the geometry by the reference, which shares no weight with them.

Pressure: `AreaPressure` from the distances of the liquid and of the solids, wherever they are. Viscosity: liquid and
solid end at planes, so that the exact fractions of control volumes are known. Which samples bear stress and which faces
are unknowns is the fast path's own rule for faces with hardly any mass (the reference drops only what has none), so
those sets are taken from it; all values are the reference's. At walls the reference of the tables weighs with the
volume that is not solid (Batty 2010, chapter 4), while scenes take differences at the cut distance (chapter 3): the
last test takes the differences of `Operators` and cuts them.
"""

from functools import reduce
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from test_projection import GRID, Slope

from glug.geometry.exact_fractions import face_fraction
from glug.geometry.solids.field import LEAST_AREA, SolidField, Walls, sample_solids
from glug.grids.mesh import Fractions, axis_pairs, strain
from glug.grids.operators import Operators, difference
from glug.grids.regular import CENTRE, EDGES, FACES, Offset
from glug.physics.pressure.kernels import LEAST_THETA
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.pressure import AreaPressure, ghost_distance
from glug.physics.reference.viscosity import viscosity_problem
from glug.physics.viscosity.kernels import LEAST_THETA as LEAST_CUT
from glug.physics.viscosity.levels import NEAR_SOLID
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.weights import LEAST_MASS
from glug.solvers.cg import Vector, zeros_like

CLOSE = 1e-5  # of the largest entry
OPERATORS = Operators(GRID)
NOWHERE = Walls((-np.inf,) * 3, (np.inf,) * 3)
DOMAINS = pytest.mark.parametrize("seed", range(8))


def plane(rng: np.random.Generator, low: float, high: float) -> Slope:
    """A tilted plane that passes the middle of the grid between two heights."""
    return Slope(rng.uniform(low, high), tuple(rng.uniform(-0.6, 0.6, 2)))


def liquid(rng: np.random.Generator) -> np.ndarray:
    """The distance of some balls and of a pool."""
    points = GRID.points(CENTRE)
    parts = [np.linalg.norm(points - rng.uniform(0.1, 0.9, 3), axis=-1) - rng.uniform(0.1, 0.35) for _ in range(3)]
    pool = points[..., 1] - rng.uniform(0.3, 1.2)  # above 1 a container is full
    return np.clip(np.minimum.reduce([*parts, pool]), -3 * GRID.dx, 3 * GRID.dx).astype(np.float32)


def flat(fields) -> np.ndarray:
    return np.concatenate([np.asarray(f, dtype=np.float64).ravel() for f in fields])


def agree(found: np.ndarray, exact: np.ndarray) -> bool:
    assert len(found) == len(exact) > 0
    largest = np.abs(exact).max()
    assert largest > 0
    return bool(np.abs(found - exact).max() <= CLOSE * largest)


# -- pressure ------------------------------------------------------------------------------------------------


def pressure_matrix(phi: np.ndarray, solid) -> AreaPressure:
    # Rounded, because whether a face lies in a wall or beside it is not to depend on the last bit.
    area = np.concatenate([face_fraction(GRID, a, lambda p: -np.round(solid(p), 12)) for a in range(3)])
    area[area < LEAST_AREA] = 0.0
    distance = phi.ravel().astype(np.float64)
    wet = (distance < 0) & (np.abs(OPERATORS.D) @ area > 0)
    theta = np.clip(ghost_distance(OPERATORS, distance), LEAST_THETA, 1.0)
    return AreaPressure(OPERATORS, area, wet, theta)


def compare_pressure(phi: np.ndarray, field: SolidField, solid, seed: int) -> bool:
    problem = PressureProblem.build(GRID, phi, field)
    reference = pressure_matrix(phi, solid)
    wet = reference.valid.reshape(GRID.shape)
    assert np.array_equal(wet, problem.liquid > 0)
    d, q = GRID.scalar(), GRID.scalar()
    d[wet] = np.random.default_rng(seed).normal(size=wet.sum())
    problem.system.apply((d,), (q,))
    return agree(q[wet], GRID.dx**2 * (reference.stress_matrix() @ d[wet].astype(np.float64)))


def within(phi: np.ndarray) -> np.ndarray:
    """No liquid at the border of the grid, where it would need a wall."""
    inner = np.full_like(phi, GRID.dx)
    inner[1:-1, 1:-1, 1:-1] = phi[1:-1, 1:-1, 1:-1]
    return inner


@DOMAINS
def test_pressure_matrix_in_a_box_is_that_of_its_geometry(seed):
    rng = np.random.default_rng(seed)
    phi, box = liquid(rng), Walls(tuple(rng.uniform(0.0, 0.09, 3)), tuple(rng.uniform(0.91, 1.0, 3)))

    def solid(p):
        return np.minimum(p - box.lower, np.asarray(box.upper) - p).min(axis=1)

    assert compare_pressure(phi, sample_solids(GRID, box, [], 0.0), solid, seed)


@pytest.mark.parametrize("cells", [(0, 12), (1, 11), (2, 12)])
def test_pressure_in_a_box_on_the_lattice(cells):
    phi, box = liquid(np.random.default_rng(0)), Walls((cells[0] * GRID.dx,) * 3, (cells[1] * GRID.dx,) * 3)

    def solid(p):  # faces on a wall belong to it
        return np.minimum(p - box.lower, np.asarray(box.upper) - p).min(axis=1) - 1e-8

    assert compare_pressure(phi, sample_solids(GRID, box, [], 0.0), solid, 0)


@DOMAINS
def test_pressure_over_a_slope(seed):
    """Without walls: where they meet a solid in a cell the fast path looks closer than its corners."""
    rng = np.random.default_rng(seed)
    phi, slope = liquid(rng), plane(rng, 0.0, 0.3)
    assert compare_pressure(within(phi), sample_solids(GRID, NOWHERE, [slope], 0.0), slope.distance, seed)


def test_a_wall_that_is_moved_by_a_hundredth_of_a_cell_is_noticed():
    """The control."""
    phi = within((GRID.points(CENTRE)[..., 1] - 0.63).astype(np.float32))
    slope, moved = (Slope(0.13 + shift * GRID.dx, (0.3, -0.2)) for shift in (0.0, 0.01))
    field = sample_solids(GRID, NOWHERE, [slope], 0.0)
    assert compare_pressure(phi, field, slope.distance, 0)
    assert not compare_pressure(phi, field, moved.distance, 0)


# -- viscosity -----------------------------------------------------------------------------------------------


def below(slope: Slope, offset: Offset) -> np.ndarray:
    """Exact fraction below a plane of the cubes of side dx around the samples at `offset`.

    The volume of the unit cube where n . x < c, n >= 0, is sum over corners +- (c - n . corner)_+^3 / (6 nx ny nz).
    """
    points = GRID.points(offset).reshape(-1, 3)
    n = np.maximum(np.abs(slope.normal), 1e-5)  # a flat plane would divide by zero; so tilted it is right to 3e-6
    c = 0.5 * n.sum() - slope.distance(points) / GRID.dx
    terms = [(-1) ** sum(corner) * np.maximum(c - n @ corner, 0.0) ** 3 for corner in product((0, 1), repeat=3)]
    return np.clip(reduce(np.add, terms) / (6.0 * n.prod()), 0.0, 1.0)


def deep(offset: Offset) -> np.ndarray:
    """Samples that the border of the grid, where nothing is liquid, does not reach."""
    out = np.zeros(GRID.sample_shape(offset), dtype=bool)
    out[3:-3, 3:-3, 3:-3] = True
    return out


def sampled(plane: Slope) -> np.ndarray:
    return plane.distance(GRID.points(CENTRE).reshape(-1, 3)).reshape(GRID.shape).astype(np.float32)


def liquid_fractions(surface: Slope, problem: ViscosityProblem) -> Fractions:
    """Exact fractions of the samples that the fast path keeps, none of the others."""
    exact = OPERATORS.measure(lambda o: below(surface, o))
    face = np.where(flat(problem.mass) > 0, np.maximum(exact.face, LEAST_MASS), 0.0)
    edges = flat([problem.weights.edges[EDGES.index(o)] for o in OPERATORS.edges]) > 0
    cells = problem.weights.cell.ravel() > 0
    inside = np.concatenate([deep(o).ravel() for o in OPERATORS.edges])
    still = problem.solid.slip is None and not any(s.any() for s in problem.solid_faces)
    if still:  # what is mostly liquid bears stress
        assert cells[deep(CENTRE).ravel() & (exact.cell > 0.5)].all()
        assert edges[inside & (exact.edge > 0.8)].all()
    return Fractions(np.where(cells, exact.cell, 0.0), face, np.where(edges, exact.edge, 0.0))


def applied(problem: ViscosityProblem, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A random vector on the deep unknown faces, and what the kernels make of it."""
    rng, system = np.random.default_rng(seed), problem.system()
    d, q = zeros_like(system), zeros_like(system)
    for a, component in enumerate(d):
        chosen = deep(FACES[a]) & (system.mask[a] > 0)
        component[chosen] = rng.normal(size=chosen.sum())
    system.apply(d, q)
    return flat(d), flat(q)


def deep_faces(mass: Vector) -> np.ndarray:
    return np.concatenate([(deep(o) & (m > 0)).ravel() for o, m in zip(FACES, mass)])


def viscosity_field(diffusion: float, seed: int) -> np.ndarray:
    return (diffusion * np.exp(np.random.default_rng(seed).normal(size=GRID.shape))).astype(np.float32)


@DOMAINS
def test_viscosity_with_a_free_surface(seed):
    surface = plane(np.random.default_rng(seed), 0.4, 0.9)
    field = viscosity_field(10.0 ** (seed % 4 - 1), seed)
    problem = ViscosityProblem.build(GRID, sampled(surface), sample_solids(GRID, NOWHERE, [], 0.0), field)
    fractions = liquid_fractions(surface, problem)
    viscosity = OPERATORS.at_strains(field.astype(np.float64) * GRID.dx**2)
    reference = viscosity_problem(OPERATORS, fractions, Fractions.full(OPERATORS), viscosity)
    d, q = applied(problem, seed)
    exact = np.zeros_like(d)
    exact[reference.moves] = reference.velocity_matrix() @ d[reference.moves]
    chosen = deep_faces(problem.mass)
    assert chosen.sum() > 300
    assert agree(q[chosen], exact[chosen])


def cut_strains(plane: Slope, solid: np.ndarray) -> sparse.csr_matrix:
    """E over the faces that are not solid, differences towards solid ones taken at the plane. Times dx."""
    held = OPERATORS.split(solid, OPERATORS.faces)
    away = [plane.distance(GRID.points(o).reshape(-1, 3)) for o in OPERATORS.faces]

    def cut(a: int, axis: int) -> sparse.csr_matrix:
        rows = difference(GRID, FACES[a], axis) * GRID.dx
        ends = abs(rows)
        stopped = ends @ held[a].ravel() == 1
        near, far = (ends @ np.where(held[a].ravel(), take, other) for take, other in ((0.0, away[a]), (away[a], 0.0)))
        theta = np.where(stopped & (far < 0), np.clip(near / np.where(stopped, near - far, 1.0), LEAST_CUT, 1.0), 1.0)
        return sparse.diags(1.0 / theta) @ rows @ sparse.diags(1.0 - held[a].ravel())

    def row(offset: Offset, parts: dict[int, int]) -> sparse.csr_matrix:
        none = [sparse.csr_matrix((OPERATORS.count(offset), OPERATORS.count(o))) for o in OPERATORS.faces]
        return sparse.hstack([cut(a, parts[a]) if a in parts else none[a] for a in range(3)])

    normal = [row(CENTRE, {a: a}) for a in range(3)]
    shear = [row(edge, {a: b, b: a}) for (a, b), edge in zip(axis_pairs(3), OPERATORS.edges)]
    return sparse.vstack([*normal, *shear], format="csr")


def wall_matrix(surface: Slope, floor: Slope, field: np.ndarray, problem: ViscosityProblem) -> sparse.csr_matrix:
    """M + E' K V E with V = liquid fraction, times the fraction in front of the wall where a face is solid."""
    near = np.concatenate([floor.distance(GRID.points(o).reshape(-1, 3)) <= NEAR_SOLID * GRID.dx for o in FACES])
    area = np.concatenate([face_fraction(GRID, a, lambda p: -np.round(floor.distance(p), 12)) for a in range(3)])
    solid = (near | (area < LEAST_AREA)).astype(float)
    liquid = liquid_fractions(surface, problem)
    front = OPERATORS.measure(lambda o: 1.0 - below(floor, o))
    E = cut_strains(floor, solid)
    touched = abs(strain(OPERATORS)) @ solid > 0
    cells = touched[: 3 * len(liquid.cell)].reshape(3, -1).any(axis=0)
    V = np.concatenate([*[liquid.cell * np.where(cells, front.cell, 1.0)] * 3, liquid.edge])
    V[3 * len(liquid.cell) :] *= np.where(touched[3 * len(liquid.cell) :], front.edge, 1.0)
    at_cells, at_edges = OPERATORS.at_strains(field.astype(np.float64))
    K = np.concatenate([*[2.0 * at_cells] * 3, at_edges])
    return sparse.diags(liquid.face) + E.T @ sparse.diags(K * V) @ E


@DOMAINS
def test_viscosity_at_a_wall(seed):
    rng = np.random.default_rng(seed)
    surface, floor = plane(rng, 0.4, 0.9), plane(rng, 0.0, 0.3)
    field = viscosity_field(10.0 ** (seed % 4 - 1), seed)
    problem = ViscosityProblem.build(GRID, sampled(surface), sample_solids(GRID, NOWHERE, [floor], 0.0), field)
    d, q = applied(problem, seed)
    exact = wall_matrix(surface, floor, field, problem) @ d
    chosen = deep_faces(problem.mass)
    assert agree(q[chosen], exact[chosen])


def test_a_floor_that_is_moved_by_a_hundredth_of_a_cell_is_noticed():
    """The control."""
    surface, floor = Slope(0.7, (0.2, 0.1)), Slope(0.2, (0.3, -0.2))
    moved = Slope(0.2 + 0.01 * GRID.dx, (0.3, -0.2))
    field = viscosity_field(5.0, 0)
    problem = ViscosityProblem.build(GRID, sampled(surface), sample_solids(GRID, NOWHERE, [floor], 0.0), field)
    d, q = applied(problem, 0)
    chosen = deep_faces(problem.mass)
    assert agree(q[chosen], (wall_matrix(surface, floor, field, problem) @ d)[chosen])
    assert not agree(q[chosen], (wall_matrix(surface, moved, field, problem) @ d)[chosen])


@pytest.mark.parametrize("tilt", [(0.3, -0.2), (0.0, 0.55)])
def test_the_exact_fraction_below_a_plane(tilt):
    """The formula of this file, against points."""
    plane, rng = Slope(0.5, tilt), np.random.default_rng(0)
    points = GRID.points(CENTRE).reshape(-1, 3)
    some = rng.choice(np.flatnonzero(np.abs(plane.distance(points)) < 0.5 * GRID.dx), 20)
    inside = [plane.distance(points[i] + GRID.dx * rng.uniform(-0.5, 0.5, (20000, 3))) < 0 for i in some]
    assert below(plane, CENTRE)[some] == pytest.approx(np.mean(inside, axis=1), abs=0.015)
