"""The change that FLIP takes from faces: fitted, it feeds nothing; as a field brings it, it does."""

from collections.abc import Callable

import numpy as np
import pytest

from glug.grids.extrapolate import extrapolate
from glug.grids.regular import Grid, Staggered, copied, mapped
from glug.grids.tetrahedra import kernels_fit as kernels
from glug.grids.tetrahedra.field import Surroundings, from_grid
from glug.grids.tetrahedra.fit import SWEEPS, GridFit
from glug.grids.tetrahedra.lattice import Box
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.physics.covolume.projection import CovolumeProblem, EmbeddedGeometry, Incidence
from glug.solvers.limits import SolveLimits

CELLS = 10


class Pool:
    """Liquid below a level in the unit box, on a regular grid and on an irregular mesh."""

    def __init__(self, dim: int) -> None:
        spacing = (1.5 if dim == 2 else 2.0) / CELLS
        box = Box.covering(np.full(dim, -0.3), np.full(dim, 1.3), spacing, 1)
        self.mesh = Tetrahedra.over(box).irregular(0.2 * spacing, 3)
        self.grid = Grid(1.0 / CELLS, (CELLS, CELLS, CELLS if dim == 3 else 1), dim=dim)
        incidence = Incidence.of(self.mesh)
        self.around = Surroundings(self.mesh, incidence.start, incidence.face, spacing)
        points = self.mesh.simplices.points
        geometry = EmbeddedGeometry(self.mesh.cell_position[:, 1] - 0.63, np.minimum(points, 1.0 - points).min(axis=1))
        given = geometry.surface(self.mesh), geometry.open_parts(self.mesh), np.zeros(len(self.mesh.area))
        self.problem = CovolumeProblem.build(self.mesh, incidence, *given, geometry.ghosts(self.mesh))
        self.volume = np.where(self.problem.link > 0.0, self.problem.volume, 0.0)
        self.wanted = mapped(lambda v: np.zeros(v.shape, np.uint8), self.grid.staggered())
        for a in self.grid.axes:
            self.wanted[a][:, : int(0.63 * CELLS)] = 1
            self.wanted[a].swapaxes(0, a)[[0, -1]] = 0
        self.fit = GridFit.of(self.mesh, self.grid, self.wanted, self.volume)

    def to_grid(self, seen: np.ndarray, sweeps: int) -> Staggered:
        change = self.grid.staggered()
        self.around.field(seen, self.volume > 0.0).to_grid(self.grid, self.wanted, change)
        self.fit.improve(change, seen, sweeps)
        return change

    def sees_all(self, u: Staggered) -> np.ndarray:
        """What faces see of samples that were continued behind walls, too."""
        continued = copied(u)
        for a in self.grid.axes:
            extrapolate(continued[a], self.wanted[a].copy(), 2)
        return from_grid(self.mesh, self.grid, continued)

    def sees_wanted(self, u: Staggered) -> np.ndarray:
        return self.fit.seen(self.mesh, u)

    def growth(self, sweeps: int, steps: int, sees: Callable[[Staggered], np.ndarray]) -> float:
        """By which a random motion of the grid grows in a step of FLIP that does nothing but project, at the end."""
        rng = np.random.default_rng(0)
        u = mapped(lambda w: (w * rng.standard_normal(w.shape)).astype(np.float32), self.wanted)
        size = [1.0]
        for _ in range(steps):
            seen = sees(u)
            after = seen.copy()
            self.problem.project(after, SolveLimits(1e-6, 100), "direct")
            u = mapped(np.add, u, self.to_grid(np.where(self.volume > 0.0, after - seen, 0.0), sweeps))
            size.append(float(np.sqrt(sum((c**2).sum() for c in u))))
        return (size[-1] / size[steps // 2]) ** (2.0 / steps)


def test_projections_of_flip_hardly_feed_what_faces_do_not_see():
    """Growth in a step; no particles even it out here."""
    pool = Pool(3)
    fitted = pool.growth(SWEEPS, 40, pool.sees_wanted)
    assert fitted < 1.004
    assert pool.growth(SWEEPS, 40, pool.sees_all) - 1.0 > 2.0 * (fitted - 1.0)  # the control: samples behind walls, too
    assert pool.growth(0, 40, pool.sees_wanted) > 1.04  # the control: as a field brings it


@pytest.mark.parametrize("dim", [2, 3])
def test_a_change_that_is_the_same_everywhere_is_kept(dim):
    """So what rests, rests: gravity and the pressure against it take each other off on the grid, too."""
    pool, constant = Pool(dim), np.array([0.3, -0.7, 0.2])[:dim]
    change = pool.to_grid(pool.mesh.face_normal @ constant, SWEEPS)
    for a in pool.grid.axes:
        np.testing.assert_allclose(change[a][pool.wanted[a] > 0], constant[a], atol=1e-4)


def test_adding_back_is_the_transpose_of_taking_off():
    pool, rng = Pool(3), np.random.default_rng(1)
    x = mapped(lambda w: (w * rng.standard_normal(w.shape)).astype(np.float32), pool.wanted)
    value = rng.standard_normal(len(pool.fit.face)).astype(np.float32)
    for a in pool.grid.axes:
        seen, back = np.zeros_like(value), pool.grid.staggered()
        kernels.take_off(pool.fit.place, pool.fit.share[a], a, x[a], seen)
        pool.fit._add_back(a, pool.fit.share[a], value, mapped(np.ones_like, back), back)
        assert float(seen @ value) == pytest.approx(-float((back[a] * x[a]).sum(dtype=np.float64)), rel=1e-3, abs=1e-3)
