"""Runs a tank that is never at rest (soak.toml) for hours of wall time, and writes what grew.

    python tests/fuzz/soak.py --minutes 120 -o FOLDER

The run is that of `glug run`: frames, pictures, checkpoints. FOLDER gets `curve.csv`, a row per minute, as the run goes
on, and `report.json`, what it says so far. Frames older than the newest are deleted on the way.
"""

import argparse
import csv
import json
import os
import platform
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import glug
from glug.simulation.frame import StepStats
from glug.simulation.run import run_to_folder

SCENE = Path(__file__).parent / "soak.toml"
SETTLED = 10.0  # minutes in which caches, pools and the tank itself fill
KEPT = 3  # frames
COLUMNS = ("minutes", "steps", "simulated", "memory", "particles", "bubbles", "balance", "surface", "unconverged")


class Watch:
    """Called after every step; a row of the curve per minute."""

    def __init__(self, folder: Path, minutes: float, every: float = 60.0):
        self.folder, self.minutes, self.every = folder, minutes, every
        self.begun = self.last = time.monotonic()
        self.rows: list[dict[str, float]] = []
        self.steps = self.unconverged = 0
        self.mass: float | None = None  # [kg] that is to be there: what was, came, and has not left
        self.since: list[tuple[float, float, float]] = []  # bubbles, balance, surface since the last row
        with (folder / "curve.csv").open("w", newline="") as file:
            csv.DictWriter(file, COLUMNS).writeheader()

    def __call__(self, stats: StepStats) -> None:
        self.steps += 1
        self.unconverged += sum(not solve.converged for solve in stats.solves.values())
        assert stats.liquid is not None
        change = sum(a.mass for a in stats.came.values()) - sum(a.mass for a in stats.left.values())
        self.mass = stats.liquid.mass if self.mass is None else self.mass + change
        self.since.append(
            (len(stats.bubbles), stats.liquid.mass / self.mass - 1.0, stats.liquid_volume / stats.target_volume - 1.0)
        )
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last += self.every * ((now - self.last) // self.every)
            self.row(stats, (now - self.begun) / 60.0)
            forget_frames(self.folder / "run")
        if now - self.begun >= 60.0 * self.minutes:
            signal.raise_signal(signal.SIGTERM)  # as a batch system would

    def row(self, stats: StepStats, minutes: float) -> None:
        bubbles, balance, surface = np.array(self.since).T
        self.since = []
        values = (minutes, self.steps, stats.time, resident(), stats.particles, bubbles.mean())
        values += (float(balance[-1]), float(surface.mean()), self.unconverged)
        self.rows.append(dict(zip(COLUMNS, map(float, values), strict=True)))
        with (self.folder / "curve.csv").open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS).writerow(self.rows[-1])
        (self.folder / "report.json").write_text(json.dumps(report(self.rows), indent=2) + "\n")


def resident() -> float:
    """Memory of this process and its children [MB]."""
    own = os.getpid()
    pids = [own, *(int(pid) for pid in Path(f"/proc/self/task/{own}/children").read_text().split())]
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids if Path(f"/proc/{pid}").exists())
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def forget_frames(run: Path) -> None:
    """Delete all but the newest frames: hours of them fill a disk."""
    for kind in ("surface", "particles", "preview"):
        for path in sorted((run / kind).glob("[0-9]*"))[:-KEPT]:
            path.unlink()


def report(rows: Sequence[dict[str, float]]) -> dict[str, object]:
    """What the curve says, of the time after it settled (all of it if it is shorter)."""
    settled = [row for row in rows if row["minutes"] >= SETTLED] or list(rows)
    hours, memory = (np.array([row[name] for row in settled]) for name in ("minutes", "memory"))
    growth = np.polyfit(hours / 60.0, memory, 1)[0] if len(settled) > 2 else float("nan")
    return {
        "minutes": rows[-1]["minutes"],
        "steps": rows[-1]["steps"],
        "simulated_s": rows[-1]["simulated"],
        "memory_MB": float(memory.mean()),
        "memory_growth_MB_per_hour": float(growth),
        "memory_last_minus_first_MB": float(memory[-1] - memory[0]),
        "most_bubbles": max(row["bubbles"] for row in rows),
        "mean_bubbles": float(np.mean([row["bubbles"] for row in rows])),
        "worst_balance": max(abs(row["balance"]) for row in rows),
        "mean_surface": float(np.mean([row["surface"] for row in rows])),
        "worst_surface": max(abs(row["surface"]) for row in settled),
        "unconverged": rows[-1]["unconverged"],
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=120.0)
    arguments.add_argument("--every", type=float, default=60.0, help="seconds from row to row")
    arguments.add_argument("-o", dest="folder", type=Path, required=True)
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    watch = Watch(options.folder, options.minutes, options.every)
    run_to_folder(glug.load(SCENE), options.folder / "run", on_step=watch)


if __name__ == "__main__":
    main()
