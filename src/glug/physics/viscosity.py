"""Implicit viscosity in variational form (Batty and Bridson 2008; Batty 2010, chapter 3).

Find the velocity u that minimises

    1/2 (u - u*)' M (u - u*)  +  1/2 (E u)' K V (E u),      K = 2 mu dt / rho  at cells,  mu dt / rho  at edges,

where E u are the normal strains u_x, v_y, w_z at cells and the shears u_y + v_x, ... at edges, and M and V are
liquid fractions. The free surface needs no condition: traction-free is what the minimum has. At solids the
velocity is known (no slip) and differences are taken at the wall itself: E divides by the cut distance, V
counts the volume in front of the wall.

Faces with stress but (almost) no mass. A face is an unknown when it has liquid or when a stress sample next to
it has; its mass is at least LEAST_MASS of a full face. Without that floor the diagonal would range over
thirteen orders of magnitude, which float32 does not survive; with it such a face is carried by the stress, and
where there is none it keeps its velocity. This is the only such rule.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.geometry.solids import SlipWalls, SolidField
from glug.grids.regular import CENTRE, EDGES, FACES, Grid, Staggered
from glug.grids.tiles import active_blocks
from glug.physics import kernels_viscosity as kernels
from glug.physics.wall_rows import SparseRows, WallRows, strain_rows
from glug.solvers.cg import Vector, conjugate_gradients
from glug.solvers.direct import direct_solve
from glug.solvers.stats import SolveStats

LEAST_MASS = 1e-3
# Cells from a solid within which a face moves with it. On curved walls the rows that hold such a face hardly have
# any volume in front of the wall: the face would go with the liquid around it (taylor-couette: 2% of the wall's speed).
NEAR_SOLID = 0.1


@dataclass(frozen=True)
class StressWeights:
    """K V of every stress sample, over dx^2: dimensionless."""

    cell: np.ndarray
    edges: Staggered


@dataclass
class ViscositySystem:
    """M + E' K V E over the faces, as an operator: a stencil, and sparse rows next to walls."""

    weights: StressWeights
    walls: SparseRows
    diagonal: Vector
    blocks: np.ndarray
    unknowns: int
    name: str = "viscosity"
    _sums: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def apply(self, d: Vector, q: Vector) -> float:
        if len(self._sums) != len(self.blocks):
            self._sums = np.zeros(len(self.blocks))
        w = self.weights
        kernels.apply_viscosity(*d, *q, *self.diagonal, w.cell, *w.edges, self.blocks, self._sums)
        return float(self._sums.sum()) + self.walls.add(d, q, 1.0)

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        w = self.weights
        kernels.strain_energy_residual(b, x, r, self.diagonal, w.cell, *w.edges, self.blocks)
        self.walls.add(x, r, -1.0)


