"""What the assembled problems must do exactly: rest, rigid motion, prescribed pressure; and their forms agree."""

import numpy as np
import pytest

from glug.errors import InputError, SolverError
from glug.geometry.exact_fractions import ball_fraction
from glug.grids.regular import CENTRE
from glug.physics.reference.pressure import AreaPressure, ghost_distance, volume_pressure
from glug.physics.reference.viscosity import laplacian_problem, viscosity_problem
from glug.physics.stokes.problem import stokes_problem
from glug.physics.weights import Fractions
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
    velocity,
)

EVERY_PHYSICS = list(exactness.EVERY_PHYSICS.values())
PRESSURES = list(exactness.PRESSURES.values())


@pytest.fixture(scope="module")
def mixed():
    return exactness.cut_blob(24)


@pytest.fixture(scope="module")
def closed():
    """A wavy container full of liquid."""
    operators = square(24, shift=0.37)
    return operators, Fractions.full(operators), fractions(operators, Blob())


# -- rigid motion --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", EVERY_PHYSICS)
@pytest.mark.parametrize(("dim", "n"), [(2, 32), (3, 12)])
def test_rigid_motion_of_a_free_blob_is_kept(problem, dim, n):
    assert exactness.change_of_rigid_motion(problem, n, dim) < 1e-12


def test_the_laplacian_loses_rotation():
    """The control: one step takes most of a rotation away."""
    operators = square(32)
    liquid = fractions(operators, Blob())
    before = velocity(operators, lambda p: np.column_stack([-p[:, 1], p[:, 0]]))
    after = laplacian_problem(operators, liquid, 0.7).solve(before).u
    wet = liquid.face > 0
    energy = [(liquid.face * u**2)[wet].sum() for u in (before, after)]
    assert energy[1] < 0.5 * energy[0]


# -- rest ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [volume_pressure, stokes])
@pytest.mark.parametrize("level", [None, LEVEL])
def test_rest_in_a_circular_container(problem, level):
    operators = square(32)
    fluid = Fractions.measure(operators, lambda offset: ball_fraction(operators.grid, offset, 1.0))
    liquid = Fractions.full(operators) if level is None else fractions(operators, below(level))
    system = problem(operators, liquid, fluid)
    assert system.moves.sum() > 100
    assert left_of_gravity(system, operators) < 1e-12


@pytest.mark.parametrize("problem", PRESSURES)
@pytest.mark.parametrize("level", [None, LEVEL, -0.31])
def test_rest_in_an_irregular_container(problem, level):
    assert exactness.motion_at_rest(problem, 40, level) < 1e-10 * GRAVITY_STEP


def test_voxels_are_at_rest_too_but_without_a_distance_to_the_surface_the_pressure_is_not_right():
    """The control: whole cells hold hydrostatic liquid still, with the surface at a cell's border."""
    operators = square(40)
    phi = below(0.123)(operators.points(CENTRE))
    walls = np.abs(operators.points(CENTRE)).max(axis=1) > 1.2
    wet = (phi < 0) & ~walls
    fall = velocity(operators, lambda p: np.column_stack([0 * p[:, 0], 0 * p[:, 0] - GRAVITY_STEP]))
    error = {}
    for name, theta in (("ghost", ghost_distance(operators, phi)), ("voxel", 1.0)):
        area = np.where(np.abs(operators.D.T) @ walls > 0, 0.0, 1.0)
        p = AreaPressure(operators, area, wet, theta).solve(fall)["p"]
        error[name] = np.abs(p - np.maximum(0.0, -phi) * GRAVITY_STEP)[wet].max()
    assert error["ghost"] < 1e-10
    assert error["voxel"] > 0.01 * GRAVITY_STEP


# -- prescribed boundaries -----------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", PRESSURES)
@pytest.mark.parametrize("slope", [(0.0, 0.0), exactness.SLOPE])
def test_a_prescribed_pressure_is_met(problem, slope):
    balanced = Balanced.of(problem, 32, slope)
    system, outside = balanced.system, balanced.outside
    assert system.moves.sum() > 100
    assert max(balanced.errors(balanced.push)) < 1e-11
    # The control: the surface terms with the sign of eq. 4.45 as printed blow the liquid apart. Where cells are wholly
    # liquid or not at all, a constant pressure is twice too large inside instead.
    B, air = system.rows.B, 1.0 - system.rows.liquid
    surface = (1.0 - system.liquid_face) * (B.T @ outside) - B.T @ (air * outside)
    wrong = 2.0 * np.divide(surface, system.liquid_face, out=np.zeros_like(surface), where=system.moves)
    u, p = balanced.errors(balanced.push - wrong)
    assert (p if problem is area_pressure else u) > 1.0


