"""The references of the command line, of the public names and of SQL say what the code says:
`python docs/reference.py` writes them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import typer

import sfumato as sf
from sfumato.cli.commands import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield importlib.import_module("reference")


@pytest.fixture(scope="module")
def pages(script: ModuleType) -> dict[Path, str]:
    """The pages as the script writes them."""
    written: dict[Path, str] = script.pages()
    return written


def test_the_pages_are_current(pages: dict[Path, str]) -> None:
    stale = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run docs/reference.py"


def test_every_public_name_is_on_the_page() -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    assert {
        name
        for name in dir(sf)
        if not name.startswith("_")
        and not re.search(rf"`sf\.{name}\b|^### sf\.{name}$", page, re.MULTILINE)
    } == set()
    assert set(sf._LAZY) <= set(dir(sf))


NAMED = re.compile(r"(?<![\w.])sf((?:\.[A-Za-z_]\w*)+)")
TEXTS = sorted(
    [
        *ROOT.glob("*.md"),
        *DOCS.rglob("*.md"),
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "examples").rglob("*.py"),
    ]
)


def exists(dotted: str) -> bool:
    """Whether `sf` followed by this (".local.Direct") is a name that can be reached, as an
    attribute or as a module.
    """
    member, path = sf, "sfumato"
    for part in dotted.split(".")[1:]:
        path = f"{path}.{part}"
        try:
            member = getattr(member, part)
        except AttributeError:
            try:
                member = importlib.import_module(path)
            except ImportError:
                return False
    return True


def test_every_name_that_a_text_uses_exists() -> None:
    """Every `sf.…` of the documentation, of docstrings, of refusals and their rewrites:
    `sf.smooth_sensitivity` was on a page and did not exist.
    """
    missing = {
        f"{path.relative_to(ROOT)}: sf{name}"
        for path in TEXTS
        for name in set(NAMED.findall(path.read_text(encoding="utf-8")))
        if not exists(name)
    }
    assert missing == set()
    assert NAMED.findall("sf.smooth_senses(x), `sf.local.Direct.coin_toss`, self.sf.x") == [
        ".smooth_senses",
        ".local.Direct.coin_toss",
    ]
    assert [
        exists(name)
        for name in (
            ".smooth_senses",
            ".local.Direct.coin_toss",
            ".local.presets",
            ".local.nothing",
        )
    ] == [False, True, True, False]


def test_every_package_is_in_the_house() -> None:
    page = (DOCS / "project" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in (ROOT / "src" / "sfumato").glob("*/__init__.py")}
    assert {name for name in packages if f"`{name}`" not in page} == set()


def test_every_command_is_on_the_page() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group
    assert {name for name in commands if f"## sfumato {name} " not in page} == set()


def test_a_new_name_would_be_seen(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    before = script.api()
    monkeypatch.setitem(sf._LAZY, "epsilon_of", ".accounting.choose_epsilon")
    monkeypatch.setattr(sf, "epsilon_of", sf.choose_epsilon, raising=False)
    assert script.api() != before


def test_a_function_that_is_no_longer_read_would_be_seen(
    pages: dict[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlglot import exp

    from sfumato.sql.sql_functions import spellings

    words = importlib.import_module("reference_sql")
    others = {key: how for key, how in spellings().items() if key is not exp.Sqrt}
    monkeypatch.setattr(words.sql_functions, "spellings", lambda: others)
    page = pages[DOCS / "reference" / "sql.md"]
    assert re.search(r"^\| mathematics \|.*`SQRT`", page, re.MULTILINE)
    assert "SQRT" not in words.rowwise()["mathematics"]
