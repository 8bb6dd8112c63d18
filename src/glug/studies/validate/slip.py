"""Oil and honey along solids with a slip length, against formulas: plane scenes through the ordinary path.

Taylor-Couette flow. An inner cylinder turns in an outer one at rest; both have the slip length b. Between them
u_theta = A r + B / r, and each wall bears mu times the shear rate r (u_theta / r)' = -2 B / r^2:

    u_theta - U = -2 b B / r^2  at the inner wall,      u_theta = 2 b B / R^2  at the outer one.

Errors are those of the face velocities inside the oil, relative to the speed U of the inner wall, on n cells across the
gap. The walls cut cells everywhere. `sticking` is what a liquid that sticks, b = 0, does to the same formula: the error
that a slip length of a quarter of the gap removes. `octree` is the error in 3D with the viscous solve on an octree, for
the same slip length. `free`: the inner wall has no friction, and the oil stays at rest
(`inner`), or the outer one has none, and all of it turns with the inner wall (`outer`).

A block of thick honey on a slope of 20 degrees, for a tenth of a second. Without friction it slides as it is:
`speed` over g sin(angle) t, and what is not rigid of its motion, `spread`, as the standard deviation of the particles'
velocities over the same; `sticking` honey stays where it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.classical_flows import TaylorCouette, run
from glug.studies.validate.tables.published import Errors, convergence_rows, grids

COARSEST, USUAL = 8, 64
LARGEST_3D = 16  # cells across the gap, of the rows on octrees
SLOPE = 20.0  # degrees
GRAVITY = 9.81


class TaylorCouetteSlip(TaylorCouette):
    """Oil between turning cylinders with slip lengths of so many gaps, until the flow is steady, in 2D."""

    reynolds = 1e-2  # the oil hardly moves in a step: only friction counts

    def __init__(self, n: int, inner_slip: float, outer_slip: float):
        super().__init__(n)
        self.time_step *= 8.0
        self.slip = inner_slip * (self.outer - self.inner), outer_slip * (self.outer - self.inner)

    def scene(self) -> dict[str, Any]:
        scene = super().scene()
        domain = scene["domain"] | {"size": scene["domain"]["size"][:2], "sides": "closed"}
        solids = [solid | {"slip_length": length} for solid, length in zip(scene["solids"], self.slip)]
        # Full of oil, there is no volume to correct; the correction would follow the scatter of the particles.
        solver = scene["solver"] | {"volume_correction": False}
        return scene | {"name": "taylor-couette-slip", "domain": domain, "solids": solids, "solver": solver}

    def exact(self, points: np.ndarray) -> np.ndarray:
        r, R, (b, c) = self.inner, self.outer, self.slip
        if math.isinf(b):
            turn, swirl = 0.0, 0.0
        elif math.isinf(c):
            turn, swirl = self.speed / r, 0.0
        else:
            walls = np.array([[r, 1 / r + 2 * b / r**2], [R, 1 / R - 2 * c / R**2]])
            turn, swirl = np.linalg.solve(walls, [self.speed, 0.0])
        x, y = points[:, 0] - self.centre, points[:, 1] - self.centre
        rate = turn + swirl / (x**2 + y**2)
        return np.stack([-rate * y, rate * x, 0 * x], axis=1)

    def inside(self, points: np.ndarray) -> np.ndarray:
        r = np.hypot(points[:, 0] - self.centre, points[:, 1] - self.centre)
        return (r > self.inner) & (r < self.outer)

    def worst(self) -> float:
        """The largest error, after all steps."""
        return max(largest for largest, _ in self.errors(run(self)).values())


class TaylorCouetteSlipOctree(TaylorCouetteSlip):
    """The same in 3D, in a slab between walls without friction, with the viscous solve on an octree."""

    depth = 8  # cells: room for coarser leaves
    steps = 4

    def scene(self) -> dict[str, Any]:
        flat, deep = super().scene(), TaylorCouette.scene(self)
        solver = flat["solver"] | {"viscosity": "octree"}
        return flat | {"domain": deep["domain"], "solver": solver}

    def inside(self, points: np.ndarray) -> np.ndarray:
        return super().inside(points) & (points[:, 2] > 0.0) & (points[:, 2] < self.depth * self.dx)


def block_on_slope(slip_length: float, resolution: int, dim: int = 2, coupling: str = "split") -> tuple[float, float]:
    """Speed along the slope over g sin(angle) t, and the spread of the particles' velocities over the same."""
    angle = math.radians(SLOPE)
    along, up = np.array([math.cos(angle), -math.sin(angle)]), np.array([math.sin(angle), math.cos(angle)])
    foot, z = np.array([0.1, 0.55]), [0.2] * (dim - 2)
    honey = {
        "kind": "box",
        "centre": [*(foot + 0.25 * along + 0.08 * up), *z],
        "size": [0.24, 0.16, 0.2][:dim],
        "rotate": [0, 0, -SLOPE],
    }
    slope = {"kind": "half-space", "point": [*foot, *z], "normal": [*up, *[0] * (dim - 2)]}
    simulation = Simulation(
        {
            "name": "block-on-slope",
            "domain": {"size": [1.0, 0.8, 0.4][:dim], "resolution": resolution},
            "time": {"fps": 50, "frames": 5},
            "gravity": [0, -GRAVITY, 0],
            "liquids": {"honey": {"density": 1400.0, "viscosity": 5e3}},
            "volumes": [{"liquid": "honey", "shape": honey}],
            "solids": [{"name": "slope", "shape": slope, "slip_length": slip_length}],
            "solver": {"coupling": coupling},
        }
    )
    while simulation.state.frame < 5:
        simulation.step_once()
    velocity = simulation.state.particles.velocity[:, :2].astype(np.float64) @ np.stack([along, up], axis=1)
    fallen = GRAVITY * math.sin(angle) * simulation.state.time
    return float(velocity[:, 0].mean() / fallen), float(np.linalg.norm(velocity.std(axis=0)) / fallen)


