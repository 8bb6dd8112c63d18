"""Previews of a run: a small picture per frame, then one film of them."""

import io
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

from glug.errors import OutputError
from glug.output import RunFolder
from glug.view.film import has_video, mp4_bytes, webp_bytes


def png_bytes(picture: np.ndarray) -> bytes:
    """A PNG of a picture (height, width, 3) uint8; equal pictures give equal bytes."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def write_preview(folder: RunFolder, index: int, picture: np.ndarray) -> Path:
    """Write the picture of frame `index`."""
    return write_png(folder, index, png_bytes(picture))


def write_png(folder: RunFolder, index: int, png: bytes) -> Path:
    """The same from the bytes of a PNG."""
    path = folder.file("preview", index)
    return folder.write_file(str(path.relative_to(folder.path)), png)


def assemble(folder: RunFolder, fps: float | None = None) -> Path | None:
    """Write preview.png (the last frame's picture), preview.webp (all of them, played in a loop) and preview.mp4.

    The last needs the `video` extra; where it cannot be encoded it is left out with a warning. `fps` [1/s] is the run's
    when None. Returns the looping film; None, and nothing is written, without pictures.
    """
    paths = sorted((folder.path / "preview").glob("[0-9]*.png"), key=lambda path: int(path.stem))
    if not paths:
        return None
    rate = float(folder.manifest()["fps"]) if fps is None else fps
    folder.write_file("preview.png", paths[-1].read_bytes())
    film = folder.write_file("preview.webp", webp_bytes(paths, rate))
    if has_video():
        try:
            data = mp4_bytes(paths, rate)
        except OutputError as error:
            warnings.warn(f"preview.mp4 is left out: {error}", stacklevel=2)
        else:
            folder.write_file("preview.mp4", data)
    return film
