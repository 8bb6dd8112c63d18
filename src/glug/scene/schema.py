"""The scene: everything a user describes, in SI units, y up."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from glug.errors import SceneError
from glug.scene.bodies import Sink, Solid, Source, Volume
from glug.scene.body_checks import check_bodies
from glug.scene.liquids import Liquid
from glug.scene.mesh_checks import check_mesh
from glug.scene.messages import one_line
from glug.scene.model import Count, Model, NonNegative, Positive, SlipLength, Vector, fail, nearest, two_or_three
from glug.scene.number_checks import check_numbers
from glug.scene.settings import BEYOND_A_MATRIX, PRESSURE_TAKES, Camera, Output, Refine, Solver, Surface, quoted

LONGEST_NAME = 100
MOST_AIR = 0.1  # density of two-phase air over that of the lightest liquid
SIDES = ("left", "right", "bottom", "top", "back", "front")
"""-x, +x, -y, +y, -z, +z"""


def _for_sides(usual: Any) -> BeforeValidator:
    """One value for all sides, or a table of some; the rest is `usual`."""

    def spread(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return dict.fromkeys(SIDES, value)
        for key in value:
            if key not in SIDES:
                hint = nearest(str(key), list(SIDES))
                raise fail(f"unknown side '{key}'{hint} (valid: {', '.join(SIDES)})")
        return dict.fromkeys(SIDES, usual) | dict(value)

    return BeforeValidator(spread)


def _one_folder(name: str) -> str:
    """A run is written to out/<name>: the name must be one folder there, and nothing else."""
    odd = [c for c in name if c in "/\\" or not c.isprintable()]
    if odd or name.strip() in ("", ".", "..") or name != name.strip() or len(name) > LONGEST_NAME:
        raise fail(f"must be the name of a folder: 1 to {LONGEST_NAME} characters without slashes, got {name[:40]!r}")
    return name


Sides = Annotated[
    dict[str, Literal["closed", "slip", "open"]],
    _for_sides("closed"),
    Field(description="closed wall, slip wall or open, per side: left, right, bottom, top, back, front"),
]
SideWalls = Annotated[
    dict[str, Literal["sticking", "separating"]],
    _for_sides("sticking"),
    Field(description="whether a wall holds a liquid that moves away, or lets it go, per side"),
]
SideSlip = Annotated[
    dict[str, SlipLength], _for_sides(0.0), Field(description="slip length of closed sides, per side [m]")
]


class Domain(Model):
    """The box that is simulated. A size of two numbers makes the scene 2D: one cell in z."""

    size: Annotated[tuple[Positive, ...], BeforeValidator(two_or_three)] = Field(
        description="edge lengths [m]; two for a 2D scene"
    )
    resolution: Count = Field(default=64, ge=4, le=4096, description="cells along the longest side")
    origin: Vector = Field(default=(0.0, 0.0, 0.0), description="corner with the smallest coordinates [m]")
    offset: Vector = Field(
        default=(0.0, 0.0, 0.0), description="added to positions in exports [m]; scenes far from 0 are run near it"
    )
    sides: Sides = dict.fromkeys(SIDES, "closed")
    walls: SideWalls = dict.fromkeys(SIDES, "sticking")
    slip_length: SideSlip = dict.fromkeys(SIDES, 0.0)

    @property
    def dim(self) -> int:
        """2 or 3"""
        return len(self.size)

    @property
    def dx(self) -> float:
        """Edge of a cell [m]."""
        return max(self.size) / self.resolution

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells along x, y, z; 1 along z in 2D."""
        counts = [int(np.ceil(length / self.dx - 1e-9)) for length in self.size]
        return counts[0], counts[1], counts[2] if self.dim == 3 else 1

    @property
    def lower(self) -> np.ndarray:
        """Corner with the smallest coordinates (3,) [m]."""
        return np.array(self.origin) * ((1.0, 1.0, 1.0) if self.dim == 3 else (1.0, 1.0, 0.0))

    @property
    def upper(self) -> np.ndarray:
        """Corner with the largest coordinates (3,) [m]; in 2D z = dx."""
        depth = self.size[2] if self.dim == 3 else self.dx
        return self.lower + np.array([self.size[0], self.size[1], depth])


class Time(Model):
    """Frames and steps."""

    fps: Positive = Field(default=24.0, description="frames per second [1/s]")
    frames: Count = Field(default=48, ge=0, le=10_000_000, description="frames after the initial one")
    cfl: Positive = Field(default=2.0, le=64, description="cells the liquid may cross in one step")
    max_substeps: Count = Field(default=32, ge=1, le=1_000_000, description="steps a frame may take at most")
    capillary: Positive = Field(
        default=0.25, le=2, description="longest step with explicit surface tension, of sqrt(rho dx^3 / gamma)"
    )

    @property
    def duration(self) -> float:
        """Length of the run [s]."""
        return self.frames / self.fps


