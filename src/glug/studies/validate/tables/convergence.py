"""The manufactured flows on finer and finer grids: errors beside those of Batty (2010), Tables 4.1 to 4.8.

The grid has N x N cells over [-1.5, 1.5]^2, one step has dt = 1 s and rho = 1 kg/m3. Errors are taken at samples
inside the liquid; `Linf` is the largest, `L1` the sum times dx^2. In a closed domain the mean of the pressure is
made the exact one. At the origin the flows with r^(i sqrt3) have no limit, and that sample is left out.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from glug.geometry.exact_fractions import ball_fraction
from glug.grids.mesh import Fractions
from glug.grids.operators import Operators
from glug.grids.regular import CENTRE, Offset
from glug.physics.reference.pressure import AreaPressure, ghost_distance, volume_pressure
from glug.physics.reference.viscosity import (
    held_surface_laplacian,
    laplacian_problem,
    viscosity_problem,
)
from glug.physics.stokes.problem import stokes_problem
from glug.physics.variational import Solution, VariationalProblem
from glug.studies.problems.manufactured import MU, Problem, centred_grid

# The schemes of every physics besides the published one; the first is what the rest of glug uses.
SCHEMES: dict[tuple[str, bool], tuple[str, ...]] = {
    ("pressure", False): ("ghost-fluid", "voxelised"),
    ("pressure", True): ("open-area", "voxelised"),
    ("viscosity", False): ("full-stress", "laplacian-neumann", "laplacian-dirichlet"),
    ("viscosity", True): ("full-stress",),
    ("stokes", False): (),
    ("stokes", True): (),
}  # by physics and whether the domain is closed


class Discretised:
    """A problem on a grid of N x N cells: fractions, exact values at the samples, errors."""

    def __init__(self, problem: Problem, n: int):
        self.problem = problem
        self.grid = centred_grid(n)
        self.operators = Operators(self.grid)

    def _between(self, kind: str) -> Fractions:
        """Fractions of what no part of this kind (air or solid) covers."""

        def measure(offset: Offset) -> np.ndarray:
            (outer, outside), (inner, inside) = self.problem.outer, self.problem.inner
            part = ball_fraction(self.grid, offset, outer) if outside == kind else 1.0
            hole = ball_fraction(self.grid, offset, inner) if inside == kind and inner > 0 else 0.0
            return np.broadcast_to(part - hole, self.operators.count(offset))

        return self.operators.measure(measure)

    @cached_property
    def liquid(self) -> Fractions:
        return self._between("air")

    @cached_property
    def fluid(self) -> Fractions:
        return self._between("solid")

    def distance(self, points: np.ndarray) -> np.ndarray:
        """Signed distance to the boundary of the domain, negative inside."""
        r = np.linalg.norm(points, axis=1)
        return np.maximum(r - self.problem.outer[0], self.problem.inner[0] - r)

    @cached_property
    def u_star(self) -> np.ndarray:
        faces = [self.problem.fields(self.operators.points(o)) for o in self.operators.faces]
        return np.concatenate([faces[0]["u_star"], faces[1]["v_star"]])

    @cached_property
    def u_wall(self) -> np.ndarray:
        """The inner wall spins clockwise, the outer one is at rest; they meet halfway through the liquid."""
        middle = 0.5 * (self.problem.outer[0] + self.problem.inner[0])
        parts = []
        for a, offset in enumerate(self.operators.faces):
            x, y = self.operators.points(offset).T
            parts.append(np.where(np.hypot(x, y) < middle, self.problem.spin * (y, -x)[a], 0.0))
        return np.concatenate(parts)

    def scheme(self, name: str) -> VariationalProblem:
        """The discrete problem: "published" or one of the others that `SCHEMES` names for the physics."""
        ops, liquid, fluid = self.operators, self.liquid, self.fluid
        if self.problem.physics == "stokes":
            return stokes_problem(ops, liquid, fluid, MU)
        if self.problem.physics == "pressure":
            return volume_pressure(ops, liquid, fluid) if name == "published" else self._area_pressure(name)
        if name == "laplacian-neumann":
            return laplacian_problem(ops, liquid, MU)
        if name == "laplacian-dirichlet":
            return held_surface_laplacian(ops, self._faces_inside, MU)
        return viscosity_problem(ops, liquid, fluid, MU, trace_free=name == "published")

    def _area_pressure(self, name: str) -> AreaPressure:
        ops, (_, kind) = self.operators, self.problem.outer
        phi = self.distance(ops.points(CENTRE))
        if name == "voxelised":
            outside = phi >= 0
            return AreaPressure.voxelised(ops, ~outside, outside if kind == "solid" else np.zeros_like(outside))
        if kind == "air":
            return AreaPressure(ops, np.ones(len(self.liquid.face)), phi < 0, ghost_distance(ops, phi))
        area = ops.open_area(self.distance)
        return AreaPressure(ops, area, np.abs(ops.D) @ area > 0)

    @cached_property
    def _faces_inside(self) -> np.ndarray:
        return np.concatenate([self.distance(self.operators.points(o)) < 0 for o in self.operators.faces])

    def solve(self, scheme: str | None = None) -> Solution:
        """With "published" or one of `SCHEMES`; by default the scheme that the rest of glug uses."""
        scheme = scheme or next(iter(SCHEMES[self.problem.physics, self.problem.closed]), "published")
        u_wall = self.u_wall
        if scheme == "laplacian-dirichlet":
            u_wall = self.operators.extrapolated(self.u_star, self._faces_inside)
        return self.scheme(scheme).solve(self.u_star, u_wall=u_wall)

    def errors(self, solution: Solution) -> dict[str, tuple[float, float]]:
        """(Linf, L1) of every quantity of the problem."""
        out = {}
        for quantity in self.problem.quantities:
            offset = {"u": self.operators.faces[0], "tau_xy": self.operators.edges[0]}.get(quantity, CENTRE)
            points = self.operators.points(offset)
            if quantity != "u" and quantity not in solution.slices:
                continue  # the Laplacian has no stress
            ours = solution.u[: len(points)] if quantity == "u" else solution[quantity]
            counted = (self.distance(points) < 0) & (np.linalg.norm(points, axis=1) > 0)
            error = (ours - self.problem.fields(points)[quantity])[counted]
            if quantity == "p" and self.problem.closed:
                error -= error.mean()
            out[quantity] = (float(np.abs(error).max()), float(np.abs(error).sum() * self.grid.dx**2))
        return out
