"""What the assembled problems must do exactly: rest, rigid motion, prescribed pressure; and their forms agree.

On every mesh, with the surfaces anywhere in it. Trees do not keep rotation in a projection and do not meet uniform
tractions: next to other levels their divergence and their shears are not made for that (`tests/grids/test_meshes.py`).
"""

from functools import cache

import numpy as np
import pytest
from meshes import EVERY_MESH, GRIDS, MESHES, SIMPLICES, TREES, WITH_STRAINS

from glug.errors import InputError, SolverError
from glug.geometry.exact_fractions import ball_fraction
from glug.grids.mesh import Fractions, face_velocities
from glug.physics.reference.pressure import AreaPressure, ghost_distance, volume_pressure
from glug.physics.reference.viscosity import laplacian_problem, viscosity_problem
from glug.physics.stokes.problem import stokes_problem
from glug.solvers.assembled.krylov import Cholesky
from glug.studies.validate import exactness
from glug.studies.validate.exactness import (
    GRAVITY_STEP,
    LEVEL,
    Balanced,
    Blob,
    area_pressure,
    below,
    fractions,
    full_viscosity,
    left_of_gravity,
    published_viscosity,
    random_velocity,
    rigid,
    square,
    stokes,
)

EVERY_PHYSICS = list(exactness.EVERY_PHYSICS.values())
PRESSURES = list(exactness.PRESSURES.values())
VISCOSITIES = list(exactness.VISCOSITIES.values())
PLAIN_PRESSURES = [area_pressure, volume_pressure]  # those that need no strains
SMALL_MESHES = [name for name in WITH_STRAINS if name != "octree"]  # whose stresses can be factored
PRESSURES_ON_MESHES = [(p, name) for p in PLAIN_PRESSURES for name in EVERY_MESH]
PRESSURES_ON_MESHES += [(stokes, name) for name in WITH_STRAINS]


def down_in(direction, dim: int) -> np.ndarray:
    down = np.array(direction)[:dim]
    return down / np.linalg.norm(down)


@cache
def geometry_of(kind: str, name: str):
    """A blob cut by a wall ("mixed"), or a wavy container full of liquid ("closed")."""
    if kind == "mixed":
        return exactness.cut_blob(MESHES[name](Blob(), exactness.tilted_wall))
    mesh = MESHES[name](Blob())
    return mesh, Fractions.full(mesh), fractions(mesh, Blob())


@pytest.fixture
def mixed():
    return geometry_of("mixed", "regular")


on_every_geometry = pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in ("mixed", "closed") for name in SMALL_MESHES]
)


# -- rigid motion --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "name"),
    [(p, name) for p in EVERY_PHYSICS for name in GRIDS]
    + [(p, name) for p in VISCOSITIES for name in TREES]
    + [(p, name) for p in PLAIN_PRESSURES for name in SIMPLICES],
)
def test_rigid_motion_of_a_free_blob_is_kept(problem, name):
    assert exactness.change_of_rigid_motion(problem, MESHES[name](Blob())) < 1e-11


@pytest.mark.parametrize("name", TREES)
def test_trees_lose_some_of_a_rotation_in_a_projection(name):
    """Honest: of the speed of 1.5 m/s at the surface, next to other levels."""
    assert 1e-3 < exactness.change_of_rigid_motion(area_pressure, MESHES[name](Blob())) < 0.06


def test_the_laplacian_loses_rotation():
    """The control: one step takes most of a rotation away."""
    mesh = square(32)
    liquid = fractions(mesh, Blob())
    before = face_velocities(mesh, lambda p: np.column_stack([-p[:, 1], p[:, 0]]))
    after = laplacian_problem(mesh, liquid, 0.7).solve(before).u
    wet = liquid.face > 0
    energy = [(liquid.face * u**2)[wet].sum() for u in (before, after)]
    assert energy[1] < 0.5 * energy[0]


# -- rest ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [volume_pressure, stokes])
@pytest.mark.parametrize("level", [None, LEVEL])
def test_rest_in_a_circular_container(problem, level):
    mesh = square(32)
    fluid = mesh.measure(lambda offset: ball_fraction(mesh.grid, offset, 1.0))
    liquid = Fractions.full(mesh) if level is None else fractions(mesh, below(level))
    system = problem(mesh, liquid, fluid)
    assert system.moves.sum() > 100
    assert left_of_gravity(system) < 1e-12


