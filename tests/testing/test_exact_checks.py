"""The hook for tests: answers without noise, and a record of what reached the mechanisms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.mechanisms import WeightedQuantile
from sfumato.testing.exact_checks import Rehearsal, SilentMechanism, exact_answer, through_the_door

ROOT = Path(__file__).parents[2]
ROWS = pa.table(
    {
        "u": [1, 1, 1, 2, 3],
        "city": ["Roma", "Roma", "Bari", "Roma", None],
        "x": [1.0, 2.0, 3.0, 4.0, 50.0],
    }
)


def test_an_answer_without_noise() -> None:
    with sf.protect(
        ROWS, name="visits", unit="u", max_rows=3, bounds={"x": (0, 10)}, budget=10
    ) as table:
        query = table.group_by("city").aggregate(
            n=sf.count(),
            s=sf.sum("x"),
            m=sf.mean("x"),
            q=sf.median("x"),
            u=sf.count_units(),
            v=sf.var("x"),
        )
        answer = exact_answer(query.plan(epsilon=1), table)
        assert table.spent.parameters["epsilon"] == 0
    assert answer.rows == (("Bari",), ("Roma",), (None,))
    assert answer["n"].tolist() == [1, 3, 1]
    assert answer["s"].tolist() == [3, 7, 10]
    assert answer["m"].tolist() == pytest.approx([3, 7 / 3, 10], abs=1e-4)
    assert answer["q"].tolist() == pytest.approx([3, 2, 10], abs=1e-3)
    assert answer["u"].tolist() == [1, 2, 1]
    assert answer["v"].tolist() == pytest.approx([0, 14 / 9, 0], abs=1e-3)


def test_every_call_is_written_down_in_order() -> None:
    with sf.protect(ROWS, name="visits", unit="u", max_rows=3, budget=10) as table:
        plan = (
            table.group_by("city")
            .aggregate(n=sf.count(), q=sf.median("x", low=0, high=10))
            .plan(epsilon=1)
        )
        through = through_the_door(plan)
    parts = list(plan.mechanism.parts)
    assert [call.mechanism for call in through.calls] == parts
    assert through.integers("count").tolist() == [[2**20], [3 * 2**20], [2**20]]
    assert through.groups.rows == [("Bari",), ("Roma",), (None,)]
    assert len(through.tally) == len(plan.statements)


def test_a_rehearsal_uses_the_same_statements_every_time() -> None:
    with sf.protect(
        ROWS, name="visits", unit="u", max_rows=1, bounding="truncation", budget=10
    ) as table:
        rehearsal = Rehearsal(
            table.group_by(city=["Roma", "Bari"]).aggregate(n=sf.count()).plan(epsilon=1)
        )
        result = {str(rehearsal.run().integers("count").tolist()) for _ in range(5)}
        others = {
            str(through_the_door(rehearsal.plan).integers("count").tolist()) for _ in range(30)
        }
    assert len(result) == 1
    assert len(others) > 1  # another key, another choice


def test_the_lower_quantile() -> None:
    mechanism = WeightedQuantile(
        q="1/2", low=0, high=10, weight=1, epsilon=1, relation="add-remove"
    )
    silent = SilentMechanism(mechanism)
    groups, points, weights = (
        np.array([0, 0, 0, 1]),
        np.array([1, 5, 9, 20]),
        np.array([1, 1, 1, 4]),
    )
    assert silent.perturb_each(groups, points, weights, 3).tolist() == [5, 10, 0]


def test_product_code_cannot_reach_it() -> None:
    for path in (ROOT / "src" / "sfumato").rglob("*.py"):
        if "testing" not in path.parts:
            assert "testing.exact" not in path.read_text(encoding="utf-8"), path
