"""A report on parts of the data with versions: what changed is charged, the rest is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sfumato as sf
from sfumato.session import Table

from ..refusing import refusal

MONTHS = ["2026-01", "2026-02", "2026-03"]


def visits(months: int, *, more: int = 0) -> pd.DataFrame:
    """Visits of some months; `more` is added to those of the second."""
    counts = [300, 200 + more, 100][:months]
    return pd.DataFrame(
        {
            "user": range(sum(counts)),
            "month": [
                month
                for month, count in zip(MONTHS[:months], counts, strict=True)
                for _ in range(count)
            ],
            "city": [["Roma", "Bari"][i % 2] for i in range(sum(counts))],
        }
    )


def protected(rows: pd.DataFrame, book: Path, **options: Any) -> Table:
    settings = {
        "unit": "user",
        "max_rows": 1,
        "keys": {"city": ["Roma", "Bari"], "month": sorted(set(rows["month"]))},
        "budget": sf.ZCDP(100),
        **options,
    }
    return sf.protect(rows, name="visits", ledger=book, **settings)


def monthly(table: Table, labels: list[str], **options: Any) -> Any:
    versions = dict(zip(MONTHS, labels, strict=False))
    questions = {"cities": table.group_by("city").count(), "total": table.count()}
    return sf.refresh(table, questions, parts="month", versions=versions, **options)


HALF = sf.ZCDP(1)


def test_only_what_has_a_new_label_is_charged(tmp_path: Path) -> None:
    """Three months of one ledger: new rows, a new month in the list of keys, another version of the
    table, and a correction of the second month.
    """
    book = tmp_path / "book.db"
    with protected(visits(2), book, version="2026-02") as table:
        refresh = monthly(table, ["final", "first"])
        assert refresh.plan(promise=HALF).charged == ("2026-01", "2026-02")
        assert float(refresh.plan(promise=HALF).cost.rho) == pytest.approx(2)
        first = refresh.release(promise=HALF)
        assert first.charged == ("2026-01", "2026-02")
        assert float(table.spent.rho) == pytest.approx(2)
        assert abs(first["2026-02"]["total"].value() - 200) < 20
        assert refresh.plan(promise=HALF).cost is None
        assert "nothing: stored" in str(refresh.plan(promise=HALF))
    with protected(visits(3, more=50), book, version="2026-03") as table:
        refresh = monthly(table, ["final", "final", "first"])
        assert refresh.plan(promise=HALF).charged == ("2026-02", "2026-03")
        second = refresh.release(promise=HALF)
        assert second.charged == ("2026-02", "2026-03")
        assert float(table.spent.rho) == pytest.approx(4)
        assert list(second["2026-01"]["cities"]["n"]) == list(first["2026-01"]["cities"]["n"])
        assert abs(second["2026-02"]["total"].value() - 250) < 20
        costs = refresh.costs()
        assert list(costs) == [
            "2026-01 · final",
            "2026-02 · first",
            "2026-02 · final",
            "2026-03 · first",
        ]
        assert sum(float(cost.rho) for cost in costs.values()) == pytest.approx(4)
        assert "version 2026-03 · first" in str(table.ledger.history())
        assert second.charged
        assert refresh.release(promise=HALF).charged == ()
        frame = second.to_pandas("cities")
        assert list(frame.columns) == ["part", "city", "n"]
        assert list(frame["part"]) == [month for month in MONTHS for _ in range(2)]


def test_the_data_are_not_looked_at_to_find_what_changed(tmp_path: Path) -> None:
    """Other rows under the same label: the stored answer, as declared."""
    book = tmp_path / "book.db"
    with protected(visits(2), book) as table:
        first = monthly(table, ["a", "a"]).release(promise=HALF)
    with protected(visits(2, more=5000), book) as table:
        again = monthly(table, ["a", "a"]).release(promise=HALF)
        assert again.charged == ()
        assert int(again["2026-02"]["total"].value()) == int(first["2026-02"]["total"].value())
    with protected(visits(2), book, max_rows=2) as table:  # another declaration: other questions
        assert monthly(table, ["a", "a"]).plan(promise=HALF).charged == ("2026-01", "2026-02")


def test_parts_that_do_not_fit_together_are_refused_before_the_first(tmp_path: Path) -> None:
    with protected(visits(3), tmp_path / "book.db", budget=sf.ZCDP("5/2")) as table:
        refresh = monthly(table, ["a", "a", "a"])
        with pytest.raises(sf.BudgetExceeded):
            refresh.release(promise=HALF)
        assert float(table.spent.rho) == 0


def test_texts_conditions_and_stored_counts(tmp_path: Path) -> None:
    with protected(visits(2), tmp_path / "book.db") as table:
        questions = {
            "cities": "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC",
            "total": "SELECT COUNT(*) AS n FROM visits",
        }
        parts = {"even": "user % 2 = 0", "odd": sf.col("user") % 2 == 1}
        refresh = sf.refresh(
            table, questions, parts=parts, versions={"even": "1", "odd": "1"}, use_stored=True
        )
        first = refresh.release(promise=sf.ZCDP("1/2"))
        better = refresh.release(promise=HALF)  # another promise: a second release

        def width(answer: sf.answers.Answer) -> float:
            low, high = answer.interval("n")
            return float(high[0] - low[0])

        assert width(better["even"]["total"]) < 0.85 * width(first["even"]["total"])
        assert abs(better["even"]["total"].value() - 250) < 15
        assert abs(better["odd"]["cities"]["n"].sum() - 250) < 25
        assert "even\ncities" in str(better)
        assert len(better) == 2


def test_what_a_refresh_needs(tmp_path: Path) -> None:
    with protected(visits(2), tmp_path / "book.db") as table:
        questions = [table.group_by("city").count(), table.count()]

        def refused(parts: Any, versions: Any) -> None:
            refusal(
                lambda: sf.refresh(table, questions, parts=parts, versions=versions),
                "report.versions",
            )

        refused("month", {})
        refused({"a": "user < 3"}, {"b": "1"})
        refused("month", {"2026-01": ""})
        refused("month", {"2026-01": "line\nbreak"})
    with protected(visits(2), tmp_path / "other.db", max_rows=None) as table:
        refusal(lambda: monthly(table, ["a", "a"]).plan(promise=HALF), "table.max-rows")


def test_a_database_has_versions_by_part(tmp_path: Path) -> None:
    people = pd.DataFrame({"id": range(100), "old": [i < 40 for i in range(100)]})
    trips = pd.DataFrame({"person": range(100), "far": [i % 2 == 0 for i in range(100)]})
    with sf.protect(
        {"people": people, "trips": trips},
        name="travel",
        unit="people.id",
        links={"trips.person": "people.id"},
        max_rows=1,
        budget=sf.ZCDP(10),
        ledger=tmp_path / "book.db",
    ) as database:
        table = database["trips"]
        parts = {"far": "far", "near": "NOT far"}

        def ask(label: str) -> Any:
            return sf.refresh(
                table, [table.count()], parts=parts, versions={"far": "1", "near": label}
            )

        assert ask("1").release(promise=HALF).charged == ("far", "near")
        assert ask("2").release(promise=HALF).charged == ("near",)
        assert abs(ask("2").release(promise=HALF)["near"]["total"].value() - 50) < 10
