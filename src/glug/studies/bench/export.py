"""`glug bench export`: how long exports take, and how much memory.

It answers one question: can a shot of 100 frames with 100 thousand triangles each be handed over within a minute?
The run is made of rings whose topology changes every frame, with as many particles as triangles; each format is
written in a process of its own.
"""

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from glug.geometry.sampled import SampledDistance, SurfaceMesh
from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

FRAMES = 100
TRIANGLES = 100_000
NEEDS = {"usd": "pxr", "abc": "alembic3d"}
FORMATS = ("usd", "abc", "vtk", "ply", "obj")
FPS = 24.0


def ring(index: int, triangles: int) -> SurfaceMesh:
    """A wavy ring of about so many triangles, tessellated differently in every frame."""
    around = int(np.sqrt(triangles / 2)) + index % 7
    across = triangles // 2 // around
    a, b = np.meshgrid(2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij")
    tube = 0.1 + 0.02 * np.sin(5 * a + 0.2 * index)
    reach = 0.3 + tube * np.cos(b)
    vertices = np.stack([0.5 + reach * np.cos(a), 0.2 + tube * np.sin(b), 0.5 + reach * np.sin(a)], axis=-1)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    corners = [((i + k) % around * across + (j + m) % across).ravel() for k, m in ((0, 0), (0, 1), (1, 1), (1, 0))]
    faces = np.concatenate([np.stack([corners[c] for c in face], axis=1) for face in ((0, 1, 2), (0, 2, 3))])
    points = vertices.reshape(-1, 3).astype(np.float32)
    return SurfaceMesh(points, faces.astype(np.int32), np.cross([0.0, 1.0, 0.0], points).astype(np.float32))


def make_run(folder: str, frames: int, triangles: int, with_particles: bool = True) -> dict[str, Any]:
    """A finished run of rings in `folder`, with as many particles as triangles or none; the triangles it has in all."""
    from glug.output import RunFolder
    from glug.scene import load, to_toml
    from glug.simulation.frame import Frame

    ball = {"kind": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.1}
    scene = load(
        {
            "name": "rings",
            "domain": {"size": [1.0, 1.0, 1.0]},
            "time": {"fps": FPS, "frames": frames - 1},
            "liquids": {"honey": {"material": "honey"}},
            "volumes": [{"liquid": "honey", "shape": ball}],
        }
    )
    run = RunFolder.create(folder, to_toml(scene), {"scene": "rings", "fps": FPS, "frames": frames - 1})
    nowhere = SampledDistance(np.ones((2, 2, 2), np.float32), (0.0, 0.0, 0.0), 1.0)
    generator = np.random.default_rng(0)
    total = 0
    for index in range(frames):
        surface = ring(index, triangles)
        particles = {
            "position": generator.random((triangles, 3), np.float32),
            "velocity": generator.random((triangles, 3), np.float32),
            "volume": np.full(triangles, 1e-9, np.float32),
            "age": np.full(triangles, index / FPS, np.float32),
            "id": np.arange(triangles, dtype=np.int32),
        }
        run.write_frame(Frame(index, index / FPS, surface, particles if with_particles else {}, nowhere, [], []))
        total += len(surface.triangles)
    run.finish()
    return {"triangles": total}


def measure(folder: str, to: str) -> dict[str, Any]:
    """Seconds, size and the peak of this process above what it held before."""
    import psutil

    from glug.output.export import export_run

    export_run(folder, to, last=0)  # imports the library
    before = psutil.Process().memory_info().rss
    begun = time.perf_counter()
    done = export_run(folder, to, overwrite=True)
    return {"seconds": time.perf_counter() - begun, "bytes": done.bytes, "peak": isolated.peak_bytes() - before}


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per format; `n` is the number of frames, `dofs` the triangles of one."""
    frames = options.steps or FRAMES
    lines = [["format", "frames", "triangles", "seconds", "MB", "peak MB above start"]]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / "run")
        made = isolated.call(f"{__name__}:make_run", folder=folder, frames=frames, triangles=TRIANGLES)
        each = made["triangles"] // frames
        for to in FORMATS:
            if to in NEEDS and find_spec(NEEDS[to]) is None:
                rows.append(BenchRow(f"export/{to}", "none", frames, skipped=f"{NEEDS[to]} is not installed"))
                lines.append([to, str(frames), str(each), "-", "-", "-"])
                continue
            r = isolated.call(f"{__name__}:measure", folder=folder, to=to)
            numbers = [f"{r['seconds']:.2f}", f"{r['bytes'] / 1e6:.1f}", f"{r['peak'] / 1e6:.1f}"]
            lines.append([to, str(frames), str(each), *numbers])
            rows.append(
                BenchRow(f"export/{to}", "none", frames, dofs=each, seconds=r["seconds"], peak_gb=r["peak"] / 1e9)
            )
    options.say(aligned(lines))
    return rows
