"""What the pages name exists: files, modules, names in them, tests, links and their headings; and words are said once.

Every rule is a function from text to what breaks it, so that it can be shown to fail on text made up for that.
"""

import ast
import importlib.util
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from glug.simulation.stages import STAGES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "glug"
# The gallery and the pages of studies are written by programs, which have tests of their own.
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "theory").glob("*.md"))]
PAGES.remove(DOCS / "gallery.md")
THEORY = [p for p in PAGES if p.parent.name == "theory" and p.name != "sources.md"]
NAMES = [str(p.relative_to(ROOT)) for p in PAGES]
ARCHITECTURE = (DOCS / "architecture.md").read_text()
# What begins a dotted name of the package. `scene`, `output` and `view` begin keys of scenes as well, `simulation` is a
# variable in the guide, and `particles` a file in some formats.
LAYERS = ("physics", "solvers", "grids", "geometry", "studies")
MORE_LAYERS = ("particles", "simulation")


def spans(text: str) -> list[str]:
    """Code spans outside of fenced and indented blocks, without the line ends in them."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = "\n".join(line for line in text.splitlines() if not re.match(r" {4}(?![-*])", line))
    return [" ".join(s.split()) for s in re.findall(r"`([^`]+)`", text)]


# Files and the names in them


def file_of(path: str) -> Path | None:
    """A file that a page names, from the root, from the package, or by its name alone."""
    for base in (ROOT, PACKAGE):
        if (base / path).is_file():
            return base / path
    found = [] if "/" in path else [*PACKAGE.rglob(path), *(ROOT / "docs").glob(path)]
    return found[0] if found else None


def missing_files(text: str) -> set[str]:
    """The Python files that code spans name and that do not exist."""
    paths = {path for span in spans(text) for path in re.findall(r"^[\w./-]+\.py$", span)}
    return {path for path in paths if file_of(path) is None}


@cache
def defined(path: Path) -> set[str]:
    """What a module defines: at its top level, and in its classes."""
    names: set[str] = set()
    body = list(ast.parse(path.read_text()).body)
    while body:
        node = body.pop()
        if isinstance(node, ast.ClassDef):
            body.extend(node.body)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names |= {n.id for target in targets if target is not None for n in ast.walk(target) if isinstance(n, ast.Name)}
    return names


def missing_names(text: str) -> set[str]:
    """`file: name` for names in code spans right after a file, or in brackets after it, that it does not define."""
    found = set()
    after = r"`([\w./-]+\.py)`(?:\]\([^)]*\))?((?:\s+\(?`\w+`(?:\s*,\s*`\w+`)*)?)"
    for path, names in re.findall(after, text):
        file = file_of(path)
        known = set() if file is None else defined(file)
        found |= {f"{path}: {name}" for name in re.findall(r"`(\w+)`", names) if name not in known}
    return found


def missing_modules(text: str, layers: tuple[str, ...] = LAYERS) -> set[str]:
    """The dotted names in code spans that lead to no module, or to none that defines what follows."""
    found = set()
    for span in spans(text):
        match = re.match(rf"(?:glug\.)?(?:{'|'.join(layers)})(?:\.\w+)+(?![\w/])", span)
        if match and not span.endswith(".py"):
            found |= {match[0]} - {n for n in (match[0],) if leads_somewhere(n.removeprefix("glug."))}
    return found


def leads_somewhere(name: str) -> bool:
    """Whether a dotted name is a package, a module, or one and what it defines."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        place = PACKAGE.joinpath(*parts[:n])
        if place.is_dir():
            return n == len(parts) or (n + 1 == len(parts) and parts[n] in defined(place / "__init__.py"))
        if place.with_suffix(".py").is_file():
            return set(parts[n:]) <= defined(place.with_suffix(".py"))
    return False


@pytest.mark.parametrize("page", NAMES)
def test_files_exist(page):
    assert missing_files((ROOT / page).read_text()) == set()


@pytest.mark.parametrize("page", NAMES)
def test_files_define_what_is_said_to_be_in_them(page):
    assert missing_names((ROOT / page).read_text()) == set()


@pytest.mark.parametrize("page", NAMES)
def test_modules_exist(page):
    layers = LAYERS if page in ("docs/guide.md", "docs/other-programs.md") else LAYERS + MORE_LAYERS
    assert missing_modules((ROOT / page).read_text(), layers) == set()


# Calls, stages and rooms of the architecture


