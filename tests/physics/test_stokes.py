"""The Stokes step in 3D: rest, rigid motion, tractions, continuity, energy, and what it falls back on."""

import numpy as np
import pytest
from setups import ball, rotation, tank

from glug.errors import SceneError
from glug.grids.regular import FACES, copied, lower_upper, mapped
from glug.jit import threads
from glug.physics.reference.stokes import assemble_stokes
from glug.physics.stokes import preconditioners
from glug.physics.stokes.levels import hierarchy
from glug.physics.stokes.saddle import StokesProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.physics.viscosity.strain_rows import strain_rows
from glug.scene import load
from glug.simulation import Simulation
from glug.simulation.stages import stokes as stage
from glug.solvers.limits import SolveLimits
from glug.studies.problems import stokes as bench

PRESSURE = SolveLimits(1e-5, 200)  # the pressure's tolerance in scenes
EXACT = SolveLimits(1e-6, 200)
CENTRE = (0.51, 0.48, 0.5)  # of the ball


def falling(grid):
    velocity = grid.staggered()
    velocity[1][:] = -1.0
    return velocity


def fastest_below(grid, velocity, height):
    return max(float(np.abs(u[grid.points(FACES[a])[..., 1] < height]).max()) for a, u in enumerate(velocity))


@pytest.mark.parametrize("diffusion", [0.1, 100.0])
def test_liquid_rests_over_a_slope(diffusion):
    grid, phi, solid = tank()
    velocity = falling(grid)
    _, stats = StokesProblem.build(ViscousFluid(grid, phi, solid, diffusion)).solve(velocity, PRESSURE)
    assert stats.converged
    assert fastest_below(grid, velocity, 0.537) <= 1e-5  # g dt = 1


def test_it_would_creep_if_pressure_pushed_on_closed_parts_of_faces():
    grid, phi, solid = tank()
    problem = StokesProblem.build(ViscousFluid(grid, phi, solid, 0.1))
    for m, area in zip(problem.viscous.mass, solid.area):
        np.divide(m, area, out=m, where=area > 0)
    velocity = falling(grid)
    problem.solve(velocity, PRESSURE)
    assert fastest_below(grid, velocity, 0.537) > 1e-2


@pytest.mark.parametrize("diffusion", [1.0, 1000.0])
def test_a_free_ball_keeps_turning(diffusion):
    grid, phi, solid = ball()
    velocity = rotation(grid, (1.0, -2.0, 0.5), CENTRE)
    before = copied(velocity)
    problem = StokesProblem.build(ViscousFluid(grid, phi, solid, diffusion))
    problem.solve(velocity, EXACT)
    wet = mapped(lambda m: m > 0.01, problem.viscous.mass)
    assert max(float(np.abs(u - v)[w].max()) for u, v, w in zip(velocity, before, wet)) < 1e-5
    velocity[0][:] = grid.points(FACES[0])[..., 1]  # what is no rigid motion changes
    velocity[1][:], velocity[2][:] = 0.0, 0.0
    before = copied(velocity)
    problem.solve(velocity, EXACT)
    assert max(float(np.abs(u - v)[w].max()) for u, v, w in zip(velocity, before, wet)) > 1e-2


def test_a_traction_holds_a_uniform_strain():
    grid, phi, solid = ball(24)
    problem = StokesProblem.build(ViscousFluid(grid, phi, solid, 50.0))
    x, y, z = (grid.points(FACES[a])[..., a] - CENTRE[a] for a in range(3))
    stretched = tuple(c.astype(np.float32) for c in (x, -0.25 * y, -0.75 * z))
    viscous = problem.viscous
    rows = strain_rows(grid, solid, viscous.solid_faces, viscous.weights, every=True)
    strains = rows.matrix() @ np.concatenate([u.ravel() for u in stretched]).astype(np.float64)
    force = rows.matrix().T @ (rows.stiffness * strains)
    parts = np.split(force, rows.offsets()[1:-1])
    pull = [f.reshape(u.shape) for f, u in zip(parts, stretched)]  # what the surface bears to keep this strain
    deep = 0.3 - 2.5 / 24
    inside = mapped(lambda offset: np.linalg.norm(grid.points(offset) - CENTRE, axis=-1) < deep, FACES)
    assert max(np.abs(f[i]).max() for f, i in zip(pull, inside)) < 1e-3 * max(np.abs(f).max() for f in pull)
    pushed = [np.divide(f, m, out=np.zeros_like(f), where=m > 0) for f, m in zip(pull, viscous.mass)]
    velocity = mapped(lambda u, a: (u + a).astype(np.float32), stretched, pushed)
    problem.solve(velocity, EXACT)
    wet = mapped(lambda m: m > 0.01, viscous.mass)
    assert max(float(np.abs(u - v)[w].max()) for u, v, w in zip(velocity, stretched, wet)) < 1e-5
    velocity = copied(stretched)  # without it the strain dies down
    problem.solve(velocity, EXACT)
    assert max(float(np.abs(u)[w].max()) for u, w in zip(velocity, wet)) < 0.2 * 0.3


