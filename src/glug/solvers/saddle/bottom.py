"""The coarsest level of a saddle point, factorised."""

from collections.abc import Callable

import numpy as np

from glug.solvers.multigrid import UNFIXED, DirectBottom, Level

GIVE = 1e-6  # of the Schur complement, for what else nothing fixes


class SaddleBottom(DirectBottom):
    """A saddle point [A B'; B 0] by a dense factorisation; its multipliers are the last field.

    `hold` is the share of the diagonal of A that is added to it.
    """

    def __init__(self, level: Level, hold: float = 0.0):
        self._hold = hold
        super().__init__(level)

    def _factorise(self, matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        from scipy.linalg import lu_factor, lu_solve

        begin = self._parts[-1].start
        rows = np.arange(begin)
        matrix[rows, rows] *= 1.0 + self._hold
        matrix[begin:, begin:] -= held_multipliers(matrix[:begin, :begin].diagonal(), matrix[begin:, :begin])
        factor = lu_factor(matrix, check_finite=False)
        return lambda b: lu_solve(factor, b, check_finite=False)


def held_multipliers(diagonal: np.ndarray, B: np.ndarray) -> np.ndarray:
    """What to take from the block of the multipliers so that it has an inverse: where a part of them knows its
    solution up to a constant, a weight on their mean, as in `multigrid.hold_constants`.
    """
    from scipy.sparse.csgraph import connected_components

    schur = (B / diagonal) @ B.T
    held = np.diag(GIVE * schur.diagonal())
    count, label = connected_components(schur != 0.0, directed=False)
    for part in range(count):
        mine = np.flatnonzero(label == part)
        if np.abs(B[mine].sum(axis=0)).max() <= UNFIXED * np.abs(B[mine]).max():
            held[np.ix_(mine, mine)] += schur[mine, mine].mean() / len(mine)
    return held
