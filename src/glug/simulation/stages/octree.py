"""The stages of `solver.mesh = "octree"`: particles of several sizes, velocities and pressures on a tree.

The tree is made anew in every step. Between solves, the velocity is also on the regular window (`context.velocity`):
forces, the continuation beyond the surface, the way back to the particles and their motion are those of other scenes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from glug.geometry.fractions import liquid_volume
from glug.geometry.liquid import band_of, fill_hidden, fill_holes, liquid_distance
from glug.geometry.solids.full import full_cells, nodes_around, sink_full
from glug.grids.extrapolate import extrapolate
from glug.grids.octree.transfer import fields_of, to_octree, to_regular
from glug.grids.regular import CENTRE, Staggered, copied, mapped
from glug.particles import octree_transfer
from glug.particles.levels import level_of, merge, split
from glug.particles.seeding import limit_per_cell
from glug.physics.pressure.octree.problem import OctreePressure
from glug.physics.pressure.volume import DEAD_WHOLE, MOST
from glug.simulation.context import StepContext
from glug.simulation.stages.geometry import CORRECTION_GAIN
from glug.simulation.stages.motion import LEAST_PER_CELL, MOST_PER_CELL
from glug.simulation.stages.solves import DISPLACED, NOISE
from glug.simulation.stages.transfer import continue_velocity, fastest
from glug.simulation.stages.tree import StepTree, grow, leaf_values, open_sides
from glug.solvers.limits import SolveLimits


def adapt(context: StepContext) -> None:
    """Grow the tree, and give the particles the sizes of its leaves: too large ones are split, small ones merged."""
    setting, p, grid = context.setting, context.state.particles, context.grid
    solid = setting.solid_field(grid, context.state.time, context.state.bodies)
    tree = context.tree = grow(setting, p, grid, solid)
    nominal = setting.particle_volume
    while True:
        large = level_of(p.volume, nominal) > _levels_at(p.position, tree, tree.octree.level, 0)
        if not large.any():
            break
        split(p, np.flatnonzero(large), setting.dx, nominal)
    for l in range(setting.scene.refine.levels - 1):
        mine = np.flatnonzero(level_of(p.volume, nominal) == l)
        deep = _levels_at(p.position[mine], tree, tree.calm, 0) > l
        mine = mine[deep]
        cell = np.floor((p.position[mine] - tree.grid.corner) / (setting.dx * (1 << l))).astype(np.int64)
        group = np.ravel_multi_index(tuple(cell.T), [n >> l for n in tree.grid.shape])
        context.merged += merge(p, mine, group, setting.density)
    p.sort(grid)
    context.state.coarse = tree.boxes()


def _levels_at(position: np.ndarray, tree: StepTree, level: np.ndarray, outside: int) -> np.ndarray:
    """The level of the leaf at every particle."""
    cell = np.floor((position - tree.grid.corner) / tree.grid.dx).astype(np.int64)
    inside = ((cell >= 0) & (cell < tree.grid.shape)).all(axis=1)
    out = np.full(len(position), outside, np.int64)
    out[inside] = level[tuple(cell[inside].T)]
    return out


def reseed(context: StepContext) -> None:
    """Keep the number of particles per cell within bounds where cells are finest."""
    setting, state, grid = context.setting, context.state, context.grid
    p, least = state.particles, max(2, math.ceil(LEAST_PER_CELL * setting.per_cell))
    nodes = setting.solid_field(grid, state.time, state.bodies).distance
    full = full_cells(state.coarse, grid)
    inside = band_of(p.start, grid, nodes_around(nodes, full, grid.dx), 1)
    inside[full > 0] = 1
    most = int(MOST_PER_CELL * setting.per_cell)
    if limit_per_cell(p, grid, inside, least, most, setting.scene.seed + state.step):
        p.sort(grid)


def geometry(context: StepContext) -> None:
    """Solids and the liquid's distance; coarse leaves are full of liquid."""
    setting, state, grid = context.setting, context.state, context.grid
    p = state.particles
    solid = context.solid = setting.solid_field(grid, state.time, state.bodies)
    full = full_cells(state.coarse, grid)
    phi = liquid_distance(p.position, p.volume, p.start, grid, nodes_around(solid.distance, full, grid.dx))
    sink_full(phi, full, grid.dx)
    fill_hidden(phi, solid.hidden)
    fill_holes(phi, solid.openness, grid.dx)
    context.phi = phi
    context.fraction = liquid_volume(phi, grid, CENTRE) * solid.openness
    context.volume = float(context.fraction.sum(dtype=np.float64)) * grid.dx**3
    context.bodies = context.freed = context.mobility = None


def pressure_problem(context: StepContext) -> None:
    """The projection of the step on its tree."""
    tree, grid = context.tree, context.grid
    phi = leaf_values(tree, tree.taken(context.phi, grid, grid.dx), -grid.dx)
    area = open_sides(tree, tree.taken_faces(context.solid.area, grid, 1.0))
    tree.problem = OctreePressure.build(tree.faces, phi, area)
    context.wet = ((context.phi < 0) & (context.solid.openness > 0)).view(np.uint8)


