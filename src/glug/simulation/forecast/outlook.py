"""What a scene will hold, before it runs: cells, particles and memory; and which surface tension acts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from glug.errors import MemoryLimitError
from glug.scene import Scene
from glug.scene.doubts import doubts
from glug.scene.materials import MATERIALS
from glug.simulation.forecast.size import begins_on_tree, estimate
from glug.simulation.setting import Setting

SEEN = 0.5  # cells per capillary length sqrt(gamma / (rho g)), from where on tension is seen


@dataclass(frozen=True)
class Forecast:
    """The needs of a run."""

    scene: str
    resolution: int
    domain_cells: tuple[int, ...]  # of the whole domain, per axis
    cells: int  # of the window around the liquid, at its largest; leaves of its octree, as it begins
    particles: int
    memory: int  # [bytes], at its largest
    machine_memory: int  # [bytes]
    warnings: list[str] = field(default_factory=list)
    tension: list[str] = field(default_factory=list)  # what is said of it, one line per liquid
    on_tree: bool = False

    def text(self) -> str:
        shape = " x ".join(str(n) for n in self.domain_cells)
        window = f"window     about {self.cells:,} cells around the liquid"
        return "\n".join(
            [
                f"scene      {self.scene}: valid",
                f"domain     {shape} cells",
                f"tree       about {self.cells:,} leaves" if self.on_tree else window,
                f"particles  about {self.particles:,}",
                f"memory     about {gigabytes(self.memory)} of {gigabytes(self.machine_memory)}",
                *(f"tension    {line}" for line in self.tension),
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
        warnings=warnings,
        tension=list(said_of_tension(scene)),
        on_tree=begins_on_tree(Setting(scene)),
    )


def said_of_tension(scene: Scene) -> Iterator[str]:
    """Which surface tension acts, and which is left out although cells are small enough to see it."""
    heavy = max(math.hypot(*scene.gravity), 1e-30)
    for name, liquid in scene.liquids.items():
        acts = liquid.surface_tension > 0.0
        own = MATERIALS[liquid.material].surface_tension if liquid.material else 0.0
        tension = liquid.surface_tension if acts else own
        length = math.sqrt(tension / (liquid.density * heavy))
        if acts:
            yield f"{name} {tension:g} N/m, {scene.solver.tension}"
        elif scene.domain.dx < SEEN * length:
            yield f'{name} none; cells see waves within {1000 * length:.2g} mm: surface_tension = "material" has it'


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
