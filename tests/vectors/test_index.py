"""Every entry of the index leads somewhere: to a test that exists, or to a heading of the documentation."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from . import oracles

ROOT = Path(__file__).parents[2]
INDEX: dict[str, list[str]] = json.loads((oracles.HERE / "index.json").read_text(encoding="utf-8"))
ID = re.compile(r"[A-Z]-\d{2,3}[a-z]?")

DUE = [
    *("A-001", "A-003", "A-004", "A-006", "A-007", "A-009", "A-010", "A-012", "A-013", "A-015", "A-016", "A-018", "A-019", "A-021", "A-022", "A-024"),
    *("A-025", "A-027", "A-028", "A-030", "A-031", "A-033", "A-034", "A-036", "A-037", "A-039", "A-040", "A-042", "A-043", "A-045", "A-046", "A-048"),
    *("A-049", "A-051", "A-052", "A-054", "A-055", "A-057", "A-058", "A-060", "A-061", "A-063", "A-064", "A-066", "A-067", "A-069", "A-070", "A-072"),
    *("A-073", "A-084", "A-085", "A-087", "A-088", "A-093", "A-094", "A-096", "A-097", "A-099", "A-100", "B-01", "B-01b", "B-02", "B-03", "B-03b"),
    *("B-04", "B-06", "B-06b", "B-07", "B-08", "B-09", "B-10", "B-11", "B-14", "B-14b", "B-15", "B-15b", "B-16", "B-16b", "B-19", "B-20", "B-21"),
    *("B-22", "B-23", "B-26", "E-01", "E-02", "E-03", "E-06", "E-07", "E-08", "E-09", "E-10", "E-11", "E-12", "E-13", "E-14", "E-15", "E-16", "E-17"),
    *("E-18", "E-19", "E-20", "E-21", "E-21b", "E-22", "E-23", "E-24", "E-25", "E-26", "E-27", "E-28", "E-29", "E-30", "E-35", "E-36", "E-37"),
    *("E-40", "E-41", "E-44", "E-45", "E-47", "E-48", "E-49", "E-50", "E-51", "E-52", "E-53", "E-54", "E-55", "E-56", "E-57", "E-58", "E-60", "E-61"),
    *("E-62", "E-63", "E-66", "E-68", "E-71", "E-72", "E-73", "E-74", "E-75", "E-76", "S-001", "S-002", "S-003", "S-004", "S-005", "S-006", "S-007"),
    *("S-008", "S-009", "S-010", "S-011", "S-012", "S-013", "S-014", "S-015", "S-016", "S-017", "S-018", "S-019", "S-020", "S-021", "S-022", "S-023"),
    *("S-024", "S-025", "S-026", "S-027", "S-028", "S-029", "S-030", "S-031", "S-032", "S-032b", "S-033", "S-034", "S-035", "S-036", "S-040"),
    *("S-041", "S-041b", "S-042", "S-043", "S-044", "S-045", "S-046", "S-047", "S-047b", "S-048", "S-049", "S-050", "S-051", "S-052", "S-053"),
    *("S-054", "S-055", "S-056", "S-056b", "S-057", "S-058", "S-059", "S-060", "S-060b", "S-061", "S-062", "S-063", "S-064", "S-065", "S-066"),
    *("S-080", "S-081", "S-082", "S-083", "S-084", "S-085", "S-086", "S-090", "S-091", "S-092", "S-093", "S-094", "S-095", "S-096", "S-097", "S-100"),
    *("S-101", "S-102", "S-103", "S-104", "S-105", "S-106", "S-107", "S-108", "S-109", "S-110", "S-111", "S-112", "S-115", "S-116", "S-117", "S-120"),
    *("S-121", "S-121b", "S-122", "S-123", "S-124", "S-125", "S-126", "S-130", "S-131", "S-132", "S-180", "S-185", "S-186", "S-187", "S-188"),
    *("S-189", "S-190", "A-081", "A-082", "B-05", "B-12", "B-12b", "B-12c", "B-13", "S-162", "S-165", "E-38", "S-087", "S-160", "S-167"),
]
"""Entries that need an answer by now; the list grows with the product."""

NODE = re.compile(r"(?P<file>tests/[\w/]+\.py)::(?P<function>test_\w+)(\[(?P<row>[^\]]+)\])?")
ANCHOR = re.compile(r"(?P<file>(docs/[\w/-]+|README|SECURITY|CONTRIBUTING)\.md)#(?P<anchor>[\w-]+)")


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors that the page will have: of its headings, or written out."""
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE)
    slugs = {slugify(re.sub(r"[`*_]|\{.*?\}", "", title).strip(), "-") for title in titles}
    return frozenset(slugs | set(re.findall(r"\{[^}]*#([\w-]+)[^}]*\}", text)) | set(re.findall(r"id=\"([\w-]+)\"", text)))


def leads_to(entry: str) -> str:
    """What is wrong with an entry, or nothing."""
    if node := NODE.fullmatch(entry):
        path = ROOT / node["file"]
        if not path.is_file():
            return "no such file"
        if node["function"] not in functions(path):
            return "no such test"
        theme = path.stem.removeprefix("test_")
        if node["row"] and (path.parent != oracles.HERE or theme not in oracles.themes() or node["row"] not in {row.id for row in oracles.load(theme)}):
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


def test_what_is_due_is_there() -> None:
    assert set(DUE) - set(INDEX) == set()


def test_every_number_is_in_the_index() -> None:
    rows = {(row.id, f"tests/vectors/test_{theme}.py::test_number[{row.id}]") for theme in oracles.themes() for row in oracles.load(theme)}
    assert {key for key, node in rows if node not in INDEX.get(key, [])} == set()
    assert len({key for key, _ in rows}) == sum(len(oracles.load(theme)) for theme in oracles.themes()), "an id is given twice"


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
        ("docs/refusals.md#failures", ""),
        ("docs/refusals.md#pictures-and-the-demo", ""),
        ("tests/vectors/test_nowhere.py::test_number", "no such file"),
        ("tests/vectors/test_laws.py::test_nothing", "no such test"),
        ("tests/vectors/test_laws.py::test_number[S-999]", "no such row"),
        ("tests/vectors/test_laws.py::test_number[S-048]", "no such row"),
        ("tests/mechanisms/test_grid.py::test_snap_any_double[S-006]", "no such row"),
        ("docs/nowhere.md#failures", "no such page"),
        ("docs/refusals.md#nowhere", "no such heading"),
        ("see the documentation", "neither a test nor a heading"),
    ],
)
def test_what_leads_nowhere_is_seen(entry: str, wrong: str) -> None:
    assert leads_to(entry) == wrong
