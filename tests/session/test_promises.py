"""What a user asks for, as a promise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.guarantees.guarantee import noise_notions
from sfumato.session.promises import (
    BUDGET_DELTA,
    DELTA_PARTS,
    budget_of,
    promise_of,
    share_of,
)
from sfumato.tables.query.question_options import QuestionSettings as Settings


def test_a_number_is_a_budget_with_a_small_delta() -> None:
    assert budget_of(2) == sf.Approx(2, "1e-6")
    assert budget_of("1/3") == sf.Approx("1/3", BUDGET_DELTA)
    assert budget_of(sf.ZCDP(1)) == sf.ZCDP(1)


def test_an_epsilon_takes_a_thousandth_of_the_delta_of_the_budget() -> None:
    assert promise_of(sf.Approx(1, "1e-6"), Settings(epsilon=0.1)) == sf.Approx(
        "0.1", Fraction(1, 10**6) / DELTA_PARTS
    )
    assert promise_of(sf.Pure(1), Settings(epsilon=0.1)) == sf.Pure("0.1")
    assert promise_of(sf.ZCDP(1, "1e-6"), Settings(epsilon=0.1)) == sf.Approx("0.1", "1e-9")
    assert promise_of(sf.GDP(1), Settings(epsilon=0.1)) == sf.Pure("0.1")


def test_a_delta_is_taken_as_it_is() -> None:
    assert promise_of(sf.Approx(1, "1e-6"), Settings(epsilon=1, delta="1e-7")) == sf.Approx(
        1, "1e-7"
    )
    assert promise_of(sf.Approx(1, "1e-6"), Settings(epsilon=1, delta=0)) == sf.Pure(1)


def test_any_guarantee_is_a_promise() -> None:
    assert promise_of(sf.Pure(1), Settings(promise=sf.GDP("1/2"))) == sf.GDP("1/2")


@pytest.mark.parametrize(
    ("epsilon", "delta", "promise", "code"),
    [
        (None, None, None, "plan.promise"),
        (1, None, sf.Pure(1), "plan.promise"),
        (None, "1e-6", sf.Pure(1), "plan.promise"),
        (None, None, 1, "plan.promise"),
        (None, None, "Pure(1)", "plan.promise"),
        (None, "1e-6", None, "plan.promise"),
        (0, None, None, "number.not-positive"),
        (1, 1, None, "number.not-a-probability"),
    ],
)
def test_what_is_no_promise_is_refused(epsilon: Any, delta: Any, promise: Any, code: str) -> None:
    with pytest.raises(sf.Refused) as refused:
        promise_of(sf.Approx(1, "1e-6"), Settings(epsilon=epsilon, delta=delta, promise=promise))
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("promise", "half"),
    [
        (sf.Pure(1), sf.Pure("1/2")),
        (sf.Approx(1, "1e-6"), sf.Approx("1/2", "5e-7")),
        (sf.ZCDP(1), sf.ZCDP("1/2")),
        (sf.ZCDP(1, "1e-6"), sf.ZCDP("1/2", "5e-7")),
        (sf.GDP.from_square(Fraction(1)), sf.GDP.from_square(Fraction(1, 2))),
        (sf.Renyi({2: 1, 8: 3}, "1e-6"), sf.Renyi({2: "1/2", 8: "3/2"}, "5e-7")),
    ],
    ids=str,
)
def test_a_share_of_a_promise_is_one_of_its_kind(promise: sf.Guarantee, half: sf.Guarantee) -> None:
    assert share_of(promise, Fraction(1, 2)) == half
    assert share_of(promise, Fraction(1)) == promise


def test_other_promises_are_not_shared_out() -> None:
    with pytest.raises(sf.Refused) as refused:
        share_of(sf.Pure(1) + sf.GDP(1), Fraction(1, 2))
    assert refused.value.code == "plan.promise"
    assert all(f"sf.{notion.__name__}" in refused.value.reason for notion in noise_notions())


def test_what_needs_no_delta() -> None:
    assert sf.Approx(1, "1e-6").without_delta() == sf.Pure(1)
    assert sf.ZCDP(1, "1e-6").without_delta() == sf.ZCDP(1)
    assert sf.Renyi({2: 1}, "1e-6").without_delta() == sf.Renyi({2: 1})
    for promise in (sf.Pure(1), sf.GDP(1)):
        assert promise.without_delta() is promise


@pytest.mark.parametrize(
    "promise", [sf.Renyi({10: "1/2"}), sf.Renyi({4: "1/4", 100: "1/2"}, "1e-7")], ids=str
)
def test_a_renyi_promise_is_charged_at_most_what_it_says(promise: sf.Renyi) -> None:
    """By one question and by two in a batch, with private keys where there is a δ."""
    by = "city" if promise.parameters.get("delta") else "vip"
    table = sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        max_rows=3,
        max_groups=2,
        bounds={"spend": (0, 50)},
        keys={"vip": [False, True]},
        budget=sf.Renyi({a: 3 * v for a, v in promise.curve.items()}, "1e-5"),
    )
    with table:
        questions = [
            f"SELECT {by}, COUNT(*) AS n, AVG(spend) AS m FROM visits GROUP BY {by}",
            "SELECT MEDIAN(spend) AS q FROM visits",
        ]
        answer = table.sql(questions[0], promise=promise)
        assert answer.cost <= promise
        batch = table.release_all(questions, promise=promise)
        assert batch[0].cost == batch[1].cost <= promise  # that of the batch
        spent = table.ledger.spent
        assert isinstance(spent, sf.Renyi)
        assert all(value <= 2 * promise.curve[a] for a, value in spent.curve.items())
        assert any(value > promise.curve[a] / 2 for a, value in spent.curve.items())
