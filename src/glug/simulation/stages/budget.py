"""What the liquid has of mass, momentum and energy, measured wherever it is in a step: for the statistics alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from glug.grids.regular import Grid
from glug.particles.momenta import Groups, Momenta, momenta_of, momenta_of_flow
from glug.particles.storage import Particles
from glug.simulation import voronoi
from glug.simulation.context import StepContext
from glug.simulation.frame import Amounts
from glug.simulation.setting import Setting
from glug.simulation.stages.transfer import masses


def liquid_now(context: StepContext) -> Amounts:
    """Of all liquid: of the faces while the step works on their velocity, of the particles before and after."""
    particles, setting = context.state.particles, context.setting
    if setting.scene.solver.mesh == "voronoi":
        return enclosed(context)
    if not on_faces(context):
        return carried_by(setting, particles)
    if setting.scene.solver.mesh == "octree":
        velocity, affine = context.tree.transfer.apic(particles, context.tree.u)
        given = {"position": particles.position, "velocity": velocity, "affine": affine, "volume": particles.volume}
        return carried_by(setting, Particles(given))
    mass, every = relative_mass(setting, particles), Groups.one(particles)
    return amounts(setting, momenta_of_flow(particles, mass, context.grid, every, context.velocity))[0]


def enclosed(context: StepContext) -> Amounts:
    """Of a liquid on Voronoi cells: as high as its surface has it, of which cells that reach beyond it know less."""
    setting, state = context.setting, context.state
    found = carried_by(setting, state.particles)
    if state.surface is None or len(state.surface.triangles) == 0:
        return found
    height = -float(voronoi.centroid(setting, state.surface) @ setting.gravity[: setting.dim])  # times g
    return replace(found, potential=found.mass * height)


def carried_by(setting: Setting, particles: Particles) -> Amounts:
    """Of some particles."""
    mass, every = relative_mass(setting, particles), Groups.one(particles)
    return amounts(setting, momenta_of(particles, mass, lattice(setting), every))[0]


def by_group(context: StepContext, mass: np.ndarray, group: np.ndarray, names: Sequence[str]) -> dict[str, Amounts]:
    """Of the particles whose `group` is the number of a name (-1: of none); names without particles are left out."""
    some = np.unique(group[group >= 0])
    if len(some) == 0:
        return {}
    groups = Groups(group.astype(np.int32), len(names))
    found = amounts(context.setting, momenta_of(context.state.particles, mass, lattice(context.setting), groups))
    return {names[n]: found[n] for n in some}


def relative_mass(setting: Setting, particles: Particles) -> np.ndarray:
    """(n, 1) of particles, over the first liquid's density."""
    given = masses(setting, particles)
    return particles.volume if given is None else given


def on_faces(context: StepContext) -> bool:
    """Whether the velocity that the step changes is that of the faces."""
    return "transfer_to_grid" in context.seconds and "transfer_to_particles" not in context.seconds


def lattice(setting: Setting) -> Grid:
    """A cell of the scene's lattice: all that affine parts ask of a grid, and the same in every step."""
    return Grid(setting.dx, (1, 1, 1), (0, 0, 0), setting.origin, setting.dim)  # type: ignore[arg-type]


def amounts(setting: Setting, momenta: Momenta) -> list[Amounts]:
    """Momenta with the densities of the scene, of every group, and their potential energy by gravity."""
    angular = momenta.angular_about(np.zeros(3))
    if setting.dim == 2:
        angular[:, :2] = 0.0  # nothing turns out of the plane
    height = -momenta.centre[:, : setting.dim] @ setting.gravity[: setting.dim]  # times g
    rho = setting.density
    return [
        Amounts(
            mass=float(rho * momenta.mass[n]),
            kinetic=float(rho * momenta.energy[n]),
            potential=float(rho * momenta.mass[n] * height[n]),
            momentum=_vector(rho * momenta.momentum[n]),
            angular=_vector(rho * angular[n]),
        )
        for n in range(len(momenta.mass))
    ]


def _vector(values: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