def study(options: StudyOptions) -> list[StudyRow]:
    """Errors of the profile with orders, then the limits, the control and the block."""
    name, numbers = options.name, grids(options.largest_grid, COARSEST, USUAL, USUAL)
    rows: list[StudyRow] = []
    for b in (0.0, 0.1, 0.25, 1.0):

        def errors(n: int, b: float = b) -> Errors:
            flow = TaylorCouetteSlip(n, b, b)
            return flow.errors(run(flow))

        rows += convergence_rows(name, f"b = {b:g} gaps", numbers, errors)
    for n in numbers:

        def value(table: str, quantity: str, ours: float, exact: float | None = None, n: int = n) -> None:
            rows.append(StudyRow(name, table, n, quantity, "value", ours, exact, ours / exact if exact else None))

        value("sticking", "error", sticking_error(n))
        if n <= LARGEST_3D:
            value("octree", "error", TaylorCouetteSlipOctree(n, 0.25, 0.25).worst())
        value("free", "inner", TaylorCouetteSlip(n, math.inf, 0.0).worst())
        value("free", "outer", TaylorCouetteSlip(n, 0.0, math.inf).worst())
        for table, length in (("free block", math.inf), ("sticking block", 0.0)):
            speed, spread = block_on_slope(length, 2 * n)
            value(table, "speed", speed, 1.0 if length else None)
            value(table, "spread", spread)
    return rows


def sticking_error(n: int) -> float:
    """What a liquid that sticks does to the formula with a slip length of a quarter of the gap."""
    slips, sticks = TaylorCouetteSlip(n, 0.25, 0.25), TaylorCouetteSlip(n, 0.0, 0.0)
    sticks.exact = slips.exact  # type: ignore[method-assign]
    return sticks.worst()
