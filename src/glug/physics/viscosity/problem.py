"""Implicit viscosity in variational form (Batty and Bridson 2008; Batty 2010, chapter 3).

Find the velocity u that minimises

    1/2 (u - u*)' M (u - u*)  +  1/2 (E u)' K V (E u),      K = 2 mu dt / rho  at cells,  mu dt / rho  at edges,

where E u are the normal strains u_x, v_y, w_z at cells and the shears u_y + v_x, ... at edges, and M and V are
liquid fractions. The free surface needs no condition: traction-free is what the minimum has. At solids the
velocity is known (no slip) and differences are taken at the wall itself: E divides by the cut distance, V
counts the volume in front of the wall.

Faces with stress but (almost) no mass. A shear sample next to a face with hardly any liquid is dropped, and so is one
from which two faces hang alone: they would give way together, so it bears no stress, and it would couple them stiffly
(Batty 2010, section 4.7, drops samples next to faces without liquid; the full-stress scheme is as accurate with that
rule). A cell is dropped when both its faces along an axis have hardly any liquid. The other faces of cells with stress
are unknowns and have a mass of at least LEAST_MASS. This is the only such rule.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.geometry.solids.field import SolidField
from glug.geometry.solids.slip import SlipWalls
from glug.grids.blocks import active_blocks
from glug.grids.packing import pack_parts
from glug.grids.regular import CENTRE, EDGES, FACES, Grid, Staggered, lower_upper, mapped
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.rigid.viscosity import ViscousBodies
from glug.physics.viscosity import kernels
from glug.physics.viscosity.boxes import with_boxes_at_jumps
from glug.physics.viscosity.free_parts import with_free_parts
from glug.physics.viscosity.levels import (
    NEAR_SOLID,
    SolidFaces,
    ViscosityLevel,
    cells_with_unknowns,
    couple,
    held_faces,
    hierarchy,
    packed,
)
from glug.physics.viscosity.slip import SlipTerm, interpolated, stiffness
from glug.physics.viscosity.stiff_parts import with_stiff_parts
from glug.physics.viscosity.strain_rows import WallRows, strain_rows
from glug.solvers.assembled.direct import direct_solve
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, Vector, solve_with_fallback, start_from_better
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import Coupled, LowRank
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.solvers.stats import SolveStats

LEAST_MASS = 1e-3
JUMP = 10.0  # ratio of neighbouring viscosities above which boxes smooth
SWEEPS, REPEATS = 2, 1  # of the default cycle: fewer cost more time in iterations, more in sweeps


@dataclass(frozen=True)
class StressWeights:
    """K V of every stress sample, over dx^2: dimensionless."""

    cell: np.ndarray
    edges: Staggered


@dataclass
class ViscosityProblem:
    """One geometry, viscosity and time step."""

    grid: Grid
    solid: SolidField
    mass: Staggered  # liquid fraction of the unknown faces, floored; zero elsewhere
    solid_faces: SolidFaces
    weights: StressWeights  # without what solids take of them
    coupling: Staggered  # what couples the two components of a shear: its weight over the cut distances
    bodies: RigidBodies | None = None  # whose velocity the solve finds, too
    stiff_above: float | None = None  # the middle of viscosities where neighbours differ much; None where none do
    friction: Staggered | None = None  # of sides of the domain along which the liquid slips, as masses
    slip: SlipTerm | None = None  # what solids do along which the liquid slips

    @classmethod
    def build(
        cls,
        grid: Grid,
        phi: np.ndarray,
        solid: SolidField,
        diffusion: np.ndarray | float,
        bodies: RigidBodies | None = None,
        freed: np.ndarray | None = None,
    ) -> "ViscosityProblem":
        """`diffusion` is mu dt / (rho dx^2), a number or a cell-centred field.

        Where a separating wall has `freed` cells it bears no stress.
        """
        weights = stress_weights(grid, phi, diffusion)
        slip = solid.slip
        if slip is not None:
            cut_at_slip_walls(grid, weights, slip)
        solid_faces = mapped(lambda area: np.empty(area.shape, np.uint8), solid.area)
        for a, s in enumerate(solid_faces):
            area = solid.area[a] if slip is None or slip.closes is None else solid.area[a] + slip.closes[a]
            kernels.solid_faces(a, solid.stopping[a], np.float32(NEAR_SOLID * grid.dx), area, s)
        if freed is not None and freed.any():
            loosen(weights, freed, solid_faces)
        mass = face_mass(grid, phi, solid_faces, solid.slip)
        kernels.cut_cells(grid.dim, solid.sticking, solid_faces, mass, weights.cell)
        choose_unknowns(mass, weights.cell, solid_faces)
        coupling = (grid.scalar(EDGES[0]), grid.scalar(EDGES[1]), grid.scalar(EDGES[2]))
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            faces = solid_faces[b], solid_faces[c], mass[b], mass[c]
            kernels.cut_edges(a, solid.sticking, *faces, weights.edges[a])
        for before, after in ((weights.edges, coupling), (coupling, weights.edges)):
            for a in range(3):
                kernels.drop_hanging(a, weights.cell, before, mass[(a + 1) % 3], mass[(a + 2) % 3], after[a])
        couple(solid.stopping, solid_faces, weights.edges, coupling)
        problem = cls(grid, solid, mass, solid_faces, weights, coupling, bodies, middle_of_jumps(diffusion, phi))
        if slip is not None and slip.rubbing is not None:
            problem.friction = side_friction(grid, phi, diffusion, slip.rubbing)
        if slip is not None and slip.surface is not None:
            problem.slip_along(slip, phi, diffusion, freed)
        return problem

    def slip_along(
        self, slip: SlipWalls, phi: np.ndarray, diffusion: np.ndarray | float, freed: np.ndarray | None
    ) -> None:
        """Take solids that slip out of the masses, and add what their surfaces do."""
        assert slip.surface is not None
        for a in self.grid.axes:
            m = self.mass[a]
            m *= slip.open_volume(self.grid, FACES[a])
            touched = strained(a, self.weights) & (self.solid_faces[a] == 0)
            np.maximum(m, np.float32(LEAST_MASS), out=m, where=touched)
            m[m < LEAST_MASS] = 0.0
            empty_border(self.grid, a, m)
        surface = slip.surface
        at = tuple(surface.cell.T)
        share = liquid_volume(phi, self.grid, CENTRE)[at].astype(np.float64)
        if freed is not None:
            share *= freed[at] == 0
        share *= np.broadcast_to(np.asarray(diffusion, np.float64), self.grid.shape)[at]
        if not share.any():
            return
        surface, share = surface.chosen(share > 0), share[share > 0]
        motion = np.zeros_like(surface.point)
        if self.solid.velocity is not None:
            for a, (u, offset) in enumerate(zip(self.solid.velocity, FACES)):
                motion[:, a] = surface.moves * interpolated(u, offset, surface.point)
        self.slip = SlipTerm.build(surface.point, stiffness(surface, share), motion, self.mass)

    def system(self) -> ViscosityLevel:
        """The matrix-free operator."""
        cell = (self.weights.cell,) * 3
        stopping = self.solid.stopping
        mass = self.held_mass
        m = held_faces(mass, stopping, self.solid_faces, cell, self.weights.edges)
        blocks = active_blocks(cells_with_unknowns(m, self.grid.shape))
        fields = mass, m, cell, self.weights.edges, self.coupling, stopping, self.solid_faces
        return ViscosityLevel(self.grid.dx, self.grid.shape, *fields, blocks, self.slip)

    def right_hand_side(self, velocity: Staggered) -> Vector:
        """M u* minus what the known velocities of solids contribute."""
        b = tuple(m * u for m, u in zip(self.mass, velocity))
        if self.solid.velocity is not None:
            strain_rows(self.grid, self.solid, self.solid_faces, self.weights, every=False).subtract_known(b)
            self.pull_along(b)
        return b

    def solve(
        self,
        velocity: Staggered,
        limits: SolveLimits,
        *,
        solver: str = "multigrid",
    ) -> SolveStats:
        """Replace `velocity` on the unknown faces by the solution, in place; solid faces take the solid's.

        `solver` is `multigrid`, with `jacobi-cg` to fall back on, or `jacobi-cg`.
        """
        begin = time.perf_counter()
        system = self.system()
        viscous = self.viscous_bodies()
        b = self.right_hand_side(velocity)
        low = None if viscous is None else viscous.low_rank(system.mask)
        if viscous is not None and low is not None:
            viscous.add_to(b, low)
        x = tuple(np.where(g > 0, u, np.float64(0.0)) for g, u in zip(system.mask, velocity))
        setup = time.perf_counter() - begin
        whole = system if low is None else Coupled(system, low)
        # Liquid that falls onto what it sticks to will hardly move after all.
        start_from_better(whole, b, x)
        if low is None:
            stats = solve_parts(system, solver, b, x, limits, stiff_above=self.stiff_above)
        else:
            choices = preconditioners(system, solver, low, stiff_above=self.stiff_above)
            stats = solve_with_fallback(whole, choices, b, x, limits)
        if viscous is not None and low is not None:
            viscous.move(x, low)
        self._write(velocity, x, system.mask)
        setup += stats.setup_seconds
        return replace(stats, setup_seconds=setup, seconds=time.perf_counter() - begin - setup)

    def pull_along(self, b: Vector) -> None:
        """What moving solids along which the liquid slips do to a right-hand side, in place."""
        if self.slip is not None:
            self.slip.faces.put(self.slip.faces.of(b) + self.slip.pull, b)

    @property
    def held_mass(self) -> Staggered:
        """Masses, and the friction of sides, which holds an unknown face as a mass at rest does."""
        if self.friction is None:
            return self.mass
        return mapped(lambda m, f: np.where(m > 0, m + f, np.float32(0.0)), self.mass, self.friction)

    def added(self):  # type: ignore[no-untyped-def]
        """What solids that slip add to the assembled matrix over all faces; None without them."""
        return None if self.slip is None else self.slip.matrix([m.size for m in self.mass])

    def viscous_bodies(self) -> ViscousBodies | None:
        """The bodies' part of the system. Afterwards those of the solids' velocities that are theirs are zero."""
        if self.bodies is None or self.solid.velocity is None:
            return None
        fields = self.grid, self.solid, self.solid_faces, self.weights
        viscous = ViscousBodies.build(*fields, self.bodies)
        self.bodies.write_as(np.zeros_like(self.bodies.velocity), self.solid.velocity)
        return viscous

    def solve_reference(self, velocity: Staggered, *, laplacian: bool = False) -> SolveStats:
        """The same by an assembled matrix and a direct solver, in float64.

        `laplacian` is the componentwise baseline: every component's gradient is penalised on its own, which
        damps rotation (Batty 2010, section 3.4).
        """
        viscous = None if laplacian else self.viscous_bodies()
        rows = strain_rows(self.grid, self.solid, self.solid_faces, self.weights, every=True, laplacian=laplacian)
        return self._solve_directly(velocity, rows, viscous)

    def solve_held_surface(self, velocity: Staggered, phi: np.ndarray) -> SolveStats:
        """A second baseline: componentwise, and faces outside the liquid keep the velocity that they have.

        With the liquid's velocity continued into the air this is the extrapolated Dirichlet condition (Batty 2010,
        section 3.4): the surface is held back as if by a wall that moves as the liquid did. Build it full of liquid.
        """
        rows = strain_rows(self.grid, self.solid, self.solid_faces, self.weights, every=True, laplacian=True)
        mass, held = [], []
        for a, (m, u) in enumerate(zip(self.mass, velocity)):
            padded = np.pad(phi, [(1, 1) if b == a else (0, 0) for b in range(3)], mode="edge")
            inside = np.add(*lower_upper(padded, a)) < 0.0
            mass.append(np.where(inside, m, np.float32(0.0)))
            held.append(np.where(inside, 0.0, u).ravel())
        rows = replace(rows, known=rows.known + rows.matrix() @ np.concatenate(held))
        free = replace(self, mass=(mass[0], mass[1], mass[2]))
        return free._solve_directly(velocity, rows)

    def _solve_directly(self, velocity: Staggered, rows: WallRows, viscous: ViscousBodies | None = None) -> SolveStats:
        matrix, diagonal = rows.assemble(self.held_mass, self.added())
        b = tuple(m * u.astype(np.float64) for m, u in zip(self.mass, velocity))
        rows.subtract_known(b)
        self.pull_along(b)
        low = None if viscous is None else viscous.low_rank(diagonal)
        if viscous is not None and low is not None:
            viscous.add_to(b, low)
            matrix = matrix + low.assemble(diagonal)
        x = tuple(np.zeros(u.shape) for u in velocity)
        stats = direct_solve("viscosity", diagonal, b, x, matrix)
        if viscous is not None and low is not None:
            viscous.move(x, low)
        self._write(velocity, x, diagonal)
        return stats

    def _write(self, velocity: Staggered, x: Vector, diagonal: Vector) -> None:
        if self.bodies is not None and self.solid.velocity is not None:
            self.bodies.write(self.solid.velocity)
        for a, u in enumerate(velocity):
            u[:] = np.where(diagonal[a] > 0, x[a], u)
        write_solids(self.solid, self.solid_faces, velocity)


def write_solids(solid: SolidField, solid_faces: SolidFaces, velocity: Staggered) -> None:
    """Faces inside solids take the solid's velocity, in place."""
    for a, u in enumerate(velocity):
        inside = solid_faces[a] > 0
        u[inside] = 0.0 if solid.velocity is None else solid.velocity[a][inside]


