"""`glug validate voronoi`: liquids on Voronoi cells around their tracked surface (Brochu, Batty and Bridson 2010).

- `rest`: the largest velocity that gravity leaves below a cut surface between tilted walls, over g dt, with random
  points; the control has no ghost distances.
- `p`: the largest error of the pressure in a free disc (Batty 2010, Table 4.1); sites of the surface, of an
  irregular lattice, and at random places, whose largest cells shrink more slowly than their number says.
- `period`, `kept`: of the modes 2 and 3 of a drop with tension beside Rayleigh's, and what of the amplitude is left
  after a period; interpolation `barycentric` is the baseline.
- `carried`: the energy that a vortex keeps in 20 steps in which it is carried by itself, without pressure; the
  control is one semi-Lagrangian step, whose loss is not made up for.
- `impact`: the energy that a ball which falls into a pool has left after 25 ms, at 400 and 1600 frames a second, a
  step each at most; the regular grid stands beside it.
- `roughness`: the deviation of the curvature after 120 steps over that at the beginning of a drop with noise; sites on
  a lattice stand beside it. (The source has noise grow there; here it decays with both, as a step also takes away a
  share of the roughness between vertices, and without that it grows with sites at the surface.)
- `pairs`, `missing`: pairs of sites at vertices of 100 random curves, and those without a face between them.
- `sheet`: by how many cells a sheet of 0.05 cells is off after it fell by two; on a lattice it stays where it is.
- `felt`: what a disc feels of one that comes, a tenth of a cell away; the control is a lattice as fine as the surface.
- `period`, `kept` of the table `basin`: a standing wave between walls, 20 cells long.
- `omega2`: the squared frequency of modes 2 to 4 of a ball, from one step, over Rayleigh's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from glug.geometry.embedded.sites import Placement
from glug.physics.voronoi.liquid import Method
from glug.studies.problems import impact as problems_of_impact
from glug.studies.problems import voronoi as problems
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.unstructured.tetrahedra import above_floor

STUDY = "voronoi"
ORDERS = (16, 32, 64, 128)
FINE_LATTICE = Placement("lattice", lattice=1.0)
METHODS = {
    "surface": Method(),
    "lattice 2": Method(Placement("lattice")),
    "lattice 1": Method(FINE_LATTICE),
    "semi-Lagrangian": Method(compensated=False),
    "barycentric": Method(interpolation="barycentric", compensated=False),
    "generalised": Method(interpolation="generalised", compensated=False),
}


def study(options: StudyOptions) -> list[StudyRow]:
    """All of it: in 2D but for the ball."""
    rows: list[StudyRow] = []
    for part in (rest, orders, ringing, carried, roughness, topology, walls, space, impact):
        begin = time.perf_counter()
        found = list(part(options))
        seconds = time.perf_counter() - begin
        rows += [StudyRow(**{**row.__dict__, "seconds": seconds}) for row in found]
    return rows


def _row(
    table: str, grid: int, quantity: str, ours: float, order: float | None = None, norm: str = "value"
) -> StudyRow:
    return StudyRow(STUDY, table, grid, quantity, norm, ours, order_ours=order)


def rest(options: StudyOptions) -> Iterator[StudyRow]:
    for n in (400, 2000):
        points = problems.scattered_points(n, 2, 1.4, n)
        yield _row("random points", n, "rest", problems.motion_at_rest(points, above_floor))
        yield _row("no ghost distances", n, "rest", problems.motion_at_rest(points, above_floor, ghosts=False))


def orders(options: StudyOptions) -> Iterator[StudyRow]:
    sites = {
        "surface": lambda n: None,
        "irregular": lambda n: problems.irregular_points(3.0 / n, 1.5, n),
        "random points": lambda n: problems.scattered_points(n * n, 2, 1.5, n),
    }
    for name, points in sites.items():
        last = None
        for n in ORDERS:
            error = problems.error_of_free_disc(n, points(n))
            yield _row(name, n, "p", error, None if last is None else math.log2(last / error), "Linf")
            last = error


def ringing(options: StudyOptions) -> Iterator[StudyRow]:
    for name, n, across in (("surface", 2, 10), ("barycentric", 2, 10), ("generalised", 2, 10), ("surface", 3, 20 / 3)):
        period, kept = problems.period_and_kept(*problems.Disc(across, METHODS[name]).ring(n))
        yield _row(f"{name}, mode {n}", round(across), "period", period)
        yield _row(f"{name}, mode {n}", round(across), "kept", kept)


def carried(options: StudyOptions) -> Iterator[StudyRow]:
    for name in ("surface", "semi-Lagrangian"):
        yield _row(name, 10, "carried", problems.carried_swirl(METHODS[name]))


def impact(options: StudyOptions) -> Iterator[StudyRow]:
    for fps in (400, 1600):
        yield _row(f"{fps} frames a second", 20, "impact", problems_of_impact.kept("voronoi", fps))
    yield _row("regular grid, 400 frames a second", 20, "impact", problems_of_impact.kept("regular", 400))


def roughness(options: StudyOptions) -> Iterator[StudyRow]:
    for name in ("surface", "lattice 2", "lattice 1"):
        first, last = problems.Disc(10, METHODS[name]).roughness(120)
        yield _row(name, 10, "roughness", last / first)


def topology(options: StudyOptions) -> Iterator[StudyRow]:
    counts = np.array([problems.missing_pairs(problems.random_curve(seed)) for seed in range(100)])
    yield _row("100 random curves", 100, "pairs", float(counts[:, 0].sum()))
    yield _row("100 random curves", 100, "missing", float(counts[:, 1].sum()))
    for name, how in (("surface", Placement()), ("lattice 2", Placement("lattice"))):
        worst = max(problems.falling_sheet(0.05, how, seed=seed) for seed in range(6))
        yield _row(name, 6, "sheet", worst, norm="Linf")
    for name, how in (("surface", Placement()), ("lattice 1", FINE_LATTICE)):
        worst = max(problems.felt_across(0.1, how, seed) for seed in range(10))
        yield _row(name, 10, "felt", worst, norm="Linf")


def walls(options: StudyOptions) -> Iterator[StudyRow]:
    period, kept = problems.period_and_kept(*problems.swinging_pool(0.05))
    yield _row("basin", 20, "period", period)
    yield _row("basin", 20, "kept", kept)


def space(options: StudyOptions) -> Iterator[StudyRow]:
    for n in (2, 3, 4):
        yield _row(f"ball, mode {n}", 10, "omega2", problems.Ball(10).omega2(n))
