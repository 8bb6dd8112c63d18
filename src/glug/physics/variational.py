"""The one minimisation, assembled: pressure, viscosity and Stokes are the same problem with other rows.

With velocities u on faces and multipliers s (stresses, pressure) on rows B of a mesh, one step of length dt solves

    [ rho V_F W_F W_L / dt    W_F B' V_B W_L  ] [u]   [ rho V_F W_F W_L u* / dt + W_F f ]
    [ W_L V_B B W_F          -C V_B W_L W_F   ] [s] = [ W_L V_B (W_S B - B W_S) u_BC    ]

    f = W_A B' V_B s_BC - B' V_B W_A s_BC

(Batty 2010, eq. 4.40 with 4.46-4.49 and 4.42-4.45, where all control volumes are equal; the printed signs of all four
terms of s_BC in 4.45 are wrong and flipped here). rho is the density, C the compliance of the rows, V_F and V_B the
control volumes of faces and rows, W_L the liquid fraction of a control volume whatever is solid, W_F the fraction that
is not solid whatever is air, W_A = 1 - W_L, W_S = 1 - W_F. The free surface carries the traction s_BC (none) and walls
the velocity u_BC (none) because of these weights; nothing else is done about boundaries. The mesh is any `StrainMesh`
(any `Mesh` for pressure alone).

Null space (section 4.7). A row that touches a velocity without liquid is dropped and takes its boundary value; a
velocity that touches a row wholly in the solid is dropped and takes the wall's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from glug.errors import InputError, SolverError
from glug.grids.mesh import AXES, Fractions, Mesh, StrainMesh, axis_pairs, normal_strains, shear_strains
from glug.solvers.assembled.krylov import AMG, DIRECT, solve_general, solve_positive, solve_saddle
from glug.solvers.stats import SolveStats

Form = Literal["auto", "stress", "velocity", "kkt"]
NOTHING = SolveStats("nothing to solve", 0, 0, 0.0, 0.0, True)
LARGEST_3D = 10_000  # rows; factors fill up in 3D
FLAT = 1e-11  # of the matrix: a constant pressure that costs less than this belongs to the null space


@dataclass(frozen=True)
class Rows:
    """Constraints B u with multipliers s on a mesh; `compliance` is C, zero for pressure."""

    mesh: Mesh
    B: sparse.csr_matrix
    compliance: sparse.csr_matrix
    volume: np.ndarray  # V_B of every row [m^dim]
    liquid: np.ndarray  # W_L of every row
    fluid: np.ndarray  # W_F of every row
    slices: dict[str, slice] = field(default_factory=dict)  # p, tau_xx, tau_xy, ...

    @classmethod
    def stack(cls, *parts: Rows) -> Rows:
        slices: dict[str, slice] = {}
        begin = 0
        for part in parts:
            slices |= {name: slice(begin + s.start, begin + s.stop) for name, s in part.slices.items()}
            begin += len(part.liquid)
        return cls(
            parts[0].mesh,
            sparse.vstack([p.B for p in parts], format="csr"),
            sparse.block_diag([p.compliance for p in parts], format="csr"),
            np.concatenate([p.volume for p in parts]),
            np.concatenate([p.liquid for p in parts]),
            np.concatenate([p.fluid for p in parts]),
            slices,
        )


def pressure_rows(mesh: Mesh, liquid: np.ndarray, fluid: np.ndarray) -> Rows:
    """B = -D with the multiplier p, without compliance; `liquid` and `fluid` are the cells' W_L and W_F."""
    n = len(liquid)
    B = sparse.csr_matrix(-mesh.D)
    return Rows(mesh, B, sparse.csr_matrix((n, n)), mesh.cell_volume, liquid, fluid, {"p": slice(0, n)})


def stress_rows(
    mesh: StrainMesh,
    liquid: Fractions,
    fluid: Fractions,
    viscosity: float | tuple[np.ndarray, np.ndarray],
    *,
    trace_free: bool,
) -> Rows:
    """B u = C s for the viscous stresses; `viscosity` [Pa s] is a number, or values at cells and at edges.

    The full stress has a row d_a u_a = tau_aa / (2 mu) for every axis. Without a trace (in incompressible flow)
    the last one is eliminated: d_a u_a - d_z u_z = (tau_aa + sum_b tau_bb) / (2 mu). Shears are always
    d_b u_a + d_a u_b = tau_ab / mu.
    """
    n, kept = len(liquid.cell), mesh.dim - 1 if trace_free else mesh.dim
    mu_cell, mu_edge = viscosity if isinstance(viscosity, tuple) else (np.full(n, viscosity), viscosity)
    normal, shears = normal_strains(mesh), shear_strains(mesh)
    strains = [normal[a] - normal[-1] for a in range(kept)] if trace_free else normal
    pattern = np.eye(kept) + (1.0 if trace_free else 0.0)
    compliance = sparse.kron(pattern, sparse.diags(0.5 / mu_cell))
    shear = sparse.diags(np.broadcast_to(1.0 / np.asarray(mu_edge, dtype=float), len(liquid.edge)))
    slices = {f"tau_{AXES[a]}{AXES[a]}": slice(a * n, (a + 1) * n) for a in range(kept)}
    begin = kept * n
    for (a, b), rows in zip(axis_pairs(mesh.dim), shears):
        slices[f"tau_{AXES[a]}{AXES[b]}"] = slice(begin, begin + rows.shape[0])
        begin += rows.shape[0]
    return Rows(
        mesh,
        sparse.vstack([*strains, *shears], format="csr"),
        sparse.block_diag([compliance, shear], format="csr"),
        np.concatenate([*[mesh.cell_volume] * kept, mesh.edge_volume]),
        np.concatenate([*[liquid.cell] * kept, liquid.edge]),
        np.concatenate([*[fluid.cell] * kept, fluid.edge]),
        slices,
    )


