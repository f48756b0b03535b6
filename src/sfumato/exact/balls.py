"""Ball arithmetic (Arb): real numbers as intervals that surely contain the true value, and their
conversion to integers and floats.

A ball is correct at any working precision; more precision only makes it smaller. So every function
here evaluates a formula, checks whether the ball is small enough to decide the question, and
doubles the precision until it is. Results are rounded outward, in the requested direction.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Literal, TypeVar

from flint import arb, ctx, fmpq, fmpz

from . import number_refusals as refusals
from .numbers import SMALLEST, rational_root

Rounding = Literal["nearest", "up", "down"]
T = TypeVar("T")

# correct bits that a ball needs to become a double: the outward step is then one unit in the last
# place
_ENOUGH = 72
_LIMIT = 1 << 16
_NEAR = (2.0**-51, 2.0**-40)  # of itself: how far a guess of `least` may be off
_LONG = 2048

_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()
    ctx.prec = 53  # a thread that changed it does not exist in the child


# another thread may hold the lock at the moment of a fork, and does not exist in the child
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set Arb's precision to `bits` bits inside the block. The setting belongs to the whole
    process, hence the lock.
    """
    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> arb:
    """Return the ball around a rational."""
    return arb(fmpq(value.numerator, value.denominator))


def between(low: int, high: int, bits: int) -> arb:
    """Return the ball [low, high] · 2^-bits."""
    return arb(fmpz(low + high), fmpz(high - low)) * arb(2) ** (-bits - 1)


def floor(value: arb) -> int | None:
    """Return the floor of all numbers in the ball; None if they differ."""
    integer = value.floor().unique_fmpz() if value.is_finite() else None
    return None if integer is None else int(integer)


def decide(question: Callable[[], T | None], start: int = 96) -> T:
    """Call `question` at growing precision until it returns an answer."""
    bits = start
    while bits <= _LIMIT:
        with precision(bits):
            answer = question()
        if answer is not None:
            return answer
        bits *= 2
    raise refusals.TOO_EXTREME_TO_COMPARE()


def below(small: Callable[[], arb], large: Callable[[], arb]) -> bool:
    """Whether small < large, decided with certainty."""

    def compare() -> bool | None:
        a, b = small(), large()
        return True if a < b else False if a > b else None

    return decide(compare)


def evaluate(formula: Callable[[], arb], rounding: Rounding = "nearest") -> float:
    """Return the double nearest to a real number, or the nearest one surely not below ("up") or not
    above ("down") it.
    """

    def small_enough() -> float | None:
        value = formula()
        if not value.is_finite():
            return None
        if (
            value.rel_accuracy_bits() < _ENOUGH
            and not value.is_exact()
            and not abs(value) < arb(2) ** -1200
        ):
            return None
        return _round(value, rounding)

    return decide(small_enough, 128)


def chance(formula: Callable[[], arb], rounding: Rounding = "nearest") -> float:
    """Evaluate a probability; the result lies in [0, 1] however it is rounded."""
    return min(max(0.0, evaluate(formula, rounding)), 1.0)


def above(formula: Callable[[], arb]) -> Fraction:
    """Return a normal double not below a real number, as an exact rational. (Its text would not do:
    the shortest text of a double may lie below it.)
    """
    double = evaluate(formula, "up")
    if math.isinf(double):
        raise refusals.RESULT_ABOVE_DOUBLES()
    return max(Fraction(double), SMALLEST) if double > 0 else Fraction(double)


def short(value: Fraction) -> Fraction:
    """Return a rational itself, or a double above it once the ratio is very long."""
    return value if value.denominator.bit_length() <= _LONG else above(lambda: ball(value))


def up(value: Fraction) -> float:
    """Return the least double that is not below a rational, with a text that is not below it
    either: 0.1 for one tenth.
    """
    try:
        double = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    while not math.isinf(double) and (Fraction(double) < value or Fraction(repr(double)) < value):
        double = math.nextafter(double, math.inf)
    return double


