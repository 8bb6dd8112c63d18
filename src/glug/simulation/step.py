"""One step, as data flows: geometry, transfer, forces, pressure, viscosity, pressure, transfer, advection."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from glug.errors import SolverError
from glug.geometry.fractions import liquid_volume
from glug.geometry.liquid import band_of, fill_hidden, liquid_distance
from glug.geometry.solids.field import SolidField
from glug.grids.extrapolate import extrapolate
from glug.grids.regular import CENTRE, Grid, Staggered
from glug.particles import transfer
from glug.particles.seeding import limit_per_cell
from glug.physics import advection, heat
from glug.physics.affine.projection import TiledPressure
from glug.physics.air.two_phase import affine_air, two_phase_problem
from glug.physics.densities import distance_of, mobility_of
from glug.physics.pressure.problem import PressureProblem
from glug.physics.pressure.volume import VolumeCorrection
from glug.physics.rigid.bodies import RigidBodies
from glug.physics.stokes.scene import solve_stokes
from glug.physics.velocity import extend
from glug.physics.viscosity.octree.problem import Adapted, OctreeViscosity, bent_cells, worthwhile
from glug.physics.viscosity.problem import ViscosityProblem
from glug.scene.bodies import Solid, Source
from glug.simulation.air import ClosedAir
from glug.simulation.bodies.motion import coast, reduced
from glug.simulation.frame import StepStats
from glug.simulation.inflow import drain, pour
from glug.simulation.setting import Setting
from glug.simulation.state import State
from glug.solvers.limits import SolveLimits
from glug.solvers.stats import SolveStats

LEAST_PER_CELL = 0.4  # of the nominal number of particles, before a cell inside the liquid gets more
MOST_PER_CELL = 2.0  # of the nominal number, before particles of a cell are merged
CORRECTION_GAIN = 0.1  # share of the volume error that one step corrects (Goldade 2021, section 4.4.1)
MOST_ROUNDS = 3  # in which the surfaces of bubbles are moved, and measured again
UNMET = 1e-4  # share of a divergence that closed liquid may keep before it is reported: more than rounding
NOISE = 1e-6  # of the fastest velocity of a step: right-hand sides below are rounding, not flow


class Step:
    """The stages of one step share what earlier ones made; `stats` collects what they report."""

    def __init__(self, setting: Setting, state: State):
        self.setting = setting
        self.state = state
        self.seconds: dict[str, float] = {}
        self.solves: dict[str, SolveStats] = {}
        self.warnings: list[str] = []
        self.level: np.ndarray | None = None  # of the octree's leaves, where one is used
        self.bubbles: list[dict[str, float]] = []
        self.air_lost = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        except SolverError as error:
            raise SolverError(f"step {self.state.step + 1}, {name}: {error}") from error
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def run(self) -> StepStats:
        """Advance the state by one time step."""
        setting, state = self.setting, self.state
        dt = choose_time_step(setting, state)
        with self.stage("sort"):
            pour(setting, state, dt)
            grid = setting.window(state.particles.position, state.bodies)
            state.particles.sort(grid)
        with self.stage("reseed"):
            self.reseed(grid)
        with self.stage("heat"):
            self.heat(grid, dt)
        with self.stage("geometry"):
            problem, fraction, others = self.surroundings(grid, dt)
        if setting.closed_air:
            with self.stage("air"):
                air = ClosedAir.find(state, problem, fraction)
            with self.stage("bubbles"):
                self.air_lost = air.lost
                strength, rounds = setting.scene.solver.volume_correction, 0
                while rounds < MOST_ROUNDS and air.restore(state, problem, strength):
                    problem, fraction, others = self.surroundings(grid, dt)
                    air, rounds = ClosedAir.find(state, problem, fraction), rounds + 1
                air.ask(dt, strength)
                self.bubbles = air.rows()
        with self.stage("geometry"):
            phi, solid, bodies = problem.system.phi, problem.solid, problem.bodies
            volume = float(fraction.sum(dtype=np.float64)) * grid.dx**3
            self.tiled = self.tiles(problem, others)
            if self.tiled is not None and state.particles.has("tile"):
                self.tiled.mark(state.particles)
            problem.freed = self.freed_before(grid, solid)
            correction = self.volume_correction(grid, fraction, dt)
            del fraction
        with self.stage("transfer_to_grid"):
            velocity, reached = transfer.to_grid(state.particles, grid, setting.particle_volume, self.masses())
            self.fill_gaps(grid, velocity, reached)
            before = tuple(u.copy() for u in velocity) if not setting.apic else None
        with self.stage("forces"):
            for a in grid.axes:
                velocity[a][:] += np.float32(dt * setting.gravity[a])
        if setting.stokes:
            with self.stage("stokes"):
                q = self.stokes(problem, phi, velocity, dt, correction)
        else:
            q = self.split(problem, phi, velocity, reached, dt, correction)
        with self.stage("extrapolate"):
            layers = math.ceil(setting.scene.time.cfl) + 2
            extend(grid, velocity, solid, problem.wet, reached, layers, stick=setting.viscous, freed=problem.freed)
            if problem.freed is not None:
                state.freed = (np.argwhere(problem.freed) + grid.lo).astype(np.int32)
            speed = fastest(velocity)
            if not math.isfinite(speed):
                raise SolverError("a velocity is not finite")
        if setting.scene.output.fields:
            pressure = (q * (setting.density * setting.dx / dt)).astype(np.float32)
            state.fields = {
                "phi": phi,
                "u": velocity[0],
                "v": velocity[1],
                "w": velocity[2],
                "p": pressure,
                "corner": grid.corner,
                "dx": np.array(grid.dx),
            }
            if self.level is not None:
                state.fields["level"] = self.level
        with self.stage("transfer_to_particles"):
            self.to_particles(grid, velocity, before)
        in_liquid = np.array([len(cells) > 0 for cells, _ in problem.body_rows])
        del q, before, problem, reached, phi
        if bodies is not None:
            with self.stage("bodies"):
                self.move_bodies(bodies, in_liquid, dt)
        with self.stage("advect"):
            self.advect(grid, velocity, solid, dt, speed)
        del velocity
        self.finish_clock(dt)
        with self.stage("sort"):
            drain(setting, state.particles)
        return self.report(grid, dt, volume, speed)

    # -- stages ------------------------------------------------------------------------------------------

    def geometry(self, grid: Grid) -> tuple[SolidField, np.ndarray, np.ndarray]:
        """Solids and the liquid's distance now, and the open liquid fraction of every cell."""
        p = self.state.particles
        solid = self.setting.solid_field(grid, self.state.time, self.state.bodies)
        phi = liquid_distance(p.position, p.volume, p.start, grid, solid.distance)
        fill_hidden(phi, solid.hidden)
        return solid, phi, liquid_volume(phi, grid, CENTRE) * solid.openness

    def surroundings(self, grid: Grid, dt: float) -> tuple[PressureProblem, np.ndarray, list[np.ndarray]]:
        """The pressure problem, the liquid fraction of cells, and the distances of liquids of other densities."""
        setting = self.setting
        solid, phi, fraction = self.geometry(grid)
        bodies = self.bodies(grid, solid, dt)
        others = [distance_of(n, self.state.particles, grid, solid) for n in setting.other_densities]
        ratios = [setting.density_ratios[n] for n in setting.other_densities]
        mobility = mobility_of(others, ratios, grid) if others else None
        return self.pressure_problem(grid, phi, solid, bodies, mobility), fraction, others

    def bodies(self, grid: Grid, solid: SolidField, dt: float) -> RigidBodies | None:
        """The rigid bodies on the grid, with the velocity that gravity and what they press against give them."""
        setting, state = self.setting, self.state
        if not setting.sheets:
            return None
        now = [sheet.now(body, grid.dim) for sheet, body in zip(setting.sheets, state.bodies)]
        bodies = RigidBodies.build(grid, solid, now, setting.density)
        bodies.velocity[:] = [reduced(body, grid.dim) for body in state.bodies]
        falls = np.array([not sheet.on_axle for sheet in setting.sheets])
        bodies.velocity[falls, : grid.dim] += dt * setting.gravity[: grid.dim]
        bodies.velocity += dt * state.pressed
        return bodies

    def move_bodies(self, bodies: RigidBodies, in_liquid: np.ndarray, dt: float) -> None:
        """Move the bodies, against what they meet.

        A body that rests on something would fall into it in every solve, and the liquid with it, if what holds it
        came only afterwards. So the solves have seen the contact of the last step; here it is taken back, for
        the contact of this step to be found anew.
        """
        setting, state = self.setting, self.state
        velocity = bodies.velocity - dt * state.pressed
        if setting.contact is None:
            state.bodies = [coast(s, b, v, dt) for s, b, v in zip(setting.sheets, state.bodies, velocity)]
            return
        start = np.array([reduced(body, bodies.grid.dim) for body in state.bodies])
        start[in_liquid] = bodies.velocity[in_liquid]
        now = state.contact, state.bodies, velocity, state.time, dt
        state.contact, state.bodies = setting.contact.advance(*now, start=start)
        change = np.array([reduced(body, bodies.grid.dim) for body in state.bodies]) - velocity
        state.pressed = steady_contact(setting, change / dt)

    def freed_before(self, grid: Grid, solid: SolidField) -> np.ndarray | None:
        """The cells that separating walls let go in the last step; None when no wall separates."""
        if solid.separating is None:
            return None
        freed = grid.scalar(dtype=np.uint8)
        index = self.state.freed - np.asarray(grid.lo)
        inside = ((index >= 0) & (index < grid.shape)).all(axis=1)
        freed[tuple(index[inside].T)] = 1
        return freed

    def fill_gaps(self, grid: Grid, velocity: Staggered, reached: Staggered) -> None:
        """Faces of liquid cells that no particle reaches take their neighbours' velocity."""
        for a in grid.axes:
            known = (reached[a] > 0).view(np.uint8)
            extrapolate(velocity[a], known, 2)

    def volume_correction(self, grid: Grid, fraction: np.ndarray, dt: float) -> VolumeCorrection | None:
        gain = CORRECTION_GAIN * self.setting.scene.solver.volume_correction
        if gain == 0.0:
            return None
        return VolumeCorrection.measure(self.state.particles, fraction, grid, gain, dt)

    def pressure_problem(
        self,
        grid: Grid,
        phi: np.ndarray,
        solid: SolidField,
        bodies: RigidBodies | None,
        mobility: Staggered | None,
    ) -> PressureProblem:
        solver = self.setting.scene.solver
        if solver.air in ("two-phase", "affine"):
            return two_phase_problem(grid, phi, solid, solver.air_density / self.setting.density)
        return PressureProblem.build(grid, phi, solid, bodies, mobility)

    def project(
        self,
        name: str,
        problem: PressureProblem,
        velocity: Staggered,
        dt: float,
        correction: VolumeCorrection | None,
    ) -> np.ndarray:
        solver = self.setting.scene.solver
        floor = NOISE * (fastest(velocity) + dt * float(np.linalg.norm(self.setting.gravity)))
        q, stats = (self.tiled or problem).project(
            velocity,
            SolveLimits(solver.tolerance.pressure, solver.max_iterations, floor),
            correction=correction,
            solver="reference" if self.setting.reference else solver.pressure,
        )
        self.solves[name] = stats
        return q

    def masses(self) -> np.ndarray | None:
        """Of the particles, relative to the first liquid's density; None when all have the same."""
        if not self.setting.other_densities:
            return None
        p = self.state.particles
        return p.volume * np.array(self.setting.density_ratios, np.float32)[p.liquid[:, 0].astype(np.int64)][:, None]

    def tiles(self, problem: PressureProblem, others: list[np.ndarray]) -> TiledPressure | None:
        """Affine regions in the air, deep in the liquid, or in each of several liquids of different densities."""
        solver = self.setting.scene.solver
        if solver.air == "affine":
            return affine_air(problem)
        if not solver.tiles:
            return None
        wet, first = problem.liquid > 0, problem.liquid > 0
        parts = {0: first}
        for number, phi in zip(self.setting.other_densities, others):
            parts[number] = wet & (phi < 0.0)
            first &= ~parts[number]
        if solver.tile_liquid != "all":
            chosen = list(self.setting.scene.liquids).index(solver.tile_liquid)
            parts = {chosen: parts.get(chosen, first)}  # liquids of the first one's density are one with it
        tile = 0 if solver.tiles == "whole" else solver.tiles
        return TiledPressure.build(problem, tile, solver.tile_band, list(parts.values()))

    def viscosity(self, pressure: PressureProblem, phi: np.ndarray, velocity: Staggered, dt: float) -> None:
        grid, solid = pressure.grid, pressure.solid
        setting, solver = self.setting, self.setting.scene.solver
        scale = dt / (setting.density * setting.dx**2)
        held = solver.viscosity == "laplacian-dirichlet"
        liquid = np.full_like(phi, -np.float32(setting.dx)) if held else phi
        diffusion = self.cell_viscosity(grid, scale)
        problem = ViscosityProblem.build(grid, liquid, solid, diffusion, pressure.bodies, pressure.freed)
        if held:
            self.solves["viscosity"] = problem.solve_held_surface(velocity, phi)
        elif solver.viscosity == "laplacian":
            self.solves["viscosity"] = problem.solve_reference(velocity, laplacian=True)
        elif setting.reference or solver.viscosity == "reference":
            self.solves["viscosity"] = problem.solve_reference(velocity)
        else:
            floor = NOISE * fastest(velocity)
            tolerance, most = solver.tolerance.viscosity, solver.max_iterations
            tree = self.tree(problem, velocity)
            if tree is not None:
                octree = OctreeViscosity(tree, diffusion, enhanced=solver.octree.gradients == "enhanced")
                self.level = tree.tree.level
                del tree, problem  # the weights are done with
                stats = octree.solve(velocity, SolveLimits(tolerance, most, floor))
            else:
                name = "multigrid" if solver.viscosity == "auto" else solver.viscosity
                stats = problem.solve(velocity, SolveLimits(tolerance, most, floor), solver=name)
            self.solves["viscosity"] = stats

    def tree(self, problem: ViscosityProblem, velocity: Staggered) -> Adapted | None:
        """The octree for a viscous solve, when asked for, or when left to choose and it is faster."""
        solver = self.setting.scene.solver
        adapted = {"octree": Adapted.to, "auto": worthwhile}.get(solver.viscosity)
        if adapted is None:
            return None
        finest = bent_cells(velocity, solver.octree.bend) if solver.octree.bend > 0.0 else None
        return adapted(problem, solver.octree.levels, solver.octree.band, finest)

    def split(
        self,
        problem: PressureProblem,
        phi: np.ndarray,
        velocity: Staggered,
        reached: Staggered,
        dt: float,
        correction: VolumeCorrection | None,
    ) -> np.ndarray:
        """Pressure, viscosity and pressure, one after the other; returns q."""
        if not self.setting.viscous:
            with self.stage("pressure"):
                return self.project("pressure", problem, velocity, dt, correction)
        with self.stage("project"):
            q = self.project("project", problem, velocity, dt, correction)
        with self.stage("viscosity"):
            extend(problem.grid, velocity, problem.solid, problem.wet, reached, 2, stick=True)
            self.viscosity(problem, phi, velocity, dt)
        with self.stage("pressure"):
            problem.earlier = q
            return q + self.project("pressure", problem, velocity, dt, correction)  # both act within the step

    def stokes(
        self,
        problem: PressureProblem,
        phi: np.ndarray,
        velocity: Staggered,
        dt: float,
        correction: VolumeCorrection | None,
    ) -> np.ndarray:
        """Pressure and viscosity in one solve; returns q as `project` does."""
        setting, grid = self.setting, problem.grid
        target = grid.scalar()
        if correction is not None:
            components = problem.components
            correction.add_to(target, components.label, len(components.cells), problem.solid.openness, grid)
        viscosity = self.cell_viscosity(grid, 1.0)
        open_sources = [s for s in setting.scene.sources if s.active(self.state.time) and not s.moving]
        p, self.solves["stokes"] = solve_stokes(
            grid,
            phi,
            problem.solid,
            velocity,
            viscosity,
            setting.density,
            dt,
            target / np.float32(grid.dx),
            open_sources,
        )
        return p * (dt / (setting.density * setting.dx))

    def cell_viscosity(self, grid: Grid, scale: float) -> np.ndarray | float:
        """Viscosity times `scale`: a number, or the cells' mean over particles continued to their surroundings."""
        p = self.state.particles
        if not self.setting.viscosity_varies:
            return float(self.setting.laws[0].value) * scale
        if p.has("temperature"):
            self.follow_temperature()
        field = transfer.cell_means(p.viscosity, p, grid, 0.0)
        known = (np.diff(p.start[:-1]).reshape(grid.shape) > 0).view(np.uint8)
        extrapolate(field, known, 3)
        return field * np.float32(scale)

    def follow_temperature(self) -> None:
        """Particles whose law depends on temperature take its viscosity."""
        p = self.state.particles
        for number, law in enumerate(self.setting.laws):
            if law.kind == "temperature":
                mine = p.liquid[:, 0] == number if p.has("liquid") else np.ones(len(p), np.bool_)
                p.viscosity[mine, 0] = law.at(p.position[mine], p.temperature[mine, 0])

    def to_particles(self, grid: Grid, velocity: Staggered, before: tuple | None) -> None:
        if before is None:
            transfer.to_particles_apic(self.state.particles, grid, velocity)
        else:
            ratio = self.setting.scene.solver.flip_ratio
            transfer.to_particles_flip(self.state.particles, grid, velocity, before, ratio)

    def advect(self, grid: Grid, velocity: Staggered, solid: SolidField, dt: float, speed: float) -> None:
        setting, p = self.setting, self.state.particles
        before = p.position.copy() if setting.solids else p.position
        advection.advect(p, grid, velocity, dt, speed)
        end = self.state.time + dt
        after = setting.solid_field(grid, end, self.state.bodies) if setting.moving else solid
        solids = setting.solids_with(self.state.bodies)
        lost = advection.leave_solids(p, before, grid, after, setting.walls, solids, end, dt)
        if lost > 0.0:
            self.warnings.append(f"{lost:.3g} m3 of liquid were squeezed out between solids and are gone")
        p.age[:] += np.float32(dt)

    def heat(self, grid: Grid, dt: float) -> None:
        scene = self.setting.scene
        if scene.heat is not None and self.state.particles.has("temperature"):
            heat.diffuse(self.state.particles, grid, scene.heat.diffusivity, dt)

    def reseed(self, grid: Grid) -> None:
        setting, p = self.setting, self.state.particles
        least = max(2, math.ceil(LEAST_PER_CELL * setting.per_cell))
        most = int(MOST_PER_CELL * setting.per_cell)
        inside = band_of(p.start, grid, setting.solid_field(grid, self.state.time, self.state.bodies).distance, 1)
        if limit_per_cell(p, grid, inside, least, most, setting.scene.seed + self.state.step):
            p.sort(grid)

    def finish_clock(self, dt: float) -> None:
        """Move the clock, exactly onto the frame when this step reaches it."""
        state, fps = self.state, self.setting.scene.time.fps
        end = (state.frame + 1) / fps
        state.time = end if state.time + dt > end - 1e-9 / fps else state.time + dt
        state.step += 1
        state.substep += 1
        if state.time == end:
            state.frame += 1
            state.substep = 0

    def report(self, grid: Grid, dt: float, volume: float, speed: float) -> StepStats:
        state = self.state
        frame = state.frame if state.substep == 0 else state.frame + 1
        warnings = self.warnings + [
            f"{name}: not converged after {s.iterations} iterations (residual {s.residual:.1e})"
            for name, s in self.solves.items()
            if not s.converged
        ]
        unmet = max((s.imbalance for s in self.solves.values()), default=0.0)
        if unmet > UNMET:
            warnings.append(f"closed liquid is compressed: {unmet:.1e} of the divergence stays (least squares)")
        return StepStats(
            step=state.step,
            frame=frame,
            time=state.time,
            dt=dt,
            particles=len(state.particles),
            cells=grid.cells,
            liquid_volume=volume,
            target_volume=float(state.particles.volume.sum(dtype=np.float64)),
            max_speed=speed,
            seconds=self.seconds,
            solves=self.solves,
            warnings=warnings,
            bubbles=self.bubbles,
            air_lost=self.air_lost,
        )


