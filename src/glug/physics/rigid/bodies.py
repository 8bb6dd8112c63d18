"""Rigid bodies in the solves of a step: faces in a body move with it, u = R v (Batty 2010, section 2.3.1).

A body closes the fraction `closed` of a face. The liquid's divergence is D u + J' v, where J' is D R with `closed` in
the place that `area` has in D, and the pressures that make it what it is to be push the body as much, v = v* + T J q,
in the units of `physics.pressure.problem` with

    T = M_v^-1,     M_v = rho_body / rho  R' closed R,

so the matrix of the pressure becomes A + J' T J. The mass follows from the same fractions as the liquid's: a body as
heavy as the liquid rests in it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.regular import FACES, Grid, Staggered, copied
from glug.physics.rigid import kernels
from glug.physics.terms import Term
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Rows

# A body's volume on the grid may differ from its true one by this share; beyond (a body thinner than a cell, or one
# that leaves the window) its true mass counts.
TRUST = 0.25
TINY = 1e-9  # of a face: what rounding leaves of entries that cancel inside a body
REACTS = 1e-3  # of its rows: a closed component with more than this net push on a body cannot move without it


def rigid_rows(points: np.ndarray, axis: int, centre: np.ndarray, dim: int) -> np.ndarray:
    """R at points (n, dim): the component `axis` of v + omega x (x - centre); omega is one number in 2D."""
    d = points - centre[:dim]
    rows = np.zeros((len(points), 3 if dim == 2 else 6))
    rows[:, axis] = 1.0
    if dim == 2:
        rows[:, 2] = -d[:, 1] if axis == 0 else d[:, 0]
    else:
        b, c = (axis + 1) % 3, (axis + 2) % 3
        rows[:, 3 + b] = d[:, c]
        rows[:, 3 + c] = -d[:, b]
    return rows


@dataclass(frozen=True)
class Inertia:
    """What a body is: its number among the scene's solids, where it is, and its mass."""

    number: int
    centre: np.ndarray  # (3,) [m] of mass
    density: float  # [kg/m3]
    mass: float  # [kg]
    inertia: np.ndarray  # (3, 3) [kg m2] about the centre, now
    free: np.ndarray | None = None  # (m, k): the motions that an axle leaves; None for all


@dataclass(frozen=True)
class Drag:
    """What viscous liquid does to a body of unit motion: the force on itself, on what is known, and on samples.

    That of strain rows is written here; slip along a body has a `Drag` of its own.
    """

    H: np.ndarray  # (m, m): R' E' K V E R
    known: np.ndarray  # (m,): R' E' K V E u_s, u_s of scripted solids
    sample: np.ndarray  # (n,) flat, through all axes
    value: np.ndarray  # (n, m): J' = E' K V E R


@dataclass
class _Faces:
    """The faces along one axis whose velocity is a body's."""

    index: np.ndarray  # flat
    body: np.ndarray
    closed: np.ndarray  # fraction that the body closes
    R: np.ndarray  # (n, m)


