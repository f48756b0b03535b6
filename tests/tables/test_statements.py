"""Statements for the engine: names that may collide, values that break things, and what public
facts alone decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.guarantees import ZCDP, Approx, Guarantee, Pure
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates.component import Component
from sfumato.tables.declare.declaration import declare
from sfumato.tables.engine.sources import open_source
from sfumato.tables.expr.expressions import col
from sfumato.tables.expr.grids import grid_of
from sfumato.tables.expr.types import Type
from sfumato.tables.plan.bounding import Bounding
from sfumato.tables.plan.query_plan import plan
from sfumato.tables.plan.statements import as_doubles, needs_decimal
from sfumato.tables.query.aggregate import Aggregate
from sfumato.tables.query.stages import Rows
from sfumato.testing.exact_checks import Rehearsal, exact_answer, through_the_door

from .replay import moved
from .rowwise import differences
from .special_values import VALUES, array, python
from .worlds import Nobody, Swap

NUMERIC = [kind for kind in VALUES if Type.of(kind).numeric]
LAWS: tuple[Guarantee, ...] = (Pure(1), ZCDP("1/8"), Approx(1, "1e-6"))


def _table(
    kind: str, values: list[Any], owners: list[int], keys: list[str] | None = None
) -> pa.Table:
    keys = keys or [str(i % 3) for i in range(len(owners))]
    return pa.table(
        {"u": pa.array(owners, pa.int64()), "x": array(kind, values), "k": keys},
        schema=_schema(kind),
    )


def _schema(kind: str) -> pa.Schema:
    return pa.schema([("u", pa.int64()), ("x", array(kind, []).type), ("k", pa.string())])


def _to_python(kind: str, value: Any) -> Any:
    return UUID(value) if kind == "uuid" and value is not None else python(kind, value)


@pytest.fixture(scope="module", params=list(VALUES))
def special(request: pytest.FixtureRequest) -> Iterator[tuple[str, Swap]]:
    """A type, and a table that takes its values."""
    built = Swap(_schema(request.param), {"x": request.param} if request.param == "uuid" else None)
    yield request.param, built
    built.close()


def _filled(kind: str, swap: Swap) -> list[dict[str, Any]]:
    """One row for each special value, owned by a unit of its own, and two units who own all of
    them.
    """
    values = VALUES[kind]
    owners = [*range(len(values)), *[-1] * len(values), *[-2] * len(values)]
    swap.hold(_table(kind, values * 3, owners))
    return [
        {"u": u, "x": _to_python(kind, value), "k": str(i % 3)}
        for i, (u, value) in enumerate(zip(owners, values * 3, strict=True))
    ]


def _rows(kind: str, swap: Swap, **about: Any) -> Rows:
    return Rows.of(
        declare(name="world", schema={**swap.source.schema, "x": Type.of(kind)}, **about), Nobody()
    )


def _aggregates(kind: str) -> dict[str, Aggregate]:
    """All that can be asked of a column of a type."""
    query = {
        "n": ag.count(),
        "c": ag.count("x"),
        "i": ag.count_if(col("x").is_null()),
        "u": ag.count_units(),
    }
    if kind == "bool":
        query |= {"s": ag.sum("x"), "m": ag.mean("x")}
    if kind in NUMERIC:
        ends = {
            "low": "-0.005" if kind == "decimal(38,38)" else -5,
            "high": "0.005" if kind == "decimal(38,38)" else 100,
        }
        query |= {name: getattr(ag, name)("x", **ends) for name in ("sum", "mean", "var", "std")}
        query |= {"q": ag.median("x", **ends), "h": ag.histogram("x", edges=(-5, 0, "1/3", 7, 100))}
    return query


@pytest.mark.parametrize(
    ("unit", "promise"), [("u", LAWS[0]), ("u", LAWS[1]), (None, LAWS[0])], ids=["L1", "L2", "rows"]
)
def test_special_values_of_every_type_in_every_aggregate(
    unit: str | None, promise: Guarantee, special: tuple[str, Swap]
) -> None:
    """No error, the evaluator's integers, and nothing but finite numbers in the answer."""
    kind, swap = special
    rows = _filled(kind, swap)
    groups = _rows(kind, swap, unit=unit, max_rows=3 if unit else None).group_by(
        k=["0", "1", "2", "none"]
    )
    release_plan = plan(groups.aggregate(**_aggregates(kind)), promise, swap.source)
    through = through_the_door(release_plan)
    assert not differences(release_plan, through, rows)
    for piece in through.pieces:
        assert all(isinstance(value, int) for row in piece.values.tolist() for value in row)


def test_special_values_as_keys(special: tuple[str, Swap]) -> None:
    """Every value is a group of its own: null and NaN one, −0 and 0 one."""
    kind, swap = special
    rows = _filled(kind, swap)
    release_plan = plan(
        _rows(kind, swap, unit="u", max_rows=300)
        .group_by("x")
        .aggregate(n=ag.count(), u=ag.count_units()),
        LAWS[2],
        swap.source,
    )
    assert not differences(release_plan, through_the_door(release_plan), rows)


