"""Promises of the additive mechanisms against the exact law, by arithmetic: no divergence of the
law from any of its shifts exceeds what is promised.

Every truth is a ball of ball arithmetic, so "exceeds" is decided for certain; where a promise is
attained, the two agree to the width of the ball.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import mechanisms as mech
from sfumato.exact.balls import precision

from .additive import (
    BITS,
    CASES,
    WIDE,
    Geometric,
    Law,
    RoundedNormal,
    Shift,
    by_threshold,
    hockey_stick,
    law_of,
    masses,
    pairs,
    real,
    renyi,
    shifts_of,
    window,
)

EPSILONS = [
    Fraction(e)
    for e in (
        "0",
        "1/100",
        "1/10",
        "1/4",
        "1/2",
        "9/10",
        "99/100",
        "1",
        "11/10",
        "3/2",
        "2",
        "3",
        "5",
        "10",
        "20",
        "21",
    )
]
ORDERS = [
    1 + Fraction(1, 2**20),
    Fraction(101, 100),
    Fraction(3, 2),
    Fraction(2),
    Fraction(4),
    Fraction(16),
    Fraction(64),
    Fraction(256),
]
DELTAS = ["1e-12", "1e-6", "0.01", "0.3"]

each = pytest.mark.parametrize("name", CASES)


@pytest.fixture(autouse=True, scope="module")
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, BITS
    yield
    ctx.prec = before


def violations(
    law: Law, shifts: list[Shift], promises: tuple[sf.Guarantee, ...], epsilons: list[Fraction]
) -> list[str]:
    """Where the hockey-stick divergence of a shift surely exceeds a promise. Few ε where the sum
    runs over three coordinates.
    """
    messages = []
    for shift in shifts:
        atoms, outside = pairs(law, shift)
        for e in epsilons if len(atoms) < 5000 else epsilons[2::4]:
            claimed = [(p, arb(p.delta(e))) for p in promises]
            for truth in hockey_stick(atoms, outside, e):
                assert truth.rad() < arb(2) ** (-90 if len(shift) < 3 else -40)
                messages += [
                    f"{p}: shift {shift}, ε = {e}: {truth.str(8)}"
                    for p, delta in claimed
                    if truth > delta
                ]
    return messages


@each
def test_the_law_is_the_one_described(name: str) -> None:
    m, law = CASES[name], law_of(CASES[name])
    step = m.grid or Fraction(1)
    for z in {0, 1, -1, 2, law.reach() // 3, -law.reach()}:
        truth = law.mass(z)
        assert arb(m.law.pmf(z, "down")) <= truth <= arb(m.law.pmf(z, "up"))
        assert not law.cdf(z) < arb(m.law.cdf(z, "down"))
        assert not law.cdf(z) > arb(m.law.cdf(z, "up"))
        assert m.probability(z * step if m.grid else z) == m.law.pmf(z)
    total = sum(masses(law, -law.reach(), law.reach()), arb(0)) + 2 * law.cdf(-law.reach() - 1)
    assert abs(total - 1) < arb(2) ** -250


@each
def test_no_shift_exceeds_a_promise(name: str) -> None:
    m = CASES[name]
    assert violations(law_of(m), shifts_of(m), m.promises, EPSILONS) == []


def narrow(name: str) -> Law:
    """The law of the case with noise 5 % too small."""
    return law_of(CASES[name]).narrow(Fraction(95, 100))


def loss(m: Any) -> Fraction:
    """About how much is lost: ε of a pure promise, μ² of a Gaussian one."""
    numbers = m.promise.parameters
    return numbers["epsilon"] if "epsilon" in numbers else numbers["mu"] ** 2


@each
def test_noise_five_per_cent_too_small_is_caught(name: str) -> None:
    """The twin: the mechanism's promise, and the law of a narrower one."""
    m = CASES[name]
    longest = max(shifts_of(m), key=lambda shift: sum(s * s for s in shift))
    assert (
        violations(narrow(name), [longest], m.promises[:1], [loss(m) * k / 8 for k in range(17)])
        != []
    )


@each
def test_epsilon_at_a_delta(name: str) -> None:
    """The other way to read a promise: at ε = promise.epsilon(δ), or that of promise.to(Approx),
    the divergence is at most δ.
    """
    m = CASES[name]
    shift = max(shifts_of(m), key=lambda shift: sum(s * s for s in shift))
    atoms, outside = pairs(law_of(m), shift)
    for promise in m.promises:
        for delta in DELTAS:
            for epsilon in (
                Fraction(promise.epsilon(delta)),
                promise.to(sf.Approx, delta=delta).parameters["epsilon"],
            ):
                for truth in hockey_stick(atoms, outside, epsilon):
                    assert not truth > real(Fraction(delta))


