"""Imports follow the table of layers in docs/architecture.md, and packages and functions stay small.

Every rule is a function from a folder of sources to what breaks it, so that it can be shown to fail on a folder made up
for that.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "glug"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()

MOST_MODULES = 14  # beside each other in a package
MOST_PARAMETERS = 7
MOST_LINES = 60  # of a function, with its docstring

# Functions outside kernels that are larger, and why.
LARGE = {
    "cli.bench": "its parameters are the options of the command",
    "cli.render": "its parameters are the options of the command",
    "cli.validate": "its parameters are the options of the command",
}


class Layers(NamedTuple):
    """What the layers, from the highest to the lowest, may import: of each `allowed`, and all of them `everywhere`."""

    allowed: dict[str, set[str]]
    everywhere: set[str]


def read_layers(document: str) -> Layers:
    """The table and the sentence above it, as the section `Layers` of a document has them."""
    section = re.split(r"^## ", document, flags=re.MULTILINE)
    text = next(part for part in section if part.startswith("Layers\n"))
    before, *lines = re.split(r"^\|", text, flags=re.MULTILINE)
    rows = [[cell.strip() for cell in line.split("|")] for line in lines[2:]]  # after the head and the rule
    names = [re.sub(r"\.py|/", "", row[0].strip("`")) for row in rows]
    allowed = {}
    for n, (name, row) in enumerate(zip(names, rows)):
        allowed[name] = set(names[n + 1 :]) if row[2] == "all below" else set(re.findall(r"`([\w.]+)`", row[2]))
    return Layers(allowed, set(re.findall(r"`(\w+)`", before)))


def modules(package: Path) -> Iterator[tuple[str, ast.Module]]:
    """The dotted name of every module below a package, without the package's own, and its code."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        yield ".".join(parts if parts[-1] != "__init__" or len(parts) == 1 else parts[:-1]), ast.parse(path.read_text())


def imports(code: ast.AST) -> set[str]:
    """The names of the package that code imports, in functions too, but not for type checking only.

    What it takes from the package itself (`glug.load` after `import glug`) counts as imported from there.
    """
    found = set()
    for node in ast.iter_child_nodes(code):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node = ast.Module(node.orelse, [])
        elif isinstance(node, ast.ImportFrom) and node.level:
            found |= {"." * node.level + (node.module or "")}  # no layer has such a name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "glug":
            found |= {f"{node.module}.{alias.name}".removeprefix("glug.") for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("glug.") for alias in node.names if alias.name.startswith("glug.")}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "glug":
            found.add(node.attr)
        found |= imports(node)
    return found


def within(name: str, place: str) -> bool:
    return name == place or name.startswith(place + ".")


def against_layers(package: Path, layers: Layers) -> set[str]:
    """`importer: imported` for every import that the table does not allow."""
    found = set()
    for module, code in modules(package):
        layer = module.split(".")[0]
        own = layers.everywhere if layer in layers.everywhere else {layer} | layers.everywhere
        places = own | layers.allowed.get(layer, set()) | {"__version__"}
        found |= {f"{module}: {name}" for name in imports(code) if not any(within(name, place) for place in places)}
        if layer not in layers.allowed and layer not in layers.everywhere | {"__init__"}:
            found.add(f"{module}: is in no layer")
    return found


def imports_reference(package: Path) -> set[str]:
    """The modules of physics that import the reference and are none of its."""
    return {
        module
        for module, code in modules(package)
        if within(module, "physics") and not within(module, "physics.reference")
        if any(within(name, "physics.reference") for name in imports(code))
    }


def crowded_packages(package: Path) -> set[str]:
    """The folders that hold more modules than one finds one's way in."""
    count = Counter(path.parent for path in package.rglob("*.py") if path.name != "__init__.py")
    return {str(folder.relative_to(package)) for folder, modules in count.items() if modules > MOST_MODULES}


