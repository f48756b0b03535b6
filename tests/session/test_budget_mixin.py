"""A table and a database say the same of their budgets, and both what their ledger says."""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf
from sfumato.session.budget_mixin import Budgeted


def test_both_kinds() -> None:
    rows = pa.table({"u": [1, 2]})
    with (
        sf.protect(rows, name="t", unit="u", max_rows=1, budget=sf.Pure(1)) as table,
        sf.protect({"t": rows}, unit="t.u", budget=sf.Pure(1)) as db,
    ):
        for budgeted in (table, db):
            assert isinstance(budgeted, Budgeted)
            budgeted.ledger.charge(sf.Pure("1/4"))
            assert (
                budgeted.budget.epsilon(),
                budgeted.spent.epsilon(),
                budgeted.remaining.epsilon(),
            ) == (
                1,
                0.25,
                0.75,
            )
