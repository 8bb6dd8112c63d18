"""The state of a simulation: all that changes from step to step, and nothing else."""

from dataclasses import dataclass, field

import numpy as np

from glug.particles.storage import Particles


@dataclass
class State:
    """Particles, time and counters. `save` and `restore` keep every bit."""

    particles: Particles
    time: float = 0.0  # [s]
    step: int = 0
    frame: int = 0  # the last completed frame
    substep: int = 0  # steps taken since that frame
    emitted_to: float = -1.0  # [s] time up to which the sources have poured; negative before they first did
    fields: dict[str, np.ndarray] = field(default_factory=dict)  # of the last step, for output only

    def save(self) -> dict[str, np.ndarray]:
        """Arrays from which `restore` makes the same state again."""
        data = {f"particles.{name}": values for name, values in self.particles.attributes.items()}
        data["clock"] = np.array([self.time, self.emitted_to])
        data["counters"] = np.array([self.step, self.frame, self.substep, self.particles.next_id], np.int64)
        return data

    @classmethod
    def restore(cls, data: dict[str, np.ndarray]) -> "State":
        """The inverse of `save`."""
        prefix = "particles."
        arrays = {k[len(prefix) :]: np.array(v) for k, v in data.items() if k.startswith(prefix)}
        step, frame, substep, next_id = (int(n) for n in data["counters"])
        time, emitted_to = (float(t) for t in data["clock"])
        return cls(Particles(arrays, next_id), time, step, frame, substep, emitted_to)
