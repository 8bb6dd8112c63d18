"""Do bubbles keep their volume while they rise, break up and merge?

The library scene `rising-bubble`, a closed tank that is full but for one bubble, with and without the correction of
volumes: how far the sum of all bubbles' volumes has been from the first one, and how far any bubble of more than 500
cells from its rest volume, at the worst step; and how many steps a void, a hole that opens between particles, lasts at
most, and how many are gone after three. What a step loses is air in gaps thinner than the kernels of particles, where
the bubble folds and breaks. It is given back by moving the bubbles' surfaces, before the next step begins, and measured
again: `most_lost_in_a_step_percent` is what the sum was off by before that, at the worst step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from glug.errors import InputError
from glug.scene import load
from glug.simulation import Simulation
from glug.simulation.frame import StepStats
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

GRIDS = (40, 64, 96)
LARGE = 500  # cells
FEW = 3  # steps
RUNS = {"corrected": 1.0, "not corrected": 0.0}


def figures(steps: Iterable[StepStats]) -> dict[str, float]:
    """From the statistics of every step."""
    first, worst_sum, worst_large, worst_before, most = 0.0, 0.0, 0.0, 0.0, 0
    ages: Counter[int] = Counter()
    for step in steps:
        bubbles = step.bubbles
        total = sum(b["volume"] for b in bubbles)
        first = first or total
        worst_sum = max(worst_sum, abs(total / first - 1.0))
        large = [b for b in bubbles if b["cells"] > LARGE and b["rest"] > 0.0]
        worst_large = max([worst_large, *(abs(b["volume"] / b["rest"] - 1.0) for b in large)])
        worst_before = max(worst_before, abs(step.air_lost) / first)
        most = max(most, len(bubbles))
        ages.update(int(b["id"]) for b in bubbles if b["rest"] == 0.0)  # names are not used again
    gone = sum(age <= FEW for age in ages.values()) / max(len(ages), 1)
    return {
        "sum_drift_percent": 100.0 * worst_sum,
        "large_bubble_drift_percent": 100.0 * worst_large,
        "most_lost_in_a_step_percent": 100.0 * worst_before,
        "most_bubbles": most,
        "voids_gone_after_3_steps_percent": 100.0 * gone,
        "longest_steps_of_a_void": max(ages.values(), default=0),
    }


def follow(correction: float, resolution: int, frames: int | None = None) -> dict[str, float]:
    """The figures of a run."""
    changes = {"domain.resolution": resolution, "solver.volume_correction": correction}
    scene = load("rising-bubble", changes if frames is None else {**changes, "time.frames": frames})
    simulation = Simulation(scene)

    def steps() -> Iterable[StepStats]:
        while simulation.state.frame < scene.time.frames:
            yield simulation.step_once()

    return {**figures(steps()), "frames": scene.time.frames}


def study(options: StudyOptions) -> list[StudyRow]:
    """Two runs a grid: with the correction, and without."""
    largest = options.largest_grid or GRIDS[-1]
    if largest < GRIDS[0]:
        raise InputError(f"--max {largest}: the bubble needs {GRIDS[0]} cells along the tank at least")
    return [
        StudyRow(options.name, label, n, quantity, "value", value)
        for n in GRIDS
        if n <= largest
        for label, correction in RUNS.items()
        for quantity, value in follow(correction, n).items()
    ]
