"""Rigid bodies in the viscous solve: their velocities are unknowns of the same minimisation.

A strain row next to a body is E u + G v: faces in the body are R v. Minimising

    1/2 (u - u*)' M (u - u*) + 1/2 (v - v*)' M_b (v - v*) + 1/2 sum K V (E u + G v + k)^2

(k is what scripted solids contribute) and eliminating v gives, with J' = E' K V G and C = M_b + G' K V G,

    (A - J' C^-1 J) u = M u* - E' K V k - J' C^-1 (M_b v* - G' K V k),      C v = M_b v* - G' K V k - J u

so a body is dragged as much as it drags. C^-1 is that of the motions which an axle leaves.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.regular import Grid, Staggered, copied, lower_upper, mapped
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.viscosity.strain_rows import WallRows, strain_rows
from glug.solvers.cg import Vector
from glug.solvers.low_rank import LowRank, Rows

if TYPE_CHECKING:
    from glug.physics.viscosity.problem import StressWeights


@dataclass
class ViscousBodies:
    """What the bodies add to a viscous system."""

    bodies: RigidBodies
    rows: list[Rows]  # J' of every body
    C: np.ndarray  # (n, m, m) inverse, on the motions that each body has
    momentum: np.ndarray  # (n, m): M_b v* - G' K V k

    @classmethod
    def build(
        cls, grid: Grid, solid: SolidField, solid_faces: Staggered, weights: "StressWeights", bodies: RigidBodies
    ) -> "ViscousBodies":
        """From the strain rows that touch solid faces."""
        m = bodies.velocity.shape[1]
        weights = _near(bodies, weights)

        def known(velocity: Staggered) -> WallRows:
            return strain_rows(grid, replace(solid, velocity=velocity), solid_faces, weights, every=False)

        assert solid.velocity is not None and solid.owner is not None
        at_rest = copied(solid.velocity)
        bodies.write_as(np.zeros_like(bodies.velocity), at_rest)
        base = known(at_rest)
        body = _body_of_rows(base, solid, bodies)
        mine = np.flatnonzero(body >= 0)
        order = mine[np.argsort(body[mine], kind="stable")]
        G = np.zeros((len(order), m))
        for k in range(m):
            velocity = tuple(np.zeros_like(u) for u in solid.velocity)
            unit = np.zeros_like(bodies.velocity)
            unit[:, k] = 1.0
            bodies.write_as(unit, velocity)
            G[:, k] = known(velocity).known[order]  # type: ignore[arg-type]
        moved = np.abs(G).max(axis=1) > 0.0
        order, G = order[moved], G[moved]
        index, weight = base.index[order], base.weight[order]
        stiffness, other, body = base.stiffness[order], base.known[order], body[order]
        rows, inverses = [], []
        momentum = np.einsum("nij,nj->ni", bodies.M, bodies.velocity)
        ends = np.searchsorted(body, np.arange(len(bodies.bodies) + 1))
        for n, description in enumerate(bodies.bodies):
            part = slice(ends[n], ends[n + 1])
            KG = stiffness[part, None] * G[part]
            C = bodies.M[n] + np.einsum("ni,nj->ij", G[part], KG)
            inverses.append(bodies.constrained_inverse(C, description))
            momentum[n] -= np.einsum("ni,n->i", KG, other[part])
            used = index[part] >= 0
            values = weight[part][:, :, None] * KG[:, None, :]
            rows.append((index[part][used], values[used]))
        return cls(bodies, rows, np.array(inverses), momentum)

    def renumbered(self, number: np.ndarray) -> "ViscousBodies":
        """The same for unknowns with other numbers; -1 for samples that are none."""
        rows = []
        for sample, value in self.rows:
            kept = number[sample] >= 0
            rows.append((number[sample[kept]], value[kept]))
        return replace(self, rows=rows)

    def low_rank(self, mask: Vector) -> LowRank:
        """-J' C^-1 J."""
        return LowRank(mask, self.rows, -self.C)

    def add_to(self, b: Vector, low_rank: LowRank) -> None:
        """b -= J' C^-1 (M_b v* - G' K V k)."""
        low_rank.add(-np.einsum("nij,nj->ni", self.C, self.momentum), b)

    def move(self, x: Vector, low_rank: LowRank) -> None:
        """The bodies take the velocity that goes with x."""
        self.bodies.velocity[:] = np.einsum("nij,nj->ni", self.C, self.momentum - low_rank.sums(x))


def _near(bodies: RigidBodies, weights: "StressWeights") -> "StressWeights":
    """The weights next to faces of bodies, zero elsewhere: few rows are left to look at."""
    shape = bodies.grid.shape
    near = np.zeros(shape, np.bool_)
    for a, *both in zip(bodies.grid.axes, bodies.faces, bodies.beside):
        index = np.concatenate([f.index for f in both])
        at = np.unravel_index(index, tuple(n + (b == a) for b, n in enumerate(shape)))
        near[tuple(np.minimum(i, n - 1) for i, n in zip(at, shape))] = True
    for a in range(3):
        before = near.copy()
        for wide, beside in zip(lower_upper(near, a), reversed(lower_upper(before, a))):
            wide |= beside

    def masked(field: np.ndarray) -> np.ndarray:
        at = np.ix_(*(np.minimum(np.arange(k), n - 1) for k, n in zip(field.shape, shape)))
        return np.where(near[at], field, np.float32(0.0))

    return replace(weights, cell=masked(weights.cell), edges=mapped(masked, weights.edges))


def _body_of_rows(rows: WallRows, solid: SolidField, bodies: RigidBodies) -> np.ndarray:
    """The body whose faces a row touches, -1 for none: that of the first of its unknown faces that has one."""
    assert solid.owner is not None
    number = {b.number: n for n, b in enumerate(bodies.bodies)}
    local = np.array([number.get(n, -1) for n in range(max(number) + 1)] + [-1])
    owner = np.concatenate([o.reshape(-1) for o in solid.owner])
    owner = local[np.where((owner >= 0) & (owner < len(local) - 1), owner, -1)]
    body = np.full(len(rows.index), -1)
    for slot in range(rows.index.shape[1]):
        at = rows.index[:, slot]
        found = np.where(at >= 0, owner[np.maximum(at, 0)], -1)
        body = np.where(body < 0, found, body)
    return body
