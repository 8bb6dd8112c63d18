"""Pushes at both ends of a path: where one liquid fills all there is, forces and solves act by the trapezoidal rule.

They act for a part of the time step where a path begins, and particles set out with what they would have changed in the
rest of it (`docs/theory/motion.md`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from glug.grids.regular import Staggered, copied
from glug.simulation.context import StepContext

# Of what acted at the begin of a path: 1 would be the trapezoidal rule, and never calm down. With APIC, which damps
# less, a vortex gains a tenth of its energy in ten turns with 0.8.
PUSHED_AGAIN = {"flip": 0.8, "apic": 0.5}
# Of the velocity of FLIP's particles that no face sees, what a step takes away there: nothing else would, and pushes at
# both ends let it grow. More takes from vortices as well.
UNSEEN = 0.1


def pushed_again(context: StepContext) -> float:
    """What particles get a second time of what forces and solves have changed; 0 but where one liquid fills all."""
    return PUSHED_AGAIN["apic" if context.setting.apic else "flip"] if fills_all(context) else 0.0


def fills_all(context: StepContext) -> bool:
    """Whether one liquid fills all there is between walls: no surface, no body, nothing that gravity could move."""
    setting = context.setting
    if not context.full or setting.bodies or setting.other_densities or setting.has_regions or setting.stokes:
        return False
    if context.freed is not None or setting.scene.solver.mesh != "regular":
        return False
    wet, area = context.wet > 0, context.solid.area
    return bool(wet.any()) and not any(
        ((np.diff(wet, axis=a) != 0) & (np.delete(area[a], [0, -1], axis=a) > 0.0)).any() for a in context.grid.axes
    )


@contextmanager
def remembered(context: StepContext) -> Iterator[None]:
    """Add what is changed of the velocity on open faces to `pushed`, where particles are pushed again."""
    before = copied(context.velocity) if context.again > 0.0 else None
    yield
    if before is not None:
        pushed = context.pushed or context.grid.staggered()
        for by, u, b, area in zip(pushed, context.velocity, before, context.solid.area):
            by += (u - b) * (area > 0.0)
        context.pushed = pushed


def ahead(context: StepContext) -> Staggered:
    """The velocity that particles set out with."""
    if context.pushed is None:
        return context.velocity
    u, v, w = (u + np.float32(context.again) * by for u, by in zip(context.velocity, context.pushed))
    return u, v, w
