"""Stored counts enter a report free of charge: which ones, and what they add."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.answers.answer import Answer
from sfumato.session import Table
from sfumato.session.repeats.stored_counts import read_stored_counts

from ..refusing import refusal

ROWS = pd.DataFrame(
    {
        "user": [i // 2 for i in range(600)],
        "city": (["Roma", "Bari", "Milano"] * 200),
        "vip": [i % 7 == 0 for i in range(600)],
    }
)


def protected(**options: Any) -> Table:
    settings = {
        "unit": "user",
        "max_rows": 2,
        "keys": {"city": ["Roma", "Bari", "Milano"]},
        "budget": sf.ZCDP(100),
        **options,
    }
    return sf.protect(ROWS, name="visits", **settings)


@pytest.fixture
def visits() -> Iterator[Table]:
    with protected() as table:
        yield table


def small_report(table: Table, **options: Any) -> Any:
    questions = {"cities": table.group_by("city").count(), "total": table.count()}
    return sf.report(table, questions, **options)


def deviation(answer: Answer) -> float:
    piece = answer.pieces[0]
    return float(piece.law.variance) ** 0.5 * float(piece.step)


def reasons(table: Table, **options: Any) -> dict[int, str]:
    stored = small_report(table, use_stored=True).stored(promise=sf.ZCDP("1/4"), **options)
    return {each.entry: each.reason for each in stored.left_out}


def test_a_cube_enters_and_nothing_is_paid_for_it(visits: Table) -> None:
    visits.group_by(sf.cube("vip", "city")).count().release(promise=sf.ZCDP(1))
    visits.group_by(sf.rollup("city")).count().release(promise=sf.ZCDP("1/2"))
    alone = small_report(visits).release(promise=sf.ZCDP("1/4"))
    spent = visits.spent
    report = small_report(visits, use_stored=True)
    stored = report.stored(promise=sf.ZCDP("1/4"))
    assert [each.entry for each in stored.used] == [4, 6]
    assert [each.reason for each in stored.left_out] == ["it is by vip, too"]
    together = report.release(promise=sf.ZCDP("1/4"))
    assert visits.spent == spent  # the report is stored, and what enters is free
    assert "left out: it is by vip, too" in str(stored)
    fresh = report.release(promise=sf.ZCDP("1/5"))
    assert float(visits.spent.rho - spent.rho) == pytest.approx(0.2, rel=1e-3)
    for name in ("cities", "total"):
        assert deviation(together[name]) < deviation(alone[name])
        assert deviation(fresh[name]) < 0.85 * deviation(alone[name])
        assert float(fresh[name].cost.rho) == pytest.approx(0.95, rel=1e-3)  # of all three
        low, high = fresh[name].interval("n", 1 - 1e-9)
        exact = [200, 200, 200] if name == "cities" else [600]
        assert (low <= exact).all()
        assert (exact <= high).all()
    assert int(fresh["cities"]["n"].sum()) == int(fresh["total"].value())
    assert fresh["total"].rules[-1].endswith("of entries 4, 6")


def test_the_report_itself_does_not_count_twice(visits: Table) -> None:
    first = small_report(visits).release(promise=sf.ZCDP("1/4"))
    again = small_report(visits, use_stored=True).release(promise=sf.ZCDP("1/4"))
    assert deviation(again["total"]) == deviation(first["total"])
    assert np.array_equal(again["cities"]["n"], first["cities"]["n"])


def test_estimates_are_the_weighted_mean_of_equal_releases(visits: Table) -> None:
    """Two releases of the same tables with the same noise: half of each, and 1/√2 of the noise."""
    first = small_report(visits).release(promise=sf.ZCDP("1/4"))
    second = small_report(visits).release(promise=sf.ZCDP("1/4"), fresh=True)
    with pytest.raises(AssertionError):
        assert np.array_equal(estimates(first["cities"]), estimates(second["cities"]))
    visits.group_by(sf.rollup("city")).count().release(promise=sf.ZCDP("1/4"))
    stored, _ = read_stored_counts(visits.rows, visits.ledger)
    mean = (stored[0].counts("city") + stored[1].counts("city")) / 2
    both = small_report(visits, use_stored=True).release(promise=sf.ZCDP("1/4"))
    assert stored[0].deviation("city") == pytest.approx(deviation(second["cities"]), rel=1e-5)
    weights = np.array([each.deviation("city") ** -2.0 for each in stored])
    if abs(weights[0] / weights[1] - 1) < 1e-6:
        assert estimates(both["cities"]) == pytest.approx(mean, abs=1e-2)


def estimates(answer: Answer) -> list[float]:
    piece = answer.pieces[0]
    return [float(value * piece.step) for value in piece.values[:, 0].tolist()]


def test_answers_about_other_numbers_are_left_out(visits: Table) -> None:
    visits.where("vip").group_by("city").count().release(epsilon=1)
    visits.group_by("city").count().release(promise=sf.ZCDP(1))
    visits.group_by(city=["Roma"]).count().release(epsilon=1)
    visits.aggregate(n=sf.count_units()).release(epsilon=1)
    sf.report(visits, [visits.group_by(city=["Roma"]).count(), visits.count()]).release(epsilon=1)
    visits.group_by("vip").count().release(epsilon=1)
    left_out = list(reasons(visits).values())
    assert left_out[0] == "it counts other rows"
    assert "weighs the rows of a unit by the groups" in left_out[1]
    assert "city has other public keys" in left_out[2:]
    assert "it has no COUNT(*)" in left_out
    assert "it is by vip, too" in left_out
    assert len(left_out) == 6


def test_a_total_of_all_rows_is_not_that_of_listed_cities() -> None:
    """A row of an unlisted city is in the total by itself, and in no table of the report."""
    with protected(unit=None, max_rows=None, each_row_a_person=True) as table:
        table.count().release(epsilon=1)
        table.group_by("city").count().release(epsilon=1)
        stored = small_report(table, use_stored=True).stored(epsilon=1)
        assert [each.keys for each in stored.used] == [("city",)]
        assert "counts rows with any city" in stored.left_out[0].reason
        by_vip = sf.report(
            table, [table.group_by("vip").count(), table.count()], use_stored=True
        ).stored(epsilon=1)
        assert [each.keys for each in by_vip.used] == [()]  # every row has a public vip


def test_another_version_is_other_data(tmp_path: Any) -> None:
    book = tmp_path / "book.db"
    with protected(ledger=book, version="2026-01") as table:
        table.group_by(sf.rollup("city")).count().release(promise=sf.ZCDP(1))
    with protected(ledger=book, version="2026-02") as table:
        assert list(reasons(table).values()) == [
            "its declaration, or the version of its data, differs"
        ]
    with protected(ledger=book, version="2026-01") as table:
        assert not reasons(table)


def test_a_share_uses_what_it_has_seen(visits: Table) -> None:
    visits.ledger.allow("ann", sf.ZCDP(10))
    visits.group_by(sf.rollup("city")).count().release(promise=sf.ZCDP(1))
    report = small_report(visits, use_stored=True)
    assert not report.stored(promise=sf.ZCDP("1/4"), share="ann").used
    visits.group_by(sf.rollup("city")).count().release(promise=sf.ZCDP(1), share="ann")
    assert len(report.stored(promise=sf.ZCDP("1/4"), share="ann").used) == 1


def test_answers_without_keys_of_their_noise_are_left_out(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older version stored reconciled tables without the keys that were measured."""
    visits.group_by(sf.rollup("city")).count().release(promise=sf.ZCDP(1))
    assert not reasons(visits)
    (stored,) = visits.ledger.answers()
    content = json.loads(stored.answer)
    for table in content["tables"]:
        for piece in table["pieces"]:
            noise = piece["mechanism"]
            noise["reconciled"] = [each[:2] for each in noise["reconciled"]]
    older = replace(stored, answer=json.dumps(content, separators=(",", ":")).encode())
    monkeypatch.setattr(type(visits.ledger), "answers", lambda self, share=None: (older,))
    assert list(reasons(visits).values()) == ["the law of its noise is not on record"]


def test_other_columns_are_refused(visits: Table) -> None:
    refusal(
        lambda: sf.report(visits, [visits.aggregate(n=sf.count_units())], use_stored=True),
        "report.questions",
    )