@pytest.mark.parametrize(
    ("problem", "name", "level"),
    [(p, name, None) for p, name in PRESSURES_ON_MESHES]
    + [(area_pressure, name, level) for name in EVERY_MESH for level in (LEVEL, -0.31)]
    + [(p, name, level) for p in (volume_pressure, stokes) for name in WITH_STRAINS for level in (LEVEL, -0.31)],
)
def test_rest_in_an_irregular_container(problem, name, level):
    """Fractions of volume know no distance to a surface: with them it must lie along the faces."""
    mesh = MESHES[name](Blob(), *([] if level is None else [below(level)]))
    assert exactness.motion_at_rest(problem, mesh, level) < 1e-10 * GRAVITY_STEP


@pytest.mark.parametrize(
    ("problem", "name", "level"),
    [(p, name, None) for p, name in PRESSURES_ON_MESHES] + [(area_pressure, name, LEVEL) for name in EVERY_MESH],
)
def test_rest_in_another_direction(problem, name, level):
    down = down_in((0.6, -0.48, 0.64), MESHES[name](Blob()).dim)
    mesh = MESHES[name](Blob(), *([] if level is None else [below(level, down)]))
    assert exactness.motion_at_rest(problem, mesh, level, down) < 1e-10 * GRAVITY_STEP


def test_voxels_are_at_rest_too_but_without_a_distance_to_the_surface_the_pressure_is_not_right():
    """The control: whole cells hold hydrostatic liquid still, with the surface at a cell's border."""
    mesh = square(40)
    phi = below(0.123)(mesh.cell_position)
    walls = np.abs(mesh.cell_position).max(axis=1) > 1.2
    wet = (phi < 0) & ~walls
    fall = -GRAVITY_STEP * mesh.face_normal[:, 1]
    error = {}
    for name, theta in (("ghost", ghost_distance(mesh, phi)), ("voxel", 1.0)):
        area = np.where(np.abs(mesh.D.T) @ walls > 0, 0.0, 1.0)
        p = AreaPressure(mesh, area, wet, theta).solve(fall)["p"]
        error[name] = np.abs(p - np.maximum(0.0, -phi) * GRAVITY_STEP)[wet].max()
    assert error["ghost"] < 1e-10
    assert error["voxel"] > 0.01 * GRAVITY_STEP


# -- prescribed boundaries -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("problem", "name"), PRESSURES_ON_MESHES)
@pytest.mark.parametrize("slope", [(0.0, 0.0, 0.0), exactness.SLOPE])
def test_a_prescribed_pressure_is_met(problem, slope, name):
    balanced = Balanced.of(problem, MESHES[name](Blob()), slope)
    assert balanced.system.moves.sum() > 100
    assert max(balanced.errors(balanced.push)) < 1e-11


@pytest.mark.parametrize("problem", PRESSURES)
@pytest.mark.parametrize("slope", [(0.0, 0.0), exactness.SLOPE])
def test_a_prescribed_pressure_of_the_other_sign_is_not(problem, slope):
    balanced = Balanced.of(problem, square(32, shift=0.21), slope)
    system, outside = balanced.system, balanced.outside
    # The control: the surface terms with the sign of eq. 4.45 as printed blow the liquid apart. Where cells are wholly
    # liquid or not at all, a constant pressure is twice too large inside instead.
    B, air = system.rows.B, 1.0 - system.rows.liquid
    surface = (1.0 - system.liquid_face) * (B.T @ outside) - B.T @ (air * outside)
    wrong = 2.0 * np.divide(surface, system.liquid_face, out=np.zeros_like(surface), where=system.moves)
    u, p = balanced.errors(balanced.push - wrong)
    assert (p if problem is area_pressure else u) > 1.0


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("problem", [full_viscosity, published_viscosity, stokes])
def test_a_prescribed_traction_is_met(problem, name):
    """Stresses that are the same everywhere, on the surface and inside, belong to a steady linear flow."""
    mesh = MESHES[name](Blob())
    liquid = fractions(mesh, Blob())
    system = problem(mesh, liquid, Fractions.full(mesh))
    stress = {"tau_xx": 0.9, "tau_yy": -0.7, "tau_zz": -0.2, "tau_xy": -0.4, "tau_xz": 0.3, "tau_yz": 0.5, "p": 3.0}
    if mesh.dim == 2:
        stress["tau_yy"] = -0.9
    outside = np.zeros(len(system.rows.liquid))
    for part, rows in system.rows.slices.items():
        outside[rows] = stress[part]
    names = np.array([f"tau_{min(a, b)}{max(a, b)}" for a in "xyz" for b in "xyz"]).reshape(3, 3)
    strain = np.vectorize(stress.get)(names)[: mesh.dim, : mesh.dim] / (2 * exactness.MU)
    flow = face_velocities(mesh, lambda p: p @ strain)
    wet = liquid.face > 0
    for form in ("auto", "kkt"):
        solution = system.solve(flow, s_air=outside, form=form)
        assert np.abs(solution.u - flow)[wet].max() < 1e-11
        assert np.abs((solution.s - outside)[system.valid]).max() < 1e-11
    # The control: a surface without traction stops the flow.
    assert np.abs(system.solve(flow).u - flow)[wet].max() > 0.1


