"""Classical flows in SI units through the ordinary scene path, against their formulas.

A flow is a scene and what is known of it. Errors are those of the face velocities that a run writes
(`output.fields`), at faces inside the liquid, relative to the flow's largest speed: `Linf` the largest, `L1`
the mean. n is the number of cells across the gap (taylor-couette), the box (taylor-green) or the pipe (pipe).

The axes of the cylinders and of the pipe lie 0.37 cells from the lattice, so that their walls cut cells everywhere. The
box of taylor-green is the domain, whose sides other than the top one are where the lattice begins and ends: only the
top wall lies 0.37 cells behind it.

The driving force in the formula of pipe is taken from the run: v = -(rho g + p') (R^2 - r^2) / (4 mu), where p' is the
pressure gradient of the run halfway down (row `pull_over_gravity`: 1 + p' / (rho g)). Errors and `axis_speed` thus test
the profile across the pipe, not the force. p' is what the ends add: the honey leaves the pipe and meets the air at the
top without friction, so that it runs a few percent faster than through an endless pipe. Twice the length halves p', at
8 cells across from 0.032 to 0.016 of rho g. `axis_speed_unfitted` is the same speed beside rho g R^2 / (4 mu).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from glug.grids.regular import FACES
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables.published import Errors, convergence_rows, grids

OFFSET = 0.37  # cells between the lattice and the walls
COARSEST, USUAL_LARGEST = 8, 32
GRAVITY = 9.81
FAR = 10.0  # [m]: beyond every domain here
TIGHT = {"tolerance": {"viscosity": 1e-5}}  # a tenth of the default: what is left is the grid's error
COMPONENTS = ("u", "v", "w")


class Flow(Protocol):
    """A scene on n cells, how to start it, and its formula."""

    steps: int

    def scene(self) -> dict[str, Any]: ...
    def start(self, simulation: Simulation) -> None: ...
    def errors(self, simulation: Simulation) -> Errors: ...
    def values(self, simulation: Simulation) -> dict[str, tuple[float, float]]: ...


def run(flow: Flow) -> Simulation:
    """The simulation after all steps of the flow."""
    simulation = Simulation(flow.scene())
    flow.start(simulation)
    for _ in range(flow.steps):
        simulation.step_once()
    return simulation


def face_errors(
    simulation: Simulation, axis: int, exact: Callable[[np.ndarray], np.ndarray], inside: Callable, scale: float
) -> tuple[float, float]:
    """Largest and mean error of a velocity component over the faces where `inside(points)`, over `scale`."""
    points, values = faces(simulation, axis)
    chosen = inside(points)
    error = np.abs(values[chosen] - exact(points[chosen])[:, axis]) / scale
    return float(error.max()), float(error.mean())


def faces(simulation: Simulation, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) [m] and values (n,) [m/s] of a velocity component."""
    fields = simulation.state.fields
    values = fields[COMPONENTS[axis]]
    return _positions(fields, values.shape, FACES[axis]), values.ravel().astype(np.float64)


def _positions(fields: dict[str, np.ndarray], shape: tuple[int, ...], offset: tuple[float, ...]) -> np.ndarray:
    index = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    return fields["corner"] + float(fields["dx"]) * (index + np.asarray(offset))


def _cylinder(x: float, y: float, z: float, axis: int, radius: float) -> dict[str, Any]:
    """A cylinder along `axis` through (x, y, z) that leaves every domain."""
    reach = np.zeros(3)
    reach[axis] = 2 * FAR
    centre = np.array([x, y, z])
    return {
        "kind": "cylinder",
        "start": (centre - reach).tolist(),
        "end": (centre + reach).tolist(),
        "radius": radius,
    }


def _around(shape: dict[str, Any]) -> dict[str, Any]:
    """Everything but a shape."""
    return {"kind": "difference", "parts": [{"kind": "box", "lower": [-FAR] * 3, "upper": [FAR] * 3}, shape]}


