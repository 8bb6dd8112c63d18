"""Liquids on Voronoi cells with known answers: rest, a projection, ringing and rough drops, thin sheets and gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import eval_legendre

from glug.geometry.curves.curve import TrackedCurve, circle, closed
from glug.geometry.embedded.cells import EmbeddedCells
from glug.geometry.embedded.curvature import curvature
from glug.geometry.embedded.elements import Elements
from glug.geometry.embedded.sites import Placement, Sites
from glug.geometry.sampled import sample_box
from glug.geometry.surface import extract
from glug.geometry.tracking.shore import DEEP
from glug.geometry.tracking.surface import TrackedSurface
from glug.grids.mesh import Distance
from glug.physics.voronoi.liquid import SURFACE_SITES, Method, VoronoiLiquid
from glug.physics.voronoi.problem import CellsAshore, SurfaceFaces
from glug.solvers.limits import SolveLimits
from glug.studies.validate.surfaces.tracking import ball

EXACT = SolveLimits(1e-12, 1)
CFL = 0.25  # of sqrt(rho dx^3 / gamma): the time step
ON_LATTICE = Placement("lattice")
USUAL = Method()


def scattered_points(n: int, dim: int, half_width: float, seed: int) -> np.ndarray:
    """Points at random, the same for the same seed; nothing keeps them apart."""
    return np.random.default_rng(seed).uniform(-half_width, half_width, (n, dim))


def box_around(top: float, far: float = 3.0) -> Elements:
    """A surface that is flat at y = top and far away elsewhere."""
    x = np.array([[-far, -far], [far, -far], [far, top], [-far, top]])
    return Elements(x, closed(4), 0.2)


def motion_at_rest(points: np.ndarray, open_part: Distance, *, ghosts: bool = True) -> float:
    """The largest velocity that gravity leaves under y = 0.1234 between tilted walls, over g dt; any points do."""
    surface = box_around(0.1234)
    cells = EmbeddedCells.of(surface, Sites(points, np.zeros((0, 2), np.int64)))
    opened = CellsAshore.of(cells.mesh, lambda p: -open_part(p)).opened
    faces = SurfaceFaces.build(cells, opened, np.zeros(len(opened)))
    if not ghosts:
        theta = np.ones_like(faces.problem.theta)
        faces = replace(faces, problem=replace(faces.problem, theta=theta))
    u = faces.both_sides(-cells.mesh.face_normal[:, 1])
    faces.project(u, np.zeros_like(u), EXACT, "direct")
    used = faces.problem.link > 0.0
    return float(np.abs(u[used]).max())


def irregular_points(spacing: float, half_width: float, seed: int) -> np.ndarray:
    """A lattice of triangles in the plane, its points moved by up to a quarter of the spacing."""
    rows = np.arange(-half_width, half_width, spacing * math.sqrt(0.75))
    along = np.arange(-half_width, half_width, spacing)
    x = along[None, :] + 0.5 * spacing * (np.arange(len(rows)) % 2)[:, None]
    points = np.stack([x, np.broadcast_to(rows[:, None], x.shape)], axis=-1).reshape(-1, 2)
    return points + np.random.default_rng(seed).uniform(-0.25, 0.25, points.shape) * spacing


def error_of_free_disc(n: int, points: np.ndarray | None = None) -> float:
    """The largest error of p = x^2 + y^2 - 1 in a disc (Batty 2010, Table 4.1); cells are 3 / n wide.

    Sites are those of the surface, or the given points.
    """
    dx = 3.0 / n
    x, segments = circle((0.0, 0.0), 1.0, math.ceil(2.0 * np.pi / dx))
    surface = Elements(x, segments, dx)
    cells = EmbeddedCells.around(surface, x, Placement())
    if points is not None:
        cells = EmbeddedCells.of(surface, Sites(points, cells.pairs))
    faces = SurfaceFaces.build(cells, np.ones(len(cells.mesh.area)), np.zeros(len(cells.mesh.area)))
    a, b = cells.mesh.face_position.T
    star = np.stack([2.0 * a * b + 2.0 * a, 2.0 * b - b**2], axis=1)
    u = faces.both_sides((star * cells.mesh.face_normal).sum(axis=1))
    q, _ = faces.project(u, np.zeros_like(u), EXACT, "direct")
    wet = faces.problem.cells
    true = (cells.mesh.cell_position[wet] ** 2).sum(axis=1) - 1.0
    return float(np.abs(q[wet] - true).max())


@dataclass(frozen=True)
class Disc:
    """A drop of radius 1 in the plane, `across` cells to a radius; density and tension are 1."""

    across: float
    method: Method = USUAL

    @property
    def dx(self) -> float:
        return 1.0 / self.across

    @property
    def dt(self) -> float:
        return CFL * self.dx**1.5

    def liquid(self, radius: np.ndarray | float, **more) -> VoronoiLiquid:
        """At rest, with this radius at the vertices; `count` of them is `vertices`."""
        count = self.vertices
        x, segments = circle((0.0, 0.0), 1.0, count)
        x = x * np.broadcast_to(np.asarray(radius, float), (count,))[:, None]
        return VoronoiLiquid(TrackedCurve(x, segments, self.dx), tension=1.0, method=self.method, **more)

    @property
    def vertices(self) -> int:
        return int(2.0 * np.pi * self.across)

    def ring(self, n: int, periods: float = 1.1, amplitude: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
        """Times over the period of Rayleigh's mode n, omega^2 = n (n^2 - 1), and the mode's amplitude then."""
        angle = 2.0 * np.pi * np.arange(self.vertices) / self.vertices
        radius = 1.0 + amplitude * np.cos(n * angle)
        liquid = self.liquid(radius / np.sqrt(1.0 + 0.5 * amplitude**2))
        period = 2.0 * np.pi / math.sqrt(n * (n**2 - 1.0))
        steps = math.ceil(periods * period / self.dt)
        values = [mode_of(liquid.surface.vertices, n)]
        for _ in range(steps):
            liquid.step(self.dt)
            values.append(mode_of(liquid.surface.vertices, n))
        return np.arange(steps + 1) * self.dt / period, np.array(values)

    def roughness(self, steps: int, seed: int = 0, noise: float = 0.1) -> tuple[float, float]:
        """The deviation of the curvature of a drop with random radii (`noise` in cells), at first and after steps."""
        rng = np.random.default_rng(seed)
        liquid = self.liquid(1.0 + noise * self.dx * rng.uniform(-1.0, 1.0, self.vertices))
        s = liquid.surface
        first = float(curvature(s.vertices, s.triangles, s.vertices).std())
        for _ in range(steps):
            liquid.step(self.dt)
        return first, float(curvature(s.vertices, s.triangles, s.vertices).std())


@dataclass(frozen=True)
class Ball:
    """A drop of radius 1 in space, `across` cells to a radius; density and tension are 1."""

    across: float
    method: Method = USUAL

    def liquid(self, amplitude: float, n: int) -> VoronoiLiquid:
        """At rest, with r = 1 + amplitude P_n(cos(angle to z)) from a mesh with even triangles."""
        dx = 1.0 / self.across
        surface = TrackedSurface(*ball((0.0, 0.0, 0.0), 1.0, 0.75 * dx), dx)
        for _ in range(10):
            surface.improve()
            surface.settle()
            surface.move(surface.smoothing())
            surface.vertices = surface.vertices / np.linalg.norm(surface.vertices, axis=1)[:, None]
        x = surface.vertices
        bent = x * (1.0 + amplitude * eval_legendre(n, x[:, 2]))[:, None]
        return VoronoiLiquid(TrackedSurface(bent, surface.triangles, dx), tension=1.0, method=self.method)

    def omega2(self, n: int, amplitude: float = 0.01) -> float:
        """omega^2 of mode n from one step, over Rayleigh's n (n - 1) (n + 2)."""
        liquid = self.liquid(amplitude, n)
        x, dt = liquid.surface.vertices, CFL * (1.0 / self.across) ** 1.5
        for _ in (0, 1):  # the first has no velocity to move the surface with
            cells = EmbeddedCells.around(liquid.elements, liquid.normals(), self.method.placement)
            liquid.project(cells, np.zeros(len(cells.mesh.area)), dt)
        assert liquid.velocity is not None
        outward = (liquid.velocity(x) * x).sum(axis=1) / np.linalg.norm(x, axis=1)
        rate = _legendre_part(x, outward, n) / dt
        return -rate / _legendre_part(x, np.linalg.norm(x, axis=1), n) / (n * (n - 1.0) * (n + 2.0))

    def ring(self, n: int, periods: float = 1.1, amplitude: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
        """Times over Rayleigh's period of mode n, and the mode's amplitude then."""
        liquid, dt = self.liquid(amplitude, n), CFL * (1.0 / self.across) ** 1.5
        period = 2.0 * np.pi / math.sqrt(n * (n - 1.0) * (n + 2.0))
        steps = math.ceil(periods * period / dt)
        values = []
        for step in range(steps + 1):
            x = liquid.surface.vertices
            values.append(_legendre_part(x, np.linalg.norm(x, axis=1), n))
            if step < steps:
                liquid.step(dt)
        return np.arange(steps + 1) * dt / period, np.array(values)


def _legendre_part(x: np.ndarray, value: np.ndarray, n: int) -> float:
    """The amplitude of P_n of a value at points around the origin: least squares with the modes up to 6."""
    cosine = x[:, 2] / np.linalg.norm(x, axis=1)
    modes = np.stack([eval_legendre(k, cosine) for k in range(7)], axis=1)
    return float(np.linalg.lstsq(modes, value, rcond=None)[0][n])


def mode_of(x: np.ndarray, n: int) -> float:
    """The amplitude of cos(n angle) in the radii of a curve around the origin."""
    angle, radius = np.arctan2(x[:, 1], x[:, 0]), np.hypot(x[:, 0], x[:, 1])
    order = np.argsort(angle)
    angle, radius = angle[order], radius[order]
    angle, radius = np.append(angle, angle[0] + 2.0 * np.pi), np.append(radius, radius[0])
    value = radius * np.cos(n * angle)
    return float((0.5 * (value[1:] + value[:-1]) * np.diff(angle)).sum() / np.pi)


def period_and_kept(times: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Of a ringing that began at its largest: when it is back there, over its period, and what of it is left."""
    begin = int(np.searchsorted(times, 0.8))
    at = begin + int(np.argmax(values[begin:]))
    near = slice(max(at - 5, 0), at + 6)
    c = np.polyfit(times[near] - times[at], values[near], 2)
    return float(times[at] - 0.5 * c[1] / c[0]), float((c[2] - 0.25 * c[1] ** 2 / c[0]) / values[0])


def swirl(points: np.ndarray) -> np.ndarray:
    """A vortex in the disc of radius 1, still at its rim."""
    turning = 4.0 * np.maximum(1.0 - (points**2).sum(axis=1), 0.0) ** 2
    return turning[:, None] * np.stack([-points[:, 1], points[:, 0]], axis=1)


def carried_swirl(method: Method, steps: int = 20, dt: float = 0.05) -> float:
    """The energy that the vortex keeps where it is carried by itself without pressure, 10 cells to its radius.

    Every velocity goes with its liquid, so all of it should be kept; the liquid in the middle turns by 4 dt a step.
    """
    liquid = Disc(10, method).liquid(1.0, velocity=swirl)
    u, used = liquid.settle_velocity()
    assert liquid.cells is not None
    cells, m = liquid.cells, liquid.cells.mesh
    liquid.swept = np.zeros_like(liquid.surface.vertices)
    weight = np.where(used, m.area * m.distance, 0.0)
    begun = float(weight @ u**2)
    for _ in range(steps):
        u = np.where(used, liquid.brought(cells, dt), 0.0)
        liquid.reconstruct(cells, u, used)
    return float(weight @ u**2) / begun


def random_curve(seed: int) -> TrackedCurve:
    """A closed curve with bays, necks and thin places, edges between 0.5 and 1.5 dx."""
    rng = np.random.default_rng(seed)
    count, dx = 400, 0.08
    angle = 2.0 * np.pi * np.arange(count) / count
    radius = np.ones(count)
    for n in range(1, 9):
        radius += rng.normal(0.0, 0.9 / n) * np.cos(n * angle + rng.uniform(0.0, 2.0 * np.pi))
    radius = 0.08 + np.abs(radius)
    x = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    curve = TrackedCurve(x, closed(count), dx)
    for _ in range(12):
        curve.improve()
        curve.settle()
    return curve


def random_surface(seed: int) -> TrackedSurface:
    """Balls that run into each other at sharp creases."""
    rng = np.random.default_rng(seed)
    centre, radius = rng.uniform(-0.5, 0.5, (6, 3)), rng.uniform(0.12, 0.4, 6)

    def distance(points: np.ndarray) -> np.ndarray:
        return np.min([np.linalg.norm(points - c, axis=1) - r for c, r in zip(centre, radius)], axis=0)

    dx = 0.1
    surface = TrackedSurface(*extract(sample_box(distance, np.full(3, -1.0), np.full(3, 1.0), dx, 1)), dx)
    for _ in range(4):
        surface.improve()
        surface.settle()
        surface.move(surface.smoothing())
    return surface


def missing_pairs(surface: TrackedSurface, how: Placement = SURFACE_SITES) -> tuple[int, int]:
    """How many pairs of sites at a vertex there are, and how many have no face between them."""
    normal = surface.measure(surface.part, len(surface.target))[2]
    cells = EmbeddedCells.around(Elements(surface.vertices, surface.triangles, surface.dx), normal, how)
    there = set(zip(*cells.mesh.beside.tolist()))
    pairs = np.sort(cells.pairs, axis=1).tolist()
    return len(pairs), sum((a, b) not in there for a, b in pairs)


def falling_sheet(thickness: float, how: Placement, *, steps: int = 20, seed: int = 0) -> float:
    """How far the vertices of a sheet, `thickness` cells thick, are after free fall from where they should be [cells].

    The sheet is turned and shifted at random. It falls two cells.
    """
    rng = np.random.default_rng(seed)
    dx, length = 0.1, 12
    along = np.linspace(-0.6, 0.6, length + 1)
    half = 0.5 * thickness * dx
    lower, upper = (np.stack([a, np.full(length + 1, y)], axis=1) for a, y in ((along, -half), (along[::-1], half)))
    x = np.concatenate([lower, upper])
    c, s = math.cos(angle := rng.uniform(0.0, np.pi)), math.sin(angle)
    x = x @ np.array([[c, s], [-s, c]]) + rng.uniform(0.0, 2.0 * dx, 2)
    curve = TrackedCurve(x, closed(len(x)), dx)
    curve.limits = replace(curve.limits, smoothing=0.0, correction=0.0, shortest=0.0)
    liquid = VoronoiLiquid(curve, gravity=(0.0, -1.0), method=Method(how))
    dt = math.sqrt(2.0 * 2.0 * dx) / steps
    for _ in range(steps):
        liquid.step(dt)
    fallen = dt**2 * steps * (steps - 1) / 2.0  # the surface moves with the velocity of the step before
    return float(np.abs(curve.vertices - x - np.array([0.0, -fallen])).max() / dx)


def felt_across(gap: float, how: Placement, seed: int = 0) -> float:
    """The speed of a disc at rest after one projection, over that of one that moves towards it, `gap` cells away."""
    rng = np.random.default_rng(seed)
    dx, radius = 0.1, 0.5
    towards = rng.uniform(0.0, 2.0 * np.pi)
    way = np.array([math.cos(towards), math.sin(towards)])
    place = rng.uniform(0.0, 2.0 * dx, 2)
    count = int(2.0 * np.pi * radius / dx)
    turn = towards + np.pi / count  # edges face each other: the gap is that of the discs
    angle = 2.0 * np.pi * np.arange(count) / count + turn
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    apart = 2.0 * radius * math.cos(np.pi / count) + gap * dx
    x = np.concatenate([place + ring, place + apart * way - ring])
    segments = np.concatenate([closed(count), closed(count) + count])

    def velocity(points: np.ndarray) -> np.ndarray:
        first = (points - place) @ way < 0.5 * apart
        return np.where(first[:, None], way, 0.0)

    liquid = VoronoiLiquid(TrackedCurve(x, segments, dx), velocity=velocity, method=Method(how))
    liquid.settle_velocity()
    assert liquid.velocity is not None
    rest = liquid.velocity(place + apart * way + 0.8 * ring)
    return float(np.linalg.norm(rest, axis=1).max())


def basin(points: np.ndarray) -> np.ndarray:
    """The distance of the walls of a box of width 1 whose floor is y = 0."""
    return np.minimum(0.5 - np.abs(points[:, 0]), points[:, 1])


def pool(depth: float, dx: float, bump: float = 0.0) -> TrackedCurve:
    """Water in the basin, with its surface DEEP in the walls; cos(2 pi x) of height `bump` on top."""
    x, y = 0.5 + DEEP[2] * dx, DEEP[2] * dx
    wide, high = math.ceil(2.0 * x / dx), math.ceil((depth + y) / dx)
    across, up = np.linspace(-x, x, wide + 1), np.linspace(-y, depth, high + 1)
    top = depth + bump * np.cos(2.0 * np.pi * np.clip(across, -0.5, 0.5))
    sides = [
        np.stack([across[:-1], np.full(wide, -y)], axis=1),
        np.stack([np.full(high, x), up[:-1] * top[-1] / depth], axis=1),
        np.stack([across, top], axis=1)[:0:-1],
        np.stack([np.full(high + 1, -x), up * top[0] / depth], axis=1)[:0:-1],
    ]
    corners = np.concatenate(sides)
    return TrackedCurve(corners, closed(len(corners)), dx)


def swinging_pool(dx: float, periods: float = 1.1, bump: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    """The height in the middle of a pool 0.5 deep over its mean, at times over the period of g k tanh(k H)."""
    liquid = VoronoiLiquid(pool(0.5, dx, bump), gravity=(0.0, -1.0), solid=basin)
    k = 2.0 * np.pi
    period = 2.0 * np.pi / math.sqrt(k * math.tanh(0.5 * k))
    dt = 0.5 * dx / math.sqrt(0.5)
    steps = math.ceil(periods * period / dt)
    values = []
    for step in range(steps + 1):
        values.append(_height(liquid.surface.vertices, 0.0) - 0.5)
        if step < steps:
            liquid.step(dt)
    return np.arange(steps + 1) * dt / period, np.array(values)


def _height(x: np.ndarray, at: float) -> float:
    """Of the upper side of a curve."""
    top = x[x[:, 1] > 0.25]
    order = np.argsort(top[:, 0])
    return float(np.interp(at, top[order, 0], top[order, 1]))
