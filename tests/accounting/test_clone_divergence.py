"""Rényi divergences of one report among many, against sums over the pair and over real shuffled
reports.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

import sfumato as sf
from sfumato.accounting.loss import clone_divergence
from sfumato.accounting.loss.clone_divergence import divergence, divergence_curve, line_above
from sfumato.accounting.loss.pairs_sampled import ClonePair
from sfumato.guarantees.pure import renyi_of_pure
from sfumato.guarantees.renyi import ORDERS

ALPHAS = tuple(map(Fraction, ("1", "1.01", "1.5", "2", "8", "64", "4096")))


def summed(epsilon: float, n: int, order: Fraction) -> float:
    """D_α of the pair by summing over C, A and the report, in logarithms."""
    odds = math.exp(epsilon)
    clone, a = 2 / (odds + 1), float(order)
    p: dict[tuple[int, int], list[float]] = {}
    for c in range(n):
        chance = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c) / 2**c
        for here in range(c + 2):
            before, after = math.comb(c, here - 1) if here else 0, math.comb(c, here)
            p[here, c] = [
                chance * (odds * before + after) / (odds + 1),
                chance * (before + odds * after) / (odds + 1),
            ]
    if order == 1:
        return math.fsum(x * math.log(x / y) for x, y in p.values())
    terms = [a * math.log(x) + (1 - a) * math.log(y) for x, y in p.values()]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(t - top) for t in terms))) / (a - 1)


@pytest.mark.parametrize(("epsilon", "n"), [("1", 2), ("1", 30), ("0.1", 40), ("3", 25)])
def test_the_divergence_is_that_of_the_pair(epsilon: str, n: int) -> None:
    for order in ALPHAS:
        truth = summed(float(epsilon), n, order)
        bound = float(divergence(Fraction(epsilon), n, order))
        # near order 1 the sum here cancels: it is the one that is off
        room = 1e-12 / float(order - 1) if order > 1 else 0.0
        assert truth * (1 - 1e-8) - room <= bound <= truth * (1 + 1e-8) + room
        assert truth > float(divergence(Fraction(epsilon), n + 3, order)), "another n would be seen"


def test_of_one_report_it_is_that_of_the_coin() -> None:
    for order in ALPHAS:
        assert divergence(Fraction(1), 1, order) == Fraction(renyi_of_pure(Fraction(1), order))


@pytest.mark.parametrize(("epsilon", "n"), [("1", 1000), ("2", 500), ("1/2", 20_000)])
def test_the_curve_is_above_and_near(epsilon: str, n: int) -> None:
    curve = divergence_curve(Fraction(epsilon), n)
    assert set(curve) == set(ORDERS)
    for order in ORDERS[:: len(ORDERS) // 12]:
        truth = divergence(Fraction(epsilon), n, order)
        assert truth <= curve[order] * (1 + Fraction(1, 10**9)) <= truth * (1 + Fraction(4, 10**4))


@pytest.mark.parametrize(
    ("epsilon", "n"), [("1", 1), ("1", 2), ("1", 300), ("4", 200), ("0.1", 50)]
)
def test_the_line_is_above_the_curve_and_touches_it(epsilon: str, n: int) -> None:
    rho = line_above(Fraction(epsilon), n)
    steep = [
        divergence(Fraction(epsilon), n, order) / order
        for order in (1 + Fraction(k, 7) ** 3 for k in range(200))
    ]
    assert max(steep) <= rho <= max(steep) * (1 + Fraction(5, 1000))


def test_a_line_at_one_order_would_be_too_low() -> None:
    """The twin: the slope at order 1, the largest of randomized response, is not that of the pair:
    few clones are rare, and high orders see them.
    """
    assert line_above(Fraction(1), 1000) > divergence(Fraction(1), 1000, Fraction(1)) * 3 / 2


def test_what_is_left_out_counts_at_the_largest_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    before = divergence(Fraction(1), 50, Fraction(8))
    losses = clone_divergence._losses(Fraction(1), 50)
    monkeypatch.setattr(
        clone_divergence, "_losses", lambda epsilon, n: losses._replace(unseen=1e-3)
    )
    after = divergence(Fraction(1), 50, Fraction(8))
    assert math.exp(7 * after) >= math.exp(7 * before) + 1e-3 * math.exp(7) * (1 - 1e-9)


def test_very_small_divergences_are_not_zero() -> None:
    for epsilon in ("1e-6", "1e-150", "1e-200"):
        loss = sf.shuffle(local=sf.Pure(epsilon), n=10)
        assert loss.renyi(2) > 0
        assert 0 < loss.to(sf.ZCDP).rho <= sf.Pure(epsilon).to(sf.ZCDP).rho


def test_real_reports_are_within_the_curve() -> None:
    """The exact laws of the shuffled reports of five people, each with her own coin of ε₀ = 1 or
    less: all neighbours, both ways.
    """
    weak = 1 / (1 + math.exp(0.4))
    strong = 1 / (1 + math.exp(1.0))
    coins = [strong, strong, weak, strong, weak]
    worst = dict.fromkeys(ALPHAS[1:5], 0.0)

    def law(values: tuple[int, ...]) -> dict[int, float]:
        ones = {0: 1.0}
        for value, flip in zip(values, coins, strict=True):
            says_one = 1 - flip if value else flip
            grown: dict[int, float] = {}
            for count, chance in ones.items():
                grown[count + 1] = grown.get(count + 1, 0.0) + chance * says_one
                grown[count] = grown.get(count, 0.0) + chance * (1 - says_one)
            ones = grown
        return ones

    for values in product((0, 1), repeat=5):
        p, q = law(values), law((1 - values[0], *values[1:]))
        for order in worst:
            a = float(order)
            moment = sum(p[k] ** a * q[k] ** (1 - a) for k in p)
            worst[order] = max(worst[order], math.log(moment) / (a - 1))
    for order, largest in worst.items():
        assert largest <= float(divergence(Fraction(1), 5, order))
        assert largest > float(divergence(Fraction(1), 8, order)), (
            "the twin: three reports too many"
        )


def test_S_165_every_notion_of_a_shuffled_report() -> None:
    """It was the report's own divergence: 0.7353 instead of 0.0016 at order 2."""
    loss = sf.shuffle(local=sf.Pure(1), n=1000)
    assert loss.renyi(2) == pytest.approx(0.00158873, rel=1e-5)
    assert loss.to(sf.Renyi).renyi(2) == pytest.approx(0.00158873, rel=4e-4)
    assert loss.to(sf.ZCDP).rho < Fraction("0.00142")
    assert (7 * loss).renyi(2) == pytest.approx(7 * loss.renyi(2))
    assert loss.to(sf.Renyi).relation == "replace"
    assert sf.Pure(1).renyi(2) > 400 * loss.renyi(2)