@pytest.mark.parametrize("problem", [full_viscosity, published_viscosity, stokes])
def test_a_prescribed_traction_is_met(problem):
    """Stresses that are the same everywhere, on the surface and inside, belong to a steady linear flow."""
    operators, mu = square(32, shift=0.21), 0.7
    liquid = fractions(operators, Blob())
    system = problem(operators, liquid, Fractions.full(operators))
    stress = {"tau_xx": 0.9, "tau_yy": -0.9, "tau_xy": -0.4, "p": 3.0}
    outside = np.zeros(len(system.rows.liquid))
    for name, rows in system.rows.slices.items():
        outside[rows] = stress[name]
    strain = np.array([[stress["tau_xx"], stress["tau_xy"]], [stress["tau_xy"], stress["tau_yy"]]]) / (2 * mu)
    flow = velocity(operators, lambda p: p @ strain)
    wet = liquid.face > 0
    for form in ("auto", "kkt"):
        solution = system.solve(flow, s_air=outside, form=form)
        assert np.abs(solution.u - flow)[wet].max() < 1e-11
        assert np.abs((solution.s - outside)[system.valid]).max() < 1e-11
    # The control: a surface without traction stops the flow.
    assert np.abs(system.solve(flow).u - flow)[wet].max() > 0.1


@pytest.mark.parametrize("problem", [full_viscosity, published_viscosity, stokes])
def test_liquid_turns_with_its_container(problem, closed):
    operators, liquid, fluid = closed
    turning = velocity(operators, rigid)
    solution = problem(operators, liquid, fluid).solve(turning, u_wall=turning)
    assert np.abs(solution.u - turning)[fluid.face > 0].max() < 1e-12
    still = problem(operators, liquid, fluid).solve(turning)
    assert np.abs(still.u - turning)[fluid.face > 0].max() > 0.1


# -- forms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trace_free", [False, True])
@pytest.mark.parametrize("geometry", ["mixed", "closed"])
def test_the_stress_form_of_viscosity_equals_the_velocity_form(geometry, trace_free, request):
    problem = viscosity_problem(*request.getfixturevalue(geometry), 0.7, trace_free=trace_free)
    start = random_velocity(request.getfixturevalue(geometry)[0])
    one, other = (problem.solve(start, form=form) for form in ("stress", "velocity"))
    assert np.abs(one.u - other.u).max() < 1e-9
    assert np.abs(one.s - other.s).max() < 1e-9


@pytest.mark.parametrize("geometry", ["mixed", "closed"])
def test_positive_stokes_equals_kkt_stokes(geometry, request):
    operators, liquid, fluid = request.getfixturevalue(geometry)
    problem = stokes_problem(operators, liquid, fluid, 0.7)
    start = random_velocity(operators)
    turning = velocity(operators, rigid)
    one, other = (problem.solve(start, u_wall=turning, form=form) for form in ("stress", "kkt"))
    assert np.abs(one.u - other.u).max() < 1e-9
    difference = one.s - other.s
    p = problem.rows.slices["p"]
    if geometry == "closed":  # the pressure is known up to a constant
        difference[p][problem.valid[p]] -= difference[p][problem.valid[p]].mean()
    scale = np.abs(one.s).max()
    assert np.abs(difference).max() < 1e-9 * scale


def test_the_forms_agree_in_3d():
    operators = square(10, dim=3, shift=0.21)
    geometry = operators, fractions(operators, Blob()), fractions(operators, lambda p: -p[:, 2] - 0.4)
    start = random_velocity(operators)
    one, other = (stokes_problem(*geometry, 0.7).solve(start, form=form) for form in ("stress", "kkt"))
    assert np.abs(one.u - other.u).max() < 1e-9
    for trace_free in (False, True):
        problem = viscosity_problem(*geometry, 0.7, trace_free=trace_free)
        one, other = (problem.solve(start, form=form) for form in ("stress", "velocity"))
        assert np.abs(one.u - other.u).max() < 1e-9


def test_the_pressure_has_no_velocity_form(mixed):
    with pytest.raises(InputError, match="compliance"):
        stokes(*mixed).solve(random_velocity(mixed[0]), form="velocity")


@pytest.mark.parametrize("problem", EVERY_PHYSICS)
@pytest.mark.parametrize("geometry", ["mixed", "closed"])
def test_matrices_are_symmetric_and_without_the_null_space_positive(problem, geometry, request):
    system = problem(*request.getfixturevalue(geometry))
    matrices = [system.stress_matrix(), system.kkt_matrix()]
    if system.compliant:
        matrices.append(system.velocity_matrix())
    for matrix in matrices:
        assert abs(matrix - matrix.T).max() <= 1e-14 * abs(matrix).max()
    matrix = matrices[0]
    keep = np.ones(matrix.shape[0], dtype=bool)
    flat = system.flat_pressures(matrix)
    assert len(flat) == (geometry == "closed" and "p" in system.rows.slices)
    for members, _ in flat:
        keep[members[0]] = False
    assert Cholesky(matrix[keep][:, keep]).least_pivot > 0.0


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
    start, turning = random_velocity(operators), velocity(operators, rigid)
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