@dataclass
class ViscosityProblem:
    """One geometry, viscosity and time step."""

    grid: Grid
    solid: SolidField
    mass: Staggered  # liquid fraction of the unknown faces, floored; zero elsewhere
    solid_faces: tuple[np.ndarray, np.ndarray, np.ndarray]  # uint8
    weights: StressWeights  # of all stress samples
    rows: WallRows  # the strain rows that touch solids

    @classmethod
    def build(cls, grid: Grid, phi: np.ndarray, solid: SolidField, diffusion: np.ndarray | float) -> "ViscosityProblem":
        """`diffusion` is mu dt / (rho dx^2), a number or a cell-centred field."""
        weights = stress_weights(grid, phi, diffusion)
        if solid.slip is not None:
            cut_at_slip_walls(weights, solid.slip)
        faces = []
        for a, area in enumerate(solid.area):
            s = np.empty(area.shape, np.uint8)
            kernels.solid_faces(a, solid.stopping[a], np.float32(NEAR_SOLID * grid.dx), area, s)
            faces.append(s)
        solid_faces = (faces[0], faces[1], faces[2])
        mass = face_mass(grid, phi, weights, solid_faces, solid.slip)
        rows = strain_rows(grid, solid, solid_faces, weights, every=False)
        return cls(grid, solid, mass, solid_faces, weights, rows)

    @contextmanager
    def system(self) -> Iterator[ViscositySystem]:
        """The fast operator: wall rows sparse, everything else by stencil.

        While it is in use the wall rows' samples are out of `weights`: a copy would be too much memory.
        """
        taken = self.rows.clear(self.weights)
        diagonal = self.grid.staggered()
        kernels.viscosity_diagonal(*self.mass, *self.solid_faces, self.weights.cell, *self.weights.edges, *diagonal)
        walls = self.rows.product(diagonal)
        active = grid_of_active(diagonal, self.grid)
        unknowns = sum(int(np.count_nonzero(g)) for g in diagonal)
        yield ViscositySystem(self.weights, walls, diagonal, active_blocks(active), unknowns)
        self.rows.put_back(self.weights, taken)

    def right_hand_side(self, velocity: Staggered, rows: WallRows) -> Vector:
        """M u* minus what the known velocities of solids contribute."""
        b = tuple(m * u for m, u in zip(self.mass, velocity))
        rows.subtract_known(b)
        return b

    def solve(self, velocity: Staggered, *, tolerance: float, max_iterations: int, floor: float = 0.0) -> SolveStats:
        """Replace `velocity` on the unknown faces by the solution, in place; solid faces take the solid's."""
        with self.system() as system:
            b = self.right_hand_side(velocity, self.rows)
            x = tuple(np.where(g > 0, u, 0.0) for g, u in zip(system.diagonal, velocity))
            stats = conjugate_gradients(system, b, x, tolerance, max_iterations, floor)
            self._write(velocity, x, system.diagonal)
        return stats

    def solve_reference(self, velocity: Staggered, *, laplacian: bool = False) -> SolveStats:
        """The same by an assembled matrix and a direct solver, in float64.

        `laplacian` is the componentwise baseline: every component's gradient is penalised on its own, which
        damps rotation (Batty 2010, section 3.4).
        """
        rows = strain_rows(self.grid, self.solid, self.solid_faces, self.weights, every=True, laplacian=laplacian)
        return self._solve_directly(velocity, rows)

    def solve_held_surface(self, velocity: Staggered, phi: np.ndarray) -> SolveStats:
        """A second baseline: componentwise, and faces outside the liquid keep the velocity that they have.

        With the liquid's velocity continued into the air this is the extrapolated Dirichlet condition (Batty 2010,
        section 3.4): the surface is held back as if by a wall that moves as the liquid did. Build it full of liquid.
        """
        rows = strain_rows(self.grid, self.solid, self.solid_faces, self.weights, every=True, laplacian=True)
        mass, held = [], []
        for a, (m, u) in enumerate(zip(self.mass, velocity)):
            padded = np.pad(phi, [(1, 1) if b == a else (0, 0) for b in range(3)], mode="edge")
            lower = tuple(slice(None, -1) if b == a else slice(None) for b in range(3))
            upper = tuple(slice(1, None) if b == a else slice(None) for b in range(3))
            inside = padded[lower] + padded[upper] < 0.0
            mass.append(np.where(inside, m, np.float32(0.0)))
            held.append(np.where(inside, 0.0, u).ravel())
        rows = replace(rows, known=rows.known + rows.matrix() @ np.concatenate(held))
        free = replace(self, mass=(mass[0], mass[1], mass[2]))
        return free._solve_directly(velocity, rows)

    def _solve_directly(self, velocity: Staggered, rows: WallRows) -> SolveStats:
        matrix, diagonal = rows.assemble(self.mass)
        b = self.right_hand_side(tuple(u.astype(np.float64) for u in velocity), rows)  # type: ignore[arg-type]
        x = tuple(np.zeros(u.shape) for u in velocity)
        shell = ViscositySystem(self.weights, SparseRows.none(), diagonal, np.zeros((0, 4), np.int32), 0)
        stats = direct_solve(shell, b, x, matrix)
        self._write(velocity, x, diagonal)
        return stats

    def _write(self, velocity: Staggered, x: Vector, diagonal: Vector) -> None:
        for a, u in enumerate(velocity):
            u[:] = np.where(diagonal[a] > 0, x[a], u)
            inside = self.solid_faces[a] > 0
            u[inside] = 0.0 if self.solid.velocity is None else self.solid.velocity[a][inside]


