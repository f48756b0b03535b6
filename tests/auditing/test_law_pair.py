"""Known laws: exact audits equal the claim or the law's own divergence to 10⁻¹²; the best event is
the best of all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.bounds import breaks, expected_bounds
from sfumato.auditing.canonical_outputs import read_outputs
from sfumato.auditing.clopper_pearson import expected_limits
from sfumato.auditing.law_pair import LawPair, finite_law_pair, likelihood_prefixes
from sfumato.auditing.mechanism_laws import law_pair_at
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.finite.divergences import approx_max_divergence, max_divergence

TIGHT: list[tuple[Any, Any, Any]] = [
    *((mech.RandomizedResponse(epsilon=e), "yes", "no") for e in (0.1, 1, 5)),
    (mech.RandomizedResponse(epsilon=2, categories=["a", "b", "c"]), "a", "c"),
    (mech.RandomizedResponse(keep="3/4"), "no", "yes"),
    *((mech.Laplace(sensitivity=1, epsilon=e), 0, 1) for e in (0.1, 1, 5)),
    (mech.Laplace(sensitivity=7, epsilon=1), 3, 10),
    (mech.Laplace(sensitivity=1, epsilon=1, grid=2**-20), 0.5, 1.5),
    (mech.Staircase(sensitivity=5, epsilon=2), 0, 5),
    (mech.Histogram(edges=[0, 1, 2], epsilon=1, relation="add-remove"), [], [0.5]),
    (mech.Mean(low=0, high=10, epsilon=1, relation="replace", rows=3), [0, 1, 2], [10, 1, 2]),
]


@pytest.mark.parametrize(("m", "x", "y"), TIGHT, ids=lambda v: type(v).__name__)
def test_the_exact_bound_of_a_tight_law_is_the_claim(m: Any, x: Any, y: Any) -> None:
    r = sf.audit(m, x, y, exact=True)
    claimed = r.claim.epsilon()
    assert claimed - 1e-12 <= r.epsilon_lower <= claimed
    assert r.exact
    assert r.verdict == "holds"
    lower = Fraction(claimed) * Fraction(
        10**11 - 10, 10**11
    )  # the twin: a claim lower by 10⁻¹⁰ of itself
    assert sf.audit(m, x, y, claim=sf.Pure(lower), exact=True).verdict == "violated"


def test_direct_reports_keep_their_odds() -> None:
    m = sf.local.Direct(epsilon=1, categories=["a", "b", "c"])
    r = sf.audit(m, "a", "b", exact=True)
    assert r.epsilon_lower == pytest.approx(math.log(m.odds), abs=1e-12)
    assert r.verdict == "holds"


@pytest.mark.parametrize("symmetric", [False, True])
def test_unary_reports_keep_their_odds(symmetric: bool) -> None:
    m = sf.local.Unary(epsilon=1, categories=["a", "b", "c"], symmetric=symmetric)
    assert sf.audit(m, "a", "b", exact=True).epsilon_lower == pytest.approx(
        math.log(m.odds), abs=1e-12
    )


def test_a_channel_and_a_function_that_gives_laws() -> None:
    channel = Channel({"x": {"a": "2/3", "b": "1/3"}, "y": {"a": "1/3", "b": "2/3"}})
    r = sf.audit(channel, "x", "y", claim=sf.Pure("0.7"), exact=True)
    assert r.epsilon_lower == pytest.approx(math.log(2), abs=1e-15)
    assert r.epsilon_lower <= math.log(2)
    laws = {
        0: {"a": Fraction(2, 3), "b": Fraction(1, 3)},
        1: {"a": Fraction(1, 3), "c": Fraction(2, 3)},
    }
    assert sf.audit(lambda x: laws[x], 0, 1, claim=sf.Pure(1), exact=True).epsilon_lower == math.inf
    assert (
        sf.audit(lambda x: laws[x], 0, 1, claim=sf.Approx(1, "0.7"), exact=True).verdict == "holds"
    )
    assert (
        sf.audit(lambda x: laws[x], 0, 1, claim=sf.Approx(1, "0.6"), exact=True).verdict
        == "violated"
    )


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
def test_epsilon_is_the_divergence_of_the_laws(delta: float) -> None:
    g = np.random.default_rng(5)
    for _ in range(20):
        p, q = (tuple(v / v.sum()) for v in g.random((2, 5)))
        laws = LawPair(p, q, tuple("abcde"))
        expected = max(
            approx_max_divergence(list(p), list(q), delta),
            approx_max_divergence(list(q), list(p), delta),
        )
        assert laws.epsilon(delta)[0] == pytest.approx(max(0.0, expected), abs=1e-12)
        if not delta:
            assert laws.epsilon(0)[0] <= max(
                max_divergence(list(p), list(q)), max_divergence(list(q), list(p))
            )


def test_the_best_event_is_the_best_of_all_events() -> None:
    g = np.random.default_rng(11)
    for claim, delta in ((sf.Pure(1), 0.0), (sf.Approx(1, 0.05), 0.05), (sf.GDP(1), 0.0)):
        p, q = (v / v.sum() for v in g.random((2, 6)))
        laws = LawPair(tuple(p), tuple(q), tuple("abcdef"))
        result = laws.best_event(claim, delta, samples=10_000, alpha=1e-6)[0]
        every = []
        for event in chain.from_iterable(combinations(range(6), size) for size in range(1, 6)):
            for a, b in ((p, q), (q, p)):
                low, high = expected_limits(
                    [a[list(event)].sum()], [b[list(event)].sum()], 10_000, 5e-7
                )
                every.append(float(expected_bounds(claim, low, high, delta)[0]))
        assert result == pytest.approx(max(every), abs=1e-9)


@pytest.mark.parametrize("mu", [0.2, 1.0, 2.0])
def test_mu_of_the_gaussian(mu: float) -> None:
    m = mech.Gaussian(sensitivity=1000, mu=mu)
    r = sf.audit(m, 0, 1000, exact=True)
    assert r.mu_lower is not None
    assert mu * (1 - 1e-5) < r.mu_lower <= mu  # on a grid of a thousandth of the sensitivity
    assert r.verdict == "holds"
    assert sf.audit(m, 0, 1000, claim=sf.GDP(mu * 0.99), exact=True).verdict == "violated"


def test_a_curve_is_refuted_where_its_point_is_not() -> None:
    m = mech.Gaussian(sensitivity=1000, mu=1)
    assert sf.audit(m, 0, 1000, claim=sf.ZCDP("1/2"), exact=True).verdict == "holds"
    assert sf.audit(m, 0, 1000, claim=sf.ZCDP("1/8"), exact=True).verdict == "violated"


EVENTS: list[tuple[Any, str]] = [
    (sf.Pure("9/10"), "output ≤ 0"),
    (sf.Approx("1/2", "1/100"), "output ≤ 0"),
    (sf.GDP("1/2"), "output ≤ 0"),
    (sf.ZCDP("1/100"), "output ≤ 0"),
    (sf.Renyi({2: "1/100"}), "output ≤ 0"),
]


@pytest.mark.parametrize(("claim", "event"), EVENTS, ids=lambda v: type(v).__name__)
def test_an_exact_refutation_shows_its_event(claim: Any, event: str) -> None:
    """P(output ≤ 0) is e/(e + 1) at 0 and 1/(e + 1) at 1: of the geometric law at ε = 1 the event
    that says most.
    """
    r = sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, claim=claim, exact=True)
    likely, second = math.e / (math.e + 1), 1 / (math.e + 1)
    assert r.verdict == "violated"
    assert (r.event, r.direction) in ((event, "x over y"), ("output ≥ 1", "y over x"))
    assert likely * (1 - 1e-11) < r.limits[0] <= likely
    assert second <= r.limits[1] < second * (1 + 1e-11)
    assert "a chance of 0.731058 against 0.268942" in str(r)
    assert ("breaks" in str(r)) is not isinstance(claim, sf.Pure | sf.Approx | sf.GDP)


@pytest.mark.parametrize(
    "claim",
    [sf.Pure("1/10"), sf.Approx("1/10", "1/100"), sf.GDP("1/10"), sf.ZCDP("1/1000")],
    ids=lambda v: type(v).__name__,
)
def test_the_event_that_is_shown_contradicts_the_claim_by_itself(claim: Any) -> None:
    g = np.random.default_rng(7)
    for _ in range(20):
        p, q = (v / v.sum() for v in g.random((2, 6)))
        laws = LawPair(tuple(p), tuple(q), tuple("abcdef"))
        result = laws.strongest_event(claim, 1e-6)
        inside = [i for i, name in enumerate("abcdef") if name in result.event.words.split("{")[-1]]
        first, second = (p, q) if result.event.direction == "x over y" else (q, p)
        assert result.low == pytest.approx(first[inside].sum(), rel=1e-9)
        assert result.high == pytest.approx(second[inside].sum(), rel=1e-9)
        assert result.broken
        if not isinstance(claim, sf.ZCDP):
            assert breaks(claim, result.low, result.high)
        equal = LawPair(tuple(p), tuple(p), tuple("abcdef"))  # the twin
        assert not equal.strongest_event(claim, 1e-6).broken


def test_a_curve_that_is_broken_in_the_middle_shows_the_event_there() -> None:
    """At δ = 10⁻⁶ the claim leaves an ε of 0.62, and the law has ln 1.5 = 0.41. But errors of 0.4
    and 0.4 it does not leave.
    """
    laws = {0: {"a": 0.6, "b": 0.4}, 1: {"a": 0.4, "b": 0.6}}
    r = sf.audit(laws.get, 0, 1, claim=sf.ZCDP("1/100"), exact=True)
    assert r.verdict == "violated"
    assert r.epsilon_lower < r.claimed_epsilon
    assert (r.event, r.direction) in (("output in {a}", "x over y"), ("output in {b}", "y over x"))
    assert "breaks   a bet on this event has false alarms ≤ 0.400001" in str(r)
    assert breaks(r.claim, *r.limits)
    assert sf.audit(laws.get, 0, 1, claim=sf.ZCDP("1/5"), exact=True).verdict == "holds"  # the twin


def test_the_event_that_is_shown_is_one_that_happens() -> None:
    """A Gaussian refutes a smaller μ in every tail, at chances of 10⁻⁷⁰; it does so in the middle,
    too.
    """
    r = sf.audit(mech.Gaussian(sensitivity=1000, mu=1), 0, 1000, claim=sf.GDP("0.9"), exact=True)
    assert r.verdict == "violated"
    assert r.limits == pytest.approx((0.5, 0.159), abs=1e-3)
    assert r.mu_lower == pytest.approx(1, abs=1e-5)


SMALL: list[tuple[Any, Any, Any, Any]] = [
    (mech.RandomizedResponse(epsilon=1000), "yes", "no", None),
    (mech.Exponential(sensitivity=1, epsilon=1), [0, -1490], [1, -1491], None),
    (mech.LaplaceThreshold(epsilon=5, delta="1e-3"), 4, 5, sf.GDP(10)),
]


@pytest.mark.parametrize(("m", "x", "y", "claim"), SMALL, ids=lambda v: type(v).__name__)
def test_a_chance_that_doubles_forget_is_no_zero(m: Any, x: Any, y: Any, claim: Any) -> None:
    """e^(−1000) is written as 0 in doubles. Taken as one it would be an event that one input never
    gives, and refute everything.
    """
    r = sf.audit(m, x, y, claim=claim, exact=True)
    assert r.verdict == "holds"
    assert math.isfinite(r.epsilon_lower)
    laws = law_pair_at(m, x, y)
    assert laws is not None
    assert replace(laws, least=0.0).strongest_event(r.claim, 0.0).broken  # the twin


@pytest.mark.parametrize("epsilon", [700, 735, 740, 745, 750])
def test_where_doubles_end(epsilon: int) -> None:
    r = sf.audit(mech.RandomizedResponse(epsilon=epsilon), "yes", "no", exact=True)
    assert r.verdict == "holds"
    assert 600 < r.epsilon_lower < 700


def test_what_a_user_writes_as_zero_is_zero() -> None:
    laws = {0: {"a": 0.5, "b": 0.5}, 1: {"a": 1.0, "b": 0.0}}
    assert sf.audit(laws.get, 0, 1, claim=sf.Pure(100), exact=True).epsilon_lower == math.inf


@pytest.mark.parametrize("delta", [Fraction(1, 700), Fraction(1, 3), Fraction(3, 7)])
def test_a_delta_that_is_just_attained_leaves_nothing(delta: Fraction) -> None:
    """Masses in doubles may lie a little above δ: what is left of them would have any ratio."""
    m = mech.OptimalSelection(epsilon=1, delta=delta)
    assert sf.audit(m, 0, 1, exact=True).verdict == "holds"
    nearly = {
        0: {"a": math.nextafter(float(delta), 1), "b": 1 - math.nextafter(float(delta), 1)},
        1: {"b": 1.0},
    }
    assert sf.audit(nearly.get, 0, 1, claim=sf.Approx(1, delta), exact=True).verdict == "holds"
    more = {0: {"a": float(delta) + 1e-9, "b": 1 - float(delta) - 1e-9}, 1: {"b": 1.0}}  # the twin
    assert sf.audit(more.get, 0, 1, claim=sf.Approx(1, delta), exact=True).verdict == "violated"


def test_cells_are_found_however_outputs_are_written() -> None:
    laws = finite_law_pair(({"a": 0.5, "b": 0.5}, {"b": 1.0}))
    assert laws.cell is not None
    assert laws.cell(read_outputs(["b", "a", "never"])).tolist() == [1, 0, 2]
    numbers = finite_law_pair(({0: 0.5, 2: 0.5}, {1: 1.0}))
    assert numbers.cell is not None
    assert numbers.cell(read_outputs(np.array([2, 0, 1, 7]))).tolist() == [1, 0, 2, 3]
    assert numbers.cell(read_outputs([2, 0, 1, 7])).tolist() == [1, 0, 2, 3]


def test_prefixes_are_in_the_order_of_ratios() -> None:
    order, high, low = likelihood_prefixes(np.array([0.1, 0.6, 0.3]), np.array([0.5, 0.5, 0.0]))
    assert order.tolist() == [2, 1, 0]
    assert high.tolist() == pytest.approx([0.3, 0.9, 1.0])
    assert low.tolist() == pytest.approx([0.0, 0.5, 1.0])
