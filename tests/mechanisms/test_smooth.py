"""Noise scaled to the smooth sensitivity: the calibration against the exact divergence, (ε, δ) for
every neighbouring pair, and noise scaled to the local sensitivity, which fails.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.guarantees.finite.channel import Channel
from sfumato.mechanisms.smooth import largest_beta, rounded_laplace
from sfumato.sensitivity import order_statistics
from sfumato.testing import TapeBits
from sfumato.testing.seeded_bits import SeededBits

from ..refusing import refusal
from . import choosing
from .untouchable import Untouchable

pytestmark = pytest.mark.usefixtures("precise")


def cdf(x: arb) -> arb:
    """Of the Laplace law of scale 1."""
    return x.exp() / 2 if x < 0 else 1 - (-x).exp() / 2


def rounded(answer: int, scale: Fraction, first: int, last: int) -> list[arb]:
    """P(⌊answer + scale·L + ½⌋ = y) for y from first to last, then all below and all above."""
    ends = [cdf(ball((Fraction(2 * y - 1, 2) - answer) / scale)) for y in range(first, last + 2)]
    return [*(b - a for a, b in itertools.pairwise(ends)), ends[0], 1 - ends[-1]]


def dilation(factor: arb, half: Fraction) -> arb:
    """The divergence at ε/2 of a Laplace law from one narrower by this factor: where the densities'
    ratio is above e^(ε/2), by the tails.
    """
    t = (ball(half) + factor.log()) / (factor - 1)
    return (-t).exp() - (ball(half) - t * factor).exp()


PARAMETERS = [
    ("1", "1e-6"),
    ("1/10", "1e-9"),
    ("1/100", "1/1000"),
    ("5", "1/100"),
    ("20", "1/2"),
    ("1", "9/10"),
]


@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
def test_beta_is_the_largest(epsilon: str, delta: str) -> None:
    """At β the divergence is at most δ and the narrow law is within e^(ε/2) of the wide one; beyond
    β one of the two is not so.
    """
    e, d = Fraction(epsilon), Fraction(delta)
    beta = largest_beta(e, d)
    assert beta <= e / 2
    assert not dilation(ball(beta).exp(), e / 2) > ball(d)
    more = beta * (1 + Fraction(1, 2**40))
    assert more > e / 2 or dilation(ball(more).exp(), e / 2) > ball(d)


@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
def test_smaller_dilations_diverge_less(epsilon: str, delta: str) -> None:
    half, beta = Fraction(epsilon) / 2, largest_beta(Fraction(epsilon), Fraction(delta))
    divergences = [dilation(ball(beta * k / 50).exp(), half) for k in range(1, 51)]
    assert all(not a > b for a, b in itertools.pairwise(divergences))


@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS)
def test_the_divergence_by_integration(epsilon: str, delta: str) -> None:
    """The closed form against a sum over cells of width 1/200 in doubles, whose error is below 1e-4
    of the whole; both directions.
    """
    e, beta = float(Fraction(epsilon)), float(largest_beta(Fraction(epsilon), Fraction(delta)))
    y = (np.arange(-200_000, 200_000) + 0.5) / 2000
    wide, narrow = (np.exp(-np.abs(y) / s) / (2 * s) for s in (1.0, math.exp(-beta)))
    for p, q, expected in (
        (wide, narrow, float(dilation(ball(Fraction(beta)).exp(), Fraction(epsilon) / 2).mid())),
        (narrow, wide, 0.0),
    ):
        assert np.maximum(p - math.exp(e / 2) * q, 0).sum() / 2000 == pytest.approx(
            expected, rel=1e-3, abs=1e-12
        )


@pytest.mark.parametrize(("epsilon", "delta"), PARAMETERS[:4])
def test_beta_is_above_that_of_the_theorem(epsilon: str, delta: str) -> None:
    """Nissim, Raskhodnikova and Smith's ε/(2·ln(2/δ)) is valid, and 20 % to 60 % smaller."""
    theorem = float(Fraction(epsilon)) / (2 * math.log(2 / float(Fraction(delta))))
    assert theorem < float(largest_beta(Fraction(epsilon), Fraction(delta)))


CASES: dict[str, tuple[str, dict[str, Any], int, int]] = {
    "median": ("median", {}, 5, 4),
    "median of four": ("median", {}, 4, 3),
    "quantile": ("quantile", {"q": "1/4"}, 5, 3),
    "second largest": ("kth-largest", {"k": 2}, 4, 4),
}
"""Statistic, further parameters, number of values, largest value."""