class TaylorCouette:
    """Oil between an inner cylinder that turns and an outer one at rest, until the flow is steady.

    u_theta = A r + B / r, with the wall's speed at both cylinders. A slab four cells deep between slip walls. Steps
    of three viscous times let the start decay by more than 1e-4.
    """

    inner, outer = 0.05, 0.1  # radii [m]
    density, viscosity = 1000.0, 1.0
    reynolds = 0.1  # of the inner wall's speed and the gap: a step moves the oil by about a cell
    depth = 4  # cells
    steps = 7

    def __init__(self, n: int):
        gap = self.outer - self.inner
        self.dx = gap / n
        self.cells = 2 * math.ceil(self.outer / self.dx) + 6
        self.centre = (self.cells / 2 + OFFSET) * self.dx
        diffusivity = self.viscosity / self.density
        self.speed = self.reynolds * diffusivity / gap
        self.time_step = 3.0 * (gap / math.pi) ** 2 / diffusivity

    def scene(self) -> dict[str, Any]:
        c, side = self.centre, self.cells * self.dx
        inner, outer = _cylinder(c, c, 0, 2, self.inner), _cylinder(c, c, 0, 2, self.outer)
        turning = {"kind": "rotation", "axis": [0, 0, 1], "point": [c, c, 0], "rate": self.speed / self.inner}
        return {
            "name": "taylor-couette",
            "domain": {
                "size": [side, side, self.depth * self.dx],
                "resolution": self.cells,
                "sides": {"back": "slip", "front": "slip"},
            },
            "time": {"fps": 1.0 / self.time_step, "frames": self.steps, "max_substeps": 1},
            "gravity": [0, 0, 0],
            "liquids": {"oil": {"density": self.density, "viscosity": self.viscosity}},
            "volumes": [{"liquid": "oil", "shape": _cylinder(c, c, 0, 2, self.outer + self.dx)}],
            "solids": [
                {"name": "inner", "shape": inner, "motion": turning},
                {"name": "outer", "shape": _around(outer)},
            ],
            "solver": TIGHT,
            "output": {"fields": True},
        }

    def start(self, simulation: Simulation) -> None:
        """The oil is at rest."""

    def exact(self, points: np.ndarray) -> np.ndarray:
        rate = self.speed / self.inner
        b = rate / (self.inner**-2 - self.outer**-2)
        x, y = points[:, 0] - self.centre, points[:, 1] - self.centre
        turn = rate - b / self.inner**2 + b / (x**2 + y**2)
        return np.stack([-turn * y, turn * x, 0 * x], axis=1)

    def inside(self, points: np.ndarray) -> np.ndarray:
        r = np.hypot(points[:, 0] - self.centre, points[:, 1] - self.centre)
        z = points[:, 2]
        return (r > self.inner) & (r < self.outer) & (z > 0) & (z < self.depth * self.dx)

    def errors(self, simulation: Simulation) -> Errors:
        return {COMPONENTS[a]: face_errors(simulation, a, self.exact, self.inside, self.speed) for a in (0, 1)}

    def values(self, simulation: Simulation) -> dict[str, tuple[float, float]]:
        return {}


