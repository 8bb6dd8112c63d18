"""`glug validate tetrahedra`: pressure on triangles and tetrahedra that conform to nothing (Batty 2010, chapter 5).

- `rest`: the largest velocity that gravity leaves, over g dt, in a tilted closed box (`box`) and over a tilted floor
  below a cut surface (`floor`). The baselines are the controls: pressures at barycentres, a surface at the faces
  (mirrored ghosts), and none of its distances.
- `p`, `u`: errors of a free disc or ball of liquid and of one between walls (Batty 2010, Tables 4.1 and 4.2, and the
  same in space), with their orders; `slip` is the error of the vectors of cells beside closed faces, over the speed of
  the wall that slips past. The rows `whole cells` and `closed faces kept` are controls.
- `omega2`: the squared frequency of a standing wave a tenth of a cell high over g k tanh(k H), from the acceleration of
  one step, the worst over five places of the lattice against the surface, and `rest_of_mode` what else accelerates,
  over the mode's. Without ghost distances the surface is where the pressures are: the frequency depends on the place.

Meshes are uniform lattices, lattices graded to the surface (levels 1 to 3), lattices whose cells grow across it by 2
and by 4, and irregular points. `grid` is cells of 3 m over their finest width.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glug.grids.mesh import Distance, face_velocities
from glug.grids.tetrahedra.lattice import Box, Grading
from glug.grids.tetrahedra.mesh import Tetrahedra, cell_fit
from glug.physics.covolume.projection import CovolumeProblem, EmbeddedGeometry, Incidence, SolverName
from glug.physics.reference.covolume import Surface, Walls, embedded_pressure, open_areas
from glug.solvers.limits import SolveLimits
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow

STUDY = "tetrahedra"
SHIFT = 0.2  # of the spacing: how far points of irregular meshes are moved
BAND = 0.25  # [m] around a surface in which cells are finest
ROOM = 1.4  # [m] half a side of the box that meshes cover
REST, ORDERS = {2: 24, 3: 12}, {2: (16, 32, 64, 128), 3: (8, 12, 16, 24, 32, 48)}
GRADED, WHOLE = (64, 128, 256, 512), {2: 128, 3: 24}
SOLVED = 1e-9  # tolerance of pressures
FIXED = 0.2  # singular values of a cell's normals: below, its vector is not known from its own faces
WAVE = {2: (20, 40), 3: (20,)}  # cells per metre
DEPTH = 0.5  # [m] of the wave
PLACES = (0.0, 0.2, 0.4, 0.6, 0.8)  # of the lattice against the surface, in cells


def tilted_box(points: np.ndarray) -> np.ndarray:
    """Negative inside a box that is turned against the axes."""
    dim = points.shape[1]
    turned = points @ _turn(dim)
    return (np.abs(turned) - np.array([0.9, 0.7, 0.8])[:dim]).max(axis=1)


def _turn(dim: int) -> np.ndarray:
    """A rotation with no special directions."""
    c, s = math.cos(0.4), math.sin(0.4)
    plane = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    other = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])
    return plane[:2, :2] if dim == 2 else plane @ other


def above_floor(points: np.ndarray) -> np.ndarray:
    """Negative above a tilted floor between two tilted walls."""
    turned = points @ _turn(points.shape[1])
    return np.maximum(-turned[:, 1] - 0.55, np.abs(np.delete(turned, 1, axis=1)).max(axis=1) - 0.83)


def downwards(dim: int) -> np.ndarray:
    """Where gravity points to: along no row of a lattice, or a surface at the faces of a row would be level."""
    down = np.array([0.23, -1.0, 0.17])[:dim]
    return down / np.linalg.norm(down)


def below_level(points: np.ndarray) -> np.ndarray:
    return -points @ downwards(points.shape[1]) - 0.1234


def ball(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points, axis=1) - 1.0


def plane_across(points: np.ndarray) -> np.ndarray:
    """A plane through the middle: cells grow away from it, across everything else."""
    return points[:, 0] - 0.05


# How meshes are made: of spacing, dimension and the surfaces at hand.
MeshOf = Callable[[float, int, Sequence[Distance]], Tetrahedra]


def covering(spacing: float, dim: int, surfaces: Sequence[Distance], levels: int) -> Tetrahedra:
    """A lattice over the room, off its middle by some of a cell."""
    off = spacing * np.array([0.13, 0.29, 0.41])[:dim]
    box = Box.covering(off - ROOM, off + ROOM, spacing, levels)
    return Tetrahedra.over(box, box.leaves(surfaces, Grading(levels, BAND / spacing)))


def uniform(spacing: float, dim: int, surfaces: Sequence[Distance]) -> Tetrahedra:
    return covering(spacing, dim, (), 1)


def graded(spacing: float, dim: int, surfaces: Sequence[Distance]) -> Tetrahedra:
    return covering(spacing, dim, surfaces, 3)


def across_by_2(spacing: float, dim: int, surfaces: Sequence[Distance]) -> Tetrahedra:
    return covering(0.5 * spacing, dim, [plane_across], 2)


def across_by_4(spacing: float, dim: int, surfaces: Sequence[Distance]) -> Tetrahedra:
    return covering(0.25 * spacing, dim, [plane_across], 3)


def irregular(spacing: float, dim: int, surfaces: Sequence[Distance]) -> Tetrahedra:
    return uniform(spacing, dim, ()).irregular(SHIFT * spacing)


MESHES: dict[str, MeshOf] = {
    "uniform": uniform,
    "graded": graded,
    "irregular": irregular,
    "across by 2": across_by_2,
    "across by 4": across_by_4,
}


# -- rest ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scheme:
    """The default, or a baseline."""

    barycentric: bool = False
    surface: Surface = "embedded"
    walls: Walls = "embedded"

    def of(self, mesh: Tetrahedra) -> Tetrahedra:
        return mesh.barycentric() if self.barycentric else mesh


EMBEDDED = Scheme()
BASELINES = {
    "barycentres": Scheme(barycentric=True),
    "mirrored ghosts": Scheme(surface="standard"),
    "no ghost distances": Scheme(surface="none"),
}


def motion_at_rest(mesh: Tetrahedra, liquid: Distance | None, open_part: Distance, scheme: Scheme = EMBEDDED) -> float:
    """The largest velocity that is left of gravity on open faces of the liquid, over g dt."""
    problem = embedded_pressure(mesh, liquid, open_part, surface=scheme.surface, walls=scheme.walls)
    u = problem.solve(mesh.face_normal @ downwards(mesh.dim)).u
    return float(np.abs(u[problem.moves]).max())


def rest_rows(dim: int, n: int) -> Iterable[StudyRow]:
    shapes: dict[str, tuple[Distance | None, Distance]] = {
        "box": (None, tilted_box),
        "floor": (below_level, above_floor),
    }
    for name in ("uniform", "across by 2", "irregular"):
        for shape, (liquid, open_part) in shapes.items():
            mesh = MESHES[name](3.0 / n, dim, [open_part] if liquid is None else [liquid, open_part])
            yield StudyRow(STUDY, f"{dim}D {shape}, {name}", n, "rest", "Linf", motion_at_rest(mesh, liquid, open_part))
            for baseline, scheme in BASELINES.items():
                if name == "uniform" or (liquid is None and not scheme.barycentric):
                    continue  # level rows of equal cells rest with any scheme
                off = motion_at_rest(scheme.of(mesh), liquid, open_part, scheme)
                yield StudyRow(STUDY, f"{dim}D {shape}, {name}, {baseline}", n, "rest", "Linf", off)


# -- orders ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flow:
    """A manufactured flow in the unit disc or ball: u* = u + grad p."""

    name: str
    walls: bool

    def p(self, x: np.ndarray) -> np.ndarray:
        return x[:, 0] * x[:, 1] ** 3 if self.walls else (x**2).sum(axis=1) - 1.0

    def gradient(self, x: np.ndarray) -> np.ndarray:
        if not self.walls:
            return 2.0 * x
        out = np.zeros_like(x)
        out[:, 0], out[:, 1] = x[:, 1] ** 3, 3.0 * x[:, 0] * x[:, 1] ** 2
        return out

    def u(self, x: np.ndarray) -> np.ndarray:
        out = np.zeros_like(x)
        if self.walls:
            out[:, 0], out[:, 1] = x[:, 1], -x[:, 0]
        else:
            out[:, 0], out[:, 1] = 2.0 * x[:, 0] * x[:, 1], -(x[:, 1] ** 2)
        return out


FLOWS = (Flow("free surface", False), Flow("walls", True))


@dataclass(frozen=True)
class Errors:
    """Of pressures and velocities inside the disc or ball; L1 is the sum over control volumes."""

    p: tuple[float, float]
    u: tuple[float, float]
    slip: float = 0.0
    slip_kept: float = 0.0


def errors_of(flow: Flow, mesh: Tetrahedra, whole: bool = False) -> Errors:
    """`whole` cells are liquid, air or solid."""
    star = face_velocities(mesh, lambda x: flow.u(x) + flow.gradient(x))
    found, p, opened, wet, moves = (_whole_cells if whole else _embedded)(flow, mesh, star)
    cells = wet & (ball(mesh.cell_position) < 0)
    p = (p - flow.p(mesh.cell_position))[cells]
    if flow.walls:
        p -= p @ mesh.cell_volume[cells] / mesh.cell_volume[cells].sum()
    faces = moves & (ball(mesh.face_position) < 0)
    u = (found - face_velocities(mesh, flow.u))[faces]
    errors = Errors(_norms(p, mesh.cell_volume[cells]), _norms(u, mesh.face_volume[faces]))
    if not flow.walls or whole:
        return errors
    dropped, kept = (_slip(mesh, np.where(opened > 0, found, 0.0), opened, used) for used in (opened > 0, opened >= 0))
    return replace(errors, slip=dropped, slip_kept=kept)


Solution = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # u, p, open parts, wet cells, faces


def _embedded(flow: Flow, mesh: Tetrahedra, star: np.ndarray) -> Solution:
    """By the solver of scenes, which equals the assembled one (`tests/physics/test_covolume.py`)."""
    dry = np.full(len(mesh.simplices.points), 1.0)
    liquid = np.full(len(mesh.cell_volume), -1.0) if flow.walls else ball(mesh.cell_position)
    geometry = EmbeddedGeometry(liquid, -ball(mesh.simplices.points) if flow.walls else dry)
    opened, u = geometry.open_parts(mesh), star.copy()
    given = Incidence.of(mesh), geometry.surface(mesh), opened, np.zeros(len(u)), geometry.ghosts(mesh)
    problem = CovolumeProblem.build(mesh, *given)
    solver: SolverName = "direct" if mesh.dim == 2 else "multigrid"
    q, stats = problem.project(u, SolveLimits(SOLVED, 1000), solver)
    assert stats.converged
    return u, q, opened, problem.number >= 0, problem.link > 0.0


def _whole_cells(flow: Flow, mesh: Tetrahedra, star: np.ndarray) -> Solution:
    """The control, assembled."""
    inside, outside = (ball, None) if flow.walls else (None, ball)
    problem = embedded_pressure(mesh, outside, inside, surface="none", walls="whole")
    solution = problem.solve(star)
    return solution.u, solution["p"], open_areas(mesh, inside, "whole"), problem.valid, problem.moves


def _norms(error: np.ndarray, volume: np.ndarray) -> tuple[float, float]:
    return float(np.abs(error).max()), float(np.abs(error) @ volume)


def _slip(mesh: Tetrahedra, u: np.ndarray, area: np.ndarray, used: np.ndarray) -> float:
    """The largest error of the vectors of cells inside that have a closed face and enough open ones."""
    vectors = (cell_fit(mesh, used) @ u).reshape(mesh.dim, -1).T
    counts = np.bincount(mesh.beside.ravel(), np.tile(area > 0, 2), len(mesh.cell_volume))
    closed = np.bincount(mesh.beside.ravel(), np.tile(area == 0, 2), len(mesh.cell_volume))
    beside = (closed > 0) & (counts >= mesh.dim) & (ball(mesh.cell_position) < 0) & (_least(mesh, area > 0) > FIXED)
    off = vectors[beside] - FLOWS[1].u(mesh.cell_position[beside])
    return float(np.linalg.norm(off, axis=1).max(initial=0.0))


def _least(mesh: Tetrahedra, used: np.ndarray) -> np.ndarray:
    """The smallest over the largest singular value of every cell's normals: how well its faces fix a vector."""
    cell, normal = mesh.beside[:, used].ravel(), np.tile(mesh.face_normal[used], (2, 1))
    dim, n = mesh.dim, len(mesh.cell_volume)
    squares = [np.bincount(cell, normal[:, a] * normal[:, b], n) for a in range(dim) for b in range(dim)]
    values = np.linalg.eigvalsh(np.stack(squares, axis=1).reshape(n, dim, dim))
    return np.sqrt(np.maximum(values[:, 0], 0.0) / np.maximum(values[:, -1], 1e-300))


