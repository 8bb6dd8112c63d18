"""Writes a bench's page of docs/studies: python docs/bench_page.py NAME MACHINE ROWS.json ...

ROWS.json are what `glug bench NAME --json` wrote, whole or in parts; MACHINE is a sentence on where.
"""

import json
import sys
from pathlib import Path

from glug.studies.pages import write_bench_page, write_index
from glug.studies.rows import BenchRow

FOLDER = Path(__file__).parent / "studies"


def main(name: str, machine: str, paths: list[str]) -> None:
    rows = [BenchRow(**row) for path in paths for row in json.loads(Path(path).read_text())]
    write_bench_page(name, rows, machine, FOLDER)
    write_index(FOLDER)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
