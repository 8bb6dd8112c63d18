"""Do bubbles keep their volume while they rise, break up and merge?

The library scene `rising-bubble`, a closed tank that is full but for one bubble, with and without the correction of
volumes: how far the sum of all bubbles' volumes has been from the first one, and how far any bubble of more than LARGE
cells from its rest volume, at the worst step.
"""

from __future__ import annotations

from glug.errors import InputError
from glug.scene import load
from glug.simulation import Simulation
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

GRID, COARSEST = 96, 40
LARGE = 500  # cells
RUNS = {"corrected": 1.0, "not corrected": 0.0}


def follow(correction: float, resolution: int, frames: int | None = None) -> dict[str, float]:
    """The figures of a run."""
    changes = {"domain.resolution": resolution, "solver.volume_correction": correction}
    scene = load("rising-bubble", changes if frames is None else {**changes, "time.frames": frames})
    simulation = Simulation(scene)
    first, worst_sum, worst_large, most, void_steps, longest_void = 0.0, 0.0, 0.0, 0, 0, 0
    while simulation.state.frame < scene.time.frames:
        bubbles = simulation.step_once().bubbles
        total = sum(b["volume"] for b in bubbles)
        first = first or total
        worst_sum = max(worst_sum, abs(total / first - 1.0))
        large = [b for b in bubbles if b["cells"] > LARGE and b["rest"] > 0.0]
        worst_large = max([worst_large, *(abs(b["volume"] / b["rest"] - 1.0) for b in large)])
        most = max(most, len(bubbles))
        void_steps = void_steps + 1 if any(b["rest"] == 0.0 for b in bubbles) else 0
        longest_void = max(longest_void, void_steps)
    return {
        "sum_drift_percent": 100.0 * worst_sum,
        "large_bubble_drift_percent": 100.0 * worst_large,
        "most_bubbles": most,
        "longest_run_of_steps_with_voids": longest_void,
        "frames": simulation.state.frame,
    }


def study(options: StudyOptions) -> list[StudyRow]:
    """Two runs: with the correction, and without."""
    resolution = min(options.largest_grid or GRID, GRID)
    if resolution < COARSEST:
        raise InputError(f"--max {options.largest_grid}: the bubble needs {COARSEST} cells along the tank at least")
    return [
        StudyRow(options.name, label, resolution, quantity, "value", value)
        for label, correction in RUNS.items()
        for quantity, value in follow(correction, resolution).items()
    ]
