"""Makes docs/gallery.md and its pictures: runs and renders every scene of the library (`make gallery`).

Runs are kept in out/gallery and go on where they were stopped; pictures that are up to date are kept.
"""

import io
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from glug.scene import load, scenes
from glug.scene.loader import library_text
from glug.simulation.run import run_to_folder
from glug.view.sequence import RenderOptions, render_run

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "gallery"
SIZE = (480, 360)
SAMPLES = 64
QUALITY = 88  # of the JPEG


@dataclass(frozen=True)
class Shot:
    """Which moment of a scene is shown, and how finely it is simulated for it."""

    frame: int
    resolution: int


SHOTS = {
    "buckling-sheet": Shot(60, 56),
    "chocolate": Shot(48, 48),
    "container-fill": Shot(40, 48),
    "dam-break": Shot(14, 64),
    "dam-break-2d": Shot(14, 96),
    "honey-2d": Shot(40, 80),
    "honey-coil": Shot(60, 96),
    "jet-2d": Shot(48, 150),
    "letter-mixer": Shot(22, 64),
    "melting": Shot(60, 48),
    "variable-viscosity-block": Shot(36, 40),
    "viscous-beam": Shot(48, 36),
    "water-drop": Shot(14, 72),
}


def make_picture(name: str, shot: Shot, runs: Path) -> Path:
    """Run, render and store the picture of a scene; what is there already is kept."""
    scene = load(name, {"domain.resolution": shot.resolution, "time.frames": shot.frame})
    summary = run_to_folder(scene, runs / name, resume=True)
    if summary.interrupted:
        sys.exit("stopped; make gallery goes on from here")
    options = RenderOptions(size=SIZE, samples=SAMPLES, only=[shot.frame])
    done = render_run(runs / name, options, say=print)
    picture = Image.open(done.folder / f"{shot.frame:04d}.png").convert("RGB")
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=QUALITY, optimize=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    target = IMAGES / f"{name}.jpg"
    if not target.exists() or done.rendered:
        target.write_bytes(data.getvalue())
    return target


def page() -> str:
    """The text of docs/gallery.md."""
    parts = [
        "# Gallery\n",
        "Every scene of the library, rendered by Mitsuba (2D scenes by the plain renderer), with its file. `make",
        "gallery` makes this page: it runs and renders all scenes, most of them coarser than their own settings, and",
        "goes on where it was stopped.\n",
    ]
    for name, summary in scenes():
        shot = SHOTS[name]
        command = f"glug run {name} --resolution {shot.resolution} --frames {shot.frame}"
        parts += [
            f"## {name}\n",
            f"{summary[:1].upper()}{summary[1:]}.\n",
            f"![{name}](images/gallery/{name}.jpg)\n",
            f"    {command}",
            f"    glug render out/{name} --only {shot.frame} --size {SIZE[0]}x{SIZE[1]} --samples {SAMPLES}\n",
            "<details><summary>the scene file</summary>\n",
            f"```toml\n{library_text(name).rstrip()}\n```\n",
            "</details>\n",
        ]
    return "\n".join(parts)


def main() -> None:
    runs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/gallery")
    for number, (name, shot) in enumerate(SHOTS.items(), start=1):
        print(f"{number}/{len(SHOTS)} {name}", flush=True)
        make_picture(name, shot, runs)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