@pytest.mark.parametrize(
    "name", [name for name, m in CASES.items() if isinstance(m.promise, sf.Pure)]
)
def test_pure_is_the_largest_log_ratio(name: str) -> None:
    """|ln P(z)/Q(z)| never exceeds ε, and attains it exactly."""
    m, law = CASES[name], law_of(CASES[name])
    epsilon, steps = m.promise.parameters["epsilon"], m.moves / (m.grid or 1)
    assert isinstance(law, Geometric)
    for shift in shifts_of(m):
        atoms, outside = pairs(law, shift)
        assert outside.is_zero()
        for p, q in atoms:
            assert abs((p / q).log()) < real(sum(shift) / law.scale) + arb(2) ** -200
        assert (
            abs((atoms[0][0] / atoms[0][1]).log() - real(sum(shift) / law.scale)) < arb(2) ** -200
        )
        assert sum(shift) / law.scale <= epsilon
    assert max(map(sum, shifts_of(m))) / law.scale == epsilon
    assert steps.denominator == 1


@each
def test_renyi_stays_below_rho(name: str) -> None:
    """D_α ≤ ρα at every order, for the ZCDP among the promises or that which follows from them;
    over coordinates D_α adds up.
    """
    m, law = CASES[name], law_of(CASES[name])
    rho = min(p.to(sf.ZCDP).rho for p in m.promises)
    for order in ORDERS:
        divergence = {s: renyi(law, s, order) for s in {s for shift in shifts_of(m) for s in shift}}
        for shift in shifts_of(m):
            truth = sum((divergence[s] for s in shift), arb(0))
            assert truth.rad() < arb(2) ** -40
            assert not truth > real(rho * order), f"shift {shift}, α = {order}"


@pytest.mark.parametrize(
    "name", [name for name in CASES if name not in ("gaussian σ=1/10", "gaussian σ=1/2")]
)
def test_renyi_of_narrower_noise_exceeds_rho(name: str) -> None:
    """The twin. (Below σ = 1 the rounding hides 5 %: see the shares at the end.)"""
    m = CASES[name]
    rho = min(p.to(sf.ZCDP).rho for p in m.promises)
    longest = max(shifts_of(m), key=lambda shift: sum(s * s for s in shift))
    assert any(
        sum((renyi(narrow(name), s, order) for s in longest), arb(0)) > real(rho * order)
        for order in ORDERS
    )