def order_rows(dim: int, flow: Flow, name: str, numbers: Sequence[int], whole: bool = False) -> list[StudyRow]:
    """Errors on finer and finer meshes; `order_ours` is the mean since the coarsest."""
    rows: list[StudyRow] = []
    first: Errors | None = None
    title = f"{dim}D {flow.name}, {name}{', whole cells' if whole else ''}"
    for n in numbers:
        began = time.perf_counter()
        found = errors_of(flow, MESHES[name](3.0 / n, dim, [ball]), whole)
        first, seconds = first or found, time.perf_counter() - began
        for quantity in ("p", "u"):
            for norm, now, then in zip(("Linf", "L1"), getattr(found, quantity), getattr(first, quantity)):
                order = math.log(then / now) / math.log(n / numbers[0]) if n > numbers[0] else None
                rows.append(StudyRow(STUDY, title, n, quantity, norm, now, order_ours=order, seconds=seconds))
        if flow.walls and not whole:
            rows.append(StudyRow(STUDY, title, n, "slip", "Linf", found.slip))
            rows.append(StudyRow(STUDY, f"{title}, closed faces kept", n, "slip", "Linf", found.slip_kept))
    return rows


# -- a standing wave -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wave:
    """A wave of `k` [1/m] in a box 1 m wide, a tenth of a cell high."""

    k: float
    spacing: float
    dim: int
    place: float = 0.0  # of the lattice below the surface, in cells

    def liquid(self, points: np.ndarray) -> np.ndarray:
        return points[:, 1] - 0.1 * self.spacing * np.cos(self.k * points[:, 0])

    def tank(self, points: np.ndarray) -> np.ndarray:
        sides = [-points[:, 0], points[:, 0] - 1.0, -points[:, 1] - DEPTH]
        if self.dim == 3:
            sides += [-points[:, 2], points[:, 2] - 0.2]
        return np.max(sides, axis=0)

    def mode(self, points: np.ndarray) -> np.ndarray:
        """The gradient of cosh(k (y + H)) cos(k x)."""
        x, up = self.k * points[:, 0], self.k * (points[:, 1] + DEPTH)
        out = np.zeros_like(points)
        out[:, 0], out[:, 1] = -self.k * np.cosh(up) * np.sin(x), self.k * np.sinh(up) * np.cos(x)
        return out

    def mesh(self, name: str) -> Tetrahedra:
        """Over the tank and three cells around it."""
        dim, h, levels = self.dim, self.spacing, 3 if name == "graded" else 1
        pad, off = 3.0 * h, h * np.array([0.13, 0.29 + self.place, 0.41])[: self.dim]
        lower, upper = np.array([0.0, -DEPTH, 0.0])[:dim] - pad + off, np.array([1.0, 0.2, 0.2])[:dim] + pad + off
        box = Box.covering(lower, upper, h, levels)
        mesh = Tetrahedra.over(box, box.leaves([lambda x: x[:, 1]], Grading(levels, 3.0)))
        return mesh.irregular(SHIFT * h) if name == "irregular" else mesh

    def frequency(self, mesh: Tetrahedra, surface: Surface = "embedded") -> tuple[float, float]:
        """omega^2 over g k tanh(k H), from the amplitude of the mode in the acceleration of a step with g = 1.

        And the rest of that acceleration over the mode's, as root mean squares.
        """
        problem = embedded_pressure(mesh, self.liquid, self.tank, surface=surface)
        g = np.zeros(self.dim)
        g[1] = -1.0
        a = problem.solve(mesh.face_normal @ g).u
        inside = problem.moves & (self.liquid(mesh.face_position) < 0) & (self.tank(mesh.face_position) < 0)
        mode, weight = face_velocities(mesh, self.mode), mesh.face_volume * problem.fluid_face
        amplitude = (weight * a * mode)[inside].sum() / (weight * mode**2)[inside].sum()
        rest = math.sqrt((weight * (a - amplitude * mode) ** 2)[inside].sum() / (weight * mode**2)[inside].sum())
        scale = 0.1 * self.spacing * self.k * math.tanh(self.k * DEPTH) / (self.k * math.sinh(self.k * DEPTH))
        return -amplitude / scale, rest / scale


