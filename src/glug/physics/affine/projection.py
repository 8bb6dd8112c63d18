"""Affine regions in a projection: depths of a liquid, or the inside of air, that move as they do (Goldade 2021, 4.3).

Pressures remain in the ordinary cells: a band below the surface, two cells along solids, and the layers between tiles.
The regions' velocities are fitted before the solve, so that they keep their momentum; pressures change them after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.regular import Grid, Staggered
from glug.particles.storage import Particles
from glug.physics.affine.regions import Regions, deep_cells, find_regions
from glug.physics.affine.system import RegionFaces, RegionSystem, TileSystem
from glug.physics.pressure.components import Components
from glug.physics.pressure.levels import PressureLevel


class AffineRegions(Protocol):
    """Regions of one projection."""

    @property
    def regions(self) -> Regions: ...

    @property
    def system(self) -> RegionSystem: ...

    def enter(self, velocity: Staggered) -> Any:
        """Give the regions' faces the affine velocities that carry the momentum of `velocity`, in place.

        Returns what `finish` is to know of it.
        """
        ...

    def finish(self, q: np.ndarray, motion: Any, velocity: Staggered) -> None:
        """Write on the regions' faces what the pressures q make of their `motion`."""
        ...


@dataclass(frozen=True)
class Depths:
    """Where regions are to be: `band` ordinary cells inside the cells of a fluid, cut into tiles (0: not cut)."""

    cells: np.ndarray
    band: int
    tile: int = 0


def regions_in(grid: Grid, solid: SolidField, depths: Sequence[Depths]) -> Regions:
    """The regions inside each of several fluids; all that are cut have tiles of one size."""
    found = []
    for tile in sorted({d.tile for d in depths}, reverse=True):
        inside = np.zeros(grid.shape, np.bool_)
        for d in depths:
            if d.tile == tile:
                inside |= deep_cells(d.cells, solid.area, d.band, grid.dim)
        found.append(find_regions(grid, inside, tile))
    return found[0] if len(found) == 1 else Regions.joined(found)


def mark_particles(regions: Regions, grid: Grid, tile: int, particles: Particles) -> None:
    """Give every particle the number of its region, 0 outside; the particles are sorted.

    A tile's is 1 + i + 101 j + 101^2 k by its place in the lattice, so that it stays the same from step to step.
    """
    number = np.arange(1, regions.count + 1)
    if tile:
        place = np.floor(((regions.centre - grid.corner) / grid.dx + grid.lo) / tile).astype(np.int64)
        number = 1 + np.maximum(place, 0)[:, : grid.dim] @ np.array([1, 101, 101**2])[: grid.dim]
    named = np.append(number, 0).astype(np.int32)[regions.label.ravel()]  # a label of -1 is the last
    particles.tile[:, 0] = np.repeat(named, np.diff(particles.start[:-1]))


def leave_out(regions: Regions, rhs: np.ndarray, components: Components, held: np.ndarray) -> None:
    """No right-hand side in the regions, and one that sums to zero in components whose pressure nothing has `held`."""
    rhs[regions.label >= 0] = 0.0
    if held.all():
        return
    label = np.where(regions.label < 0, components.label, -1).ravel()
    mine = label >= 0
    count = np.maximum(np.bincount(label[mine], minlength=len(components.cells)), 1)
    mean = np.bincount(label[mine], rhs.ravel()[mine], minlength=len(components.cells)) / count
    rhs.ravel()[mine] -= np.where(held, 0.0, mean)[label[mine]].astype(np.float32)


def region_densities(regions: Regions, links: Staggered) -> np.ndarray:
    """Of the regions, relative to the reference: one over the link inside."""
    first = np.zeros(regions.count)
    label = regions.label[1:]
    both = (label == regions.label[:-1]) & (label >= 0)  # every region has two cells along x
    first[label[both]] = 1.0 / links[0][1:-1][both]
    return first


class TiledRegions:
    """Affine regions in 3D, matrix-free."""

    def __init__(self, grid: Grid, level: PressureLevel, regions: Regions):
        self.regions = regions
        self.faces = RegionFaces.build(grid, regions, region_densities(regions, level.links))
        self.system = TileSystem(level, regions, self.faces)

    def enter(self, velocity: Staggered) -> np.ndarray:
        v = self.faces.fit(velocity)
        self.faces.write(v, velocity)
        return v

    def finish(self, q: np.ndarray, motion: np.ndarray, velocity: Staggered) -> None:
        response = self.system.response(self.system.gather(q)[0][0, 0])
        self.faces.write(motion - response.reshape(-1, 3, 4), velocity)
