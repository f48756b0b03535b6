"""The clone pair of one report among many, against enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.loss import shuffle_pair
from sfumato.accounting.loss.loss_curve import epsilons
from sfumato.accounting.loss.loss_pairs import laws_of
from sfumato.accounting.loss.pairs_sampled import ClonePair
from sfumato.accounting.loss.privacy_loss import Loss
from sfumato.accounting.loss.shuffle_pair import (
    binomial,
    clone_laws,
    closed_form,
    closed_form_limit,
)
from sfumato.errors import Refused
from sfumato.exact.balls import ball, precision


def enumerated(epsilon: float, n: int, at: float) -> float:
    """δ of the pair by summing over C, A and the report."""
    odds = math.exp(epsilon)
    clone, truth = 2 / (odds + 1), odds / (odds + 1)
    p: dict[tuple[int, int], float] = {}
    q: dict[tuple[int, int], float] = {}
    for c in range(n):
        chance = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c)
        for a in range(c + 1):
            half = chance * math.comb(c, a) / 2**c
            for law, first in ((p, truth), (q, 1 - truth)):
                law[a + 1, c - a] = law.get((a + 1, c - a), 0.0) + half * first
                law[a, c - a + 1] = law.get((a, c - a + 1), 0.0) + half * (1 - first)
    return sum(max(0.0, p[key] - math.exp(at) * q[key]) for key in p)


@pytest.mark.parametrize(("epsilon", "n"), [("1", 2), ("1", 30), ("0.1", 50), ("3", 40)])
def test_the_curve_is_that_of_the_pair(epsilon: str, n: int) -> None:
    loss = Loss(((ClonePair(Fraction(epsilon), n), 1),))
    for at in (0.0, 0.05, 0.3, 0.9):
        truth = enumerated(float(epsilon), n, at)
        assert loss.delta_lower(at) <= truth * (1 + 1e-9)
        assert loss.delta(at) >= truth * (1 - 1e-9)
        assert loss.delta(at) - loss.delta_lower(at) < 1e-3 * truth + 1e-9
    assert enumerated(float(epsilon), n + 5, 0.05) < enumerated(float(epsilon), n, 0.05), (
        "more reports hide better, so another n would be seen"
    )


@pytest.mark.parametrize(("n", "epsilon"), [(1_000, 0.1487), (10_000, 0.0432)])
def test_many_reports(n: int, epsilon: float) -> None:
    loss = Loss(((ClonePair(Fraction(1), n), 1),))
    assert round(loss.epsilon("1e-6"), 4) == epsilon
    assert loss.epsilon("1e-6") < float(closed_form(1, n, "1e-6")) / 3


def brute_force(epsilon: float, n: int, at: float) -> float:
    """δ of the pair over all numbers of clones, none grouped, by logarithms of factorials; numbers
    that are rarer than 10⁻³⁰ are left out.
    """
    factorials = np.append(0.0, np.cumsum(np.log(np.arange(1.0, n + 1))))
    clone, truth, total = 2 / (math.exp(epsilon) + 1), 1 / (1 + math.exp(-epsilon)), 0.0
    for c in range(n):
        chance = (
            factorials[n - 1]
            - factorials[c]
            - factorials[n - 1 - c]
            + c * math.log(clone)
            + (n - 1 - c) * math.log1p(-clone)
        )
        if chance > math.log(1e-30):
            half = np.exp(
                chance + factorials[c] - factorials[: c + 1] - factorials[c::-1] - c * math.log(2)
            )
            before, here = np.append(0.0, half), np.append(half, 0.0)
            total += float(
                np.maximum(
                    0.0,
                    truth * before
                    + (1 - truth) * here
                    - math.exp(at) * ((1 - truth) * before + truth * here),
                ).sum()
            )
    return total


def encloses(epsilon: str, n: int, delta: str, *, width: float) -> tuple[float, float]:
    loss = Loss(((ClonePair(Fraction(epsilon), n), 1),))
    low, high = loss.epsilon_lower(delta), loss.epsilon(delta)
    assert brute_force(float(epsilon), n, low) >= float(delta) * (1 - 1e-9)
    assert brute_force(float(epsilon), n, high) <= float(delta) * (1 + 1e-9)
    assert high - low <= width * high
    middle = (low + high) / 2
    truth = brute_force(float(epsilon), n, middle)
    assert loss.delta_lower(middle) <= truth * (1 + 1e-9)
    assert loss.delta(middle) >= truth * (1 - 1e-9)
    return low, high


@pytest.mark.parametrize(
    ("epsilon", "n", "delta", "truth"),
    [
        ("2", 300, "1e-6", None),
        ("2", 600, "1e-6", 0.527728),
        ("2", 1000, "1e-6", 0.397087),
        ("1", 1000, "1e-6", 0.148671),
        ("3", 3000, "1e-6", 0.436176),
        ("4", 2000, "1e-6", None),
        ("1", 10_000, "1e-9", None),
    ],
)
def test_the_bounds_hold_what_all_counts_come_to(
    epsilon: str, n: int, delta: str, truth: float | None
) -> None:
    """The same law served for both bounds, with clones rounded down: the lower one was above the
    truth by up to 0.2 %.
    """
    low, high = encloses(epsilon, n, delta, width=1.2e-4)
    assert truth is None or low - 5e-7 <= truth <= high + 5e-7


def test_grouped_counts_bound_from_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups far wider than are ever made, so that either law alone is off by some per cent."""
    monkeypatch.setattr(shuffle_pair, "_APART", 1e-2)
    laws_of.cache_clear()
    epsilons.cache_clear()
    below, above = clone_laws(2.0, 600)
    assert below is not above
    low, high = encloses("2", 600, "1e-6", width=0.1)
    assert low < 0.527728 * 0.999
    assert high > 0.527728 * 1.001
    laws_of.cache_clear()
    epsilons.cache_clear()


