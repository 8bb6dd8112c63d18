"""Scenes as a stranger might write them: those of the library with a few mistakes, extremes and attacks in them.

`scene_text(seed)` is the same text for the same seed, whatever ran before.
"""

import copy
import random
import tomllib
from typing import Any

from glug.scene.loader import library_text, scenes

NUMBERS = [0, 1, -1, 2, 3, 7, 24, 0.5, -0.0, 1e-3, 1e-9, 1e-30, 1e-300, 5e-324, 1e3, 1e6, 1e9, 1e12, 1e30, 1e100, 1e300]
NUMBERS += [-1e-9, -1e9, -1e300, float("inf"), float("-inf"), float("nan"), 2**31, 2**63 - 1, 2**63, 2**64, 10**30]
TEXTS = [
    "",
    " ",
    ".",
    "..",
    "../up",
    "/any/absolute",
    "a/b",
    "x\0y",
    "[/]",
    "[red]",
    "a\nb",
    "é" * 3,
    "a" * 300,
    "a" * 5000,
]
TEXTS += [
    "*",
    "a**b",
    "**/*",
    "/*",
    "../*",
    "*/*",
    "nope.obj",
    "nope.stl",
    "water",
    "honey",
    "free",
    "inf",
    "%s",
    "{}",
    "\\",
]
KEYS = [
    "",
    "kind",
    "name",
    "shape",
    "file",
    "files",
    "size",
    "a b",
    "x" * 200,
    "material",
    "density",
    "viscosity",
    "[/]",
]
KINDS = [
    "box",
    "sphere",
    "cylinder",
    "capsule",
    "cone",
    "torus",
    "plane",
    "half-space",
    "text",
    "mesh",
    "union",
    "shell",
]
KINDS += ["intersection", "difference", "smooth-union", "static", "linear", "rotation", "oscillation", "keyframes"]
KINDS += ["constant", "temperature", "position"]
CHOICES = {
    "solver.air": ["vacuum", "constraint", "affine", "two-phase"],
    "solver.coupling": ["split", "stokes"],
    "solver.viscosity": ["auto", "multigrid", "octree", "jacobi-cg", "laplacian", "reference", "none"],
    "solver.pressure": ["multigrid", "jacobi-cg", "ic-cg", "reference"],
    "solver.transfer": ["auto", "apic", "flip"],
    "solver.tiles": [0, 8, 16, "whole"],
    "solver.tension": ["explicit", "implicit"],
    "solver.mesh": ["regular", "octree", "tetrahedra", "voronoi"],
    "surface.tracking": ["particles", "mesh"],
    "refine.levels": [1, 2, 3, 5, 8],
    "domain.walls": ["sticking", "separating"],
    "domain.sides": ["closed", "slip", "open"],
    "domain.slip_length": [0, 0.01, "free"],
    "domain.origin": [[0, 0, 0], [-0.3, 7.0, 0.1], [1e5, 0, 0], [1e8, 1e8, 1e8]],
    "time.cfl": [0.1, 0.5, 1, 4, 20, 1e300],
    "surface.resolution": [1, 2, 3],
    "seed": [0, 1, 2**62, 2**63],
    "output.preview_size": [[64, 36], [100_000, 100_000]],
    "gravity": [[0, 0, 0], [3.0, -9.81, 1.0], [0, 9.81, 0], [0, -1e12, 0]],
    "heat.diffusivity": [0, 1e-7, 1e-3, 1e9],
}
# What attacks have been made of: values at places that a blind change seldom hits.
LONG, LINES = "n" * 5000, "two\nlines"
NAMES = ["..", ".", "../up", "/any/absolute", "a/b", "x\0y", "[/]", LINES, LONG, ""]
FILES = ["n" * 300 + ".obj", LONG, LINES + ".obj", "x\0y.stl", "a**b", "/*", "../*", "nope.ply"]
ATTACKS: dict[str, list[Any]] = {
    "name": NAMES,
    "far away": [1e5, 1e8, -1e8, 1e12, 1e300],
    "domain.size": [[1e-300] * 3, [1e-30] * 3, [1e300] * 3, [1e9, 1e-9, 1.0], [5e-324, 1.0, 1.0]],
    "domain.resolution": [1, 2**31, 2**63 - 1, 10**30],
    "time.fps": [5e-324, 1e-300, 1e300, 1e12],
    "time.frames": [2**63, 10**30],
    "time.max_substeps": [2**63, 10**30],
    "seed": [2**63, 10**30],
    "output.preview_size": [[100_000, 100_000], [2**31, 1]],
    "gravity": [[0, -1e12, 0], [0, -1e300, 0]],
    "heat.diffusivity": [1e9, 1e300],
    "liquids.more": [{"material": m} for m in (["water"], LONG, LINES, {})],
    "liquids.thick": [{"density": d, "viscosity": v} for d, v in ((1e-300, 1e300), (1e300, 1.0), (1e3, LONG))],
    "solids": [
        *([{"name": "mesh", "shape": {"kind": "mesh", "file": file}}] for file in FILES),
        *([{"name": "flock", "sequence": {"files": file, "fps": 24}}] for file in FILES),
        *([{"name": name, "shape": {"kind": "sphere", "centre": [0.1] * 3, "radius": 0.01}}] for name in NAMES),
        [{"name": "ring", "shape": {"kind": "torus", "centre": [0.1] * 3, "major": 1e300, "minor": 1e-300}}],
        [{"name": "ball", "shape": {"kind": "sphere", "centre": [1e300] * 3, "radius": 1e300}, "density": 1e-9}],
        [{"name": "fast", "shape": {"kind": "sphere", "centre": [0.1] * 3, "radius": 0.01},
          "motion": {"kind": "linear", "velocity": [1e6, 0, 0]}}],
    ],
    "nothing" + "n" * 5000: [1],
    "camera.target": [LONG, [1e300] * 3],
}  # fmt: skip

