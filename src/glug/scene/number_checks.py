"""Whether the numbers of a scene go together: what a step computes from them must be something that it can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from glug.scene.bodies import Solid, Source
from glug.scene.model import fail

if TYPE_CHECKING:
    from glug.scene.schema import Scene

SMALLEST_CELL, LARGEST_CELL = 1e-9, 1e9  # [m]
ROUNDING = 2.0**-53  # of double precision, in which scenes have their places
FINEST = 0.01  # cells: what a position must tell apart, and how thin a domain may be
CROSSINGS = 10.0  # of the domain within the shortest step: what is faster is followed by nothing
STIFFEST = 1e20  # mu / (rho dx^2 fps): the largest entries of a viscous system over its smallest
SPREAD = 1e4  # diffusivity / (dx^2 fps): a hundred cells in a frame
MOMENTS = 33  # at which scripted motions are looked at


def check_numbers(scene: Scene) -> None:
    """An error that names the key where a number is beyond what a step can follow."""
    _check_range(scene.time.fps, 1e-6, 1e9, "time.fps")
    for name, liquid in scene.liquids.items():
        _check_range(liquid.density, 1e-9, 1e12, f"liquids.{name}.density")
    _check_cells(scene)
    _check_diffusion(scene)
    _check_speeds(scene)


def _check_cells(scene: Scene) -> None:
    domain = scene.domain
    if not SMALLEST_CELL <= domain.dx <= LARGEST_CELL:
        raise fail(
            f"makes cells of {domain.dx:g} m; valid: {SMALLEST_CELL:g} to {LARGEST_CELL:g} m (sizes are in metres)",
            "domain.size",
        )
    if min(domain.size) < FINEST * domain.dx:
        raise fail(
            f"has a side of {min(domain.size):g} m in cells of {domain.dx:g} m; valid: {FINEST:g} of a cell or more",
            "domain.size",
        )
    far = float(np.abs([domain.lower, domain.upper]).max())
    most = FINEST * domain.dx / ROUNDING
    if far > most:
        raise fail(
            f"is {far:g} m from 0, where numbers are coarser than {FINEST:g} of a cell; valid: up to {most:.3g} m",
            "domain.origin",
        )


def _check_range(value: float, least: float, most: float, key: str) -> None:
    if not least <= value <= most:
        raise fail(f"{value:g} is out of range; valid: {least:g} to {most:g}", key)


def _check_diffusion(scene: Scene) -> None:
    rate = scene.domain.dx**2 * scene.time.fps
    for name, liquid in scene.liquids.items():
        law = liquid.viscosity
        thickest = law.value if law.kind == "constant" else max(value for _, value in law.table)
        if thickest / liquid.density > STIFFEST * rate:
            raise fail(
                f"{thickest:g} Pa s is a solid: its motion cannot be told from rest", f"liquids.{name}.viscosity"
            )
    if scene.heat is not None and scene.heat.diffusivity > SPREAD * rate:
        raise fail(
            f"{scene.heat.diffusivity:g} m2/s spreads heat over {math.sqrt(scene.heat.diffusivity / rate):.3g} cells "
            f"in a frame; valid: up to {SPREAD * rate:.3g}",
            "heat.diffusivity",
        )


def _check_speeds(scene: Scene) -> None:
    domain, time = scene.domain, scene.time
    size = max(domain.size)
    most = CROSSINGS * size * time.fps * time.max_substeps

    def check(speed: float, key: str) -> None:
        if not speed <= most:
            raise fail(
                f"{speed:.3g} m/s is too fast: it crosses the domain {speed / (most / CROSSINGS):.3g} times in the "
                f"shortest step, 1 / (time.fps time.max_substeps); valid: up to {most:.3g}",
                key,
            )

    check(math.sqrt(2.0 * math.hypot(*scene.gravity) * size), "gravity")
    for i, volume in enumerate(scene.volumes):
        check(math.hypot(*volume.velocity), f"volumes.{i}.velocity")
        check(math.hypot(*volume.spin) * size, f"volumes.{i}.spin")
    for i, source in enumerate(scene.sources):
        check(math.hypot(*source.velocity), f"sources.{i}.velocity")
        check(_fastest(scene, source), f"sources.{i}.motion")
    for i, solid in enumerate(scene.solids):
        check(math.hypot(*solid.launch), f"solids.{i}.velocity")
        check(math.hypot(*solid.spin) * size, f"solids.{i}.spin")
        if solid.sequence is None:
            check(_fastest(scene, solid), f"solids.{i}.motion")


def _fastest(scene: Scene, body: Solid | Source) -> float:
    """The largest speed [m/s] that a scripted motion gives the domain's corners, at some moments of the run."""
    if body.motion.kind == "static":
        return 0.0
    ends = np.array([scene.domain.lower, scene.domain.upper])
    corners = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
    times = np.linspace(0.0, scene.time.duration, MOMENTS)
    return max(float(np.abs(body.motion.velocity(corners, float(t))).max()) for t in times)