class Heat(Model):
    """Heat exchange: temperature is blurred on the grid."""

    diffusivity: NonNegative = Field(default=1.5e-7, description="thermal diffusivity [m2/s]")


class Scene(Model):
    """A whole scene. `glug.load` makes one from a library name, a file or a dict."""

    name: Annotated[str, AfterValidator(_one_folder)] = Field(
        default="untitled", description="name of the scene, and of its folder in out/"
    )
    description: str = Field(default="", description="one line for `glug scenes`")
    domain: Domain
    time: Time = Time()
    gravity: Vector = Field(default=(0.0, -9.81, 0.0), description="acceleration [m/s2]")
    seed: Count = Field(default=0, ge=0, le=2**62, description="seed of everything random")
    liquids: Annotated[dict[str, Liquid], Field(min_length=1, description="liquids by name")]
    volumes: tuple[Volume, ...] = ()
    sources: tuple[Source, ...] = ()
    sinks: tuple[Sink, ...] = ()
    solids: tuple[Solid, ...] = ()
    heat: Heat | None = None
    solver: Solver = Solver()
    refine: Refine = Refine()
    surface: Surface = Surface()
    output: Output = Output()
    camera: Camera | None = None

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise SceneError(one_line(error, data)) from None

    @model_validator(mode="after")
    def _consistent(self) -> "Scene":
        check_numbers(self)
        self._check_densities()
        self._check_names()
        if self.solver.viscosity == "octree" and self.domain.dim == 2:
            raise fail("'octree' is available in 3D scenes only; valid here: 'auto', 'reference'", "solver.viscosity")
        if self.solver.coupling == "stokes":
            if self.solver.viscosity == "octree":
                raise fail(
                    "'stokes' needs velocities and pressures on one grid, and a tree has only velocities; "
                    "valid with it: 'auto', 'multigrid'",
                    "solver.viscosity",
                )
            if "slip" in self.domain.sides.values() and self.domain.dim == 2:
                raise fail("'stokes' sticks to all walls in 2D, but a side of the domain is 'slip'", "solver.coupling")
            if self.solver.tiles:
                raise fail("tiles belong to the pressure solve of 'split'; 'stokes' has none", "solver.tiles")
        if self.solver.tile_liquid not in ("all", *self.liquids):
            raise fail(
                f"no liquid is called '{self.solver.tile_liquid}' (valid: all, {', '.join(self.liquids)})",
                "solver.tile_liquid",
            )
        self._check_air()
        for key, shape in self.shapes():
            shape.require_files(key)
        for i, solid in enumerate(self.solids):
            if solid.sequence is not None:
                solid.sequence.require_files(f"solids.{i}.sequence")
        self._check_inside()
        check_bodies(self)
        check_mesh(self)
        self._check_walls()
        self._check_slip()
        self._check_pressure_solver()
        self._check_tracking()
        if self.solver.particles_per_cell is None:
            counts = {"particles_per_cell": 8 if self.domain.dim == 3 else 4}
            object.__setattr__(self, "solver", self.solver.model_copy(update=counts))
        return self

    def shapes(self) -> list[tuple[str, Any]]:
        """(key, shape) of every volume, source, sink and solid, and of those that refine."""
        return [
            *((f"refine.shapes.{i}.shape", wish.shape) for i, wish in enumerate(self.refine.shapes)),
            *(
                (f"{group}.{i}.shape", item.shape)
                for group in ("volumes", "sources", "sinks", "solids")
                for i, item in enumerate(getattr(self, group))
                if item.shape is not None
            ),
        ]

    def _check_air(self) -> None:
        air, lightest = self.solver.air, min(liquid.density for liquid in self.liquids.values())
        if self.solver.coupling == "stokes":
            if air in ("affine", "two-phase"):
                raise fail(
                    f"'{air}' gives air a flow, which 'stokes' has for liquid only; valid: 'vacuum', 'constraint'",
                    "solver.air",
                )
            if air == "constraint" and self.domain.dim == 2:
                raise fail("'stokes' has no bubbles in 2D; valid with it: 'vacuum'", "solver.air")
        if air != "vacuum" and (self.sources or self.sinks) and "open" not in self.domain.sides.values():
            raise fail(
                f"sources and sinks need an open side of the domain with '{air}': closed air does not give way",
                "solver.air",
            )
        heavy = air in ("affine", "two-phase")
        if heavy and self.solver.air_density > MOST_AIR * lightest:
            raise fail(
                f"air has no inertia of its own: at most {MOST_AIR * lightest:g}, a tenth of the liquid's density, "
                f"got {self.solver.air_density:g}",
                "solver.air_density",
            )

    def _check_tracking(self) -> None:
        if self.surface.tracking != "mesh" or self.solver.mesh == "voronoi":  # on which it always is
            return
        reasons = {
            "scenes of two dimensions": self.domain.dim == 2,
            "sources": bool(self.sources),
            "sinks": bool(self.sinks),
            "open sides": "open" in self.domain.sides.values(),
            "several liquids": len(self.liquids) > 1,
            f"'{self.solver.air}' air": self.solver.air != "vacuum",
            f"'{self.solver.mesh}'": self.solver.mesh != "regular",
        }
        for what, there in reasons.items():
            if there:
                raise fail(f"'mesh' does not go with {what} yet; valid with it: 'particles'", "surface.tracking")

    def _check_densities(self) -> None:
        (first, reference), *others = self.liquids.items()
        for name, liquid in others:
            differs = abs(liquid.density - reference.density) > 1e-9 * reference.density
            if differs and self.solver.coupling == "stokes" and self.domain.dim == 2:
                raise fail(
                    f"'stokes' has one density in 2D: {liquid.density:g} here, {reference.density:g} in '{first}'",
                    f"liquids.{name}.density",
                )

    def _check_names(self) -> None:
        if not self.volumes and not self.sources:
            raise fail("the scene has no liquid in it: add [[volumes]] or [[sources]]")
        for group in ("volumes", "sources"):
            for i, item in enumerate(getattr(self, group)):
                if item.liquid not in self.liquids:
                    hint = nearest(item.liquid, list(self.liquids))
                    valid = ", ".join(self.liquids)
                    raise fail(f"no liquid is called '{item.liquid}'{hint} (valid: {valid})", f"{group}.{i}.liquid")
        seen: set[str] = set()
        for i, solid in enumerate(self.solids):
            if solid.name in seen:
                raise fail(f"another solid is called '{solid.name}'; names must differ", f"solids.{i}.name")
            seen.add(solid.name)

    def _check_walls(self) -> None:
        if self._separating:
            if self.solver.coupling == "stokes":
                raise fail(
                    "'stokes' solves equations, but a 'separating' wall that may let go is an inequality; "
                    "valid with it: 'split'",
                    "solver.coupling",
                )
            if self.solver.air in ("two-phase", "affine"):
                raise fail(
                    f"walls cannot be separating with '{self.solver.air}' air: it flows in behind the liquid, "
                    "and what a wall lets go would be a vacuum; valid: 'vacuum', 'constraint'",
                    "solver.air",
                )

    @property
    def _separating(self) -> bool:
        return "separating" in [*self.domain.walls.values(), *(solid.walls for solid in self.solids)]

    def _check_pressure_solver(self) -> None:
        there = bool(self.solver.tiles), self.solver.air == "affine", self._separating
        for feature, has in zip(BEYOND_A_MATRIX, there):
            if has and feature not in PRESSURE_TAKES[self.solver.pressure]:
                valid = quoted([name for name, takes in PRESSURE_TAKES.items() if feature in takes])
                raise fail(f"'{self.solver.pressure}' does not go with {feature}; valid: {valid}", "solver.pressure")

    def _check_slip(self) -> None:
        one_for_all = len(set(self.domain.slip_length.values())) == 1
        for side, length in self.domain.slip_length.items():
            if self.domain.sides[side] == "slip" and 0.0 < length < np.inf and not one_for_all:
                raise fail(
                    "a 'slip' side has no friction; slip lengths are those of 'closed' ones", "domain.slip_length"
                )
        lengths = [*self.domain.slip_length.values(), *(solid.slip_length for solid in self.solids)]
        if not any(lengths):
            return
        if self.solver.coupling == "stokes" and self.domain.dim == 2:
            raise fail("'stokes' sticks to all walls in 2D, but some have a slip_length", "solver.coupling")

    def _check_inside(self) -> None:
        for i, volume in enumerate(self.volumes):
            if not self._overlaps(volume.shape.bounds()):
                raise self._outside("volume", f"volumes.{i}.shape")
        for i, source in enumerate(self.sources):
            end = min(source.stop, max(self.time.duration, source.start))
            times = np.linspace(source.start, end, 65 if source.moving else 1)
            if not any(self._overlaps(source.bounds(t)) for t in times):
                raise self._outside("source", f"sources.{i}.shape")

    def _overlaps(self, bounds: tuple[np.ndarray, np.ndarray]) -> bool:
        lower, upper = bounds
        axes = slice(0, self.domain.dim)
        return bool(np.all((lower < self.domain.upper)[axes] & (upper > self.domain.lower)[axes]))

    def _outside(self, what: str, key: str) -> Exception:
        lower, upper = (", ".join(f"{x:g}" for x in end) for end in (self.domain.lower, self.domain.upper))
        return fail(f"the {what} is outside the domain, which spans ({lower}) to ({upper})", key)
