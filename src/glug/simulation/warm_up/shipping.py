"""Make the kernels that the package carries: `make kernels`, or `python -m glug.simulation.warm_up.shipping`.

Every scene of the library runs in a process of its own: for some frames, to its end on a coarse grid, and with the
solvers that it would fall back on; then it tells which kernels it called. Those are compiled, in parallel, and packed.
Kernels that are kept from earlier are not compiled again, so that making the archive anew after an edit takes as long
as the edited modules do and the short runs. With `--known` nothing runs: what is listed already is compiled and packed,
which is enough where no kernel is new and none has got other arguments.
"""

import json
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from glug import compiler
from glug.errors import SceneError
from glug.kernel_store import SHIPPED, archive_for
from glug.precompile import KernelCall, compile_all, missing
from glug.progress import counting
from glug.scene import load, scenes
from glug.simulation.run import run_to_folder
from glug.simulation.simulation import Simulation
from glug.simulation.warm_up.needs import Seen, all_needed, called, traits_of, write_record
from glug.view.sequence import RenderOptions, render_run

KNOWN = "--known"
FINEST = 40  # cells along the longest side, at most
FRAMES = 4
COARSE = 20  # cells of the grid on which a scene runs to its end: what happens late is seen, too
LONGEST = 20.0  # seconds of a core for that
# What takes over where multigrid fails.
INSTEAD = ({"solver.viscosity": "jacobi-cg"}, {"solver.pressure": "ic-cg"}, {"solver.pressure": "jacobi-cg"})
AT_A_TIME = 2  # scenes: running one is left to one thread, and compiling is done by one anyway
DATE = (2000, 1, 1, 0, 0, 0)  # of everything in the archive: equal kernels make equal archives


def run_and_tell(name: str) -> None:
    """Run a scene for some frames, render one of them, and print what was called."""
    scene = load(name, {"domain.resolution": min(FINEST, load(name).domain.resolution)})
    with tempfile.TemporaryDirectory() as folder:
        run_to_folder(scene, Path(folder) / "run", frames=FRAMES, threads=1)
        render_run(Path(folder) / "run", RenderOptions("plain", (64, 48), 1, None, [1], 0.0, False))
    run_coarse(name, {}, LONGEST)
    if scene.domain.dim == 3:  # 2D scenes are solved at once
        for keys in INSTEAD:
            run_coarse(name, keys, 0.0)
    seen = {"traits": sorted(traits_of(load(name))), "calls": sorted(str(call) for call in called())}
    print(json.dumps(seen))


def run_coarse(name: str, keys: dict[str, str], seconds: float) -> None:
    """Run a scene on a coarse grid with other solvers, for two frames and then for `seconds` of a core at most.

    What it does not take is left out.
    """
    try:
        scene = load(name, {"domain.resolution": COARSE, **keys})
    except SceneError:
        return
    begun = time.process_time()
    for frame in Simulation(scene, threads=1).run():
        if frame.index >= 2 and time.process_time() - begun > seconds:
            return


def watch(name: str) -> Seen:
    """What a scene calls."""
    command = [sys.executable, "-m", "glug.simulation.warm_up.shipping", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    return Seen(frozenset(seen["traits"]), tuple(KernelCall.parse(text) for text in seen["calls"]))


def pack(calls: list[KernelCall]) -> Path:
    """Write the archive of compiled kernels."""
    path = archive_for(compiler.processor())
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".new")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_LZMA) as archive:
        for entry, call in sorted((call.entry(), call) for call in calls):
            archive.writestr(zipfile.ZipInfo(entry, DATE), call.stored(), zipfile.ZIP_LZMA)
    new.replace(path)
    return path


def record() -> None:
    """Write down what every scene of the library calls."""
    names = [name for name, _ in scenes()]
    seen = {}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for name, found in zip(names, pool.map(watch, names)):
            print(f"{name}: {len(found.calls)} kernels", flush=True)
            seen[name] = found
    write_record(seen)


def compile_missing() -> list[KernelCall]:
    """Compile what is known to be called, and return it, without calls of kernels that are no more or have changed."""
    calls = missing(all_needed())
    print(f"{len(calls)} kernels to compile", flush=True)
    with counting("compiling") as on_done:
        compile_all(calls, on_done)
    return [call for call in all_needed() if call.there()]


def main(known: bool) -> None:
    calls = compile_missing()
    if not known:
        record()
        calls = compile_missing()
    path = pack(calls)
    print(f"{path.relative_to(SHIPPED.parent)}: {len(calls)} kernels, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if sys.argv[1:] in ([], [KNOWN]):
        main(known=KNOWN in sys.argv)
    else:
        run_and_tell(sys.argv[1])
