"""What a scene will need, before it runs: memory, particles, steps and time."""

import math
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from glug.errors import MemoryLimitError
from glug.scene import Scene
from glug.scene.doubts import doubts
from glug.simulation.estimate import estimate
from glug.simulation.progress import clock
from glug.simulation.setting import Setting

# Rounded from runs of dam-break, honey-coil and viscous-beam and from the solver benches (half a million unknowns and
# more) on two cores: a forecast, no promise.
SECONDS_PER_PARTICLE_STEP = 0.35e-6  # every stage but the solves
PRESSURE_SECONDS_PER_CELL = 0.2e-6  # a projection by multigrid, per cell of liquid
VISCOSITY_SECONDS_PER_CELL = 0.9e-6  # a viscosity solve and the projection before it
SECONDS_PER_SOLVE = 0.02  # what a solve takes however small it is
SECONDS_PER_FRAME = 1.0  # surface, picture and files
THICK = 0.05  # [Pa s]: thinner liquids converge in a few iterations


@dataclass(frozen=True)
class Forecast:
    """The needs of a run."""

    scene: str
    resolution: int
    domain_cells: tuple[int, ...]  # of the whole domain, per axis
    cells: int  # of the window around the liquid, at its largest
    particles: int
    memory: int  # [bytes], at its largest
    machine_memory: int  # [bytes]
    frames: int
    steps: int
    seconds: float
    warnings: list[str] = field(default_factory=list)

    def text(self) -> str:
        shape = " x ".join(str(n) for n in self.domain_cells)
        return "\n".join(
            [
                f"scene      {self.scene}: valid",
                f"domain     {shape} cells",
                f"window     about {self.cells:,} cells around the liquid",
                f"particles  about {self.particles:,}",
                f"memory     about {gigabytes(self.memory)} of {gigabytes(self.machine_memory)}",
                f"steps      about {self.steps:,} for {self.frames} frames",
                f"time       very roughly {clock(self.seconds)} on two cores",
            ]
        )

    def require_memory(self) -> None:
        """MemoryLimitError if that is more memory than the machine has."""
        if self.memory > self.machine_memory:
            dim = len(self.domain_cells)
            fits = int(self.resolution * (self.machine_memory / self.memory) ** (1.0 / dim))
            raise MemoryLimitError(
                f"{self.scene}: domain.resolution = {self.resolution} needs about {gigabytes(self.memory)} "
                f"of memory, this machine has {gigabytes(self.machine_memory)}; about {fits} would fit"
            )


def forecast(scene: Scene) -> Forecast:
    """Estimate the needs of `scene`."""
    needs = estimate(scene)
    cells, particles, memory = int(needs["cells"]), int(needs["particles"]), int(needs["memory"])
    steps = scene.time.frames * substeps(scene)
    liquid = particles / Setting(scene).per_cell
    per_step = particles * SECONDS_PER_PARTICLE_STEP + liquid * PRESSURE_SECONDS_PER_CELL + SECONDS_PER_SOLVE
    if _is_viscous(scene):
        per_step += liquid * VISCOSITY_SECONDS_PER_CELL + 2 * SECONDS_PER_SOLVE
    if not scene.volumes:  # what is poured is half there in the mean
        per_step *= 0.5
    warnings = doubts(scene)
    free = psutil.virtual_memory().available
    if machine_memory() >= memory > free:
        warnings.append(f"only {gigabytes(free)} are free now, the run needs about {gigabytes(memory)}")
    return Forecast(
        scene=scene.name,
        resolution=scene.domain.resolution,
        domain_cells=tuple(scene.domain.shape[: scene.domain.dim]),
        cells=cells,
        particles=particles,
        memory=memory,
        machine_memory=machine_memory(),
        frames=scene.time.frames,
        steps=steps,
        seconds=steps * per_step + scene.time.frames * SECONDS_PER_FRAME,
        warnings=warnings,
    )


def _is_viscous(scene: Scene) -> bool:
    laws = [liquid.viscosity for liquid in scene.liquids.values()]
    thick = any(law.kind != "constant" or law.value > THICK for law in laws)
    return thick and scene.solver.viscosity != "none"


def substeps(scene: Scene) -> int:
    """Steps per frame at the highest speed that the scene sets or that a fall through the domain gives."""
    gravity = math.hypot(*scene.gravity)
    height = scene.domain.upper[1] - scene.domain.lower[1]
    set_ = [math.hypot(*v.velocity) for v in scene.volumes] + [math.hypot(*s.velocity) for s in scene.sources]
    speed = math.hypot(max(set_), math.sqrt(2.0 * gravity * height))
    per_frame = math.ceil(speed / scene.time.fps / (scene.time.cfl * scene.domain.dx))
    return max(1, min(per_frame, scene.time.max_substeps))


def machine_memory() -> int:
    """Memory this process may use [bytes]: the machine's, or the limit of the container it runs in."""
    total = psutil.virtual_memory().total
    limit = Path("/sys/fs/cgroup/memory.max")
    try:
        return min(total, int(limit.read_text()))
    except (OSError, ValueError):  # no such limit, or the word "max"
        return total


def gigabytes(count: float) -> str:
    return f"{count / 1e9:.2f} GB" if count < 10e9 else f"{count / 1e9:.0f} GB"