def stress_weights(grid: Grid, phi: np.ndarray, diffusion: np.ndarray | float) -> StressWeights:
    """Liquid fractions of cells and edges times viscosity: 2 mu at cells, mu at edges (mean of four cells)."""
    cell = liquid_volume(phi, grid, CENTRE)
    edges = [liquid_volume(phi, grid, o) for o in EDGES]
    if isinstance(diffusion, np.ndarray):
        padded = np.pad(diffusion, 1, mode="edge")
        for a in range(3):
            total = np.zeros(edges[a].shape, np.float32)
            b, c = (a + 1) % 3, (a + 2) % 3
            for p in (0, 1):
                for q in (0, 1):
                    take = [slice(1, -1)] * 3
                    take[b] = slice(p, p + edges[a].shape[b])
                    take[c] = slice(q, q + edges[a].shape[c])
                    total += padded[tuple(take)]
            edges[a] *= np.float32(0.25) * total
        cell *= np.float32(2.0) * diffusion
    else:
        cell *= np.float32(2.0 * diffusion)
        for e in edges:
            e *= np.float32(diffusion)
    if grid.dim == 2:
        edges[0][:] = 0.0
        edges[1][:] = 0.0
    return StressWeights(cell, (edges[0], edges[1], edges[2]))


def cut_at_slip_walls(weights: StressWeights, slip: SlipWalls) -> None:
    """No liquid behind slip walls and no shear across them, in place.

    A shear that acts across a wall passes through cell borders: all of it in front of the wall, none on or
    behind it. Other stresses have the share of their volume in front of the wall.
    """
    for b in range(3):
        weights.cell[:] *= along(b, slip.cells[b])
    for e, field_ in enumerate(weights.edges):
        for b in range(3):
            field_ *= along(b, slip.cells[b] if b == e else slip.nodes[b])


def along(axis: int, values: np.ndarray) -> np.ndarray:
    """A vector along `axis`, ready to multiply fields."""
    return np.expand_dims(values, [b for b in range(3) if b != axis])


def face_mass(
    grid: Grid,
    phi: np.ndarray,
    weights: StressWeights,
    solid_faces: tuple[np.ndarray, np.ndarray, np.ndarray],
    slip: SlipWalls | None,
) -> Staggered:
    """Liquid fraction of the faces; at least LEAST_MASS where the face is an unknown, zero where it is not."""
    masses = []
    for a, offset in enumerate(FACES):
        m = liquid_volume(phi, grid, offset)
        if slip is not None:
            for b in range(3):
                if b != a:
                    m *= along(b, slip.cells[b])
        touched = m > 0
        take = tuple(slice(1, -1) if b == a else slice(None) for b in range(3))
        low = tuple(slice(None, -1) if b == a else slice(None) for b in range(3))
        high = tuple(slice(1, None) if b == a else slice(None) for b in range(3))
        touched[take] |= (weights.cell[low] > 0) | (weights.cell[high] > 0)
        for e in range(3):
            if e != a:
                c = 3 - a - e  # the edge along e lies on both sides of the face in direction c
                below = tuple(slice(None, -1) if b == c else slice(None) for b in range(3))
                above = tuple(slice(1, None) if b == c else slice(None) for b in range(3))
                touched |= (weights.edges[e][below] > 0) | (weights.edges[e][above] > 0)
        m = np.where(touched, np.maximum(m, np.float32(LEAST_MASS)), np.float32(0.0))
        m[solid_faces[a] > 0] = 0.0
        for b in grid.axes:  # the border of the window is never liquid
            border = [slice(None)] * 3
            for end in (0, -1):
                border[b] = slice(end, None) if end else slice(0, 1)
                m[tuple(border)] = 0.0
        masses.append(m)
    if grid.dim == 2:
        masses[2][:] = 0.0
    return masses[0], masses[1], masses[2]


def grid_of_active(diagonal: Vector, grid: Grid) -> np.ndarray:
    """Cells any of whose lower faces is an unknown."""
    nx, ny, nz = grid.shape
    active = np.zeros(grid.shape, np.uint8)
    for g in diagonal:
        active |= (g[:nx, :ny, :nz] > 0).view(np.uint8)
    return active
