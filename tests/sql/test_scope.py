"""Names: what is known of a column follows it through renamings, and is lost where it is computed
anew.
"""

from __future__ import annotations

import pytest
from sqlglot import exp

from sfumato.session import Table
from sfumato.sql.scope import find_call, is_aggregate, quoted
from sfumato.tables.aggregates import KINDS

from .asking import lines, parse, refused, under

SUM = "SELECT SUM({}) AS s FROM {}"


@pytest.mark.parametrize(
    ("column", "source", "sum_of"),
    [
        ("spend", "visits", "spend"),
        ("SPEND", "visits", "spend"),
        ('"spend"', "visits", "spend"),
        ("visits.spend", "visits", "spend"),
        ("v.spend", "visits v", "spend"),
        ("V.Spend", "visits AS v", "spend"),
        ("x", "(SELECT spend AS x FROM visits) AS s", "spend"),
        ("s.x", "(SELECT spend AS x FROM visits) AS s", "spend"),
        ("y", "(SELECT x AS y FROM (SELECT spend AS x FROM visits) AS a) AS b", "spend"),
        ("b", "(SELECT age, spend FROM visits) AS s(a, b)", "spend"),
        ("age", "(SELECT spend AS age, age AS spend FROM visits) AS s", "spend"),
        ("x", "(SELECT spend * 2 AS x FROM visits) AS s", "spend * 2"),
    ],
)
def test_what_is_known_follows_a_column(
    table: Table, column: str, source: str, sum_of: str
) -> None:
    assert lines(table, SUM.format(column, source)) == [f"s = sum({sum_of})"]


@pytest.mark.parametrize(
    "text",
    [
        "(SELECT spend / age AS spend FROM visits) AS s",
        "(SELECT LN(age) AS spend FROM visits) AS s",
        "(SELECT amount AS spend FROM visits) AS s",
    ],
)
def test_what_is_computed_anew_loses_it(table: Table, text: str) -> None:
    """D8: facts belong to columns as they stand."""
    assert refused(table, SUM.format("spend", text)).code == "sql.bounds"


def test_public_keys_follow_a_column_and_are_lost_with_it(table: Table) -> None:
    keyed = parse(
        table,
        "SELECT town, COUNT(*) AS n FROM (SELECT city AS town FROM visits) AS s GROUP BY town",
    )
    assert keyed.query.public
    assert keyed.finish.keys == (("city", "town"),)
    computed = parse(
        table,
        (
            "SELECT city, COUNT(*) AS n FROM (SELECT LOWER(city) AS city FROM visits) AS s "
            "GROUP BY city"
        ),
    )
    assert computed.query.domains == (("bari", "milano", "roma"),)
    assert not parse(
        table,
        (
            "SELECT city, COUNT(*) AS n FROM (SELECT CONCAT(city, note) AS city FROM visits) AS s "
            "GROUP BY city"
        ),
    ).query.public
    assert not parse(
        table,
        "SELECT city, COUNT(*) AS n FROM (SELECT note AS city FROM visits) AS s GROUP BY city",
    ).query.public


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("SELECT AVG(spent) FROM visits", "spent"),
        ("SELECT AVG(w.spend) FROM visits v", "w.spend"),
        ("SELECT AVG(visits.spend) FROM visits v", "visits.spend"),
        ("SELECT AVG(spend) FROM (SELECT age FROM visits) AS s", "spend"),
        ("SELECT AVG(a.b.c.d) FROM visits", "a.b.c.d"),
    ],
)
def test_columns_that_are_not_there(table: Table, text: str, part: str) -> None:
    refusal = refused(table, text)
    assert refusal.code == "sql.column"
    assert under(refusal) == part


def test_names_that_need_quotes() -> None:
    assert quoted("user_id") == "user_id"
    assert quoted('a "b"') == '"a ""b"""'


def test_every_named_aggregate_is_known_for_one() -> None:
    for call in (call for kind in KINDS.values() for call in kind.calls):
        nodes = [getattr(exp, node)() for node in call.nodes]
        for node in (*nodes, *(exp.Anonymous(this=name.upper()) for name in call.names)):
            assert is_aggregate(node)
            assert find_call(node) is call
