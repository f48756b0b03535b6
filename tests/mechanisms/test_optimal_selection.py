"""The best rule of key selection: the recursion, every split of a unit's weight by arithmetic, and
what would break it.
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
from sfumato.exact.balls import ball, precision
from sfumato.ledger.pricing import price
from sfumato.mechanisms import optimal_selection
from sfumato.testing import SeededBits, TapeBits

from ..refusing import refusal
from .untouchable import Untouchable


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


def recursion(m: Any, last: int) -> list[arb]:
    """π(0), …, π(last), by the recursion itself."""
    eta = m.epsilon / (m.moved * m.quanta)
    kappa = ball(m.delta / m.moved) * ball(eta).expm1() / ball(m.epsilon / m.moved).expm1()
    pi = [arb(0)]
    for _ in range(last):
        pi.append(
            min(
                ball(eta).exp() * pi[-1] + kappa,
                1 - (-ball(eta)).exp() * (1 - pi[-1] - kappa),
                arb(1),
                key=float,
            )
        )
    return pi


CASES: dict[str, Any] = {
    "ε=1 δ=1e-5": mech.OptimalSelection(epsilon=1, delta=1e-5),
    "m=2 quanta=16": mech.OptimalSelection(epsilon=1, delta=1e-3, groups=2, quanta=16),
    "quanta=4": mech.OptimalSelection(epsilon=3, delta=0.01, quanta=4),
    "large δ": mech.OptimalSelection(epsilon=0.1, delta=0.3),
    "huge δ": mech.OptimalSelection(epsilon=1, delta=0.9),
    "m=3": mech.OptimalSelection(epsilon=5, delta=1e-3, groups=3, quanta=2),
    "replace": mech.OptimalSelection(epsilon=1, delta=1e-3, relation="replace"),
}


@pytest.mark.parametrize("name", CASES)
def test_closed_form_and_recursion(name: str) -> None:
    m = CASES[name]
    pi = recursion(m, m._sure + 2)
    assert pi[m._sure - 1] < 1
    for w, truth in enumerate(pi):
        assert not truth < arb(m.keep_probability(w, "down")) - arb(2) ** -150
        assert not truth > arb(m.keep_probability(w, "up")) + arb(2) ** -150
    assert m.keep_probability(m._sure) == 1.0


@pytest.mark.parametrize(
    ("n", "share"),
    [
        (1, 1e-5),
        (5, 0.0008579102488372161),
        (10, 0.12818308050524602),
        (12, 0.7603109969226272),
        (20, 0.9999254111119027),
    ],
)
def test_published(n: int, share: float) -> None:
    """B-16b."""
    assert CASES["ε=1 δ=1e-5"].keep_probability(n) == pytest.approx(share, abs=1e-12)


def divergence(pi: list[arb], changes: list[tuple[int, int]], epsilon: Fraction) -> tuple[arb, arb]:
    """The hockey-stick divergence, both ways, of which groups are kept: independent coins of
    π(here) and π(there).
    """
    product = [(arb(1), arb(1))]
    for here, there in changes:
        p, q = pi[min(here, len(pi) - 1)], pi[min(there, len(pi) - 1)]
        product = [(a * x, b * y) for a, b in product for x, y in ((p, q), (1 - p, 1 - q))]
    grow = ball(epsilon).exp()
    return sum((v for a, b in product if (v := a - grow * b) > 0), arb(0)), sum(
        (v for a, b in product if (v := b - grow * a) > 0), arb(0)
    )


def partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """The ways to give away at most `total` in parts of at most `largest`."""
    yield ()
    for part in range(min(total, largest), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


def worst(m: Any, pi: list[arb], splits: list[tuple[int, ...]], bases: tuple[int, ...]) -> arb:
    """The largest divergence when a unit with these weights joins groups that have the weights
    `bases`.
    """
    largest = arb(0)
    for split in splits:
        for base in (
            itertools.product(bases, repeat=len(split))
            if len(split) <= 3
            else [(b,) * len(split) for b in bases]
        ):
            for value in divergence(
                pi, [(b, b + w) for b, w in zip(base, split, strict=True)], m.epsilon
            ):
                largest = max(largest, value)
    return largest


def test_every_split_of_a_units_weight() -> None:
    """m = 2, quanta = 4: all ways to spread 8 quanta, at most 4 in a group, over new groups, groups
    at the turn and nearly sure ones.
    """
    m = mech.OptimalSelection(epsilon=1, delta=1e-3, groups=2, quanta=4)
    pi = recursion(m, m._sure + 20)
    largest = worst(
        m, pi, [s for s in partitions(8, 4) if s], (0, 1, m._turn - 2, m._turn, m._sure - 3)
    )
    assert ball(m.delta) * arb("0.999") < largest <= ball(m.delta)


def test_theory_numbers() -> None:
    """s = 4, m = 2, δ = 10^-3: the worst found by theory is 9.9975e-4. Thirteen units make π ≥ ½,
    weighted or not.
    """
    m = CASES["m=2 quanta=16"]
    pi = recursion(m, m._sure + 40)
    splits = [(16, 16), (16,), (16, 8, 8), (4,) * 8, (16, 15, 1), (1,) * 8]
    largest = worst(m, pi, splits, (0, m._turn - 8, m._turn))
    assert arb("9.99e-4") < largest <= ball(m.delta)
    for quanta in (1, 2**4, 2**20):
        m = mech.OptimalSelection(epsilon=1, delta=1e-3, groups=2, quanta=quanta)
        assert (
            m.keep_probability(13 * quanta) >= 0.5 > m.keep_probability(12 * quanta - quanta // 2)
        )


def test_weight_as_if_it_were_votes_is_caught() -> None:
    """Twins: the recursion per vote fed with weights, and a unit that puts all it has into one
    group.
    """
    m = mech.OptimalSelection(epsilon=1, delta=1e-3, groups=2, quanta=4)
    pi = recursion(m, m._sure + 20)
    assert worst(m, pi, [(8,)], (0, m._turn)) > ball(m.delta), "more than the cap per group"
    votes = mech.OptimalSelection(epsilon=1, delta=1e-3, groups=2)
    assert worst(votes, recursion(votes, 40), [(1,) * 8], (0,)) > ball(votes.delta), (
        "weights of a quarter counted as votes"
    )
    right = mech.OptimalSelection(epsilon=1, delta=1e-3, quanta=8)
    assert not worst(
        right,
        recursion(right, right._sure + 20),
        [s for s in partitions(8, 8) if s],
        (0, right._turn),
    ) > ball(right.delta)


def test_replace_by_enumeration() -> None:
    m = CASES["replace"]
    pi = recursion(m, m._sure + 5)
    for a, b in itertools.product((1, 2, m._turn, m._sure - 1), repeat=2):
        assert max(divergence(pi, [(a - 1, a), (b, b - 1)], m.epsilon), key=float) <= ball(m.delta)
    twin = recursion(mech.OptimalSelection(epsilon=1, delta=1e-3), 30)
    assert max(
        (
            max(divergence(twin, [(a - 1, a), (a, a - 1)], m.epsilon), key=float)
            for a in range(1, 15)
        ),
        key=float,
    ) > ball(m.delta)


def test_no_rule_keeps_more() -> None:
    """Raise any π(w) by a thousandth, and a vote breaks the promise there."""
    m = mech.OptimalSelection(epsilon=1, delta=1e-3)
    pi = recursion(m, m._sure)
    for w in range(1, m._sure):
        raised = [v + (arb("0.001") * v.min(1 - v) if i == w else 0) for i, v in enumerate(pi)]
        assert max(divergence(raised, [(w - 1, w)], m.epsilon), key=float) > ball(m.delta)


def test_better_than_a_threshold() -> None:
    optimal, laplace = (
        mech.OptimalSelection(epsilon=1, delta=1e-5),
        mech.LaplaceThreshold(epsilon=1, delta=1e-5),
    )
    assert all(optimal.keep_probability(n) >= laplace.keep_probability(n) for n in range(30))
    assert optimal.keep_probability(12) / laplace.keep_probability(12) > 2


def test_the_coin_is_exact() -> None:
    """One bit of U below, at and above ⌊2^64·π⌋; at it, the next word decides."""
    m = CASES["ε=1 δ=1e-5"]
    truth = recursion(m, 12)[12]
    digits = int(str((truth * ball(1 << 128)).floor().unique_fmpz()))
    first, second = digits >> 64, digits & ((1 << 64) - 1)
    assert m.keep(12, bits=TapeBits([first - 1])) is True
    assert m.keep(12, bits=TapeBits([first + 1])) is False
    assert m.keep(12, bits=TapeBits([first, second - 1])) is True
    assert m.keep(12, bits=TapeBits([first, second + 1])) is False


def boundary_lanes(m: Any) -> list[tuple[int, int, bool]]:
    """List weights and words next to ⌊2^64·π⌋ and to the doubles there, and whether the mechanism
    keeps each, for every weight that is neither dropped nor sure.
    """
    lanes = []
    with precision(2500):  # some shares lie within 2^-1000 of 0 or 1
        firsts = [
            int(str((share * ball(1 << 64)).floor().unique_fmpz()))
            for share in recursion(m, min(m._sure, 400))[1:-1]
        ]
    for w, first in enumerate(firsts, 1):
        words = {first + d for d in (-(1 << 12), -3, -2, -1, 1, 2, 3, 1 << 12)} | {
            int(math.nextafter(float(first), s * math.inf)) for s in (-1, 1)
        }
        lanes += [
            (w, word, word < first) for word in sorted(words - {first}) if 0 <= word < 1 << 64
        ]
    return lanes


ARRAYS: dict[str, Any] = {
    **CASES,
    "tiny ε": mech.OptimalSelection(epsilon="1/1000", delta=1e-4),
    "tiny δ": mech.OptimalSelection(epsilon=2, delta=1e-200),
    "δ beyond the fast path": mech.OptimalSelection(epsilon=2, delta=1e-290),
    "ε beyond the fast path": mech.OptimalSelection(epsilon=700, delta=1e-9, quanta=7),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_exact_next_to_boundaries(name: str) -> None:
    """Where the first word decides it decides alike, however close."""
    m = ARRAYS[name]
    lanes = boundary_lanes(m)
    assert lanes
    decisions = m.keep(
        np.array([w for w, _, _ in lanes]), bits=TapeBits([word for _, word, _ in lanes])
    )
    assert decisions.tolist() == [expected for _, _, expected in lanes]


def test_without_the_margin_boundaries_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: doubles decide everything."""
    monkeypatch.setattr(optimal_selection, "MARGIN", -1.0)
    lanes = boundary_lanes(CASES["m=2 quanta=16"])
    decisions = CASES["m=2 quanta=16"].keep(
        np.array([w for w, _, _ in lanes]), bits=TapeBits([word for _, word, _ in lanes])
    )
    assert decisions.tolist() != [expected for _, _, expected in lanes]


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_kept_word_for_word(name: str) -> None:
    """As one by one, from the same bits."""
    m = ARRAYS[name]
    weights = np.random.default_rng(1).integers(-2, min(m._sure + 5, 10**6), size=(20, 50))
    one_by_one = SeededBits(9)
    assert m.keep(weights, bits=SeededBits(9)).ravel().tolist() == [
        m.keep(int(w), bits=one_by_one) for w in weights.ravel()
    ]


