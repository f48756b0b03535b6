"""The best attacker: no test of any kind does better."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.guarantees.finite.divergences import approx_max_divergence, f_divergence, hockey_stick
from sfumato.guarantees.finite.finite_laws import Weights
from sfumato.guarantees.meaning.attacker import Attacker


@st.composite
def attackers(draw: st.DrawFn) -> Attacker:
    n = draw(st.integers(2, 5))
    some = st.lists(st.integers(0, 6), min_size=n, max_size=n).filter(any)
    p, q = (tuple(F(x, sum(w)) for x in w) for w in (draw(some), draw(some)))
    return Attacker(tuple(range(n)), p, q)


def errors(attacker: Attacker, says_other: tuple[F | int, ...]) -> tuple[F, F]:
    """The errors of a test that says x′ with the given chance at each answer."""
    type_one = sum((c * p for c, p in zip(says_other, attacker.null, strict=True)), F(0))
    return type_one, sum(
        ((1 - c) * q for c, q in zip(says_other, attacker.alternative, strict=True)), F(0)
    )


@given(attackers())
def test_the_test_has_the_least_sum_of_errors(attacker: Attacker) -> None:
    every = [errors(attacker, says) for says in product((0, 1), repeat=len(attacker.outputs))]
    assert min(sum(pair) for pair in every) == attacker.total_error
    says = tuple(int(decision) for decision in attacker.test.values())
    assert errors(attacker, says) == (attacker.type_one, attacker.type_two)
    assert attacker.advantage == F(
        f_divergence("tv", attacker.null, attacker.alternative)
    ).limit_denominator(10**6)


@settings(max_examples=50)
@given(attackers())
def test_the_curve_is_convex_and_below_every_test(attacker: Attacker) -> None:
    corners = attacker.corners
    assert corners[0][0] == 0
    assert corners[-1] == (1, 0)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(corners)]
    assert all(a < b <= 0 for a, b in pairwise(slopes))
    for says in product((0, F(1, 2), 1), repeat=len(attacker.outputs)):
        alpha, beta = errors(attacker, says)
        assert attacker.tradeoff(alpha) <= beta
    assert min(alpha + beta for alpha, beta in corners) == attacker.total_error


@given(attackers(), st.fractions(0, 1, max_denominator=12))
def test_the_curve_backwards_is_its_inverse(attacker: Attacker, alpha: F) -> None:
    back = Attacker(attacker.outputs, attacker.alternative, attacker.null)
    assert back.tradeoff(attacker.tradeoff(alpha)) <= alpha
    assert back.total_error == attacker.total_error


@given(attackers(), st.fractions(0, 2, max_denominator=12), st.fractions(0, 1, max_denominator=12))
def test_a_promise_bounds_every_error(attacker: Attacker, epsilon: F, alpha: F) -> None:
    p, q = attacker.null, attacker.alternative
    delta = max(
        hockey_stick(p, q, epsilon, rounding="up"), hockey_stick(q, p, epsilon, rounding="up")
    )
    beta = float(attacker.tradeoff(alpha))
    e = math.exp(epsilon)
    assert beta >= max(1 - delta - e * float(alpha), (1 - delta - float(alpha)) / e) - 1e-12
    assert float(attacker.total_error) >= 2 * (1 - delta) / (1 + e) - 1e-12


def test_the_bound_is_attained_by_the_coin_toss() -> None:
    p: Weights = (F(3, 4), F(1, 4))
    attacker = Attacker(("yes", "no"), p, p[::-1])
    assert approx_max_divergence(p, p[::-1], 0) == math.log(3)
    assert attacker.total_error == F(1, 2) == 2 / F(1 + 3)
    assert attacker.test == {"yes": False, "no": True}
    assert attacker.corners == ((0, 1), (F(1, 4), F(1, 4)), (1, 0))


def test_an_answer_that_betrays_costs_no_risk() -> None:
    attacker = Attacker((0, 1, 2), (F(1, 2), F(1, 2), F(0)), (F(0), F(1, 2), F(1, 2)))
    assert attacker.corners == ((0, F(1, 2)), (F(1, 2), 0), (1, 0))
    assert attacker.tradeoff(0) == F(1, 2)
    assert attacker.tradeoff(F(3, 4)) == 0
    assert Attacker((0, 1), (F(1), F(0)), (F(0), F(1))).corners == ((0, 0), (1, 0))
