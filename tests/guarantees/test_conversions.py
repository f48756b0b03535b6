"""Arrows between notions: each is sound, and a conversion is the best over all chains of them."""

from __future__ import annotations

from itertools import product

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees import Guarantee, Mixed
from sfumato.guarantees.conversions import ARROWS, best_statement

from ..conformance.notions import ALL, ALPHAS, EPSILONS, EXAMPLES
from ..refusing import refusing

TARGETS = (sf.Pure, sf.Approx, sf.ZCDP, sf.GDP, sf.Renyi)


@pytest.mark.parametrize("arrow", ARROWS, ids=lambda r: f"{r.start.__name__}-{r.end.__name__}")
def test_every_arrow_is_sound_and_named(arrow: object) -> None:
    """What an arrow ends at is never a stronger statement than what it starts from."""
    followed = 0
    for a in EXAMPLES[arrow.start.__name__]:
        weaker = arrow.follow(a)
        if weaker is None:
            continue
        followed += 1
        assert isinstance(weaker, arrow.end)
        assert a <= weaker
        for e in EPSILONS:
            assert a.delta(e) <= weaker.delta(e) * (1 + 1e-13)
        for alpha in ALPHAS:
            assert a.tradeoff(alpha) >= weaker.tradeoff(alpha) * (1 - 1e-13)
    assert followed > 0
    assert len(arrow.theorem) > 3


@pytest.mark.parametrize(
    ("a", "notion"), list(product(ALL, TARGETS)), ids=lambda v: getattr(v, "__name__", repr(v)[:50])
)
def test_conversion_is_the_best_over_all_chains_or_refused(
    a: Guarantee, notion: type[Guarantee]
) -> None:
    if best_statement(a, notion) is None:
        with pytest.raises(Refused, match=r"guarantee\.does-not-follow"):
            a.to(notion)
        return
    converted = a.to(notion)
    assert isinstance(converted, notion)
    assert a <= converted
    if not isinstance(a, Mixed):  # no single arrow, followed by the best from there, does better
        for arrow in ARROWS:
            further = arrow.follow(a) if isinstance(a, arrow.start) else None
            if further is not None and arrow.end is not type(a):
                try:
                    assert converted <= further.to(notion)
                except Refused:
                    continue


def test_only_approx_is_asked_for_at_a_delta() -> None:
    for notion in (sf.Pure, sf.ZCDP, sf.GDP, sf.Renyi):
        with refusing("guarantee.delta"):
            sf.ZCDP(1).to(notion, delta="1e-6")


def test_a_delta_at_which_no_epsilon_is_finite_is_refused() -> None:
    promise = sf.Approx(1, "1e-3")
    assert promise.to(sf.Approx, delta="1e-3") == promise
    with refusing("guarantee.does-not-follow"):
        promise.to(sf.Approx, delta="1e-4")