def order_of(node: ast.FunctionDef) -> list[str]:
    """The parameters of a function."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


@cache
def parameters() -> dict[str, list[list[str]]]:
    """What every function, method and class of the package is called with, one definition of a name after the other."""
    found: dict[str, list[list[str]]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(order_of(node))
            elif isinstance(node, ast.ClassDef):
                made = [order_of(n) for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
                targets = [n.target for n in node.body if isinstance(n, ast.AnnAssign)]
                found.setdefault(node.name, []).extend(made or [[t.id for t in targets if isinstance(t, ast.Name)]])
    return found


def wrong_calls(text: str) -> set[str]:
    """Calls of a function or class of the package with names that no definition of it has, in that order."""
    found = set()
    for name, given in re.findall(r"(\w+)\(((?:\w+(?:=\w*)?(?:,\s*)?)+)\)", text):
        names = re.findall(r"(\w+)(?:=\w*)?(?:,|$)", given)
        known = parameters().get(name, [names])
        if not any(all(n in rest for n in names) for rest in map(iter, known)):
            found.add(f"{name}({', '.join(names)})")
    return found


def test_calls_name_parameters():
    assert wrong_calls(ARCHITECTURE) == set()


def test_the_stages_of_a_step_are_listed_in_their_order():
    block = re.search(r"(?:^    .+\n)+(?=\n`STAGES` is the table)", ARCHITECTURE, flags=re.MULTILINE)
    assert block is not None
    assert re.findall(r"\w+", re.sub(r"\bor\b", "", block[0])) == list(STAGES)


def test_every_folder_of_physics_is_in_the_table_of_rooms():
    folders = {p.parent.relative_to(PACKAGE).as_posix() for p in (PACKAGE / "physics").rglob("__init__.py")}
    rooms = ARCHITECTURE.partition("## Rooms")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(physics(?:/\w+)*)/`", rooms)) == folders


# Links


def slug(heading: str) -> str:
    """The anchor of a heading."""
    words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower().strip())
    return words.replace(" ", "-")


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)


def broken_links(text: str, page: Path) -> set[str]:
    """The targets of links that are not there: files beside the page, or headings in them."""
    found = set()
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        other = text if file == page else file.read_text() if file.is_file() and anchor else ""
        if not (file == page or file.exists()) or (anchor and anchor not in {slug(h) for h in headings(other)}):
            found.add(target)
    return found


@pytest.mark.parametrize("page", NAMES)
def test_links_lead_somewhere(page):
    path = ROOT / page
    assert broken_links(path.read_text(), path) == set()


def test_every_page_of_the_theory_is_in_its_index():
    index = (DOCS / "theory" / "README.md").read_text()
    for page in (DOCS / "theory").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index


# Theory


def sections(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, rest = part.partition("\n")
        yield heading, rest


def without_proof(text: str) -> set[str]:
    """The sections that do not end with their code and their tests."""
    end = r"^- Code: `[^`]+\.py`(?:.|\n)*^- Tests: [^\n]*`tests/[^`]+\.py`(?:.(?!\n\n))*.?\s*\Z"
    return {heading for heading, rest in sections(text) if not re.search(end, rest, flags=re.MULTILINE | re.DOTALL)}


@pytest.mark.parametrize("page", THEORY, ids=lambda p: p.stem)
def test_sections_end_with_code_and_tests(page):
    assert without_proof(page.read_text()) - {"Symbols"} == set()


def test_a_symbol_is_defined_once():
    table = next(
        rest for heading, rest in sections((DOCS / "theory" / "README.md").read_text()) if heading == "Symbols"
    )
    rows = [line.split("|")[1] for line in table.split("\n\n")[1].splitlines() if line.startswith("| `")]
    symbols = Counter(name for row in rows for name in re.findall(r"`([^`]+)`", row))
    assert len(symbols) > 40
    assert [name for name, count in symbols.items() if count > 1] == []


def unlisted(text: str, sources: str) -> set[str]:
    """`name year` of what is cited, by the name next to the year, and not in the list."""
    entries = re.split(r"^- ", sources, flags=re.MULTILINE)[1:]
    cited = set(re.findall(r"([A-Z]\w+)(?: et al\.)?,? \(?((?:1[6-9]|20)\d\d)\b", text))
    return {f"{name} {year}" for name, year in cited if not any(name in e and f"({year})" in e for e in entries)}


@pytest.mark.parametrize("page", THEORY, ids=lambda p: p.stem)
def test_sources_are_listed(page):
    assert unlisted(page.read_text(), (DOCS / "theory" / "sources.md").read_text()) == set()


def test_the_picture_of_samples_is_the_one_that_is_drawn(tmp_path):
    spec = importlib.util.spec_from_file_location("samples_picture", DOCS / "samples_picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path / "samples.svg")
    assert (tmp_path / "samples.svg").read_text() == (DOCS / "images" / "samples.svg").read_text()


# Glossary

GLOSSARY = (DOCS / "glossary.md").read_text()
ENTRIES = {part.partition("\n")[0]: part for part in re.split(r"^### ", GLOSSARY, flags=re.MULTILINE)[1:]}


def test_the_glossary_is_in_order_and_says_every_word_once():
    words = [w.lower() for w in headings(GLOSSARY)[1:]]
    assert words == sorted(set(words))
    assert len(words) >= 60


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES.keys())
def test_an_entry_leads_to_equation_code_and_test(entry):
    _, text, links = re.split(r"\n\n", entry.strip(), maxsplit=2)
    assert 1 <= len(re.findall(r"[.:)](?:\s|$)", text)) <= 4  # one or two sentences
    names = r"(?: `\w+`(?:, `\w+`)*)?"
    parts = re.fullmatch(
        r"\*Equation\* \[[^\]]+\]\((?:theory/\w+|architecture)\.md#[\w-]+\) ·\n"
        rf"\*code\* \[`([\w/.]+\.py)`\]\(\.\./src/glug/\1\){names}"
        rf"(?:,\n\[`([\w/.]+\.py)`\]\(\.\./src/glug/\2\){names})* ·\n"
        r"\*test\* \[`(tests/[\w/.]+\.py)`\]\(\.\./\3\)(?: `\w+`)?",
        links,
    )
    assert parts is not None, links
    assert f"](#{slug(entry.partition(chr(10))[0])})" in GLOSSARY


def section_of(entry: str) -> str:
    """The section of a page that an entry leads to."""
    target = re.search(r"\]\(((?:theory/)?\w+\.md)#([\w-]+)\)", entry)
    assert target is not None
    parts = re.split(r"^#+ ", (DOCS / target[1]).read_text(), flags=re.MULTILINE)
    return next(part for part in parts if slug(part.partition("\n")[0]) == target[2])


@pytest.mark.parametrize("word", ENTRIES)
def test_the_section_that_an_entry_leads_to_uses_its_word(word):
    text = section_of(ENTRIES[word]).partition("\n- Code:")[0]
    assert word.partition(" (")[0].lower() in text.lower()


def not_in_lists(entry: str, section: str) -> set[str]:
    """The files of an entry that the section it leads to lists neither as code nor as tests."""
    _, _, lists = section.partition("\n- Code:")
    return set(re.findall(r"`([\w/.]+\.py)`", entry)) - set(re.findall(r"`([\w/.]+\.py)`", lists))


@pytest.mark.parametrize("word", [w for w, entry in ENTRIES.items() if "](architecture.md" not in entry])
def test_the_section_that_an_entry_leads_to_lists_its_code_and_test(word):
    assert not_in_lists(ENTRIES[word], section_of(ENTRIES[word])) == set()


# Negative controls


def test_what_is_not_there_is_seen():
    assert missing_files("`grids/regular.py`, `grids/irregular.py`, `tests/test_docs.py` and `kernels.py`") == {
        "grids/irregular.py"
    }
    assert missing_names("`grids/regular.py` (`Grid`, `Gird`), [`grids/mesh.py`](x) `Mesh`, `Mush`") == {
        "grids/regular.py: Gird",
        "grids/mesh.py: Mush",
    }
    assert missing_names("`grids/mesh.py` and `anything`") == set()
    assert missing_modules(
        "`grids.regular`, `grids.regular.Grid(1.0)`, `glug.physics.terms.Term`, `physics.pressure`, `physics.presure`, "
        "`solvers.cg.nothing`, `scene.solver`"
    ) == {"physics.presure", "solvers.cg.nothing"}


def test_calls_with_other_names_are_seen():
    text = "`PressureProblem.build(grid, phi, solid, bodies)`, `.project(velocity, limits, freed=)`, `unknown(x)`"
    assert wrong_calls(text) == set()
    assert wrong_calls("`SolveLimits(tolerance, floor)`, `SolveLimits(floor, tolerance)`, `project(speed)`") == {
        "SolveLimits(floor, tolerance)",
        "project(speed)",
    }


def test_links_that_lead_nowhere_are_seen():
    text = "# Head line\n[a](#head-line) [b](#no-such) [c](nowhere.md) [d](https://x.org) [e](theory/README.md#symbols)"
    assert broken_links(text, DOCS / "made-up.md") == {"#no-such", "nowhere.md"}


def test_sources_that_are_not_listed_are_seen():
    text = "(Newton 1687), Gauss (1809, page 2), Ito and Kunisch 2002, Ng et al. (2009)"
    sources = "# S\n\n- Gauss, C. F. (1809).\n- Ito, K., Kunisch, K.\n  (2002). On.\n- Ng, Y. (2008)"
    assert unlisted(text, sources) == {"Newton 1687", "Ng 2009"}


def test_sections_without_proof_are_seen():
    proof = "text\n\n- Code: `a.py`\n- Tests: `tests/b.py` (x),\n  `tests/c.py`\n"
    assert without_proof(f"# T\n## One\n{proof}\n## Two\ntext\n\n## Three\n- Code: `a.py`\n") == {"Two", "Three"}
    assert without_proof(f"# T\n## One\n{proof}\nmore text\n") == {"One"}


def test_files_that_a_section_does_not_list_are_seen():
    entry = "Word\n\nText.\n\n*code* [`a.py`](x) `name`,\n[`b.py`](x) ·\n*test* [`tests/c.py`](x) `test_it`"
    assert not_in_lists(entry, "Head\nText.\n\n- Code: `a.py`,\n  `b.py`\n- Tests: `tests/c.py`\n") == set()
    assert not_in_lists(entry, "Head\nText of `b.py`.\n\n- Code: `a.py`\n- Tests: `tests/d.py`\n") == {
        "b.py",
        "tests/c.py",
    }
