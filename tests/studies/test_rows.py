"""Rows have the columns that other tools read, and JSON without NaN."""

import json

from glug.studies.rows import BenchRow, StudyRow, table, write_json

STUDY_COLUMNS = [
    "study",
    "table",
    "grid",
    "quantity",
    "norm",
    "ours",
    "published",
    "ratio",
    "order_ours",
    "order_published",
]
BENCH_COLUMNS = [
    "case",
    "solver",
    "n",
    "dofs",
    "threads",
    "iterations",
    "seconds",
    "setup_seconds",
    "peak_gb",
    "residual",
    "skipped",
]


def test_study_rows_have_the_published_columns(tmp_path):
    write_json([StudyRow("s", "t", 8, "u", "Linf", float("nan"), 2.0)], tmp_path / "rows.json")
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert list(row) == [*STUDY_COLUMNS, "seconds"]
    assert row["ours"] is None
    assert row["grid"] == 8


def test_bench_rows_begin_with_the_agreed_columns(tmp_path):
    write_json([BenchRow("c", "cg", 8)], tmp_path / "rows.json")
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert list(row)[: len(BENCH_COLUMNS)] == BENCH_COLUMNS


def test_tables_leave_out_empty_columns():
    text = table([StudyRow("s", "t", 8, "u", "Linf", 0.5)])
    assert "published" not in text
    assert text.splitlines()[0].split() == ["study", "table", "grid", "quantity", "norm", "ours"]
