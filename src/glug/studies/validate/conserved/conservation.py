"""`glug validate conservation`: what whole runs keep, and what they do not keep without the stages for it."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.conserved import free_flight
from glug.studies.validate.conserved.free_flight import Ball, Collision
from glug.studies.validate.conserved.standing_wave import Wave, watch

STUDY = "conservation"
WAVE_CELLS, FLIGHT_CELLS = 64, 48  # along a side; --max takes less
TURNS, FLIGHT_SECONDS = 2.0, 1.0
NOMINAL = {2: 4, 3: 8}  # particles per cell
HONEY, THIN = 10.0, 0.1  # [Pa s]
HONEY_SPREADS, THIN_SPREADS = 1e-5, 1e-3  # rho omega R^2 / mu: both turn equally fast

WAVES = {  # and for how long [s]
    "flip, 24 steps a second": (Wave(WAVE_CELLS, fps=24.0), 45.0),
    "apic, 24 steps a second": (Wave(WAVE_CELLS, fps=24.0, transfer="apic"), 45.0),
    "flip, 120 steps a second": (Wave(WAVE_CELLS), 10.0),
    "apic, 120 steps a second": (Wave(WAVE_CELLS, transfer="apic"), 10.0),
    "apic, 24, crowds left as they are": (Wave(WAVE_CELLS, fps=24.0, transfer="apic", even=False), 45.0),
    "apic, 24, no volume correction": (Wave(WAVE_CELLS, fps=24.0, transfer="apic", volume_correction=0.0), 45.0),
}
CONTROLS = {
    "as it is": free_flight.as_it_is,
    "nothing kept": free_flight.without_keeping,
    "constants beyond the surface": free_flight.with_constants_beyond,
}
EXACT = {"angular": 1.0, "frequency": 1.0, "energy": 1.0, "motion": 1.0}


def study(options: StudyOptions) -> list[StudyRow]:
    """A row for every quantity of every wave, ball and collision."""
    largest = options.largest_grid or max(WAVE_CELLS, FLIGHT_CELLS)
    rows = []
    for name, (wave, seconds) in WAVES.items():
        rows += wave_rows(name, replace(wave, cells=min(WAVE_CELLS, largest)), seconds)
    cells = min(FLIGHT_CELLS, largest)
    for name, change in CONTROLS.items():
        rows += ball_rows(name, Ball(cells, HONEY, spreading=HONEY_SPREADS), TURNS, change)
    rows += ball_rows("thin", Ball(cells, THIN, spreading=THIN_SPREADS), TURNS)
    for name in ("as it is", "nothing kept"):
        rows += collision_rows(name, Collision(cells), FLIGHT_SECONDS, CONTROLS[name])
    return rows


def wave_rows(name: str, wave: Wave, seconds: float) -> list[StudyRow]:
    """Frequency and largest energies over the formula's, others in cells, particles per cell over nominal."""
    began = time.perf_counter()
    found, nominal = watch(wave, seconds), NOMINAL[wave.dim]
    values = {
        "frequency": found.frequency(),
        "energy": found.energy(),
        "motion": found.motion(),
        "mean_height_off": found.sunk(),
        "void": float(found.void),
        "fewest_in_a_cell": found.fewest / nominal,
        "most_in_a_cell": found.most / nominal,
    }
    return _rows(f"wave: {name}", wave.cells, values, began)


def ball_rows(name: str, ball: Ball, turns: float, change: free_flight.Change = free_flight.as_it_is) -> list[StudyRow]:
    """Angular momentum over the first, its tilt in degrees, changes of shape and place in cells."""
    began = time.perf_counter()
    return _rows(f"ball: {name}", ball.cells, asdict(ball.turned(turns, change)), began)


def collision_rows(
    name: str, collision: Collision, seconds: float, change: free_flight.Change = free_flight.as_it_is
) -> list[StudyRow]:
    """Changes of momentum and angular momentum over the first, of the centre from its line in cells; energy left."""
    began = time.perf_counter()
    found = asdict(collision.collided(seconds, change))
    values = {f"{key}_off" if key != "energy" else "energy_left": value for key, value in found.items()}
    return _rows(f"collision: {name}", collision.cells, values, began)


def _rows(table: str, cells: int, values: dict[str, float], began: float) -> list[StudyRow]:
    seconds = time.perf_counter() - began
    return [
        StudyRow(STUDY, table, cells, q, "value", value, EXACT.get(q), value if q in EXACT else None, seconds=seconds)
        for q, value in values.items()
    ]