# What goes together: keys that few scenes have right by chance.
THIN = {"solver.viscosity": "none", "solver.air": "vacuum", "solver.coupling": "split", "solver.tiles": 0}
SYSTEMS: list[dict[str, Any]] = [
    {"solver.coupling": "stokes", "solver.air": "vacuum", "domain.walls": "sticking"},
    {"solver.coupling": "stokes", "solver.air": "constraint", "domain.walls": "sticking"},
    {**THIN, "solver.mesh": "octree", "refine": {"levels": 2, "band": 4}},
    {**THIN, "solver.mesh": "tetrahedra"},
    {**THIN, "solver.mesh": "tetrahedra", "solver.tetrahedra": {"levels": 2, "shift": 0.2, "remesh": 0}},
    {**THIN, "solver.mesh": "voronoi"},
    {"surface.tracking": "mesh", "solver.air": "vacuum"},
    {"solver.tension": "explicit", "surface_tension": 0.07},
    {"solver.tension": "implicit", "surface_tension": 0.5},
    {"surface.tracking": "mesh", "solver.air": "vacuum", "surface_tension": 0.07},
]


def scene_data(seed: int, mistakes: int | None = None) -> dict[str, Any]:
    """A scene of the library with some changes (none to five unless told), or with one attack and nothing else."""
    chance = random.Random(seed)
    name, _ = chance.choice(scenes())
    data = tomllib.loads(library_text(name))
    data.setdefault("name", name)
    if mistakes is None and chance.random() < 0.25:
        key, values = chance.choice(sorted(ATTACKS.items()))
        value = chance.choice(values)
        return _far_away(data, value) if key == "far away" else _set(data, key, value)
    for _ in range(chance.randrange(3)):
        key, values = chance.choice(sorted(CHOICES.items()))
        _set(data, key, chance.choice(values))
    for key, value in chance.choice(SYSTEMS).items() if chance.random() < 0.3 else ():
        _set(data, key, value)
    for _ in range(chance.choice([0, 1, 1, 2, 3, 5]) if mistakes is None else mistakes):
        _spoil(chance, data)
    return data


