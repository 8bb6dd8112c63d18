"""What the user describes: the scene, its shapes, motions and materials, and the scene library."""

from glug.scene.loader import load, parse_override, scenes, starter_scene
from glug.scene.schema import Scene
from glug.scene.toml_writer import to_toml

__all__ = ["Scene", "load", "parse_override", "scenes", "starter_scene", "to_toml"]
