"""Blender as a Python module (the `bpy` wheel), in its own environment: it wants Python 3.11 and an older NumPy."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".venv-blender"
_MARK = "glug-result:"

# Opens a file as a user would and tells what is there in every frame, in Blender's world (z up).
_LOOK = """
import json, sys
import bpy
import numpy as np

path, fps = sys.argv[1], float(sys.argv[2])
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps, scene.render.fps_base = round(fps), round(fps) / fps
if path.endswith(".abc"):
    bpy.ops.wm.alembic_import(filepath=path, set_frame_range=True)
elif path.endswith(".vdb"):
    bpy.ops.object.volume_import(filepath=path)
else:
    bpy.ops.wm.usd_import(filepath=path, set_frame_range=True, import_guide=True)


def look(item, graph):
    shown = item.evaluated_get(graph)
    data = shown.data
    position = data.attributes["position"].data
    local = np.empty(3 * len(position), np.float32)
    position.foreach_get("vector", local)
    matrix = np.array(shown.matrix_world)
    world = local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    found = {"points": len(world), "lower": world.min(0).tolist(), "upper": world.max(0).tolist()}
    if "velocity" in data.attributes:
        velocity = np.empty(3 * len(position), np.float32)
        data.attributes["velocity"].data.foreach_get("vector", velocity)
        found["velocity"] = (velocity.reshape(-1, 3).mean(0) @ matrix[:3, :3].T).tolist()
    if item.type == "MESH":
        corners = np.empty(3 * len(data.polygons), np.int32)
        data.loops.foreach_get("vertex_index", corners)
        a, b, c = (world[corners.reshape(-1, 3)[:, k]] for k in range(3))
        found["faces"] = len(data.polygons)
        found["volume"] = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)
    return found


frames = {}
for number in range(scene.frame_start, scene.frame_end + 1):
    if path.endswith(".vdb"):
        break
    scene.frame_set(number)
    graph = bpy.context.evaluated_depsgraph_get()
    frames[number] = {i.name: look(i, graph) for i in bpy.data.objects if i.type in ("MESH", "POINTCLOUD")}
volumes = {}
for volume in bpy.data.volumes:
    volume.grids.load()
    volumes[volume.name] = {g.name: [g.data_type, np.array(g.matrix_object).tolist()] for g in volume.grids}
result = {
    "version": bpy.app.version_string,
    "first": scene.frame_start,
    "last": scene.frame_end,
    "metres": scene.unit_settings.scale_length,
    "materials": {i.name: [s.name for s in i.material_slots] for i in bpy.data.objects if i.type == "MESH"},
    "frames": frames,
    "volumes": volumes,
}
print("glug-result:" + json.dumps(result))
"""


def packages() -> Path | None:
    """Where Blender's wheel is installed, None if it is not."""
    found = sorted(HOME.glob("lib/python3*/site-packages/bpy"))
    return found[0].parent if found else None


def require_blender() -> Path:
    """Skips, and says why, where `make test-all` could not install Blender."""
    place = packages()
    if place is None:
        pytest.skip("Blender is not there: `make test-all` installs the bpy wheel where Python 3.11 is")
    return place


def open_in_blender(path: Path, fps: float) -> dict[str, Any]:
    require_blender()
    python = HOME / "bin" / "python"
    probe = subprocess.run([python, "-c", "import bpy"], capture_output=True, text=True, timeout=300)
    if probe.returncode:
        pytest.skip(f"Blender does not start here: {probe.stderr.strip().splitlines()[-1]}")
    done = subprocess.run([python, "-c", _LOOK, str(path), str(fps)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith(_MARK))
    return json.loads(line.removeprefix(_MARK))
