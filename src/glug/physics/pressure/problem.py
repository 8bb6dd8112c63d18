"""Pressure projection: open face areas at solids, second-order ghost fluid at the free surface.

Find q with D u = 0, where u = u* + M^-1 D' q, M = area theta / mobility. With q = p dt / (rho dx) the system is

    sum over faces  link (q_i - q_neighbour) = -D u*,     link = area, or area / theta towards air,

times the mobility where densities differ; symmetric and positive semi-definite (Batty 2010, chapters 2 and 5; Ng et al.
2009; Gibou et al. 2002). Rigid bodies and bubbles are terms of it (`physics.terms`); affine regions take the pressures
of their cells out of it; cells at separating walls have q >= 0. Any of them go together.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.blocks import active_blocks
from glug.grids.connected import open_cells
from glug.grids.kernels import sum_faces
from glug.grids.regular import Grid, Staggered
from glug.physics.affine.projection import AffineRegions, Depths, TiledRegions, leave_out, regions_in
from glug.physics.affine.regions import Regions
from glug.physics.air.bubbles import Bubbles
from glug.physics.air.regions import find_air_regions
from glug.physics.pressure import kernels
from glug.physics.pressure.components import Components, find_components
from glug.physics.pressure.contrast_levels import MOST_AVERAGED, ContrastLevel, contrast_of
from glug.physics.pressure.levels import PressureLevel
from glug.physics.pressure.separation import SeparatingWalls
from glug.physics.pressure.solvers import MULTIGRID, Iterative, Makers, Preconditioning, PressureSolver
from glug.physics.pressure.volume import VolumeCorrection
from glug.physics.rigid.bodies import BodyPressure, RigidBodies, wall_velocity
from glug.physics.terms import Eliminated, Term, moved
from glug.solvers.bounded import Bounds
from glug.solvers.cg import System, Vector, largest
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import LowRank
from glug.solvers.stats import SolveStats


@dataclass
class PressureProblem:
    """One geometry's projection, ready for any number of velocities."""

    grid: Grid
    solid: SolidField
    liquid: np.ndarray  # uint8: cells whose pressure is unknown
    components: Components
    system: PressureLevel
    bodies: RigidBodies | None = None  # whose velocity the solve finds, too
    bubbles: Bubbles | None = None  # closed air that keeps its volume; None where all air is at p = 0
    regions: AffineRegions | None = None  # cells that move together and have no pressure
    walls: SeparatingWalls | None = None  # that let go
    bounds: Bounds | None = None  # which they put on q; of one solve
    parts: Components | None = None  # of the liquid, where air has pressures too
    more_terms: Sequence[Term] = ()  # reduced unknowns of other kinds, which give way as bodies do (T > 0)

    @classmethod
    def build(
        cls,
        grid: Grid,
        phi: np.ndarray,
        solid: SolidField,
        bodies: RigidBodies | None = None,
        mobility: Staggered | None = None,
    ) -> "PressureProblem":
        """From the liquid's distance at cell centres and the solids.

        `mobility` is the reference density over the one on every face, where liquids of several densities meet.
        """
        liquid = open_cells((phi < 0).view(np.uint8), solid.area)
        links, diagonal = grid.staggered(), grid.scalar()
        kernels.pressure_links(phi, liquid, *solid.area, *links, diagonal)
        if mobility is not None:
            for link, m in zip(links, mobility):
                link *= m
            sum_faces(*links, liquid, diagonal)
        level = ContrastLevel if mobility is not None and contrast_of(mobility) > MOST_AVERAGED else PressureLevel
        system = level(grid.shape, phi, liquid, solid.area, links, diagonal, active_blocks(liquid))
        components = find_components(liquid, solid.area, links)
        walls = None if solid.separating is None else SeparatingWalls(solid.separating)
        return cls(grid, solid, liquid, components, system, bodies, walls=walls)

    def with_affine_regions(
        self, depths: Sequence[Depths], make: Callable[[Grid, PressureLevel, Regions], AffineRegions] = TiledRegions
    ) -> "PressureProblem":
        """The problem in which the insides of some fluids are affine regions, or tiles of such."""
        regions = make(self.grid, self.system, regions_in(self.grid, self.solid, depths))
        new = self._with(regions=regions)
        if self.bubbles is not None:
            inside = regions.regions.label >= 0
            ordinary = replace(self.components, label=np.where(inside, np.int32(-1), self.components.label))
            new.bubbles = Bubbles(self.bubbles.regions, new, ordinary, self.body_term)
        return new

    def with_closed_air(self) -> "PressureProblem":
        """The problem in which every closed part of the air has a pressure; the window must hold all the air."""
        regions = find_air_regions(self.liquid, self.solid.area)
        return self._with(bubbles=Bubbles(regions, self, self.components, self.body_term))

    def _with(self, **changes: Any) -> "PressureProblem":
        """The same with changes that leave the rows of bodies as they are."""
        new = replace(self, **changes)
        new.__dict__["body_term"] = self.body_term
        return new

    def bounded(self, bounds: Bounds) -> "PressureProblem":
        """The same with bounds on q; what solves have made is shared."""
        shared = {name: getattr(self, name) for name in ("eliminated", "preconditioning")}
        new = self._with(bounds=bounds)
        new.__dict__.update(shared)
        return new

    def forget_solves(self) -> None:
        """Give back the memory of what solves have made: hierarchies, and rows of terms."""
        for name in ("preconditioning", "eliminated"):
            self.__dict__.pop(name, None)

    @property
    def dx(self) -> float:
        return self.grid.dx

    @property
    def links(self) -> Staggered:
        return self.system.links

    @property
    def wet(self) -> np.ndarray:
        """The cells with liquid at their centres (uint8)."""
        return self.liquid if self.parts is None else (self.parts.label >= 0).view(np.uint8)

    # -- terms ---------------------------------------------------------------------------------------------

    @cached_property
    def body_term(self) -> BodyPressure | None:
        return None if self.bodies is None else BodyPressure(self.bodies, self.liquid)

    @property
    def terms(self) -> list[Term]:
        """The reduced unknowns of the problem."""
        found: list[Term | None] = [self.body_term, self.bubbles]
        return [*(term for term in found if term is not None), *self.more_terms]

    @cached_property
    def eliminated(self) -> Eliminated:
        """The terms over the unknowns."""
        return self.eliminated_over(self.base.mask)

    def eliminated_over(self, mask: Vector) -> Eliminated:
        """The same over some of them: those with a positive `mask`."""
        return Eliminated(mask, self.terms, None if self.regions is None else self.regions.system.number)

    def bodies_of(self, eliminated: Eliminated) -> LowRank | None:
        """What the bodies add to the matrix of `system`, where `eliminated` is over its cells."""
        return None if self.body_term is None or self.regions is not None else eliminated.part_of(self.body_term)

    @property
    def base(self) -> System:
        """The matrix without the terms: of the liquid's cells, or of the pressures that affine regions leave."""
        return self.system if self.regions is None else self.regions.system

    @property
    def operator(self) -> System:
        """The matrix of the solve, with the terms eliminated."""
        return self.eliminated.couple(self.base)

    def vector(self, field: np.ndarray) -> Vector:
        """A field of cells as a vector of `operator`."""
        return (field,) if self.regions is None else self.regions.system.gather(field)

    def unpack(self, x: Vector, field: np.ndarray) -> None:
        """The opposite, in place."""
        if self.regions is not None:
            self.regions.system.scatter(x, field)

    def numbered(self, cells: np.ndarray) -> np.ndarray:
        """The numbers of cells (flat) in vectors of `operator`, ascending with them."""
        return cells if self.regions is None else self.regions.system.number[cells]

    def cells_of(self, index: np.ndarray) -> np.ndarray:
        """The opposite."""
        return index if self.regions is None else self.regions.system.cell[index]

    def preconditioners(self, solver: Iterative = MULTIGRID) -> Makers:
        """What a solver begins with, and what it falls back on."""
        return solver.makers(self.preconditioning)

    @cached_property
    def preconditioning(self) -> Preconditioning:
        """Made once for a geometry, from a copy: this problem and it are gone as soon as nobody needs them."""
        _ = self.eliminated  # which both have
        return Preconditioning(copy(self))

    @cached_property
    def pushed(self) -> np.ndarray:
        """Whether the pressure of a component as a whole pushes a body, or moves what another term has."""
        label, count = self.components.label, len(self.components.cells)
        found = np.zeros(count, np.bool_) if self.body_term is None else self.body_term.pushed(label, count)
        for term in self.more_terms:
            found |= moved(term, label, count)
        return found

    # -- projection ----------------------------------------------------------------------------------------

    def divergence(self, velocity: Staggered) -> np.ndarray:
        """-D u* [m/s], with what moving solids bring in."""
        rhs = self.grid.scalar()
        kernels.divergence_rhs(*velocity, *self.solid.area, self.liquid, rhs)
        walls = wall_velocity(self.solid, self.bodies)
        if walls is not None and self.solid.clear is not None:
            kernels.closed_flux(*walls, *self.solid.clear, self.liquid, rhs)
        return rhs

    def unmet(self, rhs: np.ndarray) -> float:
        """The mean of -D u* [m/s] in closed liquid that nothing lets give way: no pressure changes it."""
        if self.terms:
            return 0.0
        return float(np.abs(self.components.compatibility(rhs, self.liquid, self.links)).max(initial=0.0))

    def right_hand_side(self, velocity: Staggered) -> np.ndarray:
        """-D u* [m/s], so that a solution exists."""
        return self.consistent(self.divergence(velocity))

    def consistent(self, rhs: np.ndarray) -> np.ndarray:
        """A right-hand side, in place, so that a solution exists.

        A component without any free surface cannot change its volume: the mean is removed there, which is
        the least-squares answer when a moving solid compresses it. (A body that gives way lets it.)
        """
        if self.bubbles is None:  # these see to it themselves
            amount = self.components.compatibility(rhs, self.liquid, self.links)
            amount[self.pushed] = 0.0
            if np.any(amount):
                kernels.add_per_component(self.components.label, amount.astype(np.float32), rhs)
        if self.regions is not None:
            held = self.components.free | self.pushed | (self.bubbles is not None)
            leave_out(self.regions.regions, rhs, self.components, held)
        return rhs

    def project(
        self,
        velocity: Staggered,
        limits: SolveLimits,
        *,
        earlier: np.ndarray | None = None,
        freed: np.ndarray | None = None,
        solver: PressureSolver = MULTIGRID,
    ) -> tuple[np.ndarray, SolveStats]:
        """Make `velocity` satisfy D u = 0, in place; returns q (float64) and how the solve went.

        `earlier` is q of a projection before, in the same step: separating walls bound the sum of both. `freed` (uint8)
        are the cells that they let go before, where the solve begins, and then those that it lets go, in place. Where
        closed liquid is compressed, `imbalance` of the statistics is the mean divergence that is left, over the largest
        right-hand side. `solver` is a function (`physics.pressure.solvers`), not a name.
        """
        motion = None if self.regions is None else self.regions.enter(velocity)
        b = self.divergence(velocity)
        unmet = self.unmet(b)
        self.consistent(b)
        given = [term.given((b,), velocity) for term in self.terms]
        q = self.grid.scalar(dtype=np.float64)
        if self.walls is None:
            stats = solver(self, b, given, q, limits)
        else:
            bounds = self.walls.bounds(self, freed, earlier)
            stats = solver(self.bounded(bounds), b, given, q, limits)
            self.walls.lift(self, q)
            if freed is not None:
                freed[:] = 0
                freed.reshape(-1)[self.cells_of(bounds.index[bounds.held])] = 1
        if unmet > 0.0:
            scale = max(unmet, largest((b,), self.system.blocks), limits.floor)
            stats = replace(stats, imbalance=unmet / scale)
        self.eliminated.finish(self.vector(q), (q,), given)
        kernels.subtract_gradient(q, self.liquid, *self.links, *self.solid.area, *velocity)
        if self.regions is not None and motion is not None:
            self.regions.finish(q, motion, velocity)
        return q, stats

    # -- displacement --------------------------------------------------------------------------------------

    @property
    def still(self) -> "PressureProblem":
        """The liquid and the bubbles of this problem, among solids and bodies that hold still."""
        alone = self.bodies is None and self.walls is None and self.regions is None and not self.more_terms
        return self if alone else self._alone

    @cached_property
    def _alone(self) -> "PressureProblem":
        alone = replace(self, bodies=None, walls=None, regions=None, bubbles=None, more_terms=())
        if self.bubbles is not None:
            alone.bubbles = Bubbles(self.bubbles.regions, alone, self.components)
        return alone

    def displacement(
        self,
        correction: VolumeCorrection,
        growth: np.ndarray | None,
        limits: SolveLimits,
        solver: PressureSolver = MULTIGRID,
    ) -> tuple[Staggered, SolveStats] | None:
        """The velocity w = M^-1 D' q with D w = target that moves the liquid to where it has its volume.

        It is for places alone: no momentum goes with it, and solids and bodies hold still. `growth` [m3/s] is what
        every air region is to gain. None where nothing is to move.
        """
        target, components = self.grid.scalar(), self.parts or self.components
        correction.add_to(target, components.label, len(components.cells), self.solid.openness, self.grid)
        grows = self.bubbles is not None and growth is not None and bool(np.any(growth[self.bubbles.number]))
        if not grows and not target.any():
            return None
        return self.still._displaced(target, growth, limits, solver)

    def _displaced(
        self, target: np.ndarray, growth: np.ndarray | None, limits: SolveLimits, solver: PressureSolver
    ) -> tuple[Staggered, SolveStats]:
        w, q = self.grid.staggered(), self.grid.scalar(dtype=np.float64)
        b = self.consistent(target)
        given = [] if self.bubbles is None else [self.bubbles.asked((b,), growth)]
        stats = solver(self, b, given, q, limits)
        self.eliminated.finish(self.vector(q), (q,), given)
        kernels.subtract_gradient(q, self.liquid, *self.links, *self.solid.area, *w)
        return w, stats