def fastest(velocity: Staggered) -> float:
    """Bound on the speed: the length of the largest components [m/s]."""
    return math.sqrt(sum(max(float(u.max()), -float(u.min())) ** 2 for u in velocity))


def steady_contact(setting: Setting, acceleration: np.ndarray) -> np.ndarray:
    """What of the contacts' acceleration (n, m) bears weight or buoyancy: a blow is not felt again."""
    size = np.linalg.norm(acceleration[:, : setting.dim], axis=1)
    ratio = np.array([setting.density / (sheet.solid.density or 1.0) for sheet in setting.sheets])
    most = float(np.linalg.norm(setting.gravity)) * np.maximum(1.0, ratio)
    return acceleration * np.minimum(1.0, most / np.maximum(size, 1e-300))[:, None]


def moving_speed(body: Solid | Source, t: float) -> float:
    """Largest speed [m/s] of a solid or of a source's liquid at the corners of its bounding box."""
    lower, upper = body.bounds(t)
    box = np.array([np.where(np.isfinite(c), c, 0.0) for c in (lower, upper)])
    corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
    velocity = body.velocity(corners, t) if isinstance(body, Solid) else body.velocity_at(corners, t)
    return float(np.linalg.norm(velocity, axis=1).max())


def choose_time_step(setting: Setting, state: State) -> float:
    """The largest equal step to the next frame in which nothing crosses more than `cfl` cells."""
    times = setting.scene.time
    remaining = (state.frame + 1) / times.fps - state.time
    reach = times.cfl * setting.dx
    v = state.particles.velocity
    speed = math.sqrt(sum(float(np.abs(v[:, a]).max(initial=0.0)) ** 2 for a in range(3))) if len(v) else 0.0
    end = state.time + remaining
    bodies: list[Solid | Source] = [
        *(s for s in setting.solids_with(state.bodies) if s.moving),
        *(s for s in setting.scene.sources if s.active(state.time)),
    ]
    # A body at rest must not fall farther than `reach` within the step either.
    speed += math.sqrt(reach * float(np.linalg.norm(setting.gravity)))
    speed = max([speed, *(moving_speed(body, t) for body in bodies for t in (state.time, end))])
    steps = max(1, math.ceil(remaining * speed / reach - 1e-6))
    steps = max(1, min(steps, times.max_substeps - state.substep))
    return remaining / steps