class TaylorGreen:
    """One vortex of Taylor and Green in a box of slip walls, until its formula has it at 1/e.

    u = U sin(k x) cos(m y), v = -U k/m cos(k x) sin(m y), both times exp(-nu (k^2 + m^2) t). The left, right and
    bottom walls lie on the lattice, the top one `OFFSET` behind it. A slab four cells deep. A full box has no volume to
    correct; the correction would follow the scatter of the particles, a tenth of it in each of the many small steps.
    """

    width = 0.1  # [m]
    density, viscosity = 1000.0, 1.0
    reynolds = 5.0  # of the largest speed and the width
    depth = 4  # cells

    def __init__(self, n: int):
        self.n = n
        self.dx = self.width / n
        self.height = (n - 1 + OFFSET) * self.dx
        self.k, self.m = math.pi / self.width, math.pi / self.height
        self.diffusivity = self.viscosity / self.density
        self.speed = self.reynolds * self.diffusivity / self.width
        self.duration = 1.0 / (self.diffusivity * (self.k**2 + self.m**2))
        self.steps = 2 * n

    def scene(self) -> dict[str, Any]:
        return {
            "name": "taylor-green",
            "domain": {
                "size": [self.width, self.height, self.depth * self.dx],
                "resolution": self.n,
                "sides": "slip",
            },
            "time": {"fps": self.steps / self.duration, "frames": self.steps, "max_substeps": 1},
            "gravity": [0, 0, 0],
            "liquids": {"oil": {"density": self.density, "viscosity": self.viscosity}},
            "volumes": [{"liquid": "oil", "shape": {"kind": "box", "lower": [-FAR] * 3, "upper": [FAR] * 3}}],
            "solver": TIGHT | {"volume_correction": False},
            "output": {"fields": True},
        }

    def start(self, simulation: Simulation) -> None:
        """Give the particles the vortex, and its gradient (times dx) where they carry one."""
        particles = simulation.state.particles
        points = particles.position.astype(np.float64)
        particles.velocity[:] = self.vortex(points)
        if particles.has("affine"):
            x, y = self.k * points[:, 0], self.m * points[:, 1]
            stretch, shear = np.cos(x) * np.cos(y), np.sin(x) * np.sin(y)
            gradient = np.zeros((len(points), 3, 3))
            gradient[:, 0, 0], gradient[:, 0, 1] = self.k * stretch, -self.m * shear
            gradient[:, 1, 0], gradient[:, 1, 1] = self.k**2 / self.m * shear, -self.k * stretch
            particles.affine[:] = (self.speed * self.dx * gradient).reshape(-1, 9)

    def vortex(self, points: np.ndarray) -> np.ndarray:
        """The velocity at the beginning."""
        x, y = self.k * points[:, 0], self.m * points[:, 1]
        u = self.speed * np.sin(x) * np.cos(y)
        v = -self.speed * self.k / self.m * np.cos(x) * np.sin(y)
        return np.stack([u, v, 0 * u], axis=1)

    def inside(self, points: np.ndarray) -> np.ndarray:
        size = (self.width, self.height, self.depth * self.dx)
        return np.all((points > 0) & (points < size), axis=1)

    def errors(self, simulation: Simulation) -> Errors:
        left = math.exp(-float(simulation.state.fields["time"]) / self.duration)

        def exact(points: np.ndarray) -> np.ndarray:
            return left * self.vortex(points)

        scale = left * self.speed
        return {COMPONENTS[a]: face_errors(simulation, a, exact, self.inside, scale) for a in (0, 1)}

    def values(self, simulation: Simulation) -> dict[str, tuple[float, float]]:
        """The viscosity [Pa s] with which the vortex has decayed."""
        product = square = 0.0
        for a in (0, 1):
            points, values = faces(simulation, a)
            chosen = self.inside(points)
            shape = self.vortex(points[chosen])[:, a]
            product, square = product + float(values[chosen] @ shape), square + float(shape @ shape)
        rate = -math.log(product / square) / float(simulation.state.fields["time"])
        return {"viscosity": (self.density * rate / (self.k**2 + self.m**2), self.viscosity)}


