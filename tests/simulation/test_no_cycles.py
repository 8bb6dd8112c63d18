"""What a step made is gone when the next one begins, without waiting for Python to look for cycles.

Cycles are looked for rarely; arrays in them pile up meanwhile, by gigabytes in large scenes.
"""

import gc

import numpy as np
import pytest

import glug

CELLS = 12
QUICK = ("bubbles and bodies", "stokes", "separating", "flat")
SCENES = {
    "bubbles and bodies": ("float-and-sink", {"solver.air": "constraint"}),
    "two phases": ("dam-break", {"solver.air": "two-phase"}),
    "thick": ("viscous-beam", {}),
    "thick, bodies": ("four-bodies", {}),
    "stokes": ("viscous-beam", {"solver.coupling": "stokes"}),
    "octree viscosity": ("viscous-beam", {"solver.viscosity": "octree"}),
    "separating": ("splash-on-wall", {}),
    "flat": ("dam-break-2d", {}),
    "heat": ("melting", {}),
    "octree": ("resting-water", {"refine.levels": 2}),
    "tetrahedra": ("dam-break-tetrahedra", {}),
    "tension": ("ringing-drop", {}),
    "tracking": ("ringing-drop", {"surface.tracking": "mesh", "domain.sides": "closed"}),
}


def arrays_in_cycles(simulation: glug.Simulation) -> dict[str, int]:
    """Bytes of arrays that two steps leave in cycles, by the type of what holds them."""
    simulation.step_once()
    gc.collect()
    gc.disable()
    try:
        simulation.step_once()
        simulation.step_once()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        held: dict[str, int] = {}
        for found in gc.garbage:
            for part in gc.get_referents(found):
                if issubclass(type(part), np.ndarray):  # `isinstance` asks dead proxies
                    name = type(found).__name__
                    held[name] = held.get(name, 0) + part.nbytes
        return held
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("kind", [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in SCENES])
def test_a_step_leaves_no_arrays_in_cycles(kind):
    name, settings = SCENES[kind]
    scene = glug.load(name, {"domain.resolution": CELLS, **settings})
    assert not arrays_in_cycles(glug.Simulation(scene, 1))


def test_a_cycle_would_be_seen():
    """Negative control."""

    class Knot:
        def __init__(self):
            self.itself, self.array = self, np.zeros(1000)

    class Tangled:
        def step_once(self):
            Knot()

    assert sum(arrays_in_cycles(Tangled()).values()) == 16000
