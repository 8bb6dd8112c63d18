"""Stages of pressure on tetrahedra: the mesh, and the projection on it.

Particles, the liquid's distance and the velocity that moves particles are on the regular grid as everywhere; between
forces and extrapolation the velocity goes to the faces of the mesh, is projected there and comes back.
"""

from __future__ import annotations

import numpy as np

from glug.errors import InputError
from glug.geometry.solids.sampling import Solid as Sampled
from glug.grids.regular import CENTRE, NODE, Staggered, mapped
from glug.grids.tetrahedra.field import Surroundings, VelocityField, from_grid, values_at
from glug.grids.tetrahedra.fit import GridFit
from glug.grids.tetrahedra.lattice import STRETCH, Box, Leaves
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.grids.tetrahedra.ripples import without_ripples
from glug.physics.covolume.projection import CovolumeProblem, EmbeddedGeometry, Incidence, SolverName
from glug.physics.kernels import known_faces
from glug.physics.tension.pressure import push
from glug.physics.velocity import OPEN
from glug.simulation.context import StepContext
from glug.simulation.setting import BORDER, Setting
from glug.simulation.solvers import pressure_solver
from glug.simulation.stages.solves import NOISE
from glug.simulation.stages.transfer import continue_velocity, fastest
from glug.simulation.state import State
from glug.solvers.limits import SolveLimits

SPACING = {2: 1.5, 3: 2.0}  # cells of the regular grid in the width of a finest leaf: about as many pressures
HALF = 0.5
CONFORMED = 1e-3  # relative residual of the regular grid's divergence where particles are moved
SMOOTHED = {2: 2, 3: 1}  # times that ripples are taken off; more let water rest sooner in 2D, later in 3D
LEVELLED = 0.5  # of ripples of two cells, in a step, at most
AT_SOLIDS = 1.0  # finest leaves beside solids that are not sides of the domain
SOLVERS: dict[str, SolverName] = {"multigrid": "multigrid", "jacobi-cg": "jacobi-cg", "reference": "direct"}


def box_of(setting: Setting) -> Box:
    """Leaves over the domain and what is behind its walls."""
    domain, dim, pad = setting.scene.domain, setting.dim, BORDER * setting.dx
    lower, upper = (np.asarray(c, float)[:dim] for c in (domain.lower, domain.upper))
    levels = setting.scene.solver.tetrahedra.levels
    return Box.covering(lower - pad, upper + pad, SPACING[dim] * setting.dx, levels)


def remesh(context: StepContext) -> None:
    """Make the mesh anew where the surface is now, if it is time to."""
    setting, state = context.setting, context.state
    every = setting.scene.solver.tetrahedra.remesh
    if state.flow.size:
        context.flow = last_flow(setting, state)
    if state.leaves.size == 0 or (every and state.step % every == 0):
        state.leaves = leaves_now(context)
    context.mesh = setting.kept("tetrahedra", state.leaves, lambda: surroundings(setting, state.leaves))


def last_flow(setting: Setting, state: State) -> VelocityField:
    """The field of the velocities that the last step left on the faces of its mesh."""
    last: Surroundings = setting.kept("tetrahedra", state.leaves, lambda: surroundings(setting, state.leaves))
    if len(last.mesh.area) != len(state.flow):
        raise InputError("the checkpoint's velocities are not those of its mesh: it is damaged")
    known = np.isfinite(state.flow)
    return last.field(np.where(known, state.flow, 0.0), known)


