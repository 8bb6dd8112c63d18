"""Conjugate gradients keep their promise in float64, say when they do not, and give the same bits on any threads."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from glug.errors import SolverError
from glug.grids.blocks import active_blocks
from glug.jit import threads
from glug.solvers.cg import Diagonal, Vector, conjugate_gradients, largest, largest_in, solve_with_fallback, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

SHAPE = (20, 17, 22)


@dataclass
class Diffusion:
    """7-point matrix with a coefficient per face, over the cells of a ball; zero outside it."""

    coefficients: tuple[np.ndarray, ...]
    mask: Vector
    blocks: np.ndarray
    unknowns: int
    name: str = "diffusion"
    applied: int = field(default=0)

    @classmethod
    def build(cls, contrast: float = 1.0) -> "Diffusion":
        """Coefficients vary by `contrast`; neighbours outside the ball are zero (Dirichlet)."""
        rng = np.random.default_rng(4)
        x = np.stack(np.meshgrid(*[np.arange(n) - 0.5 * (n - 1) for n in SHAPE], indexing="ij"))
        active = (np.linalg.norm(x, axis=0) < 7.3).astype(np.uint8)
        faces = tuple((contrast ** rng.uniform(0, 1, SHAPE)).astype(np.float32) for _ in range(3))
        total = sum(c + np.roll(c, -1, axis=a) for a, c in enumerate(faces))
        diagonal = np.where(active > 0, total, 0).astype(np.float32)
        return cls(faces, (diagonal,), active_blocks(active), int(active.sum()))

    def product(self, x: np.ndarray) -> np.ndarray:
        """A x in the precision of x; the coefficient of the face below a cell has the cell's index."""
        out = self.mask[0].astype(x.dtype) * x
        for a, c in enumerate(self.coefficients):
            c = c.astype(x.dtype)
            out -= c * np.roll(x, 1, axis=a) + np.roll(c, -1, axis=a) * np.roll(x, -1, axis=a)
        return np.where(self.mask[0] > 0, out, 0)

    def apply(self, d: Vector, q: Vector) -> float:
        self.applied += 1
        q[0][:] = self.product(d[0])
        return float((d[0].astype(np.float64) * q[0]).sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        r[0][:] = np.where(self.mask[0] > 0, b[0] - self.product(x[0]), 0)

    def true_residual(self, b: Vector, x: Vector) -> float:
        """|b - A x| / |b|, largest entries, in float64."""
        inside = self.mask[0] > 0
        r = (b[0].astype(np.float64) - self.product(x[0]))[inside]
        return float(np.abs(r).max() / np.abs(b[0][inside]).max())


def solve(system: Diffusion, b: Vector, x: Vector, tolerance: float, limit: int, floor: float = 0.0) -> SolveStats:
    return conjugate_gradients(system, Diagonal(system.mask, system.blocks), b, x, SolveLimits(tolerance, limit, floor))


def right_hand_side(system: Diffusion, seed: int = 0) -> Vector:
    values = np.random.default_rng(seed).normal(size=SHAPE)
    return (np.where(system.mask[0] > 0, values, 0).astype(np.float32),)


def nothing() -> Vector:
    return (np.zeros(SHAPE),)


def test_the_matrix_of_these_tests_is_symmetric_and_positive():
    system = Diffusion.build(contrast=100.0)
    x, y = (right_hand_side(system, s)[0].astype(np.float64) for s in (1, 2))
    assert (x * system.product(y)).sum() == pytest.approx((y * system.product(x)).sum(), rel=1e-6)
    assert (x * system.product(x)).sum() > 0


# 1e-9 lies far below what a float32 residual can show.
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-7, 1e-9])
@pytest.mark.parametrize("contrast", [1.0, 1e3])
def test_the_recomputed_residual_meets_the_tolerance(tolerance, contrast):
    system = Diffusion.build(contrast)
    b, x = right_hand_side(system), nothing()
    stats = solve(system, b, x, tolerance, 2000)
    assert stats.converged
    # What is reported is rounded to float32 once: relative 1e-7.
    assert system.true_residual(b, x) <= tolerance * (1 + 1e-5)


def test_the_solution_is_that_of_a_direct_solve():
    system = Diffusion.build()
    exact = right_hand_side(system, 3)[0].astype(np.float64)
    b, x = (system.product(exact).astype(np.float32),), nothing()
    solve(system, b, x, 1e-9, 2000)
    # The right-hand side itself is rounded to float32.
    assert np.abs(x[0] - exact).max() < 1e-5


def test_samples_that_are_not_unknowns_stay_zero():
    system = Diffusion.build()
    x = nothing()
    solve(system, right_hand_side(system), x, 1e-6, 2000)
    assert not x[0][system.mask[0] == 0].any()


def test_what_is_reported_is_the_true_residual():
    system = Diffusion.build(1e3)
    b, x = right_hand_side(system), nothing()
    stats = solve(system, b, x, 1e-4, 2000)
    assert stats.residual == pytest.approx(system.true_residual(b, x), rel=1e-5)


