"""`glug validate conservation`: what whole runs keep, and what they do not keep without the stages for it.

- `wave-...`: a standing wave, 64 cells long (`--max` for fewer), for a minute. `frequency` (while a tenth of the
  amplitude is left), `energy` and `motion` (the largest energy of the wave, and kinetic energy of all there is) over
  the formula's; `amplitude_left` in the last period over the first; `mean_height_off` and `void` (the deepest cell that
  a solve took for air) in cells; particles per cell over the nominal number, and what they carry there, shared between
  centres, over what a cell holds. Numbers in names are frames a second or `time.cfl`.
- `ball-...`: a ball in free space after ten turns. `angular` momentum over the first, its `tilt` in degrees, `shape`
  and `centre` in cells. `honey` and `thin`, a hundredth as viscous, turn equally fast.
- `collision-...`: two balls meet off their centres, a second. Momenta over the first, the centre from its line in
  cells.

Rows `uneven`, `no-correction`, `nothing-kept` and `constants-beyond` are controls. A case takes minutes to an hour:
`--case` runs one, and `--max 96` balls and collisions on 96 cells as well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace

from glug.studies.registry import StudyOptions, chosen_cases
from glug.studies.rows import StudyRow
from glug.studies.validate.conserved import free_flight
from glug.studies.validate.conserved.free_flight import Ball, Collision
from glug.studies.validate.conserved.standing_wave import Wave, watch

STUDY = "conservation"
WAVE_CELLS, FLIGHT_GRIDS = 64, (48, 96)  # along a side; without --max the first
WAVE_SECONDS, TURNS, FLIGHT_SECONDS = 60.0, 10.0, 1.0
NOMINAL = {2: 4, 3: 8}  # particles per cell
HONEY, THIN = 10.0, 0.1  # [Pa s]
SPREADING = {HONEY: 1e-5, THIN: 1e-3}  # rho omega R^2 / mu: both turn equally fast

WAVES: Mapping[str, Wave] = {
    **{f"wave-{t}-{f}": Wave(WAVE_CELLS, fps=f, transfer=t) for f in (24, 60, 120, 480) for t in ("flip", "apic")},
    **{f"wave-{t}-cfl-0.2": Wave(WAVE_CELLS, fps=24, cfl=0.2, transfer=t) for t in ("flip", "apic")},
    **{f"wave-{t}-cfl-4.0": Wave(WAVE_CELLS, fps=4, cfl=4.0, transfer=t) for t in ("flip", "apic")},  # so that it binds
    **{
        f"wave-3d-{t}-{f}": Wave(WAVE_CELLS, fps=f, transfer=t, dim=3)
        for f in (24, 60, 120, 480)
        for t in ("flip", "apic")
    },
    **{f"wave-3d-{t}-cfl-0.2": Wave(WAVE_CELLS, fps=24, cfl=0.2, transfer=t, dim=3) for t in ("flip", "apic")},
    **{f"wave-3d-{t}-cfl-4.0": Wave(WAVE_CELLS, fps=4, cfl=4.0, transfer=t, dim=3) for t in ("flip", "apic")},
    "wave-uneven": Wave(WAVE_CELLS, fps=24, transfer="apic", even=False),
    "wave-no-correction": Wave(WAVE_CELLS, fps=24, transfer="apic", volume_correction=0.0),
}
CONTROLS: Mapping[str, free_flight.Change] = {
    "nothing-kept": free_flight.without_keeping,
    "constants-beyond": free_flight.with_constants_beyond,
}
BALLS: Mapping[str, tuple[Ball, free_flight.Change]] = {
    **{
        f"ball-{name}-{t}": (Ball(FLIGHT_GRIDS[0], mu, t, spreading=SPREADING[mu]), free_flight.as_it_is)
        for name, mu in (("honey", HONEY), ("thin", THIN))
        for t in ("apic", "flip")
    },
    **{
        f"ball-{name}": (Ball(FLIGHT_GRIDS[0], HONEY, "apic", spreading=SPREADING[HONEY]), control)
        for name, control in CONTROLS.items()
    },
}
COLLISIONS: Mapping[str, tuple[Collision, free_flight.Change]] = {
    **{f"collision-{t}": (Collision(FLIGHT_GRIDS[0], transfer=t), free_flight.as_it_is) for t in ("apic", "flip")},
    "collision-nothing-kept": (Collision(FLIGHT_GRIDS[0], transfer="apic"), free_flight.without_keeping),
}
USUAL = (  # what runs without --case, in about a quarter of an hour
    *("wave-flip-24", "wave-apic-24", "wave-flip-60", "wave-uneven", "wave-no-correction"),
    *("ball-honey-apic", "ball-thin-apic", "ball-constants-beyond", "collision-apic", "collision-nothing-kept"),
)
EXACT = {"angular": 1.0, "frequency": 1.0, "energy": 1.0, "motion": 1.0}


def study(options: StudyOptions) -> list[StudyRow]:
    """A row for every quantity of the usual cases, of the one that `--case` names, or of all."""
    chosen = chosen_cases(STUDY, options.case, USUAL, (*WAVES, *BALLS, *COLLISIONS))
    return [row for name in chosen for row in case_rows(name, options.largest_grid)]


def case_rows(name: str, largest: int | None) -> list[StudyRow]:
    """The rows of a case, on grids no finer than `largest`: a wave's cells are fewer, a ball is left out on 96."""
    if name in WAVES:
        wave = replace(WAVES[name], cells=min(WAVE_CELLS, largest or WAVE_CELLS))
        return wave_rows(name, wave, WAVE_SECONDS)
    coarse = min(FLIGHT_GRIDS[0], largest or FLIGHT_GRIDS[0])
    grids = [coarse, *(cells for cells in FLIGHT_GRIDS[1:] if cells <= (largest or 0))]
    rows = []
    for cells in grids:
        if name in BALLS:
            ball, change = BALLS[name]
            rows += ball_rows(name, replace(ball, cells=cells), TURNS, change)
        else:
            collision, change = COLLISIONS[name]
            rows += collision_rows(name, replace(collision, cells=cells), FLIGHT_SECONDS, change)
    return rows


