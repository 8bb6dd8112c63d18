"""Writes images/samples.svg: where the samples of a cell are, in 2D and in 3D (`glug.grids.regular`).

python docs/samples_picture.py [FILE]
"""

import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from glug.grids.regular import CENTRE, EDGES, FACES, NODE

TARGET = Path(__file__).parent / "images" / "samples.svg"
WIDTH, HEIGHT = 1100, 420
INK, GREY, PAPER = "#222222", "#777773", "#ffffff"
COLOURS = {"cell": "#3b6a8a", "x": "#c8553d", "y": "#4f8a5b", "z": "#8a5ba0", "edge": "#d99a2b", "node": INK}
AXES, SHEARS = "xyz", ("yz", "xz", "xy")
Point = Sequence[float]


class Drawing:
    """Shapes in the order in which they are painted."""

    def __init__(self) -> None:
        self.parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>']

    def line(self, points: Iterable[Point], colour: str = GREY, width: float = 1.5, dash: str = "", fill: str = "none"):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline points="{at}" fill="{fill}" stroke="{colour}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}"/>'
        )

    def text(self, at: Point, words: str, colour: str = INK, size: int = 15, anchor: str = "start", style: str = ""):
        self.parts.append(
            f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}" '
            f'font-style="{style or "normal"}">{escape(words)}</text>'
        )

    def mark(self, at: Point, kind: str, axis: int = 0) -> None:
        """A disc in a cell's middle, an arrow across a face, a diamond on an edge, a square at a corner."""
        x, y = at
        if kind == "cell":
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{COLOURS["cell"]}"/>')
        elif kind == "edge":
            self.line([(x, y - 8), (x + 8, y), (x, y + 8), (x - 8, y), (x, y - 8)], INK, 1, fill=COLOURS["edge"])
        elif kind == "node":
            self.line(
                [(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4), (x - 4, y - 4)], INK, 1, fill=INK
            )

    def arrow(self, tail: Point, head: Point, colour: str) -> None:
        (x0, y0), (x1, y1) = tail, head
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        back = (x1 - 10 * dx, y1 - 10 * dy)
        self.line([tail, back], colour, 3.5)
        side = 6
        left, right = (back[0] - side * dy, back[1] + side * dx), (back[0] + side * dy, back[1] - side * dx)
        self.line([left, (x1, y1), right, left], colour, 1, fill=colour)

    def write(self, path: Path) -> None:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">'
        )
        path.write_text("\n".join([head, "<title>Where the samples of a cell are</title>", *self.parts, "</svg>\n"]))


def plane(drawing: Drawing) -> None:
    """Three by two cells of a 2D grid, one of them labelled."""
    side, left, bottom = 140.0, 40.0, 365.0

    def at(x: float, y: float) -> Point:
        return left + side * x, bottom - side * y

    def box(middle: Point, colour: str) -> None:
        x, y = middle
        corners = [(x - 0.5, y - 0.5), (x + 0.5, y - 0.5), (x + 0.5, y + 0.5), (x - 0.5, y + 0.5), (x - 0.5, y - 0.5)]
        drawing.line([at(*c) for c in corners], colour, 2, "7 5", fill=colour + "22")

    drawing.text((left, 40), "2D", size=18)
    drawing.text((left + 35, 40), "dashed: control volumes of a face and of a shear", GREY, 14)
    box((1.0, 0.5), COLOURS["x"])
    box((2.0, 1.0), COLOURS["edge"])
    for n in range(4):
        drawing.line([at(n, 0), at(n, 2)])
    for n in range(3):
        drawing.line([at(0, n), at(3, n)])
    for i in range(4):
        for j in range(3):
            drawing.mark(at(i, j), "edge")
            drawing.mark(at(i, j), "node")
            if i < 3 and j < 2:
                drawing.mark(at(i + CENTRE[0], j + CENTRE[1]), "cell")
            for a, exists in enumerate((j < 2, i < 3)):
                if exists:
                    middle = (i + FACES[a][0], j + FACES[a][1])
                    low, high = ([m + s * 0.1 * (b == a) for b, m in enumerate(middle)] for s in (-1, 1))
                    drawing.arrow(at(*low), at(*high), COLOURS[AXES[a]])
    labels = (
        ((0.56, 0.38), "cell i, j", COLOURS["cell"]),
        ((0.06, 0.57), "u[i,j]", COLOURS["x"]),
        ((1.05, 0.57), "u[i+1,j]", COLOURS["x"]),
        ((0.55, 0.05), "v[i,j]", COLOURS["y"]),
        ((0.55, 1.05), "v[i,j+1]", COLOURS["y"]),
    )
    for place, words, colour in labels:
        drawing.text(at(*place), words, colour, 14, style="italic")


