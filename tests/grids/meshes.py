"""The meshes on which the lab is tested, each made for the surfaces that will cut it."""

from collections.abc import Callable

from stretched import Stretched

from glug.grids.mesh import StrainMesh
from glug.studies.validate.exactness import square, tree

MESHES: dict[str, Callable[..., StrainMesh]] = {
    "regular": lambda *surfaces: square(32, shift=0.21),
    "regular 3d": lambda *surfaces: square(12, dim=3, shift=0.21),
    "stretched": lambda *surfaces: Stretched.random(32),
    "quadtree": lambda *surfaces: tree(64, 2, 0.21, surfaces),
    "octree": lambda *surfaces: tree(24, 3, 0.21, surfaces),
}
TREES = ("quadtree", "octree")
EVERY_MESH = tuple(MESHES)
GRIDS = tuple(name for name in MESHES if name not in TREES)
