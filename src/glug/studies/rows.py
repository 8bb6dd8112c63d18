"""What studies and benches report: rows with fixed columns, as JSON and as a table."""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from glug.errors import OutputError


@dataclass(frozen=True)
class StudyRow:
    """One number of a study, ours beside the published one (None where nothing was published).

    grid      cells along a side
    quantity  p, u, v, w, tau_xx, tau_xy, ... or a named scalar
    norm      Linf, L1, or value for a scalar
    seconds   that all rows of this table and grid took together
    """

    study: str
    table: str
    grid: int
    quantity: str
    norm: str
    ours: float
    published: float | None = None
    ratio: float | None = None  # ours / published
    order_ours: float | None = None
    order_published: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class BenchRow:
    """One measurement of speed and memory.

    `dofs` are the unknowns of a solve, and the particles of any other stage. `seconds` is per solve or step;
    `setup_seconds` what is spent once. `peak_gb` [1e9 bytes] is the peak of the process, which measured this
    case and no other. `skipped` says why there are no numbers. `voxels` are cells with liquid, `per_row` the entries of
    an average row, `bytes_per_dof` the peak above what the input takes, `stages` the seconds of every stage.
    """

    case: str
    solver: str
    n: int
    dofs: int | None = None
    threads: int | None = None
    iterations: float | None = None
    seconds: float | None = None
    setup_seconds: float | None = None
    peak_gb: float | None = None
    residual: float | None = None
    skipped: str | None = None
    ns_per_particle: float | None = None
    ns_per_cell: float | None = None
    voxels: int | None = None
    per_row: float | None = None
    bytes_per_dof: float | None = None
    stages: dict[str, float] | None = None


Row = StudyRow | BenchRow


def write_json(rows: Sequence[Row], path: Path) -> None:
    """Write `rows` as a JSON list; the file appears whole or not at all."""
    text = json.dumps([_finite(asdict(row)) for row in rows], indent=1) + "\n"
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text)
        os.replace(partial, path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no NaN and no infinity: null stands for both."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


def table(rows: Sequence[Row]) -> str:
    """`rows` as aligned plain text; columns in which no row has a value are left out."""
    if not rows:
        return "(no rows)"
    names = [f.name for f in fields(rows[0]) if any(getattr(r, f.name, None) is not None for r in rows)]
    return aligned([names, *([_cell(getattr(row, name)) for name in names] for row in rows)])


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells as text; columns of numbers are flush right."""
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    numeric = [all(_is_number(line[c]) for line in lines[1:] if line[c] not in ("", "-")) for c in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(line, widths, numeric)
        ).rstrip()
        for line in lines
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    try:
        float(text.removesuffix("x"))
    except ValueError:
        return False
    return True
