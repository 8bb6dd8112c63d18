"""Writes slices through trees, coloured by level: images/octree-levels.png, images/octree-pool.png.

The first is the tree of the viscous solve for a standing figure, the second the sparse tree of a drop over a deep pool.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from glug.grids.octree.linear.sizing import liquid_tree
from glug.physics.viscosity.octree.tree import tree_inside
from glug.physics.viscosity.problem import ViscosityProblem
from glug.studies.problems.octree import figure

PIXELS = 8  # per finest cell
AIR, LINE = (250, 250, 248), (255, 255, 255)
COLOURS = ((222, 120, 74), (238, 180, 92), (122, 170, 140), (64, 106, 138), (52, 74, 104), (38, 46, 70))  # finest first
DRY = 0.35  # how much of its colour a leaf in the air keeps


def slice_through(n: int = 112) -> np.ndarray:
    """The slice through the figure's body, x to the right and y up."""
    frame = figure(n)
    problem = ViscosityProblem.build(frame.grid, frame.phi, frame.solid, frame.diffusion)
    system = problem.system()
    level = tree_inside(system.m, 4, 2).painted()
    k = frame.grid.shape[2] // 2
    levels, wet = level[:, :, k], system.c[0][:, :, k] > 0
    return drawn(levels, wet, wet)


def pool(n: int = 128) -> np.ndarray:
    """A slice through the middle of a drop over a pool; leaves in the air are pale."""

    def distance(points: np.ndarray) -> np.ndarray:
        x, y, _ = points.T
        drop = np.linalg.norm(points - np.array([0.5, 0.82, 0.5]) * n, axis=1) - 0.08 * n
        return np.minimum(0.9 * (y - 0.62 * n - 0.02 * n * np.sin(14.0 * x / n)), drop)

    tree = liquid_tree(distance, (n, n, n), 6, 4, 4)
    i, j = np.indices((n, n)).reshape(2, -1)
    leaf = tree.leaf_of(np.stack([i, j, np.full_like(i, n // 2)], axis=1))
    wet = (distance(tree.centre) < 0.0)[leaf] & (leaf >= 0)
    levels = np.where(leaf >= 0, tree.level[leaf], 0).reshape(n, n)
    return drawn(levels, (leaf >= 0).reshape(n, n), wet.reshape(n, n))


def drawn(levels: np.ndarray, shown: np.ndarray, wet: np.ndarray) -> np.ndarray:
    """Levels of finest cells as a picture, x to the right and y up, with lines between leaves."""
    rows = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    ends = [(max(r[0] - 2, 0), min(r[-1] + 3, n)) for r, n in zip(rows, levels.shape)]
    i, j = np.meshgrid(*(np.arange(*end) for end in ends), indexing="ij")
    picture = np.array(COLOURS, np.uint8)[levels[i, j]]
    pale = (shown & ~wet)[i, j]
    picture[pale] = (DRY * picture[pale] + (1.0 - DRY) * np.array(AIR)).astype(np.uint8)
    picture[~shown[i, j]] = AIR
    picture = picture.repeat(PIXELS, axis=0).repeat(PIXELS, axis=1)
    for axis, index in ((0, i), (1, j)):
        border = index % (1 << levels[i, j].astype(int)) == 0
        lines = np.kron(border & shown[i, j], np.ones((PIXELS, PIXELS), bool))
        first = np.arange(lines.shape[axis]) % PIXELS == 0
        picture[lines & (first[:, None] if axis == 0 else first[None, :])] = LINE
    return np.ascontiguousarray(picture.swapaxes(0, 1)[::-1])


if __name__ == "__main__":
    images = Path(__file__).parent / "images"
    Image.fromarray(slice_through()).save(images / "octree-levels.png", optimize=True)
    Image.fromarray(pool()).save(images / "octree-pool.png", optimize=True)
