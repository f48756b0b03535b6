"""Questions that are written alike, names that stand for two things: each was once a way around the
noise.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.expr.expressions import call
from sfumato.testing.exact_checks import through_the_door


def _table(**columns: list[object]) -> pa.Table:
    return pa.table({"u": list(range(3)), **columns})


def test_a_statement_is_made_of_the_pieces_that_the_noise_is_for() -> None:
    """Aliases that forge the text of another query: its statement must not run under this query's
    noise.
    """
    table = sf.protect(
        _table(x=[100.0] * 3, q=[1] * 3),
        name="t",
        unit="u",
        budget=1e9,
        max_rows=1,
        bounds={"x": (0, 100), "q": (0, 1)},
    )
    a = (
        'SELECT SUM(z) AS s FROM (SELECT u, MIN(q) AS a, MAX(q) AS z, MAX(x) AS "b = min(q), '
        'z" FROM t GROUP BY u)'
    )
    b = (
        'SELECT SUM(z) AS s FROM (SELECT u, MIN(q) AS "a = min(q), z = max(q), b", MAX(x) AS '
        "z FROM t GROUP BY u)"
    )
    first, second = table.plan(a, epsilon=1), table.plan(b, epsilon=1)
    assert second.sql != first.sql
    assert first.query.text != second.query.text
    assert through_the_door(first).pieces[0].values.max() <= 3 * first.calibration.bounding.l1(
        first.components[0]
    )


def test_infinity_is_not_a_column_of_that_name() -> None:
    table = sf.protect(
        _table(q=[1] * 3), name="t", unit="u", budget=1e9, max_rows=1, bounds={"q": (0, 1)}
    )
    rows = table.mutate(inf=sf.col("q"))
    a, b = (
        rows.aggregate(s=sf.sum(call("least", sf.col("q"), limit), low=0, high=1))
        for limit in (sf.col("inf"), float("inf"))
    )
    assert a.text != b.text


@pytest.mark.parametrize(
    "ends",
    [
        ("0.9999999999999999999999", "1.9999999999999999999999"),
        ("1.0000000000000000000001", "2.0000000000000000000001"),
    ],
)
def test_ends_that_print_alike_are_different_questions(ends: tuple[str, str]) -> None:
    near = sf.sum("q", low=f"-{ends[0]}", high=ends[1]).text
    assert near != sf.sum("q", low=-1, high=2).text
    assert near != sf.sum("q", low=f"-{ends[0]}1", high=f"{ends[1]}1").text


def test_text_of_a_database_is_compared_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "visits.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits (u VARCHAR COLLATE NOCASE, x INTEGER)")
        connection.execute("INSERT INTO visits VALUES ('a', 1)")
        connection.execute("INSERT INTO visits SELECT 'A', -1 FROM range(200)")
    table = sf.protect(
        str(path), name="visits", unit="u", budget=1e9, max_rows=1, bounds={"x": (-1, 1)}
    )
    plan = table.aggregate(s=sf.sum("x")).plan(epsilon=1)
    (total,) = through_the_door(plan).pieces[0].values[0]
    assert (
        abs(total) < plan.calibration.bounding.weight // 100
    )  # each of the two counts once: they cancel but for rounding
    table.close()


def test_an_open_ledger_has_to_be_about_the_table() -> None:
    foreign = sf.Ledger.open(
        budget=sf.Approx(100, 1e-6), dataset="other", unit="u", relation="add-remove"
    )
    with pytest.raises(sf.Refused) as refused:
        sf.protect(_table(), name="t", unit="u", max_rows=1, budget=1, ledger=foreign)
    assert refused.value.code == "ledger.dataset"
    mine = sf.Ledger.open(budget=sf.Approx(100, 1e-6), dataset="t", unit="u", relation="add-remove")
    with pytest.raises(sf.Refused) as refused:
        sf.protect(_table(), name="t", unit="u", max_rows=1, budget=1, ledger=mine)
    assert refused.value.code == "ledger.budget"
    assert (
        sf.protect(_table(), name="t", unit="u", max_rows=1, budget=100, ledger=mine).budget
        == mine.budget
    )


@pytest.mark.parametrize("unit", ["row", "a, b"])
def test_a_unit_whose_name_could_be_taken_for_something_else_is_refused(unit: str) -> None:
    with pytest.raises(sf.Refused) as refused:
        sf.protect(pa.table({unit: [1, 2]}), name="t", unit=unit, max_rows=1, budget=1)
    assert refused.value.code == "table.unit"


def test_bytes_that_are_no_text_are_null() -> None:
    offsets = pa.array([0, 4, 6], type=pa.int32()).buffers()[1]
    bad = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"Roma\xff\xfe"))
    table = sf.protect(
        pa.table({"u": [1, 2], "city": bad}),
        name="t",
        unit="u",
        max_rows=1,
        budget=100,
        keys={"city": ["Roma"]},
    )
    plan = table.group_by("city").aggregate(n=sf.count()).plan(epsilon=1)
    assert through_the_door(plan).pieces[0].values.tolist() == [[1 << 20]]
