"""Pictures and a film of a run: `glug render`.

A picture carries, as text inside its PNG, a fingerprint of all that it was made from. One that is there with the
right fingerprint is kept, any other is made again: that is how a render goes on, and how it follows a change.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from PIL import Image, PngImagePlugin
from scipy.spatial import cKDTree

from glug.errors import InputError
from glug.extras import require
from glug.geometry.sampled import SurfaceMesh
from glug.output import RunFolder, atomic
from glug.output.lock import lock_folder
from glug.output.motions import as_recorded
from glug.scene import Scene, load
from glug.scene.materials import linear
from glug.view.camera import Camera
from glug.view.engines import Engine, Moment, PlainEngine
from glug.view.film import has_video, write_film
from glug.view.framing import motion_box, scene_camera
from glug.view.material import Material, material_of

VERSION = 2  # of the look: pictures of another one are made again
ENGINES = ("auto", "mitsuba", "plain")
FILMS = ("film.mp4", "film.webp")
FRAMING_FRAMES = 24  # that the camera is chosen from
SHUTTER_MOMENTS = 8  # averaged for motion blur
COLOUR_NEIGHBOURS = 6  # particles that colour a vertex
_KEY = "glug"  # of the fingerprint in a PNG
_LARGEST = 16384  # pixels along a side


@dataclass(frozen=True)
class RenderOptions:
    """How a run is rendered.

    engine    auto (Mitsuba where it is installed), mitsuba or plain
    samples   per pixel, of Mitsuba
    look      name of a preset; None for the liquid's own
    only      indices of the frames; None for all, with a film
    shutter   part of the frame's duration that the shutter is open: 0 is sharp, 0.5 is usual for film
    reframe   choose a camera even if the scene has one
    """

    engine: str = "auto"
    size: tuple[int, int] = (640, 480)
    samples: int = 64
    look: str | None = None
    only: Sequence[int] | None = None
    shutter: float = 0.0
    reframe: bool = False


@dataclass
class RenderSummary:
    """What became of a render; `notes` are for the user."""

    folder: Path
    engine: str
    rendered: int = 0
    kept: int = 0  # pictures that were there already
    film: Path | None = None
    notes: list[str] = field(default_factory=list)


def render_run(
    path: str | Path,
    options: RenderOptions | None = None,
    output: str | Path | None = None,
    on_picture: Callable[[int, int], None] = lambda done, total: None,
    say: Callable[[str], None] = lambda text: None,
) -> RenderSummary:
    """Render the frames of the run in `path` to `output` (its folder `render` when None): 0001.png, ..., and a film.

    on_picture  called with (done, in all) when a picture is there
    say         is told a note as soon as it is known

    A run that is still being written is rendered as far as it is, without a film. InputError, and nothing is
    written, if `path` is no run, if frames are missing or damaged, or if an option makes no sense.
    """
    options = _checked(options if options is not None else RenderOptions())
    run = RunFolder(path)
    scene = as_recorded(load(run.path / "scene.toml"), run)
    frames, whole = _frames(run, options.only)
    summary = RenderSummary(Path(output) if output is not None else run.path / "render", "")

    def note(text: str) -> None:
        summary.notes.append(text)
        say(text)

    if not whole and options.only is None:
        note(f"the run is not complete: rendering frames {frames[0]} to {frames[-1]}, no film yet")
    camera = _camera(run, scene, options)
    material = material_of(next(iter(scene.liquids.values())), options.look)
    engine = _engine(scene, camera, material, options, note)
    summary.engine = engine.name
    atomic.make_folder(summary.folder)
    lock = lock_folder(summary.folder)
    atomic.remove_leftovers(summary.folder)
    settings = [VERSION, engine.name, options.size, options.samples, options.shutter, asdict(camera), asdict(material)]
    todo = _unfinished(run, scene, summary.folder, frames, settings)
    summary.kept = len(frames) - len(todo)
    leftovers = _leftovers(summary.folder, frames) if options.only is None else []
    for path in leftovers:
        path.unlink()
    if todo or leftovers:
        _remove_films(summary.folder, sorted(todo) if not whole else [], note)
    for index, fingerprint in todo.items():
        picture = _picture(run, scene, engine, index, options)
        atomic.replace_file(_file(summary.folder, index), partial(_write_png, picture, fingerprint))
        summary.rendered += 1
        on_picture(summary.rendered, len(todo))
    if whole and len(frames) > 1:
        _make_film(summary, frames, scene.time.fps, note)
    del lock
    return summary


def _remove_films(folder: Path, anew: Sequence[int], note: Callable[[str], None]) -> None:
    """They would not be films of the pictures that are there; a note if no new one follows the frames `anew`."""
    for name in FILMS:
        if (folder / name).exists():
            (folder / name).unlink()
            if anew:
                which = f"frame {anew[0]} was" if len(anew) == 1 else f"{len(anew)} frames were"
                note(f"{name} removed: {which} made anew")


def _make_film(summary: RenderSummary, frames: Sequence[int], fps: float, note: Callable[[str], None]) -> None:
    summary.film = summary.folder / (FILMS[0] if has_video() else FILMS[1])
    if not has_video():
        note("the film is an animated WebP; for MP4: pip install 'glug[video]'")
    if summary.rendered or not summary.film.exists():
        write_film([_file(summary.folder, index) for index in frames], summary.film, fps)


def _checked(options: RenderOptions) -> RenderOptions:
    if options.engine not in ENGINES:
        raise InputError(f"no renderer is called '{options.engine}'; there are: {', '.join(ENGINES)}")
    if not all(16 <= side <= _LARGEST for side in options.size):
        raise InputError(f"a picture has 16 to {_LARGEST} pixels along a side, not {options.size[0]}x{options.size[1]}")
    if not 1 <= options.samples <= 1 << 20:
        raise InputError(f"samples must be at least 1 and at most {1 << 20}, not {options.samples}")
    if not 0.0 <= options.shutter <= 1.0:
        raise InputError(f"the shutter is open for 0 to 1 of a frame, not {options.shutter:g}")
    return options


def _frames(run: RunFolder, only: Sequence[int] | None) -> tuple[list[int], bool]:
    """The frames to render, all there and whole, and whether they are all of a complete run."""
    faults = run.faults()
    if only is not None:
        there = set(run.frames())
        for index in only:
            if index in faults:
                raise InputError(faults[index])
            if index not in there:
                raise InputError(f"{run.path}: has no frame {index}; it has {_extent(sorted(there))}")
        return sorted(set(only)), False
    if faults:
        others = f" (and {len(faults) - 1} more frames)" if len(faults) > 1 else ""
        raise InputError(f"{next(iter(faults.values()))}{others}; resume the run, or choose frames with --only")
    frames = run.frames()
    if not frames:
        raise InputError(f"{run.path}: the run has no frames yet")
    return frames, bool(run.manifest().get("complete"))


def _extent(frames: Sequence[int]) -> str:
    return f"{frames[0]} to {frames[-1]}" if frames else "none"


def _camera(run: RunFolder, scene: Scene, options: RenderOptions) -> Camera:
    """The scene's; without one, one that frames the motion, or the domain while the motion is not known yet."""
    if options.reframe:
        scene = scene.model_copy(update={"camera": None})
    if scene.camera is not None or not run.manifest().get("complete"):
        return scene_camera(scene, options.size)
    faults = run.faults()
    every = [index for index in run.frames() if index not in faults]
    chosen = [every[i] for i in np.unique(np.linspace(0, len(every) - 1, FRAMING_FRAMES).round().astype(int))]
    box = motion_box(scene, [run.read_surface(i).vertices for i in chosen], [i / scene.time.fps for i in chosen])
    return scene_camera(scene, options.size, box)


