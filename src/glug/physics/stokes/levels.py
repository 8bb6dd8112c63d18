"""The grids of a Stokes solve: velocities and pressures of every level together.

    K (u, p) = [ A   B' ] [ u ]        A the viscous matrix of the level,
               [ B   0  ] [ p ]        B the flux into the cells, through open areas

Velocities go between grids as in a viscous solve, pressures by linear interpolation too. B of a coarse grid has the sum
of the open areas of the four faces that make one of its own: the flux into the eight cells that make one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glug.grids.blocks import active_blocks
from glug.grids.coarsen import PAIRS, coarse_blocks, gather, interpolate, weights_at
from glug.grids.kernels import sum_faces
from glug.grids.regular import CENTRE, Grid, Staggered, mapped
from glug.physics.pressure.levels import HALF, PICK, PressureLevel
from glug.physics.stokes import kernels
from glug.physics.viscosity.levels import ViscosityLevel
from glug.physics.viscosity.levels import hierarchy as viscous_hierarchy
from glug.solvers import kernels as vectors
from glug.solvers.cg import Vector

PLUS, MINUS = np.float32(1.0), np.float32(-1.0)
SOME = 10_000  # cells that stand for all


@dataclass
class StokesLevel:
    """K on one grid. Vectors have four fields: three of velocities and one of pressures.

    `phi` is the liquid's distance at the cells (only its sign counts), `area` the open area of all faces, `cells` where
    a pressure is unknown (uint8). Velocities from the coarser grid are taken times `overcorrection`.
    """

    viscous: ViscosityLevel
    phi: np.ndarray
    area: Staggered
    cells: np.ndarray
    overcorrection: np.float32 = PLUS
    name: str = "stokes"

    def __post_init__(self) -> None:
        self.flux = mapped(lambda m, area: np.where(m > 0, area, np.float32(0.0)), self.viscous.m, self.area)
        diagonal = self.viscous.diagonal()
        self.give = mapped(lambda f, d: np.divide(f, d, out=np.zeros_like(f), where=d > 0), self.flux, diagonal)
        self.schur = schur_level(self.phi, self.cells, self.area, mapped(np.multiply, self.flux, self.give))
        self.mask: Vector = (*self.viscous.m, self.schur.diagonal)
        self.blocks, self.far = self.viscous.blocks, self.viscous.far
        self.unknowns = self.viscous.unknowns + self.schur.unknowns

    @property
    def weights(self) -> Vector:
        """What residuals are measured by: one over the roots of the diagonals of A and of B D^-1 B'."""
        diagonals = (*self.viscous.diagonal(), self.schur.diagonal)
        return tuple(np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0) for d in diagonals)

    def apply(self, x: Vector, q: Vector) -> float:
        """q = K x. (Its energy, which conjugate gradients ask for, says nothing here.)"""
        self.viscous.apply(x[:3], q[:3])
        kernels.add_gradient(q[:3], PLUS, x[3], self.flux, self.blocks, q[:3])
        q[3].fill(0.0)
        kernels.add_flux(q[3], PLUS, x[:3], self.flux, self.mask[3], self.schur.blocks, q[3])
        return 0.0

    def residual(self, b: Vector, x: Vector, r: Vector) -> None:
        """r = b - K x, in the precision of x."""
        exact = x[3].dtype == np.float64
        rest = mapped(lambda u: np.zeros(u.shape), r[:3]) if exact else r[:3]
        kernels.add_gradient(b[:3], MINUS, x[3], self.flux, self.blocks, rest)
        self.viscous.residual(rest, x[:3], r[:3])
        kernels.add_flux(b[3], MINUS, x[:3], self.flux, self.mask[3], self.schur.blocks, r[3])

    def restrict(self, r: Vector, coarse: "StokesLevel", b: Vector) -> None:
        self.viscous.restrict(r[:3], coarse.viscous, b[:3])
        gather(r[3], weights_at(CENTRE), b[3], coarse.schur.blocks, coarse.mask[3])

    def interpolate(self, e: Vector, x: Vector) -> None:
        """x += P e; `e` is spoilt."""
        if self.overcorrection != PLUS:
            for u in e[:3]:
                u *= self.overcorrection
        self.viscous.interpolate(e[:3], x[:3])
        interpolate(e[3], CENTRE, self.mask[3], x[3], self.schur.blocks)

    # -- smoothing -----------------------------------------------------------------------------------------

    @cached_property
    def _step(self) -> np.ndarray:
        return np.zeros_like(self.schur.diagonal)

    def relax_velocity(self, b: Vector, x: Vector, scratch: Vector, forward: bool) -> None:
        """One sweep over the rows of the velocities, with the pressures as they are."""
        rest = scratch[:3]
        kernels.add_gradient(b[:3], MINUS, x[3], self.flux, self.blocks, rest)
        self.viscous.sweep(rest, x[:3], self.viscous.colours, forward, 1)

    def relax_pressure(self, b: Vector, x: Vector, scratch: Vector, forward: bool, times: int) -> None:
        """Let pressures push the velocities towards continuity, as if A were its diagonal D:

        (B D^-1 B') y = b_p - B u by `times` sweeps, u += D^-1 B' y, p -= y.
        """
        kernels.add_flux(b[3], MINUS, x[:3], self.flux, self.mask[3], self.schur.blocks, scratch[3])
        vectors.clear((self._step,), self.schur.blocks)
        self.schur.sweep((scratch[3],), (self._step,), self.schur.colours, forward, times)
        kernels.add_gradient(x[:3], PLUS, self._step, self.give, self.blocks, x[:3])
        vectors.add_scaled(MINUS, (self._step,), PLUS, (x[3],), self.schur.blocks)