def excess(m: mech.SmoothLaplace, n: int, high: int, scale: Any) -> arb:
    """The largest δ at ε between neighbours, by the exact law of the rounded answer up to 2^-60."""
    reach = 40 + math.ceil(2 * high / m.epsilon * 42)
    laws = {}
    for x in itertools.combinations_with_replacement(range(high + 1), n):
        answer = x[m._rank(n) - 1]
        laws[x] = rounded(answer, scale(x), -reach, reach)
    worst = arb(0)
    for x in laws:
        for y in {
            tuple(sorted((*x[:i], v, *x[i + 1 :]))) for i in range(n) for v in range(high + 1)
        }:
            worst = max(worst, choosing.hockey_stick(laws[x], laws[y], m.epsilon))
    return worst


@pytest.mark.parametrize("name", CASES)
def test_every_pair_of_small_datasets(name: str) -> None:
    statistic, more, n, high = CASES[name]
    m = mech.SmoothLaplace(statistic, low=0, high=high, grid=1, epsilon=2, delta="1/50", **more)
    largest = excess(m, n, high, lambda x: 2 * m.sensitivity(list(x)) / m.epsilon)
    assert not largest > ball(m.delta)
    assert m.promises == (sf.Approx(2, "1/50", relation="replace"),)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1/2", "1/10"), ("1", "1/1000"), ("4", "1/20"), ("8", "1/100")]
)
def test_more_pairs(name: str, epsilon: str, delta: str) -> None:
    statistic, more, n, high = CASES[name]
    m = mech.SmoothLaplace(
        statistic, low=0, high=high + 1, grid=1, epsilon=epsilon, delta=delta, **more
    )
    assert not excess(m, n, high + 1, lambda x: 2 * m.sensitivity(list(x)) / m.epsilon) > ball(
        m.delta
    )


@pytest.mark.parametrize("name", CASES)
def test_half_the_noise_is_caught(name: str) -> None:
    """The twin."""
    statistic, more, n, high = CASES[name]
    m = mech.SmoothLaplace(statistic, low=0, high=high, grid=1, epsilon=2, delta="1/50", **more)
    assert excess(m, n, high, lambda x: m.sensitivity(list(x)) / m.epsilon / 2) > ball(m.delta)


def test_noise_scaled_to_the_local_sensitivity_is_not_private() -> None:
    """S-065: the median of (0, 0, 0, 0, 1) cannot move, that of (0, 0, 0, 1, 1) can move by 1.
    Without noise the first answer is 0 for certain; with real noise the second is anything but 0
    for certain: one look tells the two apart, δ = 1. The smooth sensitivity of the first is not
    0.
    """
    certain, movable = np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1])
    assert order_statistics.local(certain, 3, 0, 1) == 0
    assert order_statistics.local(movable, 3, 0, 1) == 1
    fine = Fraction(1, 2**40)  # the event "the answer is 0", on finer and finer grids
    p, q = Fraction(1), rounded(0, 2 / fine, 0, 0)[0]
    assert ball(p) - ball(1).exp() * q > arb(1) - arb(2) ** -39
    m = mech.SmoothLaplace("median", low=0, high=1, epsilon=1, delta=1e-6)
    small, large = m.sensitivity(certain), m.sensitivity(movable)
    assert 0 < small <= large <= small * Fraction(math.exp(float(m.beta) + 1e-9))


def test_scaling_to_bounds_found_in_the_data_is_not_private() -> None:
    """S-086: noise of scale 2·M(x)/(n·ε), M(x) = max |x|, is none at all for zeros: the answer 0
    tells the datasets apart. The mechanism of a mean has public bounds alone: it clips to them,
    its noise is the same for both, and its law keeps ε.
    """
    zeros, single = (0.0,) * 5, (0.0, 0.0, 0.0, 0.0, 1.0)
    m = mech.Mean(low=0, high=1, epsilon=1, relation="replace", rows=5)
    assert m.noise.variance > 0
    with pytest.raises(sf.Refused):
        mech.Mean(low=0, high=max(zeros), epsilon=1, relation="replace", rows=5)
    draws = {x: m.perturb(x, bits=SeededBits(86)).value for x in (zeros, single)}
    far = m.perturb((*single[:4], 1e9), bits=SeededBits(86)).value
    assert draws[single] - draws[zeros] == pytest.approx(1 / 5, abs=1e-3)
    assert far == draws[single], "clipped to the public bound"
    scaled_to_data = Channel([[1, 0], [0, 1]])  # zeros give 0 for certain, else it has chance 0
    assert scaled_to_data.delta(1) == 1


@pytest.mark.parametrize("n", [1, 2, 7, *range(1480, 1501, 5), 10**5, 10**6])
def test_equal_values_break_nothing(n: int) -> None:
    """A6: S falls to e^(−n/40) here; the mechanism never goes below a least value above 0."""
    m = mech.SmoothLaplace("median", low=0, high=1, epsilon=1, delta=1e-6)
    s = m.sensitivity(np.full(n, 0.5))
    assert s >= m.epsilon * m.grid / 1024
    assert math.isfinite(m.perturb(np.full(n, 0.5)))


