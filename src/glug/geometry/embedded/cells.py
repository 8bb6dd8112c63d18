"""Voronoi cells around a surface, and what of it lies between their sites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.geometry.embedded.elements import Elements, Meetings
from glug.geometry.embedded.sites import Placement, Sites, place
from glug.grids.voronoi.cut import CutCells
from glug.grids.voronoi.mesh import Voronoi

REPAIRS = 2  # meshes that are made anew for sheets without sites
FARTHEST = 1.5  # spacings of the lattice from their sites cells end: only those far out in the air are cut there
LEAST_SPLIT = 1e-3  # of dx: sheets that thin between two meetings get no site


@dataclass(frozen=True)
class EmbeddedCells:
    """A mesh, which of its sites are in the liquid, and where the surface is on the way between the sites of faces.

    Every line that begins in the liquid is tested, from there: a surface that two sites in the liquid have between them
    parts them as one does that has air behind it.
    """

    mesh: Voronoi
    wet: np.ndarray  # (cells,)
    from_first: Meetings  # per face, on the way from its first site to its second, if the first is in the liquid
    from_second: Meetings
    pairs: np.ndarray  # of sites beside the same vertex, in the liquid and in the air
    narrowest: np.ndarray  # per face [m]: surfaces that are nearer to each other touch, whether they are joined or not

    @classmethod
    def around(cls, surface: Elements, normal: np.ndarray, how: Placement) -> EmbeddedCells:
        """Of sites by `place`; sheets that lie between sites in the air get sites of their own."""
        sites = place(surface, normal, how)
        cells, wet = CutCells.of(sites.points, FARTHEST * how.lattice * surface.dx), surface.inside(sites.points)
        for _ in range(REPAIRS if how.sites == "surface" else 0):
            lost = sheets(surface, cells, wet)
            lost = lost[~sites.between(lost)]
            if len(lost) == 0:
                break
            cells, wet = cells.with_sites(lost), np.append(wet, np.ones(len(lost), np.bool_))
        return cls._of(surface, Voronoi.of_cells(cells), wet, sites.pairs, how)

    @classmethod
    def of(cls, surface: Elements, sites: Sites) -> EmbeddedCells:
        """Of any sites; however narrow air is, it is seen."""
        return cls._of(surface, Voronoi.of(sites.points), surface.inside(sites.points), sites.pairs, None)

    @classmethod
    def _of(
        cls, surface: Elements, mesh: Voronoi, wet: np.ndarray, pairs: np.ndarray, how: Placement | None
    ) -> EmbeddedCells:
        one, two = (mesh.cell_position[mesh.beside[k]] for k in range(2))
        in_liquid = wet[mesh.beside]
        met = surface.meetings(one, two, asked=in_liquid[0]), surface.meetings(two, one, asked=in_liquid[1])
        same = surface.parts_of(met[0].element) == surface.parts_of(met[1].element)
        narrowest = np.zeros(len(same)) if how is None else how.narrowest(same) * surface.dx
        return cls(mesh, wet, *met, pairs, narrowest)

    @property
    def parted(self) -> np.ndarray:
        """The faces (numbers) between two sites in the liquid with air between them."""
        both = self.wet[self.mesh.beside].all(axis=0)
        met = both & (self.from_first.element >= 0) & (self.from_second.element >= 0)
        way = np.where(met, 1.0 - self.from_first.time - self.from_second.time, 0.0) * self.mesh.distance
        return np.flatnonzero(met & (way >= self.narrowest))


def sheets(surface: Elements, cells: CutCells, wet: np.ndarray) -> np.ndarray:
    """Places (n, dim) in liquid that lies between two sites in the air whose cells have a face."""
    one, two = (cells.sites[side] for side in cells.pairs(wet))
    ahead = surface.meetings(one, two)
    met = np.flatnonzero(ahead.element >= 0)
    back = surface.meetings(two[met], one[met])
    met, last = met[back.element >= 0], 1.0 - back.time[back.element >= 0]
    one, two, first = one[met], two[met], ahead.time[met]
    middle = one + 0.5 * (first + last)[:, None] * (two - one)
    thick = (last - first) * np.linalg.norm(two - one, axis=1) > LEAST_SPLIT * surface.dx
    middle = middle[thick]
    middle = middle[surface.inside(middle)]
    if len(middle) == 0:
        return middle
    cell = np.round(middle / (0.25 * surface.dx)).astype(np.int64)  # one for what is about the same place
    return middle[np.sort(np.unique(cell, axis=0, return_index=True)[1])]
