"""Unary encoding, symmetric and optimised: its bits, its odds, its error."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.local import Unary
from sfumato.local.lib.dyadic_probability import ONE
from sfumato.testing import SeededBits

from . import simulated


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_probabilities_as_published(epsilon: float) -> None:
    e = math.exp(epsilon)
    optimised, symmetric = (
        Unary(epsilon=epsilon, categories="abc"),
        Unary(epsilon=epsilon, categories="abc", symmetric=True),
    )
    assert (float(optimised.true_support), float(optimised.false_support)) == pytest.approx(
        (0.5, 1 / (e + 1)), abs=1e-15
    )
    root = math.exp(epsilon / 2)
    assert (float(symmetric.true_support), float(symmetric.false_support)) == pytest.approx(
        (root / (root + 1), 1 / (root + 1)), abs=1e-15
    )
    assert symmetric.true_support + symmetric.false_support == 1
    assert optimised.variance(1, target="data") == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-12)
    assert symmetric.variance(1, target="data") == pytest.approx(root / (root - 1) ** 2, rel=1e-12)


@pytest.mark.parametrize("symmetric", [False, True])
def test_one_step_less_rounding_would_break_the_promise(symmetric: bool) -> None:
    """The integers are the last ones on the safe side."""
    oracle = Unary(epsilon=1, categories="abc", symmetric=symmetric)
    p, q = (oracle.p + 1, oracle.q - 1) if symmetric else (oracle.p, oracle.q - 1)
    assert math.log(Fraction(p * (ONE - q), q * (ONE - p))) >= 1 - 1e-15
    from sfumato.exact.balls import ball, below
    from sfumato.local.unary import bit_odds

    assert not below(lambda: ball(bit_odds(p, q)), lambda: ball(1).exp())


def test_reports_are_bits() -> None:
    oracle = Unary(epsilon=1, categories=range(11))
    reports = oracle.perturb(np.arange(11), bits=SeededBits(2))
    assert reports.payload.shape == (11, 2)
    assert (reports.payload[:, 1] & 0b11111 == 0).all()
    counts = np.unpackbits(reports.payload, axis=1, count=11).sum(axis=0)
    assert oracle.aggregate(reports).counts.tolist() == counts.tolist()


@pytest.mark.parametrize("symmetric", [False, True])
def test_simulated(symmetric: bool) -> None:
    simulated.check(lambda run: Unary(epsilon=1, categories=range(10), symmetric=symmetric))
