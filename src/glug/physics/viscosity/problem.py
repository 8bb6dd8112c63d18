"""Implicit viscosity in variational form (Batty and Bridson 2008; Batty 2010, chapter 3).

Find the velocity u that minimises

    1/2 (u - u*)' M (u - u*)  +  1/2 (E u)' K V (E u),      K = 2 diffusion at cells,  diffusion at edges,

with diffusion = mu dt / (rho dx^2), where E u are the normal strains u_x, v_y, w_z at cells and the shears u_y + v_x,
... at edges, as differences of neighbouring faces, V are liquid fractions, and M are liquid fractions times the density
there over the reference density rho. The free surface needs no condition: traction-free is what the minimum has. At
solids the velocity is known (no slip) and differences are taken at the wall itself: E divides by the cut distance, V
counts the volume in front of the wall. Faces with stress but (almost) no mass follow the rule of `viscosity.weights`.
Rigid bodies are a term (`rigid.viscosity`), walls along which the liquid slips add a matrix (`viscosity.slip`).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.geometry.solids.field import SolidField
from glug.geometry.solids.slip import SlipWalls
from glug.grids.blocks import active_blocks
from glug.grids.regular import CENTRE, EDGES, FACES, Grid, Staggered, mapped
from glug.physics.rigid.bodies import RigidBodies, wall_velocity
from glug.physics.rigid.viscosity import ViscousBodies
from glug.physics.terms import Eliminated, Term
from glug.physics.viscosity import kernels
from glug.physics.viscosity.levels import (
    NEAR_SOLID,
    SolidFaces,
    ViscosityLevel,
    cells_with_unknowns,
    couple,
    held_faces,
    hold_by_walls,
)
from glug.physics.viscosity.preconditioners import MULTIGRID, Iterative, preconditioners, solve_parts
from glug.physics.viscosity.slip import SlipTerm, interpolated, stiffness
from glug.physics.viscosity.strain_rows import strain_rows
from glug.physics.viscosity.weights import (
    LEAST_MASS,
    Diffusion,
    StressWeights,
    choose_unknowns,
    cut_at_slip_walls,
    drop_hanging,
    empty_border,
    face_mass,
    loosen,
    middle_of_jumps,
    side_friction,
    strained,
    stress_weights,
)
from glug.solvers.cg import Vector, at_unknowns, solve_with_fallback, start_from_better
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats


@dataclass
class ViscosityProblem:
    """One geometry, viscosity and time step."""

    grid: Grid
    solid: SolidField
    mass: Staggered  # liquid fraction of the unknown faces times their density, floored; zero elsewhere
    solid_faces: SolidFaces
    weights: StressWeights  # without what solids take of them
    bodies: RigidBodies | None = None  # whose velocity the solve finds, too
    density: Staggered | None = None  # of the liquid on the faces over the reference density; None where all have it
    stiff_above: float | None = None  # the middle of viscosities where neighbours differ much; None where none do
    friction: Staggered | None = None  # of sides of the domain along which the liquid slips, as masses
    slip: SlipTerm | None = None  # what solids do along which the liquid slips
    more_terms: Sequence[Term] = ()  # reduced unknowns of other kinds

    @classmethod
    def build(
        cls,
        grid: Grid,
        phi: np.ndarray,
        solid: SolidField,
        diffusion: Diffusion,
        bodies: RigidBodies | None = None,
        freed: np.ndarray | None = None,
        density: Staggered | None = None,
    ) -> "ViscosityProblem":
        """Where a separating wall has `freed` cells it bears no stress."""
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
        taken, taken_at_edges = solid.taken
        kernels.cut_cells(grid.dim, solid.sticking, taken, solid_faces, mass, weights.cell)
        choose_unknowns(mass, weights.cell, solid_faces)
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            faces = solid_faces[b], solid_faces[c], mass[b], mass[c]
            kernels.cut_edges(a, solid.sticking, taken_at_edges[a], *faces, weights.edges[a])
        for _ in range(2):
            drop_hanging(weights, mass)
        stiff = middle_of_jumps(diffusion, phi)
        problem = cls(grid, solid, mass, solid_faces, weights, bodies, density, stiff)
        if slip is not None and slip.rubbing is not None:
            problem.friction = side_friction(grid, phi, diffusion, slip.rubbing)
        if slip is not None and slip.surface is not None:
            problem.slip_along(slip, phi, diffusion, freed)
        if density is not None:
            for m, rho in zip(problem.mass, density):
                m *= rho
        return problem

    def slip_along(self, slip: SlipWalls, phi: np.ndarray, diffusion: Diffusion, freed: np.ndarray | None) -> None:
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
        motion, walls = np.zeros_like(surface.point), self.known_walls
        if walls is not None:
            for a, (u, offset) in enumerate(zip(walls, FACES)):
                motion[:, a] = surface.moves * interpolated(u, offset, surface.point)
        self.slip = SlipTerm.build(surface, stiffness(surface, share), motion, self.mass)

    @property
    def known_walls(self) -> Staggered | None:
        """The velocity of solids on the faces near them, with rigid bodies, whose own is not known yet, at rest."""
        return self.solid.velocity if self.bodies is None else self.bodies.walls_at_rest

    def system(self) -> ViscosityLevel:
        """The matrix-free operator."""
        mass, edges, stopping = self.held_mass, self.weights.edges, self.solid.stopping
        m = held_faces(mass, stopping, self.solid_faces, (self.weights.cell,) * 3, edges)
        coupling = self.coupling(0), self.coupling(1), self.coupling(2)
        return self._level(mass, m, coupling)

    def unheld(self) -> ViscosityLevel:
        """The same without what walls hold or couple: what coarse grids are made of."""
        mass = self.held_mass
        return self._level(mass, mass, self.weights.edges)

    def held(self, axis: int) -> np.ndarray:
        """What acts on the unknown faces of one axis alone: their mass, and walls nearer than the next face."""
        m = self.held_mass[axis].copy()
        cell = (self.weights.cell,) * 3
        hold_by_walls(axis, self.solid.stopping, self.solid_faces, cell, self.weights.edges, m)
        return m

    def coupling(self, axis: int) -> np.ndarray:
        """What couples the two components of the shears along an axis: their weight over the cut distances."""
        f = self.grid.scalar(EDGES[axis])
        couple(axis, self.solid.stopping, self.solid_faces, self.weights.edges[axis], f)
        return f

    def _level(self, mass: Staggered, m: Staggered, coupling: Staggered) -> ViscosityLevel:
        blocks = active_blocks(cells_with_unknowns(m, self.grid.shape))
        fields = mass, m, (self.weights.cell,) * 3, self.weights.edges, coupling, self.solid.stopping, self.solid_faces
        return ViscosityLevel(self.grid.dx, self.grid.shape, *fields, blocks, self.slip)

    def right_hand_side(self, velocity: Staggered) -> Vector:
        """M u* minus what the known velocities of solids contribute."""
        b = tuple(m * u for m, u in zip(self.mass, velocity))
        walls = self.known_walls
        if walls is not None:
            solid = replace(self.solid, velocity=walls)
            near = self.solid.moving_box
            strain_rows(self.grid, solid, self.solid_faces, self.weights, every=False, box=near).subtract_known(b)
            self.pull_along(b)
        return b

    @property
    def terms(self) -> list[Term]:
        """The reduced unknowns of the problem."""
        if self.bodies is None:
            return [*self.more_terms]
        bodies = ViscousBodies.build(self.solid, self.solid_faces, self.weights, self.bodies, self.slip)
        return [bodies, *self.more_terms]

    def solve(self, velocity: Staggered, limits: SolveLimits, *, solver: Iterative = MULTIGRID) -> SolveStats:
        """Replace `velocity` on the unknown faces by the solution, in place; solid faces take the solid's.

        `solver` is one of `viscosity.preconditioners`, not a name.
        """
        begin = time.perf_counter()
        system = self.system()
        terms = self.terms
        b = self.right_hand_side(velocity)
        eliminated = Eliminated(system.mask, terms)
        given = [term.given(b, velocity) for term in terms]
        eliminated.prepare(b, given)
        x = at_unknowns(system, velocity)
        setup = time.perf_counter() - begin
        whole = eliminated.couple(system)
        # Liquid that falls onto what it sticks to will hardly move after all.
        start_from_better(whole, b, x)
        if not terms:
            stats = solve_parts(system, solver, b, x, limits, stiff_above=self.stiff_above)
        else:
            choices = preconditioners(system, solver, eliminated.parts, stiff_above=self.stiff_above)
            stats = solve_with_fallback(whole, choices, b, x, limits)
        eliminated.finish(x, x, given)
        self.write(velocity, x, system.mask)
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
        u, v, w = (np.where(m > 0, m + f, np.float32(0.0)) for m, f in zip(self.mass, self.friction))
        return u, v, w

    def added(self):  # type: ignore[no-untyped-def]
        """What solids that slip add to the assembled matrix over all faces; None without them."""
        return None if self.slip is None else self.slip.matrix([m.size for m in self.mass])

    def write(self, velocity: Staggered, x: Vector, diagonal: Vector) -> None:
        """Put x into `velocity` where `diagonal` says that there is an unknown; solid faces take the solid's."""
        for u, found, d in zip(velocity, x, diagonal):
            np.copyto(u, found, where=d > 0, casting="same_kind")
        write_solids(wall_velocity(self.solid, self.bodies), self.solid_faces, velocity)


def write_solids(walls: Staggered | None, solid_faces: SolidFaces, velocity: Staggered) -> None:
    """Faces inside solids take the velocity of the `walls`, in place."""
    for a, u in enumerate(velocity):
        np.copyto(u, np.float32(0.0) if walls is None else walls[a], where=solid_faces[a] > 0)