def test_one_product_per_iteration():
    system = Diffusion.build()
    stats = solve(system, right_hand_side(system), nothing(), 1e-5, 2000)
    assert stats.iterations == system.applied > 5


def test_too_few_iterations_are_reported():
    system = Diffusion.build(1e3)
    b, x = right_hand_side(system), nothing()
    stats = solve(system, b, x, 1e-6, 3)
    assert not stats.converged
    assert stats.iterations == 3
    assert stats.residual == pytest.approx(system.true_residual(b, x), rel=1e-5)
    assert stats.residual > 1e-6


def test_a_tolerance_out_of_reach_is_reported():
    """float64 cannot do it: it ends at the limit and says so."""
    system = Diffusion.build()
    stats = solve(system, right_hand_side(system), nothing(), 1e-30, 200)
    assert not stats.converged


def test_an_indefinite_matrix_is_reported():
    system = Diffusion.build()
    system.product = lambda x: -x  # type: ignore[method-assign]
    stats = solve(system, right_hand_side(system), nothing(), 1e-6, 50)
    assert not stats.converged


def test_a_zero_right_hand_side_has_the_solution_zero():
    system = Diffusion.build()
    x = (np.ones(SHAPE),)
    stats = solve(system, nothing_float32(), x, 1e-6, 50)
    assert stats.converged
    assert stats.iterations == 0
    assert not x[0].any()


def nothing_float32() -> Vector:
    return (np.zeros(SHAPE, np.float32),)


def test_a_right_hand_side_below_the_floor_takes_no_iterations():
    system = Diffusion.build()
    b = right_hand_side(system)
    size = float(np.abs(b[0]).max())
    stats = solve(system, b, nothing(), 1e-3, 50, floor=2e3 * size)
    assert stats.converged
    assert stats.iterations == 0


def test_a_start_at_the_solution_takes_no_iterations():
    system = Diffusion.build(1e3)
    b, x = right_hand_side(system), nothing()
    solve(system, b, x, 1e-7, 2000)
    before = x[0].copy()
    stats = solve(system, b, x, 1e-6, 2000)
    assert stats.converged
    assert stats.iterations == 0
    assert np.array_equal(x[0], before)


def test_a_start_near_the_solution_takes_fewer_iterations():
    system = Diffusion.build(1e3)
    b, x = right_hand_side(system), nothing()
    cold = solve(system, b, x, 1e-3, 2000).iterations
    warm = solve(system, b, x, 1e-6, 2000).iterations
    whole = solve(system, b, nothing(), 1e-6, 2000).iterations
    assert 0 < warm < whole
    assert cold < whole


def test_a_right_hand_side_that_is_not_finite_raises():
    system = Diffusion.build()
    b = right_hand_side(system)
    b[0][10, 8, 11] = np.nan
    with pytest.raises(SolverError, match="diffusion"):
        solve(system, b, nothing(), 1e-6, 50)


def test_the_solution_does_not_depend_on_the_number_of_threads():
    answers = []
    for count in (1, 2):
        with threads(count):
            system = Diffusion.build(1e3)
            x = nothing()
            stats = solve(system, right_hand_side(system), x, 1e-7, 2000)
            answers.append((x[0], stats.iterations, stats.residual))
    assert np.array_equal(answers[0][0], answers[1][0])
    assert answers[0][1:] == answers[1][1:]


def test_no_unknowns_need_no_work():
    system = Diffusion.build()
    system.mask = (np.zeros(SHAPE, np.float32),)
    system.blocks, system.unknowns = np.zeros((0, 4), np.int32), 0
    stats = solve(system, nothing_float32(), nothing(), 1e-6, 50)
    assert stats.converged
    assert stats.iterations == 0


def test_the_largest_sample_of_a_float64_field_is_refused():
    system = Diffusion.build()
    field = (np.where(system.mask[0] > 0, np.float32(0.25), np.float32(0.0)),)
    assert largest(field, system.blocks) == 0.25
    with pytest.raises(TypeError, match="float32"):
        largest((field[0].astype(np.float64),), system.blocks)


def impossible():
    raise SolverError("the coarsest grid of multigrid is not positive")


def test_a_preconditioner_that_cannot_be_made_gives_way_to_the_next():
    system = Diffusion.build()
    b = (np.where(system.mask[0] > 0, 1.0, 0.0).astype(np.float32),)
    x = zeros_like(system, np.float64)
    stats = solve_with_fallback(
        system, [impossible, lambda: Diagonal(system.mask, system.blocks)], b, x, SolveLimits(1e-5, 500)
    )
    assert stats.converged and system.true_residual(b, x) < 1e-5
    with pytest.raises(SolverError):
        solve_with_fallback(system, [impossible], b, x, SolveLimits(1e-5, 500))


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_the_largest_sample_of_a_whole_array_is_found_wherever_it_is(size):
    values = np.linspace(-1.0, 0.5, size).astype(np.float32).reshape(-1, 1)
    assert largest_in(values) == 1.0
    values[-1] = 3.0
    assert largest_in(values) == 3.0
    for bad in (np.nan, np.inf, -np.inf):
        spoilt = values.copy()
        spoilt[size // 2] = bad
        assert not np.isfinite(largest_in(spoilt))