def middle_of_jumps(diffusion: np.ndarray | float, phi: np.ndarray) -> float | None:
    """The geometric mean of a typical pair of neighbours that differ by more than a factor of `JUMP`; None without any.

    A side without viscosity counts inside the liquid only: away from it there is none anyway. Infinite where all pairs
    have such a side: no part can be told from them to be stiff.
    """
    if not isinstance(diffusion, np.ndarray):
        return None
    found, to_nothing = [], False
    for axis in range(3):
        along, depth = np.moveaxis(diffusion, axis, 0), np.moveaxis(phi, axis, 0)
        low, high = np.minimum(along[1:], along[:-1]), np.maximum(along[1:], along[:-1])
        at = high > JUMP * low
        to_nothing |= bool((at & (low == 0) & (depth[1:] < 0) & (depth[:-1] < 0)).any())
        at &= low > 0
        found.append(np.sqrt(low[at].astype(np.float64) * high[at]))
    every = np.concatenate(found)
    if len(every):
        return float(np.median(every))
    return np.inf if to_nothing else None


def solve_parts(
    system: ViscosityLevel,
    solver: str,
    b: Vector,
    x: Vector,
    limits: SolveLimits,
    *,
    stiff_above: float | None = None,
    residuals: list[float] | None = None,
) -> SolveStats:
    """Solve for x by `solver`; parts that lie far apart are moved together meanwhile, where no solid slips."""
    begin = time.perf_counter()
    packing = pack_parts(system.blocks, system.shape) if system.slip is None else None
    if packing is None:
        choices = preconditioners(system, solver, stiff_above=stiff_above)
        return solve_with_fallback(system, choices, b, x, limits, residuals)
    together = packed(system, packing)
    near = tuple(packing.pack(u) for u in x)
    right = tuple(packing.pack(u) for u in b)
    setup = time.perf_counter() - begin
    choices = preconditioners(together, solver, stiff_above=stiff_above)
    stats = solve_with_fallback(together, choices, right, near, limits, residuals)
    begin = time.perf_counter()
    for u, v in zip(near, x):
        packing.unpack(u, v)
    seconds = stats.seconds + time.perf_counter() - begin
    return replace(stats, setup_seconds=stats.setup_seconds + setup, seconds=seconds)