def wave_rows(dim: int, numbers: Sequence[int]) -> Iterable[StudyRow]:
    """The frequency that is worst over some places of the lattice, and the least of what else moves there."""
    for n in numbers:
        for waves in (1, 2):
            for name in ("uniform", "graded", "irregular"):
                for surface, control in (("embedded", ""), ("none", ", no ghost distances")):
                    title = f"{dim}D wave, k = {waves} pi, {name}{control}"
                    found = []
                    for place in PLACES:
                        wave = Wave(waves * math.pi, 1.0 / n, dim, place)
                        found.append(wave.frequency(wave.mesh(name), surface))  # type: ignore[arg-type]
                    worst = max(found, key=lambda f: abs(f[0] - 1.0))
                    yield StudyRow(STUDY, title, n, "omega2", "value", worst[0])
                    yield StudyRow(STUDY, title, n, "rest_of_mode", "least", min(f[1] for f in found))
                    yield StudyRow(STUDY, title, n, "rest_of_mode", "Linf", max(f[1] for f in found))


def study(options: StudyOptions) -> list[StudyRow]:
    """Rest, orders and waves in the plane and in space; `--max` leaves out finer meshes."""
    rows: list[StudyRow] = []
    for dim in (2, 3):
        most = options.largest_grid or 1 << 30
        rows += rest_rows(dim, min(REST[dim], most))
        for flow in FLOWS:
            for name in ("uniform", "irregular", "graded", "across by 2", "across by 4"):
                rows += order_rows(dim, flow, name, spacings(dim, name, most))
            rows += order_rows(dim, flow, "uniform", [n for n in ORDERS[dim] if n <= min(most, WHOLE[dim])], whole=True)
        rows += wave_rows(dim, [n for n in WAVE[dim] if n <= most])
    return rows


def spacings(dim: int, name: str, most: int) -> Sequence[int]:
    """Meshes whose finest cells are not too many: where cells grow across the surface, n counts the largest ones.

    Points of irregular meshes in space are triangulated by Qhull, in seconds per 100,000. Cells of graded meshes have
    grown to their largest only where many finest ones fit into the band.
    """
    if dim == 2 and name == "graded":
        return [n for n in GRADED if n <= most]
    largest = {"across by 2": 32, "across by 4": 24, "irregular": 32}.get(name, most) if dim == 3 else most
    return [n for n in ORDERS[dim] if n <= min(most, largest)]