def test_of_different_pairs_the_sum() -> None:
    small, large = sf.shuffle(local=sf.Pure(1), n=500), sf.shuffle(local=sf.Pure(2), n=900)
    assert (small + large).renyi(3) == pytest.approx(small.renyi(3) + large.renyi(3))
    sums = small.to(sf.ZCDP).rho + large.to(sf.ZCDP).rho
    assert (small + large).to(sf.ZCDP).rho == sums


def charge_until_full(budget: sf.Guarantee, cost: sf.Guarantee) -> int:
    book = sf.Ledger.open(budget=budget, dataset="phones", unit="person", relation="replace")
    charge, count = book.charge, 0
    while count < 1000:
        try:
            charge(cost)
        except sf.BudgetExceeded:
            break
        count += 1
    return count


@pytest.mark.parametrize(
    ("budget", "at_least"),
    [
        (sf.Approx(1, "1e-5"), 21),
        (sf.ZCDP("0.0305"), 300),
        (sf.Renyi({18: "0.5499"}), 380),
    ],
    ids=str,
)
def test_a_ledger_is_charged_the_amplified_promise(budget: sf.Guarantee, at_least: int) -> None:
    """Of one collection after another, ε₀ = 1 among 10,000; one fitted before."""
    assert budget.epsilon("1e-5") <= 1
    cost = sf.shuffle(local=sf.Pure(1), n=10_000)
    assert at_least <= charge_until_full(budget, cost)
    assert charge_until_full(budget, sf.Pure(1, relation="replace")) <= 1


def test_collections_that_are_paid_together_compose_by_the_certified_curve() -> None:
    """390 of ε₀ = 1 among 10,000 fit (1, 10⁻⁵); the certified curve has no room for 480."""
    cost, budget = sf.shuffle(local=sf.Pure(1), n=10_000), sf.Approx(1, "1e-5")
    book = sf.Ledger.open(budget=budget, dataset="phones", unit="person", relation="replace")
    paid = book.charge(390 * cost).cost
    assert isinstance(paid, sf.Approx)
    assert (390 * cost).delta(paid.epsilon()) <= paid.vector[1] <= Fraction(1, 10**5)
    assert (480 * cost).epsilon_lower("1e-5") > 1
    again = sf.Ledger.open(budget=budget, dataset="phones", unit="person", relation="replace")
    assert again.charge([cost, 2 * cost]).cost == book_of(budget).charge(3 * cost).cost


def book_of(budget: sf.Guarantee) -> sf.Ledger:
    return sf.Ledger.open(budget=budget, dataset="phones", unit="person", relation="replace")


def test_a_single_report_keeps_its_own_promise_in_a_pure_book() -> None:
    pair = ClonePair(Fraction(1), 1000)
    assert pair.states(sf.Pure) == sf.Pure(1)
    assert sf.shuffle(local=sf.Pure(1), n=1000).to(sf.Pure) == sf.Pure(1, relation="replace")
