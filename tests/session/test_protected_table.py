"""A protected table: verbs, budgets in every currency, and questions that belong to it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.guarantees import Guarantee
from sfumato.session.protected_table import Table

ROWS = pa.table(
    {"u": [1, 1, 2, 3], "city": ["Roma", "Roma", "Bari", None], "x": [1.0, 2.0, 3.0, 4.0]}
)


def visits(budget: Any = 1, **about: Any) -> Table:
    return sf.protect(
        ROWS,
        **{
            "name": "visits",
            "unit": "u",
            "max_rows": 2,
            "bounds": {"x": (0, 10)},
            "budget": budget,
            **about,
        },
    )


def test_verbs_are_those_of_rows() -> None:
    with visits() as table:
        query = (
            table.where(table["x"] > 1)
            .mutate(y=table["x"] * 2)
            .group_by("city")
            .aggregate(n=sf.count(), m=sf.mean("y"))
        )
        assert (
            query.text
            == "from visits\nwhere x > 1\nmutate y = x * 2\ngroup by city\nn = count()\nm = mean(y)"
        )
        assert table.mutate(y=table["x"]).steps
        with pytest.raises(sf.Refused):
            table["nothing"]


CURRENCIES: list[tuple[Guarantee, dict[str, Any], dict[str, Any]]] = [
    (sf.Pure(1), {"epsilon": "0.1"}, {"epsilon": "1e-9"}),
    (sf.Approx(1, "1e-6"), {"epsilon": 0.1}, {"epsilon": "1e-9"}),
    (
        sf.Approx(1, "1e-6"),
        {"epsilon": "0.1", "delta": "1e-7"},
        {"epsilon": "1e-9", "delta": "1e-9"},
    ),
    (sf.ZCDP(1), {"promise": sf.ZCDP("0.1")}, {"promise": sf.ZCDP("1e-9")}),
    (sf.ZCDP(1, "1e-6"), {"promise": sf.ZCDP("0.1", "1e-7")}, {"promise": sf.ZCDP("1e-9", "1e-9")}),
    (sf.GDP(1), {"promise": sf.GDP.from_square(Fraction(1, 10))}, {"promise": sf.GDP("1e-6")}),
]


@pytest.mark.parametrize(("budget", "part", "more"), CURRENCIES, ids=lambda value: str(value))
@pytest.mark.parametrize("keys", ["none", "public", "private"])
def test_ten_tenths_fit_and_nothing_more(
    budget: Guarantee, part: dict[str, Any], more: dict[str, Any], keys: str
) -> None:
    """In every currency; also where several pieces, a quantile or a selection share each tenth. The
    eleventh is refused, however small.
    """
    delta = (
        part["promise"].parameters.get("delta", 0)
        if "promise" in part
        else part.get("delta", budget.parameters.get("delta", 0))
    )
    if keys == "private" and not delta:
        return
    with visits(budget) as table:
        rows = {
            "none": table.group_by(),
            "public": table.group_by(city=["Roma", "Bari"]),
            "private": table.group_by("city"),
        }[keys]
        aggregates = {"n": sf.count(), "s": sf.sum("x")} if keys == "public" else {"n": sf.count()}
        for _ in range(10):
            rows.aggregate(**aggregates).release(**part, fresh=True)
        if isinstance(budget, sf.GDP):
            assert table.spent.mu_squared <= 1  # type: ignore[attr-defined]  # GDP has it
        else:
            name = next(iter(budget.parameters))
            assert table.spent.parameters[name] <= 1
            assert table.spent.parameters[name] > Fraction(99, 100)
        before = table.spent
        with pytest.raises(sf.BudgetExceeded):
            rows.aggregate(**aggregates).release(**part, fresh=True)
        assert table.spent == before


@pytest.mark.parametrize(("budget", "part", "more"), CURRENCIES[:2], ids=lambda value: str(value))
def test_after_ten_tenths_not_even_a_billionth_fits(
    budget: Guarantee, part: dict[str, Any], more: dict[str, Any]
) -> None:
    with visits(budget) as table:
        for _ in range(10):
            table.aggregate(n=sf.count()).release(**part, fresh=True)
        with pytest.raises(sf.BudgetExceeded):
            table.aggregate(n=sf.count()).release(**more, fresh=True)


def test_private_keys_need_a_delta() -> None:
    with visits(sf.Pure(1)) as table, pytest.raises(sf.Refused) as refused:
        table.group_by("city").aggregate(n=sf.count()).plan(epsilon="1/2")
    assert refused.value.code == "plan.keys"
    with visits(1) as table:
        assert table.group_by("city").aggregate(n=sf.count()).plan(epsilon="1/2").cost.parameters[
            "delta"
        ] == Fraction(1, 10**9)


def test_a_question_belongs_to_its_table() -> None:
    with visits() as table, visits(name="others") as foreign:
        query = table.aggregate(n=sf.count())
        for wrong in (
            lambda: foreign.plan(query, epsilon=1),
            lambda: foreign.release(query, epsilon=1),
            lambda: foreign.plan(1, epsilon=1),  # type: ignore[arg-type]  # wrong on purpose
        ):
            with pytest.raises(sf.Refused) as refused:
                wrong()
            assert refused.value.code == "plan.query"
        assert table.plan(query, epsilon=1).cost == query.plan(epsilon=1).cost


def test_planning_costs_nothing(tmp_path: Path) -> None:
    with visits(ledger=tmp_path / "visits.ledger") as table:
        head = table.ledger.head
        for _ in range(5):
            table.aggregate(n=sf.count()).plan(epsilon=1)
            table.aggregate(n=sf.count()).plan(epsilon=1000)  # more than there is: planning is free
        assert table.ledger.head == head
        assert table.spent.parameters["epsilon"] == 0


def test_a_table_says_where_its_budget_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with visits() as table:
        assert "lives in memory" in repr(table)
        assert (table.budget, table.remaining) == (table.ledger.budget, table.ledger.remaining)
    with visits(ledger=tmp_path / "visits.ledger") as table:
        assert "lives in memory" not in repr(table)
        assert "unit u" in repr(table)
    with visits(ledger=tmp_path / "other.ledger") as table:
        monkeypatch.setattr(table.ledger, "_store", None)
        assert "unit u" in repr(table)  # which does not ask the ledger
        monkeypatch.undo()


def test_a_closed_table_answers_no_more(tmp_path: Path) -> None:
    table = visits(ledger=tmp_path / "visits.ledger")
    query = table.aggregate(n=sf.count())
    table.close()
    with pytest.raises(sf.Refused):
        query.release(epsilon=1)
    again = sf.Ledger.open(tmp_path / "visits.ledger", dataset="visits")
    assert again.spent.parameters["epsilon"] == 0
    again.close()


def test_explain_sql_gives_the_text_of_explain_privacy() -> None:
    statement = "SELECT COUNT(*) AS n FROM visits"
    with visits() as table:
        explained = table.explain_sql(statement, epsilon=0.5)
        assert explained == table.sql(f"EXPLAIN PRIVACY {statement}", epsilon=0.5)
        assert explained == table.plan(statement, epsilon=0.5).explain()
        assert table.spent.epsilon() == 0
