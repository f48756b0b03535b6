"""Key selection by thresholds: exact integers, every kind of neighbour by arithmetic, and each trap
with a twin that falls into it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import ball
from sfumato.testing import SeededBits

from ..refusing import refusal
from .untouchable import Untouchable

Atoms = list[tuple[arb, arb]]


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 160
    yield
    ctx.prec = before


def tail(m: Any, z: int) -> arb:
    """P(Z ≥ z), from the definition of the law."""
    if isinstance(m, mech.LaplaceThreshold):
        scale = m.moved * m.vote / m.epsilon
        beyond = (-ball(max(z, 1 - z) / scale)).exp() / (1 + (-ball(1 / scale)).exp())
        return beyond if z >= 1 else 1 - beyond
    return (ball(Fraction(2 * z - 1, 2) / m.sigma) / arb(2).sqrt()).erfc() / 2


def released(m: Any, count: int, reach: int) -> list[arb]:
    """The law of what is seen of one group: not kept, then the noisy counts T, T + 1, …, then all
    beyond.
    """
    if count == 0:
        return [arb(1)] + [arb(0)] * (reach + 1)
    t = [tail(m, m.threshold - count + i) for i in range(reach + 1)]
    return [1 - t[0], *(a - b for a, b in itertools.pairwise(t)), t[-1]]


def divergence(m: Any, changes: list[tuple[int, int]], epsilon: Fraction) -> tuple[arb, arb]:
    """The hockey-stick divergence between neighbours whose groups have the counts (here, there),
    both ways; noisy counts are shown.
    """
    product: Atoms = [(arb(1), arb(1))]
    for here, there in changes:
        reach = 40 if len(changes) < 3 else 8
        pairs = list(zip(released(m, here, reach), released(m, there, reach), strict=True))
        product = [(p * a, q * b) for p, q in product for a, b in pairs]
    grow = ball(epsilon).exp()
    forward = sum((v for p, q in product if (v := p - grow * q) > 0), arb(0))
    return forward, sum((v for p, q in product if (v := q - grow * p) > 0), arb(0))


def neighbours(m: Any) -> Iterator[list[tuple[int, int]]]:
    """All numbers of new and of old groups, the old ones below, at and above the threshold; under
    replace also groups that go.
    """
    v = m.vote
    olds = [(c, c + v) for c in (v, m.threshold - v, m.threshold + 3)]
    for new in range(m.groups + 1):
        for old in range(m.groups - new + 1):
            for chosen in itertools.combinations_with_replacement(olds, old):
                added = [(0, v)] * new + list(chosen)
                if m.relation == "add-remove":
                    yield added
                else:
                    yield from (
                        added + removed
                        for removed in (
                            [(v, 0)] * m.groups,
                            [(c + v, c) for c in (v, m.threshold)][: m.groups],
                        )
                    )


CASES: dict[str, Any] = {
    "laplace m=1": mech.LaplaceThreshold(epsilon=1, delta=0.01),
    "laplace m=2": mech.LaplaceThreshold(epsilon=1, delta=0.01, groups=2),
    "laplace m=3": mech.LaplaceThreshold(epsilon=3, delta=0.001, groups=3),
    "laplace votes of 4": mech.LaplaceThreshold(epsilon=2, delta=0.01, groups=2, vote=4),
    "laplace replace": mech.LaplaceThreshold(epsilon=2, delta=0.02, relation="replace"),
    "laplace large δ": mech.LaplaceThreshold(epsilon=0.1, delta=0.4, groups=2),
    "gaussian m=1": mech.GaussianThreshold(epsilon=1, delta=0.01),
    "gaussian m=2": mech.GaussianThreshold(epsilon=1, delta=0.01, groups=2),
    "gaussian m=3": mech.GaussianThreshold(epsilon=2, delta=0.001, groups=3),
    "gaussian σ=5": mech.GaussianThreshold(epsilon=1, delta=0.01, groups=2, sigma=5),
    "gaussian replace": mech.GaussianThreshold(epsilon=1, delta=0.05, relation="replace"),
}


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_neighbour(name: str) -> None:
    m = CASES[name]
    assert m.promise == sf.Approx(m.epsilon, m.delta, relation=m.relation)
    divergences = [
        value for changes in neighbours(m) for value in divergence(m, changes, m.epsilon)
    ]
    assert not [value for value in divergences if value > ball(m.delta)]
    assert not [value for value in divergences if value > arb(m.true_delta())]


@pytest.mark.parametrize("name", [name for name in CASES if "replace" not in name])
def test_the_delta_is_attained_by_new_groups(name: str) -> None:
    """For the geometric law m new groups have exactly `true_delta`; a threshold lower by one
    exceeds δ.
    """
    m = CASES[name]
    p, lower = tail(m, m.threshold - m.vote), tail(m, m.threshold - 1 - m.vote)
    if isinstance(m, mech.LaplaceThreshold):
        truth, _ = divergence(m, [(0, m.vote)] * m.groups, m.epsilon)[::-1]
        assert abs(truth - arb(m.true_delta())) < arb(2) ** -50
    assert max(m.total(p, j) for j in range(1, m.groups + 1)) <= ball(m.delta)
    assert max((m.total(lower, j) for j in range(1, m.groups + 1)), key=float) > ball(m.delta)


# The numbers, and the traps.


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups", "threshold", "below"),
    [(1, 1e-5, 1, 13, 1.221e-5), (1, 1e-6, 3, 45, 1.041e-6), (1, 1e-6, 10, 156, None)],
)
def test_laplace_thresholds(
    epsilon: float, delta: float, groups: int, threshold: int, below: float | None
) -> None:
    """The least T for ≥. One lower, as for ">" or by rounding the formula for real noise (11.82 to
    12), gives a δ that was not promised.
    """
    m = mech.LaplaceThreshold(epsilon=epsilon, delta=delta, groups=groups)
    assert m.threshold == threshold
    assert m.true_delta() <= delta
    one_lower = float(m.total(tail(m, threshold - 1 - m.vote), groups))
    assert one_lower > delta
    assert below is None or one_lower == pytest.approx(below, rel=1e-3)


def test_the_formula_for_real_noise_fails_on_integers() -> None:
    """B-16: 1 + ln(1/(2δ))/ε = 11.82; ⌈11.82⌉ = 12 is one too low for integers."""
    real = 1 + math.log(1 / 2e-5)
    assert real == pytest.approx(11.819778284410283, abs=1e-9)
    m = mech.LaplaceThreshold(epsilon=1, delta=1e-5)
    assert math.ceil(real) == m.threshold - 1
    assert tail(m, math.ceil(real) - 1) > arb("1.22e-5")


def test_at_least_and_above() -> None:
    """`keep` accepts a noisy count that equals T. (With ">" the same guarantee has T − 1.)"""
    m = mech.LaplaceThreshold(epsilon=1, delta=1e-5)
    assert m.keep_probability(1) == pytest.approx(float(tail(m, 12)), rel=1e-15)

    class Fixed(type(m.law)):
        def draw(self, bits: Any = None) -> int:
            return 3

    object.__setattr__(m, "law", Fixed(scale=1))
    assert m.keep(10)
    assert not m.keep(9)
    assert m.perturb(10) == 13
    assert m.perturb(9) is None


@pytest.mark.parametrize(
    ("sigma", "delta", "without", "arguments"), [(4, 1e-5, 18, 1.85e-5), (10, 1e-6, 49, 1.017e-6)]
)
def test_the_half_of_the_rounded_normal(
    sigma: int, delta: float, without: int, arguments: float
) -> None:
    """1 + σ·Φ⁻¹(1 − δ), rounded up, forgets that rounding lifts the noise by up to a half: one too
    low.
    """
    m = mech.GaussianThreshold(epsilon=5, delta=delta, sigma=sigma)
    assert m.threshold == without + 1
    assert m.total(tail(m, m.threshold - 1), 1) <= ball(Fraction(str(delta)))
    assert float(tail(m, without - 1)) == pytest.approx(arguments, rel=5e-3)
    assert float(tail(m, without - 1)) > delta


def test_the_best_sigma_for_ten_groups() -> None:
    """Theory's 13.36 and 70.5 (a cut between integers: T = 71), against 13.80 and 74.5 when δ is
    halved between counts and keys.
    """
    m = mech.GaussianThreshold(epsilon=1, delta=1e-6, groups=10)
    assert float(m.sigma) == pytest.approx(13.36, abs=5e-3)
    assert m.threshold == 71
    half = mech.Gaussian(sensitivity=math.sqrt(10), epsilon=1, delta=5e-7).sigma
    assert float(half) == pytest.approx(13.80, abs=5e-3)
    assert mech.GaussianThreshold(epsilon=1, delta=1e-6, groups=10, sigma=half).threshold == 74


@pytest.mark.parametrize(("groups", "times"), [(3, 1.0), (10, 2.6), (100, 24), (1000, 239)])
def test_weights_and_thresholds_do_not_go_together(groups: int, times: float) -> None:
    """m = 3 votes cut into G parts of weight 3·2^s/G: every part is a new group, and p does not
    vanish with its weight.
    """
    vote = 1 << 20
    m = mech.LaplaceThreshold(epsilon=1, delta=1e-6, groups=3, vote=vote)
    weight = 3 * vote // groups
    truth = 1 - (1 - tail(m, m.threshold - weight)) ** groups
    assert float(truth) / 1e-6 == pytest.approx(times, rel=0.03)
    assert (truth > ball(m.delta)) is (groups > 3)


def test_replace_doubles_the_counts_only() -> None:
    add_remove, replace = (
        mech.LaplaceThreshold(epsilon=1, delta=1e-6, relation=r) for r in ("add-remove", "replace")
    )
    assert replace.law.scale == 2 * add_remove.law.scale
    twin = mech.LaplaceThreshold(
        epsilon=1, delta=0.01
    )  # the noise of add-remove, under replace: a unit moves from one group to another
    assert max(divergence(twin, [(20, 21), (21, 20)], Fraction(1)), key=float) > ball(twin.delta)


# The interface.


def test_keep() -> None:
    for m in (
        mech.LaplaceThreshold(epsilon=1, delta=1e-5),
        mech.GaussianThreshold(epsilon=1, delta=1e-5),
    ):
        assert m.keep(10**6) is True
        assert m.keep(0) is False
        assert m.keep(np.int64(0)) is False
        decisions = m.keep(np.array([0, 1, 10**6]), bits=SeededBits(1))
        assert decisions.tolist() == [False, False, True]
        assert m.keep_probability(0) == 0
        assert m.keep_probability(m.threshold) > 0.5
        counts = np.full(20_000, m.threshold)
        share = m.keep(counts, bits=SeededBits(2)).mean()
        assert abs(share - m.keep_probability(m.threshold)) < 6 * math.sqrt(0.25 / 20_000), (
            "false alarm 2·10^-9"
        )
        assert abs(share - m.keep_probability(m.threshold - 1)) > 6 * math.sqrt(
            0.25 / 20_000
        ) or isinstance(m, mech.GaussianThreshold)


@pytest.mark.parametrize("count", [0.5, True, "3", [0.5], [True]])
def test_only_integers(count: Any) -> None:
    refusal(
        lambda: mech.LaplaceThreshold(epsilon=1, delta=1e-5).keep(count, bits=Untouchable()),
        "value.type",
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"delta": 0}, "number.not-a-probability"),
        ({"delta": 1}, "number.not-a-probability"),
        ({"groups": 0}, "keys.count"),
        ({"vote": 1.5}, "keys.count"),
        ({"relation": "swap"}, "guarantee.relation"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], code: str, no_entropy: None) -> None:
    for kind in (mech.LaplaceThreshold, mech.GaussianThreshold):
        refusal(lambda kind=kind: kind(**{"epsilon": 1, "delta": 1e-6} | arguments), code)


def test_a_sigma_too_small_is_refused() -> None:
    assert (
        "4.2"
        in refusal(
            lambda: mech.GaussianThreshold(epsilon=1, delta=1e-6, sigma=4), "keys.sigma"
        ).rewrite
    )


def test_repr() -> None:
    assert repr(mech.LaplaceThreshold(epsilon=1, delta=1e-5)) == (
        "LaplaceThreshold(epsilon=1, delta=1e-05, groups=1, vote=1, threshold=13, "
        "relation='add-remove')"
    )


@pytest.mark.parametrize("relation", ["", 0, False, "neither"])
@pytest.mark.parametrize("rule", [mech.LaplaceThreshold, mech.GaussianThreshold])
def test_only_a_missing_relation_means_add_remove(rule: Any, relation: Any) -> None:
    assert rule(epsilon=1, delta="1e-6").relation == "add-remove"
    assert rule(epsilon=1, delta="1e-6", relation=None).relation == "add-remove"
    with pytest.raises(sf.Refused) as caught:
        rule(epsilon=1, delta="1e-6", relation=relation)
    assert caught.value.code == "guarantee.relation"
