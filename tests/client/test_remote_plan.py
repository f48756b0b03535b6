"""Plans as a server replies them."""

from __future__ import annotations

import math
from typing import Any

import pytest

import sfumato as sf
from sfumato.client.remote_plan import RemotePlan
from sfumato.errors import Refused
from sfumato.guarantees.stored_guarantee import record

from .behind import behind

REPLY: dict[str, Any] = {
    "cost": record(sf.Pure(1)),
    "promise": record(sf.Approx(1, "1e-9")),
    "error": {"n": 3.5, "m": None, "t": "after learning"},
    "explained": ["what    from visits", "cost    ε = 1"],
    "columns": [
        {"name": "n", "kind": "count"},
        {"name": "m", "kind": "quantile"},
        {"name": "t", "kind": "sum"},
    ],
    "keys": ["city"],
    "deadline": 1,
    "affordable": True,
    "rows": None,
    "sample": {"rows": []},
}


def of(question: dict[str, Any] | None = None, **changed: Any) -> RemotePlan:
    return RemotePlan.of(
        {**REPLY, **changed},
        {"sql": "SELECT …", "epsilon": "1"} | (question or {}),
        lambda _: of(error={"n": 9}),
    )


def test_what_it_says() -> None:
    plan = of()
    assert (plan.cost, plan.promise, plan.keys, plan.deadline, plan.affordable, plan.groups) == (
        sf.Pure(1),
        sf.Approx(1, "1e-9"),
        ("city",),
        1.0,
        True,
        None,
    )
    assert plan.explain() == str(plan) == "what    from visits\ncost    ε = 1"
    errors = plan.error()
    assert errors["n"] == 3.5
    assert isinstance(errors["m"], float)
    assert math.isnan(errors["m"])
    assert errors["t"] == "after learning"
    assert plan.kinds == {"n": "count", "m": "quantile", "t": "sum"}


def test_another_level_is_asked_for() -> None:
    assert of().error(0.95)["n"] == 3.5
    assert of().error(0.99)["n"] == 9
    assert of().error(group_size=7)["n"] == 9
    assert of({"confidence": "9/10", "group_size": 7}).error("9/10", group_size=7)["n"] == 3.5


def test_the_levels_of_an_accuracy_do_not_change_its_cost() -> None:
    """With `within=` another confidence would be another cost: it is the errors of this one that
    are asked for.
    """
    with behind() as (there, paper):
        plan = there["visits"].plan("SELECT COUNT(*) AS n FROM visits", within=25)
        wider = plan.error(0.99)["n"]
        body = paper.log[-1][3]
        assert "within" not in body
        assert body["promise"] == record(plan.promise)
        assert wider > plan.error()["n"]
        assert (
            wider
            == paper.table.plan("SELECT COUNT(*) AS n FROM visits", within=25).error(0.99)["n"]
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"cost": None},
        {"columns": 7},
        {"error": None},
        {"rows": "x"},
        {"explained": 3},
        {"deadline": "soon"},
    ],
)
def test_plans_of_another_kind(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        of(**wrong)
    assert caught.value.code in ("client.reply", "guarantee.stored")


def test_a_level_that_is_none() -> None:
    with pytest.raises(Refused):
        of().error(1.5)
