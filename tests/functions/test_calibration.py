"""The noise that a promise and a sensitivity ask for: the law, the slack, the grid; and the
sensitivities that noise is never scaled to.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato import sensitivity as closed
from sfumato.errors import Refused
from sfumato.functions import SampledNoise, noise_for
from sfumato.functions.calibration import UNUSABLE, promise_from
from sfumato.functions.sampled_noise import base_of
from sfumato.guarantees import Guarantee
from sfumato.sensitivity import (
    Global,
    Inverse,
    Lipschitz,
    Local,
    Sampled,
    Smooth,
    sample_sensitivity,
)

COUNTS = Global(l1=3, l2_squared=3, sup=1, relation="replace", integer_valued=True)

PROMISES = [
    sf.Pure(1),
    sf.Approx(1, 1e-6),
    sf.Approx(1, 0),
    sf.ZCDP("1/10"),
    sf.ZCDP("1/10", 1e-9),
    sf.GDP("1/3"),
    sf.GDP.from_square(2),
    sf.Renyi({10: "1/2"}),
    sf.Renyi({"3/2": "1/10", 8: 1}, 1e-9),
]


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@pytest.mark.parametrize("size", [1, 3, 40])
@pytest.mark.parametrize(
    "sensitivity",
    [0.37, Fraction(1, 3), Global("1/150"), Global(l1=2, sup=1), Global(l2=5)],
    ids=["float", "fraction", "one", "two norms", "L2"],
)
def test_the_promise_is_kept(promise: Guarantee, size: int, sensitivity: Any) -> None:
    """By the mechanism's own account, which tests/mechanisms check against its law: for the
    sensitivity stated, the slack and the rounding.
    """
    m = noise_for(sensitivity, promise, size=size, relation="replace", unit="patient")
    assert not isinstance(m, SampledNoise)
    assert any(stated_promise <= promise for stated_promise in m.promises)
    assert (m.relation, m.unit, m.size) == ("replace", "patient", size)
    norm = 1 if isinstance(m, mech.Laplace) else 2
    stated = (
        sensitivity
        if isinstance(sensitivity, Global)
        else Global(l1=sensitivity)
        if norm == 1
        else Global(l2=sensitivity)
    )
    moves = stated.moves(norm, size)
    assert moves < m.sensitivity < moves * (1 + Fraction(1, 2**19))  # the slack
    rounded = (
        m.moves / m.sensitivity
        if isinstance(m, mech.Laplace)
        else m.moves_squared / m.sensitivity**2
    )
    assert 1 <= rounded < 1 + Fraction(1, 2**12)  # the grid


def test_approx_takes_the_law_with_less_noise() -> None:
    small, large = (
        noise_for(1, sf.Approx(1, "1e-12")),
        noise_for(Global(1), sf.Approx(1, 1e-3), size=100),
    )
    assert isinstance(small, mech.Laplace)
    assert isinstance(large, mech.Gaussian)
    assert isinstance(noise_for(Global(l1=1, sup=1), sf.Approx(1, 1e-3), size=100), mech.Laplace)


def test_a_choice_never_depends_on_what_was_sampled() -> None:
    sampled = sample_sensitivity(
        lambda x: [x[-1], 0.0], oracle=np.random.default_rng(1).random, n=10, m=9
    )
    assert isinstance(sampled, Sampled)
    noise = noise_for(sampled, sf.Approx(1, 1e-12), size=2)
    assert isinstance(noise, SampledNoise)
    assert isinstance(base_of(noise), mech.Gaussian)
    assert noise.promise == sampled.random(base_of(noise).promise)


def test_whole_numbers_stay_whole() -> None:
    m = noise_for(COUNTS, sf.Pure(1), size=3)
    assert m == mech.Laplace(sensitivity=3, epsilon=1, size=3, relation="replace")
    assert noise_for(COUNTS, sf.Pure(1), size=3, grid=2).grid == 2
    g = noise_for(COUNTS, sf.ZCDP(1), size=3)
    assert isinstance(g, mech.Gaussian)
    assert g.moves_squared == 3


@given(slack=st.fractions(0, 1, max_denominator=10**6), size=st.integers(1, 50))
def test_the_slack_is_added_for_every_coordinate(slack: Fraction, size: int) -> None:
    """Both neighbours may be off by the slack in each coordinate."""
    laplace = noise_for(1, sf.Pure(1), size=size, slack=slack)
    gaussian = noise_for(1, sf.GDP(1), size=size, slack=slack)
    assert laplace.sensitivity == 1 + 2 * slack * size
    assert (
        4 * slack**2 * size
        <= (gaussian.sensitivity - 1) ** 2
        <= 4 * slack**2 * size * (1 + Fraction(1, 2**40))
    )


def test_a_grid_of_ones_own() -> None:
    m = noise_for("1/100", sf.Pure(1), grid=2**-20)
    assert m.sensitivity == Fraction(1, 100)
    assert m.grid == Fraction(1, 2**20)


def allowed(sensitivity: Global) -> float | None:
    """What the noise is scaled to, or None where it is refused."""
    try:
        return float(base_of(noise_for(sensitivity, sf.Pure(1))).sensitivity)
    except Refused as refusal:
        code = refusal.code
    assert code == "privatize.slack"
    return None


FAR = [
    (0.0, 1.0),
    (1.7e9, 1.7e9 + 1),
    (1.7e9, 1.7e9 + 3600),
    (2.0**40, 2.0**40 + 1),
    (2.0**50, 2.0**50 + 1),
]


@pytest.mark.parametrize("ends", FAR, ids=repr)
@pytest.mark.parametrize("n", [20, 1024, 100_000])
@pytest.mark.parametrize("form", ["mean", "sum", "variance", "textbook", "covariance", "median"])
def test_the_default_slack_covers_how_numpy_rounds(
    form: str, n: int, ends: tuple[float, float]
) -> None:
    """Of the closed forms, wherever the range lies: neighbours as computed move no further than the
    noise is scaled to, or it is refused.
    """
    low, high = ends
    same: dict[str, Any] = {"relation": "replace", "n": n}
    stated, f = {
        "mean": (lambda: closed.mean(low, high, **same), np.mean),
        "sum": (lambda: closed.sum(low, high, **same), np.sum),
        "variance": (lambda: closed.variance(low, high, **same), np.var),
        "textbook": (
            lambda: closed.variance(low, high, **same),
            lambda v: np.mean(v * v) - np.mean(v) ** 2,
        ),
        "covariance": (
            lambda: closed.covariance((low, high), (low, high), ddof=1, **same),
            lambda v: np.cov(v, v)[0, 1],
        ),
        "median": (lambda: closed.median(low, high, **same), np.median),
    }[form]
    limit, rng, moved = allowed(stated()), np.random.default_rng(5), 0.0
    for _ in range(20):
        x = np.clip(low + rng.random(n) * (high - low), low, high)
        y = x.copy()
        x[0], y[0] = low, high
        moved = max(moved, abs(float(f(x)) - float(f(y))))
    assert limit is None or moved <= limit
    if ends == (0.0, 1.0):
        assert limit is not None


def test_without_it_a_mean_far_from_zero_moves_further_than_its_sensitivity() -> None:
    """The twin: at 2^50 doubles are a quarter apart, and so are the means of neighbours, not a
    thousandth.
    """
    low, n = 2.0**50, 1024
    x = np.full(n, low + 0.25)
    y = x.copy()
    x[0], y[0] = low, low + 1
    stated = closed.mean(low, low + 1, relation="replace", n=n)
    assert abs(float(np.mean(x)) - float(np.mean(y))) > 100 * float(stated.value)
    assert allowed(stated) is None
    assert allowed(closed.mean(1.7e9, 1.7e9 + 1, relation="replace", n=10**6)) is None
    assert noise_for(stated, sf.Pure(1), slack="1/4").sensitivity == stated.value + Fraction(1, 2)
    assert noise_for(stated, sf.Pure(1), slack=0).sensitivity == stated.value


def test_a_sum_says_how_many() -> None:
    """Without n it allows for 2^32 roundings of the largest value; with it, for those that there
    are.
    """
    assert allowed(closed.sum(1.7e9, 1.7e9 + 60, relation="replace")) is None
    assert 60 < (allowed(closed.sum(1.7e9, 1.7e9 + 60, relation="replace", n=1000)) or 0) < 61
    assert allowed(closed.sum(0, 1, relation="replace") / 100) == pytest.approx(0.01, rel=1e-5)
    assert (closed.sum(0, 1, relation="add-remove", n=64) / 4).rounding == Fraction(
        64 * 27, 4 * 2**53
    )


UNUSED: dict[type, Any] = {
    Local: Local(Fraction(1)),
    Lipschitz: Lipschitz(1, metric="kilometres"),
    sf.sensitivity.SampledFunction: sample_sensitivity(
        lambda d: lambda t: t, oracle=lambda n: [0] * n, n=3, m=3
    ),
    Smooth: Smooth("median", 0, 1),
    Inverse: Inverse("median", 0, 1),
}


@pytest.mark.parametrize("kind", UNUSABLE, ids=lambda k: k.__name__)
def test_what_noise_is_not_scaled_to(kind: type) -> None:
    """E-44, S-065, S-086: a local sensitivity is refused by its type, whatever its value."""
    with pytest.raises(Refused) as caught:
        noise_for(UNUSED[kind], sf.Pure(1))
    assert caught.value.code == UNUSABLE[kind].code
    assert caught.value.rewrite


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (
            lambda: noise_for(None, sf.Pure(1)),  # type: ignore[arg-type]  # refused
            "sensitivity.missing",
        ),
        (lambda: noise_for(0, sf.Pure(1)), "number.not-positive"),
        (lambda: noise_for("much", sf.Pure(1)), "number.text"),
        (lambda: noise_for(1, sf.Pure(1), slack=-1), "number.not-positive"),
        (lambda: noise_for(1, sf.Pure(1) + sf.GDP(1)), "privatize.promise"),
        (lambda: noise_for(COUNTS, sf.Pure(1), relation="add-remove"), "guarantee.relation"),
        (
            lambda: noise_for(1, sf.Pure(1, relation="replace"), relation="add-remove"),
            "guarantee.relation",
        ),
        (lambda: noise_for(1, sf.Pure(1), size=0), "mechanism.size"),
        (
            lambda: noise_for(
                sample_sensitivity(np.mean, oracle=np.random.default_rng(1).random, n=9, m=9),
                sf.Pure(1),
                size=2,
            ),
            "privatize.shape",
        ),
        (lambda: noise_for(1, sf.Pure(1), grid=3), "number.not-a-power-of-two"),
        (lambda: promise_from(None, None, None, "f"), "privatize.promise"),
        (lambda: promise_from(1, None, sf.Pure(1), "f"), "privatize.promise"),
        (lambda: promise_from(None, 1e-6, sf.Pure(1), "f"), "privatize.promise"),
        (
            lambda: promise_from(None, None, "much", "f"),  # type: ignore[arg-type]  # refused
            "privatize.promise",
        ),
        (
            lambda: promise_from(None, None, sf.RandomDP(sf.Pure(1), 0.1, over="x"), "f"),
            "privatize.promise",
        ),
    ],
    ids=[
        "missing",
        "zero",
        "text",
        "slack",
        "mixed",
        "relation",
        "promise relation",
        "size",
        "sampled size",
        "grid",
        "no promise",
        "two",
        "delta alone",
        "no guarantee",
        "random",
    ],
)
def test_refusals(call: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        call()
    assert caught.value.code == code
