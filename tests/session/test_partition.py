"""Disjoint parts: every unit in one part at most, the maximum and not the sum in the ledger, and
what would make it false.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.session import Table
from sfumato.session.parts.partition import Partition
from sfumato.session.protected_table import TablePart

from ..refusing import refusal

COUNT = "SELECT COUNT(*) AS n FROM visits"


def protect(frame: Any, **options: Any) -> Table:
    given_options = {"unit": "user", "max_rows": 4, "budget": sf.Pure(10**7), **options}
    return sf.protect(frame, name="visits", **given_options)


@pytest.fixture
def visits() -> Iterator[Table]:
    frame = pa.table(
        {
            "user": [1, 1, 2, 3, 4, 5, None],
            "city": ["Bari", "Roma", "Roma", "Roma", None, "Bari", "Bari"],
            "x": [1.0, 2.0, 3.0, float("nan"), 5.0, 6.0, 7.0],
        }
    )
    with protect(frame, budget=sf.Approx(10**7, "1e-3"), bounds={"x": (0, 10)}) as table:
        yield table


def exact(part: Table, sql: str = COUNT) -> float:
    """A count with so little noise that it is 0: above ε = 10⁵ it moves with chance e^(−10⁴)."""
    return round(float(part.sql(sql, epsilon=10**5)), 2)


def test_parts_have_the_rows_of_their_units(visits: Table) -> None:
    parts = visits.partition(sf.col("user") % 3, [0, 1, 2], epsilon=10**6)
    assert {value: exact(part) for value, part in parts.items()} == {0: 1, 1: 3, 2: 2}
    assert exact(visits) == 6
    fluent = parts[1].release(parts[1].where(sf.col("x") > 1).count(), epsilon=10**5)
    assert round(float(fluent), 2) == 2
    assert exact(parts[1], f"{COUNT} WHERE user IN (SELECT user FROM visits WHERE x > 4)") == 1


def test_a_refresh_of_a_part_reads_its_rows_alone(visits: Table) -> None:
    """Also if its questions are those of the whole table: the part's account pays for the part."""
    parts = visits.partition(sf.col("user") % 3, [0, 1, 2], epsilon=10**6)
    for number, questions in enumerate((visits, parts[1])):
        refreshed = sf.refresh(
            parts[1],
            {"total": questions.count()},
            parts={"all": "x > -1 OR x IS NULL"},
            versions={"all": str(number)},
        ).release(epsilon=1000)
        assert round(float(refreshed["all"]["total"]), 2) == 3
    assert visits.spent.parameters["epsilon"] == 10**6


def test_the_budget_of_a_part_cannot_be_amended(visits: Table) -> None:
    """The table paid for it once: a part with more would answer what nobody paid for."""
    parts = visits.partition(sf.col("user") % 3, [0, 1, 2], epsilon=1)
    more = sf.Approx(10**6, "1e-4", relation="add-remove", unit="user")
    with pytest.raises(sf.Refused) as stopped:
        parts[1].ledger.amend(more, reason="more")
    assert stopped.value.code == "ledger.budget"
    with pytest.raises(sf.BudgetExceeded):
        parts[1].sql(COUNT, epsilon=2)
    visits.ledger.amend(more, reason="the table's own budget may change")


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        (["a", "A", "a ", "b", None], ["a", "A", "a ", "b"]),
        ([0.0, -0.0, 0.1, float("nan"), None], [0.0, 0.1]),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2), None], [dt.date(2024, 1, 1), "2024-01-02"]),
        ([True, False, None], [True, False]),
    ],
    ids=["texts", "floats", "dates", "truth"],
)
def test_every_row_is_in_one_part_at_most(values: list[Any], listed: list[Any]) -> None:
    """By arithmetic over all rows: each is counted in one part, and those without a value in none.
    Each row is a person here.
    """
    with protect(pa.table({"by": values}), unit=None, max_rows=None) as table:
        parts = table.partition("by", listed, epsilon=10**6)
        counted = sum(exact(part) for part in parts.values())
        assert counted == sum(value is not None and value == value for value in values)


def test_public_keys_are_parts() -> None:
    frame = pa.table({"city": ["Bari", "Roma", "Roma"]})
    keys = {"city": ["Bari", "Milano", "Roma"]}
    with protect(frame, unit=None, max_rows=None, keys=keys) as table:
        parts = table.partition("city", epsilon=10**6)
        assert {city: exact(part) for city, part in parts.items()} == {
            "Bari": 1,
            "Milano": 0,
            "Roma": 2,
        }


def test_the_ledger_counts_the_maximum(visits: Table) -> None:
    parts = visits.partition("user", [1, 2, 3, 4, 5], epsilon=2)
    assert isinstance(parts, Partition)
    assert visits.spent.parameters["epsilon"] == 2
    for part in parts.values():
        part.sql(COUNT, epsilon="3/2")
        part.sql("SELECT AVG(x) AS m FROM visits", epsilon="1/2")
        assert part.spent.parameters["epsilon"] == 2
    assert visits.spent.parameters["epsilon"] == 2, "five parts of 2 are 2, not 10"
    refusal(
        lambda: parts[1].sql("SELECT COUNT(x) AS n FROM visits", epsilon="1/10"), "budget.exceeded"
    )
    visits.sql(COUNT, epsilon=1)
    assert visits.spent.parameters["epsilon"] == 3
    halves = visits.partition(sf.col("user") % 2, [0, 1], epsilon=4)
    assert visits.spent.parameters["epsilon"] == 7, "by another rule the unit is in a part of each"
    assert halves.cost.parameters["epsilon"] == 4


