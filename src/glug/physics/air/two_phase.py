"""Liquid and air in one projection: a pressure in every open cell, and the density of what is on each face."""

from dataclasses import replace

import numpy as np

from glug.geometry.solids.field import SolidField
from glug.grids.kernels import sum_faces
from glug.grids.regular import Grid, Staggered
from glug.physics.affine.projection import Depths
from glug.physics.air import kernels
from glug.physics.densities import share_of
from glug.physics.pressure.components import find_components
from glug.physics.pressure.contrast_levels import ContrastLevel
from glug.physics.pressure.problem import PressureProblem
from glug.physics.rigid.bodies import RigidBodies

AIR_BAND = 3  # cells of air with pressures along the liquid, where its inside is affine (Goldade 2021, section 4.5.4)


def two_phase_problem(
    grid: Grid,
    phi: np.ndarray,
    solid: SolidField,
    ratio: float,
    bodies: RigidBodies | None = None,
    mobility: Staggered | None = None,
) -> PressureProblem:
    """`ratio` is the density of air over that of the liquid, whose distance is `phi`.

    q = p dt / (rho dx) with the liquid's density. The outermost cells of the window are at p = 0 where they are open.
    `mobility` is that of `PressureProblem.build`, where liquids of several densities meet under the air.
    """
    fluid = np.full(grid.shape, np.float32(grid.dx), np.float32)
    inner = tuple(slice(1, -1) if a < grid.dim else slice(None) for a in range(3))
    fluid[inner] = -np.float32(grid.dx)
    problem = PressureProblem.build(grid, fluid, solid, bodies)
    system = problem.system
    if mobility is None:
        for a in grid.axes:
            kernels.weigh_links(a, phi, np.float32(ratio), system.links[a])
    else:
        for link, wet, m in zip(system.links, share_of(phi, grid), mobility):
            link /= wet / m + (1 - wet) * np.float32(ratio)
    sum_faces(*system.links, problem.liquid, system.diagonal)
    wet = ((phi < 0.0) & (problem.liquid > 0)).view(np.uint8)
    parts = find_components(wet, solid.area, system.links)
    level = ContrastLevel(grid.shape, fluid, problem.liquid, solid.area, system.links, system.diagonal, system.blocks)
    return replace(problem, system=level, parts=parts)


def affine_air(problem: PressureProblem) -> Depths:
    """Of two phases, the air, of which every part is an affine region but for a band along the liquid."""
    return Depths((problem.liquid > 0) & (problem.wet == 0), AIR_BAND)
