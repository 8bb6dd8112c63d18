"""`glug bench view`: is the browser viewer smooth, small, and no burden to a simulation?

The page is driven in a headless Chromium that draws without a graphics card, on 200 frames of 200 thousand triangles
whose topology changes: the worst case for a picture. A picture counts as shown once its pixels can be read back;
`the same frame drawn again` is what of it is drawing, which elsewhere a graphics card does. `processor` are the seconds
that server and browser compute for one, on all cores, which a busy machine does not change. The cost to a
simulation is that of a client that fetches every frame as it appears and does not draw, beside the same run without a
viewer, in turns.
"""

import contextlib
import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from glug.errors import GlugError, InputError
from glug.studies import isolated
from glug.studies.registry import BenchOptions
from glug.studies.rows import BenchRow, aligned
from glug.view.browser.chromium import chromium, require_chromium

FRAMES = 200
TRIANGLES = 200_000
WINDOW = {"width": 1280, "height": 720}
LIVE_SCENE, LIVE_CELLS, LIVE_FRAMES = "dam-break", 64, 20
REDRAWS = 20
TURNS = 3  # runs with and without a viewer
PATIENCE_MS = 300_000.0
# Moves the slider through the frames; the time from the move to the picture [ms].
SCRUB = """async (frames) => {
  const slider = document.getElementById("frame"), gl = document.getElementById("canvas").getContext("webgl2");
  const pixel = new Uint8Array(4), taken = [];
  for (const frame of frames) {
    const begun = performance.now();
    slider.value = frame;
    slider.dispatchEvent(new Event("input"));
    while (document.body.dataset.frame !== String(frame)) await new Promise((done) => setTimeout(done, 0));
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    taken.push(performance.now() - begun);
  }
  return taken;
}"""

# Draws what is there once more, a number of times: a switch of the page that changes nothing [ms].
REDRAW = """async (times) => {
  const unchanged = document.getElementById("show-box"), gl = document.getElementById("canvas").getContext("webgl2");
  const pixel = new Uint8Array(4), taken = [];
  for (let k = 0; k < times; k++) {
    const begun = performance.now();
    unchanged.dispatchEvent(new Event("change"));
    await new Promise((done) => requestAnimationFrame(done)); // asked for after the page, so that it comes after it
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    taken.push(performance.now() - begun);
  }
  return taken;
}"""


