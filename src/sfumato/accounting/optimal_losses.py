"""The law of the privacy loss of a product of randomized responses: its values and their
probabilities.

*Law*     The loss is Σ ±εᵢ, the signs independent, + with probability e^εᵢ/(1 + e^εᵢ).
*Exact*   n equal steps have n + 1 losses with binomial probabilities. Different steps are
          multiplied as polynomials if all ε are multiples of a number that is not too small, and
          loss by loss if there are few.
*Bound*   Otherwise each ε that is not a multiple of the unit u is split between its neighbours a <
          ε < b = a + u: with probability λ the step is randomized response at b, else at a, and
          which of the two is known. Forgetting that gives back the response at ε if λ/(1 + e^b) +
          (1 − λ)/(1 + e^a) = 1/(1 + e^ε), so the split step reveals more; and less than the
          response at b, to which ε is rounded if it is rounded up. Among many steps the excess is
          of second order in u. (docs/proofs/optimal-composition.md)
*Unit*    The least power of two not below Σεᵢ/2^14.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import arb, arb_poly

from ..exact.balls import ball
from ..exact.numbers import power_of_two_at_least, text
from . import accounting_refusals as refusals

Multiplicities = tuple[tuple[Fraction, int], ...]
"""Different positive numbers, each with its count."""
Masses = dict[int, arb]
"""The probability of a loss, keyed by its distance below the largest loss, in units."""

LARGEST = 10**6
MOST = 1 << 20
"""The most equal steps that are composed in a few seconds; a hundredth of that if they differ."""
POINTS = 1 << 14
"""The most units of the grid in the sum of all ε, and the most losses that are listed one by one.
"""


@dataclass(frozen=True, slots=True)
class Losses:
    """A plan for the law of the loss: all losses are `top` less a multiple of `unit`."""

    groups: Multiplicities
    top: Fraction
    unit: Fraction
    exact: bool
    dense: bool

    def positive(self) -> Iterator[tuple[Fraction, arb]]:
        """Yield the losses above zero, largest first, with their probabilities at the current
        precision.
        """
        laws = [self._law(epsilon, count) for epsilon, count in self.groups]
        law = (
            laws[0] if len(laws) == 1 else _product(laws) if self.dense else reduce(_convolve, laws)
        )
        end = math.ceil(self.top / self.unit)
        return ((self.top - m * self.unit, law[m]) for m in sorted(m for m in law if m < end))

    def _law(self, epsilon: Fraction, count: int) -> Masses:
        steps = epsilon / self.unit
        if (2 * steps).denominator == 1 and (self.exact or steps.denominator == 1):
            stride = int(2 * steps)
            return {j * stride: mass for j, mass in enumerate(_binomial(epsilon, count))}
        return _dict(_split(epsilon, math.floor(steps), self.unit) ** count)


def losses(groups: Multiplicities) -> Losses:
    """Plan the law for these ε: exact where the exact law is small enough."""
    top = sum((e * n for e, n in groups), Fraction(0))
    most = MOST if len(groups) < 2 else MOST // 128
    if top > LARGEST:
        raise refusals.EPSILON_SUM_TOO_LARGE(total=text(top), most=LARGEST)
    if sum(n for _, n in groups) > most:
        raise refusals.TOO_MANY_STEPS(count=sum(n for _, n in groups), most=most)
    if not groups:
        return Losses((), top, Fraction(1), exact=True, dense=False)
    unit = 2 * Fraction(
        math.gcd(*(e.numerator * (_common(groups) // e.denominator) for e, _ in groups)),
        _common(groups),
    )
    on_grid, apart = 2 * top / unit, math.prod(n + 1 for _, n in groups)
    if len(groups) == 1 or on_grid <= POINTS or apart <= POINTS:
        return Losses(groups, top, unit, exact=True, dense=on_grid <= apart)
    coarse = power_of_two_at_least(top / POINTS)
    return Losses(
        groups,
        sum((math.ceil(e / coarse) * coarse * n for e, n in groups), Fraction(0)),
        coarse,
        exact=False,
        dense=True,
    )


def _common(groups: Multiplicities) -> int:
    return math.lcm(*(e.denominator for e, _ in groups))


def _lie(epsilon: Fraction) -> arb:
    """1/(1 + e^ε)."""
    return 1 / (1 + ball(epsilon).exp())


def _binomial(epsilon: Fraction, count: int) -> Iterator[arb]:
    """Yield the probabilities of 0, 1, … lies among `count` answers."""
    odds, mass = ball(-epsilon).exp(), (1 - _lie(epsilon)) ** count
    for j in range(count + 1):
        yield mass
        mass = mass * (count - j) / (j + 1) * odds


def _split(epsilon: Fraction, below: int, unit: Fraction) -> arb_poly:
    """Split one step between two multiples of the unit. In the polynomial, the power counts units
    below the larger multiple.
    """
    a, b = _lie(below * unit), _lie((below + 1) * unit)
    weight = (a - _lie(epsilon)) / (a - b)
    masses = [arb(0)] * (2 * below + 3)
    for at, mass in (
        (0, weight * (1 - b)),
        (1, (1 - weight) * (1 - a)),
        (2 * below + 1, (1 - weight) * a),
        (2 * below + 2, weight * b),
    ):
        masses[at] += mass
    return arb_poly(masses)


def _product(laws: list[Masses]) -> Masses:
    """Add independent losses by multiplying polynomials, in pairs so that factors stay balanced."""
    factors = [_poly(law) for law in laws]
    while len(factors) > 1:
        factors = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)] + factors[
            len(factors) & ~1 :
        ]
    return _dict(factors[0])


def _convolve(first: Masses, second: Masses) -> Masses:
    """Add independent losses, loss by loss."""
    sums: Masses = {}
    for m, p in first.items():
        for n, q in second.items():
            sums[m + n] = sums[m + n] + p * q if m + n in sums else p * q
    return sums


def _poly(law: Masses) -> arb_poly:
    masses = [arb(0)] * (max(law) + 1)
    for m, mass in law.items():
        masses[m] = mass
    return arb_poly(masses)


def _dict(poly: arb_poly) -> Masses:
    return dict(enumerate(poly.coeffs()))
