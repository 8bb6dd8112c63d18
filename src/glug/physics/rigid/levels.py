"""The grids of a pressure solve with rigid bodies.

On the finest grid a body is what it is, A + J' T J. Coarser grids cannot see it, and would take it for a wall; there it
is liquid of its own density: in a uniform flow the two do the same, and to what varies across it a body gives way less.
Smoothing knows the bodies' velocity at its beginning only: that converges as long as J' T J stays below what the
sweeps leave of A, so light and thin bodies count with a limited part of T.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from glug.grids.blocks import active_blocks
from glug.grids.kernels import sum_faces
from glug.physics.pressure.levels import PressureLevel
from glug.physics.rigid import kernels
from glug.physics.rigid.bodies import RigidBodies
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Coupled, Joined, LowRank, Rows
from glug.solvers.smoothers import GaussSeidel

FLUID = 0.5  # of what liquid of a body's density would pass on: fewest iterations for 1 to 400 bodies (0.1 to 1 tried)
MOST = 1.0  # the largest eigenvalue of J' T J that smoothing takes; the diagonal of A is about 6


class BodyLevel(Coupled):
    """The finest level, with what sweeps know of the terms."""

    def __init__(self, fine: PressureLevel, bodies: LowRank | Joined):
        super().__init__(fine, bodies)
        self.fine = fine

    def push(self, x: Vector) -> np.ndarray:
        """T J x: what pressures x give the bodies."""
        return self.low_rank.times_matrix(self.low_rank.sums(x))

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - (A + J' T J) x, as exactly as float32 allows."""
        self.fine.residual(b, x, r)
        self.low_rank.add(-self.push(x), r)

    def restrict(self, r: Vector, coarse: PressureLevel, b: Vector) -> None:
        self.fine.restrict(r, coarse, b)

    def interpolate(self, e: Vector, x: Vector) -> None:
        self.fine.interpolate(e, x)


class BodySmoother:
    """`sweeps` of Gauss-Seidel; on the finest level against the push that the bodies have at their beginning."""

    def __init__(self, sweeps: int):
        self._liquid = GaussSeidel(sweeps)

    def start(self, level: BodyLevel | PressureLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        self._liquid.start(level.fine if isinstance(level, BodyLevel) else level, b, x, scratch)  # nothing pushes yet

    def forward(self, level: BodyLevel | PressureLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        _pushed(self._liquid.forward, level, b, x, scratch)

    def backward(self, level: BodyLevel | PressureLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        _pushed(self._liquid.backward, level, b, x, scratch)


def _pushed(
    sweeps: Callable[[PressureLevel, Vector, Vector, Vector], None],
    level: BodyLevel | PressureLevel,
    b: Vector,
    x: Vector,
    scratch: Vector,
) -> None:
    if not isinstance(level, BodyLevel):
        sweeps(level, b, x, scratch)
        return
    touched = level.low_rank.touched()[0]
    flat = b[0].reshape(-1)
    kept = flat[touched]
    level.low_rank.add(-level.push(x), b)
    sweeps(level.fine, b, x, scratch)
    flat[touched] = kept


class BodyGrids:
    """The levels of pressure systems that hold the same bodies; `rows` are theirs."""

    def __init__(self, bodies: RigidBodies, rows: Sequence[Rows]):
        self.bodies, self.rows = bodies, rows
        # No matrix product over the rows: its sums would depend on threads.
        squares = np.stack([np.einsum("ni,nj->ij", value, value) for _, value in rows])  # J J'
        largest = np.linalg.eigvals(bodies.T @ squares).real.max(axis=1)
        self._share = np.minimum(1.0, MOST / np.maximum(largest, MOST))  # of T, that smoothing takes

    def smoothed(self, mask: Vector, whole: LowRank | None = None) -> LowRank:
        """J' T J with the part of T that smoothing takes; `whole` is J' T J, where it is there already."""
        low = LowRank(mask, self.rows, self.bodies.T) if whole is None else whole
        return low if self._share.min() == 1.0 else low.with_matrix(self._share[:, None, None] * self.bodies.T)

    @contextmanager
    def filled(self, fine: PressureLevel) -> Iterator[PressureLevel]:
        """`fine` with bodies as liquid that passes pressure on as well as they give way.

        The few links and areas that differ are changed in place, and put back: copies would cost more than the rest.
        """
        bodies, conduction = self.bodies, FLUID * self._share * self.bodies.lightness
        phi, liquid, diagonal = fine.phi.copy(), fine.liquid.copy(), np.empty_like(fine.diagonal)
        kept = []
        try:
            for f, link, area, a in zip(bodies.faces, fine.links, fine.area, range(3)):
                kept.append(np.empty((len(f.index), 2), np.float32))
                kernels.fill_bodies(a, f.index, f.body, f.closed, conduction, liquid, phi, link, area, kept[-1])
            sum_faces(*fine.links, liquid, diagonal)
            yield replace(fine, phi=phi, liquid=liquid, diagonal=diagonal, blocks=active_blocks(liquid))
        finally:
            for f, link, area, old in zip(bodies.faces, fine.links, fine.area, kept):
                link.reshape(-1)[f.index] = old[:, 0]
                area.reshape(-1)[f.index] = old[:, 1]
