"""A count that decides whether it is shown: δ against every neighbour by arithmetic, the law of the
draws, and twins that leak.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.mechanisms.shared.stored_mechanism import record, restore
from sfumato.testing import SeededBits

from ..refusing import refusal

Pair = tuple[int, int]
FALSE_ALARM = 1e-8


def laplace(epsilon: Any, **options: Any) -> mech.Laplace:
    return mech.Laplace(epsilon=epsilon, **options)


def gaussian(mu: Any, **options: Any) -> mech.Gaussian:
    return mech.Gaussian(mu=mu, **options)


CASES: dict[str, mech.CountThreshold] = {
    "one vote": mech.CountThreshold(noise=laplace(1, sensitivity=1), delta="1e-2"),
    "votes": mech.CountThreshold(noise=laplace(1, sensitivity=3), delta="1e-2", total=3),
    "weights": mech.CountThreshold(noise=laplace(1, sensitivity=8), delta="1e-2", total=8, most=4),
    "rows": mech.CountThreshold(noise=laplace(1, sensitivity=6), delta="1e-3", total=6, most=6),
    "steep": mech.CountThreshold(
        noise=laplace(4, sensitivity=6), delta="1e-2", total=6, most=6, ramp=2
    ),
    "Gaussian": mech.CountThreshold(
        noise=gaussian("0.7", sensitivity=2), delta="1e-2", total=4, most=1
    ),
    "Gaussian weights": mech.CountThreshold(
        noise=gaussian("0.7", sensitivity=Fraction(566, 100)), delta="1e-2", total=8, most=4
    ),
    "steep Gaussian": mech.CountThreshold(
        noise=gaussian(3, sensitivity=6), delta="1e-2", total=6, most=6, ramp=1
    ),
}


_FAR = 160  # noise beyond it has a chance below 1e-9 in all cases


@cache
def masses(law: Any) -> Any:
    """P(Z = 0), …, P(Z = 4·_FAR), correctly rounded."""
    return law.pmf(np.arange(4 * _FAR))


def released(m: mech.CountThreshold, count: int, low: int, high: int, ramp: int) -> Any:
    """The law of what is seen of a group, from its definition: nothing, y = low, …, all beyond."""
    part, law = min(max(count, 0), ramp) / ramp, masses(m.law)
    counts = part * law[abs(np.arange(low, high) - count)]
    beyond = part * float(m.law.tail(high - count))
    return np.array([1.0 - counts.sum() - beyond, *counts, beyond])


def hockey_stick(
    m: mech.CountThreshold, changes: list[Pair], epsilon: float, ramp: int | None = None
) -> float:
    """The largest of both divergences between neighbours whose groups have these counts. What lies
    far beyond is one outcome, which can only lower a divergence: with one group nothing does.
    """
    p, q = np.ones(1), np.ones(1)
    for before, after in changes:
        width = {1: 2 * _FAR, 2: 120}.get(len(changes), 24)
        low, high = m.threshold, m.threshold + width
        laws = [released(m, c, low, high, ramp or m.ramp) for c in (before, after)]
        p, q = np.outer(p, laws[0]).ravel(), np.outer(q, laws[1]).ravel()
    grow = math.exp(epsilon)
    return max(float(np.maximum(a - grow * b, 0).sum()) for a, b in ((p, q), (q, p)))


def neighbours(m: mech.CountThreshold) -> Iterator[list[Pair]]:
    """The unit's weights in one to three groups, each new or of some size."""
    olds = sorted({0, m.ramp // 2, m.ramp - 1, m.threshold - m.most, m.threshold + 2})
    for groups in (1, 2, 3):
        for weights in itertools.combinations_with_replacement(range(1, m.most + 1), groups):
            if sum(weights) > m.total:
                continue
            places = olds[: {1: 5, 2: 5, 3: 2}[groups]]
            for starts in itertools.product(places, repeat=groups):
                yield [(c, c + w) for c, w in zip(starts, weights, strict=True)]


@pytest.mark.parametrize("name", CASES)
def test_the_promise_holds_for_every_neighbour(name: str) -> None:
    """At several ε: what the noise promises there, and δ beside it."""
    m = CASES[name]
    for epsilon in (0.0, 1.0, 4.0):
        allowed = m.noise.promise.delta(Fraction(epsilon)) + m.true_delta()
        worst = max(hockey_stick(m, changes, epsilon) for changes in neighbours(m))
        assert worst <= allowed * (1 + 1e-9) + 1e-12, epsilon


@pytest.mark.parametrize("name", [name for name in CASES if "steep" not in name])
def test_some_of_delta_is_used(name: str) -> None:
    """One vote in each of as many new groups as there may be comes near to it."""
    m = CASES[name]
    groups = m.total // m.most
    shown = 1 - (1 - m.keep_probability(m.most)) ** groups
    assert m.true_delta() / 6 < shown <= m.true_delta() * (1 + 1e-9)
    assert m.true_delta() <= m.delta


def test_many_small_weights_lose_no_more() -> None:
    """Any number of groups: m votes in parts of 2^-6 over up to 64·m groups."""
    quanta, votes = 64, 3
    m = mech.CountThreshold(
        noise=laplace(1, sensitivity=votes * quanta),
        delta="1e-3",
        total=votes * quanta,
        most=quanta,
    )
    for parts in (1, 2, 8, 64):
        shown = 1 - (1 - m.keep_probability(quanta // parts)) ** (votes * parts)
        assert shown <= m.true_delta()


def test_without_the_ramp_small_weights_leak() -> None:
    """The twin: the same threshold, and every group takes part."""
    quanta, votes = 64, 3
    m = mech.CountThreshold(
        noise=laplace(1, sensitivity=votes * quanta),
        delta="1e-3",
        total=votes * quanta,
        most=quanta,
    )
    each = m.law.tail(m.threshold - 1)
    assert 1 - (1 - each) ** (votes * quanta) > 2 * float(m.delta)
    leaks = max(
        hockey_stick(CASES["weights"], [(0, 1)] * groups, 1.0, ramp=1) for groups in (1, 2, 3)
    )
    assert leaks > 0.5 * CASES["weights"].true_delta()


@pytest.mark.parametrize("name", CASES)
def test_a_lower_threshold_exceeds_delta(name: str) -> None:
    m = CASES[name]
    assert m._delta_at(m.threshold) <= float(m.delta)
    assert m._delta_at(m.threshold - 1) > float(m.delta)


def test_a_threshold_lower_by_a_scale_is_found_out() -> None:
    """The twin: the arithmetic above finds a δ that is too large."""
    m = CASES["votes"]
    low = mech.CountThreshold(noise=m.noise, delta="5e-2", total=3)
    worst = max(hockey_stick(low, changes, 1.0) for changes in neighbours(low))
    assert worst > m.true_delta()


def test_numbers() -> None:
    """One unit of 20 rows at (1, 10^-9), and Gaussian votes beside the best rule for a vote."""
    rows = 20 << 20
    count = mech.CountThreshold(
        noise=laplace(1, sensitivity=rows), delta="1e-9", total=rows, most=rows
    )
    assert count.count_shown_with("0.5") / 2**20 == pytest.approx(421.07, abs=0.01)
    assert count.noise.error() / 2**20 == pytest.approx(59.91, abs=0.01)
    for groups, people in ((1, 71.0), (6, 177.3), (20, 328.5), (256, 1214.7)):
        bits = min(20, 24 - groups.bit_length())
        noise = mech.Gaussian(
            sensitivity=math.isqrt(groups << 2 * bits) + 1, epsilon="0.475", delta="5e-10"
        )
        votes = mech.CountThreshold(
            noise=noise, delta="5e-10", total=groups << bits, most=1 << bits
        )
        assert votes.count_shown_with("0.5") / 2**bits == pytest.approx(people, abs=0.1)


def test_promises() -> None:
    protected = {"relation": "replace", "unit": "patient"}
    m = mech.CountThreshold(noise=laplace(1, sensitivity=2, **protected), delta="1e-6", total=2)
    assert m.promise == sf.Approx(1, "1e-6", **protected)
    assert (m.relation, m.unit) == ("replace", "patient")
    assert m.to(sf.ZCDP).parameters["delta"] == Fraction("1e-6")
    g = mech.CountThreshold(noise=gaussian(1, sensitivity=1), delta="1e-6")
    assert g.to(sf.ZCDP) == sf.ZCDP("1/2", "1e-6")
    assert g.promise.delta(1) == pytest.approx(sf.GDP(1).delta(1) + 1e-6)


def test_draws_have_the_law() -> None:
    """Shares of shown groups, by Hoeffding's inequality; and the noise of shown counts."""
    m, n = CASES["weights"], 40_000
    deviation = math.sqrt(math.log(2 / FALSE_ALARM) / 2 / n)
    for count in (0, 2, m.ramp, m.threshold - 3, m.threshold, m.threshold + 5):
        noisy, shown = m.perturb_all(np.full(n, count), bits=SeededBits(count))
        assert abs(float(shown.mean()) - m.keep_probability(count)) <= deviation
        assert not shown.any() or int(noisy[shown].min()) >= m.threshold
        if count == m.threshold:
            above = float((noisy[shown] >= count + 3).sum()) / n
            assert abs(above - m.law.tail(3)) <= deviation


def test_one_and_many() -> None:
    m = CASES["one vote"]
    assert m.perturb(0) is None
    assert m.perturb(10**6) > 10**5
    big = np.array([0, 10**30], dtype=object)
    assert m.keep(big).tolist() == [False, True]


def test_stored_form() -> None:
    for m in CASES.values():
        assert restore(json.loads(json.dumps(record(m)))) == m


def test_refusals() -> None:
    noise = laplace(1, sensitivity=1)
    wrong: Any = 2
    assert (
        "Laplace("
        in refusal(lambda: mech.CountThreshold(noise=wrong, delta="1e-6"), "keys.noise").rewrite
    )
    refusal(lambda: mech.CountThreshold(noise=noise, delta="1e-6", ramp=3), "keys.ramp")
    refusal(lambda: mech.CountThreshold(noise=noise, delta="1e-6", ramp=1 << 63), "keys.ramp")
    refusal(lambda: mech.CountThreshold(noise=noise, delta="1e-6", total=0), "keys.count")


@pytest.mark.parametrize(
    ("noise", "counts", "least"),
    [
        (laplace(1, sensitivity=1), {"total": 6}, "sensitivity=6"),
        (gaussian(1, sensitivity=2), {"total": 9, "most": 3}, "sensitivity=3"),
    ],
)
def test_noise_that_covers_less_than_a_unit_may_add_is_refused(
    noise: Any, counts: dict[str, int], least: str
) -> None:
    """Noise for one vote does not keep its promise if a unit has six."""
    refused = refusal(
        lambda: mech.CountThreshold(noise=noise, delta="1e-6", **counts), "keys.sensitivity"
    )
    assert refused.rewrite == least