def test_a_word_at_the_boundary_takes_further_bits() -> None:
    m = CASES["ε=1 δ=1e-5"]
    digits = int(str((recursion(m, 12)[12] * ball(1 << 128)).floor().unique_fmpz()))
    first, second = digits >> 64, digits & ((1 << 64) - 1)
    assert m.keep([12, 0, 12], bits=TapeBits([first, 0, 0, second - 1])).tolist() == [
        True,
        False,
        True,
    ]
    assert m.keep([12, 0, 12], bits=TapeBits([first, 0, 0, second + 1])).tolist() == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("name", [name for name in ARRAYS if "beyond" not in name])
def test_doubles_are_within_half_the_margin(name: str) -> None:
    m = ARRAYS[name]
    weights = np.arange(1, min(m._sure, 3000))
    for w, share in zip(weights.tolist(), m._shares(weights).tolist(), strict=True):
        assert abs(arb(share) - m._share(w)) < arb(optimal_selection.MARGIN / 2)


def test_expm1_is_what_is_assumed() -> None:
    """Relative, over both ranges that are used: 2^-42 is assumed, and a hundred times less is
    found.
    """
    generator = np.random.default_rng(2)
    points = np.concatenate(
        [
            generator.uniform(-700, 0, 20_000),
            generator.uniform(0, 650, 20_000),
            s := 2.0 ** generator.uniform(-900, 9, 20_000),
            -s,
        ]
    )
    results = np.expm1(points)
    for x, y in zip(points.tolist(), results.tolist(), strict=True):
        truth = arb(x).expm1()
        assert abs(truth - arb(y)) * 100 <= abs(truth) * arb(2) ** -42


