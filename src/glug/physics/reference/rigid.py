"""Reference two-way coupling of rigid bodies with pressure, in float64, on any mesh (Batty 2010, section 2.3.1).

Faces in a body move with it: u = R v, where v is the velocity of its centre and its rotation. With `closed` the
fraction of every face that the body closes, the liquid around it satisfies D (area u + closed R v) = 0, and the
pressures that see to it push the body as much:

    u = u* - dt/rho G p        v = v* + dt M_v^-1 J p,        M_v = rho_body R' closed V_F R

so the matrix is dt/rho V_C D area V_F^-1 D' V_C + dt J' M_v^-1 J with J' = V_C D closed R. The mass M_v follows from
the same fractions: a body as heavy as the liquid then rests in it to rounding. Volumes are over that of the largest
face.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from glug.grids.mesh import Mesh
from glug.physics.reference.pressure import AreaPressure


def rigid_motions(position: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """R: n . (v + omega x position) at faces (n, 3 in 2D, n, 6 in 3D); omega is one number in 2D."""
    if normal.shape[1] == 3:
        return np.concatenate([normal, np.cross(position, normal)], axis=1)
    turn = position[:, 0] * normal[:, 1] - position[:, 1] * normal[:, 0]
    return np.concatenate([normal, turn[:, None]], axis=1)


@dataclass(frozen=True)
class Body:
    """A rigid body on the faces: `closed` is the fraction of each that it closes."""

    closed: np.ndarray
    R: np.ndarray  # (faces, m)
    volume: np.ndarray  # of the faces
    density: float  # [kg/m3]

    @classmethod
    def at(cls, mesh: Mesh, closed: np.ndarray, density: float, centre: np.ndarray | None = None) -> "Body":
        """About its own centre, from the fractions, or about a given one."""
        volume = mesh.face_volume / mesh.face_volume.max()
        if centre is None:
            centre = (closed * volume) @ mesh.face_position / (closed @ volume)
        return cls(closed, rigid_motions(mesh.face_position - centre[: mesh.dim], mesh.face_normal), volume, density)

    @property
    def mass(self) -> np.ndarray:
        """M_v, over the volume of the largest face."""
        return self.density * self.R.T @ ((self.closed * self.volume)[:, None] * self.R)


@dataclass(frozen=True)
class RigidPressure:
    """A projection and the bodies in it."""

    problem: AreaPressure
    bodies: list[Body]

    def solve(self, u_star: np.ndarray, v_star: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Face velocities, velocities of the bodies, and the pressure [Pa] of every cell."""
        problem, valid = self.problem, self.problem.valid
        B = sparse.diags(problem.row_volume[valid]) @ problem.rows.B[valid]
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
        u[m] -= problem.dt * push[m] / (problem.density * problem.liquid_face * problem.face_volume)[m]
        moved = [v + problem.dt * inverse @ (J @ p[valid]) for v, J, inverse in zip(v_star, Js, inverses)]
        return u, moved, p

    def energy(self, u: np.ndarray, v: list[np.ndarray]) -> float:
        """Kinetic energy of liquid and bodies, over the volume of the largest face."""
        problem, m = self.problem, self.problem.moves
        mass = (problem.density * problem.fluid_face * problem.liquid_face * problem.face_volume)[m]
        return float(0.5 * mass @ u[m] ** 2 + sum(0.5 * w @ body.mass @ w for body, w in zip(self.bodies, v)))