def leaves_now(context: StepContext) -> np.ndarray:
    """Levels of the leaves: finest around the surface, at solids inside the domain and at open sources."""
    from scipy.ndimage import binary_dilation

    setting, grid = context.setting, context.grid
    settings, box = setting.scene.solver.tetrahedra, box_of(setting)
    if settings.levels == 1:
        return Leaves.balanced(np.zeros(box.shape, np.uint8)).level
    points = box.centres().reshape(-1, setting.dim)
    near = (np.abs(values_at(context.phi, grid, CENTRE, points)) < box.spacing).reshape(box.shape)
    if settings.band > 1:
        near = binary_dilation(near, iterations=settings.band - 1)
    if setting.solids or context.held is not context.solid:
        solid = values_at(context.held.distance, grid, NODE, points)
        inside = solid < side_distance(setting, points) - 1e-3 * setting.dx
        near |= (inside & (np.abs(solid) < AT_SOLIDS * box.spacing)).reshape(box.shape)
    finest: np.ndarray | int = 0
    if settings.grading == "camera":
        finest = levels_seen(setting, points).reshape(box.shape)
    return Leaves.balanced(np.where(near, finest, settings.levels - 1).astype(np.uint8)).level


def levels_seen(setting: Setting, points: np.ndarray) -> np.ndarray:
    """Levels whose leaves all look as large to the camera, or smaller, as a finest one at the nearest of the points."""
    camera = setting.scene.camera
    assert camera is not None
    away = np.linalg.norm(points - np.asarray(camera.eye, float)[: setting.dim], axis=1)
    times = away / max(float(away.min()), setting.dx)
    return np.minimum(np.floor(np.log2(np.maximum(times, 1.0))), setting.scene.solver.tetrahedra.levels - 1)


def side_distance(setting: Setting, points: np.ndarray) -> np.ndarray:
    """Of the sides of the domain, negative behind them."""
    lower, upper = (np.array(c)[: setting.dim] for c in (setting.walls.lower, setting.walls.upper))
    return np.minimum(points - lower, upper - points).min(axis=1)


def surroundings(setting: Setting, level: np.ndarray) -> Surroundings:
    """The mesh of leaves, and what goes with it."""
    settings, box = setting.scene.solver.tetrahedra, box_of(setting)
    mesh = Tetrahedra.over(box, Leaves(level, setting.dim))
    if settings.shift:
        mesh = mesh.irregular(settings.shift * box.spacing, setting.scene.seed)
    if settings.pressure == "barycentre":
        mesh = mesh.barycentric()
    incidence = Incidence.of(mesh)
    return Surroundings(mesh, incidence.start, incidence.face, box.spacing)


def pressure(context: StepContext) -> None:
    """Project the velocity on the mesh, and bring it back to the faces of the regular grid in the liquid."""
    setting, grid, around = context.setting, context.grid, context.mesh
    mesh, solver = around.mesh, setting.scene.solver
    problem = problem_of(context)
    used = problem.link > 0.0
    fit = GridFit.of(mesh, grid, liquid_faces(context), np.where(used, problem.volume, 0.0))
    u = fit.seen(mesh, context.velocity)
    refined = solver.tetrahedra.interpolation == "refined"
    if context.flow is not None:
        carry(context, context.flow, refined, u)
        context.flow = None  # memory, for what follows
    speed = fastest(context.velocity) + context.dt * float(np.linalg.norm(setting.gravity))
    floor = NOISE * speed * float(mesh.area.max(initial=0.0))
    name: SolverName = "direct" if setting.dim == 2 else SOLVERS[solver.pressure]
    limits = SolveLimits(solver.tolerance.pressure, solver.max_iterations, floor)
    q, context.solves["tetrahedra"] = problem.project(u, limits, name)
    if setting.scene.output.fields:
        keep_fields(context, q)
    if solver.tetrahedra.advection == "semi-lagrangian":
        context.state.flow = np.where(used, u, np.nan)
    around.field(u, used).to_grid(grid, fit.wanted, context.velocity, refined)
    if context.before is not None:
        change(context, fit, u, used, refined)


def liquid_faces(context: StepContext) -> Staggered:
    """1 at the open faces of the regular grid's wet cells: those that the mesh gives their velocity.

    Faces in open sources have the sources' velocity, those that are half inside as well: mouths are sharp on the grid.
    """
    found = mapped(lambda a: np.zeros(a.shape, np.uint8), context.velocity)
    for a in context.grid.axes:
        known_faces(a, context.wet, context.held.area[a], OPEN, OPEN, found[a])
    for known, mine in zip(found, hold_mouths(context)):
        known[mine] = 0
    return found