def transfer_to_grid(context: StepContext) -> None:
    """The particles' velocity on the tree's faces, and on the window, behind the domain's walls too."""
    tree, grid, p, nominal = context.tree, context.grid, context.state.particles, context.setting.particle_volume
    outer = octree_transfer.scattered(p, grid, nominal, 0)
    finest = tuple(tree.taken_faces(field, grid, 0.0) for field in outer)
    pairs = octree_transfer.left(p, finest, tree.grid, tree.octree.levels, nominal)  # type: ignore[arg-type]
    found = octree_transfer.OctreeTransfer(tree.octree, tree.place, pairs, nominal)
    found.meet()
    tree.u = found.u
    met, known = octree_transfer.velocities(*outer, nominal)
    context.reached = tree.given_faces(found.reached, grid, met)
    context.velocity = on_window(context, found.fields, outer[0])
    inside = tree.given_faces(mapped(lambda u: np.ones(u.shape, np.uint8), found.fields[0]), grid, known)
    for u, there in zip(context.velocity, inside):  # behind walls that coarse leaves touch
        extrapolate(u, there, 2)
    context.before = copied(context.velocity)


def on_window(
    context: StepContext, border: Sequence[Staggered] | None = None, behind: Staggered | None = None
) -> Staggered:
    """The tree's velocity on the window; `border` is on the sides of the tree's box, `behind` beyond."""
    tree = context.tree
    regular = fields_of(tree.octree, 0)
    to_regular(tree.octree, tree.place, tree.u, regular, border)
    return tree.given_faces(regular, context.grid, behind)


def pressure(context: StepContext, name: str = "pressure") -> None:
    """Make the tree's velocity free of divergence, with what forces have changed of it."""
    tree, setting = context.tree, context.setting
    assert context.before is not None
    if context.forces:  # beside gravity: as the window has them
        change = mapped(np.subtract, context.velocity, context.before)
        tree.u += to_octree(tree.octree, tree.place, tree.taken_faces(change, context.grid, 0.0))
    else:
        tree.u += (context.dt * setting.gravity).astype(np.float32)[tree.place[:, 0]]
    project(context, name)
    if setting.apic:
        context.before = None


def project(context: StepContext, name: str) -> None:
    """The projection alone: of the tree's velocity, which then goes to the window."""
    tree, setting, solver = context.tree, context.setting, context.setting.scene.solver
    assert tree.problem is not None
    floor = NOISE * (fastest(context.velocity) + context.dt * float(np.linalg.norm(setting.gravity)))
    limits = SolveLimits(solver.tolerance.pressure, solver.max_iterations, floor)
    _, context.solves[name] = tree.problem.project(tree.u, limits)
    context.velocity = on_window(context)


def displace(context: StepContext) -> None:
    """Add to the velocity that moves the particles what gives parts of the liquid their volume back."""
    tree, setting, p = context.tree, context.setting, context.state.particles
    problem = tree.problem
    assert problem is not None and context.fraction is not None
    level = problem.level
    label = np.full(len(tree.tree) + 1, -1)
    label[:-1][level.liquid > 0] = problem.label
    cell = np.floor((p.position - tree.grid.corner) / setting.dx).astype(np.int64)
    inside = ((cell >= 0) & (cell < tree.grid.shape)).all(axis=1)
    part = label[tree.tree.leaf_of(cell[inside])]
    count = len(problem.closed)
    carried = np.bincount(part[part >= 0], p.volume[inside, 0][part >= 0], count) / setting.dx**3
    volume = leaf_values(tree, tree.taken(context.fraction, context.grid, 0.0), 1.0) * 8.0**tree.tree.level
    held = np.bincount(label[:-1] + 1, volume, count + 1)[1:]
    off = np.where(held > 0.0, carried / np.maximum(held, 1e-30) - 1.0, 0.0)
    off = np.sign(off) * np.maximum(np.abs(off) - DEAD_WHOLE, 0.0) * ~problem.closed
    rate = np.clip(CORRECTION_GAIN * setting.scene.solver.volume_correction * off, -MOST, MOST) / context.dt
    context.fraction = None
    if not rate.any():
        return
    growth = np.append(rate, 0.0)[label[:-1]] * 8.0**tree.tree.level * setting.dx
    tree.u[:] = 0.0
    _, context.solves["displace"] = problem.project(
        tree.u, SolveLimits(DISPLACED, setting.scene.solver.max_iterations), inflow=growth
    )
    for u, by in zip(context.velocity, on_window(context)):
        u += by
    continue_velocity(context)


STAGES = {
    "adapt": adapt,
    "reseed": reseed,
    "geometry": geometry,
    "free_surface": pressure_problem,
    "transfer_to_grid": transfer_to_grid,
    "pressure": pressure,
    "displace": displace,
}
