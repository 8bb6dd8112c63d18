"""A scene that can be stepped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from glug import jit
from glug.allocation import keep_memory
from glug.errors import InputError
from glug.geometry.kernels import trilinear_many
from glug.geometry.liquid import IntoSolids, cut_solid, liquid_distance, smoothed
from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.geometry.surface import surface_mesh
from glug.geometry.tracking.sampling import surface_distance
from glug.grids.extrapolate import extrapolate
from glug.grids.regular import Grid
from glug.particles import transfer
from glug.scene import Scene, load
from glug.simulation import voronoi
from glug.simulation.context import Force
from glug.simulation.frame import BodyPose, Frame, StepStats
from glug.simulation.inflow import initial_state
from glug.simulation.octree.frame import TreeFrame
from glug.simulation.octree.seeding import begun_tree, seed_leaves
from glug.simulation.setting import Setting
from glug.simulation.stages import Stage, Stages, stages_of
from glug.simulation.stages.tracking import begin, sampled_solids
from glug.simulation.state import State, check_checkpoint
from glug.simulation.step import step


class Simulation:
    """A running scene.

        for frame in glug.Simulation(glug.load("honey-coil")).run():
            print(frame.index, len(frame.surface.vertices))

    scene    a Scene, a library name, a path or a dict
    threads  threads of the kernels; all cores when None
    stages   changes the stages of a step: `lambda stages: stages.after("forces", glug.Stage("wind", wind))`
    forces   functions (points, time) -> acceleration (n, 3) [m/s2] that act besides gravity
    state    where to begin, in place of the scene's initial state
    """

    def __init__(
        self,
        scene: Scene | str | dict[str, Any],
        threads: int | None = None,
        *,
        stages: Callable[[Stages], Iterable[Stage]] | None = None,
        forces: Sequence[Force] = (),
        state: State | None = None,
    ):
        self.scene = load(scene)
        self.threads = threads
        self.setting = Setting(self.scene)
        usual = stages_of(self.setting)
        self.stages = usual if stages is None else changed(usual, stages)
        self.forces = tuple(forces)
        with jit.threads(threads):
            self.state = begun(self.setting) if state is None else state
        if self.state.surface is None and self.scene.solver.mesh != "voronoi" and self.scene.surface.tracking == "mesh":
            self.state.surface = begin(self.setting, self.state)
        self.steps: list[StepStats] = []  # since the last frame

    def step_once(self) -> StepStats:
        """One time step; `state.frame` grows when it completes a frame."""
        keep_memory()
        if self.steps and self.state.substep == 0:
            self.steps = []
        with jit.threads(self.threads):
            stats = step(self.setting, self.state, self.stages, self.forces)
        self.steps.append(stats)
        return stats

    def run(self, frames: int | None = None, on_step: Callable[[StepStats], None] | None = None) -> Iterator[Frame]:
        """Yield frame 0 (the state as it is) and every frame up to `frames` (the scene's number when None)."""
        last = self.scene.time.frames if frames is None else frames
        yield self.frame()
        while self.state.frame < last:
            stats = self.step_once()
            if on_step is not None:
                on_step(stats)
            if self.state.substep == 0:
                yield self.frame()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """The state as arrays, from which `restore` continues with the same bits."""
        return self.state.save()

    @classmethod
    def restore(
        cls,
        scene: Scene | str | dict[str, Any],
        data: dict[str, np.ndarray],
        threads: int | None = None,
        **options: Any,
    ) -> "Simulation":
        """The simulation of `scene` in the state of a checkpoint; `options` are those of the constructor."""
        loaded = load(scene)
        check_checkpoint(Setting(loaded), data)
        return cls(loaded, threads, state=State.restore(data), **options)

    def frame(self) -> Frame:
        """The present state as a frame: surface, particles, poses of moving solids."""
        with jit.threads(self.threads):
            return self._frame()

    def _liquid_distance(self, grid: Grid, solid: np.ndarray) -> np.ndarray:
        """Of the surface's samples: to the tracked mesh where there is one, to the particles' surface otherwise."""
        state, refine = self.state, self.scene.surface.resolution
        if state.surface is not None:
            return surface_distance(state.surface.vertices, state.surface.triangles, grid, refine)
        p = state.particles
        phi = liquid_distance(p.position, p.volume, p.start, grid, solid, refine, IntoSolids(self.setting.up))
        return smoothed(phi, self.scene.surface.smoothing)

    def _surface(self) -> tuple[SurfaceMesh, SampledDistance]:
        """The liquid's surface and its distance."""
        setting, state = self.setting, self.state
        if self.scene.solver.mesh == "octree":
            return TreeFrame(setting, state).sampled()
        if self.scene.solver.mesh == "voronoi":
            return voronoi.sampled(setting, state)
        particles = state.particles
        grid = setting.window(particles.position, state.bodies)
        particles.sort(grid)
        solid = setting.solid_field(grid, state.time, state.bodies)
        refine = self.scene.surface.resolution
        phi = self._liquid_distance(grid, solid.distance)
        distance = cut_solid(phi, grid, solid.distance, refine)
        velocity, reached = transfer.to_grid(particles, grid, setting.particle_volume)

        def velocity_at(points: np.ndarray) -> np.ndarray:
            return sample_velocity(grid, velocity, reached, points)

        if state.surface is not None:
            shown = sampled_solids(setting, solid, grid).outside(state.surface.vertices)
            vertices = shown.astype(np.float32)
            return SurfaceMesh(vertices, state.surface.triangles, velocity_at(vertices)), distance
        return surface_mesh(distance, velocity_at, depth=setting.dx), distance

    def _frame(self) -> Frame:
        setting, state = self.setting, self.state
        surface, distance = self._surface()
        poses = [s for s in setting.solids_with(state.bodies) if s.moving]
        stored = state.particles.attributes.items()
        return Frame(
            index=state.frame,
            time=state.time,
            surface=surface,
            particles={n: a[:, 0] if a.shape[1] == 1 else a for n, a in stored if n != "affine"},
            distance=distance,
            bodies=[BodyPose(s.name, *s.motion.pose(state.time)) for s in poses],
            stats=list(self.steps),
            fields=dict(state.fields),
        )


def begun(setting: Setting) -> State:
    """The scene at time zero: on an octree with particles as large as its leaves, on Voronoi cells with none."""
    if setting.scene.solver.mesh == "voronoi":
        return voronoi.begun(setting)
    if setting.scene.solver.mesh != "octree" or setting.scene.refine.levels == 1 or not setting.scene.volumes:
        return initial_state(setting)
    step = begun_tree(setting)
    return initial_state(setting, lambda _, distance: seed_leaves(setting, step, distance))


def changed(usual: Stages, change: Callable[[Stages], Iterable[Stage]]) -> Stages:
    """What `change` makes of the usual stages."""
    made = change(usual)
    if made is None:
        raise InputError("`stages` must return the stages of a step: 'lambda stages: stages.after(...)', got nothing")
    return Stages(made)


def sample_velocity(grid: Grid, velocity: tuple, reached: tuple, points: np.ndarray) -> np.ndarray:
    """Velocity (n, 3) [m/s] at points, from the faces that particles reach."""
    out = np.zeros((len(points), 3), np.float32)
    local = ((points - grid.corner) / grid.dx).astype(np.float32)
    for a in grid.axes:
        known = (reached[a] > 0).view(np.uint8)
        extrapolate(velocity[a], known, 3)
        shifted = local - 0.5
        shifted[:, a] += 0.5
        trilinear_many(velocity[a], shifted, out[:, a : a + 1])
    return out