def hold_mouths(context: StepContext) -> list[np.ndarray]:
    """Give the faces that are half in an open source or more its velocity; where these are, for every axis."""
    held, first = context.held, len(context.setting.solids)
    if held is context.solid:
        return []
    assert held.owner is not None and held.velocity is not None
    mouths = [(o >= first) & (a <= HALF) for o, a in zip(held.owner, held.area)]
    for u, of_source, mine in zip(context.velocity, held.velocity, mouths):
        np.copyto(u, of_source, where=mine)
    return mouths


def conform(context: StepContext) -> None:
    """Free the velocity that moves particles, and nothing else, of what diverges on the regular grid; level ripples.

    The mesh's velocity has no divergence in the mesh's cells. In cells of the grid it may have: particles would crowd
    at walls that cut cells, and a surface would move otherwise than by what flows to it, which feeds its waves. The
    ripples that the pressure on the mesh has not seen fall by their weight, and keep no velocity.
    """
    setting = context.setting
    push(context.velocity, weight_of_ripples(context), context.problem.links, context.held.area)
    limits = SolveLimits(CONFORMED, setting.scene.solver.max_iterations, NOISE * fastest(context.velocity))
    solver = pressure_solver(setting)
    _, context.solves["conform"] = context.problem.project(context.velocity, limits, solver=solver)
    hold_mouths(context)
    continue_velocity(context)


def weight_of_ripples(context: StepContext) -> Staggered:
    """q = p dt / (rho dx) [m/s] across the surface on the grid's faces, of what `seen_surface` takes off its height.

    At most what lowers ripples of two cells by the part LEVELLED in the step.
    """
    setting, phi, grid = context.setting, context.phi, context.grid
    speed = min(context.dt * float(np.linalg.norm(setting.gravity)), LEVELLED * setting.dx / (np.pi * context.dt))
    height = seen_surface(context) - phi
    wet, jump = phi < 0.0, grid.staggered()
    for a in grid.axes:
        inner = (slice(None),) * a
        lower = np.nonzero(wet[(*inner, slice(0, -1))] != wet[(*inner, slice(1, None))])
        upper = tuple(index + (b == a) for b, index in enumerate(lower))
        part = phi[lower] / (phi[lower] - phi[upper])
        q = (speed / setting.dx) * (height[lower] + part * (height[upper] - height[lower]))
        jump[a][upper] = np.where(wet[lower], q, -q)
    return jump


def change(context: StepContext, fit: GridFit, u: np.ndarray, used: np.ndarray, refined: bool) -> None:
    """Make `before` what FLIP takes off: the velocity without the change that faces see of it.

    What particles brought goes the same way, to faces and back, and the difference is fitted to that of the faces: a
    field's own would feed motions that faces hardly see (`grids.tetrahedra.fit`).
    """
    around, wanted = context.mesh, fit.wanted
    assert context.before is not None
    brought = fit.seen(around.mesh, context.before)
    around.field(brought, used).to_grid(context.grid, wanted, context.before, refined)
    new = mapped(lambda v, b, w: np.where(w > 0, v - b, np.float32(0.0)), context.velocity, context.before, wanted)
    fit.improve(new, u - brought)
    for v, b, c, w in zip(context.velocity, context.before, new, wanted):
        np.subtract(v, c, out=b, where=w > 0)


def carry(context: StepContext, flow: VelocityField, refined: bool, u: np.ndarray) -> None:
    """Semi-Lagrangian: u = what was upstream a step ago, and what forces have added since, where that is known."""
    mesh = context.mesh.mesh
    assert context.before is not None
    velocity, known = flow.carried(mesh.face_position, context.dt, refined)
    pushed = from_grid(mesh, context.grid, tuple(v - b for v, b in zip(context.velocity, context.before)))  # type: ignore[arg-type]
    u[known] = ((velocity * mesh.face_normal).sum(axis=1) + pushed)[known]


