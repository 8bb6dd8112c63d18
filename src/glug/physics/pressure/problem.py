"""Pressure projection: open face areas at solids, second-order ghost fluid at the free surface.

Find q with D u = target, where u = u* - G q. With q = p dt / (rho dx) the system is

    sum over faces  link (q_i - q_neighbour) = target - D u*,     link = area, or area / theta towards air,

symmetric and positive semi-definite (Batty 2010, chapters 2 and 5; Ng et al. 2009; Gibou et al. 2002). Cells at
separating walls have q >= 0 (`physics.pressure.separation`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.blocks import active_blocks
from glug.grids.regular import Grid, Staggered
from glug.physics.air.bubbles import Bubbles
from glug.physics.air.levels import bubble_hierarchy
from glug.physics.air.regions import find_air_regions
from glug.physics.pressure import kernels
from glug.physics.pressure import kernels_grids as kernels_pressure
from glug.physics.pressure.components import Components, find_components
from glug.physics.pressure.contrast_levels import MOST_AVERAGED, ContrastLevel, contrast_of
from glug.physics.pressure.levels import PressureLevel, hierarchy
from glug.physics.pressure.separation import HeldSystems, bounded_cells, lift_closed, opened
from glug.physics.pressure.volume import VolumeCorrection
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.rigid.levels import BodyGrids, BodySmoother
from glug.solvers.assembled.direct import direct_solve
from glug.solvers.balance import Balanced
from glug.solvers.bounded import Bounds, direct_bounded, solve_bounded
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, System, Vector, largest, solve_with_fallback
from glug.solvers.incomplete import StencilCholesky
from glug.solvers.limits import SolveLimits
from glug.solvers.low_rank import Coupled, LowRank, Rows
from glug.solvers.multigrid import Multigrid
from glug.solvers.smoothers import GaussSeidel
from glug.solvers.stats import SolveStats

LEAST_BALANCED = 500  # cells: sweeps alone solve smaller parts


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
    parts: Components | None = None  # of the liquid, where air has pressures too
    freed: np.ndarray | None = None  # uint8: cells that separating walls let go, at last; where a solve begins
    earlier: np.ndarray | None = None  # q of a projection before, in the same step: such walls bound the sum of both
    _multigrid: Preconditioner | None = None
    _unmet: float = 0.0  # [m/s], by the last right-hand side

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
        liquid = grid.scalar(dtype=np.uint8)
        kernels.liquid_cells(phi, *solid.area, liquid)
        links, diagonal = grid.staggered(), grid.scalar()
        kernels.pressure_links(phi, liquid, *solid.area, *links, diagonal)
        if mobility is not None:
            for link, m in zip(links, mobility):
                link *= m
            kernels_pressure.sum_links(*links, liquid, diagonal)
        level = ContrastLevel if mobility is not None and contrast_of(mobility) > MOST_AVERAGED else PressureLevel
        system = level(grid.shape, phi, liquid, solid.area, links, diagonal, active_blocks(liquid))
        return cls(grid, solid, liquid, find_components(liquid, solid.area, links), system, bodies)

    @cached_property
    def low_rank(self) -> LowRank | None:
        """What the bodies add to the matrix."""
        return None if self.bodies is None else LowRank(self.system.mask, self.body_rows, self.bodies.S)

    @cached_property
    def body_rows(self) -> list[Rows]:
        return [] if self.bodies is None else self.bodies.rows(self.liquid)

    def close_air(self) -> Bubbles:
        """Give every closed part of the air a pressure of its own; the window must hold all the air there is."""
        regions = find_air_regions(self.liquid, self.solid.area)
        links, mask = self.system.links, self.system.mask
        self.bubbles, self._multigrid = Bubbles(regions, self.liquid, self.components, links, mask), None
        return self.bubbles

    @property
    def wet(self) -> np.ndarray:
        """The cells with liquid at their centres (uint8)."""
        return self.liquid if self.parts is None else (self.parts.label >= 0).view(np.uint8)

    @property
    def operator(self) -> System:
        """The matrix of the solve: that of the liquid cells, with bodies and the pressures of bubbles eliminated."""
        if self.low_rank is not None:
            return Coupled(self.system, self.low_rank)
        return self.system if self.bubbles is None else Coupled(self.system, self.bubbles.low_rank)

    def right_hand_side(self, velocity: Staggered, correction: VolumeCorrection | None = None) -> np.ndarray:
        """target - D u* [m/s].

        A component without any free surface cannot change its volume: the mean is removed there, which is
        the least-squares answer when a moving solid compresses it. (A body that gives way lets it.)
        """
        rhs = self.grid.scalar()
        if self.bodies is not None and self.solid.velocity is not None:
            self.bodies.write(self.solid.velocity)
        kernels.divergence_rhs(*velocity, *self.solid.area, self.liquid, rhs)
        if self.solid.velocity is not None and self.solid.clear is not None:
            kernels.closed_flux(*self.solid.velocity, *self.solid.clear, self.liquid, rhs)
        if self.bubbles is None and self.bodies is None:  # these may give way
            unmet = self.components.compatibility(rhs, self.liquid, self.system.links)
            self._unmet = float(np.abs(unmet).max(initial=0.0))
        if correction is not None:
            components = self.parts or self.components
            correction.add_to(rhs, components.label, len(components.cells), self.solid.openness, self.grid)
        if self.bubbles is not None:
            return rhs
        amount = self.components.compatibility(rhs, self.liquid, self.system.links)
        if self.bodies is not None and np.any(amount):
            amount[self._pushed()] = 0.0
        if np.any(amount):
            kernels.add_per_component(self.components.label, amount.astype(np.float32), rhs)
        return rhs

    def _pushed(self) -> np.ndarray:
        """Whether the pressure of a component as a whole pushes a body."""
        count = len(self.components.cells)
        if self.bodies is None:
            return np.zeros(count, np.bool_)
        return self.bodies.pushed_components(self.body_rows, self.components.label, count)

    def preconditioners(self, solver: str) -> list[Callable[[], Preconditioner]]:
        """What `solver` names, and what to fall back on; a hierarchy is made once for a geometry."""

        def jacobi() -> Preconditioner:
            mask = self.system.mask
            return Diagonal(mask if self.low_rank is None else self.low_rank.diagonal(mask), self.system.blocks)

        def multigrid() -> Preconditioner:
            if self._multigrid is None:
                cycle, loose = self._cycle(), self._unfixed()
                self._multigrid = Cycle(self.system, cycle if loose is None else Balanced(cycle, self.system, loose))
            return self._multigrid

        def incomplete() -> Preconditioner:
            system = self.system
            return Cycle(system, StencilCholesky(system.links, system.diagonal, system.blocks))

        alone = self.bodies is None and self.bubbles is None  # the factors know neither
        choices = {
            "jacobi-cg": [jacobi],
            "ic-cg": [incomplete],
            "multigrid": [multigrid, incomplete, jacobi] if alone else [multigrid, jacobi],
        }
        return choices[solver]

    def _unfixed(self) -> np.ndarray | None:
        """Number, by cell, the parts of the liquid whose pressure is known up to a constant; None without any."""
        if self.bodies is not None:
            return None
        free, cells = self.components.free, self.components.cells
        part = np.where(free, -1, np.arange(len(free))) if self.bubbles is None else self.bubbles.unfixed
        large = np.bincount(part[part >= 0], cells[part >= 0]) >= LEAST_BALANCED
        if not large.any():
            return None
        number = np.append(np.where(large, np.cumsum(large) - 1, -1), -1)  # the last for part -1
        return np.append(number[part], -1).astype(np.int32)[self.components.label]

    def _cycle(self) -> Callable[[Vector, Vector, Vector], float]:
        """A V-cycle; one that knows the bubbles, or the bodies, where there are any."""
        bubbles, smoother = self.bubbles, BodySmoother(self.system.sweeps)
        if self.bodies is not None and self.low_rank is not None:
            grids = BodyGrids(self.bodies, self.body_rows)
            return Multigrid([grids.finest(self.system, self.low_rank), *grids.coarser(self.system)], smoother)
        if bubbles is None:
            return Multigrid(hierarchy(self.system), GaussSeidel(self.system.sweeps))
        known = ~bubbles.anchors
        levels: Sequence[Any] = (
            bubble_hierarchy(self.system, bubbles.cells_of(known), bubbles.only(known))
            if known.any()
            else hierarchy(self.system)
        )
        return Multigrid(levels, smoother)

    def project(
        self,
        velocity: Staggered,
        limits: SolveLimits,
        *,
        correction: VolumeCorrection | None = None,
        solver: str = "multigrid",
    ) -> tuple[np.ndarray, SolveStats]:
        """Make `velocity` satisfy D u = target, in place; returns q (float64) and how the solve went.

        `solver` is `multigrid`, with `ic-cg` (not with bodies or bubbles) and then `jacobi-cg` to fall back on, or
        `jacobi-cg`, `ic-cg` or `reference`. Where closed liquid is compressed, `imbalance` of the statistics is the
        mean divergence that is left.
        """
        b = self.right_hand_side(velocity, correction)
        q = self.grid.scalar(dtype=np.float64)
        w = np.zeros(0)  # the right-hand side of the bubbles
        if self.bubbles is not None:
            w = self.bubbles.right_hand_side(b, velocity, self.solid, self.grid.dx)
        if self.solid.separating is not None:
            stats = self._separate(self.solid.separating, b, q, limits, solver)
        elif solver == "reference":
            stats = self._solve_assembled(b, q, w)
        else:
            if self.bubbles is not None:
                self.bubbles.low_rank.add((w / self.bubbles.C).reshape(-1, 1), (b,))
            choices = self.preconditioners(solver)
            patience = self.system.patience
            stats = solve_with_fallback(self.operator, choices, (b,), (q,), limits, patience=patience)
        if self._unmet > 0.0:
            stats = replace(
                stats, imbalance=self._unmet / max(self._unmet, largest((b,), self.system.blocks), limits.floor)
            )
        if self.bubbles is not None:
            self.bubbles.fill(q, self.bubbles.pressures(q, w))
        kernels.subtract_gradient(q, self.liquid, *self.system.links, *self.solid.area, *velocity)
        if self.bodies is not None and self.low_rank is not None and self.solid.velocity is not None:
            self.bodies.push(self.low_rank, q)
            self.bodies.write(self.solid.velocity)
        return q, stats

    def _solve_assembled(self, b: np.ndarray, q: np.ndarray, w: np.ndarray) -> SolveStats:
        """The reference solve."""
        matrix, bubbles = assemble_pressure(self), self.bubbles
        if bubbles is None:
            return direct_solve("pressure", self.system.mask, (b,), (q,), matrix)
        mask, x = (self.system.mask[0], bubbles.C), (q, np.zeros(len(bubbles)))
        return direct_solve("pressure", mask, (b, w), x, bubbles.matrix(matrix, self.system.mask[0]))

    def _separate(
        self,
        separating: np.ndarray,
        b: np.ndarray,
        q: np.ndarray,
        limits: SolveLimits,
        solver: str,
    ) -> SolveStats:
        """Solve for q with bounds in `separating` cells, in place; `freed` is where they are met."""
        index = bounded_cells(separating, self.liquid, self.components)
        grids = None if self.bodies is None else BodyGrids(self.bodies, self.body_rows)
        lower = 0.0 if self.earlier is None else -self.earlier.reshape(-1)[index]
        held = np.zeros(0, np.bool_) if self.freed is None else self.freed.reshape(-1)[index] > 0
        bounds = Bounds(index, lower, held)
        if solver == "reference":
            stats = direct_bounded("pressure", self.system.mask, bounds, (b,), (q,), assemble_pressure(self))
        else:
            without = HeldSystems(self.system, self.system.sweeps, solver != "jacobi-cg", grids)
            stats = solve_bounded(self.operator, bounds, without, (b,), (q,), limits)
        lift_closed(q, separating, self.components, self._pushed())
        self.freed = opened(bounds, self.grid.shape)
        return stats


def assemble_pressure(problem: PressureProblem):  # type: ignore[no-untyped-def]
    """The pressure matrix over the liquid cells in C order, as `scipy.sparse` (the reference)."""
    from scipy import sparse

    number = np.full(problem.grid.shape, -1, np.int64)
    active = problem.liquid > 0
    number[active] = np.arange(active.sum())
    rows, columns, values = [], [], []
    diagonal = np.zeros(int(active.sum()))
    for a, link in zip(problem.grid.axes, problem.system.links):
        inner = tuple(slice(1, -1) if b == a else slice(None) for b in range(3))
        low = number[tuple(slice(None, -1) if b == a else slice(None) for b in range(3))].ravel()
        high = number[tuple(slice(1, None) if b == a else slice(None) for b in range(3))].ravel()
        c = link[inner].astype(np.float64).ravel()
        for p in (low, high):
            np.add.at(diagonal, p[p >= 0], c[p >= 0])
        both = (low >= 0) & (high >= 0) & (c > 0)
        rows += [low[both], high[both]]
        columns += [high[both], low[both]]
        values += [-c[both], -c[both]]
    n = len(diagonal)
    rows.append(np.arange(n))
    columns.append(np.arange(n))
    values.append(diagonal)
    matrix = sparse.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n))
    return matrix if problem.low_rank is None else (matrix + problem.low_rank.assemble(problem.system.mask)).tocsc()