@pytest.mark.parametrize(
    ("problem", "name"), [(p, name) for p in VISCOSITIES for name in WITH_STRAINS] + [(stokes, name) for name in GRIDS]
)
def test_liquid_turns_with_its_container(problem, name):
    mesh, liquid, fluid = geometry_of("closed", name)
    turning = face_velocities(mesh, rigid)
    solution = problem(mesh, liquid, fluid).solve(turning, u_wall=turning)
    assert np.abs(solution.u - turning)[fluid.face > 0].max() < 1e-10  # the octree's is solved by multigrid
    still = problem(mesh, liquid, fluid).solve(turning)
    assert np.abs(still.u - turning)[fluid.face > 0].max() > 0.1


# -- forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trace_free", [False, True])
@on_every_geometry
def test_the_stress_form_of_viscosity_equals_the_velocity_form(kind, name, trace_free):
    mesh, liquid, fluid = geometry_of(kind, name)
    problem = viscosity_problem(mesh, liquid, fluid, 0.7, trace_free=trace_free)
    start = random_velocity(mesh)
    one, other = (problem.solve(start, form=form) for form in ("stress", "velocity"))
    assert np.abs(one.u - other.u).max() < 1e-9
    assert np.abs(one.s - other.s).max() < 1e-9 * np.abs(one.s).max()


@on_every_geometry
def test_positive_stokes_equals_kkt_stokes(kind, name):
    mesh, liquid, fluid = geometry_of(kind, name)
    problem = stokes_problem(mesh, liquid, fluid, 0.7)
    start = random_velocity(mesh)
    turning = face_velocities(mesh, rigid)
    one, other = (problem.solve(start, u_wall=turning, form=form, solver="direct") for form in ("stress", "kkt"))
    assert np.abs(one.u - other.u).max() < 1e-9
    difference = one.s - other.s
    p = problem.rows.slices["p"]
    if kind == "closed":  # the pressure is known up to a constant
        difference[p][problem.valid[p]] -= difference[p][problem.valid[p]].mean()
    scale = np.abs(one.s).max()
    assert np.abs(difference).max() < 1e-9 * scale


def test_the_pressure_has_no_velocity_form(mixed):
    with pytest.raises(InputError, match="compliance"):
        stokes(*mixed).solve(random_velocity(mixed[0]), form="velocity")


@pytest.mark.parametrize("problem", EVERY_PHYSICS)
@on_every_geometry
def test_matrices_are_symmetric_and_without_the_null_space_positive(problem, kind, name):
    system = problem(*geometry_of(kind, name))
    matrices = [system.stress_matrix(), system.kkt_matrix()]
    if system.compliant:
        matrices.append(system.velocity_matrix())
    for matrix in matrices:
        assert abs(matrix - matrix.T).max() <= 1e-14 * abs(matrix).max()
    matrix = matrices[0]
    keep = np.ones(matrix.shape[0], dtype=bool)
    flat = system.flat_pressures(matrix)
    assert len(flat) == (kind == "closed" and "p" in system.rows.slices)
    for members, _ in flat:
        keep[members[0]] = False
    assert Cholesky(matrix[keep][:, keep]).least_pivot > 0.0


@pytest.mark.parametrize("problem", EVERY_PHYSICS)
@on_every_geometry
def test_a_step_adds_no_energy_and_a_second_projection_changes_nothing(problem, kind, name):
    system = problem(*geometry_of(kind, name))
    start = random_velocity(system.rows.mesh)
    once = system.solve(start).u
    twice = system.solve(once).u
    mass = (system.face_volume * system.liquid_face * system.fluid_face)[system.moves]
    energy = [mass @ u[system.moves] ** 2 for u in (start, once, twice)]
    assert energy[1] < energy[0]
    if "p" in system.rows.slices and not system.coupled:
        assert np.abs(twice - once).max() < 1e-9
    else:
        assert energy[2] < energy[1]


