"""Divergences: against all events, against each other, and their laws; beside them the printed
forms that are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction as F
from itertools import pairwise, product

import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.exact.balls import ball
from sfumato.guarantees.finite.divergences import (
    NAMED,
    approx_max_divergence,
    f_divergence,
    hockey_stick,
    kl,
    max_divergence,
    quantise,
    quantised_f_divergence,
    renyi,
)
from sfumato.guarantees.finite.finite_laws import Weights

from ..refusing import refusing

COIN, OTHER = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))
ORDERS = (F(1, 10), F(1, 2), F(1), F(3, 2), F(2), F(5), F(100))
Laws = tuple[Weights, ...]


@st.composite
def laws(draw: st.DrawFn, count: int = 2, *, least: int = 0, size: int = 5) -> Laws:
    """Laws on the same few outcomes; with least=0 some outcomes have no mass by some of them."""
    n = draw(st.integers(2, size))
    some = st.lists(st.integers(least, 6), min_size=n, max_size=n).filter(any)
    return tuple(tuple(F(x, sum(w)) for x in w) for w in (draw(some) for _ in range(count)))


def events(p: Weights, q: Weights) -> Iterator[tuple[F, F]]:
    """P(S) and Q(S) of every event S."""
    for chosen in product((0, 1), repeat=len(p)):
        yield (
            sum((a for a, c in zip(p, chosen, strict=True) if c), F(0)),
            sum((b for b, c in zip(q, chosen, strict=True) if c), F(0)),
        )


def close(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-14)


@given(laws(), st.fractions(0, 2, max_denominator=20))
def test_hockey_stick_is_the_best_event(PQ: Laws, epsilon: F) -> None:
    p, q = PQ
    assert close(
        hockey_stick(p, q, epsilon),
        max(float(a) - math.exp(epsilon) * float(b) for a, b in events(p, q)),
    )


@given(laws(), st.sampled_from([F(0), F(1, 20), F(1, 3), F(9, 10)]))
def test_approximate_max_divergence_is_the_best_event(PQ: Laws, delta: F) -> None:
    p, q = PQ
    divergence = approx_max_divergence(p, q, delta)
    best = max(
        math.inf if not b else math.log((a - delta) / b) for a, b in events(p, q) if a > delta
    )
    assert close(divergence, best)
    assert divergence >= math.log(1 - delta) - 1e-12


@given(laws(), st.sampled_from([F(0), F(1, 20), F(1, 3)]))
def test_epsilon_and_delta_are_inverse(PQ: Laws, delta: F) -> None:
    p, q = PQ
    epsilon = approx_max_divergence(p, q, delta, rounding="up")
    if not math.isinf(epsilon):
        assert hockey_stick(p, q, F(epsilon)) <= delta + F(1, 10**15)
        assert hockey_stick(p, q, F(epsilon) - F(1, 10**6)) > delta


@given(laws())
def test_delta_at_zero_is_the_same_both_ways_and_total_variation(PQ: Laws) -> None:
    p, q = PQ
    assert hockey_stick(p, q, 0) == hockey_stick(q, p, 0) == f_divergence("tv", p, q)


def test_delta_above_zero_is_not_the_same_both_ways() -> None:
    p, q = (F(1, 2), F(1, 2), F(0)), (F(1, 2), F(1, 4), F(1, 4))
    assert hockey_stick(p, q, 1) == 0.0
    assert hockey_stick(q, p, 1) == 0.25


@given(laws(), st.sampled_from(ORDERS))
def test_no_divergence_is_below_zero_and_equal_laws_have_none(PQ: Laws, order: F) -> None:
    p, q = PQ
    values = [
        renyi(p, q, order, rounding="down"),
        max_divergence(p, q),
        kl(p, q),
        *(f_divergence(f, p, q, rounding="down") for f in NAMED),
    ]
    assert all(value > 0 for value in values) == (p != q)
    assert all(value >= 0 for value in values)


@given(laws())
def test_renyi_grows_with_the_order(PQ: Laws) -> None:
    p, q = PQ
    values = [renyi(p, q, order, rounding="nearest") for order in ORDERS] + [renyi(p, q, math.inf)]
    assert all(a <= b * (1 + 1e-15) for a, b in pairwise(values))


@given(laws(least=1))
def test_the_limits_of_renyi_are_limits(PQ: Laws) -> None:
    p, q = PQ
    tiny = F(1, 10**8)
    assert abs(renyi(p, q, 1 + tiny) - renyi(p, q, 1)) < 1e-6
    assert abs(renyi(p, q, 1 - tiny) - renyi(p, q, 1)) < 1e-6
    assert abs(renyi(p, q, 10**9) - renyi(p, q, math.inf)) < 1e-6


@given(laws(4), st.sampled_from(ORDERS), st.fractions(0, 2, max_denominator=20))
def test_products_add_up(four: Laws, order: F, epsilon: F) -> None:
    p, q, r, s = four
    pr, qs = [a * b for a, b in product(p, r)], [a * b for a, b in product(q, s)]
    assert close(renyi(pr, qs, order), renyi(p, q, order) + renyi(r, s, order))
    assert close(max_divergence(pr, qs), max_divergence(p, q) + max_divergence(r, s))
    first, second = approx_max_divergence(p, q, 0), approx_max_divergence(r, s, 0)
    if not math.isinf(first + second):
        assert hockey_stick(pr, qs, F(first) + F(second)) < 1e-12
    assert (
        hockey_stick(pr, qs, 2 * epsilon)
        <= hockey_stick(p, q, epsilon) + hockey_stick(r, s, epsilon) + 1e-12
    )


@settings(max_examples=50)
@given(
    laws(least=1, count=4),
    st.fractions(0, 1, max_denominator=7),
    st.fractions(0, 2, max_denominator=20),
)
def test_mixing_brings_laws_closer(four: Laws, share: F, epsilon: F) -> None:
    """Joint convexity; Rényi divergence has it up to order 1 only, above it the exponential of it
    (and joint quasi-convexity) holds.
    """
    p, q, r, s = four
    mixed = [
        tuple(share * a + (1 - share) * b for a, b in zip(x, y, strict=True))
        for x, y in ((p, r), (q, s))
    ]
    measures: list[Callable[..., float]] = [
        kl,
        lambda a, b: hockey_stick(a, b, epsilon),
        lambda a, b: renyi(a, b, F(1, 2)),
    ]
    measures += [lambda a, b, f=f: f_divergence(f, a, b) for f in NAMED]
    for measure in measures:
        assert (
            measure(*mixed)
            <= float(share) * measure(p, q) + float(1 - share) * measure(r, s) + 1e-12
        )
    for order in (F(2), F(7)):
        assert renyi(*mixed, order) <= max(renyi(p, q, order), renyi(r, s, order)) + 1e-12


@settings(max_examples=50)
@given(
    laws(size=4),
    st.lists(
        st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any), min_size=4, max_size=4
    ),
    st.fractions(0, 2, max_denominator=20),
)
def test_processing_never_helps(PQ: Laws, kernel: list[list[int]], epsilon: F) -> None:
    p, q = PQ
    after = [
        tuple(
            sum((w * F(k[j], sum(k)) for w, k in zip(x, kernel, strict=False)), F(0))
            for j in range(3)
        )
        for x in (p, q)
    ]
    for order in (*ORDERS, math.inf):
        assert renyi(*after, order, rounding="down") <= renyi(p, q, order, rounding="up")
    assert hockey_stick(*after, epsilon, rounding="down") <= hockey_stick(
        p, q, epsilon, rounding="up"
    )
    for f in NAMED:
        assert f_divergence(f, *after, rounding="down") <= f_divergence(f, p, q, rounding="up")


@given(
    laws(size=4),
    st.sampled_from(sorted(NAMED)),
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
)
def test_a_quantised_divergence_is_smaller(PQ: Laws, f: str, colours: list[int]) -> None:
    p, q = PQ
    cells = [[i for i in range(len(p)) if colours[i] == colour] for colour in range(3)]
    singletons = [[i] for i in range(len(p))]
    assert quantised_f_divergence(f, p, q, cells, rounding="down") <= f_divergence(
        f, p, q, rounding="up"
    )
    assert quantised_f_divergence(f, p, q, singletons) == f_divergence(f, p, q)
    assert quantised_f_divergence(f, p, q, [range(len(p))]) == 0.0


@given(laws(), st.sampled_from([F(3, 2), F(2), F(7)]))
def test_renyi_is_an_f_divergence_in_disguise(PQ: Laws, order: F) -> None:
    p, q = PQ
    assume(p != q)
    d = f_divergence(
        lambda t: (ball(order) * ball(t).log()).exp() - 1 if t else F(-1), p, q, slope=math.inf
    )
    power = (
        math.exp(float(order - 1) * renyi(p, q, order)) if renyi(p, q, order) < 100 else math.inf
    )
    assert d == power == math.inf or math.isclose(d, power - 1, rel_tol=1e-9)
    assert d == math.inf or not math.isclose(d, power, rel_tol=1e-9), (
        "the printed identity, without the 1"
    )


@given(laws(), st.fractions(0, 2, max_denominator=20))
def test_hockey_stick_is_an_f_divergence(PQ: Laws, epsilon: F) -> None:
    p, q = PQ

    def f(t: F) -> arb:
        return max(ball(t) - ball(epsilon).exp(), arb(0))

    assert close(f_divergence(f, p, q, slope=1), hockey_stick(p, q, epsilon))


@given(
    laws(), st.fractions(0, 2, max_denominator=20), st.fractions(F(1, 20), 2, max_denominator=20)
)
def test_the_tail_of_the_loss_is_sufficient_and_markov_is_what_comes_back(
    PQ: Laws, epsilon: F, more: F
) -> None:
    p, q = PQ

    def tail(t: F) -> float:
        return float(
            sum(a for a, b in zip(p, q, strict=True) if a and (not b or math.log(a / b) > t))
        )

    delta = hockey_stick(p, q, epsilon)
    assert delta <= tail(epsilon) + 1e-12
    assert tail(epsilon + more) <= delta / -math.expm1(-more) + 1e-12


def test_the_tail_of_the_loss_is_not_necessary() -> None:
    """Printed as an equivalence: (ε, δ)-DP iff P(|L| > ε) ≤ δ. The coin toss at ε = 1 is (1,
    0.08)-DP, and |L| is always above 1.
    """
    delta = hockey_stick(COIN, OTHER, 1, rounding="up")
    assert delta < 0.08
    assert min(abs(math.log(a / b)) for a, b in zip(COIN, OTHER, strict=True)) > 1


def test_a_delta_at_every_outcome_is_no_delta() -> None:
    """Printed as an equivalence: p ≤ e^ε q + δ pointwise. Two laws with nothing in common pass, at
    any ε.
    """
    n, zero = 1000, [F(0)] * 1000
    p, q = [F(1, n)] * n + zero, zero + [F(1, n)] * n
    assert all(a <= b + F(1, n) for a, b in zip(p, q, strict=True))
    assert hockey_stick(p, q, 0, rounding="down") == hockey_stick(p, q, 50, rounding="down") == 1.0
    assert approx_max_divergence(p, q, F(999, 1000)) == math.inf


@given(laws(least=1), st.sampled_from([F(3, 2), F(2), F(5)]))
def test_renyi_is_an_expectation_under_the_second_law(PQ: Laws, order: F) -> None:
    """Printed with one letter for both laws. Under the first law the power is α − 1; with α it is
    another number.
    """
    p, q = PQ
    assume(p != q)

    def expectation(law: Weights, power: F) -> float:
        return math.log(
            sum(float(w) * float(a / b) ** float(power) for w, a, b in zip(law, p, q, strict=True))
        ) / float(order - 1)

    assert math.isclose(renyi(p, q, order), expectation(q, order), rel_tol=1e-6, abs_tol=1e-9)
    assert math.isclose(renyi(p, q, order), expectation(p, order - 1), rel_tol=1e-6, abs_tol=1e-9)
    assert not math.isclose(renyi(p, q, order), expectation(p, order), rel_tol=1e-6, abs_tol=1e-9)


def test_kl_is_an_expectation_over_outcomes_not_over_events() -> None:
    over_events = [float(a) * math.log(a / b) for a, b in events(COIN, OTHER) if a]
    assert close(kl(COIN, OTHER), math.log(3) / 2)
    assert not math.isclose(sum(over_events) / len(over_events), kl(COIN, OTHER), rel_tol=1e-3)


def test_mass_that_the_other_law_has_not() -> None:
    p, q = (F(9, 10), F(1, 10)), (F(1), F(0))
    assert (
        max_divergence(p, q) == kl(p, q) == renyi(p, q, 2) == f_divergence("chi2", p, q) == math.inf
    )
    assert hockey_stick(p, q, 700, rounding="nearest") == 0.1
    assert approx_max_divergence(p, q, F(1, 11)) == math.inf
    assert approx_max_divergence(p, q, F(1, 10)) == pytest.approx(
        math.log(0.9)
    )  # below zero: only the event of everything is left
    assert renyi(p, q, F(1, 2)) == pytest.approx(-math.log(0.9))
    assert renyi((1, 0), (0, 1), F(1, 2)) == math.inf
    assert [f_divergence(f, (1, 0), (0, 1)) for f in ("tv", "hellinger", "jensen-shannon")] == [
        1.0,
        2.0,
        pytest.approx(math.log(2)),
    ]


@pytest.mark.parametrize(
    "measure", [kl, max_divergence, lambda p, q, rounding: renyi(p, q, F(7, 3), rounding=rounding)]
)
def test_rounding_is_outward(measure: Callable[..., float]) -> None:
    p, q = (F(1, 3), F(2, 3)), (F(2, 7), F(5, 7))
    low, middle, high = (measure(p, q, rounding=rounding) for rounding in ("down", "nearest", "up"))
    assert low <= middle <= high
    assert low < high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@pytest.mark.parametrize("order", ["1e-300", "1e-6", "0.999999", "1.000001", "1e6", "1e300"])
def test_extreme_orders(order: str) -> None:
    assert (
        0 < renyi(COIN, OTHER, order, rounding="up") <= max_divergence(COIN, OTHER, rounding="up")
    )


@pytest.mark.parametrize("epsilon", ["-1e300", "-50", "1e-300", "50", "1e300"])
def test_extreme_epsilons(epsilon: str) -> None:
    assert 0 <= hockey_stick(COIN, OTHER, epsilon) <= 1


def test_laws_that_nearly_agree() -> None:
    tiny = F(1, 10**30)
    p, q = (F(1, 2) + tiny, F(1, 2) - tiny), (F(1, 2), F(1, 2))
    assert kl(p, q) == pytest.approx(2e-60)
    assert renyi(p, q, 2) == pytest.approx(4e-60)
    assert f_divergence("jensen-shannon", p, q) == pytest.approx(5e-61)


def test_named_outcomes() -> None:
    assert kl({"yes": 0.75, "no": 0.25}, {"no": 0.75, "yes": 0.25}) == kl(COIN, OTHER)
    assert quantise({"a": 0.5, "b": 0.25, "c": 0.25}, [["a", "c"], ["b"]]) == (F(3, 4), F(1, 4))
    P, Q = {"a": 1, "b": 0}, {"b": F(1, 3), "a": F(2, 3)}
    assert (
        quantised_f_divergence("tv", P, Q, [["a"], ["b"]])
        == f_divergence("tv", P, Q)
        == pytest.approx(1 / 3)
    )


def test_refusals() -> None:
    with refusing("divergence.name"):
        f_divergence("tvv", COIN, OTHER)
    with refusing("divergence.function"):
        f_divergence(lambda t: float(t) - 1.0, COIN, OTHER)
    with refusing("divergence.function"):
        f_divergence(lambda t: t**2, COIN, OTHER)
    with refusing("divergence.function"):
        f_divergence(lambda t: t == 1, COIN, OTHER)
    with refusing("divergence.slope"):
        f_divergence(lambda t: abs(t - 1), (1, 0), (0, 1))
    for cells in ([[0]], [[0], [0, 1]], [[0], [2]], []):
        with refusing("divergence.cells"):
            quantised_f_divergence("kl", COIN, OTHER, cells)
    with refusing("number.not-positive"):
        renyi(COIN, OTHER, 0)
    with refusing("law.outcomes"):
        kl(COIN, (1,))