@dataclass
class RigidBodies:
    """The bodies of one moment on a grid. `velocity` (n, m) is what they move with: all that solves change."""

    grid: Grid
    bodies: list[Inertia]
    faces: list[_Faces]  # that bodies close, if only in part; sorted by body
    beside: list[_Faces]  # others whose velocity is a body's
    M_v: np.ndarray  # (n, m, m): mass matrices over rho dx^3
    velocity: np.ndarray
    lightness: np.ndarray  # (n,): the liquid's density over the body's, zero for those on an axle
    scripted: Staggered  # the velocity of all moving solids on their faces, as the step begins
    T: np.ndarray = field(init=False)  # (n, m, m): M_v^-1 on the motions that each body has
    _walls: Staggered | None = None

    def __post_init__(self) -> None:
        self.T = np.stack([self.constrained_inverse(M_v, b) for M_v, b in zip(self.M_v, self.bodies)])

    @classmethod
    def build(cls, grid: Grid, solid: SolidField, bodies: list[Inertia], density: float) -> "RigidBodies":
        """From the faces that the solids own; `density` [kg/m3] is the liquid's."""
        m = 3 if grid.dim == 2 else 6
        local = np.full(1 + max(b.number for b in bodies), -1)
        local[[b.number for b in bodies]] = np.arange(len(bodies))
        centres = np.array([b.centre for b in bodies])
        faces: list[_Faces] = []
        beside: list[_Faces] = []
        M_v = np.zeros((len(bodies), m, m))
        for a in grid.axes:
            assert solid.owner is not None and solid.clear is not None
            owner = solid.owner[a].reshape(-1)
            index = np.flatnonzero(owner >= 0)
            index = index[owner[index] < len(local)]
            body = local[owner[index]]
            index, body = index[body >= 0], body[body >= 0]
            order = np.argsort(body, kind="stable")
            index, body = index[order], body[order]
            where = np.stack(np.unravel_index(index, solid.owner[a].shape), axis=1) + np.array(FACES[a])
            points = (grid.corner + grid.dx * where)[:, : grid.dim]
            R = rigid_rows(points - centres[body][:, : grid.dim], a, np.zeros(grid.dim), grid.dim)
            closed = 1.0 - solid.clear[a].reshape(-1)[index].astype(np.float64)
            for chosen, found in ((closed > 0.0, faces), (closed <= 0.0, beside)):
                at = np.flatnonzero(chosen)
                found.append(_Faces(index[at], body[at], closed[at], R[at]))
            ends = np.searchsorted(faces[-1].body, np.arange(len(bodies) + 1))
            kernels.add_masses(ends, faces[-1].closed, faces[-1].R, M_v)
        for n, b in enumerate(bodies):
            cells = b.mass / (b.density * grid.dx**3)
            trusted = abs(np.trace(M_v[n][: grid.dim, : grid.dim]) / grid.dim - cells) <= TRUST * cells
            M_v[n] = M_v[n] * (b.density / density) if trusted else true_mass(b, grid.dim) / (density * grid.dx**3)
        lightness = np.array([density / b.density if b.free is None else 0.0 for b in bodies])
        assert solid.velocity is not None
        return cls(grid, bodies, faces, beside, M_v, np.zeros((len(bodies), m)), lightness, solid.velocity)

    @staticmethod
    def constrained_inverse(matrix: np.ndarray, body: Inertia) -> np.ndarray:
        """The inverse of a matrix (m, m) on the motions that the body has."""
        if body.free is None:
            return np.linalg.inv(matrix)
        return body.free @ np.linalg.inv(body.free.T @ matrix @ body.free) @ body.free.T

    @property
    def walls(self) -> Staggered:
        """The velocity of all solids on their faces, with the bodies as they move now; the next call overwrites it."""
        if self._walls is None:
            self._walls = copied(self.scripted)
        return self.written(self.velocity, self._walls)

    @property
    def walls_at_rest(self) -> Staggered:
        """The same with bodies that do not move."""
        return self.written(np.zeros_like(self.velocity), copied(self.scripted))

    def written(self, motions: np.ndarray, velocity: Staggered) -> Staggered:
        """`velocity` with that of bodies which move with `motions` (n, m) on the faces that are theirs, in place."""
        for a, *both in zip(self.grid.axes, self.faces, self.beside):
            for f in both:
                kernels.write_motions(f.index, f.body, f.R, motions, velocity[a].reshape(-1))
        return velocity

    def motions_at(self, body: int) -> Callable[[np.ndarray], np.ndarray]:
        """R of a body (n, 3, m): the velocity that its motions give points (n, 3) in cells from the window's corner."""
        centre, dim = np.asarray(self.bodies[body].centre, float), self.grid.dim

        def rows(points: np.ndarray) -> np.ndarray:
            away = (self.grid.corner + self.grid.dx * points - centre)[:, :dim]
            out = np.zeros((len(points), 3, self.velocity.shape[1]))
            for a in self.grid.axes:
                out[:, a] = rigid_rows(away, a, np.zeros(dim), dim)
            return out

        return rows

    def held(self, share: Staggered, *, with_closed: bool) -> list[_Faces]:
        """Faces whose velocity is a body's with the `share` of it that is open and held by the body.

        In `closed` is that share, and with it what the body closes itself if `with_closed`.
        """
        found = []
        for a, *both in zip(self.grid.axes, self.faces, self.beside):
            index, body, closed, R = (
                np.concatenate([getattr(f, name) for f in both]) for name in ("index", "body", "closed", "R")
            )
            closed = closed * with_closed + share[a].reshape(-1)[index]
            at = np.flatnonzero(closed > 0.0)
            at = at[np.argsort(body[at], kind="stable")]
            found.append(_Faces(index[at], body[at], closed[at], R[at]))
        return found

    def masses(self, faces: list[_Faces]) -> np.ndarray:
        """R' closed R of every body (n, m, m), over `faces`."""
        total = np.zeros_like(self.M_v)
        for f in faces:
            ends = np.searchsorted(f.body, np.arange(len(self.bodies) + 1))
            kernels.add_masses(ends, f.closed, f.R, total)
        return total

    def momenta(self, faces: list[_Faces], velocity: Staggered) -> np.ndarray:
        """R' closed u of every body (n, m), over `faces`."""
        total = np.zeros_like(self.velocity)
        for a, f in zip(self.grid.axes, faces):
            np.add.at(total, f.body, f.R * (f.closed * velocity[a].reshape(-1)[f.index])[:, None])
        return total

    def rows(self, liquid: np.ndarray, chosen: list[_Faces] | None = None) -> list[Rows]:
        """J' of every body: the net flux out of the liquid cells that goes with a unit of its motion.

        Through what it closes, or through the `closed` parts of the `chosen` faces.
        """
        count, m = self.velocity.shape
        through = self.faces if chosen is None else chosen
        faces = (through * 2)[:3]  # in 2D the third is not looked at
        ends = np.zeros((3, count + 1), np.int64)
        for a, f in zip(self.grid.axes, through):
            ends[a] = np.searchsorted(f.body, np.arange(count + 1))
        most = 2 * sum(len(f.index) for f in through)
        cell, value = np.empty(most, np.int64), np.empty((most, m))
        slot, first = np.full(liquid.size, -1, np.int32), np.empty(count + 1, np.int64)
        index, closed, R = (tuple(getattr(f, name) for f in faces) for name in ("index", "closed", "R"))
        kernels.gather_rows(ends, index, closed, R, liquid, slot, cell, value, first)
        size = np.einsum("nm,nm->n", value[: first[-1]], value[: first[-1]])
        parts = [np.flatnonzero(size[a:b] > TINY**2) + a for a, b in pairwise(first)]
        return [(cell[p], value[p]) for p in parts]

    def energy(self) -> float:
        """Kinetic energy over rho dx^3 [m2/s2]."""
        return 0.5 * float(np.einsum("ni,nij,nj->", self.velocity, self.M_v, self.velocity))