def _set(data: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Set a value by dotted key; `surface_tension` is that of every liquid."""
    if key == "surface_tension":
        for liquid in data["liquids"].values():
            liquid[key] = value
        return data
    *parents, last = key.split(".")
    table = data
    for parent in parents:
        table = table.setdefault(parent, {})
    table[last] = copy.deepcopy(value)
    return data


def _far_away(data: dict[str, Any], x: float) -> dict[str, Any]:
    """A ball of the first liquid in a box at `x`, where a cell is less than single precision resolves."""
    shape = {"kind": "sphere", "centre": [x + 0.5] * 3, "radius": 0.2}
    return {
        "name": data["name"],
        "domain": {"size": [1.0] * 3, "resolution": 24, "origin": [x] * 3},
        "liquids": data["liquids"],
        "volumes": [{"liquid": next(iter(data["liquids"])), "shape": shape}],
    }


def scene_text(seed: int) -> str:
    """A scene file; one in eight is broken as text too."""
    chance = random.Random(f"text {seed}")
    text = "".join(f"{_key(key)} = {_value(value)}\n" for key, value in scene_data(seed).items())
    if chance.random() < 0.875:
        return text
    return chance.choice([_cut, _swapped, _deep_list, _deep_table, _long_number, _long_key, _twice])(chance, text)


def _places(node: Any) -> list[tuple[Any, Any]]:
    """(container, key) of every value."""
    found: list[tuple[Any, Any]] = []
    stack = [node]
    while stack:
        here = stack.pop()
        for key in list(here) if isinstance(here, dict) else range(len(here)):
            found.append((here, key))
            if isinstance(here[key], (dict, list)):
                stack.append(here[key])
    return found


def _spoil(chance: random.Random, data: dict[str, Any]) -> None:
    here, key = chance.choice(_places(data))
    value = here[key]
    what = chance.randrange(10)
    if what <= 3 and isinstance(value, (int, float)) and not isinstance(value, bool):
        here[key] = (
            value * chance.choice([-1, 0, 0.1, 10, 1e3, 1e-3, 1e6, 1e12, 1e-12]) if what < 2 else _number(chance)
        )
    elif what == 4 and isinstance(value, str):
        here[key] = chance.choice(KINDS if key == "kind" else TEXTS)
    elif what == 5:
        del here[key]
    elif what == 6:
        here[key] = _anything(chance)
    elif what == 7 and isinstance(here, dict):
        here[chance.choice(KEYS)] = _anything(chance)
    elif what == 8 and isinstance(here, list):
        here.insert(chance.randrange(len(here) + 1), copy.deepcopy(value))
    elif what == 9:
        other, at = chance.choice(_places(data))
        here[key] = copy.deepcopy(other[at])
    else:
        here[key] = _number(chance)


def _number(chance: random.Random) -> float:
    return (
        chance.choice(NUMBERS) if chance.random() < 0.7 else chance.uniform(-2.0, 2.0) * 10.0 ** chance.randint(-8, 8)
    )


def _anything(chance: random.Random) -> Any:
    makers = [
        lambda: _number(chance),
        lambda: chance.choice(TEXTS),
        lambda: chance.choice([True, False]),
        lambda: [_number(chance) for _ in range(chance.randrange(5))],
        list,
        dict,
        lambda: {"kind": chance.choice(KINDS), "centre": [0.1, 0.1, 0.1], "radius": _number(chance)},
        lambda: {"kind": "mesh", "file": chance.choice(TEXTS)},
        lambda: {"files": chance.choice(TEXTS), "fps": 24},
        lambda: [{"a": [[]]}],
    ]
    return chance.choice(makers)()


def _key(key: str) -> str:
    return _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in value) + '"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return "[" + ", ".join(map(_value, value)) + "]"


def _cut(chance: random.Random, text: str) -> str:
    return text[: chance.randrange(len(text))]


def _swapped(chance: random.Random, text: str) -> str:
    letters = list(text)
    for _ in range(chance.randint(1, 8)):
        letters[chance.randrange(len(letters))] = chance.choice("[]{}=\"\n.,#'\x00\x7f0e-")
    return "".join(letters)


def _deep_list(chance: random.Random, text: str) -> str:
    depth = chance.choice([40, 400, 20_000])
    return text + f"deep = {'[' * depth}{']' * depth}\n"


def _deep_table(chance: random.Random, text: str) -> str:
    depth = chance.choice([40, 400, 3000])
    shape = '{ kind = "shell", thickness = 0.1, part = ' * depth + '{ kind = "mesh", file = "x.obj" }' + " }" * depth
    return text + f'[[solids]]\nname = "deep"\nshape = {shape}\n'


def _long_number(chance: random.Random, text: str) -> str:
    return text + f"seed2 = {'9' * chance.choice([30, 4301, 100_000])}\n"


def _long_key(chance: random.Random, text: str) -> str:
    return text + ".".join(["a"] * chance.choice([50, 2000, 20_000])) + " = 1\n"


def _twice(chance: random.Random, text: str) -> str:
    return text + text
