"""The meshes on which the lab is tested, each made for the surfaces that will cut it."""

from collections.abc import Callable, Sequence

import numpy as np
from stretched import Stretched
from triangles import Triangles

from glug.grids.mesh import Distance, Mesh
from glug.grids.tetrahedra.lattice import Box, Grading
from glug.grids.tetrahedra.mesh import Tetrahedra
from glug.studies.validate.exactness import square, tree


def simplices(n: int, dim: int, surfaces: Sequence[Distance], *, levels: int = 3, shift: float = 0.0) -> Tetrahedra:
    """A lattice over [-1.2, 1.2]^dim with leaves 3 / n wide, graded; irregular where points are shifted."""
    box = Box.covering(np.full(dim, -1.2), np.full(dim, 1.2), 3.0 / n, levels)
    mesh = Tetrahedra.over(box, box.leaves(surfaces, Grading(levels, band=2)))
    return mesh.irregular(shift * 3.0 / n) if shift else mesh


MESHES: dict[str, Callable[..., Mesh]] = {
    "regular": lambda *surfaces: square(32, shift=0.21),
    "regular 3d": lambda *surfaces: square(12, dim=3, shift=0.21),
    "stretched": lambda *surfaces: Stretched.random(32),
    "quadtree": lambda *surfaces: tree(64, 2, 0.21, surfaces),
    "octree": lambda *surfaces: tree(24, 3, 0.21, surfaces),
    "triangles": lambda *surfaces: Triangles.random(24),
    "graded triangles": lambda *surfaces: simplices(40, 2, surfaces),
    "graded tetrahedra": lambda *surfaces: simplices(16, 3, surfaces, levels=2),
    "irregular tetrahedra": lambda *surfaces: simplices(12, 3, (), levels=1, shift=0.1),
}
EVERY_MESH = tuple(MESHES)
TREES = ("quadtree", "octree")
SIMPLICES = ("triangles", "graded triangles", "graded tetrahedra", "irregular tetrahedra")
GRIDS = ("regular", "regular 3d", "stretched")
WITH_STRAINS = GRIDS + TREES
