"""List every word of SQL that sfumato reads, for docs/reference/sql.md. The lists come from the
tables of the SQL reader; words that stand in no table come with a question that has to pass.
"""

from __future__ import annotations

import re
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

import sfumato as sf
from sfumato.errors import Refused
from sfumato.sql import (
    answer_expressions,
    condition,
    datetimes,
    from_clause,
    join_clause,
    sql_functions,
)
from sfumato.tables.aggregates import KINDS as AGGREGATES
from sfumato.tables.expr.functions import FUNCTIONS


def cell(text: str) -> str:
    """A text as a cell of a table."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def table(*columns: str, rows: list[tuple[str, ...]]) -> str:
    lines = [
        f"| {' | '.join(columns)} |",
        "|" + "---|" * len(columns),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


WORDS = """
AND: vip AND vip · OR: vip OR vip · NOT: NOT vip · =: age = 1 · <>: age <> 1 · <: age < 1
<=: age <= 1 · >: age > 1 · >=: age >= 1 · BETWEEN: age BETWEEN 1 AND 2
IN (constants): age IN (1, 2) · IS NULL: age IS NULL · IS TRUE: vip IS TRUE
IS DISTINCT FROM: age IS DISTINCT FROM 1 · IS NOT DISTINCT FROM: age IS NOT DISTINCT FROM 1
LIKE: city LIKE 'R%' · ILIKE: city ILIKE 'r%' · CASE: CASE WHEN vip THEN 1 END IS NULL
+: age + 1 IS NULL · -: age - 1 IS NULL · *: age * 2 IS NULL · /: age / 2 IS NULL
//: age // 2 IS NULL · %: age % 2 IS NULL · ^: age ^ 2 IS NULL · -x: -age IS NULL
||: city || 'x' IS NULL · CAST: CAST(age AS TEXT) IS NULL · TRY_CAST: TRY_CAST(city AS INT) IS NULL
::: age::TEXT IS NULL · + INTERVAL: day + INTERVAL 3 DAY IS NULL
- INTERVAL: day - INTERVAL 3 DAY IS NULL · EXTRACT: EXTRACT(year FROM day) IS NULL
POSITION: POSITION('a' IN city) IS NULL · DATE_ADD: DATE_ADD(day, INTERVAL 1 DAY) IS NULL
CONCAT: CONCAT(city, 'x') IS NULL · TRIM: TRIM(city) IS NULL
SIMILAR TO: city SIMILAR TO 'R%' · ~: city ~ '^R.*$' · ~*: city ~* '^r'
"""
WRITTEN = dict(part.split(": ", 1) for part in re.split(r" · |\n", WORDS.strip()))
"""Words and signs that are not simply calls, each in a condition."""

FOREIGN = ("LIKE", "CONVERT", "TRY_CONVERT")  # words of other dialects
CALLS = (
    *(
        "spend",
        "spend, age",
        "spend, 1",
        "age, 0, 9",
        "age, 0, 9, 3",
        "city",
        "city, 1",
        "city, 1, 2",
        "city, 'a'",
        "city, 'a', 'b'",
        "city, 'a', 1",
    ),
    *("day", "CAST(day AS TIMESTAMP)", "'day', day, day", "'day', day", "'year', day", "vip, 1, 2"),
    *("day, '%Y'", "day, 'YYYY'", "day, 'yyyy'"),
)
KINDS = {"logic": "comparison and logic", "cast": "casts"}


CLAUSES = {
    "with_": "WITH",
    "expressions": "SELECT",
    "distinct": "DISTINCT",
    "from_": "FROM",
    "joins": "JOIN",
    "where": "WHERE",
    "group": "GROUP BY",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "laterals": "LATERAL",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "sample": "TABLESAMPLE",
    "into": "INTO",
}
"""sqlglot's name of a part of a SELECT → the word."""


