"""`glug bench render`: seconds and memory for one picture of the honey coil.

It answers one question: how long does one look at a frame take? The coil is simulated once, coarsely, because the
time of a picture follows its pixels and samples; --resolution asks for a finer one. Each case has a process of its own,
kept to as many cores as it may use threads.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned

SCENE, RESOLUTION, FRAMES = "honey-coil", 48, 40  # at frame 40 the coil stands
SIZE = (640, 480)
SAMPLES = 64


def simulate(folder: str, resolution: int) -> int:
    """Run the scene into `folder`; the number of triangles of its last surface."""
    from glug.output import RunFolder
    from glug.scene import load
    from glug.simulation.run import run_to_folder

    settings = {"domain.resolution": resolution, "time.frames": FRAMES, "output.preview": False}
    run_to_folder(load(SCENE, settings), folder)
    return len(RunFolder(folder).read_surface(FRAMES).triangles)


def measure(folder: str, engine: str, threads: int) -> dict[str, Any]:
    """Seconds of one picture, from reading the run to the PNG, all imports included."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    begun = time.perf_counter()
    processor = time.process_time()
    from glug.view.sequence import RenderOptions, render_run

    options = RenderOptions(engine, SIZE, SAMPLES, only=[FRAMES])
    with tempfile.TemporaryDirectory() as target:
        done = render_run(folder, options, target)
        assert done.rendered == 1
    return {
        "seconds": time.perf_counter() - begun,
        "processor": time.process_time() - processor,
        "peak": isolated.peak_bytes(),
        "scalar": any("without LLVM" in note for note in done.notes),
    }


def bench(options: BenchOptions) -> list[BenchRow]:
    """A row per renderer and number of threads; prints seconds, seconds of all cores together, and memory."""
    from importlib.util import find_spec

    resolution = options.resolution or RESOLUTION
    size = f"{SIZE[0]}x{SIZE[1]}"
    lines = [["renderer", "threads", "picture", "samples", "seconds", "processor seconds", "peak MB"]]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        triangles = isolated.call(f"{__name__}:simulate", folder=run, resolution=resolution)
        for engine in ("mitsuba", "plain"):
            case = f"{SCENE}/{engine}/{size}"
            if engine == "mitsuba" and find_spec("mitsuba") is None:
                reason = "needs an extra; add it with: pip install 'glug[render]'"
                options.say(f"{case}: {reason}")
                rows.append(BenchRow(case, "none", resolution, skipped=reason))
                continue
            for threads in options.threads:
                r = isolated.call(f"{__name__}:measure", folder=run, engine=engine, threads=threads)
                variant = "none" if engine == "plain" else "scalar_rgb" if r["scalar"] else "llvm_ad_rgb"
                name = engine if engine == "plain" else f"{engine} ({variant})"
                numbers = [f"{r['seconds']:.1f}", f"{r['processor']:.1f}", f"{r['peak'] / 1e6:.0f}"]
                lines.append([name, str(threads), size, str(SAMPLES) if engine == "mitsuba" else "-", *numbers])
                rows.append(
                    BenchRow(
                        case,
                        variant,
                        resolution,
                        dofs=triangles,
                        threads=threads,
                        seconds=r["seconds"],
                        peak_gb=r["peak"] / 1e9,
                    )
                )
    options.say(aligned(lines))
    return rows