class Pipe:
    """Honey runs down a pipe that was full at the start and is open at both ends, until the flow is steady.

    v = -(rho g + p') (R^2 - r^2) / (4 mu) halfway down, p' taken from the run. Time steps shrink with the cells: the
    pressure that follows the viscous solve acts on the liquid at the wall, too, for the length of a step.
    """

    radius, length = 0.01, 0.06  # [m]
    density, viscosity = 1400.0, 10.0
    settled = 7.0  # decay times of the slowest mode, R^2 / (5.78 nu)

    def __init__(self, n: int):
        self.n = n
        self.dx = 2 * self.radius / n
        self.cells = n + 6
        self.centre = (self.cells / 2 + OFFSET) * self.dx
        decay = self.radius**2 * self.density / (2.404826**2 * self.viscosity)  # first zero of J0
        self.steps = math.ceil(self.settled * n / 4)
        self.time_step = self.settled * decay / self.steps
        self.speed = self.density * GRAVITY * self.radius**2 / (4 * self.viscosity)

    def scene(self) -> dict[str, Any]:
        c, side = self.centre, self.cells * self.dx
        height = (round(self.length / self.dx) + 4) * self.dx  # the air above the honey
        honey = {
            "kind": "cylinder",
            "start": [c, -self.dx, c],
            "end": [c, self.length, c],
            "radius": self.radius + self.dx,
        }
        return {
            "name": "pipe",
            "domain": {
                "size": [side, height, side],
                "resolution": round(height / self.dx),
                "sides": {"bottom": "open", "top": "open"},
            },
            "time": {"fps": 1.0 / self.time_step, "frames": self.steps, "max_substeps": 1},
            "gravity": [0, -GRAVITY, 0],
            "liquids": {"honey": {"density": self.density, "viscosity": self.viscosity}},
            "volumes": [{"liquid": "honey", "shape": honey}],
            "solids": [{"name": "pipe", "shape": _around(_cylinder(c, 0, c, 1, self.radius))}],
            "solver": TIGHT,
            "output": {"fields": True},
        }

    def start(self, simulation: Simulation) -> None:
        """The honey is at rest."""

    def middle(self, points: np.ndarray) -> np.ndarray:
        """Halfway down the pipe, a radius long."""
        return np.abs(points[:, 1] - 0.5 * self.length) < 0.5 * self.radius

    def radii(self, points: np.ndarray) -> np.ndarray:
        return np.hypot(points[:, 0] - self.centre, points[:, 2] - self.centre)

    def pull(self, simulation: Simulation) -> float:
        """1 + p' / (rho g): gravity and pressure gradient halfway down, over gravity."""
        fields = simulation.state.fields
        points = _positions(fields, fields["p"].shape, (0.5, 0.5, 0.5))
        chosen = self.middle(points) & (self.radii(points) < 0.8 * self.radius)
        slope = np.polyfit(points[chosen, 1], fields["p"].ravel()[chosen].astype(np.float64), 1)[0]
        return 1.0 + float(slope) / (self.density * GRAVITY)

    def errors(self, simulation: Simulation) -> Errors:
        fastest = self.pull(simulation) * self.speed

        def exact(points: np.ndarray) -> np.ndarray:
            v = -fastest * (1.0 - (self.radii(points) / self.radius) ** 2)
            return np.stack([0 * v, v, 0 * v], axis=1)

        def inside(points: np.ndarray) -> np.ndarray:
            return self.middle(points) & (self.radii(points) < self.radius)

        return {"v": face_errors(simulation, 1, exact, inside, self.speed)}

    def values(self, simulation: Simulation) -> dict[str, tuple[float, float]]:
        """Speed on the axis [m/s], with p' in the formula and without; gravity and p' over gravity alone."""
        points, values = faces(simulation, 1)
        pull = self.pull(simulation)
        fastest = float(-values[self.middle(points)].min())
        return {
            "axis_speed": (fastest, pull * self.speed),
            "axis_speed_unfitted": (fastest, self.speed),
            "pull_over_gravity": (pull, 1.0),
        }


FLOWS: dict[str, Callable[[int], Flow]] = {"taylor-couette": TaylorCouette, "taylor-green": TaylorGreen, "pipe": Pipe}


def study(options: StudyOptions) -> list[StudyRow]:
    """Errors with orders, then named values beside those of the formula."""
    name = options.name
    numbers = grids(options.largest_grid, COARSEST, USUAL_LARGEST, USUAL_LARGEST)
    scalars = []

    def errors(n: int) -> Errors:
        flow = FLOWS[name](n)
        simulation = run(flow)
        for quantity, (ours, exact) in flow.values(simulation).items():
            scalars.append(StudyRow(name, "formula", n, quantity, "value", ours, exact, ours / exact))
        return flow.errors(simulation)

    return convergence_rows(name, "formula", numbers, errors) + scalars
