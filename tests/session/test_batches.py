"""Batches: one promise, one charge, and noise that is planned together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.session import Table


@pytest.fixture
def table() -> Iterator[Table]:
    about: dict[str, Any] = {"unit": "user_id", "max_rows": 3, "max_groups": 2, "bounds": {"spend": (0, 50), "age": (0, 120)}}
    with sf.protect(sf.samples.visits(), name="visits", **about, budget=sf.Approx(100, "1e-3")) as made:
        yield made


def mixed(table: Table) -> list[Any]:
    return ["SELECT COUNT(*) AS n FROM visits", table.group_by(vip=[True, False]).aggregate(m=sf.mean("spend")), "SELECT MEDIAN(age) AS q FROM visits"]


def test_shares_follow_the_noisy_numbers(table: Table) -> None:
    made = table.plan_all([*mixed(table), table.group_by("city").aggregate(n=sf.count())], epsilon=1)
    assert made.shares == tuple(Fraction(k, 6) for k in (1, 2, 1, 2))  # a count, a mean of two, a quantile, a count and the selection
    assert sum(made.shares) == 1
    assert "1/6 of" in made.explain()


@pytest.mark.parametrize("promise", [Pure(1), Approx(1, "1e-6"), ZCDP("1/8"), GDP(1)], ids=lambda p: type(p).__name__)
def test_the_whole_keeps_the_promise(promise: Guarantee, table: Table) -> None:
    made = table.plan_all(mixed(table), promise=promise)
    if isinstance(promise, Approx):
        assert made.cost.epsilon(promise.parameters["delta"]) <= 1
    else:
        assert made.mechanism.to(type(promise)) <= promise


def test_equal_numbers_have_equal_noise(table: Table) -> None:
    """As if they were columns of one question."""
    apart = table.plan_all(["SELECT COUNT(*) AS n FROM visits", "SELECT COUNT(*) AS n FROM visits WHERE vip"], promise=Pure(1))
    together = table.aggregate(n=sf.count(), v=sf.count_if(sf.col("vip"))).plan(promise=Pure(1))
    assert [error["n"] for error in apart.error()] == list(together.error().values())


def test_many_are_better_with_gaussian_noise_stated_once(table: Table) -> None:
    many = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {age}" for age in range(60)]
    made = table.plan_all(many, epsilon=1, delta=1e-6)
    assert all(isinstance(plan.calibration.noise[0][0], Gaussian) for plan in made.plans)
    assert made.cost.parameters == {"epsilon": 1, "delta": Fraction(1, 10**6)}
    alone = table.plan(many[0], epsilon=Fraction(1, 60), delta=Fraction(1, 60 * 10**6)).error()["n"]
    assert made.error()[0]["n"] < alone / 2
    few = table.plan_all(many[:2], epsilon=1, delta=1e-6)
    assert all(isinstance(plan.calibration.noise[0][0], Laplace) for plan in few.plans)


def test_one_charge_and_the_same_batch_again_is_free(table: Table) -> None:
    first = table.release_all(mixed(table), epsilon=1)
    assert [entry.kind for entry in table.ledger.history()].count("charge") == 1
    assert table.spent.parameters["epsilon"] == 1
    assert {answer.receipt for answer in first} == {first[0].receipt}
    assert all("released together with 2 other questions: the cost is that of all" in answer.rules for answer in first)
    again = table.release_all(mixed(table), epsilon=1)
    assert [answer.value() for answer in (again[0], again[2])] == [answer.value() for answer in (first[0], first[2])]
    assert all(answer.recalled for answer in again)
    assert table.spent.parameters["epsilon"] == 1
    table.release_all(mixed(table), epsilon=1, fresh=True)
    assert table.spent.parameters["epsilon"] == 2


def test_what_a_text_does_after_release_is_done(table: Table) -> None:
    (shown,) = table.release_all(["SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC LIMIT 2"], epsilon=1)
    assert len(shown) == 2
    assert shown["n"][0] >= shown["n"][1]


def test_what_does_not_fit_is_refused_as_a_whole(table: Table) -> None:
    with pytest.raises(sf.BudgetExceeded):
        table.release_all(mixed(table), epsilon=101)
    assert table.spent.parameters["epsilon"] == 0


@pytest.mark.parametrize(
    ("queries", "more"),
    [
        ([], {}),
        ("SELECT COUNT(*) AS n FROM visits", {}),
        (["SELECT COUNT(*) AS n FROM visits"] * 2, {}),
        (["EXPLAIN PRIVACY SELECT COUNT(*) AS n FROM visits"], {}),
        (["SELECT COUNT(*) AS n FROM visits"], {"parameters": [None, None]}),
    ],
    ids=["none", "text", "twice", "explain", "parameters"],
)
def test_refused(queries: Any, more: dict[str, Any], table: Table) -> None:
    with pytest.raises(Refused) as refusal:
        table.plan_all(queries, epsilon=1, **more)
    assert refusal.value.code == "plan.batch"
