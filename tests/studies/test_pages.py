"""Pages and plots of studies, from rows."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from glug.studies.pages import panels, write_bench_page, write_index, write_page, write_plot
from glug.studies.registry import STUDIES
from glug.studies.rows import BenchRow, StudyRow

FOLDER = Path(__file__).parents[2] / "docs/studies"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")

ROWS = [
    StudyRow("pressure-walls", table, n, "p", norm, 1.0 / n, 1.12 / n if table == "Table 4.2" else None)
    for table in ("Table 4.2", "open-area")
    for norm in ("Linf", "L1")
    for n in (16, 32)
]


def test_a_panel_per_quantity_and_norm_with_published_beside_ours():
    first, second = panels(ROWS)
    assert (first.title, second.title) == ("p: Linf error", "p: L1 error")
    assert [line.name for line in first.lines] == ["published", "Table 4.2", "open-area"]
    assert first.log_x and first.log_y
    assert first.x_ticks == [16, 32]


def test_values_have_a_linear_axis():
    rows = [StudyRow("pipe", "formula", n, "pull_over_gravity", "value", 1.03) for n in (8, 16)]
    (panel,) = panels(rows)
    assert not panel.log_y


def test_single_grids_have_no_plot(tmp_path):
    assert not write_plot(ROWS[:1], tmp_path / "plot.png")
    assert not list(tmp_path.iterdir())


def test_a_page_has_its_table_plot_and_command(tmp_path):
    write_page("pressure-walls", ROWS, tmp_path)
    write_index(tmp_path)
    text = (tmp_path / "pressure-walls.md").read_text()
    assert "glug validate pressure-walls --max 32" in text
    assert "| Table 4.2 | 16 | p | Linf | 0.0625 | 0.07 |" in text
    with Image.open(tmp_path / "pressure-walls.png") as picture:
        assert np.asarray(picture).std() > 1
    assert "pressure-walls.md" in (tmp_path / "README.md").read_text()


def test_the_page_of_a_bench_has_what_was_measured(tmp_path):
    stages = {"weights": 0.5, "solve": 2.0}
    rows = [BenchRow("beam/viscosity", "octree", 64, dofs=1000, seconds=2.0, per_row=15.5, stages=stages)]
    write_bench_page("octree-viscosity", rows, "On two cores.", tmp_path)
    write_index(tmp_path)
    text = (tmp_path / "octree-viscosity.md").read_text()
    assert "glug bench octree-viscosity" in text and "On two cores." in text
    assert "| case | cells | solver | unknowns | entries per row | solve s | weights s |" in text
    assert "| beam/viscosity | 64 | octree | 1000 | 15.5 | 2 | 0.5 |" in text
    assert "octree-viscosity.md" in (tmp_path / "README.md").read_text()


def test_the_studies_of_the_source_have_pages():
    source = {
        "glug.studies.validate.tables.published",
        "glug.studies.validate.tables.stokes_3d",
        "glug.studies.validate.explicit_substeps",
    }
    source |= {f"glug.studies.{m}" for m in ("jet_2d", "tilted_boxes", "surface_conditions", "sheet_viscosity")}
    source |= {"glug.studies.validate.classical_flows"}
    assert {name for name, entry in STUDIES.items() if entry.module in source} <= set(PAGES)


def drawn(text: str) -> bool:
    """Whether a page's table has a quantity on several grids, which a plot can show."""
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    grids: dict[tuple[str, str], set[str]] = {}
    for _, grid, quantity, norm, *_ in cells[1:] if cells[0][3] == "norm" else []:
        grids.setdefault((quantity, norm), set()).add(grid)
    return any(len(g) > 1 for g in grids.values())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_its_plot_and_is_in_the_index(name):
    text = (FOLDER / f"{name}.md").read_text()
    assert f"glug {'validate' if name in STUDIES else 'bench'} {name}" in text
    assert f"]({name}.md)" in (FOLDER / "README.md").read_text()
    assert (f"![{name}]({name}.png)" in text) == drawn(text)
    if drawn(text):
        with Image.open(FOLDER / f"{name}.png") as picture:
            assert np.asarray(picture).std() > 1
