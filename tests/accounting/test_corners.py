"""Corners that random compositions do not reach, against arithmetic that shares nothing with the
lattice: binomial tails by incomplete beta functions and normal tails by error functions, in balls
of 256 bits. Very many uses, tiny and huge ε, rates near 0 and 1, infinite losses, both
directions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb

from sfumato.accounting.loss.loss_pairs import DominatingPair, GaussianPair
from sfumato.accounting.loss.pairs_finite import FinitePair, ResponsePair
from sfumato.accounting.loss.pairs_sampled import SampledPair
from sfumato.accounting.loss.privacy_loss import Loss
from sfumato.exact.balls import ball, normal_cdf, precision

F = Fraction
BITS = 256
NEAR, ZERO = F(1, 10**20), F(0)
Truth = Callable[[Fraction, bool], arb]


def at_least(k: int, p: arb, m: int) -> arb:
    """P(Bin(k, p) ≥ m)."""
    return (
        arb(1)
        if m <= 0
        else arb(0)
        if m > k
        else p.beta_lower(arb(m), arb(k - m + 1), regularized=True)
    )


def coins(k: int, p: arb, q: arb, epsilon: arb) -> arb:
    """δ of k coins with chance p against q: more heads than m, or fewer."""
    up, down = (p / q).log(), ((1 - p) / (1 - q)).log()
    m = int(((epsilon - k * down) / (up - down)).mid().floor().unique_fmpz())
    if up > down:
        return at_least(k, p, m + 1) - epsilon.exp() * at_least(k, q, m + 1)
    return 1 - at_least(k, p, m + 1) - epsilon.exp() * (1 - at_least(k, q, m + 1))


def response(
    epsilon: Fraction, k: int, delta: Fraction = ZERO
) -> tuple[DominatingPair, int, Truth]:
    def truth(at: Fraction, _: bool) -> arb:
        p, unleaked = 1 / (1 + ball(-epsilon).exp()), ball(1 - delta) ** k
        return 1 - unleaked + unleaked * coins(k, p, 1 - p, ball(at))

    return ResponsePair(epsilon, delta), k, truth


def coin(p: Fraction, q: Fraction, k: int) -> tuple[DominatingPair, int, Truth]:
    def truth(at: Fraction, swap: bool) -> arb:
        return coins(k, ball(q if swap else p), ball(p if swap else q), ball(at))

    return FinitePair((p, 1 - p), (q, 1 - q)), k, truth


def sampled_response(
    epsilon: Fraction, rate: Fraction, k: int
) -> tuple[DominatingPair, int, Truth]:
    def truth(at: Fraction, swap: bool) -> arb:
        t = 1 / (1 + ball(-epsilon).exp())
        p, q = ball(1 - rate) * (1 - t) + ball(rate) * t, 1 - t
        return coins(k, q, p, ball(at)) if swap else coins(k, p, q, ball(at))

    return SampledPair(ResponsePair(epsilon), rate), k, truth


def sampled_gaussian(mu: Fraction, rate: Fraction) -> tuple[DominatingPair, int, Truth]:
    """One use: ((1 − q)Q + qP − tQ)₊ = q·(P − sQ)₊ and (Q − t((1 − q)Q + qP))₊ = a·(Q − sP)₊."""

    def normal(m: arb, s: arb) -> arb:
        x = s.log()
        return normal_cdf(m / 2 - x / m) - s * normal_cdf(-m / 2 - x / m)

    def truth(at: Fraction, swap: bool) -> arb:
        r, m, t = ball(rate), ball(mu), ball(at).exp()
        if not swap:
            return r * normal(m, (t - (1 - r)) / r)
        a = 1 - t * (1 - r)
        return a * normal(m, t * r / a) if a > 0 else arb(0)

    return SampledPair(GaussianPair(mu**2), rate), 1, truth


CORNERS: dict[str, tuple[DominatingPair, int, Truth]] = {
    "a thousandth, a million times": response(F(1, 1000), 10**6),
    "a millionth, a million times": response(F(1, 10**6), 10**6),
    "fifty": response(F(50), 3),
    "many that may tell all": response(F(1, 10), 1000, F(1, 10**7)),
    "few that may tell all": response(F(30), 2, F(1, 10**12)),
    "nearly fair coins, a million": coin(F(1, 2), F(499, 1000), 10**6),
    "rare heads": coin(F(1, 10**6), F(1, 10**7), 10**4),
    "rare tails": coin(F(999, 1000), F(998, 1000), 1000),
    "one in a million, a million times": sampled_response(F(1), F(1, 10**6), 10**6),
    "one in a million, large losses": sampled_response(F(20), F(1, 10**6), 10**4),
    "nearly everyone": sampled_response(F(1), F(999, 1000), 100),
    "nearly everyone, hardly anything": sampled_response(F(1, 1000), F(999, 1000), 1000),
    "nearly everyone, everything": sampled_response(F(50), F(999, 1000), 2),
    "one of a million and normal noise": sampled_gaussian(F(1), F(1, 10**6)),
    "one of a million and little noise": sampled_gaussian(F(3), F(1, 10**6)),
    "normal noise for nearly everyone": sampled_gaussian(F(1), F(999, 1000)),
    "hardly any noise": sampled_gaussian(F(10), F(1, 2)),
}
LOOSE = {"rare heads": 0.75, "one in a million, large losses": 0.75}
"""A known weakness, not a property of these laws: where a few rare, large jumps decide, the
interval is right and far too wide (15.4 within 9.2 … 31.7).
"""


@pytest.mark.parametrize("name", CORNERS)
def test_the_truth_is_inside(name: str) -> None:
    pair, count, truth = CORNERS[name]
    loss = Loss(((pair, count),), relation=None if pair.symmetric else "add-remove")

    def worse(at: Fraction) -> arb:
        return (
            truth(at, False).max(arb(0))
            if pair.symmetric
            else truth(at, False).max(truth(at, True)).max(arb(0))
        )

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epsilon in (NEAR, F(1, 1000) + NEAR, F(1) + NEAR, F(20) + NEAR):
            low, high = loss.delta_lower(epsilon), loss.delta(epsilon)
            with precision(BITS):
                assert ball(F(low)) <= worse(epsilon) <= ball(F(high))
        for delta in (F(1, 10), F(1, 10**6), F(1, 10**12), F(1, 10**18)):
            low, high = loss.epsilon_lower(delta), loss.epsilon(delta)
            with precision(BITS):
                assert math.isinf(high) or worse(F(high)) <= ball(delta)
                assert (
                    low == 0
                    or (math.isinf(low) and math.isinf(high))
                    or worse(F(low)) >= ball(delta)
                )
            assert math.isinf(low) or high - low <= LOOSE.get(name, 1e-3) * high + 1e-12, (
                "always right would be easy if bounds were wide"
            )


@pytest.mark.parametrize(
    "pair",
    [
        (ResponsePair(F(1, 1000)), 10**6),
        (GaussianPair(F(1)), 1),
        (SampledPair(GaussianPair(F(1)), F(1, 2)), 1),
    ],
    ids=str,
)
def test_what_leaves_the_doubles_is_not_nothing(pair: tuple[DominatingPair, int]) -> None:
    """δ is below 10^−1000 here: zero would be an understatement from above, and anything else an
    overstatement from below.
    """
    loss = Loss((pair,), relation=None if pair[0].symmetric else "add-remove")
    assert loss.delta_lower(210) == 0 < loss.delta(210)


def test_a_sampled_loss_is_known_where_it_was_cut_before() -> None:
    """δ at an ε that the first guess at δ leaves out of the law: the guess is lowered until it does
    not matter, and δ falls steadily.
    """
    loss = Loss(((SampledPair(GaussianPair(F(1)), F(1, 100)), 2),), relation="add-remove")
    bounds = [(loss.delta_lower(F(i, 50)), loss.delta(F(i, 50))) for i in range(50, 100, 3)]
    assert all(high <= 1.001 * low for low, high in bounds)
    assert all(later[0] < earlier[1] for earlier, later in pairwise(bounds))


def test_noise_that_hides_nothing_ends_soon_and_in_bounds() -> None:
    """μ = 10^100: no table of the law would fit any memory."""
    loss = Loss(((SampledPair(GaussianPair(F(10) ** 200), F(3, 10)), 2),), relation="add-remove")
    assert loss.delta_lower(1) <= 0.51 <= loss.delta(1) <= 1
    assert loss.epsilon("1e-6") == math.inf
