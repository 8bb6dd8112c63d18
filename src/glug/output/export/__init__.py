"""Runs in the formats of other programs."""

from glug.output.export.formats import FORMATS, Exported, export_run

__all__ = ["FORMATS", "Exported", "export_run"]
