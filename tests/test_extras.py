"""Every message about a missing extra says the one command that adds it, and the extra exists."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from glug.errors import InputError
from glug.extras import require

ROOT = Path(__file__).parents[1]


def test_a_missing_extra_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(InputError, match=r"^exporting to USD needs an extra; add it with: pip install 'glug\[usd\]'$"):
        require("pxr", "usd", "exporting to USD")


def test_one_that_is_there_comes_back():
    assert require("json", "usd", "nothing") is sys.modules["json"]


def test_one_that_is_broken_is_not_called_missing(monkeypatch, tmp_path):
    (tmp_path / "broken_extra.py").write_text("import no_such_module_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="lacks no_such_module_at_all"):
        require("broken_extra", "usd", "exporting")


def test_the_extras_that_are_named_exist():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text()
        named |= set(re.findall(r'require\(\s*"[\w.]+",\s*"(\w+)"', text))
        named |= set(re.findall(r"pip install 'glug\[(\w+)\]'", text))
    assert named <= set(known)
