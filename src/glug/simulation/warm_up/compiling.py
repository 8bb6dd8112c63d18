"""Compile what a scene needs in parallel, where the package does not carry it and no earlier run has kept it."""

import sys
from collections.abc import Iterable

from glug import jit
from glug.precompile import KernelCall, compile_all, missing, processes
from glug.progress import counting
from glug.scene import Scene
from glug.simulation.simulation import Simulation
from glug.simulation.warm_up.needs import all_needed, needed
from glug.view import ScenePictures

FEW = 3  # kernels that are left to the run: to start processes takes as long
COARSE = 24  # cells along the longest side of a rehearsal
REHEARSED = 2  # frames


def compile_for(scene: Scene) -> int:
    """Compile what `scene` is known to call, and say so; returns how many kernels that were."""
    return _compile(missing(needed(scene)))


def compile_library() -> int:
    """Compile what the scenes of the library call."""
    return _compile(missing(all_needed()))


def rehearse(scene: Scene) -> int:
    """Run a coarse scene for a moment: compiles what is not known of it. Returns how many kernels that were.

    What first happens later, such as a bubble that closes, is compiled when it does.
    """
    before = jit.compilations()
    domain = scene.domain.model_copy(update={"resolution": min(COARSE, scene.domain.resolution)})
    coarse = scene.model_copy(update={"domain": domain})
    pictures = ScenePictures(coarse)
    for frame in Simulation(coarse).run(REHEARSED):
        pictures.picture(frame.distance, frame.time)
    return jit.compilations() - before


def _compile(calls: Iterable[KernelCall]) -> int:
    found = list(calls)
    if jit.DEBUG or len(found) <= FEW:
        return 0
    print(f"glug: compiling {len(found)} kernels on {processes()} cores; they are kept for later runs", file=sys.stderr)
    with counting("compiling") as on_done:
        failed = compile_all(found, on_done)
    return len(found) - len(failed)
