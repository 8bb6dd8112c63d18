"""Two runs beside each other: `glug compare`.

compare.webp   both, frame by frame; compare.mp4 as well with the `video` extra
compare.png    their volumes, and the distance of their surfaces, over time
compare.json   the numbers
"""

import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from glug import __version__
from glug.errors import InputError
from glug.geometry.surface_distance import surface_distance
from glug.output import RunFolder
from glug.output.export.shot import Shot, ShotFrame, open_shot
from glug.output.publish import published
from glug.view.engines import PlainEngine
from glug.view.film import has_video, write_film
from glug.view.framing import scene_camera
from glug.view.material import material_of
from glug.view.plot import Line, Panel, plot
from glug.view.preview import png_bytes

RESULT = "compare.json"
CAPTION = 14  # height of letters [pixels]
GAP = 4  # pixels between the pictures
INK, PAPER = (60, 60, 60), (255, 255, 255)


@dataclass(frozen=True)
class Measured:
    """One frame of both runs. Distances are None where a run has no liquid."""

    frame: int
    time: float  # [s]
    volumes: tuple[float, float]  # [m3], enclosed by the surfaces
    mean_distance: float | None  # [m]
    largest_distance: float | None  # [m]


@dataclass(frozen=True)
class Comparison:
    """What `compare_runs` made."""

    folder: Path
    frames: list[Measured]
    video: bool  # whether there is an MP4

    def text(self) -> str:
        """One line for the user: where it is, and how far the runs part."""
        far = [(m.largest_distance, m.time) for m in self.frames if m.largest_distance is not None]
        apart = "no frame has liquid in both"
        if far:
            largest, time = max(far)
            apart = f"surfaces up to {1000 * largest:.3g} mm apart, at {time:.3g} s"
        film = "compare.mp4" if self.video else "compare.webp (for MP4: pip install 'glug[video]')"
        return f"{self.folder}: {len(self.frames)} frames, {apart}; {film}, compare.png, {RESULT}"


