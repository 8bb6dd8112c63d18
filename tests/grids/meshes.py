"""The meshes on which the lab is tested, each made for the surfaces that will cut it."""

from collections.abc import Callable

from stretched import Stretched
from triangles import Triangles

from glug.grids.mesh import Mesh
from glug.studies.validate.exactness import square, tree

MESHES: dict[str, Callable[..., Mesh]] = {
    "regular": lambda *surfaces: square(32, shift=0.21),
    "regular 3d": lambda *surfaces: square(12, dim=3, shift=0.21),
    "stretched": lambda *surfaces: Stretched.random(32),
    "quadtree": lambda *surfaces: tree(64, 2, 0.21, surfaces),
    "octree": lambda *surfaces: tree(24, 3, 0.21, surfaces),
    "triangles": lambda *surfaces: Triangles.random(24),
}
EVERY_MESH = tuple(MESHES)
TREES = ("quadtree", "octree")
GRIDS = ("regular", "regular 3d", "stretched")
WITH_STRAINS = GRIDS + TREES