def down(value: Fraction) -> float:
    """Return the largest double that is not above a rational, with a text that is not above it
    either.
    """
    return 0.0 - up(-value)  # 0 and not −0


def _round(value: arb, rounding: Rounding) -> float:
    """Round to a double on the safe side whose shortest text is safe too: a user may type it in
    again.
    """
    if rounding == "nearest":
        return float(value.mid())
    outward = value.upper() if rounding == "up" else value.lower()
    double, end = float(outward), math.inf if rounding == "up" else -math.inf
    while double != end:
        if math.isinf(double):
            double = math.nextafter(double, end)
            continue
        exactly, as_text = arb(double), ball(Fraction(repr(double)))
        if (
            (exactly >= outward and as_text >= outward)
            if rounding == "up"
            else (exactly <= outward and as_text <= outward)
        ):
            break
        double = math.nextafter(double, end)
    return double


def least(
    holds: Callable[[Fraction], bool], start: float = 1.0, near: float | None = None
) -> Fraction:
    """Find the least positive double (to 2^-50 of itself) at which a monotone property holds: one
    that stays true once it is true.

    The search evaluates the property at the number that it returns, so the result is safe even if
    the property is only nearly monotone. If the property changes very near to `near`, the search
    takes the same steps and evaluates the property only there.
    """
    bracket = _bracket(holds, near)

    def is_above(place: float) -> bool:
        if bracket is not None and not bracket[0] < place < bracket[1]:
            return place >= bracket[1]
        return holds(Fraction(place))

    low = high = start
    while not is_above(high):
        low, high = high, high * 4.0
        if math.isinf(high):
            raise refusals.RESULT_ABOVE_DOUBLES()
    while low == high or is_above(low):
        high = min(high, low)
        low = high / 4.0
        if low < 2.0**-1000:
            return Fraction(high)
    while high - low > high * 2.0**-50:
        middle = math.sqrt(low) * math.sqrt(high) if high > 2.0 * low else low + (high - low) / 2.0
        if not low < middle < high:
            break
        low, high = (low, middle) if is_above(middle) else (middle, high)
    # the text must hold too: a user may type it in again
    while not (holds(Fraction(high)) and holds(Fraction(repr(high)))):
        high = math.nextafter(high, math.inf)
    return Fraction(high)


def _bracket(holds: Callable[[Fraction], bool], near: float | None) -> tuple[float, float] | None:
    """Return two numbers next to `near` between which a property begins to hold, if it does."""
    if near is None or not 2.0**-500 < near < 2.0**500:
        return None
    low, high = 0.0, math.inf
    for away in _NEAR:
        for place in (near * (1.0 + away), near * (1.0 - away)):
            if low < place < high:
                low, high = (low, place) if holds(Fraction(place)) else (place, high)
        if low > 0.0 and high < math.inf:
            return low, high
    return None


def below_crossing(
    curve: Callable[[Fraction], arb], level: Fraction, near: float, bits: int = 192
) -> float:
    """Return a double below the place where a falling curve crosses a level, as near to `near` as
    balls can prove.

    Each trial lies twice as far from `near` as the last, so the result is at most twice as far as
    necessary; zero if every trial fails.
    """
    low, step = near, 2.0**-52
    while (low := near * (1.0 - step)) > 2.0**-1000:
        with precision(bits):
            if curve(Fraction(low)) > ball(level):
                return low
        step *= 2.0
    return 0.0


def normal_cdf(x: arb) -> arb:
    """Return Φ(x), with full relative accuracy in the lower tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def sqrt_up(value: Fraction) -> Fraction:
    """Return a double not below the square root."""
    return above(lambda: ball(value).sqrt())


def root_up(value: Fraction) -> Fraction:
    """Return the square root: exact if it is rational, else a double not below it."""
    root = rational_root(value)
    return sqrt_up(value) if root is None else root