def test_smoothness_far_out() -> None:
    """Neighbours among many equal values, some on each side of the least: within e^β of each
    other.
    """
    m = mech.SmoothLaplace("median", low=0, high=1, epsilon=1, delta=1e-6, grid="1/1024")
    sensitivities = [m.sensitivity([0.5] * (801 - k) + [1.0] * k) for k in range(0, 400, 1)]
    assert sensitivities[0] == m.epsilon * m.grid / 1024 < sensitivities[-1]
    assert all(
        a <= b <= a * Fraction(math.exp(float(m.beta) + 1e-9))
        for a, b in itertools.pairwise(sensitivities)
    )


def test_no_values_at_all() -> None:
    m = mech.SmoothLaplace("median", low=0, high=1, epsilon=1, delta=1e-6)
    assert m.sensitivity([]) == 1
    assert math.isfinite(m.perturb([]))


# Draws.


def test_draws_fit_the_law() -> None:
    """False alarms: 1e-6 each, 2 in all. The twin has a scale one fifth larger."""
    sample = [rounded_laplace(0, Fraction(5, 2), mech.smooth.SYSTEM) for _ in range(20_000)]
    place = [z + 10 if -10 <= z <= 10 else 21 if z < 0 else 22 for z in sample]
    truth, twin = (
        [float(p.mid()) for p in rounded(0, s, -10, 10)] for s in (Fraction(5, 2), Fraction(3))
    )
    assert choosing.fit(place, truth) > choosing.FALSE_ALARM
    assert choosing.fit(place, twin) < 1e-9
    m = mech.SmoothLaplace("median", low=0, high=4, grid=1, epsilon=2, delta="1/50")
    x = [0, 1, 1, 3, 4]
    answers = [m.perturb(x) for _ in range(4000)]
    law = [float(p.mid()) for p in rounded(1, 2 * m.sensitivity(x) / m.epsilon, -10, 10)]
    assert (
        choosing.fit([z + 10 if -10 <= z <= 10 else 21 if z < 0 else 22 for z in answers], law)
        > choosing.FALSE_ALARM
    )


def test_words_become_the_law() -> None:
    """The share of words that give less than y is P(Y < y), counted by bisection over all 2^63
    magnitudes of one sign.
    """
    for scale, y in ((Fraction(1), 1), (Fraction(7, 3), 4), (Fraction(1000), 700)):
        low, high = 0, 1 << 63
        while low < high:  # the first magnitude that gives less than y: −ln V falls as V grows
            middle = (low + high) // 2
            low, high = (
                (low, middle)
                if rounded_laplace(0, scale, TapeBits([middle << 1 | 1])) < y
                else (middle + 1, high)
            )
        truth = (-ball((Fraction(2 * y - 1, 2)) / scale)).exp() * 2**63
        assert abs(ball(low) - truth) <= 2


def test_a_word_of_zeros_takes_further_bits() -> None:
    assert rounded_laplace(0, Fraction(1), TapeBits([1, 1 << 63])) > 40


@pytest.mark.parametrize(
    ("statistic", "arguments", "code"),
    [
        ("mean", {}, "statistic.unknown"),
        ("iqr", {}, "statistic.unknown"),
        ("kth-largest", {"k": 0}, "selection.k"),
        ("kth-largest", {"k": True}, "selection.k"),
        ("median", {"low": 1}, "range.ends"),
        ("median", {"epsilon": 0}, "number.not-positive"),
        ("median", {"delta": 0}, "number.not-a-probability"),
        ("median", {"epsilon": 1e-9}, "mechanism.calibration"),
        ("quantile", {"q": 2}, "number.not-a-probability"),
    ],
    ids=str,
)
def test_records_that_are_refused(
    statistic: str, arguments: dict[str, Any], code: str, no_entropy: None
) -> None:
    refusal(
        lambda: mech.SmoothLaplace(
            statistic, **({"low": 0, "high": 1, "epsilon": 1, "delta": 1e-6} | arguments)
        ),
        code,
    )


def test_values_that_are_refused() -> None:
    m = mech.SmoothLaplace("median", low=0, high=1, epsilon=1, delta=1e-6)
    refused = refusal(
        lambda: m.perturb([math.nan, 98765.5], bits=Untouchable()), "value.not-finite"
    )
    assert "98765" not in str(refused)


def test_a_record_shows_public_things_only() -> None:
    m = mech.SmoothLaplace("kth-largest", k=3, low=0, high=1, epsilon=1, delta=1e-6)
    assert repr(m) == (
        "SmoothLaplace(statistic='kth-largest', epsilon=1, delta=1e-06, k=3, low=0, "
        "high=1, grid=9.5367431640625e-07, relation='replace')"
    )
    assert m != mech.SmoothLaplace("kth-largest", k=3, low=0, high=2, epsilon=1, delta=1e-6)
