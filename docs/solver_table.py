"""Puts what the solver benches measured into the README: python docs/solver_table.py ROWS.json ...

ROWS.json are what `glug bench viscosity-solve --json` and `glug bench viscous-scenes --json` wrote; later files win.
"""

import json
import sys
from pathlib import Path
from typing import Any

from glug.studies.bench.solves.viscosity import PUBLISHED, PUBLISHED_CORES

README = Path(__file__).parents[1] / "README.md"
NAMES = {"default": "glug", "box": "glug, box smoother", "jacobi-cg": "Jacobi-CG, ours", "pyamg": "PyAMG"}
SOLVES, SCENES = ("<!-- solves -->\n", "<!-- end of solves -->"), ("<!-- scenes -->\n", "<!-- end of scenes -->")


def solves(rows: list[dict[str, Any]]) -> str:
    """Iterations, seconds and memory of the published problem, by grid."""
    lines = ["| cells | unknowns | solver | cores | iterations | seconds | GB |", "|---|---|---|---|---|---|---|"]
    mine = {(r["n"], r["solver"]): r for r in rows if r["case"] == "viscosity/delta" and r["seconds"]}
    for n in sorted({n for n, _ in mine}):
        for solver, name in NAMES.items():
            if (n, solver) in mine:
                r = mine[n, solver]
                time = r["seconds"] + r["setup_seconds"]
                count = f"{r['dofs'] / 1e6:.1f} million"
                numbers = f"{r['threads']} | {r['iterations']} | {time:.1f} | {r['peak_gb']:.2f}"
                lines.append(f"| {n}^3 | {count} | {name} | {numbers} |")
        for name, (iterations, seconds, gb) in PUBLISHED.get(n, {}).items():
            published = f"| {n}^3 | | {name}, published | {PUBLISHED_CORES} | {iterations} | {seconds:.1f} | {gb} |"
            lines.append(published)
    return "\n".join(lines) + "\n"


def scenes(rows: list[dict[str, Any]]) -> str:
    """Seconds per viscosity solve and per step of scenes."""
    mine = {r["case"]: r for r in rows if r["case"].endswith(("/viscosity", "/step")) and r["seconds"]}
    lines = [
        "The first twelve steps of scenes at 128 cells (`glug bench viscous-scenes`), on two cores:",
        "",
        "| scene | unknowns | iterations | s per viscosity solve | s per step |",
        "|---|---|---|---|---|",
    ]
    for case, r in mine.items():
        name, _, what = case.partition("/")
        if what == "viscosity" and f"{name}/step" in mine:
            step = mine[f"{name}/step"]["seconds"]
            lines.append(f"| `{name}` | {r['dofs']:,} | {r['iterations']:g} | {r['seconds']:.2f} | {step:.2f} |")
    return "\n".join(lines) + "\n"


def main(paths: list[str]) -> None:
    rows = [row for path in paths for row in json.loads(Path(path).read_text())]
    text = README.read_text()
    for (begin, end), table in ((SOLVES, solves(rows)), (SCENES, scenes(rows))):
        if table.count("|\n") > 2:  # more than its head
            before, _, rest = text.partition(begin)
            text = before + begin + table + end + rest.partition(end)[2]
    README.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
