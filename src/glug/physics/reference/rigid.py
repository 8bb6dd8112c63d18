"""Reference two-way coupling of rigid bodies with pressure, in float64, 2D and 3D (Batty 2010, section 2.3.1).

Faces in a body move with it: u = R v, where v is the velocity of its centre and its rotation. With w the fraction of
every face that the body closes, the liquid around it satisfies D (A u + w R v) = 0, and the pressures that see to it
push the body as much:

    u = u* - dt/rho G p        v = v* + dt M^-1 (D w R)' p,        M = rho_body R' w R        (per volume of a cell)

so the matrix is dt/rho D A D' + dt J' M^-1 J with J = (D w R)'. The mass M follows from the same fractions: a body as
heavy as the liquid then rests in it to rounding.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from glug.grids.operators import Operators
from glug.physics.reference.pressure import AreaPressure
from glug.physics.rigid.bodies import rigid_rows


@dataclass(frozen=True)
class Body:
    """A rigid body on the faces: `closed` is the fraction of each that it closes."""

    closed: np.ndarray
    R: np.ndarray  # (faces, m)
    density: float  # [kg/m3]

    @classmethod
    def at(cls, operators: Operators, closed: np.ndarray, density: float, centre: np.ndarray | None = None) -> "Body":
        """About its own centre, from the fractions, or about a given one."""
        if centre is None:
            parts = np.split(closed, np.cumsum([operators.count(o) for o in operators.faces])[:-1])
            total = sum(p @ operators.points(o) for p, o in zip(parts, operators.faces))
            centre = np.asarray(total) / closed.sum()
        R = [rigid_rows(operators.points(o), a, centre, operators.dim) for a, o in enumerate(operators.faces)]
        return cls(closed, np.concatenate(R), density)

    @property
    def mass(self) -> np.ndarray:
        """rho R' w R, over the volume of a cell."""
        return self.density * self.R.T @ (self.closed[:, None] * self.R)


@dataclass(frozen=True)
class RigidPressure:
    """A projection and the bodies in it."""

    problem: AreaPressure
    operators: Operators
    bodies: list[Body]

    def solve(self, u_star: np.ndarray, v_star: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Face velocities, velocities of the bodies, and the pressure [Pa] of every cell."""
        problem, valid = self.problem, self.problem.valid
        B = problem.rows.B[valid]
        matrix = problem.stress_matrix()
        b = B @ (problem.fluid_face * u_star)
        Js, inverses = [], []
        for body, v in zip(self.bodies, v_star):
            J = sparse.csr_matrix((-B @ (body.closed[:, None] * body.R)).T)
            Js.append(J)
            inverses.append(np.linalg.inv(body.mass))
            matrix = matrix + problem.dt * J.T @ sparse.csr_matrix(inverses[-1]) @ J
            b -= J.T @ v
        p = np.zeros(len(valid))
        p[valid], _ = problem._solve_flat(sparse.csr_matrix(matrix), b, "direct")
        u = u_star.copy()
        m = problem.moves
        push = B.T @ p[valid]
        u[m] -= problem.dt * push[m] / (problem.density[m] * problem.liquid_face[m])
        moved = [v + problem.dt * inverse @ (J @ p[valid]) for v, J, inverse in zip(v_star, Js, inverses)]
        return u, moved, p

    def energy(self, u: np.ndarray, v: list[np.ndarray]) -> float:
        """Kinetic energy of liquid and bodies, over the volume of a cell."""
        m = self.problem.moves
        mass = (self.problem.density * self.problem.fluid_face * self.problem.liquid_face)[m]
        return float(0.5 * mass @ u[m] ** 2 + sum(0.5 * w @ body.mass @ w for body, w in zip(self.bodies, v)))
