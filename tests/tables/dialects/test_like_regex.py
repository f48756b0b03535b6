"""LIKE as a regular expression: what it finds is what a pattern matches, letter by letter, and it
does not look twice.
"""

from __future__ import annotations

import re
from random import Random

import duckdb
import pytest

from sfumato.tables.engine.dialects.like_regex import java

LETTERS = "ab%_\\.*é😀\n'"


def here(pattern: str) -> re.Pattern[str]:
    """The same for Python, which has the same atoms and writes letters and the end otherwise."""
    return re.compile(
        re.sub(
            r"\\x\{([0-9a-f]+)\}", lambda match: f"\\U{int(match[1], 16):08x}", java(pattern)
        ).replace(r"\z", r"\Z")
    )


def test_it_finds_what_duckdb_matches() -> None:
    random = Random(3)
    pairs = [
        tuple("".join(random.choices(LETTERS, k=random.randrange(8))) for _ in range(2))
        for _ in range(4000)
    ]
    pairs += [
        (text, "".join(random.choices("ab%_", k=6)))
        for text in ("ab", "abab", "aabb", "abaabb", "bbbaab")
        for _ in range(400)
    ]
    expected = duckdb.connect().execute(
        "SELECT unnest(?) LIKE unnest(?)", [list(side) for side in zip(*pairs, strict=True)]
    )
    matches = [here(pattern).search(text) is not None for text, pattern in pairs]
    assert matches == [match for (match,) in expected.fetchall()]
    assert {True, False} == set(matches)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("%a%b%c%", "a" * 20_000), ("%a%a%a%a%b", "a" * 20_000), ("a%b_%c", "ab" * 10_000)],
)
def test_what_was_found_is_not_looked_for_again(pattern: str, text: str) -> None:
    """By places tried one inside the other this would take longer than anybody waits."""
    assert here(pattern).search(text) is None


def test_as_it_is_written() -> None:
    assert java("a%b_%%c%") == r"(?s)\Aa(?>.*?b.)(?>.*?c)"
    assert java("%a.") == r"(?s)\A.*a\x{2e}\z"
    assert java("_") == r"(?s)\A.\z"
