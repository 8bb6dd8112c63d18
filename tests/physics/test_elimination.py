"""Eliminated terms against the whole block matrix [A J'; J H], dense and in float64, with nothing eliminated."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from glug.physics.terms import Eliminated
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Rows

SAMPLES = 40
UNKNOWN = np.arange(SAMPLES) % 5 != 0  # the others take no part
CLOSE = 1e-10  # of numbers of about 1, in float64: matrices have condition numbers of 100


def positive(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random symmetric matrices with eigenvalues of 1 and more."""
    half = rng.normal(size=shape)
    return half @ half.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])


class Dense:
    """A system over the unknown samples."""

    name = "dense"
    blocks = np.zeros((0, 4), np.int32)

    def __init__(self, rng: np.random.Generator):
        self.A = positive(rng, SAMPLES, SAMPLES)
        self.A[~UNKNOWN], self.A[:, ~UNKNOWN] = 0.0, 0.0
        self.mask: Vector = (UNKNOWN.astype(np.float32)[None, None],)
        self.unknowns = int(UNKNOWN.sum())

    def apply(self, d: Vector, q: Vector) -> float:
        q[0][:] = self.A @ d[0][0, 0]
        return float((d[0] * q[0]).sum())

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        r[0][:] = np.where(UNKNOWN, b[0] - self.A @ x[0][0, 0], 0.0)


@dataclass
class Items:
    """A term of random rows that share samples with those of others; `sign` is that of H."""

    rng: np.random.Generator
    count: int
    m: int
    sign: float
    rows: list[Rows] = field(init=False)
    z: np.ndarray = field(init=False)
    meets: dict[int, np.ndarray] = field(default_factory=dict)  # X by the identity of another term

    def __post_init__(self) -> None:
        self.rows = [
            (self.rng.permutation(SAMPLES)[:12], self.rng.normal(size=(12, self.m))) for _ in range(self.count)
        ]
        self.H = self.sign * 10.0 * positive(self.rng, self.count, self.m, self.m)
        self.T = -np.linalg.inv(self.H)
        self.h = self.rng.normal(size=(self.count, self.m))

    @property
    def J(self) -> np.ndarray:
        """Dense, (count m, samples), of the unknown ones."""
        out = np.zeros((self.count, self.m, SAMPLES))
        for rows, (sample, value) in zip(out, self.rows):
            rows[:, sample] = value.T
        return np.where(UNKNOWN, out, 0.0).reshape(-1, SAMPLES)

    def given(self, b: Vector, velocity: object) -> np.ndarray:
        return self.h

    def respond(self, y: np.ndarray) -> np.ndarray:
        return np.einsum("nij,nj->ni", self.T, y)

    def finish(self, z: np.ndarray, x: Vector) -> None:
        self.z = z

    def crossing(self, other: object) -> np.ndarray | None:
        return self.meets.get(id(other))


def whole(system: Dense, terms: list[Items], crossing: dict[tuple[int, int], np.ndarray]) -> np.ndarray:
    """[A J'; J H] over the unknown samples and all reduced unknowns, with blocks X of H between terms."""
    ends = SAMPLES + np.cumsum([0, *(t.count * t.m for t in terms)])
    out = np.zeros((ends[-1], ends[-1]))
    out[:SAMPLES, :SAMPLES] = system.A
    for t, begin, end in zip(terms, ends, ends[1:]):
        out[begin:end, :SAMPLES] = t.J
        for n, block in enumerate(t.H):
            at = slice(begin + n * t.m, begin + (n + 1) * t.m)
            out[at, at] = block
    for (i, j), X in crossing.items():
        out[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = X
    out[:SAMPLES, SAMPLES:] = out[SAMPLES:, :SAMPLES].T
    lower = np.tril_indices(len(out), -1)
    out[lower] = out.T[lower]
    keep = np.append(UNKNOWN, np.ones(ends[-1] - SAMPLES, np.bool_))
    return out[keep][:, keep]


def differences(seed: int, crossing: bool, forgotten: bool = False) -> tuple[float, float]:
    """How far eliminated terms are from the whole solution: the residual of x, and z."""
    rng = np.random.default_rng(seed)
    system, terms = Dense(rng), [Items(rng, 3, 6, -1.0), Items(rng, 4, 1, 1.0), Items(rng, 2, 3, 1.0)]
    X = {(0, 1): rng.normal(size=(18, 4)), (1, 2): rng.normal(size=(4, 6))} if crossing else {}
    b = np.where(UNKNOWN, rng.normal(size=SAMPLES), 0.0)
    every = np.concatenate([b[UNKNOWN], *(t.h.ravel() for t in terms)])
    solution = np.linalg.solve(whole(system, terms, X), every)
    x, r, right = (np.zeros((1, 1, SAMPLES)) for _ in range(3))
    x[0, 0, UNKNOWN], right[0, 0] = solution[: system.unknowns], b
    for (i, j), block in ({} if forgotten else X).items():
        terms[i].meets[id(terms[j])] = block
    eliminated = Eliminated(system.mask, terms)
    given = [t.given((right,), None) for t in terms]
    eliminated.prepare((right,), given)
    eliminated.couple(system).residual((right,), (x,), (r,))
    eliminated.finish((x,), (x,), given)
    z = np.concatenate([t.z.ravel() for t in terms])
    return float(np.abs(r).max()), float(np.abs(z - solution[system.unknowns :]).max())


@pytest.mark.parametrize("crossing", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_eliminated_terms_have_the_solution_of_the_whole_matrix(seed, crossing):
    assert max(differences(seed, crossing)) < CLOSE


def test_without_the_blocks_between_terms_they_have_another():
    assert min(differences(0, crossing=True, forgotten=True)) > 1e-3