@pytest.mark.parametrize("name", SMALL_MESHES)
def test_liquids_of_two_densities_keep_rigid_motion_and_momentum(name):
    """Mass is a weight of the viscous step: a blob 1.4 times as dense below a line as above it."""
    mesh = MESHES[name](Blob())
    blob = fractions(mesh, Blob())
    density = np.where(mesh.face_position[:, 1] < 0.1, 1400.0, 1000.0)
    system = viscosity_problem(mesh, blob, Fractions.full(mesh), 700.0, density=density)
    turning, start = face_velocities(mesh, rigid), random_velocity(mesh)
    assert np.abs(system.solve(turning).u - turning)[blob.face > 0].max() < 1e-11
    momentum = (density * mesh.face_volume * blob.face)[:, None] * mesh.face_normal
    change = np.abs((system.solve(start).u - start) @ momentum)
    assert (change < 1e-10 * np.abs(start) @ np.abs(momentum)).all()
    # The control: one density in place of two changes the flow.
    same = viscosity_problem(mesh, blob, Fractions.full(mesh), 700.0, density=1200.0)
    assert np.abs(same.solve(start).u - system.solve(start).u).max() > 1e-3


def test_cholesky_refuses_what_is_not_positive():
    from scipy import sparse

    with pytest.raises(SolverError, match="not positive definite"):
        Cholesky(sparse.csr_matrix([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(SolverError, match="not positive definite"):
        Cholesky(sparse.csr_matrix([[0.0, 1.0], [1.0, 1.0]]))


def test_multigrid_reaches_the_solution_of_the_factors():
    """Every physics in 3D, cut by a wall and closed: pressure, viscosity, Stokes (by velocity and pressure)."""
    operators = square(14, dim=3, shift=0.21)
    blob, full = fractions(operators, Blob()), Fractions.full(operators)
    start, turning = random_velocity(operators), face_velocities(operators, rigid)
    wall = fractions(operators, lambda p: -p[:, 2] - 0.4)
    for problem, liquid, fluid in [(p, *g) for p in EVERY_PHYSICS for g in ((blob, wall), (full, blob))]:
        system = problem(operators, liquid, fluid)
        exact, found = (system.solve(start, u_wall=turning, solver=solver) for solver in ("direct", "amg"))
        assert exact.stats.iterations == 1 < found.stats.iterations < 200
        assert found.stats.converged
        assert found.stats.residual > 0.0
        assert np.abs(exact.u - found.u).max() < 1e-8 * np.abs(exact.u).max()


def test_closed_stokes_flow_does_not_depend_on_the_luck_of_the_cycle():
    """Its pressure is known up to a constant; the estimates of multigrid begin with random vectors."""
    operators = square(10, dim=3, shift=0.21)
    system = stokes(operators, Fractions.full(operators), fractions(operators, Blob()))
    start = random_velocity(operators)
    count = []
    for seed in range(12):
        np.random.seed(seed)  # that is what PyAMG draws from
        count.append(system.solve(start, solver="amg").stats.iterations)
    assert max(count) <= min(count) + 2


def test_an_iteration_that_does_not_converge_says_so(monkeypatch):
    from scipy import sparse

    from glug.solvers.assembled import krylov as solvers

    n = 3000
    chain = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csr")
    monkeypatch.setattr(solvers, "MOST", 2)
    with pytest.raises(SolverError, match="did not converge in 2 iterations"):
        solvers.solve_positive(chain, np.random.default_rng(0).normal(size=n), np.ones((n, 1)), "amg")


def test_a_matrix_without_inverse_is_refused():
    from scipy import sparse

    from glug.solvers.assembled.krylov import solve_general

    with pytest.raises(SolverError, match="no inverse"):
        solve_general(sparse.csr_matrix([[1.0, 2.0], [2.0, 4.0]]), np.ones(2))


def test_factors_that_do_not_solve_are_refused(mixed, monkeypatch):
    from scipy import sparse
    from scipy.linalg import hilbert

    from glug.solvers.assembled import krylov as solvers

    b = np.random.default_rng(0).normal(size=12)
    _, stats = solvers.solve_general(sparse.csr_matrix(hilbert(12)), b)
    assert stats.residual > 1e-3 and not stats.converged
    monkeypatch.setattr(solvers, "ACCEPTED", 0.0)
    with pytest.raises(SolverError, match="leaves a residual"):
        stokes(*mixed).solve(random_velocity(mixed[0]))
    assert not stokes(*mixed).solve(random_velocity(mixed[0]), strict=False).stats.converged


def test_an_unknown_solver_is_refused(mixed):
    with pytest.raises(InputError, match="'direct' and 'amg'"):
        stokes(*mixed).solve(random_velocity(mixed[0]), solver="cholesky")
