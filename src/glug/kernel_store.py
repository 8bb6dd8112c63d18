"""Where compiled kernels come from and are kept: an archive that the package carries, and a folder of the user's.

A compiled kernel is found by what it was compiled from and for: the text of its module and of the modules of the
package that it imports (Numba alone misses an edited callee in another file), its name, the types of its arguments,
the processor, and the versions of Python, Numba and NumPy. Paths and dates play no part, so that what was compiled
elsewhere is found as well, and what an edited module compiled to is not. There is one file per kernel and signature,
and no index: any number of processes may add to a folder at a time.

Environment:
    GLUG_CACHE_DIR   where compiled kernels are kept (default: the user's cache folder)
    GLUG_SHIPPED=0   do not use the kernels that the package carries
"""

import contextlib
import functools
import hashlib
import io
import lzma
import os
import pickle
import re
import sys
import uuid
import zipfile
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

PACKAGE = Path(__file__).parent
SHIPPED = PACKAGE / "shipped"
IMPORTS = re.compile(r"^[ \t]*from glug(?:\.([\w.]+))? import (\([^)]*\)|[^\n(]+)", re.MULTILINE)
IMPORTED_NAME = re.compile(r"(\w+)(?: as \w+)?")
COMPILER = "compiler.py"  # changes machine code
AROUND = ("jit.py", "kernel_store.py")  # every kernel module imports them, and none is compiled from them
TYPES = 6  # where Numba puts a listing of all types, with paths, among the parts of a compiled kernel


def _file(place: Path) -> Path:
    """Where the code of a module or package is."""
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """The files of the package that a module imports from: b of `from glug.a import b`, where `a` is a package, too."""
    files = set()
    for module, names in IMPORTS.findall(path.read_text()):
        place = PACKAGE.joinpath(*filter(None, module.split(".")))
        files.add(_file(place))
        if place.is_dir():
            files |= {_file(place / name) for name in IMPORTED_NAME.findall(names)}
    # A name that `__init__` defines is no file.
    return frozenset(f for f in files if f.exists() and f not in [PACKAGE / name for name in AROUND])


def _sources(path: Path) -> set[Path]:
    """A module of the package and, through any number of steps, the modules it imports from it."""
    found: set[Path] = set()
    new = {path}
    while new:
        found |= new
        new = {file for path in new for file in _imported(path)} - found
    return found


@functools.cache
def digest_of(module: str) -> str:
    """A digest of the present sources of a module file; the folder of its compiled kernels has this name."""
    digest = hashlib.sha256()
    compiler = PACKAGE / COMPILER
    for path in sorted(_sources(Path(module)) | ({compiler} if compiler.exists() else set())):
        digest.update(str(path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.name).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def kept_kernels() -> Path:
    """The user's folder of compiled kernels."""
    base = os.environ.get("GLUG_CACHE_DIR")
    root = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "glug"
    return root / "kernels"


def archive_for(processor: str) -> Path:
    """The archive of kernels that this Python and this processor can use."""
    return SHIPPED / f"kernels-{sys.implementation.cache_tag}-{processor}.zip"


@functools.cache
def _shipped(archive: Path) -> zipfile.ZipFile | None:
    """The archive, in memory: forked processes would share the position in a file."""
    if os.environ.get("GLUG_SHIPPED") == "0" or not archive.exists():
        return None
    return zipfile.ZipFile(io.BytesIO(archive.read_bytes()))


def _without_paths(data: bytes) -> bytes:
    """A compiled kernel whose error messages do not tell where it was made; of the same length, as offsets need it."""
    for place in (PACKAGE, Path(numba.__file__).parent):
        data = data.replace(bytes(place), b"." * len(bytes(place)))
    return data


class KernelCache(_Cache):
    """What Numba asks for the compiled versions of one kernel, and tells of new ones."""

    def __init__(self, function: Any, options: dict[str, Any]):
        self._digest = digest_of(function.__code__.co_filename)
        self._name = function.__qualname__
        self._options = sorted((k, sorted(v) if isinstance(v, set) else v) for k, v in options.items())
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(kept_kernels() / self._digest)

    def entry(self, signature: Any, codegen: Any) -> str:
        """The name under which the kernel compiled for a signature and processor is kept."""
        versions = (numba.__version__, np.__version__.split(".")[0], sys.implementation.cache_tag)
        vectors = numba.config.USING_SVML  # type: ignore[attr-defined]
        what = repr((self._options, signature, codegen.magic_tuple(), versions, vectors))
        return f"{self._digest}/{self._name}-{hashlib.sha256(what.encode()).hexdigest()[:16]}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel compiled for a signature, or None."""
        target_context.refresh()
        if not self._enabled or not self.holds(sig, target_context.codegen()):
            return None
        try:
            parts = pickle.loads(self.stored(sig, target_context.codegen()))
        except (OSError, EOFError, pickle.UnpicklingError, zipfile.BadZipFile, lzma.LZMAError):
            return None  # cut short by a power cut, or gone meanwhile
        return CompileResult._rebuild(target_context, *parts)

    def holds(self, signature: Any, codegen: Any) -> bool:
        """Whether the kernel compiled for a signature is there."""
        entry = self.entry(signature, codegen)
        return self._carries(entry, codegen) is not None or (kept_kernels() / entry).exists()

    def stored(self, signature: Any, codegen: Any) -> bytes:
        """The kernel compiled for a signature, as it is kept; OSError where there is none."""
        entry = self.entry(signature, codegen)
        shipped = self._carries(entry, codegen)
        return shipped.read(entry) if shipped is not None else (kept_kernels() / entry).read_bytes()

    def _carries(self, entry: str, codegen: Any) -> zipfile.ZipFile | None:
        """The package's archive, if it has the entry."""
        _, processor, _ = codegen.magic_tuple()
        shipped = _shipped(archive_for(processor))
        return shipped if shipped is not None and entry in shipped.NameToInfo else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was just compiled; without a place to write to, it is compiled again next time."""
        if not self._enabled or data.library.has_dynamic_globals:
            return
        parts = list(data._reduce())
        parts[TYPES] = ""
        path = kept_kernels() / self.entry(sig, data.codegen)
        new = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(_without_paths(dumps(tuple(parts))))
            new.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        pass
