"""Numbers nobody would use: every call ends soon, with a value or with a refusal, never in another
exception.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting import advanced, optimal, optimal_curve
from sfumato.guarantees import Guarantee
from sfumato.guarantees.finite.channel import Channel

ODD = sf.ZCDP("0.1") + sf.Renyi({"3.14159": "0.1"})

CALLS: dict[str, Callable[[], Any]] = {
    "group of a thousand": lambda: sf.Approx(1, "1e-9").group(1000),
    "group beyond doubles": lambda: sf.Approx(1000, "1e-9").group(2),
    "advanced at a large ε": lambda: advanced(1000, 10, "0.1"),
    "advanced, endlessly": lambda: advanced("0.1", 10**400, "0.1"),
    "sampling a large μ": lambda: sf.GDP("1e200").subsample("0.3"),
    "sampling hardly anyone": lambda: sf.GDP(1).subsample(Fraction(1, 10**60)),
    "the largest ε": lambda: sf.Pure(Fraction(2**1024 - 1)).to(sf.ZCDP),
    "a curve at a large ε": lambda: sf.Pure("1e308").to(sf.Renyi),
    "no common order": lambda: ODD.delta(1),
    "no common order, compared": lambda: sf.Renyi({2: 1}) >= ODD,
    "ε of a large ρ": lambda: sf.ZCDP("1e308").epsilon("1e-6"),
    "ε of a large μ": lambda: sf.GDP("1e150").epsilon("1e-6"),
    "ε at no δ": lambda: sf.GDP("1e5").epsilon("1e-399"),
    "δ at a large ε": lambda: sf.GDP(1).delta("1e40"),
    "δ beyond doubles": lambda: sf.ZCDP("1e6").delta("1e399"),
    "δ of a small ρ": lambda: sf.ZCDP("1e-300").delta("1e300"),
    "a large order": lambda: sf.Renyi({"1e399": 1}),
    "an order next to 1": lambda: sf.Renyi({1 + Fraction(1, 10**300): 1}),
    "very many times": lambda: 10**5000 * sf.Approx(1, "1e-6"),
    "a group of fewer than none": lambda: sf.Pure(1).group(-(10**5000)),
    "a long negative": lambda: sf.Pure(1).delta(-(10**5000)),
    "nested text": lambda: Guarantee.from_json("[" * 100_000),
    "long text": lambda: Guarantee.from_json("1" * 5000),
    "a notion that is a list": lambda: Guarantee.from_json(
        '{"sfumato": "guarantee", "version": 1, "notion": []}'
    ),
    "no parts": lambda: Guarantee.from_json(
        '{"sfumato": "guarantee", "version": 1, "notion": "Together", "parts": []}'
    ),
    "what no one learns": lambda: sf.Pure("1e-99").meaning(),
    "what everyone learns": lambda: sf.Approx("1e308", "1e-9").meaning(),
    "a small ρ in words": lambda: sf.ZCDP("1e-300").meaning(),
    "a response that tells all": lambda: Channel.randomized_response(epsilon="1e9"),
    "a billion steps": lambda: optimal("1e-6", 10**9, delta="1e-6"),
    "two million unequal steps": lambda: optimal_curve(
        [(sf.Pure("0.1"), 10**6), (sf.Pure("0.0337"), 10**6)]
    ).epsilon("1e-6"),
    "steps of every size": lambda: optimal_curve(
        [(sf.Pure("1e-300"), 100), (sf.Pure("1e300"), 200)]
    ).epsilon("1e-6"),
}


@pytest.mark.parametrize("name", CALLS)
def test_ends_in_a_value_or_a_refusal(name: str) -> None:
    try:
        CALLS[name]()
    except sf.Refused as refusal:
        message = str(refusal)
        assert len(message) < 1000


def test_what_is_reported_can_be_typed_in_again() -> None:
    """A float is read by its shortest text, so that text must not lie below the truth either."""
    for i in range(1, 150):
        for g in (sf.GDP(Fraction(i, 97)), sf.Pure(Fraction(i, 97)), sf.ZCDP(Fraction(i, 97))):
            assert g <= sf.Approx("0.01", g.delta("0.01"))
            assert g <= sf.Approx(g.epsilon("0.001"), "0.001")


def test_many_different_promises_stay_short_enough_to_store() -> None:
    total = sum(
        sf.mechanisms.Gaussian(sensitivity=1, epsilon=Fraction(100 + i, 1000), delta="1e-6").promise
        for i in range(1, 60)
    )
    assert Guarantee.from_json(total.to_json()) == total
    assert len(total.to_json()) < 5000


def test_a_bound_at_a_larger_order_holds_at_smaller_ones() -> None:
    assert sf.Renyi({2: 1, 4: "0.1"}) == sf.Renyi({2: "0.1", 4: "0.1"})


def test_large_curves_are_compared_soon() -> None:
    curve = sf.Renyi({2 + Fraction(i, 1000): Fraction(i + 1, 7) for i in range(3000)})
    assert curve <= curve
    with pytest.raises(sf.Refused, match=r"guarantee\.order"):
        sf.Renyi({2 + Fraction(i, 1000): 1 for i in range(5000)})
