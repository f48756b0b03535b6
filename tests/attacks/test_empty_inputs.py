"""C6, nothing there: empty tables, empty groups, columns without a value and single rows answer
like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

from .tables import table, tally

TABLES = {
    "empty": ([], []),
    "one row": ([1.0], ["a"]),
    "all null": ([None] * 5, ["a"] * 5),
    "all NaN": ([float("nan")] * 5, ["a"] * 5),
    "null keys": ([1.0] * 5, [None] * 5),
    "many": ([1.0, 2.0, 3.0] * 5, ["a", "b", None] * 5),
}


def columns(name: str) -> pa.Table:
    x, k = TABLES[name]
    return pa.table(
        {
            "x": pa.array(x, pa.float64()),
            "k": pa.array(k, pa.string()),
            "u": pa.array(range(len(x)), pa.int64()),
        }
    )


def aggregates() -> dict[str, Any]:
    ends = {"low": 0, "high": 10}
    sums = {
        name: getattr(sf, name)("x", **ends) for name in ("sum", "mean", "var", "std", "median")
    }
    return {
        **sums,
        "n": sf.count(),
        "c": sf.count("x"),
        "u": sf.count_units(),
        "h": sf.histogram("x", edges=(0, 5, 10)),
    }


@pytest.mark.parametrize("unit", [None, "u"])
@pytest.mark.parametrize("keys", [None, ["a", "z"]])
def test_attack_C6_every_table_has_the_same_shape(unit: str | None, keys: list[str] | None) -> None:
    shapes = set()
    for name in TABLES:
        with table(columns(name), unit=unit, max_rows=1 if unit else None) as protected:
            rows = protected.group_by(k=keys) if keys else protected
            answer = rows.aggregate(**aggregates()).release(epsilon=1)
        shapes.add(
            (
                len(answer),
                answer.names,
                tuple(answer.rows),
                tuple(piece.values.shape for piece in answer.pieces),
            )
        )
        for column in answer.names:
            assert np.isfinite(answer[column]).all()
            assert all(np.isfinite(end).all() for end in answer.interval(column))
    assert len(shapes) == 1


@pytest.mark.parametrize("unit", [None, "u"])
def test_attack_C6_the_noise_of_an_empty_group_is_that_of_a_full_one(unit: str | None) -> None:
    result = [
        tally(
            columns(name),
            lambda t: t.group_by(k=["a", "z"]).aggregate(**aggregates()),
            unit=unit,
            max_rows=1 if unit else None,
        )
        for name in TABLES
    ]
    laws = [
        [
            (repr(call.mechanism), [str(values.dtype) for values in call.integers])
            for call in success.calls
        ]
        for success in result
    ]
    assert all(success == laws[0] for success in laws)


def test_attack_C6_nothing_is_named_of_an_empty_table() -> None:
    for name in TABLES:
        with table(columns(name)) as protected:
            answer = protected.group_by("k").aggregate(**aggregates()).release(epsilon=1)
        assert answer.names == tuple(aggregates())
        assert len(answer) <= 3
        assert answer.to_json()
        assert str(answer)
