"""The tree of a step, windows of finest cells along it, and how scenes on it begin and show."""
