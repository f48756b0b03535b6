"""Reading expressions: nothing of a node is passed over, and a refusal stands under the smallest
part that is meant.
"""

from __future__ import annotations

import pytest
from sqlglot import exp

from sfumato.errors import Refused
from sfumato.session import Table
from sfumato.sql.row_expressions import TEACH, Scalars
from sfumato.sql.sql_constants import Parameters
from sfumato.sql.sql_functions import FLAGS, TABLE
from sfumato.sql.sql_text import Source

from .asking import refused, under

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


@pytest.mark.parametrize("kind", list(TABLE))
def test_an_argument_that_is_not_read_is_refused(kind: type[exp.Expression]) -> None:
    """Whatever else sqlglot may one day put into a node."""
    source = Source.of("SELECT 1", "SELECT 1")
    scalars = Scalars(source, Parameters.of(source, None, exp.Null()))
    node = kind(
        **{name: exp.Literal.number(1) for name in TABLE[kind][0]}, unforeseen=exp.Literal.number(1)
    )
    with pytest.raises(Refused) as caught:
        scalars.closed(node, TABLE[kind][0])
    assert caught.value.code == "sql.unsupported"
    assert "unforeseen" not in FLAGS.get(kind, frozenset())


def test_a_node_that_is_not_on_the_list_is_refused() -> None:
    source = Source.of("SELECT 1", "SELECT 1")
    scalars = Scalars(source, Parameters.of(source, None, exp.Null()))
    known = {
        *TABLE,
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
        if isinstance(kind, type) and issubclass(kind, exp.Expression) and kind not in known
    ]
    assert len(kinds) > 700
    for kind in kinds:
        with pytest.raises(Refused) as caught:
            scalars.read(kind(), lambda _: pytest.fail("a column"))
        assert caught.value.code.startswith("sql."), kind


def test_reasons_of_their_own() -> None:
    assert all(code.startswith("sql.") and reason for code, reason in TEACH.values())
