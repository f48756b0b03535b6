"""B12, rounding in the accounting: an (ε, δ) computed to the nearest double is a little too small
half of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

import sfumato as sf
from sfumato.mechanisms import Gaussian

from .tables import table

CASES = [
    ("1", "1e-6"),
    ("0.1", "1e-9"),
    ("3", "1e-5"),
    ("0.01", "1e-12"),
    ("0.7", "1/3000000"),
    ("10", "1e-7"),
]


@pytest.fixture(autouse=True)
def two_hundred_bits() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


def ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def true_delta(epsilon: Fraction, mu: arb) -> arb:
    """Of Gaussian noise with distance/σ = μ (Balle & Wang 2018)."""

    def below(x: arb) -> arb:
        return (-x / arb(2).sqrt()).erfc() / 2

    e = ball(epsilon)
    return below(mu / 2 - e / mu) - e.exp() * below(-mu / 2 - e / mu)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_attack_B12_what_is_stated_is_true_at_200_bits(epsilon: str, delta: str) -> None:
    """The plan has many pieces and therefore uses Gaussian noise. Their total is compared with the
    point that the ledger charges.
    """
    with table({"x": [1.0], "k": ["a"]}, budget=sf.Approx(100, "1e-3")) as protected:
        requested = {f"n{i}": sf.count_if(sf.col("x") > i) for i in range(40)}
        plan = (
            protected.group_by(k=["a", "b"])
            .aggregate(**requested)
            .plan(promise=sf.Approx(epsilon, delta))
        )
    parts = plan.mechanism.parts
    assert all(isinstance(part, Gaussian) for part in parts)
    mu = ball(
        sum(
            (Fraction(part.sensitivity) ** 2 / Fraction(part.sigma) ** 2 for part in parts),
            Fraction(0),
        )
    ).sqrt()
    stated = plan.cost.parameters
    assert true_delta(stated["epsilon"], mu) <= ball(stated["delta"])
    assert stated["epsilon"] <= Fraction(epsilon)
    assert stated["delta"] <= Fraction(delta)
    assert true_delta(stated["epsilon"], mu * ball(Fraction(1001, 1000))) > ball(
        stated["delta"]
    )  # the twin: noise smaller by one part in a thousand


def test_attack_B12_tenths_add_up_to_one_and_not_a_bit_more() -> None:
    assert sum([0.1] * 10) != 1.0
    with table({"x": [1.0]}, budget=sf.Pure(1)) as protected:
        for _ in range(10):
            protected.aggregate(n=sf.count()).release(epsilon=0.1, fresh=True)
        assert protected.spent.parameters["epsilon"] == 1
        with pytest.raises(sf.Refused):
            protected.aggregate(n=sf.count()).release(epsilon="1e-9", fresh=True)