def random_velocity(grid, seed=0):
    rng = np.random.default_rng(seed)
    return mapped(lambda u: rng.normal(size=u.shape).astype(np.float32), grid.staggered())


@pytest.mark.parametrize("diffusion", [0.1, 1000.0])
def test_what_is_left_of_the_divergence_is_the_tolerance_and_energy_falls(diffusion):
    grid, phi, solid = tank()
    problem = StokesProblem.build(ViscousFluid(grid, phi, solid, diffusion))
    velocity = random_velocity(grid)
    _, B, faces, _ = assemble_stokes(problem)

    def flat(u):
        return np.concatenate([c.ravel() for c in u]).astype(np.float64)[faces]

    before, mass = flat(velocity), flat(problem.viscous.mass)
    problem.solve(velocity, PRESSURE)
    after = flat(velocity)
    # Velocities are float32: 1e-7 of them, times six faces.
    assert np.abs(B @ after).max() <= 1e-5 * np.abs(B @ before).max() + 6e-7 * np.abs(after).max()
    assert mass @ after**2 < mass @ before**2


def test_closed_liquid_knows_its_pressure_up_to_a_constant():
    grid, phi, solid = tank(16)
    full = np.full_like(phi, -1.0)
    problem = StokesProblem.build(ViscousFluid(grid, full, solid, 10.0))
    assert problem.closed is not None and StokesProblem.build(ViscousFluid(grid, phi, solid, 10.0)).closed is None
    velocity = falling(grid)
    q, stats = problem.solve(velocity, PRESSURE)
    assert stats.converged and stats.imbalance == 0.0
    assert fastest_below(grid, velocity, np.inf) <= 1e-5
    assert abs(q[problem.closed >= 0].mean()) < 1e-3 * np.abs(q).max()


def test_a_wanted_divergence_is_met():
    grid, phi, solid = tank(16)
    problem = StokesProblem.build(ViscousFluid(grid, phi, solid, 10.0))
    target = grid.scalar()
    target[8:12, 10:12, 8:12] = 0.01  # [m/s]
    velocity = grid.staggered()
    problem.solve(velocity, PRESSURE, target=target)
    found = sum(np.diff(u * area, axis=a) for a, (u, area) in enumerate(zip(velocity, solid.area)))
    assert np.abs(found - target)[problem.cells > 0].max() <= 1e-6


