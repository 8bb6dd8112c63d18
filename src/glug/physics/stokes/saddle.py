"""The Stokes step in 3D, matrix-free: pressure and viscosity in one solve.

After Batty (2010, chapter 4) and Larionov et al. (2017). Find the velocity u that minimises the energy of the viscous
solve (`viscosity.problem`) subject to continuity, with multipliers s of the cells:

    [ A   B' ] [ u ]   [ M u* ]        A = M + E' K V E          as in a viscous solve
    [ B   0  ] [ s ] = [  g   ]        B u = flux into the cells through the open areas of their faces

s is q = p dt / (rho dx) times the liquid fraction of the cell. B has no ghost-fluid distances: the liquid fractions in
M and V make the free surface one without traction, shear and pressure alike. M is that of a viscous solve times the
open area of the face: pressure pushes on that part alone, and only then does liquid rest over a slope. Every open face
of a cell with a pressure is an unknown and has at least the least mass of `viscosity.weights`, times its open area. g
is what known velocities of solids carry into the cells. A closed part of the liquid knows its pressure up to a
constant, and the mean of g is taken out there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.grids.connected import open_cells
from glug.grids.regular import CENTRE, Grid, Staggered, lower_upper, mapped
from glug.physics.air.bubbles import Bubbles
from glug.physics.air.stokes import SharedPressures
from glug.physics.pressure import kernels as pressure_kernels
from glug.physics.pressure.components import Components, find_components
from glug.physics.rigid.stokes import StokesBodies
from glug.physics.stokes.levels import StokesLevel
from glug.physics.stokes.preconditioners import BlockTriangular, Monolithic
from glug.physics.terms import Eliminated, Term
from glug.physics.viscosity.problem import ViscosityProblem
from glug.physics.viscosity.solvers import ViscousFluid
from glug.physics.viscosity.weights import LEAST_MASS, empty_border
from glug.solvers.cg import System, Vector, at_unknowns, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.saddle.gmres import Unknowns, dot, gmres
from glug.solvers.stats import SolveStats

ROUNDING = 1e-7  # of a float32
LEAST_FULL = 0.5  # liquid fraction of a cell whose centre is just inside the liquid
PATIENCE = 120  # iterations, two bases, after which a preconditioner is given up for the next
Precondition = Callable[[Vector, Vector], None]


@dataclass
class StokesProblem:
    """One geometry, viscosity and time step, ready for any velocity."""

    viscous: ViscosityProblem
    phi: np.ndarray
    cells: np.ndarray  # uint8: whose pressure is unknown
    shared: SharedPressures | None = None  # of bubbles; None where all air is at p = 0

    @classmethod
    def build(cls, fluid: ViscousFluid) -> StokesProblem:
        """From what a viscous solve begins with."""
        viscous, grid, phi, solid = fluid.problem(), fluid.grid, fluid.phi, fluid.solid
        cells = open_cells((phi < 0).view(np.uint8), solid.area)
        for a in range(3):  # stencils do not reach the border
            ends = np.moveaxis(cells, a, 0)
            ends[0], ends[-1] = 0, 0
        for a, m in enumerate(viscous.mass):
            low, high = lower_upper(np.pad(cells, [(int(b == a),) * 2 for b in range(3)]), a)
            beside = ((low | high) > 0) & (solid.area[a] > 0) & (viscous.solid_faces[a] == 0)
            np.maximum(m, np.float32(LEAST_MASS), out=m, where=beside)
            if solid.slip is None:
                m *= solid.area[a]
            else:
                m[:] = slipping_mass(m, fluid.wet(a), solid.area[a])
            empty_border(grid, a, m)
        return cls(viscous, phi, cells)

    def with_bubbles(self, bubbles: Bubbles) -> StokesProblem:
        """The problem in which every bubble has a pressure; `bubbles` of a pressure problem of the same geometry."""
        mass = self.viscous.held_mass
        flux = mapped(lambda m, area: np.where(m > 0, area, np.float32(0.0)), mass, self.viscous.solid.area)
        shared, cells = SharedPressures(bubbles, flux), self.cells.copy()
        cells.reshape(-1)[shared.home] = 1
        return StokesProblem(self.viscous, self.phi, cells, shared)

    @property
    def grid(self) -> Grid:
        return self.viscous.grid

    @cached_property
    def level(self) -> StokesLevel:
        """K on the finest grid."""
        return StokesLevel(self.viscous.system(), self.phi, self.viscous.solid.area, self.cells)

    @cached_property
    def components(self) -> Components:
        """The parts of the cells that unknown faces connect; closed where none of these leads to air."""
        return find_components(self.level.schur.liquid, self.level.flux, self.level.flux)

    @cached_property
    def body_term(self) -> StokesBodies | None:
        if self.viscous.bodies is None:
            return None
        cells, shared = self.level.schur.liquid, self.shared
        if shared is None:
            return StokesBodies(self.viscous, self.phi, cells)
        return StokesBodies(self.viscous, self.phi, cells | shared.members, shared.cell)

    @property
    def terms(self) -> list[Term]:
        """The reduced unknowns of the problem, over faces and cells."""
        found: list[Term | None] = [self.body_term, self.shared]
        return [term for term in found if term is not None]

    @cached_property
    def eliminated(self) -> Eliminated:
        return Eliminated(self.level.mask, self.terms)

    @cached_property
    def gives(self) -> np.ndarray:
        """Whether a part of the cells may change its volume: it has a free surface, or pushes a body."""
        parts = self.components
        if self.body_term is None:
            return parts.free
        return parts.free | self.body_term.pushed(parts.label, len(parts.cells))

    @cached_property
    def closed(self) -> np.ndarray | None:
        """Number, by cell, the closed parts; None without any."""
        free = self.gives
        if free.all():
            return None
        number = np.append(np.where(free, -1, np.cumsum(~free) - 1), -1)
        return number.astype(np.int32)[self.components.label]

    # -- right-hand side -----------------------------------------------------------------------------------

    def known_flux(self, target: np.ndarray | None = None) -> np.ndarray:
        """g [m/s], before it is made consistent; `target` [m/s] is a divergence that the cells are to have."""
        g = self.grid.scalar()
        solid, walls, cells = self.viscous.solid, self.viscous.known_walls, self.level.schur.liquid
        if self.shared is not None:
            cells = cells | self.shared.air
        if walls is not None:
            pressure_kernels.divergence_rhs(*walls, *self._known_area, cells, g)
            if solid.clear is not None:
                pressure_kernels.closed_flux(*walls, *solid.clear, cells, g)
        if target is not None:
            g += np.where(cells > 0, target, np.float32(0.0))
        np.negative(g, out=g)
        if self.shared is not None:
            self.shared.gather(g)
        return g

    @property
    def _known_area(self) -> Staggered:
        """Open areas of faces whose velocity is a solid's."""
        faces = self.viscous.solid_faces
        return mapped(lambda area, s: np.where(s > 0, area, np.float32(0.0)), self.viscous.solid.area, faces)

    def right_hand_side(self, velocity: Staggered, target: np.ndarray | None = None) -> tuple[Vector, float]:
        """(M u*, g), and the largest mean of g in a closed part, which no flow meets and is taken out."""
        g = self.known_flux(target)
        amount = self.components.compatibility(g, self.level.schur.liquid, self.level.flux)
        amount[self.gives] = 0.0
        if np.any(amount):
            pressure_kernels.add_per_component(self.components.label, amount.astype(np.float32), g)
        return (*self.viscous.right_hand_side(velocity), g), float(np.abs(amount).max(initial=0.0))

    # -- solution ------------------------------------------------------------------------------------------

    def monolithic(self) -> Precondition:
        return Monolithic(self.level, self.closed)

    def block_triangular(self) -> Precondition:
        return BlockTriangular(self.level, self.closed, self.viscous.stiff_above)

    def preconditioners(self) -> list[Callable[[], Precondition]]:
        """What to begin with, and what to fall back on, made when it is needed.

        One cycle for all takes fewer iterations, but not where the viscosity jumps: coarse velocities cannot follow.
        """
        both = [self.monolithic, self.block_triangular]
        return both if self.viscous.stiff_above is None else both[::-1]

    def solve(
        self,
        velocity: Staggered,
        limits: SolveLimits,
        *,
        target: np.ndarray | None = None,
        choices: Sequence[Callable[[], Precondition]] | None = None,
    ) -> tuple[np.ndarray, SolveStats]:
        """Replace `velocity` on the unknown faces by the solution, in place; solid faces take the solid's.

        Returns q (float64; of closed parts up to a constant) and how the solve went. Residuals are relative to |M u*|
        for the velocities, and for continuity to the flux that u* leaves, as those of a projection are. Bodies get
        their velocity.
        """
        begin = time.perf_counter()
        level, choices = self.level, self.preconditioners() if choices is None else choices
        b, unmet = self.right_hand_side(velocity, target)
        given = [term.given(b, velocity) for term in self.eliminated.terms]
        self.eliminated.prepare(b, given)
        whole = self.eliminated.couple(level)
        unknowns = Unknowns(whole.mask, level.weights)
        x, scales = self.start(whole, unknowns, b, velocity, limits)
        setup, iterations = time.perf_counter() - begin, 0
        for n, make in enumerate(choices):
            at = time.perf_counter()
            precondition = make()
            setup += time.perf_counter() - at
            own = limits if n == len(choices) - 1 else limits.within(PATIENCE)
            stats = gmres(whole, precondition, b, x, own, scales=scales, unknowns=unknowns)
            iterations += stats.iterations
            del precondition
            if stats.converged:
                break
        self.eliminated.finish(x, x, given)
        self.viscous.write(velocity, x[:3], level.mask[:3])
        seconds = time.perf_counter() - begin - setup
        imbalance = unmet / max(unmet, scales[3]) if unmet > 0.0 else 0.0
        return self.pressure(x[3]), replace(
            stats, iterations=iterations, setup_seconds=setup, seconds=seconds, imbalance=imbalance
        )

    def pressure(self, multiplier: np.ndarray) -> np.ndarray:
        """q of the multipliers. A cell that has one is half full, or nearly so where the surface bends."""
        share = np.maximum(liquid_volume(self.phi, self.grid, CENTRE), np.float32(LEAST_FULL))
        if self.shared is None:
            return multiplier / share
        every = self.shared.fill(multiplier)
        return np.where(self.shared.members > 0, every, every / share)

    def start(
        self, whole: System, unknowns: Unknowns, b: Vector, velocity: Staggered, limits: SolveLimits
    ) -> tuple[Vector, list[float]]:
        """What the iteration begins with, u* or rest, whichever leaves less; and, by field, what residuals are
        relative to: the force M u*, and the flux that u* leaves, but no less than rounded velocities can tell.
        """
        level = self.level
        moving = (*at_unknowns(level, velocity), np.zeros(self.phi.shape))
        r = zeros_like(level)
        whole.residual(b, moving, r)
        force, flux, speed = (largest(part) for part in (b[:3], (r[3], b[3]), moving))
        scales = [max(force, limits.floor)] * 3 + [max(flux, limits.floor, ROUNDING / limits.tolerance * speed)]
        left = [dot(part, part) for part in map(unknowns.weighted, (r, b))]
        return (moving if left[0] < left[1] else zeros_like(level, np.float64)), scales


def slipping_mass(mass: np.ndarray, wet: np.ndarray, area: np.ndarray) -> np.ndarray:
    """The masses M of faces where walls slip: `wet` times their open area, which walls have taken from `mass` already.

    Faces in solids that slip have none; what their surfaces do moves them.
    """
    m = np.maximum(wet, np.float32(LEAST_MASS)) * area
    return np.where(mass > 0, np.maximum(m, np.float32(LEAST_MASS**2)), np.float32(0.0))


def largest(fields: Vector) -> float:
    """The largest magnitude."""
    return max(float(np.abs(f).max(initial=0.0)) for f in fields)
