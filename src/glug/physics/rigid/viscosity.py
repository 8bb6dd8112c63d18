"""Rigid bodies in the viscous solve: their velocities are unknowns of the same minimisation.

A strain row next to solids is E (u + R v + u_s): faces in a body are R v, those in scripted solids u_s. Minimising

    1/2 (u - u*)' M (u - u*) + 1/2 (v - v*)' M_v (v - v*) + 1/2 sum K V (E u + E R v + E u_s)^2

and eliminating v gives, with J = R' E' K V E, H = M_v + R' E' K V E R and h = M_v v* - R' E' K V E u_s,

    (A - J' H^-1 J) u = M u* - E' K V E u_s - J' H^-1 h,      H v = h - J u

so a body is dragged as much as it drags. H^-1 is that of the motions which an axle leaves.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.regular import Staggered, lower_upper, mapped
from glug.physics.rigid.bodies import Drag, RigidBodies
from glug.physics.terms import Term
from glug.physics.viscosity.strain_rows import WallRows, strain_rows
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Rows

if TYPE_CHECKING:
    from glug.physics.viscosity.slip import SlipTerm
    from glug.physics.viscosity.weights import StressWeights


@dataclass
class ViscousBodies:
    """Rigid bodies as a term of a viscous solve: T = -H^-1, h as above, and z is their velocity."""

    bodies: RigidBodies
    rows: list[Rows]  # J' of every body
    T: np.ndarray  # (n, m, m), on the motions that each body has
    known: np.ndarray  # (n, m): R' E' K V E u_s, what scripted solids pull

    @classmethod
    def build(
        cls,
        solid: SolidField,
        solid_faces: Staggered,
        weights: "StressWeights",
        bodies: RigidBodies,
        slip: "SlipTerm | None" = None,
        *,
        carried: np.ndarray | None = None,
    ) -> "ViscousBodies":
        """From the strain rows that touch solid faces, and the surfaces of bodies along which the liquid slips.

        `carried` (n, m, m) are the masses of what moves with the bodies besides themselves.
        """
        drag = _strain_drag(solid, solid_faces, weights, bodies)
        rows, T, known = [], [], np.zeros_like(bodies.velocity)
        for n, (description, own) in enumerate(zip(bodies.bodies, drag)):
            found = [own] if slip is None else [own, slip.drag(description.number, bodies.motions_at(n))]
            H = bodies.M_v[n] + sum(d.H for d in found)
            if carried is not None:
                H += carried[n]
            T.append(-bodies.constrained_inverse(H, description))
            known[n] = sum(d.known for d in found)
            rows.append((np.concatenate([d.sample for d in found]), np.concatenate([d.value for d in found])))
        return cls(bodies, rows, np.array(T), known)

    def given(self, b: Vector, velocity: Staggered) -> np.ndarray:
        return np.einsum("nij,nj->ni", self.bodies.M_v, self.bodies.velocity) - self.known

    def respond(self, y: np.ndarray) -> np.ndarray:
        return np.einsum("nij,nj->ni", self.T, y)

    def finish(self, z: np.ndarray, x: Vector) -> None:
        self.bodies.velocity[:] = z

    def crossing(self, other: Term) -> None:
        """What else meets bodies answers."""


def _strain_drag(
    solid: SolidField, solid_faces: Staggered, weights: "StressWeights", bodies: RigidBodies
) -> list[Drag]:
    """Of every body, by the strain rows that touch its faces."""
    grid, m = bodies.grid, bodies.velocity.shape[1]
    weights = _near(bodies, weights)

    def known(velocity: Staggered) -> WallRows:
        return strain_rows(grid, replace(solid, velocity=velocity), solid_faces, weights, every=False)

    base = known(bodies.walls_at_rest)
    body = _body_of_rows(base, solid, bodies)
    mine = np.flatnonzero(body >= 0)
    order = mine[np.argsort(body[mine], kind="stable")]
    ER = np.zeros((len(order), m))
    for k in range(m):
        unit = np.zeros_like(bodies.velocity)
        unit[:, k] = 1.0
        ER[:, k] = known(bodies.written(unit, grid.staggered())).known[order]
    moved = np.abs(ER).max(axis=1) > 0.0
    order, ER = order[moved], ER[moved]
    index, weight = base.index[order], base.weight[order]
    stiffness, other, body = base.stiffness[order], base.known[order], body[order]
    ends = np.searchsorted(body, np.arange(len(bodies.bodies) + 1))
    found = []
    for begin, end in pairwise(ends):
        part = slice(begin, end)
        KVER = stiffness[part, None] * ER[part]
        used = index[part] >= 0
        values = weight[part][:, :, None] * KVER[:, None, :]
        H, along = np.einsum("ni,nj->ij", ER[part], KVER), np.einsum("ni,n->i", KVER, other[part])
        found.append(Drag(H, along, index[part][used], values[used]))
    return found


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
