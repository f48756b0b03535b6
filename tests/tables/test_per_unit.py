"""One row for each unit: exact totals that depend on its own rows and on nothing else."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.mechanisms import Laplace
from sfumato.session import Table
from sfumato.tables.query.per_unit import DIGITS, Total
from sfumato.testing.exact_checks import exact_answer, through_the_door

c = sf.col

SPECIAL: dict[str, tuple[pa.DataType, list[Any]]] = {
    "whole": (pa.int64(), [2**63 - 1, -(2**63), 0, 1, None]),
    "tiny": (pa.int8(), [127, -128, 0, None]),
    "real": (
        pa.float64(),
        [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1e308, -1e308, 5e-324, None],
    ),
    "money": (
        pa.decimal128(20, 2),
        [
            Decimal("999999999999999999.99"),
            Decimal("-999999999999999999.99"),
            Decimal("0.01"),
            None,
        ],
    ),
    "word": (pa.string(), ["", "a", "\U0001f642", "Z" * 300, None]),
    "day": (pa.date32(), [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    "yes": (pa.bool_(), [True, False, None]),
}


def people(rows: int = 3000, seed: int = 7, **declared: Any) -> Table:
    pick = random.Random(seed)
    data = {"who": pa.array([pick.choice([None, *range(40)]) for _ in range(rows)], pa.int64())}
    data |= {
        name: pa.array([pick.choice(values) for _ in range(rows)], kind)
        for name, (kind, values) in SPECIAL.items()
    }
    arguments = {
        "name": "t",
        "unit": "who",
        "budget": 100,
        "bounds": {"real": (-50, 100), "tiny": (-128, 127)},
        "max_rows": 5,
    }
    return sf.protect(pa.table(data), **{**arguments, **declared})


TOTALS = [Total(kind) for kind in ("count",)] + [
    Total(kind, c(name))
    for name in SPECIAL
    for kind in ("count", "count_distinct", "sum", "mean", "min", "max")
    if not (kind in ("sum", "mean") and name in ("word", "day"))
    and not (kind in ("min", "max") and name == "yes")
]


@pytest.mark.parametrize("total", TOTALS, ids=lambda total: total.text)
def test_no_total_fails_whatever_rows_hold(total: Total) -> None:
    with people() as table:
        rows = table.rows.per_unit({}, {"x": total, "y": Total(total.kind, total.of, c("yes"))})
        through = through_the_door(
            rows.where(c("x").not_null() | c("y").is_null()).aggregate(n=sf.count()).plan(epsilon=1)
        )
        assert through.integers("count")[0, 0] == 40 << 20


@pytest.mark.parametrize(
    "total",
    [
        total
        for total in TOTALS
        if total.kind in ("sum", "mean", "min", "max") and total.of is not None
    ],
    ids=lambda total: total.text,
)
def test_no_order_of_rows_and_no_neighbour_changes_a_total(total: Total) -> None:
    """The units that stay have equal totals, to the last bit, in another order, on one thread and
    without the other units.
    """
    results = []
    pick = random.Random(3)
    data = {"who": [pick.randrange(6) for _ in range(400)]} | {
        name: [pick.choice(values) for _ in range(400)] for name, (_, values) in SPECIAL.items()
    }
    for remaining, order in ((range(6), 0), (range(6), 1), (range(2), 2)):
        at = [i for i in range(400) if data["who"][i] in remaining]
        random.Random(order).shuffle(at)
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
        ) as protected:
            step = protected.rows.per_unit({}, {"x": total}).steps[0]
            result = protected._source.engine.run(
                step.build(protected._source.table, protected.declaration.schema)
            )
            results.append(
                {row["who"]: repr(row["x"]) for row in result.to_pylist() if row["who"] < 2}
            )
    assert results[0] == results[1] == results[2]


def test_against_python() -> None:
    with people(500) as table:
        rows = table.rows.per_unit(
            {"yes": c("yes")},
            {
                "n": Total("count"),
                "s": Total("sum", c("tiny")),
                "m": Total("mean", c("tiny")),
                "d": Total("count_distinct", c("word")),
            },
        )
        query = rows.where(c("n") > 1).aggregate(
            n=sf.count(), s=sf.sum("s", low=-5000, high=5000), d=sf.sum("d", low=0, high=10)
        )
        answer = exact_answer(query.plan(epsilon=1), table)
        data = table._source.engine.run(table._source.table).to_pylist()
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in data:
        if row["who"] is not None:
            groups.setdefault((row["who"], row["yes"]), []).append(row)
    remaining = [result for result in groups.values() if len(result) > 1]
    weights = {
        who: min(
            1.0, 5 / sum(1 for (w, _), result in groups.items() if w == who and len(result) > 1)
        )
        if any(w == who and len(f) > 1 for (w, _), f in groups.items())
        else 0
        for who, _ in groups
    }
    assert answer.value("n") == pytest.approx(
        sum(weights[result[0]["who"]] for result in remaining), rel=1e-4
    )
    assert answer.value("d") == pytest.approx(
        sum(
            weights[result[0]["who"]]
            * len({row["word"] for row in result if row["word"] is not None})
            for result in remaining
        ),
        rel=1e-4,
    )
    assert answer.value("s") == pytest.approx(
        sum(
            weights[result[0]["who"]] * sum(row["tiny"] or 0 for row in result)
            for result in remaining
        ),
        rel=1e-3,
    )


def test_facts() -> None:
    with people(keys={"word": ["a", "b"]}) as table:
        rows = table.rows.per_unit(
            {"w": c("word"), "v": c("word").trim()},
            {
                "a": Total("mean", c("real")),
                "b": Total("max", c("tiny")),
                "s": Total("sum", c("tiny")),
                "n": Total("count"),
            },
        )
        assert dict(rows.ranges) == {
            "a": (Fraction(-50), Fraction(100)),
            "b": (Fraction(-128), Fraction(127)),
        }
        assert [name for name in rows.schema if rows.public_keys(name)] == ["w"]
        assert not rows.once
        assert {name: str(kind) for name, kind in rows.schema.items()} == {
            "who": "int64",
            "w": "string",
            "v": "string",
            "a": "float64",
            "b": "int8",
            "s": "float64",
            "n": "int64 not null",
        }
        assert table.rows.per_unit({}, {}).once
        assert table.rows.per_unit({}, {}).per_unit({"x": c("who") + 1}, {}).once


@pytest.mark.parametrize(
    ("keys", "totals"),
    [
        ({}, {"x": Total("sum", c("word"))}),
        ({}, {"x": Total("sum", c("real") / c("tiny"))}),
        ({}, {"x": Total("min", c("yes"))}),
        ({}, {"x": Total("count", None, c("tiny"))}),
        ({}, {"who": Total("count")}),
        ({"x": c("word")}, {"X": Total("count")}),
        ({"x": c("nothing")}, {}),
        ({}, {"x": Total("max", c("nothing"))}),
    ],
)
def test_refused(keys: dict[str, Any], totals: dict[str, Total]) -> None:
    with people() as table, pytest.raises(Refused) as caught:
        table.rows.per_unit(keys, totals)
    assert caught.value.code in {"stage.total", "stage.unit", "expression.column"}


def test_decimals_that_could_overflow_are_refused() -> None:
    """25 digits and 2^40 rows need 38; one more could fail."""
    assert 10**DIGITS * 2**40 < 10**38 < 10 ** (DIGITS + 1) * 2**40
    data = pa.table({"who": [1], "long": pa.array([Decimal(1)], pa.decimal128(DIGITS + 1, 0))})
    with (
        sf.protect(data, name="t", unit="who", budget=1, max_rows=1) as table,
        pytest.raises(Refused) as caught,
    ):
        table.rows.per_unit({}, {"x": Total("sum", c("long"))})
    assert caught.value.code == "stage.total"


def test_without_a_unit() -> None:
    with (
        sf.protect(pa.table({"x": [1]}), name="t", budget=1) as table,
        pytest.raises(Refused) as caught,
    ):
        table.rows.per_unit({}, {})
    assert caught.value.code == "stage.unit"


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_one_unit_moves_the_integers_by_no_more_than_is_said(relation: str) -> None:
    """Neighbours by hand: each unit taken out, or exchanged, and the distance of what reaches the
    noise compared with the sensitivity.
    """
    pick = random.Random(11)

    def rows_of(seed: int) -> list[tuple[float, str]]:
        part = random.Random(seed)
        return [
            (part.choice([-100.0, 3.0, 50.0, 100.0, 1e9]), part.choice("ab"))
            for _ in range(part.randrange(1, 9))
        ]

    worlds = [[(who, rows_of(who)) for who in range(6)]]
    worlds += (
        [[(who, result) for who, result in worlds[0] if who != gone] for gone in range(6)]
        if relation == "add-remove"
        else []
    )
    worlds += (
        [
            [
                (who, rows_of(100 + pick.randrange(99)) if who == second else result)
                for who, result in worlds[0]
            ]
            for second in range(6)
        ]
        if relation == "replace"
        else []
    )
    tallies = []
    for world in worlds:
        flat = [(who, *row) for who, result in world for row in result]
        table = pa.table(
            {"who": [r[0] for r in flat], "real": [r[1] for r in flat], "key": [r[2] for r in flat]}
        )
        with sf.protect(
            table,
            name="t",
            unit="who",
            budget=10,
            bounds={"real": (-50, 100)},
            keys={"key": ["a", "b"]},
            relation=relation,
        ) as result:
            step = result.rows.per_unit(
                {}, {"s": Total("sum", c("real")), "k": Total("max", c("key")), "n": Total("count")}
            )
            query = (
                step.mutate(key=c("k"))
                .group_by(key=["a", "b"])
                .aggregate(n=sf.count(), s=sf.sum("s", low=-200, high=300))
            )
            plan = query.plan(epsilon=1)
            through = through_the_door(plan)
            received = [call.integers[0].astype(object) for call in through.calls]
            tallies.append((plan, received))
    base_plan, base = tallies[0]
    assert len(base) == len(base_plan.calibration.blocks)
    for _, second in tallies[1:]:
        for (mechanism,), first, two in zip(base_plan.calibration.noise, base, second, strict=True):
            assert isinstance(mechanism, Laplace)
            assert abs(first - two).sum() <= mechanism.sensitivity
    assert base_plan.calibration.bounding.rows == 1