@settings(max_examples=15, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.integers(-1, 2), st.fractions("1/10", 2, max_denominator=10)), max_size=12
    )
)
def test_no_unit_ever_loses_more_than_the_budget(steps: list[tuple[int, Fraction]]) -> None:
    """Any sequence of charges to the table (−1) and to three parts: for every part, what the table
    released beside its partition and what the part released stay within the budget.
    """
    budget, share = sf.Pure(4), Fraction(3, 2)
    with protect(pa.table({"user": [0, 1, 2]}), budget=budget) as table:
        parts = table.partition("user", [0, 1, 2], promise=sf.Pure(share))
        lost = dict.fromkeys(range(-1, 3), Fraction(0))
        for place, (where, epsilon) in enumerate(steps):
            try:
                asked_of = table if where < 0 else parts[where]
                asked_of.sql(f"SELECT COUNT(*) AS n{place} FROM visits", epsilon=epsilon)
            except sf.BudgetExceeded:
                continue
            lost[where] += epsilon
        assert all(lost[-1] + lost[p] <= 4 for p in range(3))
        assert table.spent.parameters["epsilon"] == lost[-1] + share


def test_a_crash_after_the_charge_loses_nothing(
    visits: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sf.Ledger, "open_account", stop)
        with pytest.raises(KeyboardInterrupt):
            visits.partition("user", [1, 2], epsilon=1)
    assert visits.spent.parameters["epsilon"] == 1, "paid before any part can be asked"
    parts = visits.partition("user", [1, 2], epsilon=1)
    assert visits.spent.parameters["epsilon"] == 1
    parts[1].sql(COUNT, epsilon=1)
    again = visits.partition("user", [1, 2], epsilon=1)
    assert again[1].spent.parameters["epsilon"] == 1, "its account goes on"


@pytest.mark.parametrize("budget", [sf.ZCDP(1), sf.GDP(1), sf.Renyi({8: 1}), sf.Approx(1, "1e-6")])
def test_in_every_currency(budget: sf.Guarantee) -> None:
    with protect(pa.table({"user": [0, 1]}), budget=budget) as table:
        half = budget.scaled("1/2")
        parts = table.partition("user", [0, 1], promise=half)
        assert type(parts.budget) is type(budget)
        assert parts.budget <= half
        for part in parts.values():
            part.sql(COUNT, promise=half.scaled("1/2"))
        assert table.spent.vector == parts.budget.vector


def test_what_would_be_false_is_refused(visits: Table) -> None:
    assert (
        "rows in several parts"
        in refusal(
            lambda: visits.partition("city", ["Bari", "Roma"], epsilon=1), "partition.by"
        ).reason
    )
    refusal(lambda: visits.partition(sf.col("user") + sf.col("x"), [1], epsilon=1), "partition.by")
    refusal(lambda: visits.partition("user", [1, 1.0], epsilon=1), "partition.parts")
    refusal(lambda: visits.partition("user", [1, None], epsilon=1), "partition.parts")
    refusal(lambda: visits.partition("user", [], epsilon=1), "partition.parts")
    refusal(lambda: visits.partition("user", epsilon=1), "partition.parts")
    refusal(lambda: visits.partition("user", range(300), epsilon=1), "partition.parts")
    refusal(lambda: visits.partition("nothing", [1], epsilon=1), "expression.column")
    refusal(lambda: visits.partition("user", [1], epsilon=10**9), "budget.exceeded")
    parts = visits.partition("user", [1, 2], epsilon=1)
    refusal(lambda: parts[1].partition("user", [1], epsilon="1/2"), "partition.table")
    assert visits.spent.parameters["epsilon"] == 1


def test_one_row_for_each_question_is_not_one_row_in_the_table() -> None:
    """The twin of `max_rows=1`: user 1 has rows in both cities, and each part would keep one."""
    frame = pa.table({"user": [1, 1], "city": ["Bari", "Roma"]})
    with protect(frame, max_rows=1) as table:
        refusal(lambda: table.partition("city", ["Bari", "Roma"], epsilon=1), "partition.by")


def test_under_replace_and_of_databases() -> None:
    frame = pa.table({"user": [1, 2]})
    with protect(frame, relation="replace") as table:
        refusal(lambda: table.partition("user", [1, 2], epsilon=1), "partition.relation")


def test_rows_of_a_part_meet_no_others(visits: Table) -> None:
    """The union of a part and the whole table was answered for the account of the part."""
    first, second = visits.partition("user", [1, 2], epsilon=1).values()
    assert isinstance(first, TablePart)
    for outside in (visits.rows, second.rows):
        refusal(lambda outside=outside: first.rows.union(outside), "join.tables")
        refusal(lambda outside=outside: first.rows.join(outside, on=["user"]), "join.tables")
    refusal(lambda: first.release(visits.count(), epsilon="1/10"), "plan.query")
    first.close()
    first.sql(COUNT, epsilon="1/10")  # engine and ledger stay open
