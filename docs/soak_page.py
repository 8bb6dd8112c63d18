"""Writes soak.md and images/soak.png from a soak: python docs/soak_page.py FOLDER

FOLDER is what `tests/fuzz/soak.py` wrote: curve.csv, report.json.
"""

import csv
import json
import sys
from pathlib import Path

from PIL import Image

from glug.view.plot import Line, Panel, plot

DOCS = Path(__file__).parent
TEXT = """# Soak

{hours:.1f} hours of a tank that is never at rest, {steps:.0f} steps, {simulated:.0f} s of it: a jet pours in, an
overflow takes out, a wheel carries air below, a cork, a block of ice and a stone are in it (`tests/fuzz/soak.toml`).

![memory, volume and bubbles over the hours](images/soak.png)

| | |
|---|---|
| memory, after the first ten minutes | {memory:.0f} MB, {growth:+.1f} MB an hour (least squares) |
| memory, last minute less the tenth | {change:+.1f} MB |
| liquid against what was there, came and left | {balance:.1e} at most |
| liquid on the grid against what the particles carry | {mean:+.2%} in the mean, {surface:.2%} in the worst minute |
| bubbles, mean | {bubbles:.1f} |
| solves that did not converge | {unconverged:.0f} |

Memory is what is resident of the process and of the one that draws its pictures; it falls at once where the system
takes back pages that lay idle.

    GLUG_SOAK_MINUTES=120 python -m pytest tests/fuzz/test_soak.py
    python tests/fuzz/soak.py --minutes 120 -o FOLDER && python docs/soak_page.py FOLDER

Measured on {machine}.
"""


def main(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text())
    with (folder / "curve.csv").open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    minutes = [row["minutes"] for row in rows]

    def panel(title: str, unit: str, name: str, factor: float = 1.0) -> Panel:
        return Panel(title, "minutes", unit, [Line(name, minutes, [factor * row[name] for row in rows])])

    panels = [
        panel("memory", "MB", "memory"),
        panel("liquid on the grid against what particles carry", "%", "surface", 100.0),
        panel("bubbles, mean of a minute", "number", "bubbles"),
    ]
    Image.fromarray(plot(panels, (720, 220))).save(DOCS / "images" / "soak.png", optimize=True)
    text = TEXT.format(
        hours=report["minutes"] / 60.0,
        steps=report["steps"],
        simulated=report["simulated_s"],
        memory=report["memory_MB"],
        growth=report["memory_growth_MB_per_hour"],
        change=report["memory_last_minus_first_MB"],
        balance=report["worst_balance"],
        surface=report["worst_surface"],
        mean=sum(row["surface"] for row in rows) / len(rows),
        bubbles=report["mean_bubbles"],
        unconverged=report["unconverged"],
        machine=report["machine"],
    )
    (DOCS / "soak.md").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
