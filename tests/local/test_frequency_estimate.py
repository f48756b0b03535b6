"""Estimates: unbiased and of the stated variance over the exact law, intervals that hold,
aggregates that add up.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Refused
from sfumato.exact.balls import ball, below
from sfumato.local import Direct, Hadamard, ReportTotals, Subset, Unary
from sfumato.local.frequency_estimate import Estimate, clopper_pearson_limits, variance
from sfumato.mechanisms.shared.response_estimate import limit
from sfumato.testing import SeededBits

from .cases import PLAIN
from .laws import law_of


@pytest.mark.parametrize("name", PLAIN)
def test_unbiased_with_the_exact_variance_by_enumeration(name: str) -> None:
    """Two people with different values: over every pair of reports, with exact probabilities, mean
    and variance are those that are stated.
    """
    oracle = PLAIN[name]
    laws = [
        [
            (oracle._tally(np.frombuffer(payload, dtype=np.uint8)[None, :]), chance)
            for payload, chance in law_of(oracle.question, code).items()
        ]
        for code in (0, 1)
    ]
    spread = oracle.true_support - oracle.false_support
    for v, true in [(0, Fraction(1, 2)), (oracle.k - 1, Fraction(oracle.k == 2, 2))]:
        first = second = Fraction(0)
        for (a, p), (b, q) in itertools.product(*laws):
            estimate = (Fraction(int(a[v] + b[v]), 2) - oracle.false_support) / spread
            first += p * q * estimate
            second += p * q * estimate**2
        assert first == true
        assert second - first**2 == variance(
            oracle.true_support, oracle.false_support, true, 2, "data"
        )
        assert oracle.variance(2, true, target="data") == pytest.approx(
            float(second - first**2), rel=1e-15
        )


def test_people_drawn_from_a_population_vary_too() -> None:
    """The population's variance is that of the coins and that of the sample, f(1 − f)/n."""
    oracle = Direct(epsilon=1, categories="abc")
    f = Fraction(1, 5)
    assert (
        variance(oracle.true_support, oracle.false_support, f, 7, "population")
        == variance(oracle.true_support, oracle.false_support, f, 7, "data") + f * (1 - f) / 7
    )


def one_limit(count: int, n: int, missing: Fraction, *, upper: bool) -> Fraction:
    return clopper_pearson_limits(np.array([count]), n, missing, upper=upper)[0]


@pytest.mark.parametrize(
    ("count", "n"),
    [(0, 10), (10, 10), (3, 10), (500, 1000), (1, 10**6), (268941, 10**6), (10**6 - 1, 10**6)],
)
@pytest.mark.parametrize("missing", ["1/40", "1/100000"])
def test_limits_hold_in_ball_arithmetic(count: int, n: int, missing: str) -> None:
    """The tail at each limit is below what is missing, for certain; and it is a limit hardly wider
    than the proved one.
    """
    for upper in (False, True):
        end, proved = (
            find_limit(count, n, Fraction(missing), upper=upper)
            for find_limit in (one_limit, limit)
        )
        if count == (n if upper else 0):
            assert end == int(upper)
            continue
        a, b, at = (n - count, count + 1, 1 - end) if upper else (count, n - count + 1, end)
        assert below(
            lambda at=at, a=a, b=b: ball(at).beta_lower(a, b, 1), lambda: ball(Fraction(missing))
        )
        assert abs(end - proved) <= abs(proved - Fraction(count, n)) / 10**4


def test_intervals_hold() -> None:
    """300 surveys of 500 people drawn from a population, three methods of 95 %: 33 or more misses
    in 300 have a chance below 10⁻⁵ for each, and the bits are seeded. A twin with half the width
    misses far more.
    """
    oracle, bits, generator = (
        Unary(epsilon=1, categories=range(4)),
        SeededBits(5),
        np.random.default_rng(1),
    )
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    missed, twin = {"exact": 0, "hoeffding": 0, "normal": 0}, 0
    for _ in range(300):
        e = oracle.estimate(oracle.perturb(generator.choice(4, 500, p=shares), bits=bits))
        for method in missed:
            low, high = e.interval(0.95, method=method)[1]  # type: ignore[arg-type]  # a key
            missed[method] += not low <= 0.3 <= high
        twin += not abs(e.frequencies[1] - 0.3) <= 0.98 * e.standard_error[1]
    assert max(missed.values()) < 33
    assert twin > 60


def test_all_at_once_is_wider() -> None:
    oracle = Hadamard(epsilon=1, categories=range(20))
    e = oracle.estimate(oracle.perturb(np.zeros(3000, dtype=np.int64), bits=SeededBits(1)))
    for method in ("exact", "hoeffding", "normal"):
        single, joint = (
            e.interval(0.95, method=method, simultaneous=at_once) for at_once in (False, True)
        )
        assert (joint[:, 0] <= single[:, 0]).all()
        assert (joint[:, 1] >= single[:, 1]).all()
        assert (joint != single).any()
        assert e.interval("0.9975", method=method) == pytest.approx(joint, abs=1e-12), (
            "the union bound: 5 % shared by 20"
        )


def test_processing() -> None:
    oracle = Subset(epsilon=1, categories=["a", "b", "c", "d"])
    e = oracle.estimate(oracle.perturb(list("aaab"), bits=SeededBits(2)))
    assert e["a"] == e.frequencies[0]
    assert e.consistent().min() >= 0
    assert e.consistent().sum() == pytest.approx(1)
    assert e.consistent("clip").max() <= 1
    assert e.record()["epsilon"] == "1"
    assert e.record()["categories"] == ["a", "b", "c", "d"]
    assert repr(e).startswith("Estimate from 4 reports by Subset · ε = ")
    for wrong in (
        lambda: e.consistent("other"),  # type: ignore[arg-type]  # on purpose
        lambda: e.interval(0.95, method="other"),  # type: ignore[arg-type]  # on purpose
        lambda: e["secret"],
    ):
        with pytest.raises(Refused) as refused:
            wrong()
        assert "secret" not in str(refused.value)


def test_aggregates_add_up() -> None:
    oracle, bits = Unary(epsilon=1, categories="abc"), SeededBits(1)
    parts = [oracle.perturb(list("abc" * n), bits=bits) for n in (1, 2, 3)]
    together = oracle.aggregate(parts[0] + parts[1] + parts[2])
    added = oracle.aggregate(parts[0]) + oracle.aggregate(parts[1]) + oracle.aggregate(parts[2])
    assert added.counts.tolist() == together.counts.tolist()
    assert added.reports == together.reports == 18
    assert isinstance(oracle.estimate(added), Estimate)
    different = Unary(epsilon=2, categories="abc")
    with pytest.raises(Refused):
        together + different.aggregate(different.perturb("a"))
    with pytest.raises(Refused):
        different.estimate(together)
    with pytest.raises(Refused):
        oracle.estimate(ReportTotals(oracle.mark, np.zeros(3, dtype=np.int64), 0))
