"""Every entry of the index leads to a public call and to a test that uses it. A heading of the
documentation may stand beside the test; alone it counts for entries that are only words.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from functools import cache
from importlib import import_module
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

TEXTS = {
    *("S-018", "S-153", "S-154", "S-156", "S-166", "S-182", "S-188", "S-189"),
    *("E-52", "E-53", "E-54", "E-55", "E-56", "E-57", "E-61", "E-65", "E-66", "E-67"),
    *("E-71", "E-72", "E-73", "E-74", "E-76"),
}
"""Entries that ask for words alone: stories, a glossary, borrowed pictures, errata of wording."""
CALLS: dict[str, str] = json.loads((oracles.HERE / "calls.json").read_text(encoding="utf-8"))
"""The public call of every entry that asks for something to compute, below `sfumato`."""

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


@cache
def definitions(path: Path) -> dict[str, ast.AST]:
    """What a test module defines at its top, by name."""
    defined: dict[str, ast.AST] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {target.id: node for target in targets if isinstance(target, ast.Name)}
    return defined


def evaluator(defined: dict[str, ast.AST], row: str) -> ast.AST:
    """The function that computes a row of published numbers."""
    theme = next(each for each in oracles.themes() if any(r.id == row for r in oracles.load(each)))
    names = {row, next(r.name for r in oracles.load(theme) if r.id == row)}
    table = defined["EVALUATE"].value  # type: ignore[attr-defined]  # an assignment
    return next(
        value
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and key.value in names
    )


def names_used(target: str) -> set[str]:
    """The names and attributes that a test uses, itself or through what its module defines."""
    node = NODE.fullmatch(target)
    if node is None:
        return set()
    defined = definitions(ROOT / node["file"])
    start = evaluator(defined, node["row"]) if node["row"] else defined[node["function"]]
    used, left, passed = set[str](), [start], {"EVALUATE"}
    while left:
        for part in ast.walk(left.pop()):
            match part:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                    used.add(name)
                    if name in defined and name not in passed:
                        passed.add(name)
                        left.append(defined[name])
                case ast.Constant(value=str(name)) if name.isidentifier():
                    used.add(name)
                    if name in defined and name not in passed:  # a fixture, by its name
                        passed.add(name)
                        left.append(defined[name])
    return used


def public(call: str) -> object:
    """What a call below `sfumato` names: modules are imported, the rest are attributes."""
    place: object = import_module("sfumato")
    path = "sfumato"
    for name in call.split("."):
        path = f"{path}.{name}"
        try:
            place = getattr(place, name)
        except AttributeError:
            place = import_module(path)
    return place


@pytest.mark.parametrize("entry", CALLS)
def test_entry_names_a_public_call_that_its_tests_use(entry: str) -> None:
    """Without the call its tests fail: they use its name."""
    call = CALLS[entry]
    assert not any(name.startswith("_") for name in call.split("."))
    assert public(call) is not None
    users = [target for target in INDEX[entry] if call.rpartition(".")[2] in names_used(target)]
    assert users, f"no test of {entry} uses {call}"


def test_words_alone_are_for_texts() -> None:
    """Everything else has a test, and what is to be computed has a call."""
    wordy = {entry for entry, targets in INDEX.items() if not any(map(NODE.fullmatch, targets))}
    assert wordy == TEXTS
    computed = {entry for entry in NAMED if entry[0] in "SB"}
    assert set(CALLS) == computed - TEXTS


@pytest.mark.parametrize(
    ("target", "name", "is_used"),
    [
        ("tests/vectors/test_laws.py::test_number[S-006]", "ContinuousLaplace", True),
        ("tests/vectors/test_laws.py::test_number[S-006]", "RoundedNormal", False),
        ("tests/session/test_partition.py::test_the_ledger_counts_the_maximum", "partition", True),
        ("tests/vectors/test_index.py::test_the_index_is_sorted", "partition", False),
        ("docs/reference/refusals.md#failures", "failures", False),
    ],
)
def test_a_test_that_does_not_use_a_call_is_told(target: str, name: str, is_used: bool) -> None:
    assert (name in names_used(target)) == is_used


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
