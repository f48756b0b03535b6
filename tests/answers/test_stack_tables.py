"""Stacked tables: whole numbers that add up, one answer for each table, and every export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.answers import Answer
from sfumato.session import Table

CITIES, AGES = ["Bari", "Milano", "Roma"], [0, 30, 60]


@pytest.fixture(scope="module")
def visits() -> Iterator[Table]:
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        max_rows=3,
        bounds={"spend": (0, 50), "age": (0, 120)},
        keys={"city": CITIES},
        budget=sf.ZCDP(100),
    ) as table:
        yield table


@pytest.fixture(scope="module")
def answer(visits: Table) -> Any:
    query = visits.group_by(sf.cube("city", "vip"), decade=(sf.col("age") / 30).floor())
    aggregated = query.aggregate(n=sf.count(), s=sf.sum("spend"), m=sf.mean("spend"))
    return aggregated.release(promise=sf.ZCDP("1/2"))


def sums(table: Any, name: str, *keys: str) -> dict[tuple[Any, ...], float]:
    """The sums of a column by some of the keys of a table."""
    at = [table.keys.index(key) for key in keys]
    totals: dict[tuple[Any, ...], float] = {}
    for row, value in zip(table.rows, table[name].tolist(), strict=True):
        group = tuple(row[i] for i in at)
        totals[group] = totals.get(group, 0) + value
    return totals


def test_every_table_adds_up_exactly(answer: Any) -> None:
    for table in answer.tables:
        assert table["n"].dtype == np.int64
        for keys in (("decade",), ("city", "decade"), ("vip", "decade")):
            if set(keys) <= set(table.keys):
                smaller = answer.table(*keys)
                assert sums(table, "n", *smaller.keys) == sums(smaller, "n", *smaller.keys)
                for group, total in sums(table, "s", *smaller.keys).items():
                    assert total == pytest.approx(sums(smaller, "s", *smaller.keys)[group])


def test_whole_numbers_are_near_the_unbiased_ones(answer: Any) -> None:
    for table in answer.tables:
        piece = table.pieces[table.column("n").pieces[0]]
        estimates = np.array([float(v * piece.step) for v in piece.values[:, 0].tolist()])
        assert np.abs(table["n"] - estimates).max() <= 2 ** (len(table.keys) - 1)


def test_stored_and_exported(answer: Any, tmp_path: Any) -> None:
    assert Answer.from_json(answer.to_json()) == answer
    frame = answer.to_pandas(intervals=True)
    assert len(frame) == len(answer) == sum(map(len, answer.tables))
    assert (frame.n_low <= frame.n).all()
    assert answer.to_arrow().num_rows == answer.to_polars().height == len(frame)
    assert answer.to_csv(tmp_path / "cube.csv").count("\n") == len(frame) + 1
    answer.plot("n").savefig(tmp_path / "cube.png")
    card = answer.card(curators=["office"], intended_use="test", region="Italy")
    assert "by city, vip, decade: n: ±" in str(card)


def test_consistent_tables_are_whole_and_not_negative(visits: Table) -> None:
    sparse = visits.group_by(sf.cube("city", "age"), age=range(16, 91)).count()
    noisy = sparse.release(promise=sf.ZCDP("1/200"))
    assert noisy["n"].min() < 0
    shown = noisy.consistent()
    for table in shown.tables:
        assert table["n"].min() >= 0
        assert sums(table, "n") == {(): shown.table().value("n")}
    for keys in (("city",), ("age",)):
        by_key = sums(shown.table("city", "age"), "n", *keys)
        assert by_key == sums(shown.table(*keys), "n", *keys)
    half = noisy.table().interval("n")
    assert half[0][0] <= shown.table().value("n") <= half[1][0]
    assert "too large on average" in shown.processing[-1]
    assert noisy.table("age").pieces == shown.table("age").pieces
    assert Answer.from_json(shown.to_json()) == shown
    chosen = visits.group_by(sf.grouping_sets(["city"], ["vip"])).count()
    without = chosen.release(promise=sf.ZCDP("1/200"))
    with pytest.raises(sf.Refused, match="all keys"):
        without.consistent()


def test_all_cells_at_once_are_wider(answer: Any) -> None:
    each, together = (answer.interval("n", simultaneous=s) for s in (False, True))
    assert (together[0] < each[0]).all()
    assert (together[1] > each[1]).all()


def test_methods_of_one_table(answer: Any) -> None:
    assert len(answer.table("decade", "city").top(2, "n")) == 2
    for refused in (lambda: answer.top(2, "n"), lambda: answer.agreeing(total=3, name="n")):
        with pytest.raises(sf.Refused, match="one table"):
            refused()
    with pytest.raises(sf.Refused, match="has the tables by"):
        answer.table("spend")
