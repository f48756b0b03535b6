"""Certified bounds against exact arithmetic: the truth is never outside, whatever is composed."""

from __future__ import annotations

import math
import random
import warnings
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.loss import certificate
from sfumato.accounting.loss.certificate import delta_bounds, epsilon_bounds
from sfumato.accounting.loss.loss_families import GaussianLaw, laplace_law, response_law
from sfumato.accounting.loss.loss_lattice import Measure
from sfumato.accounting.subsampling import FixedLaw, PoissonLaw
from sfumato.exact.balls import ball, precision
from sfumato.guarantees.gdp import delta_of_mu

from .exact_losses import BITS, Exact, random_composition

SMALL = 1 << 13


def check(composition: Exact, seed: int, most: int = SMALL) -> float:
    """The truth is inside, at ε of every size and at a δ down to 1e-18; how wide the certificate of
    δ is, relatively.
    """
    rng = random.Random(seed)
    uses = [(pair.law(), count) for pair, count in composition.loss.parts]
    top = sum(count * float(max(law.atoms.loss.max(initial=0.0), 1.0)) for law, count in uses)
    wide = 0.0
    for epsilon in (Fraction(0), Fraction(min(top, 30.0) * rng.random() ** 3)):
        low, high = delta_bounds(uses, epsilon, most)
        with precision(BITS):
            truth = composition.delta(epsilon)
            assert truth <= ball(Fraction(high))
            assert truth >= ball(Fraction(low))
        wide = (high - low) / max(high, 1e-18)
    delta = Fraction(10) ** -rng.randint(1, 18)
    low, high = epsilon_bounds(uses, delta, most)
    with precision(BITS):
        assert math.isinf(high) or composition.delta(Fraction(high)) <= ball(delta)
        assert (
            low == 0
            or (math.isinf(low) and math.isinf(high))
            or composition.delta(Fraction(low)) >= ball(delta)
        )
    return wide


@pytest.mark.parametrize("block", range(2))
def test_random_compositions(block: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing overflows or divides by zero on the way
        widths = [
            check(random_composition(seed), seed) for seed in range(50 * block, 50 * block + 50)
        ]
    assert np.median(widths) < 0.01, "always right would be easy if bounds were wide"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(101))
def test_ten_thousand_random_compositions(block: int) -> None:
    for seed in range(100 + 100 * block, 200 + 100 * block):
        check(random_composition(seed), seed, SMALL if seed % 10 else 1 << 16)


