"""A new kind of reduced unknown is one class: a plate that a few samples push, through every solve that takes terms."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from setups import NO_WALLS, PRESSURE

from glug.geometry.solids.field import Walls, sample_solids
from glug.grids.regular import CENTRE, Grid, Staggered, copied
from glug.physics.pressure.problem import PressureProblem
from glug.physics.reference.scenes import pressure_matrix, reference_viscosity
from glug.physics.terms import Term
from glug.physics.viscosity.problem import ViscosityProblem
from glug.scene.bodies import Solid
from glug.solvers.cg import Vector
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import Rows

N = 12
GRID = Grid(1.0 / N, (N + 4,) * 3, (-2,) * 3)
TIGHT = SolveLimits(1e-7, 2000)


@dataclass
class Plate:
    """One unknown z: T z is what the samples push with, less h. All that a solve asks of a term is here."""

    sample: np.ndarray
    strength: float  # T
    h: float = 0.0
    leans: float = 0.0  # X towards other plates
    z: list[float] = field(default_factory=list)

    @property
    def rows(self) -> list[Rows]:
        return [(self.sample, np.linspace(0.5, 1.5, len(self.sample))[:, None])]

    @property
    def T(self) -> np.ndarray:
        return np.full((1, 1, 1), self.strength)

    def given(self, b: Vector, velocity: Staggered) -> np.ndarray:
        return np.full((1, 1), self.h)

    def respond(self, y: np.ndarray) -> np.ndarray:
        return self.strength * y

    def finish(self, z: np.ndarray, x: Vector) -> None:
        self.z.append(float(z[0, 0]))

    def crossing(self, other: Term) -> np.ndarray | None:
        return np.full((1, 1), self.leans) if self.leans and isinstance(other, Plate) else None


PISTON = Solid(
    name="piston",
    shape={"kind": "box", "lower": [-1, 0.7, -1], "upper": [2, 2, 2]},
    motion={"kind": "linear", "velocity": [0, -0.5, 0]},
)


def tank(*plates: Plate, closed: bool = False) -> PressureProblem:
    """A pool in a box with an open top, or a box full of liquid into which a piston moves."""
    solid = sample_solids(GRID, Walls((0.0,) * 3, (1.0, np.inf, 1.0)), [PISTON] if closed else [], 0.0)
    phi = (GRID.points(CENTRE)[..., 1] - (2.0 if closed else 0.65)).astype(np.float32)
    return replace(PressureProblem.build(GRID, phi, solid), more_terms=plates)


def plates(count: int) -> list[Plate]:
    """In the floor, a few cells each."""
    cells = np.ravel_multi_index(np.meshgrid([4, 5], [2], [4, 5, 6], indexing="ij"), GRID.shape).ravel()
    return [Plate(cells, 0.8, h=0.3), Plate(cells + 6, 0.5, leans=0.4)][:count]


def stirred() -> Staggered:
    rng = np.random.default_rng(4)
    u, v, w = (0.3 * rng.normal(size=a.shape).astype(np.float32) for a in GRID.staggered())
    return u, v, w


def dense(problem: PressureProblem, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q over the liquid cells and z of [A, J'; J, H], nothing eliminated; H = -T^-1 with X beside it."""
    liquid, terms = problem.liquid.ravel() > 0, problem.more_terms
    A = pressure_matrix(problem.system).toarray()
    J = np.zeros((len(terms), liquid.size))
    for row, term in zip(J, terms):
        row[term.rows[0][0]] = term.rows[0][1][:, 0]
    H = np.diag([-1.0 / term.strength for term in terms])
    if len(terms) == 2:
        H[0, 1] = H[1, 0] = terms[1].leans
    J = J[:, liquid]
    whole = np.block([[A, J.T], [J, H]])
    found = np.linalg.solve(whole, np.concatenate([b.ravel()[liquid], [term.h for term in terms]]))
    return found[: len(A)], found[len(A) :]


@pytest.mark.parametrize("solver", ["multigrid", "jacobi-cg", "reference"])
@pytest.mark.parametrize(
    ("count", "closed"), [(1, False), (2, False), (1, True)], ids=["one", "two that meet", "closed"]
)
def test_a_projection_with_a_term_of_ones_own_is_the_dense_solution(count, closed, solver):
    """In a closed box the plate is all that gives way to the piston."""
    problem, velocity = tank(*plates(count), closed=closed), stirred()
    assert problem.components.free.any() != closed
    b = problem.right_hand_side(velocity)
    expected, z = dense(problem, b)
    q, stats = problem.project(velocity, TIGHT, solver=PRESSURE[solver])
    assert stats.converged
    scale = np.abs(expected).max()
    np.testing.assert_allclose(q[problem.liquid > 0], expected, atol=1e-4 * scale)
    np.testing.assert_allclose([term.z[0] for term in problem.more_terms], z, atol=1e-4 * scale)
    assert np.abs(z).min() > 1e-3 * scale


def test_without_it_the_answer_is_another():
    """The control."""
    with_it, without, velocity = tank(*plates(1)), tank(), stirred()
    q, other = (problem.project(copied(velocity), TIGHT)[0] for problem in (with_it, without))
    assert np.abs(q - other).max() > 0.05 * np.abs(other).max()


def test_a_viscous_solve_takes_a_term_of_ones_own():
    """A plate that holds back some faces of a ball of honey: fast as assembled."""
    phi = (np.linalg.norm(GRID.points(CENTRE) - 0.5, axis=-1) - 0.35).astype(np.float32)
    solid = sample_solids(GRID, NO_WALLS, [], 0.0)
    shape = GRID.staggered()[0].shape
    faces = np.ravel_multi_index(np.meshgrid([7, 8, 9], [8], [7, 8], indexing="ij"), shape).ravel()
    found = []
    for solve in (lambda problem, u: problem.solve(u, TIGHT), reference_viscosity):
        plate, velocity = Plate(faces, 3.0), stirred()
        problem = replace(ViscosityProblem.build(GRID, phi, solid, 5.0), more_terms=(plate,))
        assert solve(problem, velocity).converged
        found.append((velocity, plate.z[0]))
    (fast, z), (assembled, expected) = found
    assert z == pytest.approx(expected, rel=1e-3)
    assert max(np.abs(a - b).max() for a, b in zip(fast, assembled)) < 1e-4
