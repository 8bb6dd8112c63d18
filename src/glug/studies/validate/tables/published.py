"""Published tables as data, and studies that print theirs beside ours."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

from glug.errors import InputError
from glug.studies.problems.manufactured import PROBLEMS
from glug.studies.registry import StudyOptions
from glug.studies.rows import StudyRow
from glug.studies.validate.tables import convergence
from glug.studies.validate.tables.convergence import SCHEMES, Discretised

NOTES = convergence.__doc__  # for the pages of the documentation
Errors = dict[str, tuple[float, float]]  # Linf and L1 by quantity
NORMS = ("Linf", "L1")
COARSEST = 16
USUAL_LARGEST = 256  # unless --max says otherwise; 1024 takes about a minute a table and 6 GB


@cache
def published() -> dict[tuple[str, str, int], tuple[float, float]]:
    """(table, quantity, grid) -> (Linf, L1) of Batty (2010), Tables 4.1 to 4.9, and Goldade (2021), 5.1 to 5.6."""
    folder = resources.files("glug.studies.validate.tables")
    return {
        (row["table"], row["quantity"], int(row["grid"])): (float(row["Linf"]), float(row["L1"]))
        for name in ("published_batty2010.csv", "published_goldade2021.csv")
        for row in csv.DictReader(folder.joinpath(name).read_text().splitlines())
    }


def grids(
    largest: int | None, coarsest: int = COARSEST, usual: int = USUAL_LARGEST, finest: int | None = None
) -> list[int]:
    """coarsest, twice that, ... up to `largest`, but not beyond `finest`, where a study has one."""
    end = usual if largest is None else min(largest, finest or largest)
    if end < coarsest:
        raise InputError(f"--max {end}: the coarsest grid of this study has {coarsest} cells along a side")
    return [coarsest << k for k in range(int(math.log2(end / coarsest)) + 1)]


def convergence_rows(
    study: str,
    table: str,
    numbers: Sequence[int],
    errors: Callable[[int], Errors],
    compare: str | None = None,
    *,
    orders_only: bool = False,
) -> list[StudyRow]:
    """Rows of errors on grids that double, with orders and seconds, grouped by quantity and norm.

    `compare` is the published table; its orders are computed from its errors. Where its errors are those of another
    problem there are `orders_only`.
    """
    ours, seconds = {}, {}
    for n in numbers:
        begin = time.perf_counter()
        ours[n] = errors(n)
        seconds[n] = time.perf_counter() - begin
    known = published()
    rows = []
    for quantity in ours[numbers[0]]:
        for i, norm in enumerate(NORMS):
            for n in numbers:
                value = ours[n][quantity][i]
                theirs = known[compare, quantity, n][i] if compare and (compare, quantity, n) in known else None
                before = ours[n // 2][quantity][i] if n // 2 in ours else None
                theirs_before = known.get((compare or "", quantity, n // 2), (None, None))[i]
                rows.append(
                    StudyRow(
                        study,
                        table,
                        n,
                        quantity,
                        norm,
                        value,
                        None if orders_only else theirs,
                        value / theirs if theirs and not orders_only else None,
                        _order(before, value),
                        _order(theirs_before, theirs) if before is not None else None,
                        seconds[n],
                    )
                )
    return rows


def _order(coarse: float | None, fine: float | None) -> float | None:
    return math.log2(coarse / fine) if coarse and fine else None


def study(options: StudyOptions) -> list[StudyRow]:
    """The table of one manufactured flow: the published scheme, then the others on the same problem."""
    problem = PROBLEMS[options.name]
    numbers = grids(options.largest_grid)
    rows = []
    for scheme in ("published", *SCHEMES[problem.physics, problem.closed]):

        def errors(n: int, scheme: str = scheme) -> Errors:
            discretised = Discretised(problem, n)
            return discretised.errors(discretised.solve(scheme))

        label = f"Table {problem.table}" if scheme == "published" else scheme
        compare = problem.table if scheme == "published" else None
        rows += convergence_rows(problem.name, label, numbers, errors, compare)
    return rows
