"""Line plots as pictures, for studies and comparisons: linear or logarithmic axes, several panels, a legend."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

PAPER = (255, 255, 255)
INK = (51, 51, 51)
GRID = (226, 226, 226)
# Told apart by people who see few colours too (Okabe and Ito, 2008).
COLOURS = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233))
FINER = 2  # drawn so many times larger, then reduced: smooth lines
TEXT = 13  # height of letters [pixels]


@dataclass(frozen=True)
class Line:
    """A curve; where y is not a finite number it is interrupted. `dots` marks its points."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    dots: bool = False


@dataclass(frozen=True)
class Panel:
    """One set of axes. Logarithmic axes leave out what is not positive. With `x_ticks` the x axis ends at them."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    x_ticks: Sequence[float] = ()


def plot(panels: Sequence[Panel], size: tuple[int, int] = (640, 320)) -> np.ndarray:
    """A picture (height, width, 3) uint8 of the panels, one below the other, each of `size` (width, height)."""
    width, height = size
    image = Image.new("RGB", (FINER * width, FINER * height * len(panels)), PAPER)
    draw = ImageDraw.Draw(image)
    for number, panel in enumerate(panels):
        _Axes(draw, panel, FINER * width, FINER * height, FINER * height * number).draw()
    return np.asarray(image.resize((width, height * len(panels)), Image.Resampling.BOX))


@dataclass(frozen=True)
class _Scale:
    """A range of values on one axis, and where ticks are."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    @staticmethod
    def of(values: np.ndarray, log: bool) -> "_Scale":
        values = values[np.isfinite(values) & ((values > 0) | (not log))]
        low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 10.0) if log else (0.0, 1.0)
        if log:
            first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
            last = max(last, first + 1)
            every = -(-(last - first) // 8)
            return _Scale(10.0**first, 10.0**last, True, tuple(10.0**e for e in range(first, last + 1, every)))
        if high <= low:
            room = 0.5 * abs(low) or 0.5
            low, high = low - room, high + room
        step = _nice((high - low) / 5)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return _Scale(first * step, last * step, False, tuple(k * step for k in range(first, last + 1)))

    @staticmethod
    def at(ticks: Sequence[float], log: bool) -> "_Scale":
        """From the first tick to the last, and a little room."""
        low, high = min(ticks), max(ticks)
        if log:
            room = (high / low) ** 0.05 if high > low else 2.0
            return _Scale(low / room, high * room, True, tuple(ticks))
        space = 0.05 * (high - low) or 0.5
        return _Scale(low - space, high + space, False, tuple(ticks))

    def part(self, values: np.ndarray) -> np.ndarray:
        """0 at the low end, 1 at the high end; NaN where there is no place."""
        if not self.log:
            return (values - self.low) / (self.high - self.low)
        safe = np.where(values > 0, values, np.nan)
        return np.log(safe / self.low) / math.log(self.high / self.low)

    def label(self, value: float) -> str:
        if self.log:
            return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e") if not 0.01 <= value < 1e4 else f"{value:g}"
        step = self.ticks[1] - self.ticks[0]
        return f"{0.0 if abs(value) < 1e-9 * step else value:.6g}"


def _nice(step: float) -> float:
    """The next of 1, 2, 5, 10, ... times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= step * (1 - 1e-9))


class _Axes:
    def __init__(self, draw: ImageDraw.ImageDraw, panel: Panel, width: int, height: int, top: int):
        self.draw_on, self.panel = draw, panel
        self.font = ImageFont.load_default(FINER * TEXT)
        x = np.concatenate([_numbers(line.x) for line in panel.lines])
        self.x = _Scale.at(panel.x_ticks, panel.log_x) if panel.x_ticks else _Scale.of(x, panel.log_x)
        self.y = _Scale.of(np.concatenate([_numbers(line.y) for line in panel.lines]), panel.log_y)
        widest = max(draw.textlength(self.y.label(t), font=self.font) for t in self.y.ticks)
        unit = FINER * TEXT
        self.left, self.right = widest + 1.4 * unit, width - 1.5 * unit
        self.top, self.bottom = top + 4.4 * unit, top + height - 3.4 * unit
        self.edge, self.unit = top, unit

    def place(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Pixels (n, 2)."""
        across = self.left + self.x.part(x) * (self.right - self.left)
        return np.stack([across, self.bottom - self.y.part(y) * (self.bottom - self.top)], axis=-1)

    def draw(self) -> None:
        self._frame()
        for number, line in enumerate(self.panel.lines):
            self._line(line, COLOURS[number % len(COLOURS)])
        self._legend()

    def _text(self, x: float, y: float, text: str, anchor: str) -> None:
        self.draw_on.text((x, y), text, fill=INK, font=self.font, anchor=anchor)

    def _frame(self) -> None:
        thin, unit = FINER, self.unit
        for tick in self.x.ticks:
            ((x, _),) = self.place(np.array([tick]), np.array([self.y.low]))
            self.draw_on.line([(x, self.top), (x, self.bottom)], fill=GRID, width=thin)
            self._text(x, self.bottom + 0.4 * unit, self.x.label(tick), "ma")
        for tick in self.y.ticks:
            ((_, y),) = self.place(np.array([self.x.low]), np.array([tick]))
            self.draw_on.line([(self.left, y), (self.right, y)], fill=GRID, width=thin)
            self._text(self.left - 0.4 * unit, y, self.y.label(tick), "rm")
        self.draw_on.rectangle([self.left, self.top, self.right, self.bottom], outline=INK, width=thin)
        self._text(0.5 * (self.left + self.right), self.edge + 0.5 * unit, self.panel.title, "ma")
        self._text(self.left, self.top - 0.4 * unit, self.panel.y_label, "ld")
        self._text(self.right, self.bottom + 1.8 * unit, self.panel.x_label, "ra")

    def _line(self, line: Line, colour: tuple[int, int, int]) -> None:
        places = self.place(_numbers(line.x), _numbers(line.y))
        seen = np.isfinite(places).all(axis=1)
        for part in np.split(np.arange(len(places)), np.flatnonzero(np.diff(seen)) + 1):
            if len(part) > 1 and seen[part[0]]:
                corners = [(float(x), float(y)) for x, y in places[part]]
                self.draw_on.line(corners, fill=colour, width=2 * FINER, joint="curve")
        radius = (3.0 if line.dots else 1.0) * FINER  # a single point is seen too
        for x, y in places[seen]:
            self.draw_on.ellipse([x - radius, y - radius, x + radius, y + radius], fill=colour)

    def _legend(self) -> None:
        unit, x = self.unit, self.right
        for number, line in reversed(list(enumerate(self.panel.lines))):
            x -= self.draw_on.textlength(line.name, font=self.font)
            y = self.top - 0.9 * unit
            self._text(x, y, line.name, "lm")
            colour = COLOURS[number % len(COLOURS)]
            self.draw_on.line([(x - 2.0 * unit, y), (x - 0.5 * unit, y)], fill=colour, width=3 * FINER)
            x -= 3.0 * unit


def _numbers(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if v is None else v for v in values], dtype=float)