def functions(code: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(code):
        name = f"{prefix}.{node.name}" if hasattr(node, "name") and not isinstance(node, ast.alias) else prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, node
        yield from functions(node, name)


def large_functions(package: Path) -> set[str]:
    """The functions outside kernel modules with too many parameters or lines."""
    found = set()
    for module, code in modules(package):
        if module.split(".")[-1].startswith("kernels"):
            continue
        for name, function in functions(code):
            a = function.args
            every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
            parameters = [p for p in every if p.arg not in ("self", "cls")]
            lines = (function.end_lineno or 0) - function.lineno + 1
            if len(parameters) > MOST_PARAMETERS or lines > MOST_LINES:
                found.add(f"{module}{name}")
    return found


# The package


def test_imports_follow_the_table():
    assert against_layers(PACKAGE, read_layers(ARCHITECTURE)) == set()


def test_the_table_points_down():
    allowed = read_layers(ARCHITECTURE).allowed
    order = list(allowed)
    assert {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()} <= set(order)
    for n, layer in enumerate(order):
        assert {name.split(".")[0] for name in allowed[layer]} <= set(order[n + 1 :]), layer


def test_the_fast_path_does_not_import_its_reference():
    assert imports_reference(PACKAGE) == set()


def test_no_package_is_crowded():
    assert crowded_packages(PACKAGE) == set()


def test_functions_are_small_or_have_a_reason():
    assert large_functions(PACKAGE) == set(LARGE)
    assert all(LARGE.values())


# Negative controls

TABLE = """# A house

## Layers

Every layer may import `errors`.

| folder | holds | imports |
|---|---|---|
| `roof.py` | tiles | all below |
| `wall/` | stones | `ground.clay` |
| `ground/` | earth | - |

## Another table

| `wall/` | stones | `roof` |
"""


@pytest.fixture
def house(tmp_path):
    """`house(name=code, ...)` is a package of these modules; dots are written as two underscores."""

    def build(**codes: str) -> Path:
        for name, code in codes.items():
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        return tmp_path

    return build


def test_the_table_is_read():
    layers = read_layers(TABLE)
    assert layers.allowed == {"roof": {"wall", "ground"}, "wall": {"ground.clay"}, "ground": set()}
    assert layers.everywhere == {"errors"}


@pytest.mark.parametrize(
    "code",
    [
        "from glug.ground.clay import brick\nfrom glug.errors import GlugError\nimport numpy\n",
        "from glug.ground import clay\nfrom glug import __version__",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from glug.roof import tile\n",
        "from glug.wall.door import hinge",
    ],
)
def test_what_the_table_allows(house, code):
    assert against_layers(house(wall__window=code), read_layers(TABLE)) == set()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from glug.roof import tile", "roof.tile"),
        ("def f():\n    from glug.roof import tile", "roof.tile"),
        ("import glug.roof", "roof"),
        ("from glug import roof as r", "roof"),
        ("import glug\nglug.roof.tile", "roof"),
        ("from glug.ground import sand", "ground.sand"),
        ("from glug.ground.clays import brick", "ground.clays.brick"),
        ("from ..roof import tile", "..roof"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import glug.roof", "roof"),
    ],
)
def test_what_the_table_does_not_allow(house, code, name):
    assert f"wall.window: {name}" in against_layers(house(wall__window=code), read_layers(TABLE))


def test_modules_that_the_table_does_not_have(house):
    assert against_layers(house(shed="x = 1", errors="import glug.wall"), read_layers(TABLE)) == {
        "shed: is in no layer",
        "errors: wall",
    }


def test_an_import_of_the_reference_is_seen(house):
    late = "def f():\n    from glug.physics.reference.rigid import solve"
    package = house(physics__rigid__bodies=late, physics__reference__rigid="from glug.physics.reference import x")
    assert imports_reference(package) == {"physics.rigid.bodies"}


def test_a_crowded_package_is_seen(house):
    crowd = {f"wall__stone{n}": "" for n in range(MOST_MODULES + 1)}
    assert crowded_packages(house(**crowd, wall____init__="", ground__clay="")) == {"wall"}


def test_large_functions_are_seen(house):
    long = "def f():\n" + "    x = 1\n" * MOST_LINES
    many = "class C:\n    def f(self, " + ", ".join(f"p{n}" for n in range(MOST_PARAMETERS)) + ", *, q): ..."
    assert large_functions(house(long=long, many=many, wall__kernels_long=long)) == {"long.f", "many.C.f"}
    assert large_functions(house(long=long.removesuffix("    x = 1\n"), many=many.replace("p0, ", ""))) == set()