def test_groups_are_few_however_many_reports_there_are() -> None:
    """And the law from below loses less than that from above."""
    for n in (200_000, 10**8):
        below, above = clone_laws(1.0, n)
        assert below.points.loss.size < 1 << 20
        assert float((below.points.p - below.points.q).clip(0).sum()) < float(
            (above.points.p - above.points.q).clip(0).sum()
        )


@pytest.mark.parametrize(
    ("n", "chance"), [(1, 0.5), (10, 0.1), (5000, 0.5), (10**6, 1e-3), (7, 0.99)]
)
def test_binomial(n: int, chance: float) -> None:
    first, masses = binomial(n, chance)
    exact = Fraction(chance)
    for at in {first, first + masses.size // 2, first + masses.size - 1}:
        truth = math.exp(
            math.lgamma(n + 1)
            - math.lgamma(at + 1)
            - math.lgamma(n - at + 1)
            + at * math.log(exact)
            + (n - at) * math.log1p(-chance)
        )
        assert masses[at - first] == pytest.approx(truth, rel=1e-7)
    assert masses.sum() == pytest.approx(1, abs=1e-14)


def test_closed_form_is_refused_beyond_its_theorem() -> None:
    assert closed_form_limit(100_000, "1e-6") == pytest.approx(6.065591186, abs=1e-9)
    with pytest.raises(Refused, match=r"shuffle\.closed"):
        closed_form(7, 100_000, "1e-6")


def exact_losses(epsilon: float, n: int) -> list[arb]:
    """The losses of the pair for every number of clones, from whole counts, in balls."""
    growth = ball(Fraction(epsilon)).exp()
    return [
        ((growth * a + (c + 1 - a)) / (a + growth * (c + 1 - a))).log()
        for c in range(n)
        for a in range(c + 2)
    ]


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1.0, 8.0, 20.0, 36.0, 38.0, 100.0])
def test_losses_lie_within_the_stated_slack(epsilon: float) -> None:
    """Of both signs, against ball arithmetic: computed as log1p of what is near −1, negative losses
    were off by 10⁻¹⁰ at ε = 8, and infinite from 38 on.
    """
    law = clone_laws(epsilon, 6)[1]
    with precision(600):
        exact = exact_losses(epsilon, 6)
        for loss in law.points.loss.tolist():
            assert (
                min(abs(ball(Fraction(loss)) - exact_loss).upper() for exact_loss in exact)
                <= law.slack
            )
    assert law.points.loss == pytest.approx(-law.points.loss[::-1], abs=0)


def test_log1p_near_minus_one_would_not() -> None:
    """The twin: the same formula for both signs."""
    law, lie, truth = clone_laws(20.0, 1)[1], 1 / (1 + math.exp(20)), 1 / (1 + math.exp(-20))
    assert abs(math.log1p((truth - lie) * -1 / truth) + 20) > law.slack


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 20.0])
def test_masses_lie_within_the_stated_error(epsilon: float) -> None:
    """P of every (a, b), by whole numbers and balls: 1 − 2/(e^ε + 1) from a rounded chance would
    cancel for small ε.
    """
    n, law = 40, clone_laws(epsilon, 40)[1]
    with precision(600):
        growth = ball(Fraction(epsilon)).exp()
        clone, truth = 2 / (growth + 1), growth / (growth + 1)
        p: dict[int, arb] = {}
        for c in range(n):
            chance = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c) / 2**c
            for a in range(c + 2):
                before, here = (math.comb(c, k) if 0 <= k <= c else 0 for k in (a - 1, a))
                p[len(p)] = chance * (truth * before + (1 - truth) * here)
        exact = sorted(float(mass.mid()) for mass in p.values())
    masses = sorted(law.points.p.tolist())
    exact = exact[len(exact) - len(masses) :]
    assert all(abs(a - b) <= law.error * b + 1e-36 for a, b in zip(masses, exact, strict=True))


@pytest.mark.parametrize(("epsilon", "n"), [(38, 1), (40, 1), (40, 2), (100, 1), (100, 1000)])
def test_a_large_epsilon_is_answered(epsilon: int, n: int) -> None:
    loss = Loss(((ClonePair(Fraction(epsilon), n), 1),))
    assert loss.delta_lower(1) <= 1 - math.exp(1 - epsilon) <= loss.delta(1) <= 1
    assert loss.epsilon("1e-6") <= epsilon


def test_a_larger_one_is_refused() -> None:
    for epsilon in (101.0, 400.0, 1e300):
        with pytest.raises(Refused, match=r"shuffle\.epsilon"):
            clone_laws(epsilon, 10)[1]


def test_a_binomial_law_of_a_certain_event_is_one_number() -> None:
    for odds in (None, math.inf):
        first, law = binomial(7, 1.0, odds=odds)
        assert (first, law.tolist()) == (7, [1.0])
