"""The stages of a step by name, and which of them a scene has, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from glug.errors import InputError
from glug.simulation.context import StepContext
from glug.simulation.setting import Setting
from glug.simulation.stages import (
    geometry,
    momentum,
    motion,
    octree,
    octree_viscosity,
    solves,
    stokes,
    tension,
    tetrahedra,
    tracking,
    transfer,
    voronoi,
)


class Stage(NamedTuple):
    """A named part of a step: `run` reads and writes the context. Its seconds are in the statistics under its name."""

    name: str
    run: Callable[[StepContext], None]


STAGES: Mapping[str, Callable[[StepContext], None]] = {
    "time_step": motion.time_step,
    "sort": motion.sort,
    "reseed": motion.reseed,
    "heat": motion.heat,
    "geometry": geometry.geometry,
    "free_surface": geometry.free_surface,
    "two_phase": geometry.two_phase,
    "air": geometry.air,
    "bubbles": geometry.bubbles,
    "regions": geometry.regions,
    "volumes": geometry.volumes,
    "transfer_to_grid": transfer.transfer_to_grid,
    "forces": transfer.forces,
    "weigh": momentum.weigh,
    "tension": tension.tension,
    "project": solves.project,
    "viscosity": solves.viscosity,
    "pressure": solves.pressure,
    "stokes": stokes.stokes,
    "remesh": tetrahedra.remesh,
    "tetrahedra": tetrahedra.pressure,
    "extrapolate": transfer.extrapolate,
    "fields": transfer.output_fields,
    "transfer_to_particles": transfer.transfer_to_particles,
    "conform": tetrahedra.conform,
    "displace": solves.displace,
    "bodies": motion.bodies,
    "advect": motion.advect,
    "track": tracking.track,
    "keep_momentum": momentum.keep_momentum,
    "clock": motion.clock,
    "drain": motion.drain,
}


class Stages(tuple[Stage, ...]):
    """The stages of a step, in order. Methods give new ones: these do not change."""

    def __new__(cls, stages: Iterable[Stage] = ()) -> Stages:
        found = tuple(stages)
        for stage in found:
            if not isinstance(stage, Stage):
                raise InputError(f"a stage is glug.Stage(name, function), got {type(stage).__name__}")
        return super().__new__(cls, found)

    def _place(self, name: str) -> int:
        names = [stage.name for stage in self]
        if name not in names:
            raise InputError(f"no stage of this scene is called '{name}' (there are: {', '.join(names)})")
        return names.index(name)

    def upto(self, name: str) -> Stages:
        """Those before the stage `name`."""
        return Stages(self[: self._place(name)])

    def before(self, name: str, *stages: Stage) -> Stages:
        """With more stages before the one called `name`."""
        at = self._place(name)
        return Stages((*self[:at], *stages, *self[at:]))

    def after(self, name: str, *stages: Stage) -> Stages:
        """With more stages after the one called `name`."""
        at = self._place(name) + 1
        return Stages((*self[:at], *stages, *self[at:]))

    def replaced(self, name: str, run: Callable[[StepContext], None]) -> Stages:
        """With another function in the place of the stage `name`."""
        at = self._place(name)
        return Stages((*self[:at], Stage(name, run), *self[at + 1 :]))

    def without(self, *names: str) -> Stages:
        """Without some."""
        places = {self._place(name) for name in names}
        return Stages(stage for at, stage in enumerate(self) if at not in places)


def octree_stages(setting: Setting) -> Stages:
    """The stages of a scene on a tree: its own, and those of other scenes between them."""
    own = octree.STAGES | (octree_viscosity.STAGES if setting.viscous else {})
    names = (
        *("time_step", "sort", "adapt", "reseed", "geometry", "free_surface", "transfer_to_grid", "forces"),
        *(("project", "viscosity") if setting.viscous else ()),
        *("pressure", "extrapolate", "transfer_to_particles", "displace", "advect", "clock", "drain"),
    )
    return Stages(Stage(name, own.get(name) or STAGES[name]) for name in names)


def voronoi_stages() -> Stages:
    """The stages of a scene on Voronoi cells around its surface."""
    names = "time_step", "track", "drain", "remesh", "advect", "forces", "pressure", "reconstruct", "clock"
    return Stages(Stage(name, voronoi.STAGES.get(name) or STAGES[name]) for name in names)


def stages_of(setting: Setting) -> Stages:
    """The stages that a scene has."""
    if setting.scene.solver.mesh == "octree":
        return octree_stages(setting)
    if setting.scene.solver.mesh == "voronoi":
        return voronoi_stages()
    problem = "two_phase" if setting.air_has_pressure else "free_surface"
    air = ("air", "bubbles") if setting.closed_air else ()
    regions = ("regions",) if setting.has_regions else ()
    solve: Iterable[str] = ("pressure",)
    conform: Iterable[str] = ()
    if setting.scene.solver.mesh == "tetrahedra":
        solve, conform = ("remesh", "tetrahedra"), ("conform",)
    elif setting.stokes:
        solve = ("stokes",)
    elif setting.viscous:
        solve = ("project", "viscosity", "pressure")
    pull = ("tension",) if setting.tension > 0.0 else ()
    fields = ("fields",) if setting.scene.output.fields else ()
    bodies = ("bodies",) if setting.bodies else ()
    track = ("track",) if setting.scene.surface.tracking == "mesh" else ()
    names = (
        *("time_step", "sort", "reseed", "heat", "geometry", problem, *air, *regions, "volumes"),
        *("transfer_to_grid", "forces", "weigh", *pull, *solve, "extrapolate", *fields, "transfer_to_particles"),
        *(*conform, "displace", *bodies, "advect", *track, "keep_momentum", "clock", "drain"),
    )
    return Stages(Stage(name, STAGES[name]) for name in names)
