"""The verbs of a table are those of its rows, with the same arguments; nothing is done twice, and
nothing else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from sfumato.client.remote_table import RemoteTable
from sfumato.session import Table
from sfumato.tables import aggregates as ag
from sfumato.tables.declare.declaration import declare
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.types import Type
from sfumato.tables.query.owned_rows import Origin
from sfumato.tables.query.row_methods import RowVerbs
from sfumato.tables.query.stages import Rows

from ..refusing import refusal
from .worlds import Nobody

VERBS = [
    name
    for name, member in vars(RowVerbs).items()
    if inspect.isfunction(member) and name != "_summary"
]


class Source:
    """Tables of one source may be joined."""

    engine = object()


class RowHolder(RowVerbs):
    """Something that has rows."""

    def __init__(self, **about: Any) -> None:
        schema = {"user": Type.of("int64"), "age": Type.of("int32"), "city": Type.of("string")}
        declared = declare(
            name="visits", **{"unit": "user", "max_rows": 3, "schema": schema, **about}
        )
        self._rows = Rows.of(declared, Nobody(), Origin(Source), {"user": "user"})

    @property
    def rows(self) -> Rows:
        return self._rows


CALLS: dict[str, Callable[[Any], Any]] = {
    "__getitem__": lambda rows: rows["age"],
    "where": lambda rows: rows.where(col("age") > 1),
    "mutate": lambda rows: rows.mutate(decade=col("age") // 10),
    "join": lambda rows: rows.join(rows, on="user", how="left", where=col("age") > 1),
    "semi_join": lambda rows: rows.semi_join(rows, on="user", where=col("age") > 1),
    "anti_join": lambda rows: rows.anti_join(rows, on="user", where=col("age") > 1, nulls=False),
    "union": lambda rows: rows.union(rows, ["user", "age"]),
    "group_by": lambda rows: rows.group_by("age", city=["Roma"]),
    "aggregate": lambda rows: rows.aggregate(n=ag.count()),
    "filter": lambda rows: rows.filter(col("age") > 1),
    "agg": lambda rows: rows.agg(n=ag.count()),
    "count": lambda rows: rows.count(),
    "describe": lambda rows: rows.describe().rows,
    "number_rows": lambda rows: rows.number_rows("place", by="age"),
    "synthesize": lambda rows: rows.synthesize(epsilon=1),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_that_of_the_rows(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.synth.synthesize", lambda rows, **_: rows)  # a layer above
    remaining = RowHolder()
    built, direct = CALLS[verb](remaining), CALLS[verb](remaining.rows)
    assert type(built) is type(direct)
    assert describe(built) == describe(direct)


def describe(stage: Any) -> str:
    """A stage, an expression or the rows of a summary, as text."""
    if isinstance(stage, list):
        return repr(stage)
    if hasattr(stage, "text"):
        return str(stage.text)
    return (
        repr((stage.keys, stage.domains))
        if hasattr(stage, "keys")
        else repr([step.text for step in stage.steps])
    )


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_what_that_of_the_rows_takes(verb: str) -> None:
    ours, theirs = (inspect.signature(getattr(kind, verb)) for kind in (RowVerbs, Rows))
    assert [
        (item.name, item.kind, item.default, item.annotation) for item in ours.parameters.values()
    ] == [
        (item.name, item.kind, item.default, item.annotation) for item in theirs.parameters.values()
    ]


@pytest.mark.parametrize("kind", [Table, RemoteTable])
def test_no_table_says_a_verb_again(kind: type) -> None:
    """What a notebook calls is one function, on whichever side of the wall."""
    assert issubclass(kind, RowVerbs)
    assert not set(VERBS) & set(vars(kind))


def test_what_is_not_there_is_refused() -> None:
    refusal(lambda: RowHolder()["nothing"], "expression.column")
    with pytest.raises(NotImplementedError):
        RowVerbs().rows  # noqa: B018  # the property raises


def test_whose_rows_they_are() -> None:
    assert repr(RowHolder()).startswith("table visits · unit user · add-remove\n")
    alone = repr(RowHolder(unit=None, max_rows=None))
    assert alone.startswith("table visits · each row is taken as a different person · add-remove\n")


def test_a_table_says_what_is_declared() -> None:
    table = RowHolder(bounds={"age": (0, 99)}, keys={"city": ["Bari", "Roma"]})
    assert table.columns == table.rows.columns == ("user", "age", "city")
    assert table.schema == {"user": "int64", "age": "int32", "city": "string"}
    assert table.describe().text.splitlines()[1:] == [
        "column  type    declared",
        "user    int64   unit",
        "age     int32   between 0 and 99",
        "city    string  2 public keys: Bari, Roma",
        "a user counts for at most 3 rows",
    ]
    adults = table.where(col("age") >= 18).mutate(decade=col("age") // 10)
    assert repr(adults).splitlines()[0] == (
        "from visits · where age >= 18 · mutate decade = age // 10"
    )
    assert (
        "decade  int32   between 0 and 9 · 9 public keys: 1, 2, 3, 4, 5, 6, …"
        in repr(adults).splitlines()
    )


def test_a_count_is_the_aggregate() -> None:
    table = RowHolder()
    assert table.count().text == table.aggregate(n=ag.count()).text
    grouped = table.group_by(city=["Roma"])
    assert grouped.count().text == grouped.agg(n=ag.count()).text
    assert repr(grouped) == "from visits\ngroup by city"
