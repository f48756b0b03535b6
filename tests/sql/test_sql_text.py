"""Places: the mark stands under what is meant, in texts of any width and height. And the limits
that come before parsing.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from sqlglot import exp

from sfumato.answers.render.tabulate import display_width
from sfumato.errors import RefusalText, Refused
from sfumato.sql.codes import SQL_CODES
from sfumato.sql.sql_text import BRACKETS, LONGEST, WORDS, SqlText, arguments

from .people import protected, unasked

EXAMPLE = "SELECT COUNT(*) AS n FROM visits"
ENTRY = RefusalText("sql.unsupported", "here", "why", "{example}")


def marked(text: str, kind: type[exp.Expression], which: int = 0) -> tuple[str, str]:
    """What a refusal at a node shows: the line, and the part of it that is marked."""
    source = SqlText.of(text, EXAMPLE)
    node = list(source.tree().find_all(kind, bfs=False))[which]
    refusal = source.refuse(ENTRY, node)
    _, first, second = str(refusal).splitlines()[:3]
    start = second.index("^")
    count = second.count("^")
    shown, at = [], 0
    for letter in first:
        if start <= at < start + count:
            shown.append(letter)
        at += display_width(letter)
    return first, "".join(shown)


@pytest.mark.parametrize(
    ("text", "kind", "which", "part"),
    [
        ("SELECT a, COUNT(*) FROM t", exp.Count, 0, "COUNT(*)"),
        ("SELECT SUM(a + (b)) FROM t", exp.Sum, 0, "SUM(a + (b))"),
        ("SELECT NOW() FROM t", exp.Anonymous, 0, "NOW()"),
        ("SELECT 1\n  , MAX( a )\nFROM t", exp.Max, 0, "MAX( a )"),
        ("SELECT 'città 漢字', MAX(a) FROM t", exp.Max, 0, "MAX(a)"),
        ("SELECT\t\tMAX(a) FROM t", exp.Max, 0, "MAX(a)"),
        ('SELECT "a b" FROM t', exp.Column, 0, '"a b"'),
        ("SELECT a FROM t WHERE b = 'it''s'", exp.Literal, 0, "'it''s'"),
        ("SELECT x FROM t WHERE a BETWEEN 1 AND 2", exp.Between, 0, "a BETWEEN 1 AND 2"),
        ("SELECT x FROM t WHERE CAST(a AS JSON) = 1", exp.Cast, 0, "CAST(a AS JSON)"),
        ("SELECT " + "x, " * 60 + "MAX(a) FROM t", exp.Max, 0, "MAX(a)"),
        ("SELECT MAX(" + "a + " * 60 + "a) FROM t", exp.Max, 0, None),
    ],
)
def test_the_mark_stands_under_the_words(
    text: str, kind: type[exp.Expression], which: int, part: str | None
) -> None:
    line, under = marked(text, kind, which)
    assert len(line) < 160
    assert under == part if part is not None else under.startswith("MAX(a + a")


def test_without_a_place_the_whole_text_is_shown() -> None:
    source = SqlText.of("SELECT\n  1", EXAMPLE)
    assert source.refuse(ENTRY, None).place == "SELECT 1"
    assert len(SqlText.of("SELECT " + "1, " * 500 + "1", EXAMPLE).refuse(ENTRY, None).place) <= 100


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (7, "sql.text"),
        (b"SELECT 1", "sql.text"),
        ("", "sql.text"),
        (" \n\t", "sql.text"),
        ("-- x", "sql.text"),
        ("x" * (LONGEST + 1), "sql.text"),
        ("SELECT \x00", "sql.text"),
        ("SELECT \ud800", "sql.text"),
        ("SELECT 'x", "sql.syntax"),
        ("SELECT (1", "sql.syntax"),
        ("SELECT 1)", "sql.syntax"),
        ("SELECT " + "1," * (WORDS // 2) + "1", "sql.depth"),
        ("SELECT " + "(" * (BRACKETS + 1) + "1" + ")" * (BRACKETS + 1), "sql.depth"),
        ("SELECT " + "CASE WHEN a THEN " * 90 + "1" + " END" * 90, "sql.depth"),
        ("SELECT 1; SELECT 2", "sql.statements"),
        ("UPDATE t SET a = 1", "sql.statement"),
        ("SELECT 1 UNION SELECT 2", "sql.set"),
    ],
)
def test_refused_before_it_is_read(text: object, code: str) -> None:
    with pytest.raises(Refused) as caught:
        SqlText.of(text, EXAMPLE).tree()  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.code == code
    assert str(caught.value).count("\n") <= 5


def test_syntax_is_marked_where_reading_stopped() -> None:
    with pytest.raises(Refused) as caught:
        SqlText.of("SELECT COUNT(*) AS n FROM visits WHERE age 3", EXAMPLE).tree()
    head, line, mark, *_ = str(caught.value).splitlines()
    assert head == "refused [sql.syntax]"
    assert line[mark.index("^")] == "3"


def test_nothing_of_the_parser_is_repeated() -> None:
    with pytest.raises(Refused) as caught:
        SqlText.of("SELECT SUBSTRING() FROM t WHERE CAST(a AS )", EXAMPLE).tree()
    assert "sqlglot" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t" + ", LATERAL (SELECT 1)" * 40,
        "SELECT a FROM " + "(" * 23 + "t" + ")" * 23,
        "SELECT " + "(a, (" * 11 + "1" + "))" * 11,
        "SELECT " + "x -> (" * 20,
    ],
)
def test_every_text_comes_to_an_end(text: str) -> None:
    """Some constructs are tried twice by the parser, which is exponential when they nest: every
    node is counted.
    """
    with contextlib.suppress(Refused):
        SqlText.of(text, EXAMPLE).tree()


def test_the_count_of_nodes_stops_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.sql.sql_text.NODES_PER_WORD", 0)
    with pytest.raises(Refused) as caught:
        SqlText.of("SELECT " + "1 + " * 300 + "1", EXAMPLE).tree()
    assert caught.value.code == "sql.depth"


def test_arguments_that_say_nothing_are_not_told() -> None:
    tree = SqlText.of("SELECT COUNT(*) FROM t", EXAMPLE).tree()
    assert set(arguments(tree)) == {"expressions", "from_"}


def test_codes_are_unique_and_only_those_are_used() -> None:
    assert len({code for code, _ in SQL_CODES}) == len(SQL_CODES)
    with pytest.raises(AssertionError):
        SqlText.of("SELECT 1", EXAMPLE).refuse(replace(ENTRY, code="sql.nothing"), None)


def test_a_parser_that_goes_round_in_a_circle_is_stopped() -> None:
    """sqlglot takes the list behind a table's name for columns, and goes back before the comma at
    each NOT, for ever.
    """
    with unasked(protected()) as table, pytest.raises(Refused) as caught:
        table.plan(
            (
                "SELECT COUNT(*) AS n FROM visits concat(user_id, NOT city NOT IN (SELECT "
                "1)) GROUP BY 1"
            ),
            epsilon=1,
        )
    assert caught.value.code == "sql.syntax"