def preconditioners(
    system: ViscosityLevel, solver: str, low: LowRank | None = None, *, stiff_above: float | None = None
) -> list[Callable[[], Preconditioner]]:
    """What `solver` names, and what to fall back on; `stiff_above` is that of a problem."""

    def jacobi() -> Preconditioner:
        diagonal = system.diagonal()
        return Diagonal(diagonal if low is None else low.diagonal(diagonal), system.blocks)

    levels: list[ViscosityLevel] = []

    def multigrid(repeats: int = REPEATS) -> Preconditioner:
        if not levels:
            levels.extend(hierarchy(system))
        usual = GaussSeidel(SWEEPS)
        smoother = usual if stiff_above is None else with_boxes_at_jumps(system, usual)
        cycle = with_free_parts(system, Multigrid(levels, smoother, repeats))
        if stiff_above is None or not np.isfinite(stiff_above) or repeats == 0:  # what to fall back on is plain
            return Cycle(system, cycle)
        return Cycle(system, with_stiff_parts(system, cycle, stiff_above))

    # A V-cycle is positive on any geometry; repeated visits, which cost fewer iterations, could fail to be.
    return [jacobi] if solver == "jacobi-cg" else [multigrid, lambda: multigrid(0), jacobi]


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


def cut_at_slip_walls(grid: Grid, weights: StressWeights, slip: SlipWalls) -> None:
    """No liquid behind slip walls and no shear across them, and no liquid in solids that slip, in place.

    A shear that acts across a wall passes through cell borders: all of it in front of the wall, none on or
    behind it. Other stresses have the share of their volume in front of the wall.
    """
    for b in range(3):
        weights.cell[:] *= along(b, slip.cells[b])
    for e, field_ in enumerate(weights.edges):
        for b in range(3):
            field_ *= along(b, slip.cells[b] if b == e else slip.nodes[b])
    if slip.sliding is not None:
        for field_, offset in zip((weights.cell, *weights.edges), (CENTRE, *EDGES)):
            field_ *= slip.open_volume(grid, offset)


