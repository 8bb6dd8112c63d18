"""The browser viewer: a small server that reads a run folder, and the page it serves. No solver, no kernels."""