PHRASES = {
    "Inside clauses": {
        "AS": "SELECT COUNT(*) AS n FROM visits AS v",
        "AS MATERIALIZED": (
            "WITH v AS MATERIALIZED (SELECT * FROM visits) SELECT COUNT(*) AS n FROM v"
        ),
        "ON": "SELECT COUNT(*) AS n FROM visits AS v JOIN visits AS w ON v.user_id = w.user_id",
        "USING": "SELECT COUNT(*) AS n FROM visits AS v JOIN visits AS w USING (user_id)",
        "FILTER (WHERE …)": "SELECT COUNT(*) FILTER (WHERE vip) AS n FROM visits",
        "GROUP BY ALL": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY ALL",
        "ORDER BY ALL": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip ORDER BY ALL",
        "ASC": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip ORDER BY n ASC",
        "DESC": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip ORDER BY n DESC",
        "NULLS FIRST": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip ORDER BY n NULLS FIRST",
        "NULLS LAST": "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip ORDER BY n NULLS LAST",
    },
    "Sub-queries": {
        "IN (SELECT …)": (
            "SELECT COUNT(*) AS n FROM visits WHERE user_id IN (SELECT user_id FROM visits)"
        ),
        "NOT IN (SELECT …)": (
            "SELECT COUNT(*) AS n FROM visits WHERE user_id NOT IN (SELECT user_id FROM visits)"
        ),
        "EXISTS": (
            "SELECT COUNT(*) AS n FROM visits AS v "
            "WHERE EXISTS (SELECT 1 FROM visits AS w WHERE w.user_id = v.user_id)"
        ),
        "NOT EXISTS": (
            "SELECT COUNT(*) AS n FROM visits AS v "
            "WHERE NOT EXISTS (SELECT 1 FROM visits AS w WHERE w.user_id = v.user_id)"
        ),
        "UNION ALL": (
            "SELECT COUNT(*) AS n "
            "FROM (SELECT user_id FROM visits UNION ALL SELECT user_id FROM visits) AS v"
        ),
    },
    "Keys": {
        "CALENDAR": (
            "SELECT CALENDAR(day, 'month', DATE '2026-01-01', DATE '2026-06-30') AS month, "
            "COUNT(*) AS n FROM visits GROUP BY month"
        ),
    },
    "Constants": {
        "TRUE": "SELECT COUNT(*) AS n FROM visits WHERE vip = TRUE",
        "FALSE": "SELECT COUNT(*) AS n FROM visits WHERE vip = FALSE",
        "NULL": "SELECT COUNT(*) AS n FROM visits WHERE COALESCE(vip, NULL)",
        "DATE '…'": "SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '2026-01-01'",
        "TIMESTAMP '…'": (
            "SELECT COUNT(*) AS n FROM visits WHERE day >= TIMESTAMP '2026-01-01 00:00:00'"
        ),
        "INTERVAL": "SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL 3 DAY IS NULL",
    },
}
"""Words that stand in no table of the reader: heading → word → a question that has to pass."""


def check_phrases() -> None:
    """Plan every question of `PHRASES`: a word that the reader refuses is not on the page."""
    with sf.protect(
        sf.samples.visits(), name="visits", unit="user_id", max_rows=4, budget=1
    ) as visits:
        for questions in PHRASES.values():
            for question in questions.values():
                visits.plan(question, epsilon=0.1)


def sql() -> str:
    """Write the lists of the page on SQL."""
    check_phrases()
    clauses = [
        (f"`{CLAUSES[part]}`", f"`{entry.code}`: {cell(entry.reason)}")
        for part, entry in from_clause.REFUSED_PARTS.items()
    ]
    refused = clauses + [
        (f"`{name} JOIN`", f"`{entry.code}`: {cell(entry.reason)}")
        for name, entry in join_clause.METHODS.items()
    ]
    rows = [
        (kind, " · ".join(f"`{cell(word)}`" for word in words)) for kind, words in rowwise().items()
    ]
    shapes = sorted({" ".join([*filter(None, key), "JOIN"]) for key in join_clause.KINDS})
    lists = {
        "Clauses": [word for part, word in CLAUSES.items() if part in from_clause.READ_PARTS],
        "Aggregates": _aggregates(),
        "On released values": _after(),
        "Types of CAST": [*sql_functions.TYPES, "DECIMAL(p, s)"],
        "Parts of EXTRACT and DATE_PART": list(datetimes.PART_NAMES),
        "Joins": shapes,
        **{title: list(questions) for title, questions in PHRASES.items()},
    }
    listed = [
        f"**{title}.** " + " · ".join(f"`{cell(word)}`" for word in words) + "\n"
        for title, words in lists.items()
    ]
    assert set(CLAUSES) == {*from_clause.READ_PARTS, *from_clause.REFUSED_PARTS}
    return "\n".join(
        [
            table("Kind", "Words", rows=rows),
            *listed,
            table("Aggregate", "In SQL", "In Python", rows=_kinds()),
            table("Clause that is refused", "Why", rows=refused),
        ]
    )


