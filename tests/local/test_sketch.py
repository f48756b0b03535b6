"""Count-mean sketches: support over the family of hash functions, what collisions add, and
intervals that pay for them.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.local import Sketch, client, sketch
from sfumato.local.lib.dyadic_probability import as_fraction
from sfumato.testing import SeededBits

from . import simulated
from .laws import law_of
from .test_client import supports

KINDS = {"bits": {}, "optimised": {"optimised": True}, "hadamard": {"hadamard": True}}


def bucket_of(oracle: Sketch, row: int, code: int) -> int:
    return client.bucket(client.row_hash(oracle.seed, row, code), oracle.size)


@pytest.mark.parametrize("how", KINDS)
def test_support_given_the_functions_by_arithmetic(how: str) -> None:
    """A report supports v with p in the rows where v meets the own value, with q in the others: the
    client's law, coin by coin.
    """
    oracle = Sketch(epsilon=1, categories="abc", rows=3, size=4, **KINDS[how])
    for code in range(3):
        chances = supports(oracle, law_of(oracle.question, code))
        for v in range(3):
            met = Fraction(
                sum(bucket_of(oracle, row, v) == bucket_of(oracle, row, code) for row in range(3)),
                3,
            )
            assert chances[v] == met * oracle.true_support + (1 - met) * as_fraction(oracle.q)
    assert oracle.false_support == oracle.meet * oracle.true_support + (
        1 - oracle.meet
    ) * as_fraction(oracle.q), "and over the family, with the chance of meeting"


@pytest.mark.parametrize("how", KINDS)
def test_simulated_over_functions_and_coins(how: str) -> None:
    """Few rows and buckets, so that collisions are most of the error; another public seed in each
    run.
    """
    simulated.check(
        lambda run: Sketch(
            epsilon=4, categories=range(6), rows=4, size=8, seed=f"s{run}", **KINDS[how]
        ),
        n=1000,
        runs=400,
    )


def test_the_error_does_not_vanish_with_reports() -> None:
    oracle = Sketch(epsilon=1, categories="abc", rows=16, size=16)
    floor = 1 / 16 / (1 - 1 / 16) / 16
    assert oracle.variance(10**12) == pytest.approx(floor, rel=1e-3)
    assert Sketch(epsilon=1, categories="abc", rows=1024, size=16).variance(
        10**12
    ) == pytest.approx(floor / 64, rel=1e-3)
    assert oracle.mse(["1/3"] * 3, 10**12) < 3 * floor * (4 / 9), (
        "less than the worst, in which all others are one value"
    )


def test_intervals_cover_collisions_too() -> None:
    """400 sketches with seeds of their own: each 99 % interval holds, but for 1 in 100. 23 or more
    misses in 400 have a chance below 10⁻⁹, and the bits are seeded. Without the slack for
    collisions far more miss.
    """
    missed = narrow = 0
    bits = SeededBits(4)
    values = simulated.people(4000, 5)
    for run in range(400):
        oracle = Sketch(epsilon=6, categories=range(5), rows=4, size=8, seed=f"i{run}")
        e = oracle.estimate(oracle.perturb(values, bits=bits))
        low, high = e.interval(0.99)[4]
        missed += not low <= 0 <= high
        f, half = (
            e.frequencies[4],
            2.58
            * math.sqrt(float(as_fraction(oracle.q) * (1 - as_fraction(oracle.q))))
            / 63
            / float(oracle.true_support - oracle.false_support),
        )
        narrow += not f - half <= 0 <= f + half
    assert missed < 23
    assert narrow > 23


def test_a_real_size() -> None:
    """Apple's 65 536 rows of 1024 buckets: both sketches make and read reports."""
    values = np.arange(20).repeat(50)
    for hadamard in (False, True):
        oracle = Sketch(epsilon=4, categories=range(20), rows=65536, size=1024, hadamard=hadamard)
        e = oracle.estimate(oracle.perturb(values, bits=SeededBits(1)))
        assert np.abs(e.frequencies - 0.05).max() < 6 * math.sqrt(oracle.variance(1000, "1/20"))


@pytest.mark.parametrize("how", KINDS)
def test_the_sketch_counts_as_report_by_report(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = Sketch(epsilon=1, categories=range(9), rows=5, size=8, **KINDS[how])
    reports = oracle.perturb(np.arange(9).repeat(30), bits=SeededBits(2))
    by_sketch = oracle.aggregate(reports).counts
    monkeypatch.setattr(sketch, "_CELLS", 0)
    assert by_sketch.tolist() == oracle.aggregate(reports).counts.tolist()


@pytest.mark.parametrize(
    "arguments",
    [
        {"rows": 0},
        {"rows": 1 << 18},
        {"size": 1},
        {"size": 12, "hadamard": True},
        {"hadamard": True, "optimised": True},
        {"rows": True},
    ],
)
def test_no_such_shape(arguments: dict[str, int]) -> None:
    with pytest.raises(Refused) as refused:
        Sketch(epsilon=1, categories="ab", **arguments)
    assert refused.value.code == "local.size"


def test_malformed() -> None:
    for oracle in (
        Sketch(epsilon=1, categories="abc", rows=3, size=4),
        Sketch(epsilon=1, categories="abc", rows=3, size=4, hadamard=True),
    ):
        good = oracle.perturb("a")[0]
        for wrong in (good[:4] + b"\3" + good[5:], good[:5] + b"\xff"):
            with pytest.raises(Refused):
                oracle.read([wrong])