def wave_rows(name: str, wave: Wave, seconds: float) -> list[StudyRow]:
    """Frequency and largest energies over the formula's, others in cells, particles per cell over nominal."""
    began = time.perf_counter()
    found, nominal = watch(wave, seconds), NOMINAL[wave.dim]
    values = {
        "frequency": found.frequency(),
        "energy": found.energy(),
        "motion": found.motion(),
        "amplitude_left": found.left(),
        "mean_height_off": found.sunk(),
        "void": float(found.void),
        "fewest_in_a_cell": found.fewest / nominal,
        "most_in_a_cell": found.most / nominal,
        "least_carried": found.thinnest,
        "most_carried": found.fullest,
    }
    return _rows(name, wave.cells, values, began)


def ball_rows(name: str, ball: Ball, turns: float, change: free_flight.Change = free_flight.as_it_is) -> list[StudyRow]:
    """Angular momentum over the first, its tilt in degrees, changes of shape and place in cells."""
    began = time.perf_counter()
    return _rows(name, ball.cells, asdict(ball.turned(turns, change)), began)


def collision_rows(
    name: str, collision: Collision, seconds: float, change: free_flight.Change = free_flight.as_it_is
) -> list[StudyRow]:
    """Changes of momentum and angular momentum over the first, of the centre from its line in cells; energy left."""
    began = time.perf_counter()
    found = asdict(collision.collided(seconds, change))
    values = {f"{key}_off" if key != "energy" else "energy_left": value for key, value in found.items()}
    return _rows(name, collision.cells, values, began)


def _rows(table: str, cells: int, values: dict[str, float], began: float) -> list[StudyRow]:
    seconds = time.perf_counter() - began
    return [
        StudyRow(STUDY, table, cells, q, "value", value, EXACT.get(q), value if q in EXACT else None, seconds=seconds)
        for q, value in values.items()
    ]