def _engine(
    scene: Scene, camera: Camera, material: Material, options: RenderOptions, note: Callable[[str], None]
) -> Engine:
    wanted = options.engine
    if scene.domain.dim == 2:
        if wanted == "mitsuba":
            raise InputError("Mitsuba renders 3D scenes; a 2D scene takes --renderer plain")
        wanted = "plain"
    elif wanted == "auto" and find_spec("mitsuba") is None:
        note("rendering with the plain renderer; for Mitsuba: pip install 'glug[render]'")
        wanted = "plain"
    if wanted == "plain":
        return PlainEngine(scene, camera, material, options.size)
    require("mitsuba", "render", "rendering with Mitsuba")
    from glug.view.mitsuba.engine import MitsubaEngine

    engine = MitsubaEngine(scene, camera, material, options.size, options.samples)
    if engine.variant.startswith("scalar"):
        note("Mitsuba runs without LLVM, up to three times slower; a system library of LLVM 16 or newer speeds it up")
    return engine


def _picture(run: RunFolder, scene: Scene, engine: Engine, index: int, options: RenderOptions) -> np.ndarray:
    surface, time = run.read_surface(index), index / scene.time.fps
    if options.shutter == 0.0:
        moments: list[Moment] = [(surface, time)]
    else:
        spread = (np.arange(SHUTTER_MOMENTS) + 0.5) / SHUTTER_MOMENTS - 0.5
        offsets = [float(x) for x in spread * options.shutter / scene.time.fps]
        moments = [(moved(surface, offset), max(time + offset, 0.0)) for offset in offsets]
    return engine.picture(moments, _colours(run, scene, surface, index) if options.look is None else None)