def test_no_special_value_changes_the_status(special: tuple[str, Swap]) -> None:
    """Each value against a table without it: the same calls, no farther apart than declared; and so
    beside many copies of itself.
    """
    kind, swap = special
    release_plan = plan(
        _rows(kind, swap, unit="u", max_rows=3).aggregate(**_aggregates(kind)), LAWS[0], swap.source
    )
    rehearsal, values = Rehearsal(release_plan), VALUES[kind]
    swap.hold(_table(kind, values, list(range(len(values)))))
    total = rehearsal.run()
    for i in Random(1).sample(range(len(values)), min(6, len(values))):
        swap.hold(
            _table(kind, [*values[:i], *values[i + 1 :]], [j for j in range(len(values)) if j != i])
        )
        without = rehearsal.run()
        assert not moved(release_plan, total, without).wrong, values[i]
        swap.hold(_table(kind, [*values, *[values[i]] * 50], [*range(len(values)), *[i] * 50]))
        assert not moved(release_plan, without, rehearsal.run()).wrong, values[i]


@pytest.mark.slow
def test_no_special_value_of_all_changes_the_status(special: tuple[str, Swap]) -> None:
    """So for every value, by key, in both norms."""
    kind, swap = special
    values, count = VALUES[kind], len(VALUES[kind])
    for promise in LAWS[:2]:
        groups = _rows(kind, swap, unit="u", max_rows=3, relation="replace").group_by(k=["0", "1"])
        release_plan = plan(groups.aggregate(**_aggregates(kind)), promise, swap.source)
        rehearsal = Rehearsal(release_plan)
        keys = [
            str(i % 3) for i in range(count)
        ]  # of each unit its own, so that nobody else's row moves
        swap.hold(_table(kind, values, list(range(count)), keys))
        total = rehearsal.run()
        for i in range(count):
            others = [j for j in range(count) if j != i]
            replaced = [values[i - 1]] * 7, [i] * 7, [str((i + j) % 3) for j in range(7)]
            swap.hold(
                _table(
                    kind,
                    [values[j] for j in others] + replaced[0],
                    others + replaced[1],
                    [keys[j] for j in others] + replaced[2],
                )
            )
            assert not moved(release_plan, total, rehearsal.run()).wrong, values[i]


# Names that the statements use themselves

OURS = (
    "w",
    "w1",
    "u0",
    "k0",
    "v0",
    "v1",
    "s0_0",
    "s1_0",
    "votes",
    "n",
    "place",
    "c",
    "q",
    "g0",
    "s0",
    "row",
    "total",
    "count",
    "t0",
    "x",
    "v0_below",
)


@pytest.mark.parametrize("relation", [(), ("w",), ("u0", "k0"), ("votes",)])
@pytest.mark.parametrize("promise", LAWS, ids=["L1", "L2", "private"])
def test_columns_may_have_the_names_of_the_statements_own(
    relation: tuple[str, ...], promise: Guarantee
) -> None:
    """Every column of the table is called like one of ours; unit, key and value go round."""
    random = Random(7)
    rows = [{name: random.choice((None, 1, 2, 3, 4)) for name in OURS} for _ in range(60)]
    source = open_source(
        pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.int64()) for name in OURS])),
        name="votes",
        threads=1,
    )
    free = [name for name in OURS if name not in relation]
    for turn in (0, 3):
        value, key, second = free[turn], free[turn + 4], free[turn + 9]
        declared = declare(
            name="votes",
            unit=relation or None,
            max_rows=2 if relation else None,
            bounds={value: (0, 3), second: (0, 2)},
            schema=source.schema,
            table_rows=2**20,
        )
        base = Rows.of(declared, Nobody()).where(col(second) > 0)
        groups = base.group_by(key) if promise is LAWS[2] else base.group_by(**{key: [1, 2, None]})
        for query in (
            groups.aggregate(
                n1=ag.count(),
                s1=ag.sum(value),
                u1=ag.count_units(),
                m1=ag.median(value),
                h1=ag.histogram(value, edges=(0, 2, 3)),
            ),
            base.aggregate(n2=ag.count()),
            Rows.of(declared, Nobody()).aggregate(n3=ag.count()),
        ):
            if not query.public and promise is not LAWS[2]:
                continue
            release_plan = plan(query, promise, source)
            assert not differences(release_plan, through_the_door(release_plan), rows), query.text
    source.engine.close()


def test_answers_may_have_any_name_too() -> None:
    table = sf.protect(
        pa.table({"u": [1, 2], "w": [1, 2]}), name="t", unit="u", max_rows=1, budget=100
    )
    with table:
        release_plan = table.aggregate(**{name: ag.count() for name in OURS}).plan(epsilon=1)
        assert exact_answer(release_plan, table).names == OURS
        assert table.aggregate(keys=ag.count(), rows=ag.count(), self=ag.count()).release(
            epsilon=1
        ).names == ("keys", "rows", "self")


# What decides how sums are added


def test_the_declared_number_of_rows_decides_the_width() -> None:
    bounding = Bounding((), 1, 1, "add-remove", False, "L1", False, 2**40)
    assert not needs_decimal(Component("x", "value", 0, 2**21 - 1), bounding)
    assert needs_decimal(Component("x", "value", 0, 2**22), bounding)
    weighted = Bounding(("u",), 5, 5, "add-remove", False, "L1", False, 2**40)
    assert not needs_decimal(Component("x", "one"), weighted)
    assert needs_decimal(Component("x", "value", 0, 4), weighted)


def test_doubles_only_where_their_sums_are_exact() -> None:
    grid = grid_of("x", Type.of("float64"), Fraction(0), Fraction(1))
    piece = Component("x", "value", grid.low, grid.high, grid.step, grid=grid)
    for rows, facts in ((2**32, True), (2**33, False)):
        assert (
            as_doubles(piece, Bounding((), 1, 1, "add-remove", False, "L1", False, rows)) is facts
        )
    assert not as_doubles(piece, Bounding(("u",), 1, 1, "add-remove", False, "L1", False, 2))
