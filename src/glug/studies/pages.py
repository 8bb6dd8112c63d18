"""A study's plot, and its page in the documentation: the table, the plot, the command that makes them.

Benches have pages as well (`docs/bench_page.py` writes them from what --json wrote): what they measured, and where.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
from PIL import Image

from glug.errors import OutputError
from glug.studies.registry import BENCHES, STUDIES, Entry
from glug.studies.rows import BenchRow, StudyRow
from glug.view.plot import Line, Panel, plot

PANEL = (700, 300)  # pixels
COLUMNS = ("table", "grid", "quantity", "norm", "ours", "published", "ratio", "order_ours", "order_published")
HEADS = ("table", "grid", "quantity", "norm", "ours", "published", "ratio", "order", "published order")
MEASURED = {  # columns of a bench's page
    "case": "case",
    "n": "cells",
    "solver": "solver",
    "threads": "threads",
    "voxels": "voxels",
    "dofs": "unknowns",
    "per_row": "entries per row",
    "iterations": "iterations",
    "setup_seconds": "set-up s",
    "seconds": "solve s",
    "bytes_per_dof": "bytes per unknown",
    "peak_gb": "peak GB",
}


def panels(rows: Sequence[StudyRow]) -> list[Panel]:
    """Ours and published against cells along a side, one panel per quantity and norm, a curve per scheme.

    What was measured on one grid only has no panel.
    """
    found: dict[tuple[str, str], list[StudyRow]] = {}
    for row in rows:
        found.setdefault((row.quantity, row.norm), []).append(row)
    out = []
    for (quantity, norm), members in found.items():
        numbers = sorted({row.grid for row in members})
        if len(numbers) < 2:
            continue
        known = sorted({(row.grid, row.published) for row in members if row.published is not None})
        shared = len(known) == len({grid for grid, _ in known})  # by all tables
        lines = [Line("published", [n for n, _ in known], [v for _, v in known])] if known and shared else []
        for table in dict.fromkeys(row.table for row in members):
            mine = [row for row in members if row.table == table]
            grid = [row.grid for row in mine]
            if not shared and any(row.published is not None for row in mine):
                lines.append(Line("published", grid, [row.published for row in mine]))
            lines.append(Line(f"ours, {table}" if not lines else table, grid, [row.ours for row in mine], dots=True))
        title = quantity if norm == "value" else f"{quantity}: {norm} error"
        log = norm != "value" and any(row.ours > 0 for row in members)
        out.append(Panel(title, "cells along a side", "", lines, log_x=True, log_y=log, x_ticks=numbers))
    return out


def write_plot(rows: Sequence[StudyRow], path: Path) -> bool:
    """Write the study's plot as PNG, two panels a row; False when there is nothing to draw."""
    drawn = [plot([panel], PANEL) for panel in panels(rows)]
    if not drawn:
        return False
    if len(drawn) > 1 and len(drawn) % 2:
        drawn.append(np.full_like(drawn[0], 255))
    strips = [np.concatenate(drawn[i : i + 2], axis=1) for i in range(0, len(drawn), 2)]
    picture = Image.fromarray(np.concatenate(strips))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path, optimize=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    return True


def write_page(name: str, rows: Sequence[StudyRow], folder: Path) -> None:
    """Write `folder`/NAME.md, with its plot beside it."""
    module = import_module(STUDIES[name].module)
    notes = getattr(module, "NOTES", module.__doc__) or ""
    lines = [f"# {name}", "", STUDIES[name].summary + ".", "", notes.strip(), ""]
    if write_plot(rows, folder / f"{name}.png"):
        lines += [f"![{name}]({name}.png)", ""]
    for picture in sorted(folder.glob(f"{name}-*.png")):
        lines += [f"![{picture.stem}]({picture.name})", ""]
    lines += [f"    glug validate {name} --max {max(row.grid for row in rows)}", ""]
    shown = [i for i, c in enumerate(COLUMNS) if any(getattr(row, c) is not None for row in rows)]
    cells = [[_cell(COLUMNS[i], getattr(row, COLUMNS[i])) for i in shown] for row in rows]
    _write(folder, name, [*lines, *_markdown([[HEADS[i] for i in shown], *cells])])


def write_bench_page(name: str, rows: Sequence[BenchRow], machine: str, folder: Path) -> None:
    """Write `folder`/NAME.md: what the bench measured, on `machine`; set-up has a column for each of its stages."""
    notes = import_module(BENCHES[name].module).__doc__ or ""
    lines = [
        f"# {name}",
        "",
        BENCHES[name].summary + ".",
        "",
        notes.strip(),
        "",
        f"    glug bench {name}",
        "",
        machine,
        "",
    ]
    shown = [c for c in MEASURED if any(getattr(row, c) is not None for row in rows)]
    stages = list(dict.fromkeys(s for row in rows for s in row.stages or {} if s != "solve"))
    head = [MEASURED[c] for c in shown] + [f"{s} s" for s in stages]
    cells = [
        [_cell(c, getattr(row, c)) for c in shown] + [_cell(s, (row.stages or {}).get(s)) for s in stages]
        for row in rows
    ]
    _write(folder, name, [*lines, *_markdown([head, *cells])])


def _markdown(cells: Sequence[Sequence[str]]) -> list[str]:
    head, *body = ["| " + " | ".join(line) + " |" for line in cells]
    return [head, "|" + "---|" * len(cells[0]), *body]


def _write(folder: Path, name: str, lines: Sequence[str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text("\n".join(lines) + "\n")
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from error


def write_index(folder: Path) -> None:
    """Write `folder`/README.md, a list of the pages that are there."""
    lines = [
        "# Studies",
        "",
        "Published and analytic results, ours beside theirs. `make studies` writes these pages; each says which",
        "command makes it. Errors are `Linf` (the largest) and `L1` (the sum times the volume of a cell) unless the",
        "page says otherwise.",
        "",
    ]
    lines += [f"- [{name}]({name}.md): {entry.summary}" for name, entry in _entries(folder)]
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def _entries(folder: Path) -> list[tuple[str, Entry]]:
    entries = {**STUDIES, **{name: entry for name, entry in BENCHES.items() if name not in STUDIES}}
    return [(name, entry) for name, entry in entries.items() if (folder / f"{name}.md").exists()]


def _cell(column: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}" if column.startswith("order") else f"{value:.4g}"
    return str(value)
