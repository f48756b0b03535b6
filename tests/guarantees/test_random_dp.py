"""RandomDP: labelled, and kept apart from differential privacy."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.errors import Refused

LIKELY = sf.RandomDP(sf.Pure(1, relation="replace"), gamma="0.05", over="uniform records")


def test_adds_over_the_same_distribution() -> None:
    assert (
        LIKELY + LIKELY
        == 2 * LIKELY
        == sf.RandomDP(sf.Pure(2, relation="replace"), "0.1", over="uniform records")
    )
    assert LIKELY.gamma * 20 == 1
    assert LIKELY <= 2 * LIKELY
    with pytest.raises(Refused, match=r"guarantee\.random"):
        LIKELY + sf.RandomDP(sf.Pure(1), "0.05", over="normal records")


@pytest.mark.parametrize(
    "guarantee",
    [
        sf.Pure(1),
        sf.Approx(1, "1e-6"),
        sf.GDP(1),
        sf.ZCDP(1),
        sf.Renyi({2: 1}),
        sf.Pure(1) + sf.GDP(1),
    ],
    ids=repr,
)
def test_nothing_else_implies_it_or_follows_from_it(guarantee: sf.Guarantee) -> None:
    assert not guarantee <= LIKELY
    with pytest.raises(Refused, match=r"guarantee\.random"):
        assert sf.Approx(100, "0.9") >= LIKELY
    with pytest.raises(Refused, match=r"guarantee\.random"):
        LIKELY + guarantee
    with pytest.raises(Refused, match=r"guarantee\.random"):
        guarantee + LIKELY


@pytest.mark.parametrize(
    "call",
    [
        lambda: LIKELY.delta(1),
        lambda: LIKELY.epsilon(),
        lambda: LIKELY.renyi(2),
        lambda: LIKELY.tradeoff("0.05"),
        lambda: LIKELY.group(2),
        lambda: LIKELY.to(sf.Approx, delta="1e-6"),
        lambda: LIKELY.to(sf.Pure),
        lambda: LIKELY.subsample("0.1"),
        lambda: sf.RandomDP(LIKELY, "0.1", over="x"),
    ],
)
def test_what_only_dp_has_is_refused(call: object) -> None:
    with pytest.raises(Refused):
        call()


def test_of_two_promises_the_one_for_more_pairs_is_kept() -> None:
    rare, often = (sf.RandomDP(sf.Pure(1), gamma, over="iid rows") for gamma in ("0.01", "0.1"))
    assert rare._meet(often) == often._meet(rare) == rare


def test_the_parameters_are_those_of_the_promise_and_gamma() -> None:
    parameters = sf.RandomDP(sf.Approx(1, "1e-6"), "0.1", over="iid rows").parameters
    assert parameters == {**sf.Approx(1, "1e-6").parameters, "gamma": Fraction(1, 10)}
