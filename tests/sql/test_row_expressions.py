"""Reading expressions: nothing of a node is passed over, and a refusal stands under the smallest
part that is meant.
"""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from sfumato.errors import Refused
from sfumato.session import Table
from sfumato.sql.row_expressions import REFUSED_NODES, RowReader
from sfumato.sql.sql_constants import Parameters
from sfumato.sql.sql_functions import SYNTAX, NodeKey, spellings
from sfumato.sql.sql_text import SqlText
from sfumato.tables.expr.expressions import col

from .asking import parse, refused, under

WHERE = "SELECT COUNT(*) AS n FROM visits WHERE "


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("vip AND LENGTH(age) > 1", "LENGTH(age)"),
        ("age > 1 OR city + 1 > 2", "city + 1"),
        ("vip AND (age = 'x' OR vip)", "age = 'x'"),
        ("UPPER(city || LOWER(age)) = 'x'", "LOWER(age)"),
        ("age > 3 AND NOTHING(age, 1) > 2", "NOTHING(age, 1)"),
        ("CASE WHEN vip THEN RANDOM() END > 1", "RANDOM()"),
        ("age + nothing > 1", "nothing"),
    ],
)
def test_the_smallest_part_is_marked(table: Table, text: str, part: str) -> None:
    assert under(refused(table, WHERE + text)) == part


@pytest.mark.parametrize("kind", [key for key in SYNTAX if isinstance(key, type)])
def test_an_argument_that_is_not_read_is_refused(kind: type[exp.Expression]) -> None:
    """Whatever else sqlglot may one day put into a node."""
    node = kind(**{name: exp.column("x") for name in (*SYNTAX[kind][0], "unforeseen")})
    assert refusal_of(node) == "sql.unsupported"


@pytest.mark.parametrize("key", spellings(), ids=str)
def test_an_argument_beside_a_spelling_is_refused(key: NodeKey) -> None:
    kind = exp.Anonymous if isinstance(key, str) else key
    for spelling in spellings()[key]:
        args: dict[str, Any] = {name: exp.column("x") for name in spelling.places}
        if isinstance(key, str):
            args = {"this": key, "expressions": [exp.column("x")]}
        node = kind(**args, **spelling.fixed, unforeseen=exp.column("x"))
        assert refusal_of(node) == "sql.unsupported"


def refusal_of(node: exp.Expression) -> str:
    source = SqlText.of("SELECT 1", "SELECT 1")
    scalars = RowReader(source, Parameters.of(source, None, exp.Null()))
    with pytest.raises(Refused) as caught:
        scalars.read(node, lambda column: col(column.name))
    return caught.value.code


@pytest.mark.parametrize(
    ("condition", "rewrite"),
    [
        ("age IN (spend, 2)", "(age = spend OR age = 2)"),
        ("LOG(3, spend) > 1", "(LN(spend) / LN(3)) > 1"),
        ("CAST(note AS BLOB) IS NULL", "CAST(note AS DOUBLE) IS NULL"),
    ],
)
def test_a_rewrite_can_be_pasted(table: Table, condition: str, rewrite: str) -> None:
    refusal = refused(table, f"SELECT COUNT(*) FROM visits WHERE {condition}")
    assert refusal.rewrite == f"SELECT COUNT(*) FROM visits WHERE {rewrite}"


def test_a_node_that_is_not_on_the_list_is_refused() -> None:
    source = SqlText.of("SELECT 1", "SELECT 1")
    scalars = RowReader(source, Parameters.of(source, None, exp.Null()))
    facts = {
        *SYNTAX,
        *spellings(),
        exp.Column,
        exp.Literal,
        exp.Boolean,
        exp.Null,
        exp.Placeholder,
        exp.Anonymous,
        exp.RawString,
    }
    kinds = [
        kind
        for kind in vars(exp).values()
        if isinstance(kind, type) and issubclass(kind, exp.Expression) and kind not in facts
    ]
    assert len(kinds) > 700
    for kind in kinds:
        with pytest.raises(Refused) as caught:
            scalars.read(kind(), lambda _: pytest.fail("a column"))
        assert caught.value.code.startswith("sql."), kind


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM visits WHERE ROW_NUMBER() OVER (ORDER BY age) > 1",
        "SELECT COUNT(*) FILTER (WHERE RANK() OVER (ORDER BY age) > 1) AS n FROM visits",
        "SELECT SUM(age - LAG(age) OVER (ORDER BY age)) AS n FROM visits",
    ],
)
def test_a_window_over_rows_is_refused_as_a_window(table: Table, text: str) -> None:
    refusal = refused(table, text)
    assert refusal.code == "sql.window"
    assert parse(table, refusal.rewrite).query.aggregates


def test_reasons_of_their_own() -> None:
    assert all(entry.code.startswith("sql.") for entry in REFUSED_NODES.values())
