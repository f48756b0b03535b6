"""Sums of different notions: evaluated together, never below the truth, never worse than any single
way.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import sfumato as sf

from .laws import delta_of_responses


@pytest.mark.parametrize("e", ["0.01", "0.3", "1"])
def test_never_below_a_true_pair(e: str) -> None:
    """Gaussian μ = 1 beside one randomized response: the exact curve is a mixture of two shifted
    Gaussian curves.
    """
    total = sf.Pure(e) + sf.GDP(1)
    loss, p = float(Fraction(e)), 1 / (1 + math.exp(-float(Fraction(e))))
    for at in (0.0, 0.5, 1.0, 3.0):
        true = p * _gaussian(at - loss) + (1 - p) * _gaussian(at + loss)
        assert true <= total.delta(at) * (1 + 1e-9)
        assert (
            total.delta(at) <= min(sf.GDP(1).delta(max(0.0, at - loss)), 1.0) * (1 + 1e-9)
            or at < loss
        )


def _gaussian(at: float) -> float:
    """The hockey-stick divergence of N(1, 1) and N(0, 1) at any real `at`, below 0 too."""

    def cdf(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    return cdf(0.5 - at) - math.exp(at) * cdf(-0.5 - at)


def test_is_as_good_as_the_best_single_notion() -> None:
    total = sf.Pure("0.1") + sf.GDP("0.5") + sf.ZCDP("0.01")
    for notion in (sf.ZCDP, sf.Renyi):
        assert total.epsilon("1e-6") <= total.to(notion).epsilon("1e-6") * (1 + 1e-12)
    assert total.delta(2) <= total.to(sf.ZCDP).delta(2)


def test_pure_and_approximate_parts_compose_basically_too() -> None:
    total = sf.Pure(1) + sf.Approx(1, "1e-6")
    assert total.epsilon("1e-6") == 2.0
    assert math.isinf(total.epsilon("1e-7"))
    assert total <= sf.Approx(2, "1e-6")
    assert delta_of_responses(Fraction(1), 2, Fraction(0), Fraction(1)) <= total.delta(1)


def test_parts_are_shared_out_in_comparisons() -> None:
    budget = sf.Pure(1) + sf.GDP(1)
    assert sf.Pure(1) <= budget
    assert sf.GDP("0.9") + sf.Pure("0.5") <= budget
    assert not sf.Pure(2) <= budget
    assert sf.ZCDP("0.1") + sf.Pure(1) <= sf.Pure(1) + sf.ZCDP("0.1")


def test_renyi_bounds_add() -> None:
    assert (sf.Pure(1) + sf.GDP(1)).renyi(4) == pytest.approx(sf.Pure(1).renyi(4) + 2.0, rel=1e-14)
    assert math.isinf((sf.Approx(1, "1e-6") + sf.GDP(1)).renyi(4))


def test_of_two_promises_the_one_that_implies_the_other_is_kept() -> None:
    less, more = (sf.Pure(n) + sf.ZCDP(n) for n in (1, 2))
    assert less._meet(more) == more._meet(less) == less
