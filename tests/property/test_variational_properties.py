"""The assembled problems on any blob in any container, anywhere on any mesh."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stretched import Stretched

from glug.grids.mesh import Fractions, axis_pairs, gradient, strain
from glug.grids.operators import difference
from glug.grids.regular import CENTRE
from glug.physics.reference.pressure import volume_pressure
from glug.physics.reference.viscosity import viscosity_problem
from glug.physics.stokes.problem import stokes_problem
from glug.solvers.assembled.krylov import Cholesky
from glug.studies.validate.exactness import Blob, area_pressure, fractions, square, tree

FEW = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
PHYSICS = {
    "pressure": area_pressure,
    "published pressure": volume_pressure,
    "viscosity": lambda *geometry: viscosity_problem(*geometry, 0.3),
    "published viscosity": lambda *geometry: viscosity_problem(*geometry, 0.3, trace_free=True),
    "stokes": lambda *geometry: stokes_problem(*geometry, 0.3),
}


def number(low: float, high: float):
    return st.floats(low, high, allow_nan=False)


waves = st.lists(st.tuples(number(0.0, 0.12), number(0.0, 6.3)), max_size=3).map(tuple)
# Its waves lengthen the radius by a third at most, and a shift moves the border by a cell: liquid does not reach it.
blobs = st.builds(Blob, number(0.3, 0.8), waves)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def grids(draw):
    """Of 2 or 3 dimensions."""
    dim = draw(st.sampled_from([2, 2, 3]))
    return square(16 if dim == 2 else 8, dim, draw(st.tuples(*[number(0.0, 1.0)] * 3)))


@st.composite
def meshes(draw):
    """A grid, a stretched one, or a tree with its fine leaves anywhere."""
    kind = draw(st.sampled_from(["grid", "stretched", "tree"]))
    if kind == "grid":
        return draw(grids())
    if kind == "stretched":
        return Stretched.random(16, draw(seeds))
    dim = draw(st.sampled_from([2, 2, 3]))
    return tree(32 if dim == 2 else 16, dim, draw(number(0.0, 1.0)), [draw(blobs)])


@st.composite
def geometries(draw):
    """A liquid, or none around which there is air; a container, or none."""
    mesh = draw(meshes())
    full = Fractions.full(mesh)
    liquid = fractions(mesh, draw(blobs)) if draw(st.booleans()) else full
    # A mesh must end in air or in a wall.
    fluid = fractions(mesh, draw(blobs)) if liquid is full or draw(st.booleans()) else full
    return mesh, liquid, fluid


@FEW
@given(geometries(), st.sampled_from(sorted(PHYSICS)))
def test_symmetric_and_positive_definite(geometry, physics):
    problem = PHYSICS[physics](*geometry)
    if not problem.valid.any():
        return
    matrix = problem.stress_matrix()
    assert abs(matrix - matrix.T).max() <= 1e-14 * abs(matrix).max()
    keep = np.ones(matrix.shape[0], dtype=bool)
    for members, _ in problem.flat_pressures(matrix):
        keep[members[0]] = False
    if keep.any():
        assert Cholesky(matrix[keep][:, keep]).least_pivot > 0.0
    if problem.compliant and problem.moves.any():
        matrix = problem.velocity_matrix()
        assert abs(matrix - matrix.T).max() <= 1e-14 * abs(matrix).max()
        assert Cholesky(matrix).least_pivot > 0.0


@FEW
@given(grids(), seeds)
def test_gradient_and_divergence_are_adjoint(operators, seed):
    """G p, differenced from the cells, against D u, differenced from the faces."""
    rng = np.random.default_rng(seed)
    p = rng.normal(size=operators.count(CENTRE))
    u = rng.normal(size=operators.D.shape[1])
    rise = np.concatenate([difference(operators.grid, CENTRE, a) @ p for a in range(operators.dim)])
    scale = np.linalg.norm(rise) * np.linalg.norm(u)
    assert abs(rise @ u + p @ (operators.D @ u)) <= 1e-14 * scale
    assert np.abs(rise - gradient(operators) @ p).max() == 0.0


@FEW
@given(grids(), seeds)
def test_strain_and_force_are_adjoint(operators, seed):
    """The force of stresses, differenced from their samples, against the strain rates of velocities."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=len(operators.face_volume))
    normal = [rng.normal(size=operators.count(CENTRE)) for _ in range(operators.dim)]
    shear = [rng.normal(size=operators.count(o)) for o in operators.edges]
    force = []
    for a in range(operators.dim):
        total = difference(operators.grid, CENTRE, a) @ normal[a]
        for pair, edge, tau in zip(axis_pairs(operators.dim), operators.edges, shear):
            if a in pair:
                total = total + difference(operators.grid, edge, sum(pair) - a) @ tau
        force.append(total)
    work = np.concatenate(force) @ u
    power = np.concatenate([*normal, *shear]) @ (strain(operators) @ u)
    assert abs(work + power) <= 1e-13 * np.linalg.norm(np.concatenate(force)) * np.linalg.norm(u)


@FEW
@given(geometries(), st.sampled_from(sorted(PHYSICS)), seeds)
def test_energy_never_increases(geometry, physics, seed):
    problem = PHYSICS[physics](*geometry)
    start = np.random.default_rng(seed).normal(size=len(problem.liquid_face))
    end = problem.solve(start).u
    mass = problem.face_volume * problem.liquid_face * problem.fluid_face
    before, after = (float((mass * u**2).sum()) for u in (start, end))
    assert after <= before * (1.0 + 1e-9)
    if problem.compliant and problem.valid.any() and problem.moves.any():
        assert after < before  # a random velocity has strains to damp
