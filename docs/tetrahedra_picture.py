"""Writes images/tetrahedra-cut.png: a cut through the tetrahedra of a dam break on its way, wet cells blue."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import glug
from glug.grids.regular import CENTRE
from glug.grids.tetrahedra.field import values_at
from glug.simulation.context import StepContext
from glug.simulation.step import run_stages

CELLS, STEPS, DEPTH = 48, 24, 0.4135  # of the scene, and where it is cut [m]
SCALE, MORE = 480, 2  # pixels per metre, and how many times finer the picture is drawn
WET, DRY, LINE = (150, 195, 235), (246, 246, 244), (70, 90, 110)


def cut(corners: np.ndarray, z: float) -> np.ndarray | None:
    """The corners (n, 2), in order, of what a plane cuts out of a tetrahedron (4, 3)."""
    side, points = corners[:, 2] - z, []
    for i in range(4):
        for j in range(i + 1, 4):
            if (side[i] < 0) != (side[j] < 0):
                part = side[i] / (side[i] - side[j])
                points.append(corners[i, :2] + part * (corners[j, :2] - corners[i, :2]))
    if len(points) < 3:
        return None
    found = np.array(points)
    away = found - found.mean(axis=0)
    return found[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]


def picture() -> Image.Image:
    scene = glug.load("dam-break", {"domain.resolution": CELLS, "solver.mesh": "tetrahedra"})
    simulation = glug.Simulation(scene)
    for _ in range(STEPS):
        simulation.step_once()
    context = StepContext(simulation.setting, simulation.state)
    run_stages(context, simulation.stages.upto("tetrahedra"))
    mesh = context.mesh.mesh
    wet = values_at(context.phi, context.grid, CENTRE, mesh.cell_position) < 0
    width, height = (int(SCALE * MORE * n) for n in scene.domain.size[:2])
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for t, corners in enumerate(mesh.simplices.points[mesh.simplices.corners]):
        polygon = cut(corners, DEPTH)
        if polygon is not None:
            pixels = [(float(x * SCALE * MORE), float(height - y * SCALE * MORE)) for x, y in polygon]
            draw.polygon(pixels, fill=WET if wet[mesh.cell_of[t]] else DRY, outline=LINE)
    return image.resize((width // MORE, height // MORE), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    picture().quantize(64).save(Path(__file__).parent / "images" / "tetrahedra-cut.png", optimize=True)