def keep_fields(context: StepContext, q: np.ndarray) -> None:
    """The pressure and the level of the leaf around the centre of every cell of the regular grid."""
    setting, grid, around = context.setting, context.grid, context.mesh
    box, dim = box_of(setting), setting.dim
    points = grid.points(CENTRE).reshape(-1, 3)[:, :dim]
    context.q = (q[around.mesh.cell_of[around.locate(points)]] / setting.dx).reshape(grid.shape)
    place = ((points - box.corner) / (box.spacing * STRETCH[dim])).astype(int)
    place = np.clip(place, 0, np.array(box.shape) - 1)
    index = (*place.T, 0) if dim == 2 else tuple(place.T)
    context.fields["level"] = context.state.leaves[index].reshape(grid.shape)


def problem_of(context: StepContext) -> CovolumeProblem:
    """The pressure problem of this step's surface and solids."""
    setting, grid, around = context.setting, context.grid, context.mesh
    mesh, settings = around.mesh, setting.scene.solver.tetrahedra
    level = seen_surface(context)

    def distance(points: np.ndarray) -> np.ndarray:
        return values_at(level, grid, CENTRE, points)

    phi = distance(mesh.cell_position)
    held = context.held.distance
    solid = values_at(held, grid, NODE, mesh.simplices.points)
    at_cells = values_at(held, grid, NODE, mesh.cell_position) if settings.walls == "whole" else None
    geometry = EmbeddedGeometry(phi, solid, at_cells, settings.surface == "embedded", distance)
    opened = geometry.open_parts(mesh)
    wall = wall_velocities(context, opened)
    incidence = Incidence(around.start, around.face)
    return CovolumeProblem.build(mesh, incidence, geometry.surface(mesh), opened, wall, geometry.ghosts(mesh))


def seen_surface(context: StepContext) -> np.ndarray:
    """The liquid's distance as the pressure on the mesh sees it: ripples of two cells are gone, in 2D most of three."""
    setting, phi = context.setting, context.phi
    for _ in range(SMOOTHED[setting.dim]):
        phi = without_ripples(phi, setting.dx)
    return phi


def wall_velocities(context: StepContext, opened: np.ndarray) -> np.ndarray:
    """The normal velocity (2, faces) [m/s], on faces that are not open, of the solid of the cell on either side.

    That is the nearest one, but one that moves if it is a cell farther at most: in a corner it is what pushes. Open
    sources are among them, where they are nearest: beside one a wall is a wall.
    """
    setting, mesh, t = context.setting, context.mesh.mesh, context.state.time
    wall = np.zeros((2, len(opened)))
    moving: list[Sampled] = [s for s in setting.solids_with(context.state.bodies) if s.moving]
    sources = setting.nozzles(t)
    if not moving and not sources:
        return wall
    faces = np.flatnonzero(opened < 1.0)
    cells, of_face = np.unique(mesh.beside[:, faces], return_inverse=True)
    of_face = of_face.reshape(2, len(faces))
    points, at_faces = in_space(setting, mesh.cell_position[cells]), in_space(setting, mesh.face_position[faces])
    nearest, width = side_distance(setting, points[:, : setting.dim]), SPACING[setting.dim] * setting.dx
    for solid in setting.solids:
        if not solid.moving:
            nearest = np.minimum(nearest, solid.distance(points, t))
    for pushing in [*moving, *sources]:
        distance = pushing.distance(points, t)
        mine = (distance < nearest + (0.0 if pushing in sources else width))[of_face]
        velocity = pushing.velocity(at_faces, t)[:, : setting.dim]
        wall[:, faces] = np.where(mine, (velocity * mesh.face_normal[faces]).sum(axis=1), wall[:, faces])
        nearest = np.minimum(nearest, distance)
    return wall


def in_space(setting: Setting, points: np.ndarray) -> np.ndarray:
    """Points (n, dim) as (n, 3): in 2D in the middle of the one layer of cells."""
    out = np.full((len(points), 3), 0.5 * setting.dx)
    out[:, : setting.dim] = points
    return out
