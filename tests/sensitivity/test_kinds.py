"""Sensitivities as values: norms follow from one another, and only in the safe direction; what is
secret is not shown.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.sensitivity import Global, Inverse, Lipschitz, Local, Smooth

vectors = st.lists(st.fractions(-100, 100, max_denominator=1000), min_size=1, max_size=6).filter(
    any
)


@given(move=vectors, norms=st.sets(st.sampled_from(["l1", "l2_squared", "sup"]), min_size=1))
def test_every_norm_that_follows_is_a_bound(move: list[Fraction], norms: set[str]) -> None:
    """Whatever norms of a move are given, the others are never below the truth, and those given are
    kept.
    """
    sizes = [abs(v) for v in move]
    true = {
        "l1": sum(sizes, Fraction(0)),
        "l2_squared": sum((v * v for v in sizes), Fraction(0)),
        "sup": max(sizes),
    }
    stated: dict[str, Any] = {name: true[name] for name in norms}
    sensitivity = Global(**stated)
    assert sensitivity.moves(1, len(move)) >= true["l1"]
    assert sensitivity.squared(len(move)) >= true["l2_squared"]
    assert sensitivity.moves(2, len(move)) ** 2 >= sensitivity.squared(len(move))
    assert sensitivity.moves("inf", len(move)) >= true["sup"]
    if norms == set(true):
        assert (
            sensitivity.moves(1, len(move)),
            sensitivity.squared(len(move)),
            sensitivity.moves("inf", len(move)),
        ) == tuple(true.values())


def test_one_number_is_the_move_of_any_value() -> None:
    sensitivity = Global("1/10")
    assert sensitivity.value == sensitivity.moves(1) == sensitivity.moves(2) == Fraction(1, 10)
    assert sensitivity.moves(1, 7) == Fraction(7, 10)  # not of all seven together
    assert sensitivity.moves(2, 4) == Fraction(2, 10)
    assert sensitivity == Global(sup="1/10")
    assert repr(sensitivity) == "Global(0.1)"
    assert (
        repr(Global(l1=2, l2_squared=2, sup=1, relation="replace"))
        == "Global(l1=2, l2_squared=2, sup=1, relation='replace')"
    )


def test_a_root_is_exact_where_it_is_rational() -> None:
    assert Global(l2_squared="9/4").moves(2) == Fraction(3, 2)
    assert Global(l2=2).l2_squared == 4
    assert 2 <= Global(l2_squared=2).moves(2) ** 2 <= 2 * (1 + 1e-15)


def test_times_a_public_number() -> None:
    total = Global(l1=2, l2_squared=2, sup=1, relation="add-remove", integer_valued=True)
    mean = total / 10
    assert (mean.l1, mean.l2_squared, mean.sup) == (
        Fraction(1, 5),
        Fraction(1, 50),
        Fraction(1, 10),
    )
    assert mean.relation == "add-remove"
    assert not mean.integer_valued
    assert 3 * Global(2) == Global(6)


def test_per_unit_of_a_metric() -> None:
    slope = Lipschitz(3, metric="kilometres", norm=2)
    assert slope.within("1/2", relation="replace") == Global(l2="3/2", relation="replace")
    assert slope.relation is None


def test_what_is_of_one_dataset_is_not_shown() -> None:
    assert "7" not in repr(Local(Fraction(7)))


def test_smooth_and_inverse_name_their_statistic() -> None:
    assert Smooth("median", 0, 1).public() == {"low": 0, "high": 1, "q": "1/2", "k": 1}
    assert Inverse("mode", categories=("a", "b")).public() == {"categories": ("a", "b")}
    assert Smooth("median", 0, 1).relation == Inverse("count").relation == "replace"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Global(), "sensitivity.norm"),
        (lambda: Global(1, sup=1), "sensitivity.norm"),
        (lambda: Global(l2=1, l2_squared=1), "sensitivity.norm"),
        (lambda: Global(0), "number.not-positive"),
        (lambda: Global(math.inf), "number.not-finite"),
        (lambda: Global(1, relation="near"), "guarantee.relation"),
        (lambda: Global(1).moves(3), "sensitivity.norm"),
        (lambda: Lipschitz(1, metric="d", norm="L7"), "sensitivity.norm"),
        (lambda: Lipschitz(1, metric="d").within(0), "number.not-positive"),
        (lambda: Global(1) / 0, "number.not-positive"),
        (lambda: Global(1) * -1, "number.not-positive"),
    ],
    ids=[
        "nothing",
        "two ways",
        "two squares",
        "zero",
        "infinite",
        "relation",
        "norm",
        "Lipschitz norm",
        "distance",
        "divisor",
        "factor",
    ],
)
def test_refusals(make: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        make()
    assert caught.value.code == code


def test_rounding_is_part_of_what_is_known() -> None:
    """Two that round differently are not equal: noise for the one is not noise for the other."""
    plain, rough = Global("1/10"), Global("1/10", rounding="1/1000")
    assert plain.rounding == 0
    assert plain != rough
    assert (rough * 3).rounding == Fraction(3, 1000)
    assert (rough / 2).rounding == Fraction(1, 2000)
    with pytest.raises(Refused):
        Global(1, rounding=-1)