def test_its_price_in_zcdp() -> None:
    """ρ = ε·tanh(ε/2), and δ beside it; without room for a δ there is no price that fits."""
    m = mech.OptimalSelection(epsilon="1/10", delta="1e-9")
    rho, delta = price(sf.ZCDP(1, "1e-6"), [m])
    assert float(rho) == pytest.approx(0.1 * math.tanh(0.05), rel=1e-12)
    assert delta == Fraction(1, 10**9)
    ledger = sf.Ledger.open(
        budget=sf.ZCDP(1), dataset="visits", unit="patient", relation="add-remove"
    )
    with pytest.raises(sf.BudgetExceeded):
        ledger.charge([m], memo="no δ")


def test_frequencies() -> None:
    """False alarm 2·10^-9: six standard deviations. The twin expects the π of one unit more."""
    m = mech.OptimalSelection(epsilon=1, delta=1e-2)
    share = m.keep(np.full(10_000, 5), bits=SeededBits(1)).mean()
    assert abs(share - m.keep_probability(5)) < 6 * math.sqrt(0.25 / 10_000)
    assert abs(share - m.keep_probability(6)) > 6 * math.sqrt(0.25 / 10_000)


def test_the_interface() -> None:
    m = mech.OptimalSelection(epsilon=1, delta=1e-5, groups=3, quanta=1 << 20, unit="patient")
    assert m.promise == sf.Approx(1, 1e-5, relation="add-remove", unit="patient")
    assert m.keep(0) is False
    assert m.keep(10**9) is True
    assert m.keep([[0, 10**9]]).tolist() == [[False, True]]
    assert repr(m) == (
        "OptimalSelection(epsilon=1, delta=1e-05, groups=3, quanta=1048576, "
        "relation='add-remove', unit='patient')"
    )
    refusal(lambda: m.keep(0.5, bits=Untouchable()), "value.type")
    refusal(lambda: mech.OptimalSelection(epsilon=1, delta=1e-5, quanta=0), "keys.count")
    refusal(lambda: mech.OptimalSelection(epsilon=1, delta=0), "number.not-a-probability")
