"""Named conversions of one Rényi divergence."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.accounting.renyi_conversion import classic, event_bound, improved
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.finite.divergences import hockey_stick, renyi

from ..refusing import refusing

weights = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(
    lambda w: tuple(Fraction(x, sum(w)) for x in w)
)


@given(
    weights,
    weights,
    st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(8)]),
    st.sampled_from(["0.001", "0.05", "0.4"]),
)
def test_both_hold_of_exact_laws_and_the_improved_is_better(
    p: tuple[Fraction, ...], q: tuple[Fraction, ...], order: Fraction, delta: str
) -> None:
    r = Fraction(renyi(p, q, order, rounding="up"))
    for theorem in (classic, improved):
        assert hockey_stick(
            p, q, theorem(order, r, delta).parameters["epsilon"], rounding="up"
        ) <= float(delta)
    assert improved(order, r, delta) <= classic(order, r, delta)
    assert (
        improved(order, r, delta).parameters["epsilon"]
        == Fraction(sf.Renyi({order: r}).epsilon(delta))
        or sf.Renyi({order: r}).epsilon(delta) == 0
    )
    for a, b in zip(p, q, strict=True):
        assert float(a) <= event_bound(order, r, delta, b)


def test_E_08_the_larger_of_the_two_not_the_smaller() -> None:
    """The proposition as printed, P(B) ≤ min{…, δ}, says that an honest coin answers "yes" to a
    true "yes" one time in a hundred.
    """
    coin = Channel.coin_toss()
    p, q = coin.row("yes"), coin.row("no")
    order, delta = Fraction(2), Fraction(1, 100)
    divergence = Fraction(renyi(p, q, order, rounding="up"))
    assert math.isclose(divergence, math.log(7 / 3))
    right = event_bound(order, divergence, delta, q[0])
    printed = min(math.exp(float(divergence)) / float(delta) * float(q[0]), float(delta))
    assert p[0] == Fraction(3, 4) <= right == pytest.approx(175 / 3)
    assert not p[0] <= printed
    assert printed == 0.01


def test_refusals() -> None:
    for order in ("0.5", 1):
        with refusing("guarantee.order"):
            classic(order, "0.1", "1e-6")
    with refusing("number.not-a-probability"):
        improved(2, "0.1", 0)
