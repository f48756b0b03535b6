"""Ball arithmetic: balls hold the truth, decisions are certain, rounding goes outward, the
precision is given back.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Refused
from sfumato.exact import balls
from sfumato.exact.balls import (
    above,
    ball,
    below,
    between,
    chance,
    decide,
    down,
    evaluate,
    floor,
    least,
    normal_cdf,
    precision,
    root_up,
    sqrt_up,
    up,
)


def test_precision_is_given_back() -> None:
    before = ctx.prec
    with precision(300):
        assert ctx.prec == 300
        with precision(70):
            assert ctx.prec == 70
        assert ctx.prec == 300
    assert ctx.prec == before
    with pytest.raises(ZeroDivisionError), precision(300):
        raise ZeroDivisionError
    assert ctx.prec == before


def test_precision_belongs_to_one_thread_at_a_time() -> None:
    entered, precisions = threading.Event(), list[int]()

    def record_precision() -> None:
        entered.set()
        with precision(500):
            precisions.append(ctx.prec)

    with precision(200):
        thread = threading.Thread(target=record_precision)
        thread.start()
        entered.wait()
        thread.join(0.05)
        assert ctx.prec == 200
        assert precisions == []
    thread.join()
    assert precisions == [500]


def ends(value: arb) -> tuple[Fraction, Fraction]:
    """The ends of a ball, exactly."""
    return tuple(
        int(mantissa) * Fraction(2) ** int(exponent)
        for mantissa, exponent in (value.lower().man_exp(), value.upper().man_exp())
    )


@given(st.fractions())
def test_ball_holds_the_rational(value: Fraction) -> None:
    with precision(64):
        low, high = ends(ball(value))
    assert low <= value <= high
    assert high - low <= abs(value) / 2**60


@given(st.integers(0, 2**200), st.integers(0, 2**100), st.integers(1, 300))
def test_between_holds_both_ends(low: int, width: int, bits: int) -> None:
    with precision(400):
        least_, most = ends(between(low, low + width, bits))
    scale = Fraction(1, 2**bits)
    assert least_ <= low * scale <= (low + width) * scale <= most
    assert most - least_ <= width * scale * (1 + Fraction(1, 2**20))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(5, 7, 1), (4, 5, None), (7, 8, None), (5, 9, None), (-3, -1, -1), (-1, 1, None), (9, 11, 2)],
)
def test_floor(low: int, high: int, expected: int | None) -> None:
    """Of [low/4, high/4]. Where an end is an integer it is open, too."""
    with precision(100):
        assert floor(between(low, high, 2)) == expected


def test_floor_of_what_is_not_finite() -> None:
    assert floor(arb(0).log()) is None


def test_decide_asks_with_more_and_more_bits() -> None:
    precisions: list[int] = []
    before = ctx.prec

    def question() -> int | None:
        precisions.append(ctx.prec)
        return 7 if ctx.prec >= 1000 else None

    assert decide(question, 100) == 7
    assert precisions == [100, 200, 400, 800, 1600]
    assert ctx.prec == before


def test_decide_ends() -> None:
    with pytest.raises(Refused, match=r"number\.range"):
        decide(lambda: None)


def test_below() -> None:
    """√2 against its first 300 decimals, and those with the last one raised."""
    digits = math.isqrt(2 * 10**600)

    def root() -> arb:
        return arb(2).sqrt()

    assert below(lambda: ball(Fraction(digits, 10**300)), root)
    assert not below(lambda: ball(Fraction(digits + 1, 10**300)), root)


REALS: dict[str, tuple[Callable[[], arb], Fraction, Fraction]] = {
    # a real number and rationals on both sides of it, closer than any double
    "1/3": (lambda: ball(Fraction(1, 3)), Fraction(1, 3), Fraction(1, 3)),
    "-1/3": (lambda: ball(Fraction(-1, 3)), Fraction(-1, 3), Fraction(-1, 3)),
    "√2": (
        lambda: arb(2).sqrt(),
        Fraction(math.isqrt(2 * 10**100), 10**50),
        Fraction(math.isqrt(2 * 10**100) + 1, 10**50),
    ),
    "subnormal": (
        lambda: ball(Fraction(1, 3 * 10**320)),
        Fraction(1, 3 * 10**320),
        Fraction(1, 3 * 10**320),
    ),
    "too small": (lambda: ball(Fraction(1, 10**400)), Fraction(1, 10**400), Fraction(1, 10**400)),
    "too small and negative": (
        lambda: ball(Fraction(-1, 10**400)),
        Fraction(-1, 10**400),
        Fraction(-1, 10**400),
    ),
    "next to a tie": (
        lambda: 1 + arb(2) ** -53 + arb(2) ** -120,
        1 + Fraction(1, 2**53),
        1 + Fraction(1, 2**53) + Fraction(1, 2**119),
    ),
    "by a large difference": (
        lambda: (arb(10) ** 60 + arb(2).sqrt()) - arb(10) ** 60,
        Fraction(math.isqrt(2 * 10**100), 10**50),
        Fraction(math.isqrt(2 * 10**100) + 1, 10**50),
    ),
}


@pytest.mark.parametrize("name", REALS)
def test_evaluate_rounds_outward_and_no_further(name: str) -> None:
    formula, low, high = REALS[name]
    down, nearest, up = (evaluate(formula, side) for side in ("down", "nearest", "up"))
    assert Fraction(down) <= low <= high <= Fraction(up)
    assert up == math.nextafter(down, math.inf)
    assert abs(Fraction(nearest) - (low + high) / 2) <= (Fraction(up) - Fraction(down)) / 2


@given(st.floats(allow_nan=False, allow_infinity=False, max_value=1e300, min_value=-1e300))
def test_a_double_stays_as_it_is_or_its_text_would_lie_on_the_wrong_side(value: float) -> None:
    down, nearest, high = (evaluate(lambda: arb(value), side) for side in ("down", "nearest", "up"))
    assert nearest == value
    assert high in (value, math.nextafter(value, math.inf))
    assert down in (value, math.nextafter(value, -math.inf))
    assert Fraction(repr(down)) <= Fraction(value) <= Fraction(repr(high))
    assert (high == value) is (Fraction(repr(value)) >= Fraction(value))


@given(st.fractions())
def test_up_is_the_least_double_whose_text_is_not_below_either(value: Fraction) -> None:
    double = up(value)
    assert Fraction(double) >= value
    assert Fraction(repr(double)) >= value
    before = math.nextafter(double, -math.inf)
    assert Fraction(before) < value or Fraction(repr(before)) < value


@given(st.fractions())
def test_down_is_up_seen_from_below(value: Fraction) -> None:
    assert down(value) == -up(-value)
    assert math.copysign(1.0, down(Fraction(0))) == 1.0


def test_above_is_the_double_itself() -> None:
    """Not the decimal number that its shortest text names, which may lie below."""
    root = above(lambda: arb(2).sqrt())
    assert root == Fraction(float(root))
    assert root**2 > 2 > Fraction(math.nextafter(float(root), 0)) ** 2


def test_numbers_beyond_doubles() -> None:
    def huge() -> arb:
        return arb(10) ** 400

    assert evaluate(huge, "up") == math.inf
    assert evaluate(huge, "down") == math.nextafter(math.inf, 0)
    assert evaluate(lambda: -huge(), "down") == -math.inf


def test_a_value_that_is_never_finite_fails() -> None:
    with pytest.raises(Refused, match=r"number\.range"):
        evaluate(lambda: 1 / arb(0))


@pytest.mark.parametrize("side", ["down", "nearest", "up"])
def test_chances_stay_between_0_and_1(side: balls.Rounding) -> None:
    assert 0.0 <= chance(lambda: (-(arb(10) ** 30)).exp(), side) <= 5e-324
    assert 1 - 2.0**-53 <= chance(lambda: 1 - (-(arb(10) ** 30)).exp(), side) <= 1.0
    assert chance(lambda: ball(Fraction(1, 3)), side) == evaluate(
        lambda: ball(Fraction(1, 3)), side
    )


@pytest.mark.parametrize(
    "target", ["1e-290", "1e-9", "0.9999999", "1", "1.0000001", "3", "1e9", "1e300"]
)
@pytest.mark.parametrize("start", [1.0, 1e-5, 1e5])
def test_least(target: str, start: float) -> None:
    """A double at which the property holds, and no more than 2^-50 of itself above the first."""
    target_value = Fraction(target)
    calls: dict[Fraction, bool] = {}

    def holds(x: Fraction) -> bool:
        calls[x] = x >= target_value
        return calls[x]

    result = least(holds, start)
    assert target_value <= result <= target_value * (1 + Fraction(1, 2**49))
    assert calls[result]
    assert Fraction(float(result)) == result


@pytest.mark.parametrize("target", ["1e-9", "0.9999999", "1", "3.7", "1e9"])
@pytest.mark.parametrize("off", [0.0, 1e-13, -1e-13, 1e-3, -0.9], ids=str)
def test_least_near_a_guess_is_the_same(target: str, off: float) -> None:
    """A good guess saves evaluations; a bad one changes nothing. At the result the property is
    evaluated in any case.
    """
    first = Fraction(target)
    calls: dict[Fraction, bool] = {}

    def holds(x: Fraction) -> bool:
        calls[x] = x >= first
        return calls[x]

    alone = least(holds)
    many = len(calls)
    calls.clear()
    assert least(holds, near=float(target) * (1.0 + off)) == alone
    assert calls[alone]
    if off == 0:
        assert len(calls) < 10
    elif abs(off) < 1e-12:
        assert len(calls) < many / 3
    else:
        assert len(calls) <= many + 3
    assert least(holds, near=0.0) == least(holds, near=math.inf) == alone


def test_least_of_never_and_always() -> None:
    with pytest.raises(Refused, match=r"number\.range"):
        least(lambda x: False)
    assert 0 < least(lambda x: True) < Fraction(1, 2**990)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0, "0.5"),
        (1, "0.84134474606854294858523254563"),
        (-1, "0.15865525393145705141476745437"),
        (-40, "3.6558935409150297e-350"),
    ],
)
def test_normal_cdf(x: int, expected: str) -> None:
    with precision(200):
        assert abs(normal_cdf(arb(x)) - ball(Fraction(expected))) < ball(Fraction(expected)) * 1e-15
        assert normal_cdf(arb(x)).rel_accuracy_bits() > 180


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_sqrt_up(value: Fraction) -> None:
    root = sqrt_up(value)
    assert root * root >= value
    assert Fraction(math.nextafter(math.nextafter(float(root), 0), 0)) ** 2 < value


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_root_up_is_exact_where_it_can_be(value: Fraction) -> None:
    assert root_up(value * value) == value
    assert root_up(2 * value * value) == sqrt_up(2 * value * value)


def test_least_ends_between_neighbouring_doubles_that_are_denormal() -> None:
    tiny, calls = math.ulp(0.0), 0

    def holds(x: Fraction) -> bool:
        nonlocal calls
        calls += 1
        assert calls < 100
        return x >= Fraction(2 * tiny)

    assert least(holds, tiny) == Fraction(2 * tiny)
