"""Rigid bodies in a Stokes solve: pressure and viscosity push them at once, and they push back.

With the strain rows of `rigid.viscosity` and the flux of `rigid.bodies` in one minimisation,

    1/2 (u - u*)' M (u - u*) + 1/2 (v - v*)' M_v (v - v*) + 1/2 sum K V (E u + E R v)^2    with   B u + F R v = g,

the velocity v of a body is a term whose rows meet velocities and pressures alike:

    [ A     B'      J'  ] [ u ]   [ M u* ]        J = R' E' K V E         H = M_v + R' E' K V E R
    [ B     0      F R  ] [ s ] = [   g  ]        F: the flux into the cells through what the body closes of faces,
    [ J   (F R)'    H   ] [ v ]   [   h  ]        and through the open part of those whose velocity is its own

Liquid in that open part goes with the body: its mass is in M_v and its momentum in h = M_v v*. So a body as heavy as
the liquid rests in it, and what it loses the liquid gains.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.grids.regular import FACES, Staggered, mapped
from glug.physics.rigid.bodies import BodyPressure, RigidBodies
from glug.physics.rigid.viscosity import ViscousBodies
from glug.physics.terms import Term
from glug.solvers.cg import Vector
from glug.solvers.low_rank import Rows

if TYPE_CHECKING:
    from glug.physics.viscosity.problem import ViscosityProblem


class StokesBodies:
    """The bodies of a viscous problem as a term over its faces and the `cells` with pressures; z is their velocity.

    place  where the pressure of every cell (flat) lives, where several share one; None where each has its own
    """

    def __init__(self, viscous: ViscosityProblem, phi: np.ndarray, cells: np.ndarray, place: np.ndarray | None = None):
        assert viscous.bodies is not None
        self.bodies: RigidBodies = viscous.bodies
        grid, solid = viscous.grid, viscous.solid
        open_ = mapped(lambda area, held: np.where(held > 0, area, np.float32(0.0)), solid.area, viscous.solid_faces)
        liquid = mapped(lambda area, offset: area * liquid_volume(phi, grid, offset), open_, FACES)
        if viscous.density is not None:
            liquid = mapped(np.multiply, liquid, viscous.density)
        self._carried = self.bodies.held(liquid, with_closed=False)
        self._pressure = BodyPressure(self.bodies, cells, self.bodies.held(open_, with_closed=True))
        if place is not None:
            self._pressure.rows = [(place[cell], out) for cell, out in self._pressure.rows]
        self._viscous = ViscousBodies.build(
            solid,
            viscous.solid_faces,
            viscous.weights,
            self.bodies,
            viscous.slip,
            carried=self.carried_mass,
        )
        self.T = self._viscous.T
        self._first = sum(u.size for u in solid.area)  # where cells begin, behind the faces

    @cached_property
    def carried_mass(self) -> np.ndarray:
        """(n, m, m) of the liquid that goes with every body, over rho dx^3."""
        return self.bodies.masses(self._carried)

    @property
    def rows(self) -> list[Rows]:
        """J' of every body, faces and then cells."""
        return [
            (np.concatenate([face, self._first + cell]), np.concatenate([pull, -out]))
            for (face, pull), (cell, out) in zip(self._viscous.rows, self._pressure.rows)
        ]

    def pushed(self, label: np.ndarray, count: int) -> np.ndarray:
        """Which of `count` parts of the cells, by their `label`, push a body when their pressure rises."""
        return self._pressure.pushed(label, count)

    def given(self, b: Vector, velocity: Staggered) -> np.ndarray:
        return self._viscous.given(b, velocity) + self.bodies.momenta(self._carried, velocity)

    def respond(self, y: np.ndarray) -> np.ndarray:
        return self._viscous.respond(y)

    def finish(self, z: np.ndarray, x: Vector) -> None:
        self.bodies.velocity[:] = z

    def crossing(self, other: Term) -> None:
        """What else meets bodies answers."""
