"""A scene's liquid on Voronoi cells around its tracked surface: how it begins, what a state holds of it, its frames.

A state has the surface, the sites of the cells, which of them are in the liquid, and the velocities of the cells' faces
(`flow`, nan where a face is not the liquid's): cells and field follow from these with the same bits. The state's
particles are the sites in the liquid; they carry nothing from step to step.
"""

from __future__ import annotations

import numpy as np

from glug.errors import InputError
from glug.geometry.curves.sampling import curve_distance, curves_around
from glug.geometry.embedded.cells import FARTHEST
from glug.geometry.embedded.elements import Elements
from glug.geometry.embedded.sites import Placement
from glug.geometry.liquid import REACH, cut_solid
from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.geometry.surface import surface_mesh
from glug.geometry.tracking.kernels_sampling import distance_near
from glug.geometry.tracking.sampling import surface_distance
from glug.geometry.tracking.shore import Solids
from glug.geometry.tracking.surface import TrackedSurface
from glug.grids.mesh import Distance
from glug.grids.regular import Grid
from glug.grids.voronoi.field import VoronoiField
from glug.grids.voronoi.mesh import Voronoi
from glug.particles.storage import Particles
from glug.physics.covolume.projection import SolverName
from glug.physics.voronoi.liquid import Method, VoronoiLiquid
from glug.physics.voronoi.problem import CellsAshore
from glug.simulation.setting import Setting
from glug.simulation.stages.tracking import triangulated
from glug.simulation.state import State
from glug.solvers.limits import SolveLimits

SOLVERS: dict[str, SolverName] = {"multigrid": "multigrid", "jacobi-cg": "jacobi-cg", "reference": "direct"}
THIN = 1.5  # samples: thinner sheets may lie between them
HALVINGS = 3  # of the edges of a surface, when cells become smaller
BEHIND = 2.0  # cells behind closed sides where the first surface is looked for


