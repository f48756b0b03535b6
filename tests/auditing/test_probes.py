"""The probes: each finds its attack, and leaves sound code alone."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing import many
from sfumato.auditing.probes import errors, latency, precision


def test_precision_tells_noise_in_doubles_from_noise_on_a_grid() -> None:
    g = np.random.default_rng(1)
    result = precision(many(lambda x, n: x + g.laplace(size=n)), 0.0, 1.0)
    assert result.tells
    assert 0.2 < result.finer < 0.35  # 27 % at ε = 1
    assert "are finer than all drawn at the other" in str(result)
    sound = precision(mech.Laplace(sensitivity=1, epsilon=1, grid=2**-20), 0.0, 1 / 3, samples=2000)
    assert not sound.tells
    assert sound.grains == (-20, -20)
    assert "multiples of 2^-20" in str(sound)


def test_precision_of_what_has_no_numbers() -> None:
    assert not precision(lambda _: None, 0, 1, samples=40).tells


def test_errors_tell() -> None:
    result = errors(lambda x: 1 / x, [1, 0, 2])
    assert result.raised == (None, "ZeroDivisionError", None)
    assert result.tells
    assert "1 raised ZeroDivisionError" in str(result)
    odd: list[int] = []

    def now_and_then(_: Any) -> int:
        odd.append(1)
        return 1 // (len(odd) % 2)

    assert errors(now_and_then, [0], times=4).mixed == (0,)
    m = mech.Mean(low=0, high=1, epsilon=1, relation="add-remove")
    sound = errors(
        lambda x: m.perturb(x).value, [[], [0.5], [float("nan")], [1e300], [float("inf")]]
    )
    assert not sound.tells
    assert str(sound) == "of 5 inputs 5 gave an output"


def test_latency_tells_what_sleeps() -> None:
    """A sign test at 10⁻⁶: false alarms where times have one law have that chance."""
    slow = latency(lambda x: time.sleep(0.01 * x), 1, 0, samples=40)
    assert slow.tells
    assert slow.low > 0.5
    assert "takes longer" in str(slow)
    assert latency(lambda x: time.sleep(0.01 * x), 0, 1, samples=40).high < 0.5


def test_latency_of_equal_work_tells_nothing() -> None:
    m = mech.Laplace(sensitivity=1, epsilon=1)
    equal = latency(m.perturb, 5, 5, samples=200)
    assert not equal.tells
    assert "tells nothing" in str(equal)
    assert (
        latency(lambda x: 1 // x, 0, 0, samples=50).samples == 50
    )  # errors take their time as well


def test_the_same_probes_see_a_whole_query() -> None:
    import pandas as pd

    ask = sf.auditing.query(
        "SELECT SUM(v) AS s FROM t",
        epsilon=1,
        name="t",
        unit="id",
        max_rows=1,
        bounds={"v": (0, 4)},
    )
    frames = [
        pd.DataFrame({"id": [1, 2], "v": values})
        for values in ([1.0, 2.0], [1.0, float("nan")], [1e300, -1e300])
    ]
    assert not errors(ask, frames).tells
    assert not precision(ask, frames[0], frames[1], samples=300).tells


def test_little_noise_that_is_promised_is_not_accused() -> None:
    """At ε = 20 nearly every output is the input itself, so its grain is the input's: no more than
    is promised.
    """
    for samples in (100, 10_000):
        result = precision(mech.Laplace(sensitivity=1, epsilon=20), 1, 2, samples=samples)
        assert not result.tells
        assert "which chance or the claim explains" in str(result)
    assert precision(mech.Laplace(sensitivity=1, epsilon=20), 1, 2, claim=sf.Pure(1)).tells
    assert not precision(mech.Laplace(sensitivity=1, epsilon=5), 1, 2, samples=100).tells


def test_a_few_draws_tell_nothing() -> None:
    """200 probes of 40 draws of one law: each tells with a chance of at most 10⁻⁶."""
    g = np.random.default_rng(3)
    assert not any(
        precision(many(lambda _, n: g.integers(0, 4, n)), 0, 1, samples=40).tells
        for _ in range(200)
    )