@pytest.mark.parametrize("name", WIDE)
def test_wide_laws_by_thresholds(name: str) -> None:
    m, law = WIDE[name], law_of(WIDE[name])
    step = m.grid or Fraction(1)
    most = (
        math.floor(m.moves / step)
        if isinstance(m, mech.Laplace)
        else math.isqrt(math.floor(m.moves_squared / step**2))
    )
    for e in [
        loss(m) * share for share in (0, Fraction(1, 100), Fraction(1, 2), Fraction(99, 100), 1, 2)
    ] + [loss(m) + 1]:
        for s in {1, most // 3 or 1, most - 1 or 1, most}:
            truth = by_threshold(law, s, e)
            assert truth.rad() < arb(2) ** -200
            assert [p for p in m.promises if truth > arb(p.delta(e))] == []
    narrower = law.narrow(Fraction(95, 100))
    assert any(
        by_threshold(narrower, most, loss(m) * k / 8) > arb(m.promise.delta(loss(m) * k / 8))
        for k in range(17)
    )


rationals = st.fractions(Fraction(1, 50), 50, max_denominator=1000)


def keeps_its_promises(kind: Any, steps: int, width: Fraction, share: Fraction) -> None:
    m = kind(sensitivity=steps, **{"scale" if kind is mech.Laplace else "sigma": width})
    epsilon = share * loss(m)
    with precision(BITS):
        for s in {1, steps // 2 or 1, steps}:
            truth = by_threshold(law_of(m), s, epsilon)
            assert [p for p in m.promises if truth > arb(p.delta(epsilon))] == []


any_parameters = given(
    kind=st.sampled_from([mech.Laplace, mech.Gaussian]),
    steps=st.integers(1, 40),
    width=rationals,
    share=st.fractions(0, 2, max_denominator=100),
)


@settings(max_examples=60)
@any_parameters
def test_any_parameters(kind: Any, steps: int, width: Fraction, share: Fraction) -> None:
    keeps_its_promises(kind, steps, width, share)


@pytest.mark.slow
@settings(max_examples=5000)
@any_parameters
def test_many_parameters(kind: Any, steps: int, width: Fraction, share: Fraction) -> None:
    keeps_its_promises(kind, steps, width, share)


@settings(max_examples=30)
@given(epsilon=rationals, exponent=st.integers(1, 40), steps=st.integers(1, 20))
def test_any_calibration(epsilon: Fraction, exponent: int, steps: int) -> None:
    """What was asked for, (ε, δ), holds for the law that was made."""
    delta = Fraction(1, 10**exponent)
    m = mech.Gaussian(sensitivity=steps, epsilon=epsilon, delta=delta)
    with precision(BITS + 200):
        assert not by_threshold(law_of(m), steps, epsilon) > real(delta)


@pytest.mark.parametrize(
    "law",
    [
        Geometric(Fraction(3, 2)),
        Geometric(Fraction(10)),
        RoundedNormal(Fraction(1, 2)),
        RoundedNormal(Fraction(3)),
    ],
    ids=str,
)
def test_the_ways_to_the_divergence_agree(law: Law) -> None:
    """Atoms merged by their ratio, a window with a bound on the rest, and the best threshold."""
    for s in (1, 2, 7):
        for e in EPSILONS:
            there, back = hockey_stick(*law.atoms(s, 110), e)
            summed, _ = hockey_stick(*window(law, s, 110), e)
            assert back.overlaps(there)
            assert summed.overlaps(there)
            assert summed.overlaps(by_threshold(law, s, e))
    p = masses(law, -40, 40)
    assert all(not p[i - 1] * p[i + 1] > p[i] * p[i] for i in range(1, len(p) - 1)), (
        "log-concave, so that thresholds are the best events"
    )


# How tight the promises are.


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_a_count_attains_the_pure_curve(epsilon: Fraction) -> None:
    """Moved by one step, the geometric law *is* randomized response: (e^ε − e^t)/(1 + e^ε) at every
    t, not only at t = 0 and t = ε.
    """
    m = mech.Laplace(sensitivity=1, epsilon=epsilon)
    for t in (Fraction(0), epsilon / 3, epsilon * Fraction(9, 10)):
        truth = by_threshold(law_of(m), 1, t)
        assert (
            abs(truth - (real(epsilon).exp() - real(t).exp()) / (1 + real(epsilon).exp()))
            < arb(2) ** -200
        )
        claimed = arb(m.promise.delta(t))
        assert truth <= claimed <= truth * (1 + arb(2) ** -51)


@pytest.mark.parametrize(
    "name", [name for name, m in CASES.items() if isinstance(m.promise, sf.Pure)]
)
def test_the_rho_of_laplace_is_its_kullback_leibler_divergence(name: str) -> None:
    """The limit of D_α/α as α → 1, attained by the longest move of one coordinate; rounded up, by
    one unit in the last place at most.
    """
    m = CASES[name]
    longest = max(shifts_of(m), key=max)
    assert len(longest) == 1
    truth = sum((p * (p / q).log() for p, q in pairs(law_of(m), longest)[0]), arb(0))
    rho = real(m.promises[1].rho)
    assert truth <= rho <= truth * (1 + arb(2) ** -51)


@pytest.mark.parametrize(
    ("sigma", "rounded", "continuous", "attained"),
    [
        ("1/2", 0.4101, 0.5099, False),
        (1, 0.12694, 0.12694, True),
        (2, 6.830e-3, 6.830e-3, True),
        (4, 2.924e-6, 2.924e-6, True),
    ],
)
def test_gdp_is_attained_where_the_cut_is_a_half_integer(
    sigma: Any, rounded: float, continuous: float, attained: bool
) -> None:
    """Shift 1, ε = 1: the best cut of the normal law lies at ½ − σ², which for whole σ² is the edge
    of a cell.
    """
    m = mech.Gaussian(sensitivity=1, sigma=sigma)
    truth, claimed = by_threshold(law_of(m), 1, Fraction(1)), arb(m.promise.delta(1))
    assert float(truth.mid()) == pytest.approx(rounded, rel=2e-4)
    assert float(claimed) == pytest.approx(continuous, rel=2e-4)
    assert (truth * (1 + arb(2) ** -51) >= claimed) is attained
    assert truth <= claimed


def test_how_tight_the_rest_is() -> None:
    """Attained shares of what is promised: the Gaussian's δ at the worst ε up to 2μ, and its ρ,
    about 1 − 1/(12σ²); the ρ of Laplace, wholly, as α → 1.
    """
    near_one = ORDERS[0]
    for sigma, delta, rho in (
        (1, 0.61, 0.923),
        (2, 0.85, 0.979),
        (4, 0.96, 0.994),
        (16, 0.997, 0.9996),
        (64, 0.9998, 0.99997),
    ):
        m = mech.Gaussian(sensitivity=1, sigma=sigma)
        assert delta < share_of_delta(m) < 1
        assert rho < renyi(law_of(m), 1, near_one) / real(m.promise.to(sf.ZCDP).rho * near_one) < 1
    for m in (
        mech.Laplace(sensitivity=1, epsilon=1),
        mech.Laplace(sensitivity=5, epsilon=2),
        mech.Laplace(sensitivity=1, epsilon=5),
    ):
        steps, rho = int(m.moves), m.promises[1].to(sf.ZCDP).rho
        assert renyi(law_of(m), steps, near_one) / real(rho * near_one) > 1 - arb(2) ** -18


def share_of_delta(m: Any) -> float:
    return min(
        float((by_threshold(law_of(m), 1, e) / arb(m.promise.delta(e))).mid())
        for e in (Fraction(k, 40) * m.promise.parameters["mu"] for k in range(81))
    )
