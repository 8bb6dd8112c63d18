"""The state of a simulation: all that changes from step to step, and nothing else."""

from dataclasses import dataclass, field

import numpy as np

from glug.particles.storage import Particles
from glug.physics.air.tracking import FIRST_NAME, BubbleMemory
from glug.scene.motions.free import FreeMotion

BODY_ARRAYS = ("R", "centre", "rest", "velocity_of_centre", "spin")  # in the order of FreeMotion's fields


@dataclass
class State:
    """Particles, time and counters. `save` and `restore` keep every bit."""

    particles: Particles
    time: float = 0.0  # [s]
    step: int = 0
    frame: int = 0  # the last completed frame
    substep: int = 0  # steps taken since that frame
    emitted_to: float = -1.0  # [s] time up to which the sources have poured; negative before they first did
    bodies: list[FreeMotion] = field(default_factory=list)  # the rigid bodies
    pressed: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # their acceleration by contact, last step
    contact: np.ndarray = field(default_factory=lambda: np.zeros(0))  # MuJoCo's state
    bubbles: BubbleMemory = field(default_factory=BubbleMemory)  # names and rest volumes, where air is tracked
    freed: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.int32))  # cells freed by the last step
    fields: dict[str, np.ndarray] = field(default_factory=dict)  # of the last step, for output only

    def save(self) -> dict[str, np.ndarray]:
        """Arrays from which `restore` makes the same state again."""
        data = {f"particles.{name}": values for name, values in self.particles.attributes.items()}
        data["freed"] = self.freed
        data["clock"] = np.array([self.time, self.emitted_to])
        if self.bodies:
            for name in BODY_ARRAYS:
                data[f"bodies.{name}"] = np.array([getattr(body, name) for body in self.bodies])
            data["bodies.pressed"], data["bodies.contact"] = self.pressed, self.contact
        data["counters"] = np.array([self.step, self.frame, self.substep, self.particles.next_id], np.int64)
        if self.bubbles.next_name > FIRST_NAME:
            data |= self.bubbles.save()
        return data

    @classmethod
    def restore(cls, data: dict[str, np.ndarray]) -> "State":
        """The inverse of `save`."""
        prefix = "particles."
        arrays = {k[len(prefix) :]: np.array(v) for k, v in data.items() if k.startswith(prefix)}
        step, frame, substep, next_id = (int(n) for n in data["counters"])
        time, emitted_to = (float(t) for t in data["clock"])
        state = cls(Particles(arrays, next_id), time, step, frame, substep, emitted_to)
        if "freed" in data:
            state.freed = np.array(data["freed"], np.int32)
        if "bodies.pressed" in data:
            rows = zip(*(np.array(data[f"bodies.{name}"]) for name in BODY_ARRAYS))
            state.bodies = [FreeMotion(*row) for row in rows]
            state.pressed, state.contact = np.array(data["bodies.pressed"]), np.array(data["bodies.contact"])
        state.bubbles = BubbleMemory.restore(data)
        return state
