"""Every notion of privacy through one suite: the algebra, the order, round trips, storage."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise, product

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.guarantees import Guarantee, Mixed

from .notions import ALL, ALPHAS, DELTAS, EPSILONS, EXAMPLES, SAME_NOTION


def each(values: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("a", values, ids=lambda a: repr(a)[:60])


@each(ALL)
def test_three_times_is_the_sum_of_three(a: Guarantee) -> None:
    assert 3 * a == a + a + a == sum([a, a, a])
    assert 1 * a == a
    assert a * 2 == 2 * a


@each(ALL)
def test_zero_times_costs_nothing(a: Guarantee) -> None:
    nothing = 0 * a
    assert nothing.delta(0) == 0.0
    assert nothing.epsilon(0) == 0.0
    assert nothing <= a


def test_sum_commutes_and_associates_across_notions() -> None:
    chosen = [examples[2] for examples in EXAMPLES.values()]
    for a, b, c in product(chosen, repeat=3):
        assert a + b == b + a
        assert (a + b) + c == a + (b + c)


def test_sum_of_different_notions_keeps_both_parts() -> None:
    a = sf.Pure("0.5") + sf.GDP(1)
    assert isinstance(a, Mixed)
    assert a.parts == (sf.Pure("0.5"), sf.GDP(1))
    assert repr(a) == "Pure(0.5) + GDP(1)"


@each(ALL)
def test_order_is_reflexive(a: Guarantee) -> None:
    assert a <= a
    assert a >= a
    assert a <= 2 * a


def test_order_is_transitive_on_a_grid() -> None:
    chains = 0
    below = {(i, j) for (i, a), (j, b) in product(enumerate(ALL), repeat=2) if a <= b}
    for i, j in below:
        for k in range(len(ALL)):
            if (j, k) in below:
                chains += i != j != k
                assert (i, k) in below, f"{ALL[i]} <= {ALL[j]} <= {ALL[k]} but not the ends"
    assert chains > 50


@pytest.mark.parametrize(("a", "b"), SAME_NOTION, ids=repr)
def test_order_agrees_with_the_curves(a: Guarantee, b: Guarantee) -> None:
    if a <= b:
        assert all(a.delta(e) <= b.delta(e) * (1 + 1e-12) + 1e-320 for e in EPSILONS)


@each(ALL)
def test_epsilon_inverts_delta(a: Guarantee) -> None:
    for d in DELTAS:
        e = a.epsilon(d)
        if math.isinf(e):
            continue
        assert a.delta(Fraction(e)) <= d * (
            1 + Fraction(1, 10**9 if not isinstance(a, sf.Loss) else 10**3)
        )  # a Loss: within its certificate
        if e > 1e-9:  # and not much less would do
            assert a.delta(Fraction(e) * Fraction(999_999, 1_000_000)) >= d * (
                1 - Fraction(1, 10**4)
            ) or a.epsilon(d) == a.epsilon(d * Fraction(99, 100))


@each(ALL)
def test_curves_are_monotone_and_within_range(a: Guarantee) -> None:
    deltas = [a.delta(e) for e in EPSILONS]
    assert all(0.0 <= d <= 1.0 for d in deltas)
    assert all(x >= y * (1 - 1e-12) for x, y in pairwise(deltas))
    epsilons = [a.epsilon(d) for d in DELTAS]
    assert all(x >= y for x, y in pairwise(epsilons))
    errors = [a.tradeoff(alpha) for alpha in ALPHAS]
    assert all(0 <= Fraction(e) <= 1 - alpha for e, alpha in zip(errors, ALPHAS, strict=True))
    assert all(x >= y for x, y in pairwise(errors))
    orders = [a.renyi(o) for o in (1, "1.5", 2, 8, 32)]
    assert all(x <= y for x, y in pairwise(orders))


@each(ALL)
def test_tradeoff_and_curve_say_the_same(a: Guarantee) -> None:
    """The advantage 1 − α − β of the best test at any α is at most δ(0)."""
    assert all(
        1 - alpha - Fraction(a.tradeoff(alpha)) <= Fraction(a.delta(0)) + Fraction(1, 10**12)
        for alpha in ALPHAS
    )


@each(ALL)
def test_a_larger_group_is_promised_less(a: Guarantee) -> None:
    if not _has_groups(a):
        with pytest.raises(Refused, match=r"guarantee\.group"):
            a.group(4)
        return
    family, larger = a.group(2), a.group(4)
    assert a.group(1) == a
    assert all(
        a.delta(e) <= family.delta(e) * (1 + 1e-12) <= larger.delta(e) * (1 + 1e-11)
        for e in EPSILONS
    )


def _has_groups(a: Guarantee) -> bool:
    """Curves need δ = 0 and orders of twice the group's size, zCDP needs δ = 0."""
    parts = a.parts if isinstance(a, Mixed) else (a,)
    curved = [part for part in parts if isinstance(part, sf.Renyi | sf.ZCDP)]
    return not any(part.parameters.get("delta") for part in curved) and all(
        max(part.orders) >= 8 for part in parts if isinstance(part, sf.Renyi)
    )


@each(ALL)
def test_relation_and_unit_are_carried_and_checked(a: Guarantee) -> None:
    bound = type(a)._bind(2 * a, "add-remove", "patient")
    assert (bound + a).relation == (3 * bound).relation == "add-remove"
    assert (a + bound).unit == bound.group(1).unit == "patient"
    assert bound.relation in repr(bound) or isinstance(bound, Mixed)
    with pytest.raises(Refused, match=r"guarantee\.relation"):
        bound + sf.Pure(1, relation="replace")
    with pytest.raises(Refused, match=r"guarantee\.unit"):
        assert bound <= sf.Pure(1, unit="visit")


@each(ALL)
def test_storage_gives_an_equal_value_back(a: Guarantee) -> None:
    for bound in (a, type(a)._bind(1 * a, "replace", "patient")):
        assert Guarantee.from_json(bound.to_json()) == bound
        assert json.loads(bound.to_json())["version"] == 1


@each(ALL)
def test_reads_well(a: Guarantee) -> None:
    assert "Fraction" not in repr(a)
    assert len(repr(a)) < 400


@pytest.mark.parametrize(
    "call",
    [
        lambda: -1 * sf.Pure(1),
        lambda: sf.Pure(1).group(0),
        lambda: sf.Pure(1).delta(-1),
        lambda: sf.Pure(1).epsilon(2),
        lambda: sf.Pure(1).tradeoff(2),
        lambda: sf.Pure(1).renyi("0.5"),
        lambda: sf.Pure(-1),
        lambda: sf.Approx(1, 1),
        lambda: sf.Pure(1, relation="swap"),
        lambda: sf.Pure(1, unit=""),
        lambda: sf.Renyi({}),
        lambda: sf.Renyi({1: 1}),
        lambda: 3 * sf.Approx(1, "0.5"),
    ],
)
def test_nonsense_is_refused(call: object) -> None:
    with pytest.raises(Refused):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: 1.5 * sf.Pure(1),
        lambda: True * sf.Pure(1),
        lambda: sf.Pure(1) + 1,
        lambda: sf.Pure(1) <= 1,
    ],
)
def test_other_types_do_not_mix(call: object) -> None:
    with pytest.raises(TypeError):
        call()
