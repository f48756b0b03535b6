"""Plans: diffpriv's numbers are reproduced, the sharper plan is right by counting, and one step
sharper is wrong.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw

from sfumato.errors import Refused
from sfumato.sensitivity.sampling_plan import lower_lambert, plan


def exceeds(m: int, k: int, law: dict[int, Fraction]) -> Fraction:
    """P(a new draw exceeds the k-th smallest of m), by enumeration of the law."""
    total = Fraction(0)
    for *sample, new in itertools.product(law, repeat=m + 1):
        if new > sorted(sample)[k - 1]:
            total += math.prod((law[v] for v in (*sample, new)), start=Fraction(1))
    return total


LAWS = {
    "constant": {1: Fraction(1)},
    "coin": {0: Fraction(1, 2), 1: Fraction(1, 2)},
    "rare": {0: Fraction(19, 20), 1: Fraction(1, 20)},
    "three": {0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)},
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("m", [1, 2, 4])
def test_no_law_exceeds_gamma(law: str, m: int) -> None:
    for k in range(1, m + 1):
        assert exceeds(m, k, LAWS[law]) <= plan(m=m, k=k).gamma


@pytest.mark.parametrize("m", [1, 3, 6])
def test_without_ties_gamma_is_attained(m: int) -> None:
    """Any order of m + 1 different moves is as likely as any other: a share 1 − k/(m + 1) of the
    orders puts the last above the k-th of the others. So a smaller k would break the promise: the
    plan cannot be sharper.
    """

    def share(k: int) -> Fraction:
        orders = list(itertools.permutations(range(m + 1)))
        return Fraction(sum(order[-1] > sorted(order[:-1])[k - 1] for order in orders), len(orders))

    for k in range(1, m + 1):
        assert share(k) == plan(m=m, k=k).gamma
        if k > 1:
            assert share(k - 1) > plan(m=m, k=k).gamma  # the twin


@pytest.mark.parametrize(
    ("arguments", "m", "k", "gamma", "rho", "least"),
    [
        ({"m": 500, "gamma": 0.2}, 500, 439, 0.2, 0.0071093123100830075, 0.07743960280679663),
        ({"gamma": 0.1}, 285, 285, 0.1, 0.00974461166524198, 0.09988135764734754),
        ({"gamma": 0.05}, 1305, 1305, 0.05, 0.004182869932698051, 0.04999088877792118),
        ({"m": 500}, 500, 500, 0.07743960280679663, 0.0071093123100830075, 0.07743960280679663),
    ],
    ids=["both", "gamma=.1", "gamma=.05", "m"],
)
def test_the_plan_of_diffpriv(
    arguments: dict[str, Any], m: int, k: int, gamma: float, rho: float, least: float
) -> None:
    """S-087: the thesis took 439 of 500, the lectures 285 of 285."""
    chosen = plan(**arguments, kind="diffpriv")
    assert (chosen.m, chosen.k) == (m, k)
    assert float(chosen.gamma) == pytest.approx(gamma, abs=1e-12)
    assert chosen.rho == pytest.approx(rho, rel=1e-12)
    assert chosen.least_gamma == pytest.approx(least, rel=1e-12)


WAYS: list[tuple[dict[str, Any], tuple[int, int, Fraction]]] = [
    ({"m": 500, "gamma": 0.2}, (500, 401, Fraction(1, 5))),
    ({"gamma": 0.1}, (285, 258, Fraction(1, 10))),
    ({"m": 500}, (500, 500, Fraction(1, 501))),
    ({"k": 10}, (10, 10, Fraction(1, 11))),
    ({"k": 9, "gamma": 0.1}, (9, 9, Fraction(1, 10))),
    ({"k": 18, "gamma": 0.1}, (19, 18, Fraction(1, 10))),
    ({"m": 500, "k": 439}, (500, 439, Fraction(62, 501))),
]


@pytest.mark.parametrize(
    ("arguments", "expected"), WAYS, ids=lambda v: " ".join(v) if isinstance(v, dict) else ""
)
def test_every_way_of_planning(
    arguments: dict[str, Any], expected: tuple[int, int, Fraction]
) -> None:
    chosen = plan(**arguments)
    assert (chosen.m, chosen.k, chosen.gamma) == expected
    assert chosen.least_gamma == 1 / (chosen.m + 1)
    assert str(chosen.m) in repr(chosen)


@given(
    m=st.integers(1, 3000),
    gamma=st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000),
)
def test_the_sharper_plan_never_takes_a_larger_move(m: int, gamma: Fraction) -> None:
    try:
        theirs = plan(m=m, gamma=gamma, kind="diffpriv")
    except Refused:
        return
    ours = plan(m=m, gamma=gamma)
    assert ours.k <= theirs.k
    assert Fraction(m + 1 - ours.k, m + 1) <= gamma


@given(m=st.integers(1, 3000))
def test_the_sharper_plan_promises_no_less(m: int) -> None:
    try:
        theirs = plan(m=m, kind="diffpriv")
    except Refused:
        return
    assert plan(m=m).gamma <= theirs.gamma
    assert plan(m=m, k=theirs.k).gamma <= theirs.gamma


def test_diffprivs_plan_by_k() -> None:
    chosen = plan(m=500, k=439, kind="diffpriv")
    assert chosen.k == 439
    assert float(chosen.gamma) == pytest.approx(1 - 439 / 500 + 0.07743960280679663)
    assert plan(m=500, gamma=chosen.gamma, kind="diffpriv").k == 439


@given(x=st.floats(-0.3678794, -1e-300))
def test_the_lower_branch(x: float) -> None:
    assert lower_lambert(x) == pytest.approx(float(lambertw(x, -1).real), rel=1e-9)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"m": 5, "gamma": 0.1, "k": 3},
        {"m": 3, "gamma": 0.1},
        {"m": 0},
        {"m": 2.5},
        {"m": 10**9},
        {"m": 5, "k": 6},
        {"k": 1, "gamma": 0.1},
        {"gamma": 1e-5},
        {"gamma": 0.2, "kind": "best"},
        {"k": 5, "kind": "diffpriv"},
        {"m": 50, "gamma": 0.1, "kind": "diffpriv"},
        {"m": 5, "k": 1, "kind": "diffpriv"},
    ],
    ids=lambda v: " ".join(f"{k}={x}" for k, x in v.items()) or "nothing",
)
def test_refusals(arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        plan(**arguments)
    assert caught.value.code == "sensitivity.plan"


@pytest.mark.parametrize("gamma", [0, 1, -0.1])
def test_gamma_is_a_share(gamma: float) -> None:
    with pytest.raises(Refused) as caught:
        plan(gamma=gamma)
    assert caught.value.code == "number.not-a-probability"


@pytest.mark.parametrize("kind", ["order", "diffpriv"])
@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("m", [1, 2])
def test_the_number_of_pairs_that_is_suggested_is_enough(kind: str, gamma: float, m: int) -> None:
    with pytest.raises(Refused) as refused:
        plan(m=m, gamma=gamma, kind=kind)
    enough = int(refused.value.rewrite.removeprefix("m="))
    assert plan(m=enough, gamma=gamma, kind=kind).m == enough