def compare_runs(
    first_run: str | Path,
    second_run: str | Path,
    target: str | Path | None = None,
    overwrite: bool = False,
    first: int | None = None,
    last: int | None = None,
    on_frame: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare the frames `first` to `last` (all that both runs are to have, when None) of two run folders.

    target     the folder to write; when None, `A-vs-B` beside the first run
    overwrite  replace an earlier comparison there

    InputError, with nothing written, if the runs have other frame rates or a frame is missing or damaged.
    """
    shots = _shots(Path(first_run), Path(second_run), first, last)
    names = _names(*(shot.run.path for shot in shots))
    path = _target(shots[0], names, target, overwrite)
    draw = [_painter(shot, shots) for shot in shots]
    frames, pictures = [], []
    with published(path, is_folder=True) as folder:
        scratch = folder / "pictures"
        scratch.mkdir()
        for done, pair in enumerate(zip(*shots), start=1):
            frames.append(_measure(*pair))
            picture = _beside([paint(frame) for paint, frame in zip(draw, pair)], names, pair[0].time)
            pictures.append(scratch / f"{pair[0].index:04d}.png")
            pictures[-1].write_bytes(png_bytes(picture))
            if on_frame is not None:
                on_frame(done, len(shots[0].frames))
        write_film(pictures, folder / "compare.webp", shots[0].fps)
        if has_video():
            write_film(pictures, folder / "compare.mp4", shots[0].fps)
        for file in pictures:
            file.unlink()
        scratch.rmdir()
        (folder / "compare.png").write_bytes(png_bytes(_plot(frames, names)))
        (folder / RESULT).write_text(json.dumps(_record(shots, frames), indent=1, allow_nan=False) + "\n")
    return Comparison(path, frames, has_video())


def _shots(one: Path, other: Path, first: int | None, last: int | None) -> tuple[Shot, Shot]:
    if last is None:
        manifests = [RunFolder(path).manifest() for path in (one, other)]
        last = min((int(m["frames"]) for m in manifests if isinstance(m.get("frames"), int)), default=None)
    a, b = open_shot(one, first, last), open_shot(other, first, last)
    if a.fps != b.fps:
        raise InputError(f"{one} has {a.fps:g} frames per second and {other} {b.fps:g}: their frames do not match")
    if a.scene.domain.dim != b.scene.domain.dim:
        raise InputError(f"{one} is {a.scene.domain.dim}D and {other} {b.scene.domain.dim}D: they cannot be compared")
    return a, b


def _names(one: Path, other: Path) -> tuple[str, str]:
    """What tells the two folders apart."""
    one, other = one.resolve(), other.resolve()
    if one == other:
        raise InputError(f"{one}: is the same run twice; give two different ones")
    if one.name != other.name:
        return one.name, other.name
    return f"{one.parent.name}-{one.name}", f"{other.parent.name}-{other.name}"


def _target(shot: Shot, names: tuple[str, str], target: str | Path | None, overwrite: bool) -> Path:
    if target is None:
        path = shot.run.path.resolve().parent / f"{names[0]}-vs-{names[1]}"
    else:
        path = Path(target).resolve()
    if path.exists():
        if not (path / RESULT).is_file():
            raise InputError(f"{path}: exists already, and is no comparison; choose another with -o")
        if not overwrite:
            raise InputError(f"{path}: exists already; replace it with --overwrite, or choose another with -o")
    return path


def _measure(a: ShotFrame, b: ShotFrame) -> Measured:
    apart = surface_distance(a.surface, b.surface)
    mean, largest = apart if apart is not None else (None, None)
    return Measured(a.index, a.time, (a.surface.volume(), b.surface.volume()), mean, largest)


# Pictures


def _painter(shot: Shot, shots: tuple[Shot, Shot]) -> Callable[[ShotFrame], Image.Image]:
    """Draws a frame: the previews of the runs where both were seen through the same camera, else new pictures."""
    size = shots[0].scene.output.preview_size
    camera = scene_camera(shots[0].scene, size)
    same = scene_camera(shots[1].scene, size) == camera and shots[1].scene.output.preview_size == size
    if same and all(s.run.file("preview", i).exists() for s in shots for i in s.frames):
        return lambda frame: _opened(shot.run.file("preview", frame.index))
    liquid = next(iter(shot.scene.liquids.values()))
    engine = PlainEngine(shot.scene, camera, material_of(liquid), size)
    return lambda frame: Image.fromarray(engine.picture([(frame.surface, frame.time)]))


def _opened(path: Path) -> Image.Image:
    try:
        return Image.open(io.BytesIO(path.read_bytes())).convert("RGB")
    except OSError as error:
        raise InputError(f"{path}: the picture is damaged: {error}") from error


def _beside(pictures: list[Image.Image], names: tuple[str, str], time: float) -> np.ndarray:
    """Two pictures, with a line of text above each."""
    width, height = pictures[0].size
    above = 2 * CAPTION
    sheet = Image.new("RGB", (2 * width + GAP, height + above), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(CAPTION)
    for number, (picture, name) in enumerate(zip(pictures, names)):
        left = number * (width + GAP)
        sheet.paste(picture if picture.size == (width, height) else picture.resize((width, height)), (left, above))
        draw.text((left + CAPTION, CAPTION), name, fill=INK, font=font, anchor="lm")
    draw.text((2 * width + GAP - CAPTION, CAPTION), f"{time:.2f} s", fill=INK, font=font, anchor="rm")
    return np.asarray(sheet)


def _plot(frames: list[Measured], names: tuple[str, str]) -> np.ndarray:
    times = [m.time for m in frames]
    volumes = [Line(names[k], times, [1000.0 * m.volumes[k] for m in frames]) for k in range(2)]
    apart = [
        Line("mean", times, [None if m.mean_distance is None else 1000.0 * m.mean_distance for m in frames]),
        Line("largest", times, [None if m.largest_distance is None else 1000.0 * m.largest_distance for m in frames]),
    ]
    return plot(
        [
            Panel("Volume inside the surface", "time [s]", "[litres]", volumes),
            Panel("Distance between the surfaces", "time [s]", "[mm]", apart),
        ]
    )


def _record(shots: tuple[Shot, Shot], frames: list[Measured]) -> dict[str, Any]:
    return {
        "glug": __version__,
        "runs": [{"folder": str(shot.run.path), "scene": shot.scene.name, **_effort(shot)} for shot in shots],
        "fps": shots[0].fps,
        "units": {"time": "s", "volumes": "m3", "mean_distance": "m", "largest_distance": "m"},
        "frames": [asdict(m) for m in frames],
    }


def _effort(shot: Shot) -> dict[str, float]:
    """Steps and seconds that the run took for these frames."""
    steps = [line for line in shot.run.stats() if line["frame"] <= shot.frames[-1]]
    return {"steps": len(steps), "seconds": sum(sum(line.get("seconds", {}).values()) for line in steps)}
