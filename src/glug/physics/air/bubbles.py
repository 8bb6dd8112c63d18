"""Constraint bubbles: every closed part of the air has one pressure, and the net flux that is asked of it.

They are a term (`physics.terms`) whose unknowns are z = -lambda, lambda the pressures of the bubbles:

    [ A   J' ] [ q ]   [ b ]        J: links of bubbles to liquid cells, H: their sums
    [ J   H  ] [ z ] = [ h ]        h = outflow: what they lose; in a displacement minus what they are to gain

Eliminating z leaves (A + J' T J) q = b + J' T h, T = -H^-1, over the liquid cells, A as without bubbles (Goldade 2021,
section 4.1).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from glug.geometry.solids.field import SolidField
from glug.grids.regular import Staggered
from glug.physics.air import kernels as air_kernels
from glug.physics.air.regions import AirRegions
from glug.physics.pressure import kernels
from glug.physics.pressure.components import Components
from glug.physics.rigid.bodies import BodyPressure, RigidBodies, wall_velocity
from glug.physics.terms import Term
from glug.solvers.cg import Vector
from glug.solvers.low_rank import LowRank, Rows


@dataclass(frozen=True)
class Contacts:
    """The faces through which liquid cells are linked to air, sorted by region."""

    cell: np.ndarray  # flat index of the liquid cell
    region: np.ndarray
    link: np.ndarray  # float64

    @classmethod
    def find(cls, regions: AirRegions, liquid: np.ndarray, links: Staggered) -> "Contacts":
        count = air_kernels.count_contacts(regions.label, liquid, *links)
        cell, region, link = np.empty(count, np.int64), np.empty(count, np.int32), np.empty(count)
        air_kernels.list_contacts(regions.label, liquid, *links, cell, region, link)
        order = np.argsort(region, kind="stable")
        return cls(cell[order], region[order], link[order])


class Fluid(Protocol):
    """What bubbles ask of a pressure problem."""

    @property
    def dx(self) -> float: ...
    @property
    def solid(self) -> SolidField: ...
    @property
    def liquid(self) -> np.ndarray: ...
    @property
    def links(self) -> Staggered: ...


class Bubbles:
    """The closed air regions that liquid touches, a term of a pressure problem.

    `regions` are all; `number` gives the regions that are bubbles. A group is what is connected by liquid and bubbles;
    one that reaches no open air and pushes no body can only have a right-hand side that sums to zero.
    """

    def __init__(self, regions: AirRegions, fluid: Fluid, components: Components, bodies: BodyPressure | None = None):
        self.regions, self.dx = regions, fluid.dx
        self.solid, self.liquid, self.components, self.links = fluid.solid, fluid.liquid, components, fluid.links
        self.bodies: RigidBodies | None = None if bodies is None else bodies.bodies
        liquid, links = self.liquid, self.links
        contacts = Contacts.find(regions, liquid, links)
        self.strength = np.bincount(contacts.region, contacts.link, len(regions))
        self.faces = np.bincount(contacts.region, minlength=len(regions))  # towards liquid, of every region
        self.number = np.flatnonzero((self.strength > 0.0) & ~regions.open)
        self.H = self.strength[self.number]
        ends = np.searchsorted(contacts.region, np.arange(len(regions) + 1))
        self.rows: list[Rows] = [
            (contacts.cell[ends[r] : ends[r + 1]], contacts.link[ends[r] : ends[r + 1]]) for r in self.number
        ]
        self.T = -1.0 / self.H.reshape(-1, 1, 1)
        self._group(contacts, bodies)

    def __len__(self) -> int:
        return len(self.number)

    def crossing(self, other: Term) -> np.ndarray | None:
        """With bodies; see `displaced`."""
        return -self.displaced.T if isinstance(other, BodyPressure) else None

    @cached_property
    def displaced(self) -> np.ndarray:
        """(bodies m, bubbles): what a unit of a body's motion takes of a bubble's volume."""
        bodies = self.bodies
        assert bodies is not None
        out = np.zeros((*bodies.velocity.shape, len(self)))
        number = np.full(len(self.regions) + 1, -1)
        number[self.number] = np.arange(len(self))
        bubble = number[self.regions.label.reshape(-1)]
        air = (bubble >= 0).view(np.uint8).reshape(self.liquid.shape)
        for n, (cell, value) in enumerate(bodies.rows(air)):
            np.add.at(out[n].T, bubble[cell], value)
        return out.reshape(bodies.velocity.size, len(self))

    def _group(self, contacts: Contacts, bodies: BodyPressure | None) -> None:
        """Number the groups of liquid components and bubbles, and see which of them hold their pressure."""
        parts, bubbles = len(self.components.cells), len(self)
        as_bubble = np.full(len(self.regions), -1)
        as_bubble[self.number] = np.arange(bubbles)
        part = self.components.label.ravel()[contacts.cell]
        bubble = as_bubble[contacts.region]
        inner = bubble >= 0
        n = parts + bubbles
        graph = sparse.coo_matrix((np.ones(inner.sum()), (part[inner], parts + bubble[inner])), shape=(n, n))
        count, group = connected_components(graph, directed=False)
        self._groups, self._part_group, self._bubble_group = count, group[:parts], group[parts:]
        self.pinned = np.zeros(count, dtype=bool)
        self.pinned[self._part_group[part[~inner]]] = True
        if bodies is not None:
            net = np.zeros((count, *bodies.bodies.velocity.shape))
            push = self.displaced.T.reshape(bubbles, *bodies.bodies.velocity.shape)
            np.add.at(net, self._bubble_group, push)
            group = np.append(self._part_group, -1)[self.components.label]
            self.pinned |= bodies.pushed(group, count, net)

    @property
    def unfixed(self) -> np.ndarray:
        """The number of the group without open air that every liquid component belongs to, -1 where there is none."""
        return np.where(self.pinned, -1, np.arange(self._groups))[self._part_group]

    @property
    def anchors(self) -> np.ndarray:
        """Whether a bubble is the largest of a group without open air.

        Such a group knows its pressures up to a constant. A preconditioner that takes this bubble for open air is
        definite, and no worse: the matrices differ by rank one, so all eigenvalues but that of the constant interlace.
        """
        found = np.zeros(len(self), dtype=bool)
        order = np.argsort(-self.regions.cells[self.number], kind="stable")
        groups, first = np.unique(self._bubble_group[order], return_index=True)
        found[order[first[~self.pinned[groups]]]] = True
        return found

    def only(self, chosen: np.ndarray, mask: Vector) -> LowRank:
        """The bubbles where `chosen`, alone."""
        which = np.flatnonzero(chosen)
        return LowRank(mask, [self.rows[b] for b in which], self.T[which])

    def cells_of(self, chosen: np.ndarray) -> np.ndarray:
        """1 in the cells of the bubbles where `chosen` (uint8)."""
        wanted = np.zeros(len(self.regions), np.uint8)
        wanted[self.number[chosen]] = 1
        out = np.empty_like(self.liquid)
        air_kernels.mark_regions(self.regions.label, wanted, out)
        return out

    def outflow(self, velocity: Staggered) -> np.ndarray:
        """What every bubble loses to liquid and moving solids, over dx^2 [m/s]."""
        layers = np.zeros((self.liquid.shape[0], len(self.regions)))
        air_kernels.outflow(self.regions.label, self.liquid, *velocity, *self.solid.area, layers)
        walls = wall_velocity(self.solid, self.bodies)
        if walls is not None and self.solid.clear is not None:
            air_kernels.solid_outflow(self.regions.label, *walls, *self.solid.clear, layers)
        return layers.sum(axis=0)[self.number]

    def given(self, b: Vector, velocity: Staggered) -> np.ndarray:
        """h; the liquid's right-hand side is made consistent with it, in place."""
        h = self.outflow(velocity)
        self.balance(b[0], h, np.zeros(len(self)))
        return h.reshape(-1, 1)

    def asked(self, b: Vector, growth: np.ndarray | None) -> np.ndarray:
        """The same for a liquid at rest, where every region is to gain `growth` [m3/s]."""
        gain = np.zeros(len(self)) if growth is None else growth[self.number] / self.dx**2
        h = -gain
        self.balance(b[0], h, gain)
        return h.reshape(-1, 1)

    def balance(self, rhs: np.ndarray, h: np.ndarray, growth: np.ndarray) -> None:
        """Make the right-hand sides of groups without open air sum to zero, in place.

        What bubbles are to grow is taken from the liquid; the rest, of solids that compress the group, is shared by
        all its cells.
        """
        if self.pinned.all():
            return
        cells, _, total = self.components.sums(rhs, self.liquid, self.links)
        count = self._groups
        liquid_cells = np.bincount(self._part_group, cells, count)
        air_cells = np.bincount(self._bubble_group, self.regions.cells[self.number], count)
        sums = np.bincount(self._part_group, total, count) - np.bincount(self._bubble_group, h, count)
        grown = np.bincount(self._bubble_group, growth, count)
        share = np.where(self.pinned, 0.0, -(sums - grown) / np.maximum(liquid_cells + air_cells, 1))
        taken = np.where(self.pinned, 0.0, -grown / np.maximum(liquid_cells, 1))
        amount = (share + taken)[self._part_group].astype(np.float32)
        kernels.add_per_component(self.components.label, amount, rhs)
        # The bubbles take what rounding to float32 has left, so that the sum is zero.
        _, _, total = self.components.sums(rhs, self.liquid, self.links)
        h -= share[self._bubble_group] * self.regions.cells[self.number]
        rest = np.bincount(self._part_group, total, count) - np.bincount(self._bubble_group, h, count)
        weight = np.maximum(np.bincount(self._bubble_group, self.H, count), 1e-30)
        h += np.where(self.pinned, 0.0, rest / weight)[self._bubble_group] * self.H

    def respond(self, y: np.ndarray) -> np.ndarray:
        return -y / self.H.reshape(-1, 1)

    def finish(self, z: np.ndarray, x: Vector) -> None:
        """Write the bubbles' pressures into their cells, from which velocities follow."""
        values = np.zeros(len(self.regions))
        values[self.number] = -z[:, 0]
        air_kernels.fill_regions(self.regions.label, values, x[0])
