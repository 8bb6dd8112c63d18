"""Pictures of frames. They know no solver, and need no GPU and no display."""

from glug.view.camera import Camera, automatic_camera
from glug.view.material import Material
from glug.view.preview import assemble, png_bytes, write_preview
from glug.view.scene_pictures import ScenePictures
from glug.view.trace.picture import render

__all__ = [
    "Camera",
    "Material",
    "ScenePictures",
    "assemble",
    "automatic_camera",
    "png_bytes",
    "render",
    "write_preview",
]