@dataclass(frozen=True)
class Solution:
    """Face velocities and multipliers, flat, and how the solve went."""

    u: np.ndarray
    s: np.ndarray
    slices: dict[str, slice]
    stats: SolveStats

    def __getitem__(self, name: str) -> np.ndarray:
        """p, tau_xx, ... flat."""
        return self.s[self.slices[name]]


class VariationalProblem:
    """One geometry and time step, ready for any u*. `rows` say which physics it is."""

    def __init__(
        self,
        rows: Rows,
        liquid_face: np.ndarray,
        fluid_face: np.ndarray,
        *,
        density: float | np.ndarray = 1.0,
        dt: float = 1.0,
    ):
        self.rows, self.dt = rows, dt
        self.density = np.broadcast_to(np.asarray(density, dtype=float), liquid_face.shape)
        unit = rows.mesh.face_volume.max()
        # In units of the largest face's: where all are equal, weights are fractions and nothing more.
        self.face_volume, self.row_volume = rows.mesh.face_volume / unit, rows.volume / unit
        touches = sparse.csr_matrix(rows.B)
        touches.data = np.ones_like(touches.data)
        lacks_liquid = touches @ (liquid_face == 0.0) > 0
        walled = touches.T @ (rows.fluid == 0.0) > 0
        self.liquid_face = liquid_face
        self.fluid_face = np.where(walled, 0.0, fluid_face)  # W_F of the velocities that remain
        self.moves = (self.fluid_face > 0.0) & (liquid_face > 0.0)
        reached = touches @ self.moves.astype(float) > 0
        stiff = rows.compliance.diagonal() > 0.0
        self.valid = (rows.liquid > 0.0) & ~lacks_liquid & (rows.fluid > 0.0) & (reached | stiff)

    @property
    def compliant(self) -> bool:
        """Whether every row has compliance: viscosity without pressure."""
        return bool((self.rows.compliance.diagonal() > 0.0).all())

    @property
    def coupled(self) -> bool:
        """Whether some rows have compliance and others none: viscosity and pressure."""
        return not self.compliant and bool((self.rows.compliance.diagonal() > 0.0).any())

    # -- matrices ------------------------------------------------------------------------------------------

    @property
    def mobility(self) -> np.ndarray:
        """dt W_F / (rho V_F W_L) of the velocities: what a force does to them."""
        out = np.zeros(len(self.liquid_face))
        m = self.moves
        out[m] = self.dt * self.fluid_face[m] / self._liquid_mass()[m]
        return out

    def _liquid_mass(self) -> np.ndarray:
        """rho V_F W_L, whatever is solid."""
        return self.density * self.liquid_face * self.face_volume

    def _weighted(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """W_L V_B B and C V_B W_L W_F over the valid rows."""
        valid, volume = self.valid, self.rows.liquid * self.row_volume
        return (
            sparse.diags(volume[valid]) @ self.rows.B[valid],
            sparse.diags((volume * self.rows.fluid)[valid]) @ self.rows.compliance[valid][:, valid],
        )

    def stress_matrix(self) -> sparse.csr_matrix:
        """Over the valid rows, symmetric, positive or nearly:

        C V_B W_L W_F + dt W_L V_B B W_F / (rho V_F W_L) B' V_B W_L
        """
        B, C = self._weighted()
        half = B @ sparse.diags(np.sqrt(self.mobility))
        return (C + half @ half.T).tocsr()

    def velocity_matrix(self) -> sparse.csr_matrix:
        """Over the moving faces, positive definite:

        rho V_F W_F W_L / dt + W_F B' V_B W_L (C V_B W_L W_F)^-1 W_L V_B B W_F
        """
        B, C = self._weighted()
        return self._with_inertia((B @ sparse.diags(self.fluid_face))[:, self.moves], C)

    def _with_inertia(self, B: sparse.csr_matrix, C: sparse.csr_matrix) -> sparse.csr_matrix:
        return (sparse.diags(self._inertia()[self.moves]) + B.T @ _inverse(C) @ B).tocsr()

    def kkt_matrix(self) -> sparse.csr_matrix:
        """The whole indefinite system over moving faces and valid rows."""
        B, C = self._weighted()
        B = (B @ sparse.diags(self.fluid_face))[:, self.moves]
        return sparse.bmat([[sparse.diags(self._inertia()[self.moves]), B.T], [B, -C]], format="csr")

    def _inertia(self) -> np.ndarray:
        return self.density * self.fluid_face * self.liquid_face * self.face_volume / self.dt

    # -- solution ------------------------------------------------------------------------------------------

    def solve(
        self,
        u_star: np.ndarray,
        *,
        u_wall: np.ndarray | None = None,
        s_air: np.ndarray | None = None,
        divergence: np.ndarray | None = None,
        form: Form = "auto",
        solver: str = "auto",
        strict: bool = True,
    ) -> Solution:
        """The velocity and multipliers at the end of the step.

        `u_wall` is the wall's velocity on all faces (needed one cell deep), `s_air` what acts on the free surface,
        for all rows; `divergence` [1/s] what the cells are to have, times their open fraction. Faces without
        liquid keep u*, those in walls take the wall's velocity. The forms eliminate the velocity, or the stresses
        (not the pressure, which has no compliance), or nothing. `solver` is "direct", "amg" or, by size, "auto".
        `strict` raises `SolverError` where the solution leaves too large a residual; otherwise its `stats` say so.
        """
        form, solver = self._choose(form, solver)
        u_wall = np.zeros_like(self.liquid_face) if u_wall is None else u_wall
        s_air = np.zeros_like(self.rows.liquid) if s_air is None else s_air
        rows, valid, m = self.rows, self.valid, self.moves
        volume = rows.liquid * self.row_volume
        wall = volume * ((1.0 - rows.fluid) * (rows.B @ u_wall) - rows.B @ ((1.0 - self.fluid_face) * u_wall))
        if divergence is not None:
            p = rows.slices["p"]
            wall[p] -= volume[p] * divergence
        # With s = s_air + ds, the terms of s_air are its force -B' V_B s_air, whatever is liquid, and ds has none.
        wall += volume * rows.fluid * (rows.compliance @ s_air)
        start = np.array(u_star, dtype=float)
        start[m] -= self.dt * (rows.B.T @ (self.row_volume * s_air))[m] / (self.density * self.face_volume)[m]
        s = s_air.copy()
        u = np.where(self.fluid_face > 0.0, start, u_wall)
        stats = NOTHING
        if valid.any():
            solve = {"stress": self._solve_stress, "velocity": self._solve_velocity, "kkt": self._solve_whole}[form]
            u[m], excess, stats = solve(start[m], wall[valid], solver)
            s[valid] += excess
        if strict and not stats.converged:
            raise SolverError(f"{stats.solver}: the solution leaves a residual of {stats.residual:.1e}")
        return Solution(u, s, rows.slices, stats)

    def _choose(self, form: Form, solver: str) -> tuple[Form, str]:
        if solver not in ("auto", DIRECT, AMG):
            raise InputError(f"no solver is called '{solver}': there are 'auto', '{DIRECT}' and '{AMG}'")
        if solver == "auto":
            large = self.rows.mesh.dim == 3 and np.count_nonzero(self.valid) > LARGEST_3D
            solver = AMG if large else DIRECT
        if form == "auto":
            # Multigrid knows velocities and pressures; stresses it does not smooth.
            form = "velocity" if self.compliant else "kkt" if self.coupled and solver == AMG else "stress"
        if form == "velocity" and not self.compliant:
            raise InputError("the velocity form needs rows with compliance; pressure has none")
        return form, solver

    def _solve_stress(self, start: np.ndarray, wall: np.ndarray, solver: str) -> tuple:
        B = self._weighted()[0][:, self.moves]
        s, stats = self._solve_flat(self.stress_matrix(), B @ (self.fluid_face[self.moves] * start) - wall, solver)
        return start - self.dt * (B.T @ s) / self._liquid_mass()[self.moves], s, stats

    def _solve_velocity(self, start: np.ndarray, wall: np.ndarray, solver: str) -> tuple:
        B, C = self._weighted()
        B = (B @ sparse.diags(self.fluid_face))[:, self.moves]
        inverse = _inverse(C)
        b = self._inertia()[self.moves] * start + B.T @ (inverse @ wall)
        u, stats = solve_positive(self.velocity_matrix(), b, self._translations(), solver)
        return u, inverse @ (B @ u - wall), stats

    def _solve_whole(self, start: np.ndarray, wall: np.ndarray, solver: str) -> tuple:
        """The KKT form; by multigrid with the stresses eliminated, as a problem of velocities and pressures."""
        wall = self._consistent(wall)
        if solver == AMG and self.coupled:
            return self._solve_velocity_pressure(start, wall)
        b = np.concatenate([self._inertia()[self.moves] * start, wall])
        keep = np.ones(len(b), dtype=bool)
        for members, _ in self.flat_pressures(self.stress_matrix()):
            keep[len(start) + members[len(members) // 2]] = False
        x = np.zeros(len(b))
        x[keep], stats = solve_general(self.kkt_matrix()[keep][:, keep], b[keep])
        u, s = np.split(x, [len(start)])
        return u, s, stats

    def _solve_velocity_pressure(self, start: np.ndarray, wall: np.ndarray) -> tuple:
        B, C = self._weighted()
        B = (B @ sparse.diags(self.fluid_face))[:, self.moves].tocsr()
        stiff = C.diagonal() > 0.0
        E, D = B[stiff], B[~stiff]
        C = C[stiff][:, stiff]
        inverse, mass = _inverse(C), self._inertia()[self.moves]
        liquid, fluid, volume = (w[self.valid][~stiff] for w in (self.rows.liquid, self.rows.fluid, self.row_volume))
        b = np.concatenate([mass * start + E.T @ (inverse @ wall[stiff]), wall[~stiff]])
        viscosity = 1.0 / np.median(self.rows.compliance.diagonal()[self.valid][stiff])
        x, stats = solve_saddle(
            self._with_inertia(E, C),
            D,
            b,
            mass=mass,
            compliance=viscosity / (liquid * fluid * volume),
            smooth=(self._translations(), 1.0 / liquid[:, None]),
        )
        u, s = np.split(x, [len(start)])
        both = np.empty(len(wall))
        both[~stiff], both[stiff] = s, inverse @ (E @ u - wall[stiff])
        return u, both, stats

    def _translations(self) -> np.ndarray:
        """The moving faces' velocities when everything moves along one axis, for every axis."""
        return self.rows.mesh.face_normal[self.moves]

    def flat_pressures(self, matrix: sparse.csr_matrix) -> list[tuple[np.ndarray, np.ndarray]]:
        """Valid rows, and values of theirs, whose pressures have no effect: W_L p constant in a closed component."""
        if "p" not in self.rows.slices:
            return []
        index = np.flatnonzero(self.valid)
        span = self.rows.slices["p"]
        p = np.flatnonzero((index >= span.start) & (index < span.stop))
        value = 1.0 / self.rows.liquid[index[p]]
        count, label = connected_components(matrix[p][:, p], directed=False)
        together = sparse.csr_matrix((value, (np.arange(len(p)), label)), shape=(len(p), count))
        cost = abs(matrix[:, p] @ together).max(axis=0).toarray().ravel()
        scale = np.zeros(count)
        np.maximum.at(scale, label, matrix.diagonal()[p] * value)
        return [(p[label == c], value[label == c]) for c in np.flatnonzero(cost <= FLAT * scale)]

    def _consistent(self, wall: np.ndarray) -> np.ndarray:
        """What walls and targets ask of the rows, without what they ask of the volume of a closed component."""
        wall = wall.copy()
        for members, value in self.flat_pressures(self.stress_matrix()):
            wall[members] -= value * (value @ wall[members]) / (value @ value)
        return wall

    def _solve_flat(self, matrix: sparse.csr_matrix, b: np.ndarray, solver: str) -> tuple[np.ndarray, SolveStats]:
        """Solve with one pressure of every closed component held at zero, in the least-squares sense."""
        keep = np.ones(len(b), dtype=bool)
        b = b.copy()
        for members, value in self.flat_pressures(matrix):
            b[members] -= value * (value @ b[members]) / (value @ value)
            keep[members[len(members) // 2]] = False
        x, stats = np.zeros(len(b)), NOTHING
        if keep.any():
            smooth = 1.0 / self.rows.liquid[self.valid][keep, None]
            x[keep], stats = solve_positive(matrix[keep][:, keep], b[keep], smooth, solver)
        return x, stats


def _inverse(C: sparse.csr_matrix) -> sparse.csr_matrix:
    """The inverse of a symmetric matrix in which a row has one partner at most."""
    diagonal = C.diagonal()
    pairs = (C - sparse.diags(diagonal)).tocoo()
    pairs.eliminate_zeros()
    i, j = pairs.row, pairs.col
    determinant = diagonal[i] * diagonal[j] - pairs.data**2
    inverse = 1.0 / diagonal
    inverse[i] = diagonal[j] / determinant
    return (sparse.diags(inverse) + sparse.csr_matrix((-pairs.data / determinant, (i, j)), shape=C.shape)).tocsr()
