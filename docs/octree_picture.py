"""Writes images/octree-levels.png: a slice through the tree of a standing figure, coloured by level."""

from pathlib import Path

import numpy as np
from PIL import Image

from glug.physics.viscosity.octree.tree import tree_inside
from glug.physics.viscosity.problem import ViscosityProblem
from glug.studies.problems.octree import figure

PIXELS = 8  # per finest cell
AIR, LINE = (250, 250, 248), (255, 255, 255)
COLOURS = ((222, 120, 74), (238, 180, 92), (122, 170, 140), (64, 106, 138))  # finest to coarsest


def slice_through(n: int = 112) -> np.ndarray:
    """The slice through the figure's body, x to the right and y up."""
    frame = figure(n)
    problem = ViscosityProblem.build(frame.grid, frame.phi, frame.solid, frame.diffusion)
    system = problem.system()
    level = tree_inside(system.m, 4, 2).level
    k = frame.grid.shape[2] // 2
    levels, wet = level[:, :, k], system.c[0][:, :, k] > 0
    rows = np.flatnonzero(wet.any(axis=1)), np.flatnonzero(wet.any(axis=0))
    i, j = np.meshgrid(*(np.arange(r[0] - 2, r[-1] + 3) for r in rows), indexing="ij")
    picture = np.array(COLOURS, np.uint8)[levels[i, j]]
    picture[~wet[i, j]] = AIR
    picture = picture.repeat(PIXELS, axis=0).repeat(PIXELS, axis=1)
    for axis, index in ((0, i), (1, j)):
        border = index % (1 << levels[i, j].astype(int)) == 0
        lines = np.kron(border & wet[i, j], np.ones((PIXELS, PIXELS), bool))
        first = np.arange(lines.shape[axis]) % PIXELS == 0
        picture[lines & (first[:, None] if axis == 0 else first[None, :])] = LINE
    return np.ascontiguousarray(picture.swapaxes(0, 1)[::-1])


if __name__ == "__main__":
    Image.fromarray(slice_through()).save(Path(__file__).parent / "images" / "octree-levels.png", optimize=True)
