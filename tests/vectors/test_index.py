"""Every entry of the index leads somewhere: to a test that exists, or to a heading of the
documentation.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from . import oracles

ROOT = Path(__file__).parents[2]
INDEX: dict[str, list[str]] = json.loads((oracles.HERE / "index.json").read_text(encoding="utf-8"))
ID = re.compile(r"[A-Z]-\d{2,3}[a-z]?")

RANGES = (
    (1, 36),
    (40, 73),
    (80, 87),
    (90, 97),
    (100, 112),
    (115, 117),
    (120, 126),
    (130, 132),
    (140, 158),
    (160, 167),
    (170, 182),
    (185, 190),
)
NAMED = [
    *(f"S-{number:03d}" for first, last in RANGES for number in range(first, last + 1)),
    *(f"E-{number:02d}" for number in range(1, 77)),
    *(f"B-{number:02d}" for number in range(1, 27)),
]
"""All entries: 158 of the catalogue, 76 errata, 26 beyond the sources. Lettered ones, and flat
numbers (A), come with their rows.
"""

NODE = re.compile(r"(?P<file>tests/[\w/]+\.py)::(?P<function>test_\w+)(\[(?P<row>[^\]]+)\])?")
ANCHOR = re.compile(r"(?P<file>(docs/[\w/-]+|README|SECURITY|CONTRIBUTING)\.md)#(?P<anchor>[\w-]+)")


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors that the page will have: of its headings, or written out."""
    text = re.sub(
        r"^(`{3,}|~{3,}).*?^\1",
        "",
        path.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    titles = re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE)
    slugs = {slugify(re.sub(r"[`*_]|\{.*?\}", "", title).strip(), "-") for title in titles}
    return frozenset(
        slugs
        | set(re.findall(r"\{[^}]*#([\w-]+)[^}]*\}", text))
        | set(re.findall(r"id=\"([\w-]+)\"", text))
    )


def leads_to(entry: str) -> str:
    """What is wrong with an entry, or nothing."""
    if node := NODE.fullmatch(entry):
        path = ROOT / node["file"]
        if not path.is_file():
            return "no such file"
        if node["function"] not in functions(path):
            return "no such test"
        theme = path.stem.removeprefix("test_")
        if node["row"] and (
            path.parent != oracles.HERE
            or theme not in oracles.themes()
            or node["row"] not in {row.id for row in oracles.load(theme)}
        ):
            return "no such row"
        return ""
    if page := ANCHOR.fullmatch(entry):
        path = ROOT / page["file"]
        if not path.is_file():
            return "no such page"
        return "" if page["anchor"] in anchors(path) else "no such heading"
    return "neither a test nor a heading"


@pytest.mark.parametrize("entry", INDEX)
def test_entry_leads_somewhere(entry: str) -> None:
    assert ID.fullmatch(entry)
    assert INDEX[entry], "leads to nothing"
    assert {target: wrong for target in INDEX[entry] if (wrong := leads_to(target))} == {}


def test_every_entry_is_named() -> None:
    assert Counter(entry[0] for entry in NAMED) == {"S": 158, "E": 76, "B": 26}
    assert [entry for entry in NAMED if entry not in INDEX] == []
    assert {
        entry for entry in INDEX if entry[0] != "A" and entry.rstrip("abcdef") not in NAMED
    } == set()


def test_every_number_is_in_the_index() -> None:
    rows = {
        (row.id, f"tests/vectors/test_{theme}.py::test_number[{row.id}]")
        for theme in oracles.themes()
        for row in oracles.load(theme)
    }
    assert {key for key, node in rows if node not in INDEX.get(key, [])} == set()
    assert len({key for key, _ in rows}) == sum(
        len(oracles.load(theme)) for theme in oracles.themes()
    ), "an id is given twice"


def test_the_index_is_sorted() -> None:
    assert list(INDEX) == sorted(INDEX)


def test_every_number_has_a_source_and_a_tolerance() -> None:
    for theme in oracles.themes():
        for row in oracles.load(theme):
            assert ID.fullmatch(row.id)
            assert row.source
            assert set(row.tolerance) in ({"abs"}, {"rel"})


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("tests/vectors/test_index.py::test_the_index_is_sorted", ""),
        ("tests/vectors/test_laws.py::test_number[S-006]", ""),
        ("docs/reference/refusals.md#failures", ""),
        ("docs/reference/refusals.md#pictures-and-the-demo", ""),
        ("tests/vectors/test_nowhere.py::test_number", "no such file"),
        ("tests/vectors/test_laws.py::test_nothing", "no such test"),
        ("tests/vectors/test_laws.py::test_number[S-999]", "no such row"),
        ("tests/vectors/test_laws.py::test_number[S-048]", "no such row"),
        ("tests/mechanisms/test_grid.py::test_snap_any_double[S-006]", "no such row"),
        ("docs/nowhere.md#failures", "no such page"),
        ("docs/reference/refusals.md#nowhere", "no such heading"),
        ("see the documentation", "neither a test nor a heading"),
    ],
)
def test_what_leads_nowhere_is_seen(entry: str, wrong: str) -> None:
    assert leads_to(entry) == wrong
