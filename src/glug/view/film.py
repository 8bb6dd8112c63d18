"""Films of pictures: MP4 where the `video` extra is installed, animated WebP everywhere."""

import io
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from glug.errors import InputError, OutputError
from glug.extras import require
from glug.output import atomic

WEBP_QUALITY = 80
WEBP_EFFORT = 3  # of 6
MP4_QUALITY = 8  # of 10


def has_video() -> bool:
    """Whether films can be MP4."""
    return find_spec("imageio_ffmpeg") is not None


def write_film(pictures: Sequence[Path], path: Path, fps: float) -> None:
    """A film of picture files at `path`, which ends in .mp4 or .webp; it appears whole or not at all."""
    data = mp4_bytes(pictures, fps) if path.suffix == ".mp4" else webp_bytes(pictures, fps)
    atomic.replace_file(path, lambda file: file.write(data))


def webp_bytes(pictures: Sequence[Path], fps: float) -> bytes:
    """An animated WebP that plays in a loop."""
    ends = np.round(1000.0 / fps * np.arange(len(pictures) + 1)).astype(int)
    file = io.BytesIO()
    try:
        first, *others = (opened(path) for path in pictures)
        first.save(
            file,
            "WEBP",
            save_all=True,
            append_images=others,
            duration=[int(duration) for duration in np.diff(ends)],
            loop=0,
            quality=WEBP_QUALITY,
            method=WEBP_EFFORT,
        )
    except OSError as error:
        raise InputError(f"{pictures[0].parent}: a picture is damaged: {error}") from error
    return file.getvalue()


def mp4_bytes(pictures: Sequence[Path], fps: float) -> bytes:
    """An H.264 film that common players show. Odd sizes lose a row or a column: the codec wants even ones."""
    ffmpeg = require("imageio_ffmpeg", "video", "writing MP4")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        frames = _even(pictures)
        height, width, _ = next(frames).shape
        writer = ffmpeg.write_frames(
            str(path),
            (width, height),
            fps=fps,
            codec="libx264",
            quality=MP4_QUALITY,
            macro_block_size=2,
            ffmpeg_log_level="error",
        )
        try:
            writer.send(None)
            for picture in _even(pictures):
                writer.send(picture)
        except (OSError, RuntimeError) as error:  # the latter where there is no ffmpeg
            raise OutputError(f"the film could not be encoded: {error}") from error
        finally:
            writer.close()
        return path.read_bytes()


def _even(pictures: Sequence[Path]) -> Iterator[np.ndarray]:
    for path in pictures:
        try:
            picture = np.asarray(opened(path).convert("RGB"))
        except OSError as error:
            raise InputError(f"{path}: the picture is damaged: {error}") from error
        height, width, _ = picture.shape
        yield np.ascontiguousarray(picture[: height - height % 2, : width - width % 2])


def opened(path: Path) -> Image.Image:
    """A picture whose file is not kept open: a film may have more frames than a process may open files."""
    return Image.open(io.BytesIO(path.read_bytes()))
