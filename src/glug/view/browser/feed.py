"""What the page is told about a run: an overview, frames as packets, statistics. Reads the run folder and nothing else.

The folder may still be growing, or not be there yet: then the overview says so and the page asks again.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from glug.errors import InputError
from glug.output import RunFolder
from glug.output.lines import Tail
from glug.view.browser.cache import ByteCache
from glug.view.browser.description import Description, describe
from glug.view.browser.packets import pack
from glug.view.browser.quantities import particle_values, quantities, surface_values
from glug.view.browser.slices import cut, slice_quantities

CACHE_BYTES = 128 << 20
PARTICLES_SHOWN = 300_000  # at most; of more, every n-th by id, the same ones in every frame


class Feed:
    """The answers to the page's questions about the run in `path`; InputError where there is none."""

    def __init__(self, path: Path, *, awaited: bool = False):
        """`awaited`: the run may not have begun yet."""
        self.path = path
        self._awaited = awaited
        self._cache = ByteCache(CACHE_BYTES)
        self._stats = Tail(path / "stats.jsonl")
        self._bodies = Tail(path / "bodies.jsonl")
        self._described: tuple[str, Description] | None = None
        self._lock = threading.Lock()  # one large read at a time
        self._folder: RunFolder | None = None
        if not awaited:
            self.folder()

    def folder(self) -> RunFolder:
        """The run, once it has begun."""
        if self._folder is None:
            self._folder = RunFolder(self.path)
        return self._folder

    def overview(self) -> dict[str, Any]:
        """The scene and how far the run is."""
        try:
            folder = self.folder()
            manifest = folder.manifest()
        except InputError:
            if self._awaited:
                return {"state": "waiting", "frames": []}
            raise
        frames = folder.frames()
        newest = frames[-1] if frames else 0
        return {
            "state": "complete" if manifest.get("complete") else "unfinished",  # being written, or stopped
            "frames": frames,
            "last": int(manifest.get("frames", newest)),
            "fps": float(manifest.get("fps", 24.0)),
            "folder": self.path.name,
            "colours": quantities(folder.names("particles", newest)),
            "slices": slice_quantities(folder.names("fields", newest)),
            **self._description().page,
        }

    def stats(self, start: int) -> dict[str, Any]:
        """The steps from number `start` on; `total` is less than `start` if the run began again."""
        records = self._stats.records()
        solves = sorted({name for record in records[-50:] for name in record.get("solves", {})})
        return {
            "total": len(records),
            "solves": solves,
            "steps": [
                {
                    "frame": r["frame"],
                    "time": r["time"],
                    "volume": r["liquid_volume"],
                    "target": r["target_volume"],
                    "liquid": r.get("liquid"),  # there is none in runs of earlier versions
                    "came": _mass(r.get("came", {})),
                    "left": _mass(r.get("left", {})),
                    "seconds": sum(r.get("seconds", {}).values()),
                    "iterations": {name: solve["iterations"] for name, solve in r.get("solves", {}).items()},
                }
                for r in records[start:]
            ],
        }

    def surface(self, index: int, colour: str) -> bytes:
        """Vertices, triangles and, unless `colour` is "material", a value per vertex."""

        def make() -> bytes:
            mesh = self.folder().read_surface(index)
            arrays = {"position": mesh.vertices, "triangle": mesh.triangles}
            header = self._header(index)
            if colour != "material":
                arrays["value"] = surface_values(self.folder(), index, mesh, colour)
                header["range"] = _range(arrays["value"])
            return pack(header, arrays)

        return self._frame(("surface", index, colour), "surface", index, make)

    def particles(self, index: int, colour: str) -> bytes:
        """Positions and a value per particle."""

        def make() -> bytes:
            folder = self.folder()
            with self._lock:
                position, value, total = particle_values(folder, index, colour, PARTICLES_SHOWN)
            header = {**self._header(index), "total": total, "range": _range(value)}
            return pack(header, {"position": position, "value": value})

        return self._frame(("particles", index, colour), "particles", index, make)

    def slice(self, index: int, quantity: str, axis: int, at: float) -> bytes:
        """A cell's value per pixel in the plane across `axis` at `at` [m]; see `slices.cut`."""

        def make() -> bytes:
            with self._lock:
                header, arrays = cut(self.folder(), index, quantity, axis, at, self._description().domain)
            return pack({**self._header(index), **header}, arrays)

        return self._frame(("slice", index, quantity, axis, at), "fields", index, make)

    def solid(self, number: int, index: int) -> bytes:
        """The mesh of a solid at rest; of a sequence of meshes, the one that frame `index` shows."""
        description = self._description()
        if not 0 <= number < len(description.solids):
            raise InputError(f"{self.path}: no solid number {number}; it has {len(description.solids)}")
        solid = description.solids[number]
        time = index / description.fps if solid.sequence is not None else 0.0

        def make() -> bytes:
            from glug.scene.shapes.solid_mesh import rest_mesh

            vertices, triangles = rest_mesh(solid, description.domain, time)
            return pack({"number": number}, {"position": vertices, "triangle": triangles})

        return self._cache.get(("solid", number, time), None, make)

    def _frame(self, key: tuple[Any, ...], kind: str, index: int, make: Callable[[], bytes]) -> bytes:
        """`make()`, or what it made of the same file before. A run that begins again writes its files anew."""
        path = self.folder().file(kind, index)
        try:
            found = path.stat()
        except OSError:
            return make()  # says what is missing
        return self._cache.get(key, (found.st_mtime_ns, found.st_size), make)

    def _header(self, index: int) -> dict[str, Any]:
        poses: list[Any] = next((r["bodies"] for r in reversed(self._bodies.records()) if r["frame"] == index), [])
        return {"index": index, "bodies": poses}

    def _description(self) -> Description:
        text = self.folder().scene_toml()
        if self._described is None or self._described[0] != text:
            self._described = (text, describe(text))
        return self._described[1]


def _mass(amounts: dict[str, dict[str, Any]]) -> float:
    return sum(amount["mass"] for amount in amounts.values())


def _range(values: np.ndarray) -> list[float] | None:
    finite = values[np.isfinite(values)]
    return [float(finite.min()), float(finite.max())] if len(finite) else None
