"""One step, as data flows: its stages one after the other, timed, and what is to be said of them."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from glug.errors import SolverError
from glug.simulation.context import Force, StepContext
from glug.simulation.frame import Amounts, StepStats
from glug.simulation.setting import Setting
from glug.simulation.stages import STAGES, Stage, stages_of
from glug.simulation.stages.budget import liquid_now
from glug.simulation.state import State
from glug.solvers.cg import largest_in

POSITION, VELOCITY, FACES = "position", "velocity", "faces"
EVERYTHING = (POSITION, VELOCITY, FACES)
# What is looked at after a stage: what it writes, unless it looks itself (solves at their residuals, `extrapolate` at
# the speed) or only brings in order or to the grid what was looked at before. One that a program brings may write all.
LOOKED_AT: Mapping[str, Collection[str]] = dict.fromkeys(STAGES, ()) | {
    **dict.fromkeys(("reseed", "bubbles", "keep_momentum"), (POSITION, VELOCITY)),
    "transfer_to_particles": (VELOCITY,),
    **dict.fromkeys(("forces", "tension", "stokes", "tetrahedra", "conform", "displace"), (FACES,)),
    "advect": (POSITION,),
}
UNMET = 1e-4  # share of a divergence that closed liquid may keep before it is reported: more than rounding


def step(
    setting: Setting, state: State, stages: Iterable[Stage] | None = None, forces: Sequence[Force] = ()
) -> StepStats:
    """Advance the state by one time step."""
    return report(run_stages(StepContext(setting, state, forces), stages_of(setting) if stages is None else stages))


def run_stages(context: StepContext, stages: Iterable[Stage]) -> StepContext:
    """Run stages on a context, one after the other."""
    number = context.state.step + 1
    before = liquid_now(context) if context.setting.scene.output.budget else None
    for name, run in stages:
        begin = time.perf_counter()
        try:
            run(context)
            require_finite(context, LOOKED_AT[name] if STAGES.get(name) is run else EVERYTHING)
        except SolverError as error:
            raise SolverError(f"step {number}, {name}: {error}") from error
        context.seconds[name] = context.seconds.get(name, 0.0) + time.perf_counter() - begin
        if before is not None:
            now = liquid_now(context)
            context.by_stage[name] = context.by_stage.get(name, Amounts()) + (now - before)
            before = now
    return context


def require_finite(context: StepContext, looked_at: Collection[str]) -> None:
    """SolverError where a value that a stage has written is not finite."""
    for name, arrays in looked_at_in(context, looked_at):
        if not all(math.isfinite(largest_in(array)) for array in arrays):
            raise SolverError(f"the {name} is no longer finite; the last checkpoint is from before")


def looked_at_in(context: StepContext, looked_at: Collection[str]) -> Iterator[tuple[str, Sequence[np.ndarray]]]:
    """Arrays of particles and of faces, each with what it is."""
    particles = context.state.particles
    if POSITION in looked_at:
        yield "position", [particles.position]
    if VELOCITY in looked_at:
        yield "velocity", [particles.velocity]
    if FACES in looked_at and isinstance(faces := getattr(context, "velocity", ()), tuple):
        yield "velocity", faces
    if FACES in looked_at and isinstance(on_tree := getattr(getattr(context, "tree", None), "u", None), np.ndarray):
        yield "velocity", [on_tree]


def report(context: StepContext) -> StepStats:
    """What the step's stages have found."""
    state, solves = context.state, context.solves
    warnings = context.warnings + [
        f"{name}: not converged after {s.iterations} iterations (residual {s.residual:.1e})"
        for name, s in solves.items()
        if not s.converged
    ]
    if context.dt > context.setting.surface_step * (1.0 + 1e-6) and not context.full:
        warnings.append(
            f"a surface comes to rest in steps of at most {context.setting.surface_step:.2g} s, this one takes "
            f"{context.dt:.2g} s: a larger time.fps or time.max_substeps allows it"
        )
    unmet = max((s.imbalance for s in solves.values()), default=0.0)
    if unmet > UNMET:
        warnings.append(f"closed liquid is compressed: {unmet:.1e} of the divergence stays (least squares)")
    return StepStats(
        step=state.step,
        frame=state.frame if state.substep == 0 else state.frame + 1,
        time=state.time,
        dt=context.dt,
        particles=len(state.particles),
        cells=context.cells,
        liquid_volume=context.volume,
        target_volume=float(state.particles.volume.sum(dtype=np.float64)),
        max_speed=context.speed,
        seconds=context.seconds,
        solves=solves,
        warnings=warnings,
        bubbles=[] if context.air is None else context.air.rows(),
        air_lost=context.air_lost,
        liquid=liquid_now(context),
        came=context.came,
        left=context.left,
        by_stage=context.by_stage,
    )
