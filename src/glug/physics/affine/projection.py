"""The projection of a liquid whose depths move as affine regions (Goldade 2021, section 4.3).

Pressures remain in the ordinary cells: a band below the surface, two cells along solids, and the layers between tiles.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glug.grids.regular import Staggered
from glug.particles.storage import Particles
from glug.physics.affine.regions import Regions, deep_cells, find_regions
from glug.physics.affine.system import CoupledCycle, RegionFaces, TileSystem
from glug.physics.pressure import kernels
from glug.physics.pressure.problem import PressureProblem
from glug.physics.pressure.volume import VolumeCorrection
from glug.physics.reference.affine import AffineProjection
from glug.solvers.cg import Cycle, Diagonal, Preconditioner, solve_with_fallback, zeros_like
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats


@dataclass
class TiledPressure:
    """A pressure problem with affine regions, ready for any number of velocities."""

    problem: PressureProblem
    regions: Regions
    tile: int = 0  # cells; 0 where regions are not cut
    seconds: float = 0.0  # that finding the regions took

    @classmethod
    def build(
        cls, problem: PressureProblem, tile: int, band: int, parts: Sequence[np.ndarray] | None = None
    ) -> "TiledPressure":
        """Tiles of `tile` cells (0: uncut) with `band` ordinary cells between them and the surface.

        `parts` are the cells of the fluids in which they are to be, the whole liquid when None.
        """
        begin = time.perf_counter()
        grid, liquid = problem.grid, problem.liquid > 0
        inside = np.zeros(grid.shape, np.bool_)
        for fluid in [liquid] if parts is None else parts:
            inside |= deep_cells(fluid, problem.solid.area, band, grid.dim)
        regions = find_regions(grid, inside, tile)
        return cls(problem, regions, tile, time.perf_counter() - begin)

    def mark(self, particles: Particles) -> None:
        """Give every particle the number of its region, 0 outside; the particles are sorted.

        A tile's is 1 + i + 101 j + 101^2 k by its place in the lattice, so that it stays the same from step to step.
        """
        grid, regions = self.problem.grid, self.regions
        number = np.arange(1, regions.count + 1)
        if self.tile:
            place = np.floor(((regions.centre - grid.corner) / grid.dx + grid.lo) / self.tile).astype(np.int64)
            number = 1 + np.maximum(place, 0)[:, : grid.dim] @ np.array([1, 101, 101**2])[: grid.dim]
        named = np.append(number, 0).astype(np.int32)[regions.label.ravel()]  # a label of -1 is the last
        particles.tile[:, 0] = np.repeat(named, np.diff(particles.start[:-1]))

    def densities(self) -> np.ndarray:
        """Of the regions, relative to the reference: one over the link inside."""
        first = np.zeros(self.regions.count)
        label = self.regions.label[1:]
        both = (label == self.regions.label[:-1]) & (label >= 0)  # every region has two cells along x
        first[label[both]] = 1.0 / self.problem.system.links[0][1:-1][both]
        return first

    def right_hand_side(self, velocity: Staggered, correction: VolumeCorrection | None) -> np.ndarray:
        """target - D u* [m/s] in the ordinary cells; in a closed component their sum is zero."""
        rhs = self.problem.right_hand_side(velocity, correction)
        rhs[self.regions.label >= 0] = 0.0
        components = self.problem.components
        if not components.free.all():
            label = np.where(self.regions.label < 0, components.label, -1).ravel()
            mine = label >= 0
            count = np.maximum(np.bincount(label[mine], minlength=len(components.cells)), 1)
            mean = np.bincount(label[mine], rhs.ravel()[mine], minlength=len(components.cells)) / count
            rhs.ravel()[mine] -= np.where(components.free, 0.0, mean)[label[mine]].astype(np.float32)
        return rhs

    def project(
        self,
        velocity: Staggered,
        limits: SolveLimits,
        *,
        correction: VolumeCorrection | None = None,
        solver: str = "multigrid",
    ) -> tuple[np.ndarray, SolveStats]:
        """As `PressureProblem.project`; q is zero inside the regions."""
        if solver == "reference":
            return self._project_assembled(velocity, correction)
        begin = time.perf_counter()
        faces = RegionFaces.build(self.problem.grid, self.regions, self.densities())
        system = TileSystem(self.problem.system, self.regions, faces)
        v = faces.fit(velocity)
        faces.write(v, velocity)
        b = system.gather(self.right_hand_side(velocity, correction))
        x = zeros_like(system, np.float64)
        choices: list[Callable[[], Preconditioner]] = [lambda: Diagonal(system.mask, system.blocks)]
        if solver == "multigrid":
            choices.insert(0, lambda: Cycle(system, CoupledCycle(system, self.problem.system)))
        setup = self.seconds + time.perf_counter() - begin
        patience = self.problem.system.patience
        stats = solve_with_fallback(system, choices, b, x, limits, patience=patience)
        q = self.problem.grid.scalar(dtype=np.float64)
        system.scatter(x, q)
        level = self.problem.system
        kernels.subtract_gradient(q, level.liquid, *level.links, *self.problem.solid.area, *velocity)
        faces.write(v - system.response(x[0][0, 0]).reshape(-1, 3, 4), velocity)
        return q, replace(stats, setup_seconds=setup + stats.setup_seconds)

    def _project_assembled(
        self, velocity: Staggered, correction: VolumeCorrection | None
    ) -> tuple[np.ndarray, SolveStats]:
        begin = time.perf_counter()
        grid, area = self.problem.grid, self.problem.solid.area
        links = self.problem.system.links
        mobility = [np.divide(k, a, out=np.zeros_like(k), where=a > 0.0) for k, a in zip(links, area)]
        affine = AffineProjection(grid, area, mobility, self.problem.liquid > 0, self.regions)
        u = _flat(velocity, grid.dim)
        v = affine.fit(u)
        u = np.where(affine.owned, affine.C @ v, u)
        _unflatten(u, velocity, grid.dim)
        rhs = self.right_hand_side(velocity, correction)
        solution = affine.correct(u, v, -rhs.ravel()[affine.ordinary].astype(np.float64))
        _unflatten(solution.u, velocity, grid.dim)
        seconds = time.perf_counter() - begin
        stats = SolveStats("reference", solution.unknowns, 1, solution.residual, seconds, solution.residual < 1e-6)
        return solution.q.reshape(grid.shape), stats


def _flat(velocity: Staggered, dim: int) -> np.ndarray:
    return np.concatenate([c.ravel() for c in velocity[:dim]]).astype(np.float64)


def _unflatten(u: np.ndarray, velocity: Staggered, dim: int) -> None:
    begin = 0
    for c in velocity[:dim]:
        c[:] = u[begin : begin + c.size].reshape(c.shape)
        begin += c.size
