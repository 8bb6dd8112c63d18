"""Pictures by Mitsuba 3: light that is bent, absorbed and scattered in the liquid (`pip install 'glug[render]'`).

Shapes of Mitsuba 3.9 do not move within a picture, and later ones only as rigid bodies, which a liquid is not. Motion
blur is therefore an average over moments of the shutter.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from glug.extras import require
from glug.geometry.sampled import SurfaceMesh
from glug.scene import Scene
from glug.scene.materials import linear
from glug.scene.shapes.solid_mesh import rest_mesh
from glug.view.camera import Camera
from glug.view.material import Material
from glug.view.mitsuba.denoise import clean_mean
from glug.view.mitsuba.glass_contact import pressed
from glug.view.mitsuba.studio import COVE_COLOUR, ROOM, Studio, build_studio
from glug.view.trace.picture import quantised, tone

CLEAR = 0.5  # clarity from which light goes through the liquid
PASSES = 8  # of independent samples: they tell what is noise
NORMAL_PASSES = 3
MOST_PATHS = 1 << 26  # in one pass: the LLVM variant holds them all at once
TRIAL_SECONDS = 120
DEPTH = 20  # surfaces and scatterings that a path meets at most
GLASS_REFRACTION = 1.5
SHARP = 0.8  # cosine of the angle between a solid's triangles below which their edge is an edge
_TRIAL = """
import mitsuba as mi
mi.set_variant("llvm_ad_rgb")
import numpy as np
assert np.isfinite(np.array(mi.render(mi.load_dict(mi.cornell_box()), spp=1))).all()
"""


def choose_variant() -> str:
    """The fast variant if this machine can run it, else the one that always runs.

    Mitsuba's LLVM variants need a shared library of LLVM on the system. An old one does not raise an error but ends
    the process, so it is tried in another one.
    """
    try:
        tried = subprocess.run([sys.executable, "-c", _TRIAL], capture_output=True, timeout=TRIAL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "scalar_rgb"
    return "llvm_ad_rgb" if tried.returncode == 0 else "scalar_rgb"


class MitsubaEngine:
    """Renders the frames of a scene with one camera, look and studio."""

    name = "mitsuba"

    def __init__(
        self,
        scene: Scene,
        camera: Camera,
        material: Material,
        size: tuple[int, int],
        samples: int,
        variant: str | None = None,
    ):
        """`samples` per pixel; `variant` of Mitsuba, None to choose one."""
        self._mi = require("mitsuba", "render", "rendering with Mitsuba")
        self.variant = variant if variant is not None else choose_variant()
        self.scene, self.camera, self.material, self.size, self.samples = scene, camera, material, size, samples
        domain = scene.domain
        closed = domain.sides["bottom"] != "open"
        self.floor = float(domain.lower[1])
        below = 0.0 if closed else 0.3 * float(domain.size[1])
        self.studio = build_studio(camera, self.floor - below, domain.lower, domain.upper)
        self._solids: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def picture(self, moments: Sequence[tuple[SurfaceMesh, float]], colours: np.ndarray | None = None) -> np.ndarray:
        """A picture (height, width, 3) uint8: the mean over the moments (surface, time [s]) of the shutter.

        colours  linear, at the vertices of the surfaces, of an opaque liquid; None for the material's
        """
        self._mi.set_variant(self.variant)
        width, height = self.size
        count = max(PASSES, len(moments), -(-width * height * self.samples // MOST_PATHS))
        samples = -(-self.samples // count)
        passes: list[np.ndarray] = []
        with tempfile.TemporaryDirectory() as folder:
            loaded: tuple[int, Any] | None = None
            for number in range(count):
                which = number * len(moments) // count
                if loaded is None or loaded[0] != which:
                    stage = self._stage(Path(folder), *moments[which], colours)
                    # Merged meshes come in an order that changes from time to time, and with it what is sampled.
                    loaded = which, self._mi.load_dict(stage, optimize=False)
                seen = self._mi.render(loaded[1], spp=samples, seed=number)
                passes.append(np.array(seen, dtype=np.float32)[..., :3])
        return quantised(tone(clean_mean(passes)))

    def _stage(self, folder: Path, surface: SurfaceMesh, time: float, colours: np.ndarray | None) -> dict[str, Any]:
        """The moment as Mitsuba's dictionary; meshes go through files in `folder`."""
        stage = {
            "type": "scene",
            "integrator": {"type": "volpathmis", "max_depth": DEPTH, "rr_depth": 10},
            "sensor": self._sensor(),
            "cove": self._cove(folder, self.studio),
            "room": {"type": "constant", "radiance": _rgb(ROOM)},
        }
        stage |= {name: self._soft_box(name) for name in self.studio.boxes}
        if len(surface.triangles):
            stage["liquid"] = self._liquid(folder, surface, time, colours)
        for number, solid in enumerate(self.scene.solids):
            if solid.name not in self._solids or solid.sequence is not None:
                self._solids[solid.name] = creased(*rest_mesh(solid, self.scene.domain, time))
            vertices, triangles, normals = self._solids[solid.name]
            if len(triangles):
                rotation, shift = (np.asarray(part) for part in solid.motion.pose(time))
                path = folder / f"solid{number}.ply"
                write_shaded_ply(path, vertices @ rotation.T + shift, triangles, normals @ rotation.T)
                stage[f"solid{number}"] = {"type": "ply", "filename": str(path), "bsdf": _solid_surface(solid)}
        return stage

    def _liquid(self, folder: Path, surface: SurfaceMesh, time: float, colours: np.ndarray | None) -> dict[str, Any]:
        clear = [solid for solid in self.scene.solids if solid.clarity >= CLEAR]
        vertices, touching, facing = pressed(surface.vertices, clear, time, self.scene.domain.dx)
        spacing = self.scene.domain.dx / self.scene.surface.resolution
        # What stands on the floor goes on below it: no film of air under the liquid.
        vertices[vertices[:, 1] < self.floor + 0.05 * spacing, 1] -= 2 * spacing
        path = folder / "liquid.ply"
        normals = smooth_normals(SurfaceMesh(vertices, surface.triangles, surface.velocities), NORMAL_PASSES)
        normals[touching] = facing
        write_shaded_ply(path, vertices, surface.triangles, normals, colours)
        shape: dict[str, Any] = {"type": "ply", "filename": str(path)}
        material, scale = self.material, float(max(self.scene.domain.size))
        if colours is not None:
            return shape | {"bsdf": _coloured(material)}
        if material.clarity < CLEAR:
            return shape | {"bsdf": _opaque(material)}
        absorption, scattering = material.absorption(scale), material.scattering(scale)
        extinction = absorption + scattering
        shape["bsdf"] = {"type": "dielectric", "int_ior": material.refraction, "ext_ior": 1.0}
        shape["interior"] = {
            "type": "homogeneous",
            "scale": float(extinction.max()),  # Mitsuba wants colours below 1
            "sigma_t": _rgb(extinction / extinction.max()),
            "albedo": _rgb(scattering / np.maximum(extinction, 1e-9)),
        }
        return shape

    def _sensor(self) -> dict[str, Any]:
        transform = self._mi.ScalarTransform4f
        camera, (width, height) = self.camera, self.size
        up = camera.axes()[1]
        return {
            "type": "perspective",
            "fov": camera.fov_degrees,
            "fov_axis": "y",
            "near_clip": 1e-3 * self.studio.reach,
            "far_clip": 1e3 * self.studio.reach,
            "to_world": transform().look_at(origin=list(camera.eye), target=list(camera.target), up=up.tolist()),
            "film": {
                "type": "hdrfilm",
                "width": width,
                "height": height,
                "pixel_format": "rgb",
                "rfilter": {"type": "gaussian"},
            },
            "sampler": {"type": "independent"},
        }

    def _cove(self, folder: Path, studio: Studio) -> dict[str, Any]:
        path = folder / "cove.ply"
        if not path.exists():
            write_shaded_ply(path, *studio.cove)
        matt = {"type": "twosided", "matt": {"type": "diffuse", "reflectance": _rgb(COVE_COLOUR)}}
        return {"type": "ply", "filename": str(path), "bsdf": matt}

    def _soft_box(self, name: str) -> dict[str, Any]:
        box, transform = self.studio.boxes[name], self._mi.ScalarTransform4f
        up = [0.0, 0.0, 1.0] if name == "top" else [0.0, 1.0, 0.0]
        facing = transform().look_at(origin=box.centre.tolist(), target=self.studio.middle.tolist(), up=up)
        return {
            "type": "rectangle",
            "to_world": facing @ transform().scale([box.half_width, box.half_height, 1.0]),
            "emitter": {"type": "area", "radiance": _rgb((box.radiance,) * 3)},
        }