def rowwise() -> dict[str, list[str]]:
    """Kind → the words of SQL: those above, and every name that sqlglot knows as a node of the list
    and that is then read with some arguments.
    """
    home = {function.name: str(function.group) for function in FUNCTIONS.values()}
    listed: dict[str, list[str]] = {kind: [] for kind in dict.fromkeys(home.values())}
    listed_nodes: set[type] = {
        exp.DateTrunc,
        exp.DateSub,
    }  # what other dialects make of DATE_TRUNC and of - INTERVAL
    keys = {*sql_functions.SYNTAX, *sql_functions.spellings()}
    classes = {key for key in keys if isinstance(key, type)}
    with sf.protect(sf.samples.visits(), name="visits", unit="user_id", budget=1) as visits:
        for word, text in WRITTEN.items():
            parsed = condition(text, visits.rows)
            listed[home[_innermost(parsed, text).function.name]].append(word)
            listed_nodes |= _nodes(text)
        for name in sorted(
            {*DuckDB.Parser.FUNCTIONS, *(key.upper() for key in keys if isinstance(key, str))}
            - set(WRITTEN)
            - set(FOREIGN)
        ):
            if name.endswith("_STR"):  # sqlglot's own inner names
                continue
            for arguments in CALLS:
                nodes = _nodes(f"{name}({arguments}) IS NULL")
                if not nodes & {*classes, exp.Anonymous} - {exp.Is}:
                    continue
                try:
                    parsed = condition(f"{name}({arguments}) IS NULL", visits.rows)
                except Refused:
                    continue
                listed[home[_innermost(parsed, " IS NULL").function.name]].append(name)
                listed_nodes |= nodes
                break
    unlisted = classes - listed_nodes
    assert unlisted <= {exp.Paren}, unlisted
    return {KINDS.get(kind, kind): words for kind, words in listed.items()}


def _innermost(parsed: Any, text: str) -> Any:
    """The call that the word stands for: what is asked to be null, or the condition itself. A
    remainder is there for Sundays only.
    """
    inner = (
        parsed.arguments[0]
        if text.endswith(" IS NULL") and hasattr(parsed.arguments[0], "function")
        else parsed
    )
    return (
        inner.arguments[0]
        if inner.function.name == "mod" and inner.arguments[0].text.startswith("day_of_week")
        else inner
    )


def _nodes(text: str) -> set[type]:
    try:
        return {type(node) for node in sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").walk()}
    except Exception:  # sqlglot's builders fail in ways of their own where arguments are missing
        return set()


def _kinds() -> list[tuple[str, ...]]:
    """Every kind of aggregate: what it is, and how SQL and Python write it."""
    rows = []
    for kind in AGGREGATES.values():
        of, by = ("y", "x") if kind.name.startswith("regression") else ("x", "y")
        form = kind.client.format(of=of, by=by, q="q", edges="edges", unit="unit")
        rows.append((kind.about, f"`{form}`", f"`{kind.example}`"))
    return rows


def _aggregates() -> list[str]:
    calls = [call for kind in AGGREGATES.values() for call in kind.calls]
    nodes = {getattr(exp, node) for call in calls for node in call.nodes}
    called = {
        name
        for name in DuckDB.Parser.FUNCTIONS
        for arguments in ("a", "a, 0.5")
        if _nodes(f"{name}({arguments})") & nodes
    }
    return sorted(
        {
            *called,
            *(name.upper() for call in calls for name in call.names),
            "COUNT(DISTINCT x)",
            "PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)",
        }
    )


def _after() -> list[str]:
    """The functions of released values, by their signs or names."""
    return [
        *("-x" if name == "negate" else name.upper() for name in answer_expressions.ARITHMETIC),
        "ROUND",
        *answer_expressions.COMPARISONS,
        "BETWEEN",
        "IN",
        "IS NULL",
        *(f"CAST(x AS {name})" for name in answer_expressions._NUMBERS),
        *(name.upper() for name in answer_expressions.LOGIC),
    ]
