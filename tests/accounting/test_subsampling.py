"""Sampled releases: their laws against the laws of the outputs themselves, in both directions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.accounting.loss.loss_families import GaussianLaw, laplace_law, response_law
from sfumato.accounting.loss.loss_laws import reverse
from sfumato.accounting.subsampling import FixedLaw, PoissonLaw
from sfumato.guarantees.finite.divergences import hockey_stick

EPSILONS = ("0", "0.05", "0.2", "0.7")


def response(value: int, epsilon: Fraction) -> list[Fraction]:
    """The law of randomized response, which keeps a bit with odds of about e^ε, as ratios."""
    odds = Fraction(math.exp(float(epsilon)))
    return (
        [odds / (1 + odds), 1 / (1 + odds)] if value == 0 else [1 / (1 + odds), odds / (1 + odds)]
    )


def released(values: tuple[int, ...], size: int, epsilon: Fraction) -> list[Fraction]:
    """A bit of a sample of fixed size, the first of the sample, through randomized response; as one
    mechanism on datasets it is dominated by response.
    """
    samples = list(combinations(values, size))
    laws = [response(sample[0], epsilon) for sample in samples]
    return [sum(law[i] for law in laws) / len(laws) for i in (0, 1)]


@pytest.mark.parametrize(("n", "size"), [(4, 1), (4, 2), (5, 3)])
def test_fixed_size_sampling_is_dominated_in_every_pair(n: int, size: int) -> None:
    epsilon = Fraction(1)
    total = sf.compose([mech.RandomizedResponse(epsilon=1).subsample(size=size, of=n)])
    datasets = [tuple(int(bit) for bit in f"{i:0{n}b}") for i in range(2**n)]
    checked = 0
    for x in datasets:
        for y in datasets:
            if sum(a != b for a, b in zip(x, y, strict=True)) == 1:
                for e in EPSILONS:
                    checked += 1
                    assert hockey_stick(
                        released(x, size, epsilon), released(y, size, epsilon), e, rounding="down"
                    ) <= total.delta(e) * (1 + 1e-12)
    assert checked > 100


def mixed(rate: Fraction, epsilon: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    p, q = response(0, epsilon), response(1, epsilon)
    return [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)], q


@pytest.mark.parametrize("rate", ["1/1000", "1/10", "9/10"])
def test_poisson_sampling_of_one_release_is_exact_in_both_directions(rate: str) -> None:
    from sfumato.accounting.loss.certificate import _delta_bounds

    q = Fraction(rate)
    law = PoissonLaw(response_law(1.0, 2), float(q))
    with_unit, without = mixed(q, Fraction(1))
    for e in (0.0, 0.02, 0.3):
        for oriented, (a, b) in ((law, (with_unit, without)), (reverse(law), (without, with_unit))):
            low, high = _delta_bounds([(oriented, 1)], {"up": e, "down": e}, 0.0, 1 << 14)
            truth = hockey_stick(a, b, Fraction(e))
            assert low <= truth * (1 + 1e-9)
            assert high >= truth * (1 - 1e-9)
            assert high - low <= 1e-6 + 1e-3 * truth


def test_one_direction_alone_does_not_dominate() -> None:
    """Composed, addition may lose more than removal at some ε: a bound from one direction alone
    under-states the loss (and the twin shows that the test can tell).
    """
    from sfumato.accounting.loss.certificate import _delta_bounds

    law = PoissonLaw(laplace_law(2.0, 1.0), 0.5)
    removal, addition = (
        [
            _delta_bounds([(oriented, 2)], {"up": e, "down": e}, 0.0, 1 << 14)
            for e in (0.0, 0.2, 0.5, 0.9)
        ]
        for oriented in (law, reverse(law))
    )
    assert any(r[0] > a[1] for r, a in zip(removal, addition, strict=True))
    total = sf.compose([(mech.Laplace(sensitivity=1, epsilon=2).subsample(0.5), 2)])
    for e, r, a in zip((0.0, 0.2, 0.5, 0.9), removal, addition, strict=True):
        assert total.delta(e) >= max(r[0], a[0])


def test_fixed_law_is_symmetric_and_a_law() -> None:
    for base in (GaussianLaw(0.7), laplace_law(1.3, 1000.0), response_law(1.0, 4, 1e-4)):
        law = FixedLaw(PoissonLaw(base, 0.07))
        edges = np.linspace(-0.3, 0.3, 41)
        p, q = law.cells(edges)
        assert np.allclose(p, q[::-1], rtol=1e-9)
        assert p.sum() + law.atoms.p.sum() + law.only_p == pytest.approx(1, abs=1e-12)
        assert np.allclose(law.atoms.p, law.atoms.q[::-1])


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_the_fixed_size_law_has_the_curve_of_the_theorem(rate: float) -> None:
    """For e^ε ≥ 1, γ·H_t of the base at t = 1 + (e^ε − 1)/γ; for one response H_t = (e^ε₀ − t)₊/(1
    + e^ε₀). Its mass is 1, or no lower bound would hold.
    """
    law = FixedLaw(PoissonLaw(response_law(1.0, 2), rate))
    assert law.atoms.p.sum() == pytest.approx(1.0, abs=1e-14)
    for e in (0.0, 0.002, 0.1):
        t = 1 + math.expm1(e) / rate
        curve = float((law.atoms.p * np.maximum(0.0, -np.expm1(e - law.atoms.loss))).sum())
        assert curve == pytest.approx(rate * max(0.0, math.e - t) / (1 + math.e), abs=1e-14)


def test_sampling_gains_about_the_rate() -> None:
    unsampled, sampled = (
        sf.compose([mech.Laplace(sensitivity=1, epsilon=1)]),
        sf.compose([mech.Laplace(sensitivity=1, epsilon=1).subsample(0.01)]),
    )
    assert sampled.delta(0) == pytest.approx(0.01 * unsampled.delta(0), rel=1e-6)
    assert sampled.epsilon() == pytest.approx(0.01703686323617655, rel=1e-12)
