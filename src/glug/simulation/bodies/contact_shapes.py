"""Solids as MuJoCo sees them: spheres, boxes, cylinders, capsules and planes as such, the rest as convex parts."""

from dataclasses import dataclass, field

import numpy as np

from glug.extras import require
from glug.scene.bodies import Solid
from glug.scene.schema import Domain
from glug.scene.shapes.combined import Union
from glug.scene.shapes.primitives import Box, HalfSpace, Sphere, in_space, is_flat
from glug.scene.shapes.round import Capsule, Cylinder
from glug.scene.shapes.solid_mesh import rest_mesh
from glug.scene.shapes.transform import rotation_matrix

CONVEX = 0.97  # of its hull's volume: a mesh that fills as much counts as convex
DEEP = 2.0  # cells that flat solids of 2D scenes are deep, so that contacts are along their sides
MOST_CORNERS = 64  # of a convex part
SAMPLES = 40  # along the longest side of what is no mesh file
# Of CoACD: concavity that is left, and a search that takes seconds instead of a minute.
DECOMPOSITION = {
    "threshold": 0.08,
    "max_ch_vertex": MOST_CORNERS,
    "preprocess_resolution": 30,
    "resolution": 1000,
    "mcts_nodes": 10,
    "mcts_iterations": 40,
    "mcts_max_depth": 2,
}


@dataclass(frozen=True)
class Part:
    """One convex part: attributes of a MuJoCo geom, those that are lengths [m], and the corners [m] of a mesh."""

    attributes: dict[str, str]
    lengths: dict[str, np.ndarray | list[float]] = field(default_factory=dict)
    corners: np.ndarray | None = None


def numbers(values: np.ndarray | list[float]) -> str:
    """Numbers as MuJoCo's files have them, to the last bit."""
    return " ".join(repr(float(v)) for v in np.ravel(values))


def parts_of(solid: Solid, domain: Domain, origin: np.ndarray) -> list[Part]:
    """The solid at rest, about `origin`."""
    if isinstance(solid.shape, Union) and not solid.shape._is_placed():
        alone = (solid.model_copy(update={"shape": shape}) for shape in solid.shape.parts)
        return [part for one in alone for part in parts_of(one, domain, origin)]
    return _simple(solid, domain, origin) or _meshes(solid, domain, origin)


def _simple(solid: Solid, domain: Domain, origin: np.ndarray) -> list[Part]:
    shape, depth = solid.shape, DEEP * domain.dx
    middle = 0.5 * domain.dx
    if isinstance(shape, Sphere):
        at = shape.place(in_space(shape.centre)) - origin
        radius = shape.scale * shape.radius
        if domain.dim == 3 and not is_flat(shape.centre):
            return [Part({"type": "sphere"}, {"size": [radius], "pos": at})]
        if domain.dim == 2 and is_flat(shape.centre):
            at[2] = middle - origin[2]
            return [Part({"type": "cylinder"}, {"size": [radius, 0.5 * depth], "pos": at})]
    if isinstance(shape, Box) and shape.rounding == 0.0:
        half, at = shape.scale * shape._half(), shape.place(shape._centre()) - origin
        if domain.dim == 2 or not np.isfinite(half[2]):
            if any(shape.rotate[:2]) or np.isfinite(half[2]) or domain.dim == 3:
                return []
            half[2], at[2] = 0.5 * depth, middle - origin[2]
        axes = rotation_matrix(shape.rotate)
        turned = numbers([*axes[:, 0], *axes[:, 1]])
        return [Part({"type": "box", "xyaxes": turned}, {"size": half, "pos": at})]
    if isinstance(shape, (Cylinder, Capsule)) and domain.dim == 3 and not is_flat(shape.start):
        ends = [shape.place(in_space(p)) - origin for p in (shape.start, shape.end)]
        size = [shape.scale * shape.radius]
        return [Part({"type": shape.kind}, {"size": size, "fromto": np.concatenate(ends)})]
    if isinstance(shape, HalfSpace) and not solid.moving and not shape._is_placed():
        normal = np.asarray(shape.normal, float)
        return [plane(in_space(shape.point) - origin, normal)]
    return []


def plane(point: np.ndarray, normal: np.ndarray) -> Part:
    """A wall without end, solid behind `normal`."""
    return Part({"type": "plane", "size": "0 0 1", "zaxis": numbers(normal)}, {"pos": point})


def _meshes(solid: Solid, domain: Domain, origin: np.ndarray) -> list[Part]:
    import trimesh

    vertices, triangles = rest_mesh(solid, domain, samples=SAMPLES)
    if len(triangles) == 0:
        return []
    vertices = vertices.astype(np.float64) - origin
    if domain.dim == 2:
        vertices = _slab(vertices, 0.5 * domain.dx - origin[2], DEEP * domain.dx)
    mesh = trimesh.Trimesh(vertices, triangles)
    hull = mesh.convex_hull
    if abs(mesh.volume) >= CONVEX * hull.volume:
        return [_part(np.asarray(hull.vertices))]
    coacd = require("coacd", "rigid", f"contact with '{solid.name}', which is not convex,")
    coacd.set_log_level("error")
    pieces = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), **DECOMPOSITION)
    return [_part(np.asarray(corners, float)) for corners, _ in pieces]


def _slab(vertices: np.ndarray, middle: float, depth: float) -> np.ndarray:
    """The mesh of a flat solid, as deep as contacts need it."""
    out = vertices.copy()
    mean = 0.5 * (vertices[:, 2].min() + vertices[:, 2].max())
    out[:, 2] = middle + np.where(vertices[:, 2] > mean, 0.5, -0.5) * depth
    return out


def _part(corners: np.ndarray) -> Part:
    return Part({"type": "mesh"}, corners=corners)