def lifted(setting: Setting, points: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the scene: those of 2D scenes lie in the middle of its layer."""
    if setting.dim == 3:
        return points
    return np.concatenate([points, np.full((len(points), 1), 0.5 * setting.dx)], axis=1)


def solid_distance(setting: Setting) -> Distance | None:
    """The distance (n,) [m] of closed sides and solids at points (n, dim), negative inside; None without any."""
    lower, upper = (np.array(c)[: setting.dim] for c in (setting.walls.lower, setting.walls.upper))
    if not (np.isfinite(lower).any() or np.isfinite(upper).any() or setting.solids):
        return None

    def distance(points: np.ndarray) -> np.ndarray:
        found = np.full(len(points), np.inf)
        for a in range(setting.dim):
            for wall, sign in ((lower[a], 1.0), (upper[a], -1.0)):
                if np.isfinite(wall):
                    np.minimum(found, sign * (points[:, a] - wall), out=found)
        for solid in setting.solids:
            np.minimum(found, solid.distance(lifted(setting, points), 0.0), out=found)
        return found

    return distance


def method_of(setting: Setting) -> Method:
    """How the scene is solved."""
    solver, asked = setting.scene.solver, setting.scene.solver.voronoi
    placement = Placement(asked.sites, asked.inside, asked.outside, asked.lattice, asked.gap)
    limits = SolveLimits(solver.tolerance.pressure, solver.max_iterations)
    name: SolverName = "direct" if setting.dim == 2 else SOLVERS[solver.pressure]
    return Method(placement, asked.interpolation, name, limits, compensated=asked.interpolation == "refined")


def first_surface(setting: Setting, solid: Distance | None) -> TrackedSurface:
    """Around all volumes of the scene, and DEEP in the solids that they touch."""
    scene, dx, dim = setting.scene, setting.dx, setting.dim

    def liquid(world: np.ndarray) -> np.ndarray:
        return np.min([volume.shape.distance(world) for volume in scene.volumes], axis=0)

    def above(points: np.ndarray) -> np.ndarray:
        return liquid(lifted(setting, points))

    def distance(world: np.ndarray) -> np.ndarray:
        return liquid(world) if solid is None else Solids(solid, dx).continued(above)(world[:, :dim])

    ends = [np.array(end, float) for end in (scene.domain.lower, scene.domain.upper)]
    lower = ends[0] - BEHIND * dx * np.isfinite(setting.walls.lower)
    upper = ends[1] + BEHIND * dx * np.isfinite(setting.walls.upper)
    return (triangulated if dim == 3 else curves_around)(distance, lower, upper, dx)


def begun(setting: Setting) -> State:
    """The scene at time zero, its velocity free of divergence."""
    scene, solid = setting.scene, solid_distance(setting)

    def velocity(points: np.ndarray) -> np.ndarray:
        world = lifted(setting, points)
        depth = np.array([volume.shape.distance(world) for volume in scene.volumes])
        inside = depth < 0.0
        which = np.where(inside.any(axis=0), inside.argmax(axis=0), depth.argmin(axis=0))
        found = np.zeros_like(world)
        for n, volume in enumerate(scene.volumes):
            found[which == n] = volume.velocity_at(world[which == n])
        return found[:, : setting.dim]

    surface = first_surface(setting, solid)
    state = State(Particles.empty(), surface=surface)
    if len(surface.triangles):
        liquid = VoronoiLiquid(surface, setting.density, solid=solid, method=method_of(setting), velocity=velocity)
        keep(setting, state, liquid, *liquid.settle_velocity())
    return state


def refined(setting: Setting, coarse: Setting, state: State) -> State:
    """The liquid of a state of `coarse` on the smaller cells of another setting."""
    before = liquid_of(coarse, state)
    old, field = before.surface, before.velocity
    surface = type(old)(old.vertices, old.triangles, setting.dx)
    for _ in range(HALVINGS):
        surface.improve()
        surface.settle()
    found = State.restore(state.save())
    found.surface = surface
    liquid = VoronoiLiquid(surface, setting.density, solid=before.solid, method=method_of(setting))
    if len(surface.triangles) and callable(field):
        liquid.velocity = lambda points: field(points)  # no field of these cells yet
        keep(setting, found, liquid, *liquid.settle_velocity())
    return found


def keep(setting: Setting, state: State, liquid: VoronoiLiquid, u: np.ndarray, used: np.ndarray) -> None:
    """Take the liquid's cells, the velocities of their faces and its sites over into the state."""
    assert liquid.cells is not None and isinstance(liquid.velocity, VoronoiField)
    mesh, wet = liquid.cells.mesh, liquid.cells.wet
    state.sites, state.wet, state.flow = mesh.cell_position, wet, np.where(used, u, np.nan)
    field = liquid.velocity
    setting.kept("voronoi", key_of(state), lambda: field)
    shown = wet if liquid.solid is None else wet & (liquid.solid(mesh.cell_position) > 0.0)
    volume = mesh.cell_volume[shown] * (setting.dx if setting.dim == 2 else 1.0)
    volume *= target_volume(setting, state) / max(float(volume.sum()), 1e-300)
    velocity = np.zeros((len(volume), 3))
    velocity[:, : setting.dim] = field.site[shown]
    state.particles = Particles.empty()
    place = lifted(setting, mesh.cell_position[shown])
    state.particles.append(place, velocity=velocity, volume=volume, age=np.full(len(volume), state.time))


def target_volume(setting: Setting, state: State) -> float:
    """What the liquid is to keep [m3]; a 2D scene is a sheet dx thick."""
    assert state.surface is not None
    return float(state.surface.target.sum()) * (setting.dx if setting.dim == 2 else 1.0)


def centroid(setting: Setting, surface: TrackedSurface) -> np.ndarray:
    """Of the liquid (dim,) [m]: of what the surface encloses outside solids."""
    solid = solid_distance(setting)
    if solid is None:
        return surface.centroid()
    return surface.centroid(Solids(solid, setting.dx).outside(surface.vertices))


def forget(state: State) -> None:
    """Nothing is left of the liquid."""
    dim = state.sites.shape[1]
    state.sites, state.wet, state.flow = np.zeros((0, dim)), np.zeros(0, np.bool_), np.zeros(0)
    state.particles = Particles.empty()


def key_of(state: State) -> np.ndarray:
    """What the field follows from."""
    return np.concatenate([state.sites.ravel(), np.nan_to_num(state.flow)])


def field_of(setting: Setting, state: State) -> VoronoiField:
    """The velocity that the last step left."""
    asked = setting.scene.solver.voronoi
    mesh = Voronoi.of(state.sites, FARTHEST * asked.lattice * setting.dx)
    if len(mesh.area) != len(state.flow):
        raise InputError("the checkpoint's velocities are not those of its cells: it is damaged")
    used = np.isfinite(state.flow)
    u = np.where(used, state.flow, 0.0)
    behind = CellsAshore.of(mesh, solid_distance(setting)).behind
    return VoronoiField.of(mesh, u, used, state.wet, asked.interpolation, behind)


def liquid_of(setting: Setting, state: State) -> VoronoiLiquid:
    """Surface and velocity as the last step left them."""
    assert state.surface is not None
    field = None
    if len(state.sites):
        field = setting.kept("voronoi", key_of(state), lambda: field_of(setting, state))
    solid, method = solid_distance(setting), method_of(setting)
    return VoronoiLiquid(state.surface, setting.density, setting.tension, (), solid, method, field)


def thicken_sheets(
    vertices: np.ndarray, triangles: np.ndarray, normal: np.ndarray, grid: Grid, refine: int, phi: np.ndarray
) -> None:
    """Show sheets that samples do not see a sample thick: in place, for pictures alone."""
    spacing = grid.dx / refine
    elements = Elements(vertices, triangles, grid.dx)
    way = elements.meetings(vertices, vertices - THIN * spacing * normal, np.arange(len(vertices))).time
    thin = triangles[(way[triangles] <= 1.0).all(axis=1)]
    near = np.full_like(phi, REACH * spacing)
    corner = np.asarray(grid.corner, np.float64) + 0.5 * spacing
    if len(thin):
        distance_near(vertices, thin, corner, spacing, 1.75 * spacing, near)
        np.minimum(phi, near - np.float32(0.5 * spacing), out=phi)


def sampled(setting: Setting, state: State) -> tuple[SurfaceMesh, SampledDistance]:
    """The tracked surface, up to solids, with velocities at its vertices, and the distance for pictures.

    In 2D the surface is made of the distance, as in other scenes: a sheet dx thick.
    """
    liquid, refine = liquid_of(setting, state), setting.scene.surface.resolution
    surface, shown = liquid.surface, liquid.ashore()
    shown = surface.vertices if shown is None else shown
    grid = setting.window(lifted(setting, shown))
    solid = setting.solid_field(grid, state.time).distance
    if setting.dim == 3:
        phi = surface_distance(surface.vertices, surface.triangles, grid, refine)
        if len(surface.triangles):
            thicken_sheets(shown, surface.triangles, liquid.normals(), grid, refine, phi)
    else:
        phi = curve_distance(surface.vertices, surface.triangles, grid, refine)
    distance = cut_solid(phi, grid, solid, refine)

    def velocity_at(points: np.ndarray) -> np.ndarray:
        out = np.zeros((len(points), 3), np.float32)
        if isinstance(liquid.velocity, VoronoiField):
            out[:, : setting.dim] = liquid.velocity(points[:, : setting.dim])
        return out

    if setting.dim == 2:
        return surface_mesh(distance, velocity_at, depth=setting.dx), distance
    vertices = shown.astype(np.float32)
    return SurfaceMesh(vertices, surface.triangles, velocity_at(vertices)), distance
