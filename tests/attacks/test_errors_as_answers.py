"""B6, an error for an answer: an engine that raises on overflow, or on a cast, tells whether the
row that does it is there.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

import sfumato as sf

from .tables import distances, table, tally

PLAIN = [1, 2, 3]
LOUD = 2**63 - 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(x * x) FROM t",
        "SELECT SUM(CAST(x AS INTEGER)) FROM t",
        "SELECT MAX(x + x) FROM t",
    ],
)
def test_attack_B6_an_engine_answers_one_table_and_fails_on_its_neighbour(sql: str) -> None:
    def status(values: list[int]) -> str:
        connection = duckdb.connect()
        connection.register("t", pa.table({"x": pa.array(values, pa.int64())}))
        try:
            connection.execute(sql).fetchall()
        except duckdb.Error:
            return "failed"
        return "answered"

    assert status(PLAIN) != status([*PLAIN, LOUD])


@pytest.mark.parametrize("about", [{}, {"unit": "u", "max_rows": 1}])
def test_attack_B6_ours_answers_both(about: dict[str, object]) -> None:
    def ask(t: object) -> object:
        x = sf.col("x")
        rows = t.mutate(
            square=x * x,
            narrow=x.cast("int32"),
            double=x + x,
            far=x * x * x * x - x,
            ratio=1 / (x - 1),
        )
        return rows.aggregate(
            a=sf.sum("square", low=0, high=100),
            b=sf.sum("narrow", low=0, high=100),
            c=sf.var("double", low=0, high=100),
            d=sf.sum("far", low=0, high=100),
            e=sf.mean("ratio", low=0, high=100),
            f=sf.std("x", low=-(2**62), high=2**62),
        )

    result = [
        tally(pa.table({"x": pa.array(v, pa.int64()), "u": range(len(v))}), ask, **about)
        for v in (PLAIN, [*PLAIN, LOUD], [*PLAIN, -LOUD - 1])
    ]
    for second in result[1:]:
        cells = distances(result[0], second)
        assert len(cells) == len(second.calls) > 1
        assert all(moved <= declared for moved, declared in cells)


def test_attack_B6_what_could_overflow_is_refused_before_data_is_read() -> None:
    with table({"x": [1.0]}) as protected, pytest.raises(sf.Refused) as refused:
        protected.aggregate(s=sf.sum("x", low=10**15, high=10**15 + 1)).plan(epsilon="1/1000")
    assert refused.value.code == "plan.range"
