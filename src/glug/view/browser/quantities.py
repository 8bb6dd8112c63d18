"""What liquid may be coloured by, from the arrays of a run's particles."""

from collections.abc import Sequence

import numpy as np

from glug.errors import InputError
from glug.geometry.sampled import SurfaceMesh
from glug.output import RunFolder

# Name, array it comes from, unit, scale of its colours.
_KNOWN = (
    ("speed", "velocity", "m/s", "linear"),
    ("viscosity", "viscosity", "Pa s", "log"),
    ("temperature", "temperature", "°C", "linear"),
    ("bubble", "bubble", "", "category"),
    ("tile", "tile", "", "category"),
    ("liquid", "liquid", "", "category"),
    ("age", "age", "s", "linear"),
)

NEIGHBOURS = 6  # particles that a vertex takes its value from


def quantities(names: Sequence[str]) -> list[dict[str, str]]:
    """Those that particles with arrays of these names have."""
    return [{"name": name, "unit": unit, "scale": scale} for name, array, unit, scale in _KNOWN if array in names]


def particle_values(folder: RunFolder, index: int, quantity: str, limit: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Positions (n, 3) and values (n,), float32, of at most about `limit` particles, and how many there are."""
    array = _array(quantity)
    data = folder.read_particles(index, ("position", "id", array))
    position = data["position"]
    total = len(position)
    kept: slice | np.ndarray = slice(None)
    if total > limit:
        every = -(-total // limit)
        kept = data["id"] % every == 0 if "id" in data else slice(None, None, every)
    return position[kept].astype(np.float32), _values(folder, data, array, index)[kept], total


def surface_values(folder: RunFolder, index: int, mesh: SurfaceMesh, quantity: str) -> np.ndarray:
    """A value per vertex: the surface's own speed, otherwise the mean of the nearest particles'."""
    if quantity == "speed":
        return np.linalg.norm(mesh.velocities, axis=1).astype(np.float32)
    array = _array(quantity)
    data = folder.read_particles(index, ("position", array))
    values = _values(folder, data, array, index)
    if not len(values):
        return np.zeros(len(mesh.vertices), np.float32)
    from scipy.spatial import cKDTree

    # Categories have no mean, except two that mix.
    several = quantity in ("liquid", "bubble", "tile") and values.max() > 1
    count = 1 if several else min(NEIGHBOURS, len(values))
    tree = cKDTree(data["position"], balanced_tree=False, compact_nodes=False)
    _, nearest = tree.query(mesh.vertices, k=[*range(1, count + 1)])
    return values[nearest].mean(axis=1, dtype=np.float32)


def _values(folder: RunFolder, data: dict[str, np.ndarray], array: str, index: int) -> np.ndarray:
    if array not in data:
        raise InputError(f"{folder.path}: the particles of frame {index} have no {array}")
    values = data[array]
    return (np.linalg.norm(values, axis=1) if values.ndim > 1 else values).astype(np.float32)


def _array(quantity: str) -> str:
    for name, array, _, _ in _KNOWN:
        if name == quantity:
            return array
    raise InputError(f"'{quantity}' is nothing to colour by; valid: {', '.join(k[0] for k in _KNOWN)}")