def side_friction(
    grid: Grid, phi: np.ndarray, diffusion: np.ndarray | float, rubbing: tuple[np.ndarray, ...]
) -> Staggered:
    """Friction of the sides of the domain on faces along them, over the mass of a full face."""
    friction = grid.staggered()
    for a in grid.axes:
        for b in grid.axes:
            if b != a:
                friction[a][:] += along(b, rubbing[b])
        if friction[a].any():
            friction[a][:] *= liquid_volume(phi, grid, FACES[a])
            inner = np.moveaxis(friction[a], a, 0)[1:-1]
            field = np.moveaxis(np.broadcast_to(np.float32(diffusion), grid.shape), a, 0)
            inner *= np.float32(0.5) * (field[:-1] + field[1:])
    return friction


def strained(axis: int, weights: StressWeights) -> np.ndarray:
    """The faces of `axis` on which a stress acts."""
    shape = tuple(n + (b == axis) for b, n in enumerate(weights.cell.shape))
    found = np.zeros(shape, np.bool_)
    cell, near = np.moveaxis(weights.cell > 0, axis, 0), np.moveaxis(found, axis, 0)
    near[:-1] |= cell
    near[1:] |= cell
    for b in range(3):
        if b != axis:
            edge = np.moveaxis(weights.edges[3 - axis - b] > 0, b, 0)
            near = np.moveaxis(found, b, 0)
            near |= edge[:-1] | edge[1:]
    return found


