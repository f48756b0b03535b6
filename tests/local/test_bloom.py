"""Frequencies from Bloom filters: unbiased for the very hash functions at hand, with the variance
that arithmetic gives.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import BloomEstimate, Rappor
from sfumato.local.bloom import _fit, second_moments, worst_variance
from sfumato.testing import SeededBits

from . import simulated
from .laws import law_of

SMALL = Rappor(f="1/2", p="1/4", q="3/4", categories=["a", "b", "c"], hashes=2, size=4, cohorts=2)
MANY = Rappor(f="1/4", p=0, q=1, categories=range(8), hashes=2, size=16, cohorts=4)


def scores(oracle: Rappor, payload: bytes) -> np.ndarray:
    """The estimate from one report."""
    return oracle.estimate([oracle.perturb(oracle.categories[0])[0][:4] + payload]).frequencies


def test_unbiased_and_of_the_stated_variance_by_arithmetic() -> None:
    """Over the client's exact law, for each value: the mean of the score is 1 for the own value and
    0 for others, its square has the stated mean.
    """
    moments = second_moments(SMALL)
    for code in range(3):
        law = law_of(SMALL.question, code)
        each = np.array([scores(SMALL, payload) for payload in law])
        chances = np.array([float(chance) for chance in law.values()])
        assert chances @ each == pytest.approx([float(v == code) for v in range(3)], abs=1e-12)
        assert chances @ each**2 == pytest.approx(moments[:, code], rel=1e-12)
    assert worst_variance(SMALL, 10, "data") == pytest.approx(
        (moments - np.eye(3)).max() / 10, rel=1e-12
    )
    grid = [(i / 40, j / 40, 1 - (i + j) / 40) for i in range(41) for j in range(41 - i)]
    worst = max((moments @ np.array(f) - np.array(f) ** 2).max() for f in grid)
    assert 0.999 * SMALL.variance(10) <= worst / 10 <= SMALL.variance(10)
    assert SMALL.variance(10, target="data") <= SMALL.variance(10)


def test_lies_and_total_errors_by_enumeration() -> None:
    """Over all 2·16 reports of the small oracle: the extreme scores are those of `influence`; the
    total error is that of the moments, for either target.
    """
    every = np.array(
        [scores(SMALL, bytes([cohort, bits << 4])) for cohort in range(2) for bits in range(16)]
    )
    assert SMALL.influence(3, 100) == pytest.approx(
        (0.03 * every.min(), 0.03 * every.max()), rel=1e-9
    )
    shares = np.array([0.5, 0.25, 0.25])
    moments = second_moments(SMALL) @ shares
    assert SMALL.mse(["1/2", "1/4", "1/4"], 10) == pytest.approx(
        (moments - shares**2).sum() / 10, rel=1e-12
    )
    assert SMALL.mse(["1/2", "1/4", "1/4"], 10, target="data") == pytest.approx(
        (moments - shares).sum() / 10, rel=1e-12
    )


def test_the_fit_is_a_left_inverse() -> None:
    design, weights = _fit(MANY)
    assert weights.reshape(8, -1) @ design.reshape(-1, 8) == pytest.approx(np.eye(8), abs=1e-12)


def test_simulated() -> None:
    """Seeded: 300 surveys, the mean of their squared errors within 3 standard errors of Σ_u
    f_u·E[score²|u] − Σf² over n; a formula wrong by a third is not.
    """
    n, runs = 1000, 300
    deviations, total = simulated.errors(lambda run: MANY, n, runs)
    true = np.bincount(simulated.people(n, 8), minlength=8) / n
    exact = ((second_moments(MANY) - np.eye(8)) @ true).sum() / n
    standard = total.std(ddof=1) / runs**0.5
    assert abs(total.mean() - exact) < 3 * standard
    assert abs(total.mean() - 4 / 3 * exact) > 3 * standard
    assert (np.abs(deviations.mean(axis=0)) < 5 * deviations.std(axis=0) / runs**0.5).all()


def test_intervals() -> None:
    """All 99.9 % Bernstein intervals of 100 surveys hold together: a miss of 800 would be one in
    ten thousand each, and the bits are seeded.
    """
    bits, values = SeededBits(9), simulated.people(1000, 8)
    true = np.bincount(values, minlength=8) / 1000
    for _ in range(100):
        e = MANY.estimate(MANY.perturb(values, bits=bits))
        assert isinstance(e, BloomEstimate)
        ends = e.interval("0.9999")
        assert ((ends[:, 0] <= true) & (true <= ends[:, 1])).all()
    assert (e.interval(0.95, simultaneous=True)[:, 1] >= e.interval(0.95)[:, 1]).all()
    assert (e.interval(0.95, method="normal")[:, 1] <= e.interval(0.95)[:, 1]).all()
    assert e.consistent().sum() == pytest.approx(1)
    assert e[3] == e.frequencies[3]
    assert e.record()["reports"] == 1000
    with pytest.raises(Refused):
        e.interval(0.95, method="exact")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(Refused):
        e.consistent("other")  # type: ignore[arg-type]  # on purpose


def test_values_that_share_all_their_bits_are_refused() -> None:
    crowded = Rappor(f="1/2", categories=range(20), hashes=1, size=4, cohorts=2)
    with pytest.raises(Refused) as refused:
        crowded.estimate(crowded.perturb([1, 2, 3]))
    assert refused.value.code == "local.bloom"
    assert crowded.odds > Fraction(1)
