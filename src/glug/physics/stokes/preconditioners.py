"""The preconditioners of a Stokes solve: one cycle for velocities and pressures, or one cycle for each.

monolithic        a V-cycle whose smoother sweeps the rows of the velocities, then lets pressures push these towards
                  continuity, as if A were its diagonal (Braess and Sarazin 1997)
block triangular  u = cycle r_u,  p = S (B u - r_p):  A's own cycle, and for the inverse of B A^-1 B' what it is where
                  the liquid is thick, a weight of every cell, plus what it is where it is thin, a pressure cycle
                  (Cahouet and Chabard 1988)
"""

from dataclasses import dataclass

import numpy as np

from glug.grids.kernels import sum_faces
from glug.grids.regular import mapped
from glug.jit import threads_for
from glug.physics.pressure.levels import hierarchy as pressure_hierarchy
from glug.physics.stokes import kernels
from glug.physics.stokes.levels import MINUS, PLUS, StokesLevel, hierarchy, schur_level
from glug.physics.viscosity.levels import hierarchy as viscous_hierarchy
from glug.physics.viscosity.parts.free import with_free_parts
from glug.physics.viscosity.preconditioners import multigrid_cycle
from glug.solvers import kernels as vectors
from glug.solvers.balance import Balanced, PartMeans
from glug.solvers.cg import Vector, zeros_like
from glug.solvers.multigrid import Multigrid
from glug.solvers.saddle.bottom import SaddleBottom
from glug.solvers.smoothers import GaussSeidel

# Sweeps on either side of the coarse correction, and of the pressures in each: fewer of either take more time.
SWEEPS, PRESSURE_SWEEPS = 3, 3
# Every coarse grid but the last is visited twice: a jet that sways about its foot takes 16 iterations, not 24, and what
# thin liquid takes does not grow with the grid.
REPEATS = 9
# Thin threads of thick liquid are stiffer on coarse grids than they are: what comes from these is too small, and is
# taken so many times (as Braess 1995 does for aggregates). A coil takes 29 iterations, not 35.
OVERCORRECTION = np.float32(1.4)
# Interpolated to finer grids, a rigid motion of a coarse part is none at its surface: pressures there push the part on
# the coarsest grid, which its mass alone holds back, and cycles grow (two balls of 46 cells across: 84 iterations, not
# 9). Its motion is solved for apart, so the coarsest grid may hold it: by this share of its diagonal.
HOLD = 0.1
THICK_ABOVE = 1.0  # mu dt / (rho dx^2)
# (B A^-1 B')^-1 of thick liquid over one by the diagonal of B D^-1 B': in uniform liquid 2 K over 8 K / 6.
THICK = 1.5


@dataclass(frozen=True)
class CoupledSweeps:
    """Velocities, then pressures, `sweeps` times; in the opposite order after the coarse correction."""

    sweeps: int = SWEEPS
    pressure_sweeps: int = PRESSURE_SWEEPS

    def start(self, level: StokesLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        vectors.clear(x[:3], level.blocks)
        vectors.clear(x[3:], level.schur.blocks)
        self.forward(level, b, x, scratch)

    def forward(self, level: StokesLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            level.relax_velocity(b, x, scratch, True)
            level.relax_pressure(b, x, scratch, True, self.pressure_sweeps)

    def backward(self, level: StokesLevel, b: Vector, x: Vector, scratch: Vector) -> None:
        for _ in range(self.sweeps):
            level.relax_pressure(b, x, scratch, False, self.pressure_sweeps)
            level.relax_velocity(b, x, scratch, False)


class Monolithic:
    """One V-cycle for all unknowns; the rigid motions of free parts, which have no divergence, are solved for apart."""

    def __init__(self, level: StokesLevel, closed: np.ndarray | None):
        level.overcorrection = OVERCORRECTION if thick(level) else PLUS
        self._cycle = _WithPressure(level)
        self._whole = with_free_parts(level.viscous, self._cycle)
        levels, free = hierarchy(level), self._whole is not self._cycle
        with threads_for(levels[-1].unknowns):
            bottom = SaddleBottom(levels[-1], HOLD if free else 0.0)
        self._cycle.cycle = Multigrid(levels, CoupledSweeps(), REPEATS, bottom)
        self._means = None if closed is None else PartMeans(closed, level.schur.blocks)

    def __call__(self, r: Vector, z: Vector) -> None:
        self._cycle.pressure = r[3], z[3]
        if self._means is not None:
            self._means.remove(r[3])
        self._whole(r[:3], z[:3], self._cycle.scratch[:3])
        if self._means is not None:
            self._means.remove(z[3])


class _WithPressure:
    """A cycle as one of the velocities, with the pressures of this call beside them."""

    def __init__(self, level: StokesLevel):
        self._unknowns, self.scratch = level.unknowns, zeros_like(level)
        self.cycle: Multigrid
        self.pressure: tuple[np.ndarray, np.ndarray]  # given, found

    def __call__(self, r: Vector, z: Vector, scratch: Vector) -> float:
        given, found = self.pressure
        with threads_for(self._unknowns):
            self.cycle.cycle(0, (*r, given), (*z, found), self.scratch)
        return 0.0


def thick(level: StokesLevel) -> bool:
    """Whether the largest diffusion is more than `THICK_ABOVE` of the largest mass."""
    diffusion, mass = 0.5 * level.viscous.c[0].max(initial=0.0), max(m.max(initial=0.0) for m in level.viscous.mass)
    return bool(diffusion > THICK_ABOVE * mass)


class BlockTriangular:
    """A viscous cycle, then a pressure cycle."""

    def __init__(self, level: StokesLevel, closed: np.ndarray | None, stiff_above: float | None):
        viscous = level.viscous
        self._level = level
        self._velocity = multigrid_cycle(viscous_hierarchy(viscous), stiff_above)
        light = mapped(lambda f, m: np.divide(f * f, m, out=np.zeros_like(f), where=m > 0), level.flux, viscous.mass)
        weighed = schur_level(level.phi, level.schur.liquid, level.area, light)
        cycle = Multigrid(pressure_hierarchy(weighed), GaussSeidel(weighed.sweeps))
        self._pressure = cycle if closed is None else Balanced(cycle, weighed, closed)
        self._thick = thick_response(level)
        self._rest, self._scratch = np.zeros_like(level.schur.diagonal), zeros_like(level)

    def __call__(self, r: Vector, z: Vector) -> None:
        level, scratch = self._level, self._scratch
        self._velocity(r[:3], z[:3], scratch[:3])
        rest = self._rest
        kernels.add_flux(r[3], MINUS, z[:3], level.flux, level.mask[3], level.schur.blocks, rest)
        self._pressure((rest,), z[3:], (scratch[3],))
        p = z[3]
        p += self._thick * rest
        np.negative(p, out=p)


def thick_response(level: StokesLevel) -> np.ndarray:
    """The inverse of B A^-1 B' by cell where stresses alone hold the liquid: in uniform liquid twice the diffusion.

    From the diagonal, so that it follows what walls do to areas and stresses of the cells they cut.
    """
    stress = mapped(np.subtract, level.viscous.diagonal(), level.viscous.mass)
    links = mapped(lambda f, k: np.divide(f * f, k, out=np.zeros_like(f), where=k > 0), level.flux, stress)
    total = np.zeros_like(level.schur.diagonal)
    sum_faces(*links, level.schur.liquid, total)
    return np.divide(np.float32(THICK), total, out=np.zeros_like(total), where=total > 0)
