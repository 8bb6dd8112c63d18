"""glug simulates liquids that pour, buckle, coil, splash and glug.

    import glug

    scene = glug.load("honey-coil")
    for frame in glug.Simulation(scene).run():
        print(frame.index, frame.surface.vertices.shape)

Names are imported when first used, so that `import glug` is light.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Scene": "glug.scene",
    "load": "glug.scene",
    "scenes": "glug.scene",
    "Simulation": "glug.simulation",
    "Stage": "glug.simulation",
    "StepContext": "glug.simulation",
    "register_pressure_solver": "glug.simulation",
    "register_viscosity_solver": "glug.simulation",
    "Frame": "glug.simulation",
    "StepStats": "glug.simulation",
    "RunFolder": "glug.output",
    "GlugError": "glug.errors",
    "InputError": "glug.errors",
    "SceneError": "glug.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'glug' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