@contextlib.contextmanager
def viewer(folder: str) -> Iterator[tuple[psutil.Process, str]]:
    """`glug view folder` as a process, and its address."""
    command = [sys.executable, "-c", "from glug.entry import main; main()", "view", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise GlugError(f"glug view {folder} did not start")
        yield psutil.Process(process.pid), found[0]
    finally:
        process.terminate()
        process.communicate()


def peak_of(process: psutil.Process) -> int:
    """The most memory that a process has had resident [bytes]; where the system does not tell, what it has now."""
    status = Path(f"/proc/{process.pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    peaks = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return peaks[0] if peaks else process.memory_info().rss


def receive(folder: str, frames: int) -> dict[str, Any]:
    """Fetch every frame without drawing: median and longest seconds, and the server's peak."""
    with viewer(folder) as (server, url):
        connection = http.client.HTTPConnection(url.removeprefix("http://").rstrip("/"))
        taken = []
        for index in range(frames):
            begun = time.perf_counter()
            connection.request("GET", f"/api/surface/{index}")
            connection.getresponse().read()
            taken.append(time.perf_counter() - begun)
        return {"median": statistics.median(taken), "longest": max(taken), "peak": peak_of(server)}


def browse(folder: str, frames: int) -> dict[str, Any]:
    """Open the page, then scrub: seconds to the first picture and to that of a frame, and the server's peak."""
    with viewer(folder) as (server, url), chromium() as browser:
        browser.new_page().goto("about:blank")  # the browser itself is up
        page = browser.new_page(viewport=WINDOW)
        begun = time.perf_counter()
        page.goto(url)
        page.wait_for_selector("body[data-frame]", timeout=PATIENCE_MS)
        first = time.perf_counter() - begun
        page.set_default_timeout(PATIENCE_MS)
        page.evaluate(SCRUB, [0])
        before = _processor_seconds()
        taken = [ms / 1000 for ms in page.evaluate(SCRUB, list(range(1, frames)))]
        processor = (_processor_seconds() - before) / len(taken)
        drawn = [ms / 1000 for ms in page.evaluate(REDRAW, REDRAWS)]
        return {
            "first": first,
            "drawn": statistics.median(drawn),
            "drawn_longest": max(drawn),
            "processor": processor,
            "median": statistics.median(taken),
            "longest": max(taken),
            "mean": statistics.fmean(taken),
            "peak": peak_of(server),
        }


def _processor_seconds() -> float:
    """Of all processes that this one started: server and browser."""
    used = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return sum(t.user + t.system for t in used)


def simulate(folder: str, cells: int, frames: int, watched: bool) -> dict[str, Any]:
    """Run the live scene; wall seconds of its steps and frames, and seconds of processor time of run and viewer."""
    from glug.scene import load
    from glug.simulation.run import run_to_folder
    from glug.view.browser.process import Viewer

    scene = load(LIVE_SCENE, {"domain.resolution": cells, "time.frames": frames})
    run_to_folder(load(scene, {"time.frames": 1, "domain.resolution": 16}), f"{folder}-warm")  # loads the kernels
    if not watched:
        return {"seconds": run_to_folder(scene, folder).seconds, "viewer": 0.0, "received": 0}
    viewing = Viewer(Path(folder), "127.0.0.1", None)
    with viewing.beside():
        assert viewing.process is not None
        server = psutil.Process(viewing.process.pid)
        client = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import follow; print(follow({viewing.url!r}))"],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(3.0)  # both processes are up
        before = server.cpu_times()
        seconds = run_to_folder(scene, folder).seconds
        received, _ = client.communicate()
        after = server.cpu_times()
    used = after.user + after.system - before.user - before.system
    return {"seconds": seconds, "viewer": used, "received": int(received)}


def follow(url: str) -> int:
    """Fetch every frame and step of a run as they appear, until it is complete; how many frames came."""
    connection = http.client.HTTPConnection(url.removeprefix("http://").rstrip("/"))

    def get(path: str) -> bytes:
        connection.request("GET", path)
        return connection.getresponse().read()

    seen: set[int] = set()
    steps = 0
    while True:
        run = json.loads(get("/api/run"))
        for index in run["frames"]:
            if index not in seen:
                seen.add(index)
                get(f"/api/surface/{index}")
        if run["state"] != "waiting":
            steps = json.loads(get(f"/api/stats?from={steps}"))["total"]
        if run["state"] == "complete":
            return len(seen)
        time.sleep(1.0)


def bench(options: BenchOptions) -> list[BenchRow]:
    """Rows for receiving, the first picture, scrubbing, drawing alone, and the live scene alone and watched.

    `--steps N` takes N frames instead of 200, `--resolution N` another grid for the live scene.
    """
    frames = options.steps or FRAMES
    rows: list[BenchRow] = []
    lines = [["what", "median", "longest", "processor", "server peak MB"]]
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / "run")
        isolated.call(
            "glug.studies.bench.export:make_run",
            folder=folder,
            frames=frames,
            triangles=TRIANGLES,
            with_particles=False,
        )
        r = isolated.call(f"{__name__}:receive", folder=folder, frames=frames)
        rows.append(_row("receive", frames, r["median"], r["peak"]))
        lines.append(_line("a frame received", r["median"], r["longest"], r["peak"]))
        try:
            require_chromium()
        except InputError as error:
            rows += [
                BenchRow(f"view/{case}", "none", frames, skipped=str(error)) for case in ("first", "scrub", "draw")
            ]
            lines.append([f"page: {error}", "-", "-", "-", "-"])
        else:
            r = isolated.call(f"{__name__}:browse", folder=folder, frames=frames)
            rows.append(_row("first", frames, r["first"], r["peak"]))
            rows.append(_row("scrub", frames, r["median"], r["peak"]))
            rows.append(_row("draw", frames, r["drawn"], r["peak"]))
            lines.append(_line("first picture", r["first"], r["first"], r["peak"]))
            lines.append(_line("a frame scrubbed to, drawn", r["median"], r["longest"], r["peak"], r["processor"]))
            lines.append(_line("the same frame drawn again", r["drawn"], r["drawn_longest"], r["peak"]))
    options.say(f"{frames} frames of {TRIANGLES} triangles [s]\n{aligned(lines)}\n")
    return rows + _live(options)


def _live(options: BenchOptions) -> list[BenchRow]:
    cells = options.resolution or LIVE_CELLS
    taken: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as place:
        for turn in range(TURNS):
            for watched in (False, True) if turn % 2 == 0 else (True, False):
                folder = str(Path(place) / f"{turn}-{watched}")
                taken[watched].append(
                    isolated.call(
                        f"{__name__}:simulate", folder=folder, cells=cells, frames=LIVE_FRAMES, watched=watched
                    )
                )
    alone, seen = (statistics.median(r["seconds"] for r in taken[watched]) for watched in (False, True))
    slower = sorted(b["seconds"] / a["seconds"] - 1 for a, b in zip(taken[False], taken[True]))
    used = statistics.median(r["viewer"] for r in taken[True])
    received = min(r["received"] for r in taken[True])
    options.say(
        f"{LIVE_SCENE} at {cells} cells, {LIVE_FRAMES} frames, medians of {TURNS}: {alone:.2f} s alone, "
        f"{seen:.2f} s watched ({seen / alone - 1:+.1%}; single turns {slower[0]:+.1%} to {slower[-1]:+.1%}); "
        f"the viewer used {used:.2f} s of processor time "
        f"({used / alone:.1%} of the run's wall time) and sent {received} frames"
    )
    return [
        BenchRow("view/live-alone", "none", cells, seconds=alone),
        BenchRow("view/live-watched", "none", cells, seconds=seen),
        BenchRow("view/live-server", "none", cells, seconds=used),
    ]


def _row(case: str, frames: int, seconds: float, peak: int) -> BenchRow:
    return BenchRow(f"view/{case}", "none", frames, dofs=TRIANGLES, seconds=seconds, peak_gb=peak / 1e9)


def _line(what: str, median: float, longest: float, peak: int, processor: float | None = None) -> list[str]:
    used = "-" if processor is None else f"{processor:.3f}"
    return [what, f"{median:.3f}", f"{longest:.3f}", used, f"{peak / 1e6:.0f}"]