def creased(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, triangles and normals of a solid whose shading is smooth, except across edges sharper than SHARP.

    Every triangle has vertices of its own; at each, the normal is the mean over the triangles there that face alike.
    """
    corners = vertices[triangles].astype(np.float64)
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces = areas / np.maximum(np.linalg.norm(areas, axis=1, keepdims=True), 1e-30)
    count, which = len(triangles), triangles.ravel()
    own = np.arange(3 * count)
    at = csr_array((np.ones(3 * count), which, np.arange(3 * count + 1)), shape=(3 * count, len(vertices)))
    around = coo_array((np.ones(3 * count), (which, own // 3)), shape=(len(vertices), count)).tocsr()
    beside = (at @ around).tocoo()  # corners x triangles that share the vertex
    alike = np.einsum("ij,ij->i", faces[beside.row // 3], faces[beside.col]) > SHARP
    normals = np.zeros((3 * count, 3))
    for axis in range(3):
        weights = np.where(alike, areas[beside.col, axis], 0.0)
        normals[:, axis] = np.bincount(beside.row, weights, 3 * count)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return corners.reshape(-1, 3).astype(np.float32), own.reshape(-1, 3).astype(np.int32), normals


def smooth_normals(surface: SurfaceMesh, passes: int) -> np.ndarray:
    """Unit normals at the vertices, each averaged with its neighbours': mirrored edges lose the lattice's steps."""
    normals = surface.normals()
    i, j = surface.triangles.ravel(), np.roll(surface.triangles, 1, axis=1).ravel()
    count = len(surface.vertices)
    # Every edge is in two triangles, once in each direction.
    beside = coo_array((np.ones(len(i)), (i, j)), shape=(count, count)).tocsr()
    for _ in range(passes):
        normals = normals + beside @ normals
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return normals


def write_shaded_ply(
    path: Path,
    vertices: np.ndarray,
    triangles: np.ndarray,
    normals: np.ndarray | None = None,
    colours: np.ndarray | None = None,
) -> None:
    """A PLY file as Mitsuba reads it: positions, normals (those of the triangles around if None), linear colours."""
    if normals is None:
        normals = SurfaceMesh(vertices, triangles, np.zeros_like(vertices)).normals()
    names = ["x", "y", "z", "nx", "ny", "nz", *(["r", "g", "b"] if colours is not None else [])]
    table = np.concatenate([vertices, normals, *([colours] if colours is not None else [])], axis=1)
    faces = np.empty(len(triangles), np.dtype([("count", "u1"), ("vertices", "<i4", (3,))]))
    faces["count"], faces["vertices"] = 3, triangles
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertices)}"]
    lines += [f"property float {name}" for name in names]
    lines += [f"element face {len(triangles)}", "property list uchar int vertex_indices", "end_header", ""]
    path.write_bytes("\n".join(lines).encode() + table.astype("<f4").tobytes() + faces.tobytes())


def _opaque(material: Material) -> dict[str, Any]:
    """A glossy coat over a matt body: milk, chocolate, paint."""
    return {
        "type": "roughplastic",
        "alpha": max(material.roughness, 0.02),
        "int_ior": material.refraction,
        "ext_ior": 1.0,
        "nonlinear": True,
        "diffuse_reflectance": _rgb(linear(material.colour)),
    }


def _coloured(material: Material) -> dict[str, Any]:
    """The same in the colours of the vertices; Mitsuba's plastic wants to know their mean, and does not."""
    return {
        "type": "principled",
        "base_color": {"type": "mesh_attribute", "name": "vertex_color"},
        "roughness": max(material.roughness, 0.02) ** 0.5,
        "specular": 0.5,
    }


def _solid_surface(solid: Any) -> dict[str, Any]:
    if solid.clarity >= CLEAR:
        return {"type": "thindielectric", "int_ior": GLASS_REFRACTION, "specular_transmittance": _rgb(solid.colour)}
    body = Material(solid.colour, 0.0, GLASS_REFRACTION, roughness=0.3)
    return {"type": "twosided", "body": _opaque(body)}


def _rgb(colour: Any) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(c) for c in colour]}
