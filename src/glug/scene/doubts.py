"""What is valid in a scene and yet hardly meant: said by `glug check`."""

from collections.abc import Iterator

import numpy as np

from glug.scene.schema import Scene
from glug.scene.shapes.combined import Shape
from glug.scene.shapes.mesh import Mesh

HUGE = 20.0  # domains: a mesh that is larger was hardly made in metres
MILLIMETRES = 0.001


def doubts(scene: Scene) -> list[str]:
    """One line for everything that is, each with the key it is about."""
    return [*_outside(scene), *_never_pours(scene), *_huge_meshes(scene)]


def _outside(scene: Scene) -> Iterator[str]:
    """Solids and sinks that the liquid cannot meet; volumes and sources outside are errors."""
    still = [(f"solids.{n}", solid.bounds()) for n, solid in enumerate(scene.solids) if not solid.moving]
    sinks = [(f"sinks.{n}", sink.shape.bounds()) for n, sink in enumerate(scene.sinks)]
    axes = slice(0, scene.domain.dim)
    for key, (lower, upper) in [*still, *sinks]:
        if np.any((lower > scene.domain.upper)[axes] | (upper < scene.domain.lower)[axes]):
            yield f"{key}: lies outside the domain, where it meets no liquid"


def _never_pours(scene: Scene) -> Iterator[str]:
    end = scene.time.duration
    for n, source in enumerate(scene.sources):
        if source.start >= end:
            yield f"sources.{n}.start: it opens at {source.start:g} s, and the run ends at {end:g} s: it never pours"
        elif not any(source.velocity[: scene.domain.dim]) and not source.moving:
            yield f"sources.{n}.velocity: it is zero: the source fills its shape once and pours no more"
    if not scene.volumes and all(source.start >= end for source in scene.sources):
        yield "sources: none opens before the run ends: there will be no liquid"


def _huge_meshes(scene: Scene) -> Iterator[str]:
    longest = float(max(scene.domain.size))
    for group in ("volumes", "sources", "sinks", "solids"):
        for n, item in enumerate(getattr(scene, group)):
            shape: Shape | None = item.shape
            if isinstance(shape, Mesh):
                lower, upper = shape.bounds()
                extent = float((upper - lower).max())
                if extent > HUGE * longest:
                    yield (
                        f"{group}.{n}.shape: the mesh is {extent:.3g} m long in a domain of {longest:g} m; "
                        f"if its file is in millimetres, set scale = {MILLIMETRES * shape.scale:g}"
                    )
