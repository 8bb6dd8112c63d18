"""Plots: curves are where their values are."""

import numpy as np
import pytest

from glug.view.plot import COLOURS, Line, Panel, plot

SIZE = (400, 240)


def curve(picture, number=0):
    """Rows and columns of the pixels of a curve's colour, without the legend's."""
    rows, columns = np.nonzero(np.abs(picture.astype(int) - COLOURS[number]).max(-1) < 12)
    below = rows > 48
    return rows[below], columns[below]


def panel(*lines, **more):
    return Panel("title", "x", "y", lines, **more)


def test_a_straight_line_goes_from_corner_to_corner():
    rows, columns = curve(plot([panel(Line("a", [0.0, 1.0, 2.0], [0.0, 5.0, 10.0]))], SIZE))
    slope, _ = np.polyfit(columns, rows, 1)
    left, right = columns.min(), columns.max()
    assert slope * (right - left) == pytest.approx(-(rows.max() - rows.min()), rel=0.03)
    assert np.ptp(rows - slope * columns) < 5


@pytest.mark.parametrize(("log", "straight"), [(True, True), (False, False)])
def test_a_power_law_is_straight_on_logarithmic_axes_alone(log, straight):
    x = 2.0 ** np.arange(4, 9)
    rows, columns = curve(plot([panel(Line("a", x, 1 / x**2), log_x=log, log_y=log)], SIZE))
    fit = np.polyval(np.polyfit(columns, rows, 1), columns)
    assert (np.abs(rows - fit).max() < 4) == straight


def test_curves_are_interrupted_where_there_is_no_value():
    y = [1.0, 1.0, 1.0, None, float("nan"), 2.0, 2.0, 2.0]
    _, columns = curve(plot([panel(Line("a", range(8), y))], SIZE))
    gaps = np.diff(np.unique(columns))
    assert gaps.max() > 80
    assert (gaps > 3).sum() == 1


def test_an_axis_with_ticks_ends_at_the_data():
    lines = Line("a", [16.0, 64.0], [1.0, 1.0])
    wide, snug = (curve(plot([panel(lines, log_x=True, x_ticks=ticks)], SIZE))[1] for ticks in ((), (16, 32, 64)))
    assert np.ptp(wide) < 0.6 * SIZE[0]  # from 10 to 100
    assert np.ptp(snug) > 0.75 * SIZE[0]


def test_every_curve_has_a_colour_and_panels_are_stacked():
    lines = [Line(str(i), [0, 1], [i, i + 1]) for i in range(4)]
    picture = plot([panel(*lines), panel(*lines)], SIZE)
    assert picture.shape == (480, 400, 3)
    for half in (picture[:240], picture[240:]):
        for number in range(4):
            assert len(curve(half, number)[0]) > 50


@pytest.mark.parametrize("y", [[3.0], [0.0, 0.0], [None, None], [], [1e-12, 2e-12], [-5.0, 1e9]])
@pytest.mark.parametrize("log", [False, True])
def test_odd_ranges_are_drawn(y, log):
    assert plot([panel(Line("a", range(1, len(y) + 1), y), log_y=log)], SIZE).shape == (240, 400, 3)
