"""Makes docs/gallery.md and its pictures: runs and renders the scenes of the library (`make gallery`).

    python docs/gallery.py [SCENE ...]    these scenes; all of them when none is named
    python docs/gallery.py --page         the page alone: a scene without a picture says so

A picture carries a fingerprint of its scene and settings. One that has the right fingerprint is kept (delete it to
have it made again), runs are kept in out/gallery and go on where they were stopped, and the page is written anew
after every scene.
"""

import hashlib
import io
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from glug.errors import GlugError
from glug.scene import load, scenes
from glug.scene.loader import library_text
from glug.simulation.run import run_to_folder
from glug.view.sequence import RenderOptions, render_run

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "gallery"
RUNS = Path("out/gallery")
SIZE = (480, 360)
SAMPLES = 64
QUALITY = 88  # of the JPEG
COARSE = 48  # cells along the longest side of a scene that has no shot of its own


@dataclass(frozen=True)
class Shot:
    """Which moment of a scene is shown, and how finely it is simulated for it."""

    frame: int
    resolution: int


SHOTS = {
    "ball-in-circle": Shot(12, 96),
    "bubble-tube": Shot(80, 60),
    "buckling-sheet": Shot(28, 56),
    "chocolate": Shot(36, 48),
    "container-fill": Shot(32, 48),
    "dam-break": Shot(14, 64),
    "dam-break-2d": Shot(14, 96),
    "dam-break-tetrahedra": Shot(14, 64),
    "drop-2d": Shot(20, 48),
    "float-and-sink": Shot(30, 48),
    "four-bodies": Shot(16, 48),
    "figure-on-cake": Shot(10, 48),
    "glass-cow": Shot(26, 56),
    "honey-2d": Shot(40, 80),
    "honey-coil": Shot(36, 96),
    "honey-rope": Shot(60, 60),
    "jet-2d": Shot(48, 150),
    "letter-mixer": Shot(22, 64),
    "liquid-column": Shot(16, 36),
    "melting": Shot(40, 40),
    "paddle-wheel": Shot(30, 48),
    "rising-bubble": Shot(30, 64),
    "sinking-bubble": Shot(10, 48),
    "sphere-splash": Shot(12, 36),
    "splash-on-wall": Shot(20, 56),
    "splash-tank": Shot(14, 68),
    "thin-sheet": Shot(10, 48),
    "tight-channel": Shot(30, 96),
    "variable-viscosity-block": Shot(36, 40),
    "viscous-beam": Shot(16, 36),
    "water-cooler": Shot(24, 64),
    "water-drop": Shot(14, 72),
}


def shot_of(name: str) -> Shot:
    """The scene's shot; without one, the middle of a run on a coarse grid."""
    scene = load(name)
    return SHOTS.get(name, Shot(max(1, scene.time.frames // 2), min(scene.domain.resolution, COARSE)))


def picture_of(name: str) -> Path:
    """Where the picture of a scene is."""
    return IMAGES / f"{name}.jpg"


def fingerprint(name: str) -> str:
    """Of all that the picture of a scene is made from, but for glug itself."""
    return _hash(f"{library_text(name)} {shot_of(name)} {SIZE} {SAMPLES} {QUALITY}")


def run_of(name: str) -> Path:
    """Where the scene is run for its picture; runs that may be longer than it needs are used as they are."""
    return RUNS / f"{name}-{shot_of(name).resolution}-{_hash(library_text(name))}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def up_to_date(name: str) -> bool:
    """Whether the picture of a scene is there and of the scene as it is now."""
    path = picture_of(name)
    if not path.exists():
        return False
    with Image.open(path) as picture:
        return picture.info.get("comment") == fingerprint(name).encode()


def make_picture(name: str) -> None:
    """Run, render and store the picture of a scene."""
    shot, run = shot_of(name), run_of(name)
    scene = load(name, {"domain.resolution": shot.resolution, "time.frames": shot.frame})
    if run_to_folder(scene, run, resume=True).interrupted:
        sys.exit("stopped; make gallery goes on from here")
    done = render_run(run, RenderOptions(size=SIZE, samples=SAMPLES, only=[shot.frame]), say=print)
    if scene.domain.dim == 3 and done.engine != "mitsuba":
        raise GlugError("the gallery is rendered by Mitsuba: pip install 'glug[render]'")
    data = io.BytesIO()
    picture = Image.open(done.folder / f"{shot.frame:04d}.png").convert("RGB")
    picture.save(data, "JPEG", quality=QUALITY, optimize=True, comment=fingerprint(name).encode())
    IMAGES.mkdir(parents=True, exist_ok=True)
    picture_of(name).write_bytes(data.getvalue())


def page() -> str:
    """The text of docs/gallery.md."""
    parts = [
        "# Gallery\n",
        "Every scene of the library, rendered by Mitsuba (2D scenes by the plain renderer), with its file. `make",
        "gallery` makes this page: it runs and renders all scenes whose picture is missing or out of date, most of",
        "them coarser than their own settings, and goes on where it was stopped.\n",
    ]
    for name, summary in scenes():
        parts += [f"## {name}\n", f"{summary[:1].upper()}{summary[1:]}.\n", *_shown(name)]
        parts += ["<details><summary>the scene file</summary>\n"]
        parts += [f"```toml\n{library_text(name).rstrip()}\n```\n", "</details>\n"]
    return "\n".join(parts)


def _shown(name: str) -> list[str]:
    if not picture_of(name).exists():
        return [f"*No picture yet: `python docs/gallery.py {name}` makes it.*\n"]
    shot = shot_of(name)
    return [
        f"![{name}](images/gallery/{name}.jpg)\n",
        f"    glug run {name} --resolution {shot.resolution} --frames {shot.frame}",
        f"    glug render out/{name} --only {shot.frame} --size {SIZE[0]}x{SIZE[1]} --samples {SAMPLES}\n",
    ]


def write_page() -> None:
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")


def main(arguments: list[str]) -> None:
    library = [name for name, _ in scenes()]
    names = [name for name in arguments if name != "--page"]
    unknown = [name for name in names if name not in library]
    if unknown:
        sys.exit(f"no scene of the library is called {unknown[0]}; there are: {', '.join(library)}")
    chosen = [] if "--page" in arguments else names or library
    failed = []
    for number, name in enumerate(chosen, start=1):
        if up_to_date(name):
            print(f"{number}/{len(chosen)} {name}: up to date", flush=True)
            continue
        begun = time.perf_counter()
        try:
            make_picture(name)
        except GlugError as error:
            failed.append(name)
            print(f"{number}/{len(chosen)} {name}: {error}", file=sys.stderr, flush=True)
            continue
        print(f"{number}/{len(chosen)} {name}: {time.perf_counter() - begun:.0f} s", flush=True)
        write_page()
    write_page()
    if failed:
        sys.exit(f"no new picture of: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
