"""Known laws: exact audits equal the claim or the law's own divergence to 10⁻¹²; the best event is the best of all."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.auditing.bounds import expected_bounds
from sfumato.auditing.clopper_pearson import expected_limits
from sfumato.auditing.known import Known, finite, prefixes
from sfumato.auditing.outputs import outputs
from sfumato.guarantees.channel import Channel
from sfumato.guarantees.divergences import approx_max_divergence, max_divergence

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
    lower = Fraction(claimed) * Fraction(10**11 - 10, 10**11)  # the twin: a claim lower by 10⁻¹⁰ of itself
    assert sf.audit(m, x, y, claim=sf.Pure(lower), exact=True).verdict == "violated"


def test_direct_reports_keep_their_odds() -> None:
    m = sf.local.Direct(epsilon=1, categories=["a", "b", "c"])
    r = sf.audit(m, "a", "b", exact=True)
    assert r.epsilon_lower == pytest.approx(math.log(m.odds), abs=1e-12)
    assert r.verdict == "holds"


@pytest.mark.parametrize("symmetric", [False, True])
def test_unary_reports_keep_their_odds(symmetric: bool) -> None:
    m = sf.local.Unary(epsilon=1, categories=["a", "b", "c"], symmetric=symmetric)
    assert sf.audit(m, "a", "b", exact=True).epsilon_lower == pytest.approx(math.log(m.odds), abs=1e-12)


def test_a_channel_and_a_function_that_gives_laws() -> None:
    channel = Channel({"x": {"a": "2/3", "b": "1/3"}, "y": {"a": "1/3", "b": "2/3"}})
    r = sf.audit(channel, "x", "y", claim=sf.Pure("0.7"), exact=True)
    assert r.epsilon_lower == pytest.approx(math.log(2), abs=1e-15)
    assert r.epsilon_lower <= math.log(2)
    laws = {0: {"a": Fraction(2, 3), "b": Fraction(1, 3)}, 1: {"a": Fraction(1, 3), "c": Fraction(2, 3)}}
    assert sf.audit(lambda x: laws[x], 0, 1, claim=sf.Pure(1), exact=True).epsilon_lower == math.inf
    assert sf.audit(lambda x: laws[x], 0, 1, claim=sf.Approx(1, "0.7"), exact=True).verdict == "holds"
    assert sf.audit(lambda x: laws[x], 0, 1, claim=sf.Approx(1, "0.6"), exact=True).verdict == "violated"


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
def test_epsilon_is_the_divergence_of_the_laws(delta: float) -> None:
    g = np.random.default_rng(5)
    for _ in range(20):
        p, q = (tuple(v / v.sum()) for v in g.random((2, 5)))
        known = Known(p, q, tuple("abcde"))
        expected = max(approx_max_divergence(list(p), list(q), delta), approx_max_divergence(list(q), list(p), delta))
        assert known.epsilon(delta)[0] == pytest.approx(max(0.0, expected), abs=1e-12)
        if not delta:
            assert known.epsilon(0)[0] <= max(max_divergence(list(p), list(q)), max_divergence(list(q), list(p)))


def test_the_best_event_is_the_best_of_all_events() -> None:
    g = np.random.default_rng(11)
    for claim, delta in ((sf.Pure(1), 0.0), (sf.Approx(1, 0.05), 0.05), (sf.GDP(1), 0.0)):
        p, q = (v / v.sum() for v in g.random((2, 6)))
        known = Known(tuple(p), tuple(q), tuple("abcdef"))
        found = known.best(claim, delta, samples=10_000, alpha=1e-6)[0]
        every = []
        for event in chain.from_iterable(combinations(range(6), size) for size in range(1, 6)):
            for a, b in ((p, q), (q, p)):
                low, high = expected_limits([a[list(event)].sum()], [b[list(event)].sum()], 10_000, 5e-7)
                every.append(float(expected_bounds(claim, low, high, delta)[0]))
        assert found == pytest.approx(max(every), abs=1e-9)


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


def test_cells_are_found_however_outputs_are_written() -> None:
    known = finite(({"a": 0.5, "b": 0.5}, {"b": 1.0}))
    assert known.cell is not None
    assert known.cell(outputs(["b", "a", "never"])).tolist() == [1, 0, 2]
    numbers = finite(({0: 0.5, 2: 0.5}, {1: 1.0}))
    assert numbers.cell is not None
    assert numbers.cell(outputs(np.array([2, 0, 1, 7]))).tolist() == [1, 0, 2, 3]
    assert numbers.cell(outputs([2, 0, 1, 7])).tolist() == [1, 0, 2, 3]


def test_prefixes_are_in_the_order_of_ratios() -> None:
    order, high, low = prefixes(np.array([0.1, 0.6, 0.3]), np.array([0.5, 0.5, 0.0]))
    assert order.tolist() == [2, 1, 0]
    assert high.tolist() == pytest.approx([0.3, 0.9, 1.0])
    assert low.tolist() == pytest.approx([0.0, 0.5, 1.0])
