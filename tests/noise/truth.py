"""The laws in rational arithmetic: tails and masses between two rationals, by other formulas and
other code than the product's.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from . import rational
from .rational import Interval

BITS = 160
"""Correct bits of what is returned: a hundred more than a double has."""


def geometric_tail(scale: Fraction, z: int) -> Interval:
    """P(Z ≥ z): an exponential over 1 + q for z ≥ 1, else 1 − P(Z ≥ 1 − z)."""
    if z < 1:
        return _complement(geometric_tail(scale, 1 - z))
    top, q = rational.exp(-z / scale, BITS), rational.exp(-1 / scale, BITS)
    return top[0] / (1 + q[1]), top[1] / (1 + q[0])


def geometric_mass(scale: Fraction, z: int) -> Interval:
    """(1 − q)/(1 + q)·q^|z|, where q = e^(−1/scale) needs the more bits the closer it is to 1."""
    bits = BITS + max(0, int(scale).bit_length())
    q, power = rational.exp(-1 / scale, bits), rational.exp(-abs(z) / scale, bits)
    return (1 - q[1]) / (1 + q[1]) * power[0], (1 - q[0]) / (1 + q[0]) * power[1]


def normal_tail(sigma: Fraction, z: int) -> Interval:
    """P(Z ≥ z) = Φ(−(z − ½)/σ)."""
    x = (z - Fraction(1, 2)) / sigma
    return rational.normal_tail(x, BITS) if x >= 0 else _complement(rational.normal_tail(-x, BITS))


def normal_mass(sigma: Fraction, z: int) -> Interval:
    """The difference of two tails, with the bits that cancel added."""
    bits = BITS + max(0, int(sigma).bit_length())
    near, far = ((2 * abs(z) + d) / (2 * sigma) for d in (-1, 1))
    if z == 0:
        upper = rational.normal_tail(far, bits)
        return 1 - 2 * upper[1], 1 - 2 * upper[0]
    inner, outer = rational.normal_tail(near, bits), rational.normal_tail(far, bits)
    return inner[0] - outer[1], inner[1] - outer[0]


def _complement(value: Interval) -> Interval:
    return 1 - value[1], 1 - value[0]


def middle(value: Interval) -> float:
    """The enclosure as a double: it is a hundred bits narrower."""
    return float((value[0] + value[1]) / 2)


TAILS: dict[str, Callable[[Fraction, int], Interval]] = {
    "geometric": geometric_tail,
    "normal": normal_tail,
}
