"""`glug validate surface-tension`: drops, waves and threads beside their formulas, and what they do without tension."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tension import cube
from glug.studies.validate.tension.drops import Drop
from glug.studies.validate.tension.oscillation import Method, as_it_is, with_constant_curvature
from glug.studies.validate.tension.waves import BULGE, CapillaryWave, Thread

STUDY = "surface-tension"
RADII = (5, 10, 20)  # cells a radius, 2D; --max takes fewer
RADIUS_3D, STEPS_AT_REST, THREAD_RADIUS, WAVE_CELLS = 10, 500, 6, 40
MODES, NUMBERS = (2, 3, 4), (0.5, 0.7, 0.9)
EXACT = {"period", "jump", "growth", "growth of a neck"}
METHODS = {
    "explicit, 1/4": Method(),
    "explicit, 10/4": Method(step=2.5),
    "implicit, 1/4": Method("implicit"),
    "implicit, 10/4": Method("implicit", 2.5),
    "flip": Method(transfer="flip"),
}
CUBES, CUBE_FRAMES = {"regular": 48, "voronoi": 32}, 50  # cells of the scene `cube-drop`; a cube has half as many
Measured = dict[str, float]


def study(options: StudyOptions) -> list[StudyRow]:
    """A row for every quantity of every drop, wave and thread."""
    largest = options.largest_grid or max(RADII)
    rows: list[StudyRow] = []
    for table, cells, measure in _cases():
        if cells <= largest:
            began = time.perf_counter()
            found = measure()
            seconds = time.perf_counter() - began
            rows += [_row(table, cells, quantity, value, seconds) for quantity, value in found.items()]
    return rows


def _cases() -> Iterator[tuple[str, int, Callable[[], Measured]]]:
    for radius in RADII:
        for n in MODES:
            yield f"disc, mode {n}", radius, partial(rung, Drop(radius), n)
    for radius in (6, RADIUS_3D):
        for n in MODES:
            yield f"ball, mode {n}", radius, partial(rung, Drop(radius, 3, Method(step=0.35)), n)
    yield "disc at rest", 10, partial(rested, Drop(10))
    yield "ball at rest", RADIUS_3D, partial(rested, Drop(RADIUS_3D, 3))
    yield "wave", 10, partial(swung, CapillaryWave(WAVE_CELLS))
    for number in NUMBERS:
        thread = Thread(THREAD_RADIUS, number, Method(step=0.5))
        yield f"thread, kR = {number}", THREAD_RADIUS, partial(grown, thread)
    for mesh, cells in CUBES.items():
        yield f"cube, {mesh}", cells // 4, partial(cube_rung, cells, mesh)
    for name, method in METHODS.items():
        yield f"disc, mode 2: {name}", 10, partial(rung, Drop(10, 2, method), 2)
        yield f"disc at rest: {name}", 10, partial(rested, Drop(10, 2, method))
    yield "disc, mode 2: constant curvature", 10, partial(rung, Drop(10), 2, with_constant_curvature)


def rung(drop: Drop, n: int, change: Callable = as_it_is) -> Measured:
    """Period over theory, amplitude kept in a period, drift of the centre over sqrt(gamma / (rho R))."""
    found = drop.ring(n, change=change)
    period, kept = found.oscillation(drop.omega(n))
    return {"period": period, "kept": kept, "drift": found.momentum / drop.speed}


def rested(drop: Drop) -> Measured:
    """Pressure over Laplace's, and the fastest particle over sqrt(gamma / (rho R))."""
    found = drop.at_rest(STEPS_AT_REST)
    return {"jump": found.jump, "speed": found.speed}


def swung(wave: CapillaryWave) -> Measured:
    """Period over theory, amplitude kept in a period."""
    period, kept = wave.swing().oscillation(wave.omega)
    return {"period": period, "kept": kept}


def grown(thread: Thread) -> Measured:
    """Rate of growth over theory, of a thread that begins with a bulge and of one that begins with a neck."""
    return {"growth": thread.grow(), "growth of a neck": thread.grow(amplitude=-BULGE)}


def cube_rung(cells: int, mesh: str) -> Measured:
    """Oscillations in 100 ms (mode 4 has 3.3), worst volume, and what the last excursion has of the first."""
    found = cube.ring(cells, mesh, CUBE_FRAMES)
    return {"oscillations": found.oscillations, "volume": found.volume, "kept": found.kept}


def _row(table: str, cells: int, quantity: str, value: float, seconds: float) -> StudyRow:
    exact = quantity in EXACT
    theory, ratio = (1.0, value) if exact else (None, None)
    return StudyRow(STUDY, table, cells, quantity, "value", value, theory, ratio, seconds=seconds)
