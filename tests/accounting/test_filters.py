"""Filters: which currencies have one, what they admit, and that adaptive spending under them stays
within the budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.accounting.filters import FILTERS, Filter
from sfumato.exact.balls import ball, evaluate
from sfumato.guarantees.finite.divergences import hockey_stick, max_divergence, renyi
from sfumato.guarantees.rdp_to_dp import epsilon_at

from ..refusing import refusing
from .trees import Pair, laws

CURVE = {2: "0.5", 8: 2}
BUDGETS: list[sf.Guarantee] = [
    sf.Pure(1),
    sf.Approx(1, "1e-6"),
    sf.ZCDP("0.5"),
    sf.ZCDP("0.5", "1e-6"),
    sf.GDP(1),
    sf.Renyi(CURVE),
    sf.Renyi(CURVE, "1e-6"),
]


def test_every_notion_of_differential_privacy_has_its_theorem() -> None:
    assert set(FILTERS) == {sf.Pure, sf.Approx, sf.GDP, sf.ZCDP, sf.Renyi}
    assert all("20" in theorem for theorem in FILTERS.values())  # with a year


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_budget_can_be_spent_in_any_parts_and_no_further(budget: sf.Guarantee) -> None:
    tenth = {
        sf.Pure: lambda: sf.Pure("0.1"),
        sf.Approx: lambda: sf.Approx("0.1", "1e-7"),
        sf.ZCDP: lambda: sf.ZCDP("0.05", "1e-7" if "delta" in budget.parameters else 0),
        sf.GDP: lambda: sf.GDP.from_square("0.1"),
        sf.Renyi: lambda: sf.Renyi(
            {2: "0.05", 8: "0.2"}, "1e-7" if "delta" in budget.parameters else 0
        ),
    }[type(budget)]()
    purse = Filter(budget)
    assert purse.remaining == budget
    for _ in range(10):
        assert purse.admits(tenth)
        purse = purse.spend(tenth)
    assert purse.spent == 10 * tenth == budget
    assert purse.remaining == 0 * budget
    assert not purse.admits(tenth)
    with refusing("filter.exhausted"):
        purse.spend(tenth)
    assert purse.admits(0 * tenth)
    assert Filter(budget).spend(3 * tenth).spend(7 * tenth).spent == budget
    assert purse.theorem == FILTERS[type(budget)]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_filter_goes_on_from_what_was_spent(budget: sf.Guarantee) -> None:
    half = budget.scaled(Fraction(1, 2))
    assert Filter(budget, half) == Filter(budget).spend(half)
    assert Filter(budget, half).spend(half) == Filter(budget, budget)
    with refusing("filter.exhausted"):
        Filter(budget, 2 * budget)


def test_costs_are_converted_when_they_arrive() -> None:
    purse = Filter(sf.ZCDP("0.5"))
    assert purse.spend(sf.GDP("0.5")).spent == sf.ZCDP("0.125")
    assert purse.spend(sf.Pure("0.1")).spend(sf.Pure("0.1")).spent == 2 * sf.Pure("0.1").to(sf.ZCDP)
    spent = purse.spend(sf.Pure("0.1") + sf.GDP("0.1")).spent
    assert isinstance(spent, sf.ZCDP)
    assert spent.rho < Fraction(1, 50)
    assert Filter(sf.Approx(1, "1e-6")).spend(sf.Pure(1)).remaining == sf.Approx(0, "1e-6")
    assert Filter(sf.Renyi(CURVE)).spend(sf.ZCDP("0.1")).spent == sf.Renyi({2: "0.2", 8: "0.8"})
    for budget, cost in (
        (sf.Pure(1), sf.GDP(1)),
        (sf.Approx(1, "1e-6"), sf.ZCDP("0.01")),
        (sf.GDP(1), sf.ZCDP("0.01")),
        (sf.ZCDP(1), sf.Renyi({2: "0.1"})),
    ):
        with refusing("guarantee.does-not-follow"):
            Filter(budget).admits(cost)
    with refusing("guarantee.order"):
        Filter(sf.Renyi(CURVE)).admits(sf.Renyi({2: "0.1"}))


def test_a_delta_that_is_not_in_the_budget_is_never_admitted() -> None:
    cost = sf.Approx("0.001", "1e-12")
    for budget in (sf.ZCDP(1), sf.Renyi(CURVE)):
        assert not Filter(budget).admits(cost)
    for budget in (sf.Pure(1), sf.GDP(1)):
        with refusing("guarantee.does-not-follow"):
            Filter(budget).admits(cost)


def test_an_unused_delta_pays_for_no_epsilon() -> None:
    """The implication holds of the finished book, but no theorem says that it may be used branch by
    branch.
    """
    budget, cost = sf.Approx(1, "0.05"), sf.Pure("1.01")
    assert cost <= budget
    assert not Filter(budget).admits(cost)


def test_currencies_without_a_theorem() -> None:
    for budget in (sf.Pure(1) + sf.GDP(1), sf.RandomDP(sf.Pure(1), "0.1", over="uniform records")):
        with refusing("filter.currency"):
            Filter(budget)
    with refusing("guarantee.does-not-follow"):
        Filter(sf.Pure(1)).admits(sf.RandomDP(sf.Pure("0.1"), "0.1", over="uniform records"))


def test_relation_and_unit_are_checked_and_records_do_not_change() -> None:
    purse = Filter(sf.Pure(1, relation="add-remove", unit="patient"))
    assert purse.spend(sf.Pure("0.5")).spent == sf.Pure(
        "0.5", relation="add-remove", unit="patient"
    )
    with refusing("guarantee.relation"):
        purse.admits(sf.Pure("0.1", relation="replace"))
    with refusing("guarantee.unit"):
        purse.admits(sf.Pure("0.1", unit="visit"))
    open_purse = Filter(sf.Pure(1)).spend(sf.Pure("0.1", relation="replace"))
    with refusing("guarantee.relation"):
        open_purse.admits(sf.Pure("0.1", relation="add-remove"))
    assert purse.spent == sf.Pure(0, relation="add-remove", unit="patient")
    with pytest.raises(FrozenInstanceError):
        purse.spent = sf.Pure(1)  # type: ignore[misc]  # frozen


# A bit with probabilities p and q, as the pair of laws of one answer.


def bit(p: str, q: str) -> Pair:
    return (Fraction(p), 1 - Fraction(p)), (Fraction(q), 1 - Fraction(q))


FIRST, AFTER = (
    bit("0.85892111", "0.86431463"),
    {0: bit("0.97414849", "0.99082236"), 1: bit("0.23116621", "0.08652701")},
)
"""theory of filters: after the first outcome (numbered 0 here) the one bit, after the second the
other.
"""
EPSILON, DELTA, ORDERS = Fraction(1), Fraction(1, 1000), (Fraction(24), Fraction(64))


def curve_of(pair: Pair) -> sf.Renyi:
    p, q = pair
    return sf.Renyi(
        {
            a: max(Fraction(renyi(p, q, a, rounding="up")), Fraction(renyi(q, p, a, rounding="up")))
            for a in ORDERS
        }
    )


def largest(order: Fraction) -> Fraction:
    """The largest divergence of this order from which (ε, δ) follows: what the conversion adds,
    taken off.
    """
    return Fraction(
        evaluate(
            lambda: (
                ball(EPSILON)
                - (-1 / ball(order)).log1p()
                + (ball(order) * ball(DELTA)).log() / ball(order - 1)
            ),
            "down",
        )
    )


def test_renyi_counter_example_some_order_still_good_is_false() -> None:
    """ε = 1, δ = 10⁻³. Along either path one order (24, 64) converts to at most ε at δ, and yet the
    whole loses δ(1) = 1.34082·10⁻³.
    """
    for path, order in ((0, ORDERS[0]), (1, ORDERS[1])):
        total = curve_of(FIRST) + curve_of(AFTER[path])
        assert isinstance(total, sf.Renyi)
        good = {a for a in ORDERS if epsilon_at(a, total.curve[a], DELTA) <= EPSILON}
        assert good == {order}
    p, q = laws(
        lambda answers: FIRST if not answers else AFTER[answers[0]] if len(answers) == 1 else None
    )
    true = hockey_stick(p, q, EPSILON, rounding="down")
    assert true == pytest.approx(1.34082e-3, abs=5e-9)
    assert true > DELTA
    lost = sum(
        (
            max(Fraction(0), a - Fraction("2.7182818284590452353602874713526624977573") * b)
            for a, b in zip(p, q, strict=True)
        ),
        Fraction(0),
    )
    assert abs(lost - Fraction(true)) < Fraction(1, 10**17)  # the same by forty digits of e


@pytest.mark.parametrize(
    "orders", [ORDERS, ORDERS[:1], ORDERS[1:]], ids=["curve", "order 24", "order 64"]
)
def test_renyi_counter_example_is_refused_by_the_filter(orders: tuple[Fraction, ...]) -> None:
    """A curve, or one order, fixed beforehand: at least one of the two paths is stopped, and what
    remains keeps (1, 10⁻³).
    """
    purse = Filter(sf.Renyi({a: largest(a) for a in orders})).spend(curve_of(FIRST))
    assert purse.budget.epsilon(DELTA) <= 1 + 1e-15
    admitted = {path for path, pair in AFTER.items() if purse.admits(curve_of(pair))}
    assert admitted == {
        path for path, order in ((0, ORDERS[0]), (1, ORDERS[1])) if orders == (order,)
    }
    p, q = laws(
        lambda answers: (
            FIRST
            if not answers
            else AFTER[answers[0]]
            if len(answers) == 1 and answers[0] in admitted
            else None
        )
    )
    assert hockey_stick(p, q, EPSILON, rounding="up") <= DELTA


# Adaptive processes of up to three bits, each charged at its exact cost: whatever is admitted, the
# whole stays within the budget.

bits = st.tuples(st.integers(1, 19), st.integers(1, 19)).map(
    lambda n: bit(str(Fraction(n[0], 20)), str(Fraction(n[1], 20)))
)
trees = st.dictionaries(
    st.sampled_from([(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]), bits, min_size=7, max_size=7
)


def pure_of(pair: Pair) -> sf.Pure:
    p, q = pair
    return sf.Pure(
        Fraction(max(max_divergence(p, q, rounding="up"), max_divergence(q, p, rounding="up")))
    )


def stopped(
    tree: dict[tuple[int, ...], Pair], budget: sf.Guarantee, price: Callable[[Pair], sf.Guarantee]
) -> Pair:
    purses = {(): Filter(budget)}

    def choose(answers: tuple[int, ...]) -> Pair | None:
        before = purses.get(answers)
        if before is None or answers not in tree or not before.admits(price(tree[answers])):
            return None
        for y in (0, 1):
            purses[(*answers, y)] = before.spend(price(tree[answers]))
        return tree[answers]

    return laws(choose)


@settings(max_examples=40)
@given(trees, st.sampled_from(["0.5", "1", "2"]))
def test_pure_spending_stays_within_the_budget(
    tree: dict[tuple[int, ...], Pair], epsilon: str
) -> None:
    p, q = stopped(tree, sf.Pure(epsilon), pure_of)
    assert max(max_divergence(p, q), max_divergence(q, p)) <= float(epsilon) * (1 + 1e-12)


@settings(max_examples=40)
@given(trees, st.sampled_from(["0.2", "1", "2"]))
def test_renyi_spending_stays_within_the_budget_at_every_order(
    tree: dict[tuple[int, ...], Pair], scale: str
) -> None:
    budget = sf.Renyi({a: Fraction(scale) * (a / 30) for a in ORDERS})
    p, q = stopped(tree, budget, curve_of)
    for order, value in budget.curve.items():
        assert max(renyi(p, q, order), renyi(q, p, order)) <= float(value) * (1 + 1e-12)


@settings(max_examples=40)
@given(trees, st.sampled_from(["0.1", "0.5"]))
def test_approximate_spending_stays_within_the_budget(
    tree: dict[tuple[int, ...], Pair], epsilon: str
) -> None:
    """Each bit is charged as (½ of its ε, the δ that is left at it)."""

    def price(pair: Pair) -> sf.Approx:
        p, q = pair
        half = pure_of(pair).parameters["epsilon"] / 2
        return sf.Approx(
            half,
            Fraction(
                min(
                    0.99,
                    max(
                        hockey_stick(p, q, half, rounding="up"),
                        hockey_stick(q, p, half, rounding="up"),
                    ),
                )
            ),
        )

    budget = sf.Approx(epsilon, "0.4")
    p, q = stopped(tree, budget, price)
    assert max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)) <= 0.4 * (1 + 1e-12)


def test_the_rule_that_is_refused_would_break() -> None:
    """The twin of the tests above: with "some order still good" the counter-example passes and the
    budget is broken.
    """

    def admits(total: sf.Renyi) -> bool:
        return any(epsilon_at(a, value, DELTA) <= EPSILON for a, value in total.curve.items())

    def choose(answers: tuple[int, ...]) -> Pair | None:
        if not answers:
            return FIRST
        total = curve_of(FIRST) + curve_of(AFTER[answers[0]])
        return (
            AFTER[answers[0]]
            if len(answers) == 1 and isinstance(total, sf.Renyi) and admits(total)
            else None
        )

    p, q = laws(choose)
    assert not math.isclose(hockey_stick(p, q, EPSILON), float(DELTA))
    assert hockey_stick(p, q, EPSILON) > float(DELTA)