def space(drawing: Drawing) -> None:
    """One cell of a 3D grid, seen from the front, above and the right."""
    left, bottom, side = 560.0, 345.0, 165.0

    def at(point: Sequence[float]) -> Point:
        x, y, z = point
        return left + side * (x - 0.42 * (z - 1.0)), bottom - side * y - 0.3 * side * (1.0 - z)

    drawing.text((left - 45, 40), "3D", size=18)
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    for a in range(3):
        for corner in corners:
            if corner[a] == 0:
                end = [c + (b == a) for b, c in enumerate(corner)]
                hidden = all(c == h for b, (c, h) in enumerate(zip(corner, (0, 0, 0))) if b != a)
                drawing.line([at(corner), at(end)], GREY, 1.5, "5 5" if hidden else "")
    for a, offset in enumerate(EDGES):
        for shift in corners:
            if shift[a] == 0:
                drawing.mark(at([o + s for o, s in zip(offset, shift)]), "edge")
    for corner in corners:
        drawing.mark(at([o + c for o, c in zip(NODE, corner)]), "node")
    drawing.mark(at(CENTRE), "cell")
    for a, offset in enumerate(FACES):
        for shift in (0, 1):
            middle = [o + shift * (b == a) for b, o in enumerate(offset)]
            low, high = ([m + s * 0.13 * (b == a) for b, m in enumerate(middle)] for s in (-1, 1))
            drawing.arrow(at(low), at(high), COLOURS[AXES[a]])
            if shift:
                x, y = at(middle)
                drawing.text((x + (-6, -18, 8)[a], y + (-9, 10, 14)[a]), "uvw"[a], COLOURS[AXES[a]], 17, style="italic")
    # Of every kind of edge one is named, on the side of the cell where there is room.
    for a, end in enumerate(((0, 1, 0), (1, 0, 1), (1, 0, 0))):
        x, y = at([o + e for o, e in zip(EDGES[a], end)])
        drawing.text((x + (-4, 12, 12)[a], y + (-13, 5, 12)[a]), SHEARS[a], COLOURS["edge"], 15, "start", "italic")
    origin = left - 50, bottom + 30
    for a, name in enumerate(AXES):
        step = [0.0, 0.0, 0.0]
        step[a] = 0.22
        x0, y0 = at((0.0, 0.0, 0.0))
        x1, y1 = at(step)
        head = origin[0] + x1 - x0, origin[1] + y1 - y0
        drawing.arrow(origin, head, INK)
        drawing.text((head[0] + (6, 4, -14)[a], head[1] + (5, 2, 10)[a]), name, INK, 14, "start", "italic")


def legend(drawing: Drawing) -> None:
    left, top = 865.0, 95.0
    rows = (
        ("cell", "cell centre", ("p, q, phi, temperature,", "strains xx, yy, zz")),
        ("face", "face", ("velocity along its normal,", "open area, mass")),
        ("edge", "edge", ("shear of the other two axes", "(in 2D xy, seen at corners)")),
        ("node", "node (corner)", ("distance to solids",)),
    )
    for kind, name, words in rows:
        if kind == "face":
            for n, axis in enumerate(AXES):
                drawing.arrow((left - 12, top - 12 + 8 * n), (left + 12, top - 12 + 8 * n), COLOURS[axis])
        else:
            drawing.mark((left, top - 5), kind)
        drawing.text((left + 25, top), name, size=15)
        for n, line in enumerate(words):
            drawing.text((left + 25, top + 19 * (n + 1)), line, GREY, 13)
        top += 42 + 19 * len(words)


def main(target: Path = TARGET) -> None:
    drawing = Drawing()
    plane(drawing)
    space(drawing)
    legend(drawing)
    drawing.write(target)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