def loosen(weights: StressWeights, freed: np.ndarray, solid_faces: SolidFaces) -> None:
    """No stress in freed cells and none between them and solids, in place."""
    weights.cell[freed > 0] = 0.0
    for a, e in enumerate(weights.edges):
        kernels.loosen_edges(a, freed, solid_faces[(a + 1) % 3], solid_faces[(a + 2) % 3], e)


def along(axis: int, values: np.ndarray) -> np.ndarray:
    """A vector along `axis`, ready to multiply fields."""
    return np.expand_dims(values, [b for b in range(3) if b != axis])


def face_mass(grid: Grid, phi: np.ndarray, solid_faces: SolidFaces, slip: SlipWalls | None) -> Staggered:
    """Liquid fraction of the faces that are not solid."""
    masses = []
    for a, offset in enumerate(FACES):
        m = liquid_volume(phi, grid, offset)
        if slip is not None:
            for b in range(3):
                if b != a:
                    m *= along(b, slip.cells[b])
        m[solid_faces[a] > 0] = 0.0
        empty_border(grid, a, m)
        masses.append(m)
    if grid.dim == 2:
        masses[2][:] = 0.0
    return masses[0], masses[1], masses[2]


def empty_border(grid: Grid, axis: int, m: np.ndarray) -> None:
    """The border of the window is never liquid: no mass on its faces of `axis`, in place."""
    for b in grid.axes:
        ends = np.moveaxis(m, b, 0)
        ends[0] = 0.0
        ends[-1] = 0.0
        if axis == b:
            ends[-2] = 0.0


def choose_unknowns(mass: Staggered, cell: np.ndarray, solid_faces: SolidFaces) -> None:
    """At least LEAST_MASS at the faces of cells with stress; zero at others with less."""
    for a, m in enumerate(mass):
        inner = np.moveaxis(m, a, 0)[1:-1]
        held = np.moveaxis(cell, a, 0) > 0
        held = (held[:-1] | held[1:]) & (np.moveaxis(solid_faces[a], a, 0)[1:-1] == 0)
        np.maximum(inner, np.float32(LEAST_MASS), out=inner, where=held)
        m[m < LEAST_MASS] = 0.0
