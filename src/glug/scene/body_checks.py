"""What rigid bodies need of a scene: an end, room in the domain, and no other solid in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glug.scene.bodies import Solid
from glug.scene.model import fail

if TYPE_CHECKING:
    from glug.scene.schema import Scene

SAMPLES = 24  # along every side of a body, where it is compared with the others
ROOM = 1e-3  # of a body's size: what may overlap by rounding


def check_bodies(scene: Scene) -> None:
    """An error that names the key if a body cannot begin where it is."""
    bodies = [(i, s) for i, s in enumerate(scene.solids) if s.free]
    if bodies and scene.solver.coupling == "stokes" and scene.domain.dim == 2:
        raise fail(
            "'stokes' takes the motion of solids as known in 2D, but bodies move freely; valid with them: 'split'",
            "solver.coupling",
        )
    for i, body in bodies:
        _check_place(scene, i, body)
        if scene.domain.dim == 2 and (any(body.spin[:2]) or any(body.launch[2:])):
            raise fail("a body of a 2D scene moves along x and y and turns about z", f"solids.{i}.spin")
        if scene.domain.dim == 2 and body.axle is not None and any(body.axle[:2]):
            raise fail("a body of a 2D scene turns about z", f"solids.{i}.axle")
    for i, body in bodies:
        points, depth = inside_points(body, scene.domain.dim, scene.domain.dx)
        lower, upper = body.bounds()
        size = float((upper - lower)[: scene.domain.dim].max())
        for j, other in enumerate(scene.solids):
            if j == i or (other.free and j > i):
                continue
            near = other.bounds()
            if not all(lower[a] < near[1][a] and upper[a] > near[0][a] for a in range(scene.domain.dim)):
                continue
            overlap = np.minimum(-other.distance(points, 0.0), depth).max(initial=0.0)
            if overlap > ROOM * size:
                raise fail(f"'{body.name}' and '{other.name}' begin in the same place", f"solids.{i}.shape")


def inside_points(body: Solid, dim: int, dx: float) -> tuple[np.ndarray, np.ndarray]:
    """Points inside a body (n, 3) and how deep they are [m]."""
    lower, upper = body.bounds()
    axes = [
        np.array([0.5 * dx]) if a >= dim else np.linspace(lower[a], upper[a], 2 * SAMPLES + 1)[1::2] for a in range(3)
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    depth = -body.distance(points)
    return points[depth > 0.0], depth[depth > 0.0]


def _check_place(scene: Scene, i: int, body: Solid) -> None:
    domain = scene.domain
    lower, upper = (np.asarray(c)[: domain.dim] for c in body.bounds())
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise fail("a rigid body must have an end on all sides", f"solids.{i}.shape")
    if not (upper > lower).all():
        raise fail("a rigid body must have a volume", f"solids.{i}.shape")
    slack = ROOM * (upper - lower).max()
    sides = (("left", "right"), ("bottom", "top"), ("back", "front"))
    beyond = [
        s
        for a in range(domain.dim)
        for s, out in zip(sides[a], (lower[a] < domain.lower[a] - slack, upper[a] > domain.upper[a] + slack))
        if out and domain.sides[s] != "open"
    ]
    apart = (upper <= domain.lower[: domain.dim]).any() or (lower >= domain.upper[: domain.dim]).any()
    if beyond or apart:
        where = f"begins beyond the {' and '.join(beyond)} of" if beyond else "begins outside"
        raise fail(f"'{body.name}' {where} the domain", f"solids.{i}.shape")
