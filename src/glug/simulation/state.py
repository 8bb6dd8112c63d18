"""The state of a simulation: all that changes from step to step, and nothing else."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glug.errors import InputError
from glug.geometry.curves.curve import TrackedCurve
from glug.geometry.tracking.surface import TrackedSurface
from glug.particles.storage import Particles
from glug.physics.air.tracking import FIRST_NAME, BubbleMemory
from glug.scene.motions.free import FreeMotion
from glug.simulation.setting import Setting

SURFACE_ARRAYS = ("vertices", "triangles", "part", "target")
BODY_ARRAYS = ("R", "centre", "rest", "velocity_of_centre", "spin")  # in the order of FreeMotion's fields
NEWEST = 2**62  # of counters: what no run reaches


@dataclass
class State:
    """Particles, time and counters. `save` and `restore` keep every bit."""

    particles: Particles
    time: float = 0.0  # [s]
    last_dt: float = 0.0  # [s] that the last step took; 0 before the first
    step: int = 0
    frame: int = 0  # the last completed frame
    substep: int = 0  # steps taken since that frame
    emitted_to: float = -1.0  # [s] time up to which the sources have poured; negative before they first did
    bodies: list[FreeMotion] = field(default_factory=list)  # the rigid bodies
    pressed: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # their acceleration by contact, last step
    contact: np.ndarray = field(default_factory=lambda: np.zeros(0))  # MuJoCo's state
    bubbles: BubbleMemory = field(default_factory=BubbleMemory)  # names and rest volumes, where air is tracked
    freed: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.int32))  # cells freed by the last step
    leaves: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), np.uint8))  # levels of the mesh, if any
    sites: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # of Voronoi cells, if any
    wet: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))  # which of them are in the liquid
    flow: np.ndarray = field(default_factory=lambda: np.zeros(0))  # velocities of the mesh's faces, if they are kept
    surface: TrackedSurface | None = None  # where it is tracked
    fields: dict[str, np.ndarray] = field(default_factory=dict)  # of the last step, for output only

    def save(self) -> dict[str, np.ndarray]:
        """Arrays from which `restore` makes the same state again."""
        data = {f"particles.{name}": values for name, values in self.particles.attributes.items()}
        data["freed"] = self.freed
        if self.leaves.size:
            data["leaves"] = self.leaves
        if self.sites.size:
            data["sites"], data["wet"] = self.sites, self.wet
        if self.flow.size:
            data["flow"] = self.flow
        data["clock"] = np.array([self.time, self.last_dt, self.emitted_to])
        if self.bodies:
            for name in BODY_ARRAYS:
                data[f"bodies.{name}"] = np.array([getattr(body, name) for body in self.bodies])
            data["bodies.pressed"], data["bodies.contact_state"] = self.pressed, self.contact
        data["counters"] = np.array([self.step, self.frame, self.substep, self.particles.next_id], np.int64)
        if self.surface is not None:
            data |= {f"surface.{name}": getattr(self.surface, name) for name in SURFACE_ARRAYS}
            data["surface.sizes"] = np.array([self.surface.dx, self.surface.vanished])
        if self.bubbles.next_name > FIRST_NAME:
            data |= self.bubbles.save()
        return data

    @classmethod
    def restore(cls, data: dict[str, np.ndarray]) -> "State":
        """The inverse of `save`."""
        prefix = "particles."
        arrays = {k[len(prefix) :]: np.array(v) for k, v in data.items() if k.startswith(prefix)}
        step, frame, substep, next_id = (int(n) for n in data["counters"])
        time, last_dt, emitted_to = (float(t) for t in data["clock"])
        state = cls(Particles(arrays, next_id), time, last_dt, step, frame, substep, emitted_to)
        if "freed" in data:
            state.freed = np.array(data["freed"], np.int32)
        if "leaves" in data:
            state.leaves = np.array(data["leaves"], np.uint8)
        if "sites" in data:
            state.sites, state.wet = np.array(data["sites"], np.float64), np.array(data["wet"], np.bool_)
        if "flow" in data:
            state.flow = np.array(data["flow"], np.float64)
        if "bodies.pressed" in data:
            rows = zip(*(np.array(data[f"bodies.{name}"]) for name in BODY_ARRAYS))
            state.bodies = [FreeMotion(*row) for row in rows]
            state.pressed, state.contact = np.array(data["bodies.pressed"]), np.array(data["bodies.contact_state"])
        state.bubbles = BubbleMemory.restore(data)
        if "surface.sizes" in data:
            dx, vanished = (float(s) for s in data["surface.sizes"])
            vertices, triangles, part, target = (np.array(data[f"surface.{name}"]) for name in SURFACE_ARRAYS)
            kind = TrackedSurface if vertices.shape[1] == 3 else TrackedCurve
            state.surface = kind(vertices, triangles, dx, part=part, target=target, vanished=vanished)
        return state


def check_checkpoint(setting: Setting, data: Mapping[str, Any]) -> None:
    """InputError where a checkpoint lacks something of the scene or holds what no step wrote: kernels trust arrays."""
    counters = _array(data, "counters", (4,), "iu")
    if not (counters.min() >= 0 and counters.max() < NEWEST):
        raise _damaged("counters", "are not those of a run")
    if not _array(data, "clock", (3,), "f")[1] >= 0.0:
        raise _damaged("clock", "has a step that took less than no time")
    _check_particles(setting, data)
    if "freed" in data:
        _array(data, "freed", (None, 3), "iu")
    if setting.bodies:
        width = 3 if setting.dim == 2 else 6
        for name in BODY_ARRAYS:
            _array(
                data, f"bodies.{name}", (len(setting.bodies), 3, 3) if name == "R" else (len(setting.bodies), 3), "f"
            )
        _array(data, "bodies.pressed", (len(setting.bodies), width), "f")
        _array(data, "bodies.contact_state", (None,), "f")
    on_cells = setting.scene.solver.mesh == "voronoi"
    if on_cells or setting.scene.surface.tracking == "mesh":
        _check_surface(data, setting.dim if on_cells else 3)
    if on_cells and "sites" in data:
        sites = _array(data, "sites", (None, setting.dim), "f")
        _array(data, "wet", (len(sites),), "b")
        _array(data, "flow", (None,), "f", finite=False)
    if "bubbles.names" in data:
        names = _array(data, "bubbles.names", (None,), "iu")
        _array(data, "bubbles.rest", (len(names),), "f", finite=False)


def _check_surface(data: Mapping[str, Any], dim: int) -> None:
    vertices = _array(data, "surface.vertices", (None, dim), "f")
    triangles = _array(data, "surface.triangles", (None, dim), "iu")
    if len(triangles) and not (triangles.min() >= 0 and triangles.max() < len(vertices)):
        raise _damaged("surface.triangles", "has corners that are not there")
    target = _array(data, "surface.target", (None,), "f")
    part = _array(data, "surface.part", (len(vertices),), "iu")
    if len(part) and not (part.min() >= 0 and part.max() < len(target)):
        raise _damaged("surface.part", "has parts that are not there")
    _array(data, "surface.sizes", (2,), "f")


def _check_particles(setting: Setting, data: Mapping[str, Any]) -> None:
    expected = Particles.empty(setting.particle_names)
    rows = len(np.atleast_1d(data.get("particles.position", ())))
    for name, like in expected.attributes.items():
        kind = "iu" if like.dtype.kind == "i" else "f"
        found = _array(data, f"particles.{name}", (rows, like.shape[1]), kind)
        if found.dtype != like.dtype:
            raise _damaged(f"particles.{name}", f"is {found.dtype}, not {like.dtype}")
    if "particles.liquid" in data and rows:
        numbers = np.asarray(data["particles.liquid"])
        if numbers.min() < 0 or numbers.max() >= len(setting.scene.liquids):
            raise _damaged("particles.liquid", "names liquids that the scene does not have")
    if rows and float(np.asarray(data["particles.volume"]).min()) < 0.0:
        raise _damaged("particles.volume", "is negative")
    domain = setting.scene.domain
    size = float((domain.upper - domain.lower).max())
    position = np.asarray(data["particles.position"], np.float64)
    if rows and (np.abs(position - domain.lower).max() > 3.0 * size + 64.0 * setting.dx):
        raise _damaged("particles.position", "is far outside the domain")


def _array(
    data: Mapping[str, Any], name: str, shape: tuple[int | None, ...], kinds: str, *, finite: bool = True
) -> np.ndarray:
    """The array called `name`, which has this shape (None: any) and kind."""
    if name not in data:
        raise _damaged(name, "is missing")
    array = np.asarray(data[name])
    fits = array.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, array.shape))
    if not fits or array.dtype.kind not in kinds:
        wanted = " x ".join("n" if n is None else str(n) for n in shape)
        raise _damaged(name, f"is {array.dtype} {array.shape}, not {wanted}")
    if finite and array.dtype.kind == "f" and not math.isfinite(float(np.abs(array).max(initial=0.0))):
        raise _damaged(name, "holds values that are not finite")
    return array


def _damaged(name: str, what: str) -> InputError:
    return InputError(
        f"the checkpoint does not fit this scene: '{name}' {what}; without the folder 'checkpoint' the run begins anew"
    )