@pytest.mark.parametrize("mutant", ["up", "down", "slack", "off"])
def test_a_certificate_that_lacks_a_term_is_caught(
    mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masses wrong by a millionth in the wrong direction, or cells split or joined without care:
    some composition shows it.
    """
    if mutant in ("up", "down"):
        name, sign = ("upper", -1) if mutant == "up" else ("lower", 1)
        true = getattr(certificate, name)

        def wrong(half: object) -> Measure:
            measure = true(half)
            return Measure(
                measure.numbers,
                measure.mass * (1 + sign * 1e-6),
                measure.infinite,
                measure.error,
                measure.slack,
            )

        monkeypatch.setattr(certificate, name, wrong)
    elif (
        mutant == "slack"
    ):  # the laws as they are, but all nodes moved up or down by a hundred-thousandth
        monkeypatch.setattr(
            certificate.BoundCurve,
            "place",
            lambda self, n: (
                self.plan.offset + self.plan.mesh.h * n + (-1e-5 if self.side == "up" else 1e-5)
            ),
        )
    else:  # the sum from above and below exchanged
        monkeypatch.setattr(
            certificate.BoundCurve,
            "at",
            lambda self, n: self.sum.below(n) if self.side == "up" else self.sum.above(n),
        )
    caught = 0
    for seed in range(25):
        try:
            check(random_composition(seed), seed, 1 << 15)
        except AssertionError:
            caught += 1
        if caught > 2:
            return
    pytest.fail(f"{caught} of 25 compositions show it")


@pytest.mark.parametrize(
    ("mu", "count"), [(1.0, 1), (0.01, 10_000), (0.001, 1_000_000), (0.3, 7), (5.0, 1), (3.0, 4)]
)
@pytest.mark.parametrize("delta", ["0.1", "1e-6", "1e-18"])
def test_gaussian_noise_against_its_closed_form(mu: float, count: int, delta: str) -> None:
    """Not collapsed, as it is in products: the lattice has to find it."""
    low, high = epsilon_bounds([(GaussianLaw(mu), count)], Fraction(delta))
    square = count * Fraction(mu) ** 2
    assert delta_of_mu(square, Fraction(high)) <= Fraction(delta)
    assert low == 0 or delta_of_mu(square, Fraction(low)) * (1 + 2.0**-49) >= Fraction(delta)
    assert high - low <= 2e-4 * high + 1e-9


def test_continuous_laplace_against_closed_forms() -> None:
    """One: δ(ε) = 1 − e^((ε − ε₀)/2). Two of scale 1 at ε = 1: 1 − 5/4·e^(−½)."""
    single, double_delta = laplace_law(1.0, math.inf), 1 - 1.25 * math.exp(-0.5)
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(9, 10)):
        low, high = delta_bounds([(single, 1)], epsilon)
        truth = -math.expm1((float(epsilon) - 1) / 2)
        assert low <= truth * (1 + 1e-15)
        assert high >= truth * (1 - 1e-15)
        assert high - low < 2e-5 * truth
    low, high = delta_bounds([(single, 2)], Fraction(1))
    assert low <= double_delta <= high <= low * (1 + 1e-5)


EXTREMES = {
    "a thousandth": ([(laplace_law(1e-5, math.inf), 1000)], "1e-6"),
    "fifty": ([(response_law(0.5, 2), 1000), (GaussianLaw(0.5), 1)], "1e-6"),
    "ten to the minus eighteen": (
        [(PoissonLaw(GaussianLaw(1.0), 0.01), 100), (laplace_law(0.1, 2.0**20), 10)],
        "1e-18",
    ),
    "a million": ([(laplace_law(1e-3, math.inf), 10**6)], "1e-9"),
    "a million sampled": ([(PoissonLaw(GaussianLaw(0.5), 1e-4), 10**6)], "1e-9"),
    "one huge": ([(response_law(700.0, 2), 1), (GaussianLaw(0.1), 1)], "1e-6"),
    "all huge": ([(GaussianLaw(60.0), 3)], "1e-6"),
    "one tiny": ([(response_law(1e-9, 3), 5), (GaussianLaw(1e-6), 1)], "1e-12"),
    "tiny and huge": (
        [(response_law(1e-6, 2), 1000), (response_law(20.0, 2), 1), (laplace_law(0.3, 5.0), 3)],
        "1e-6",
    ),
    "smallest": ([(laplace_law(0.5, math.inf), 4)], "1e-300"),
    "rate near one": ([(PoissonLaw(laplace_law(1.0, math.inf), 1 - 1e-9), 10)], "1e-6"),
    "fixed size": ([(FixedLaw(PoissonLaw(GaussianLaw(1.0), 0.01)), 500)], "1e-6"),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_end_in_ordered_finite_bounds(name: str) -> None:
    uses, delta = EXTREMES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = epsilon_bounds(uses, Fraction(delta))
        least, most = delta_bounds(uses, Fraction(min(high, 1e4)) / 2)
    assert 0 <= low <= high
    assert 0 <= least <= most <= 1
    assert not math.isnan(high)
    if name not in ("one huge", "all huge", "smallest"):
        assert high < 200
        assert high - low < 0.02 * high + 1e-9


def test_directions_are_told_apart() -> None:
    """Sampled Laplace noise loses more by removal at small δ; the certificate takes the worse, and
    either alone would be caught.
    """
    law = PoissonLaw(laplace_law(2.0, 3.0), 0.2)
    both = delta_bounds([(law, 3)], Fraction(1, 2))
    from sfumato.accounting.loss.loss_laws import reverse

    single = [
        certificate._delta_bounds([(oriented, 3)], {"up": 0.5, "down": 0.5}, 0.0, 1 << 16)
        for oriented in (law, reverse(law))
    ]
    assert max(low for low, _ in single) <= both[1]
    assert abs(single[0][1] - single[1][1]) > 1e-4
    assert both[1] >= max(low for low, _ in single)


def test_memory_is_bounded() -> None:
    """However fine a lattice would have to be, it has at most 2^22 numbers, of which few are
    kept.
    """
    uses = [(PoissonLaw(GaussianLaw(1.0), 1e-4), 10**6)]
    chosen, down, up, _ = certificate._lattice(uses, certificate.at_delta(uses, 1e-9))
    assert chosen.mesh.size <= 1 << 22
    assert all(measure.mass.size <= 1 << 17 for measure, _ in (*down, *up))