def moved(surface: SurfaceMesh, seconds: float) -> SurfaceMesh:
    """The surface where its velocities take it in `seconds`, which may be negative."""
    vertices = surface.vertices + np.float32(seconds) * surface.velocities
    return SurfaceMesh(vertices, surface.triangles, surface.velocities)


def _colours(run: RunFolder, scene: Scene, surface: SurfaceMesh, index: int) -> np.ndarray | None:
    """Linear colours at the vertices where a scene has liquids of several colours and particles that tell them."""
    palette = np.array([linear(liquid.colour) for liquid in scene.liquids.values()])
    if len(np.unique(palette, axis=0)) < 2 or "liquid" not in run.names("particles", index):
        return None
    particles = run.read_particles(index, ["position", "liquid"])
    if len(particles["position"]) == 0 or len(surface.vertices) == 0:
        return None
    count = min(COLOUR_NEIGHBOURS, len(particles["position"]))
    _, which = cKDTree(particles["position"]).query(surface.vertices, k=count)
    return palette[particles["liquid"][which.reshape(len(surface.vertices), count)]].mean(axis=1)


# Pictures on disk


def _file(folder: Path, index: int) -> Path:
    return folder / f"{index:04d}.png"


def _leftovers(folder: Path, frames: Sequence[int]) -> list[Path]:
    """Pictures that `glug render` made of frames that the run no longer has."""
    names = {_file(folder, index).name for index in frames}
    return [
        path
        for path in sorted(folder.glob("[0-9]*.png"))
        if path.stem.isdigit() and path.name not in names and _stored_fingerprint(path) is not None
    ]


def _unfinished(
    run: RunFolder, scene: Scene, target: Path, frames: Sequence[int], settings: list[Any]
) -> dict[int, str]:
    """Fingerprints of the pictures that are not there yet, by frame."""
    shared = hashlib.sha256(json.dumps(settings).encode() + run.scene_toml().encode())
    found = {}
    for index in frames:
        own = shared.copy()
        own.update(run.file("surface", index).read_bytes())
        for solid in scene.solids:
            own.update(b"".join(part.tobytes() for part in solid.motion.pose(index / scene.time.fps)))
        fingerprint = own.hexdigest()
        if _stored_fingerprint(_file(target, index)) != fingerprint:
            found[index] = fingerprint
    return found


def _write_png(picture: np.ndarray, fingerprint: str, file: BinaryIO) -> None:
    about = PngImagePlugin.PngInfo()
    about.add_text(_KEY, fingerprint)
    Image.fromarray(picture).save(file, "PNG", pnginfo=about)


def _stored_fingerprint(path: Path) -> str | None:
    """What `_write_png` wrote into the picture; None if there is no picture or if it is damaged."""
    try:
        with Image.open(path) as picture:
            picture.load()
            return picture.info.get(_KEY)
    except (OSError, SyntaxError):
        return None