def true_mass(body: Inertia, dim: int) -> np.ndarray:
    """The mass matrix [kg, kg m2] about the centre."""
    if dim == 2:
        return np.diag([body.mass, body.mass, body.inertia[2, 2]])
    mass = np.zeros((6, 6))
    mass[:3, :3] = body.mass * np.eye(3)
    mass[3:, 3:] = body.inertia
    return mass


def wall_velocity(solid: SolidField, bodies: RigidBodies | None) -> Staggered | None:
    """The normal velocity of solids on the faces near them [m/s], now; None when nothing moves."""
    return solid.velocity if bodies is None else bodies.walls


class BodyPressure:
    """Rigid bodies as a term of a projection: J and T as above, and z is what the pressures add to their velocity."""

    def __init__(self, bodies: RigidBodies, liquid: np.ndarray, through: list[_Faces] | None = None):
        self.bodies, self.T = bodies, bodies.T
        self.rows = bodies.rows(liquid, through)

    def given(self, b: Vector, velocity: Staggered) -> np.ndarray:
        """Nothing: what the bodies' present velocity brings into the liquid is in b."""
        return np.zeros_like(self.bodies.velocity)

    def respond(self, y: np.ndarray) -> np.ndarray:
        return np.einsum("bij,bj->bi", self.T, y)

    def finish(self, z: np.ndarray, x: Vector) -> None:
        self.bodies.velocity += z

    def crossing(self, other: Term) -> None:
        """What else meets bodies answers."""

    def pushed(self, label: np.ndarray, count: int, net: np.ndarray | None = None) -> np.ndarray:
        """Which of `count` parts of the fluid, by the `label` of cells, push a body when their pressure rises.

        A piston's chamber does. `net` (count, bodies, m) is what else belongs to these parts pushes.
        """
        pushed = np.zeros(count, np.bool_)
        flat, dim = label.reshape(-1), self.bodies.grid.dim
        for n, ((cell, value), body) in enumerate(zip(self.rows, self.bodies.bodies)):
            total = np.zeros((count, value.shape[1])) if net is None else net[:, n].copy()
            gross = np.abs(total[:, :dim]).sum(axis=1)
            mine = flat[cell] >= 0
            np.add.at(total, flat[cell[mine]], value[mine])
            if body.free is not None:
                total = total @ body.free @ body.free.T
            np.add.at(gross, flat[cell[mine]], np.abs(value[mine, :dim]).sum(axis=1))
            pushed |= np.abs(total[:, :dim]).sum(axis=1) > REACTS * np.maximum(gross, 1.0)
        return pushed
