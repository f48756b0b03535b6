"""A pattern that is read means the same as Python's, on every short text."""

from __future__ import annotations

import re
from itertools import product

import pytest

from sfumato.session import Table
from sfumato.sql.patterns.regular_expressions import ANY, ONE, Letters, parse_pattern, parse_similar

from .asking import lines, refused

LETTERS = "ab.%1"
TEXTS = ["".join(letters) for n in range(5) for letters in product(LETTERS, repeat=n)]

PATTERNS = [
    *("", "a", "^a", "a$", "^a$", "^ab", "a.b", "a.*b", "^a.*b$", ".*", "^.*$", "a.+b", "^.$"),
    *("a|b", "^a|b$", "^(a|b)$", "^(a|b)", "(a|b)$", "(?:a|b)1", "a(b|1)", "^a(b|1|)$", "ab?"),
    *("a?b?", "[ab]1", "[a-b]$", "^[ab][ab]$", "^\\d$", "a\\.b", "\\.", "%", "a%", "\\%1", "a.*?b"),
    *("^a.*b.*1$", "..", "^..$", "(a)", "((a))b", "^(a.*|b)$", "", "|a", "[.%]"),
]
REFUSED = [
    *("a*", "a+", "(ab)+", "a{2}", "[^a]", "\\w", "\\1", "(?=a)", "a**", "(a", "a)", "[a", "\\"),
    *("^^a", "a$b", ".{3}", "[a-z]{2}", "[[:alpha:]]", "a%.", "[\\d]", "[b-a]"),
]


def matches(letters: Letters, text: str) -> bool:
    """The meaning of letters and wildcards, by a pattern of Python."""
    signs = {ANY: ".*", ONE: "."}
    pattern = "".join(signs.get(letter, re.escape(letter)) for letter in letters)
    return re.fullmatch(pattern, text, re.DOTALL) is not None


@pytest.mark.parametrize("pattern", PATTERNS)
def test_searched(pattern: str) -> None:
    options = parse_pattern(pattern, anchored=False)
    for text in TEXTS:
        expected = re.search(pattern, text, re.DOTALL) is not None
        assert any(matches(letters, text) for letters in options) == expected, text


@pytest.mark.parametrize("pattern", [p for p in PATTERNS if "|" not in p])
def test_matched_as_a_whole(pattern: str) -> None:
    options = parse_pattern(pattern, anchored=True)
    for text in TEXTS:
        expected = re.fullmatch(pattern, text, re.DOTALL) is not None
        assert any(matches(letters, text) for letters in options) == expected, text


def test_similar() -> None:
    assert parse_similar("a%|_b") == [("a", ANY), (ONE, "b")]
    assert parse_similar("(a|b).1") == [("a", ".", "1"), ("b", ".", "1")]


@pytest.mark.parametrize("pattern", REFUSED)
def test_other_patterns_are_refused(table: Table, pattern: str) -> None:
    text = pattern.replace("'", "''")
    question = f"SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(note, '{text}')"
    assert refused(table, question).code == "sql.function"


@pytest.mark.parametrize(
    ("condition", "read"),
    [
        ("REGEXP_MATCHES(note, '^a')", "starts_with(note, 'a')"),
        ("REGEXP_LIKE(note, 'a$')", "ends_with(note, 'a')"),
        ("note RLIKE 'a%'", "contains(note, 'a%')"),
        ("REGEXP_MATCHES(note, '^a_b$')", "note = 'a_b'"),
        ("REGEXP_MATCHES(note, 'a.*b', 'i')", "lower(note) LIKE '%a%b%'"),
        ("REGEXP_FULL_MATCH(note, 'a|b')", "(note = 'a') OR (note = 'b')"),
        ("note SIMILAR TO 'a%b'", "note LIKE 'a%b'"),
        ("note NOT SIMILAR TO 'a%'", "NOT starts_with(note, 'a')"),
        ("note ~* 'A'", "contains(lower(note), 'a')"),
        ("note !~ '^a$'", "NOT (note = 'a')"),
    ],
)
def test_read(table: Table, condition: str, read: str) -> None:
    text = f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"
    assert lines(table, text)[0] == f"where {read}"


@pytest.mark.parametrize("pattern", ["a", "^a", "a$"])
def test_a_tilde_that_systems_read_in_two_ways(table: Table, pattern: str) -> None:
    refusal = refused(table, f"SELECT COUNT(*) AS n FROM visits WHERE note ~ '{pattern}'")
    assert "PostgreSQL" in refusal.reason
    assert f"REGEXP_MATCHES(note, '{pattern}')" in refusal.rewrite


def test_many_alternatives_are_refused(table: Table) -> None:
    text = "[0-9][0-9]"
    question = f"SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(note, '{text}')"
    assert refused(table, question).code == "sql.function"