def schur_level(phi: np.ndarray, cells: np.ndarray, area: Staggered, links: Staggered) -> PressureLevel:
    """The matrix of `links` over the `cells` that have any."""
    diagonal = np.zeros(cells.shape, np.float32)
    sum_faces(*links, cells, diagonal)
    liquid = (diagonal > 0).view(np.uint8)
    return PressureLevel(cells.shape, phi, liquid, area, links, diagonal, active_blocks(liquid), typical(links, liquid))


def typical(links: Staggered, liquid: np.ndarray) -> float:
    """The link that most cells have, by some of them: those that are all alike are swept without reading them."""
    found = links[0][: liquid.shape[0]][liquid > 0]
    some = found[:: 1 + len(found) // SOME]
    return float(np.partition(some, len(some) // 2)[len(some) // 2]) if len(some) else 1.0


def hierarchy(finest: StokesLevel) -> list[StokesLevel]:
    """`finest` and ever coarser levels, on the grids of its viscous matrix."""
    levels = [finest]
    for viscous in viscous_hierarchy(finest.viscous)[1:]:
        levels.append(coarser(levels[-1], viscous))
    return levels


def coarser(fine: StokesLevel, viscous: ViscosityLevel) -> StokesLevel:
    """The level around the coarse matrix `viscous`."""
    grid = Grid(1.0, viscous.shape)
    blocks = coarse_blocks(fine.schur.blocks, fine.viscous.shape, grid.shape)
    phi, children = grid.scalar(), grid.scalar()
    gather(fine.phi, [HALF * PAIRS] * 3, phi, blocks)
    gather(fine.mask[3], [PAIRS] * 3, children, blocks)
    # Where a fine face is no unknown a coarse one may be: liquid flows through it as well, also where its blocks end.
    area, everywhere = grid.staggered(), active_blocks(np.ones(grid.shape, np.uint8))
    for a, open_ in enumerate(area):
        gather(fine.area[a], [PICK if b == a else PAIRS for b in range(3)], open_, everywhere)
    cells = ((phi < 0) & (children > 0)).view(np.uint8)
    for a in range(3):  # stencils do not reach the border
        ends = np.moveaxis(cells, a, 0)
        ends[0], ends[-1] = 0, 0
    return StokesLevel(viscous, phi, area, cells, fine.overcorrection)
