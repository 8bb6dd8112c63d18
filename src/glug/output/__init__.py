"""The frame cache: a run on disk. It knows no solver."""

from glug.output.arrays import Checkpoint
from glug.output.folder import RunFolder

__all__ = ["Checkpoint", "RunFolder"]