@pytest.mark.parametrize("cells", [0, 1])
def test_next_to_nothing_is_solved_too(cells):
    grid, phi, solid = ball(16)
    phi = np.full_like(phi, 0.5 * grid.dx)
    phi.reshape(-1)[phi.size // 2 + 136 : phi.size // 2 + 136 + cells] = -0.3 * grid.dx
    for choose in (StokesProblem.monolithic, StokesProblem.block_triangular):
        problem = StokesProblem.build(ViscousFluid(grid, phi, solid, 10.0))
        velocity = random_velocity(grid)
        _, stats = problem.solve(velocity, PRESSURE, choices=[lambda p=problem, make=choose: make(p)])
        assert stats.converged and np.count_nonzero(problem.cells) == cells
        assert all(np.isfinite(u).all() for u in velocity)


def test_layers_of_two_densities_rest():
    grid, phi, solid = tank()
    density = mapped(lambda o: np.where(grid.points(o)[..., 1] < 0.4, 5.0, 1.0).astype(np.float32), FACES)
    velocity = falling(grid)
    StokesProblem.build(ViscousFluid(grid, phi, solid, 1.0, density=density)).solve(velocity, PRESSURE)
    assert fastest_below(grid, velocity, 0.537) <= 1e-5


def test_block_triangular_takes_few_iterations_around_cut_cells():
    grid, phi, solid = tank()
    problem = StokesProblem.build(ViscousFluid(grid, phi, solid, 100.0))
    _, stats = problem.solve(random_velocity(grid), EXACT, choices=[problem.block_triangular])
    assert stats.converged and stats.iterations <= 30
    cycle = problem.block_triangular()
    cycle._thick = 0.01 * cycle._thick  # as if cells gave way a hundred times less
    _, stats = problem.solve(random_velocity(grid), EXACT, choices=[lambda: cycle])
    assert stats.iterations > 40


def test_jumps_of_viscosity_converge():
    grid, phi, solid = tank()
    y = grid.points((0.5, 0.5, 0.5))[..., 1]
    diffusion = np.where(y < 0.4, 1000.0, 0.1).astype(np.float32)
    problem = StokesProblem.build(ViscousFluid(grid, phi, solid, diffusion))
    _, stats = problem.solve(random_velocity(grid), EXACT, choices=[problem.block_triangular])
    assert stats.converged and stats.iterations <= 60


def test_a_thick_coil_converges_though_coarse_grids_hold_its_thread_back(monkeypatch):
    """At mu dt / (rho dx^2) = 1e5; its thread is 4.5 cells thick. Without the overcorrection it takes longer."""
    coil = bench.problem("coil", 64, 1e5)
    _, stats = coil.solve(bench.waves(coil.grid), EXACT)
    assert stats.converged and stats.iterations <= 32
    monkeypatch.setattr(preconditioners, "OVERCORRECTION", np.float32(1.0))
    assert coil.solve(bench.waves(coil.grid), EXACT)[1].iterations > stats.iterations


def test_cycles_of_free_balls_do_not_grow(monkeypatch):
    def converges() -> bool:
        problem = bench.problem("balls", 128, 1e5)
        choices, limits = [problem.monolithic], SolveLimits(1e-6, 12)
        return problem.solve(bench.waves(problem.grid), limits, choices=choices)[1].converged

    assert converges()
    monkeypatch.setattr(preconditioners, "HOLD", 0.0)
    assert not converges()


def test_coarse_liquid_is_open_on_all_sides():
    """Also where its blocks end: a jet that is closed on one side of coarse grids makes cycles diverge."""
    grid, _, solid = ball(48)
    x, y, z = np.moveaxis(grid.points((0.5, 0.5, 0.5)), -1, 0)
    column = np.maximum(np.hypot(x - 0.5, z - 0.5) - 0.15, np.abs(y - 0.5) - 0.4).astype(np.float32)
    level = StokesProblem.build(ViscousFluid(grid, column, solid, 100.0)).level
    for depth, coarse in enumerate(hierarchy(level)):
        for a, area in enumerate(coarse.area):
            lower, upper = lower_upper(area, a)
            assert (np.minimum(lower, upper)[coarse.cells > 0] == 4.0**depth).all()


def test_threads_do_not_change_bits():
    grid, phi, solid = tank()
    found = []
    for count in (1, 2):
        with threads(count):
            velocity = random_velocity(grid)
            StokesProblem.build(ViscousFluid(grid, phi, solid, 10.0)).solve(velocity, PRESSURE)
        found.append(velocity)
    assert all(np.array_equal(u, v) for u, v in zip(*found))


# -- scenes --------------------------------------------------------------------------------------------------

BLOCK = {
    "domain": {"size": [0.1, 0.1, 0.1], "resolution": 12},
    "time": {"fps": 24, "frames": 1},
    "liquids": {"honey": {"density": 1400.0, "viscosity": 10.0}},
    "volumes": [{"shape": {"kind": "box", "lower": [0, 0, 0], "upper": [0.05, 0.06, 0.07]}, "liquid": "honey"}],
    "solver": {"coupling": "stokes"},
}


def test_what_does_not_converge_is_solved_assembled_and_says_so(monkeypatch):
    def useless(problem):
        return [lambda: lambda r, z: [np.copyto(a, 0.0 * b) for a, b in zip(z, r)]]

    monkeypatch.setattr(StokesProblem, "preconditioners", useless)
    monkeypatch.setattr(stage, "LARGEST_ASSEMBLED", 10**6)
    stats = list(Simulation(load(BLOCK)).run())[-1].stats
    assert any("assembled" in line for s in stats for line in s.warnings)
    assert all(s.solves["stokes"].converged for s in stats)
    monkeypatch.setattr(stage, "LARGEST_ASSEMBLED", 0)
    stats = list(Simulation(load(BLOCK)).run())[-1].stats
    assert any("not converged" in line for s in stats for line in s.warnings)
    assert not all(s.solves["stokes"].converged for s in stats)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"solver.viscosity": "octree"}, "a tree has only velocities"),
        ({"solver.air": "two-phase"}, "'two-phase' gives air a flow"),
        ({"domain.walls": "separating"}, "'separating'"),
        ({"solver.tiles": 16}, "tiles belong to the pressure solve"),
    ],
)
def test_stokes_refuses_what_it_cannot_do(overrides, words):
    with pytest.raises(SceneError, match=words):
        load("honey-coil", {"solver.coupling": "stokes", **overrides})
