"""What the stages of one step share. Every field has one stage that makes it, in brackets; later stages read it.

`problem` gains bubbles in `air` and affine regions in `regions`, `q` is summed over projections, which change `freed`
in place, `velocity` changes in place, `bubbles` runs `geometry` and `free_surface` again, and `fraction` and `before`
are given back when nobody needs them any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from glug.geometry.embedded.cells import EmbeddedCells
from glug.geometry.solids.field import SolidField
from glug.grids.regular import Grid, Staggered
from glug.grids.tetrahedra.field import Surroundings, VelocityField
from glug.physics.pressure.evenness import Evenness
from glug.physics.pressure.problem import PressureProblem
from glug.physics.pressure.volume import VolumeCorrection
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.voronoi.liquid import VoronoiLiquid
from glug.simulation.closed_air import ClosedAir
from glug.simulation.frame import Amounts
from glug.simulation.setting import Setting
from glug.simulation.state import State
from glug.solvers.stats import SolveStats

if TYPE_CHECKING:
    from glug.simulation.octree.tree import StepTree
    from glug.simulation.stages.momentum import FreeFlight

Force = Callable[[np.ndarray, float], np.ndarray]
"""The acceleration (n, 3) [m/s2] of liquid at points (n, 3) [m] and a time [s]."""


@dataclass
class StepContext:
    """One step of a simulation.

    A field that no stage has written yet is not there: reading it is an AttributeError that names it.
    """

    setting: Setting
    # Particles are poured [sort], reseeded [reseed], heated, with what that does to their viscosity [heat], and shifted
    # [bubbles] before the solves; velocities, positions and time change from `transfer_to_particles` on.
    state: State
    forces: Sequence[Force] = ()  # besides gravity

    dt: float = field(init=False)  # [s] [time_step]
    tree: StepTree = field(init=False)  # with `solver.mesh = "octree"` [adapt]
    merged: float = 0.0  # [J] of kinetic energy that merging particles took [adapt]
    grid: Grid = field(init=False)  # the window of this step [sort]
    full: bool = False  # particles have the volume of all that is open [reseed]

    solid: SolidField = field(init=False)  # [geometry]
    held: SolidField = field(init=False)  # the same for solves, with open sources as solids [geometry]
    phi: np.ndarray = field(init=False)  # distance of the liquid at cell centres [m], whatever the air is [geometry]
    fraction: np.ndarray | None = field(init=False)  # open liquid fraction of every cell [geometry]
    liquids: dict[int, np.ndarray] = field(init=False)  # distances of liquids of other densities, by number [geometry]
    mobility: Staggered | None = field(init=False)  # reference density over that on every face [geometry]
    bodies: RigidBodies | None = field(init=False)  # whose velocity every solve changes [geometry]
    problem: PressureProblem = field(init=False)  # the projections [free_surface or two_phase; more: air, regions]
    wet: np.ndarray = field(init=False)  # uint8: the cells with liquid at their centres [free_surface or two_phase]
    freed: np.ndarray | None = field(init=False)  # uint8: those that separating walls let go, so far [geometry]
    air: ClosedAir | None = None  # the bubbles, where air is closed [air]
    air_lost: float = 0.0  # [m3] that they had lost by the step before [air]
    growth: np.ndarray | None = None  # [m3/s] that every air region is to gain [bubbles]

    volume: float = field(init=False)  # of the liquid [m3] [volumes]
    correction: VolumeCorrection | None = field(init=False)  # [volumes]
    evenness: Evenness | None = field(init=False)  # [volumes]

    velocity: Staggered = field(init=False)  # on the faces, changed in place from here on [transfer_to_grid]
    reached: Staggered = field(init=False)  # how much of every face particles reach [transfer_to_grid]
    before: Staggered | None = field(init=False)  # the velocity that particles brought, for FLIP [transfer_to_grid]
    flight: FreeFlight | None = None  # the liquid that touches nothing [weigh]
    mesh: Surroundings = field(init=False)  # of tetrahedra, where pressure is solved on them [remesh]
    flow: VelocityField | None = None  # of the step before, where it carries velocities [remesh]
    liquid: VoronoiLiquid = field(init=False)  # with `solver.mesh = "voronoi"` [track]
    embedded: EmbeddedCells = field(init=False)  # its cells [remesh]
    u: np.ndarray = field(init=False)  # velocities of their faces, changed in place by `forces` [advect, pressure]
    used: np.ndarray = field(init=False)  # which of these are the liquid's [pressure]
    surface_jump: Staggered | None = None  # of q across the surface, by its tension [tension]
    q: np.ndarray | None = None  # p dt / (rho dx) of all projections together [project, pressure or stokes]
    again: float = 0.0  # what particles get a second time of what forces and solves change [forces]
    pushed: Staggered | None = None  # what they have changed, where `again` [forces, project, viscosity, pressure]
    speed: float = field(init=False)  # a bound on it [m/s] [extrapolate]

    came: dict[str, Amounts] = field(default_factory=dict)  # from sources [sort]
    left: dict[str, Amounts] = field(default_factory=dict)  # by the way that it took [advect: squeezed; drain: others]

    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    solves: dict[str, SolveStats] = field(default_factory=dict)  # by stage
    by_stage: dict[str, Amounts] = field(default_factory=dict)  # what it changed, where `output.budget` asks for it
    warnings: list[str] = field(default_factory=list)
    fields: dict[str, np.ndarray] = field(default_factory=dict)  # what solvers add to the output

    @property
    def leapfrog(self) -> bool:
        """Whether velocities are those of the middles of steps.

        Viscous stresses, and what bodies rest on, balance forces within a step, and would start up where steps change.
        """
        return not (self.again or self.setting.viscous or self.setting.bodies)

    @property
    def acting(self) -> float:
        """The time [s] that forces and solves act where a path begins: all of the step, unless they act `again`.

        In a leapfrog it is that from the middle of the last step, or from the begin of the run, to that of this one.
        """
        return 0.5 * (self.state.last_dt + self.dt) if self.leapfrog else self.dt / (1.0 + self.again)

    @property
    def cells(self) -> int:
        """Of the window, leaves of the tree, or Voronoi cells."""
        if hasattr(self, "liquid"):
            return len(self.state.sites)
        return len(self.tree.tree) if hasattr(self, "tree") else self.grid.cells

    def forget(self, *names: str) -> None:
        """Give fields back, for the memory that they take."""
        for name in names:
            self.__dict__.pop(name, None)
