"""Kernels before they are needed: which ones a scene calls, and the archive of them that the package carries."""
