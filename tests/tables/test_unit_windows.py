"""Looking along the rows of one unit: numbers and neighbours that depend on its own rows alone."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session import Table
from sfumato.tables.query.unit_windows import UnitOrder, UnitWindow
from sfumato.testing.exact_checks import exact_answer, through_the_door

from ..refusing import refusal
from .test_per_unit import SPECIAL, people

c = sf.col


def protected(rows: list[dict[str, Any]], **declared: Any) -> Table:
    arguments = {"name": "t", "unit": "who", "budget": 100, "max_rows": 5}
    return sf.protect(pa.Table.from_pylist(rows), **{**arguments, **declared})


VISITS = [
    {"who": who, "day": day, "spend": spend, "shop": shop}
    for who, day, spend, shop in [
        (1, 3, 10, "a"),
        (1, 1, 20, "b"),
        (1, 2, None, "a"),
        (2, 5, 7, "b"),
        (2, None, 9, "b"),
        (None, 1, 99, "a"),
        (3, 4, 1, "a"),
        (3, 4, 2, "a"),
    ]
]


def columns_after(table: Table, rows: Any) -> list[dict[str, Any]]:
    """Return what the engine makes of rows without a condition."""
    value = table._source.table
    schema = table.declaration.schema
    for step in rows.steps:
        value, schema = step.build(value, schema), step.schema(schema)
    listed: list[dict[str, Any]] = table._source.engine.run(value).to_pylist()
    return listed


def test_rows_are_numbered_in_order_with_nulls_last() -> None:
    with protected(VISITS) as table:
        rows = table.number_rows("k", "day").number_rows("last", "day", descending=True)
        numbered = columns_after(table, rows.number_rows("of_shop", "day", within="shop"))
    numbers = {
        (row["who"], row["day"], row["spend"]): (row["k"], row["last"], row["of_shop"])
        for row in numbered
        if row["who"] is not None
    }
    assert numbers == {
        (1, 1, 20): (1, 3, 1),
        (1, 2, None): (2, 2, 1),
        (1, 3, 10): (3, 1, 2),
        (2, 5, 7): (1, 1, 1),
        (2, None, 9): (2, 2, 2),
        (3, 4, 1): (1, 1, 1),
        (3, 4, 2): (2, 2, 2),
    }


def test_a_neighbouring_row_gives_its_value() -> None:
    order = UnitOrder.of("day", descending=False, within=())
    with protected(VISITS) as table:
        rows = table.rows.look_along("before", "lag", order, c("spend"))
        neighbours = columns_after(table, rows.look_along("after", "lead", order, c("day") * 10))
    assert {(r["day"], r["before"], r["after"]) for r in neighbours if r["who"] == 1} == {
        (1, None, 20),
        (2, 20, 30),
        (3, None, None),
    }


def _numbers(
    data: dict[str, list[Any]], at: list[int], order: UnitOrder, step_kind: type[UnitWindow]
) -> dict[tuple[str, ...], int]:
    """Number the rows of two units, in this order of all rows."""
    table = pa.table(
        {
            name: pa.array(
                [values[i] for i in at], pa.int64() if name == "who" else SPECIAL[name][0]
            )
            for name, values in data.items()
        }
    )
    with sf.protect(
        table, name="t", unit="who", budget=1, bounds={"real": (-50, 100)}, max_rows=5
    ) as protected_table:
        source = protected_table._source
        step = step_kind("k", "row_number", ("who",), order)
        built = step.build(source.table, protected_table.declaration.schema)
        rows = source.engine.run(built).to_pylist()
    return {
        tuple(repr(row[name]) for name in (*data, "k")): 1 for row in rows if row["who"] in (0, 1)
    }


class WithoutTies(UnitWindow):
    """A twin that leaves the order of equal rows to the engine."""

    __slots__ = ()

    def build(self, table: Any, before: Any, again: object = None) -> Any:
        import ibis

        window = ibis.window(group_by=list(self.unit), order_by=[table["yes"]])
        return table.mutate(k=ibis.row_number().over(window) + 1)


@pytest.mark.parametrize("kind", [UnitWindow, WithoutTies])
def test_no_order_of_rows_and_no_neighbour_changes_a_number(kind: type[UnitWindow]) -> None:
    """The units that stay have equal numbers in another order and without the other units; a twin
    without an order of equal rows has not.
    """
    pick = random.Random(5)
    data = {"who": [pick.randrange(6) for _ in range(600)]} | {
        name: [pick.choice(values) for _ in range(600)] for name, (_, values) in SPECIAL.items()
    }
    order = UnitOrder.of("yes", descending=False, within=())
    results = []
    for remaining, seed in ((range(6), 0), (range(6), 1), (range(2), 2)):
        at = [i for i in range(600) if data["who"][i] in remaining]
        random.Random(seed).shuffle(at)
        results.append(_numbers(data, at, order, kind))
    assert (results[0] == results[1] == results[2]) is (kind is UnitWindow)


def test_the_first_row_of_a_unit_counts_once_and_the_first_three_as_three() -> None:
    with protected(VISITS, max_rows=20, bounds={"spend": (0, 100)}) as table:
        rows = table.number_rows("k", "day")
        for condition, once, most in (
            (c("k") == 1, True, 1),
            (c("k") <= 3, False, 3),
            (c("k").between(2, 4), False, 3),
            ((c("k") == 1) | (c("day") == 3), False, 20),
            (c("k") > 2, False, 20),
        ):
            query = rows.where(condition).count()
            bounding = query.plan(epsilon=1).calibration.bounding
            assert (query.rows.once, 1 if once else bounding.rows) == (once, most)
        first = rows.where(c("k") == 1).aggregate(n=sf.count(), s=sf.sum("spend"))
        answer = exact_answer(first.plan(epsilon=1), table)
        assert (answer["n"][0], answer["s"][0]) == (3, 28)


def test_a_limit_on_numbers_ends_with_what_multiplies_rows() -> None:
    with protected(VISITS, max_rows=20) as table:
        rows = table.number_rows("k", "day")
        assert rows.where(c("k") <= 3).declaration.max_rows == 3
        again = rows.mutate(x=c("day") * 2).per_unit({"day": c("day")}, {})
        assert (again.numbers, again.most) == (frozenset(), 0)
        joined = rows.join(table.rows, on="who")
        assert joined.where(c("k") == 1).once is False
        assert rows.union(rows).where(c("k") == 1).once is False
        within = table.number_rows("k", "day", within="shop").where(c("k") == 1)
        assert (within.once, within.declaration.max_rows) == (False, 20)


def test_the_noise_of_a_first_row_is_that_of_one_row() -> None:
    with protected(VISITS, max_rows=20) as table:
        rows = table.number_rows("k", "day")
        first = rows.where(c("k") == 1).count().plan(epsilon=1)
        third = rows.where(c("k") <= 3).count().plan(epsilon=1)
        every = rows.count().plan(epsilon=1)
        assert third.error()["n"] == pytest.approx(3 * first.error()["n"], rel=0.2)
        assert every.error()["n"] == pytest.approx(20 * first.error()["n"], rel=0.2)
        assert through_the_door(first).integers("count")[0, 0] == 3 << 20


def test_a_limit_that_follows_is_not_learned() -> None:
    with protected(VISITS, max_rows=None) as table:
        rows = table.number_rows("k", "day")
        assert "learn" not in str(rows.where(c("k") == 1).count().plan(epsilon=1))
        assert "learn   rows per unit" in str(rows.count().plan(epsilon=1))


def test_random_first_rows_against_python() -> None:
    with people(800) as table:
        rows = table.number_rows("k", ["tiny", "word"], descending=True)
        plan = rows.where(c("k") == 1).group_by(yes=[True, False]).count().plan(epsilon=1)
        answer = exact_answer(plan, table)
        data = table._source.engine.run(table._source.table).to_pylist()
    firsts: dict[int, Any] = {}
    for who in range(40):
        visits = [row for row in data if row["who"] == who]
        top = max(row["tiny"] for row in visits if row["tiny"] is not None)
        visits = [row for row in visits if row["tiny"] == top]
        words = [row["word"] for row in visits if row["word"] is not None]
        best = max(words, key=lambda word: word.encode()) if words else None
        firsts[who] = {row["yes"] for row in visits if row["word"] == best}
    sure = {yes: sum(places == {yes} for places in firsts.values()) for yes in (True, False)}
    most = {yes: sum(yes in places for places in firsts.values()) for yes in (True, False)}
    for (yes,), count in zip(answer.rows, answer["n"], strict=True):
        assert sure[yes] <= count <= most[yes]


def test_refusals() -> None:
    with protected(VISITS) as table:
        refusal(lambda: table.number_rows("k", []), "stage.order")
        refusal(lambda: table.number_rows("day", "day"), "table.columns")
    with sf.protect(pa.table({"x": [1, 2]}), name="t", budget=1, each_row_a_person=True) as without:
        refusal(lambda: without.number_rows("k", "x"), "stage.unit")
