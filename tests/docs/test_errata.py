"""The page of errata: all 76, in order, each with what is printed, what is right, and the tests
that the index names for it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
INDEX: dict[str, list[str]] = json.loads(
    (ROOT / "tests" / "vectors" / "index.json").read_text(encoding="utf-8")
)
PAGE = (ROOT / "docs" / "why" / "errata.md").read_text(encoding="utf-8")

ENTRY = re.compile(
    r"^### (?P<id>E-\d\d) (?P<title>.+) \{ #(?P<anchor>e-\d\d) \}\n\n(?P<where>.+) · "
    r"(?P<severity>[^·\n]+)\n\n"
    r"- \*\*Printed\*\*: (?P<printed>.+)\n- \*\*Right\*\*: (?P<right>.+)\n- "
    r"\*\*Test\*\*: (?P<test>.+)$",
    re.MULTILINE,
)


class Erratum(NamedTuple):
    id: str
    anchor: str
    severity: str
    printed: str
    right: str
    tests: tuple[str, ...]


def errata(page: str) -> list[Erratum]:
    entries = []
    for entry in ENTRY.finditer(page):
        tests = (
            () if entry["test"] == "text only" else tuple(re.findall(r"`([^`]+)`", entry["test"]))
        )
        entries.append(
            Erratum(
                entry["id"],
                entry["anchor"],
                entry["severity"],
                entry["printed"],
                entry["right"],
                tests,
            )
        )
    return entries


def indexed(number: str, index: dict[str, list[str]]) -> tuple[str, ...]:
    """The tests that the index has for an erratum, and for its second oracle."""
    return tuple(
        target
        for key in sorted(index)
        if re.fullmatch(rf"{number}[a-z]?", key)
        for target in index[key]
        if target.startswith("tests/")
    )


ERRATA = errata(PAGE)


def test_all_76_are_there_in_order() -> None:
    assert [entry.id for entry in ERRATA] == [f"E-{number:02d}" for number in range(1, 77)]
    assert PAGE.count("\n### ") == 76, "an entry that is not written like the others"
    assert [entry.anchor for entry in ERRATA] == [entry.id.lower() for entry in ERRATA]


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: entry.id)
def test_the_tests_are_those_of_the_index(entry: Erratum) -> None:
    assert entry.tests == indexed(entry.id, INDEX), "the line Test says: " + (
        ", ".join(f"`{target}`" for target in indexed(entry.id, INDEX)) or "text only"
    )
    assert f"docs/why/errata.md#{entry.anchor}" in INDEX[entry.id]


def test_every_entry_says_something() -> None:
    for entry in ERRATA:
        assert re.match(r"(unsafe|wrong|loose|typographical)", entry.severity)
        assert len(entry.printed) > 5
        assert len(entry.right) > 5


def test_the_counts_in_the_introduction() -> None:
    unsafe, alone = (
        sum("unsafe" in entry.severity for entry in ERRATA),
        sum(not entry.tests for entry in ERRATA),
    )
    assert f"Of the 76, {unsafe} are unsafe and {alone} are text only." in PAGE


def test_what_differs_is_seen() -> None:
    entry = ERRATA[0]
    assert entry.tests != indexed(entry.id, INDEX | {entry.id: INDEX[entry.id][1:]})
    assert errata(PAGE.replace("- **Printed**: ", "- Printed: ", 1))[0].id == "E-02"
