"""B9, no bounds: where nothing limits a row, nothing can be promised; a system that goes on
regardless releases the exact sum.
"""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf

from .tables import table

ASKED = {
    "sum": lambda: sf.sum("x"),
    "mean": lambda: sf.mean("x"),
    "var": lambda: sf.var("x"),
    "std": lambda: sf.std("x"),
    "median": lambda: sf.median("x"),
    "expression": lambda: sf.sum(sf.col("x") / sf.col("x")),
}


@pytest.mark.parametrize("name", ASKED)
def test_attack_B9_is_refused_with_nothing_read_and_nothing_spent(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with table({"x": [1.0, 2.0], "u": [1, 2]}, unit="u", max_rows=1) as protected:
        engine = protected._source.engine

        def touched(*_: Any, **__: Any) -> None:
            raise AssertionError("data was read")

        monkeypatch.setattr(type(engine), "run", touched)
        for ask in (
            protected.aggregate(a=ASKED[name]()).plan,
            protected.aggregate(a=ASKED[name]()).release,
        ):
            with pytest.raises(sf.Refused) as refused:
                ask(
                    epsilon=1, learn=name == "expression"
                )  # of a quotient no bounds can be learned, so it is refused in any case
            assert refused.value.code == "aggregate.bounds"
            assert "low=0, high=100" in refused.value.rewrite
        assert protected.spent == sf.Approx(0, 0, relation="add-remove", unit="u")


def test_attack_B9_a_missing_limit_of_rows_is_refused_too() -> None:
    with table({"x": [1.0], "u": [1]}, unit="u") as protected, pytest.raises(sf.Refused) as refused:
        protected.aggregate(n=sf.count()).plan(epsilon=1, learn=False)
    assert refused.value.code == "table.max-rows"


def test_attack_B9_what_is_learned_instead_is_paid_for_and_enforced() -> None:
    """Learning comes before, as a charge of its own, and whatever it finds is what values are
    clipped to.
    """
    with table({"x": [1.0, 2.0], "u": [1, 2]}, unit="u") as protected:
        protected.aggregate(a=sf.sum("x")).release(epsilon=6)
        assert protected.spent.parameters["epsilon"] == 7
        low, high = protected.declaration.ranges["x"]
        plan = protected.aggregate(a=sf.sum("x")).plan(epsilon=1)
        assert plan.components[0].low * plan.components[0].step == low
        assert plan.components[0].high * plan.components[0].step == high
        assert plan.calibration.bounding.rows == protected.declaration.max_rows
