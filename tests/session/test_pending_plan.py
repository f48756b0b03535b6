"""Before something is learned: what is known of the error, and for each of what the rest is."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.session.pending_plan import AFTER

from .test_learning import table


def test_an_error_that_does_not_depend_on_what_is_missing_is_known() -> None:
    with table(max_rows=2) as visits:
        plan = visits.aggregate(n=sf.count(), s=sf.sum("spend"), q=sf.median("spend")).plan(
            epsilon=1
        )
        error = plan.error()
        assert error["n"] == pytest.approx(
            visits.aggregate(
                n=sf.count(),
                s=sf.sum("spend", low=-1, high=1),
                q=sf.median("spend", low=-1, high=1),
            )
            .plan(epsilon=1)
            .error()["n"]
        )
        assert error["s"] == AFTER
        assert "learn   bounds of spend" in str(plan)
        assert "how many rows" not in str(plan)
        assert "error   n ±" in str(plan)
        assert "each unit of the bounds" in str(plan)
        assert plan.promise == sf.Approx(1, "1e-9")
        assert plan.text.endswith("q = quantile(spend, 0.5, confidence=0.95)")


def test_what_it_is_for_each_row() -> None:
    """Twice the rows, twice the noise: the plan states the error for one row."""
    with table() as visits:
        error_line = next(
            line
            for line in str(visits.aggregate(n=sf.count()).plan(epsilon=1)).splitlines()
            if line.startswith("error")
        )
        query = visits.aggregate(n=sf.count())
        assert "for each row that a unit counts for" in error_line
        assert "bounds" not in error_line
        with table(max_rows=1) as limited:
            assert (
                f"± {limited.aggregate(n=sf.count()).plan(epsilon=1).error()['n']:.4g}"
                in error_line
            )
        assert query.plan(epsilon=1).error() == {"n": AFTER}


@pytest.mark.parametrize("budget", [sf.Pure(1), sf.Approx(1, "1e-6"), sf.ZCDP(1)], ids=str)
def test_the_cost_is_of_both(budget: sf.Guarantee) -> None:
    with sf.protect(pa.table({"x": [1.0]}), name="t", budget=budget) as protected:
        price = {"promise": sf.ZCDP("0.3")} if isinstance(budget, sf.ZCDP) else {"epsilon": "0.3"}
        plan = protected.aggregate(s=sf.sum("x")).plan(**price)
        name = next(iter(budget.parameters))
        assert plan.cost.parameters[name] == Fraction("0.35")
        assert plan.learning.parameters[name] == Fraction("0.05")
