"""Voronoi cells around a surface, and what of it lies between their sites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glug.geometry.embedded.elements import Elements, Meetings
from glug.geometry.embedded.sites import Placement, Sites, place
from glug.grids.voronoi.mesh import Voronoi

REPAIRS = 2  # meshes that are made anew for sheets without sites
FARTHEST = 1.5  # spacings of the lattice from their sites cells end: only those far out in the air are cut there
LEAST_SPLIT = 1e-3  # of dx: sheets that thin between two meetings get no site


@dataclass(frozen=True)
class EmbeddedCells:
    """A mesh, which of its sites are in the liquid, and where the surface is on the way between the sites of faces.

    Every line between sites is tested, from both ends: a surface that two sites in the liquid have between them parts
    them as one does that has air behind it.
    """

    mesh: Voronoi
    wet: np.ndarray  # (cells,)
    from_first: Meetings  # per face, on the way from its first site to its second
    from_second: Meetings
    pairs: np.ndarray  # of sites beside the same vertex, in the liquid and in the air
    narrowest: np.ndarray  # per face [m]: surfaces that are nearer to each other touch, whether they are joined or not

    @classmethod
    def around(cls, surface: Elements, normal: np.ndarray, how: Placement) -> EmbeddedCells:
        """Of sites by `place`; sheets that lie between sites in the air get sites of their own."""
        sites = place(surface, normal, how)
        for repair in range(REPAIRS + 1):
            found = cls.of(surface, sites, FARTHEST * how.lattice * surface.dx, how)
            lost = found.sheets(surface)
            lost = lost[~sites.between(lost)]
            if how.sites == "lattice" or repair == REPAIRS or len(lost) == 0:
                return found
            sites = Sites(np.concatenate([sites.points, lost]), sites.pairs)
        return found

    @classmethod
    def of(
        cls, surface: Elements, sites: Sites, farthest: float = np.inf, how: Placement | None = None
    ) -> EmbeddedCells:
        """Of any sites; they end `farthest` from them [m], and air that is as narrow as `how` says is none."""
        mesh = Voronoi.of(sites.points, farthest)
        one, two = (mesh.cell_position[mesh.beside[k]] for k in range(2))
        met = surface.meetings(one, two), surface.meetings(two, one)
        same = surface.parts_of(met[0].element) == surface.parts_of(met[1].element)
        narrowest = np.zeros(len(same)) if how is None else how.narrowest(same) * surface.dx
        return cls(mesh, surface.inside(sites.points), *met, sites.pairs, narrowest)

    def sheets(self, surface: Elements) -> np.ndarray:
        """Places (n, dim) in liquid that lies between two sites in the air."""
        m = self.mesh
        dry = ~self.wet[m.beside].any(axis=0) & (self.from_first.element >= 0) & (self.from_second.element >= 0)
        first, last = self.from_first.time[dry], 1.0 - self.from_second.time[dry]
        one, two = (m.cell_position[m.beside[k, dry]] for k in range(2))
        middle = one + 0.5 * (first + last)[:, None] * (two - one)
        thick = (last - first) * m.distance[dry] > LEAST_SPLIT * surface.dx
        middle = middle[thick & surface.inside(middle)]
        if len(middle) == 0:
            return middle
        cell = np.round(middle / (0.25 * surface.dx)).astype(np.int64)  # one for what is about the same place
        return middle[np.sort(np.unique(cell, axis=0, return_index=True)[1])]

    @property
    def parted(self) -> np.ndarray:
        """The faces (numbers) between two sites in the liquid with air between them."""
        both = self.wet[self.mesh.beside].all(axis=0)
        met = both & (self.from_first.element >= 0) & (self.from_second.element >= 0)
        way = np.where(met, 1.0 - self.from_first.time - self.from_second.time, 0.0) * self.mesh.distance
        return np.flatnonzero(met & (way >= self.narrowest))
