"""Exact laws of the additive mechanisms, written a second time, and the divergences between such a
law and its shifts.

*Law*          `mass(z)` = P(Z = z) as a ball, from the definition of the law and the mechanism's
               public numbers; nothing here asks the product's own law.
*Shifts*       every way a neighbour can move the integers: all vectors of non-negative steps up to
               the covered sensitivity (the laws are symmetric and independent of each other, so
               signs, order and coordinates that stay put do not matter).
*Divergence*   sums over the atoms of a pair of laws, P(Z = z) beside P(Z + s = z). Outside a finite
               window there is either one atom for each side (the geometric law, whose ratio to its
               shift is constant there) or a ball for what is left out; so a divergence surely holds
               the truth.

A further additive mechanism joins by one line in LAWS, one in SHIFTS, and its rows in CASES.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb, fmpq

from sfumato import mechanisms as mech

BITS = 320
"""Working precision of this module, set by the tests' fixture."""
TAIL, JOINT_TAIL = 110, 50
"""A window leaves out less than 2^-TAIL of the law; where three coordinates are multiplied out,
2^-JOINT_TAIL.
"""

Shift = tuple[int, ...]
Atoms = list[tuple[arb, arb]]


def real(x: Fraction | int) -> arb:
    return arb(fmpq(Fraction(x).numerator, Fraction(x).denominator))


def zero_to(x: arb) -> arb:
    """The ball [0, x]."""
    return arb(0).union(x)


# Laws.


@dataclass(frozen=True)
class Geometric:
    """P(z) ∝ e^(−|z|/scale)."""

    scale: Fraction

    def reach(self, bits: int = TAIL) -> int:
        """|Z| stays within it but for less than 2^-bits."""
        return math.ceil(self.scale * bits * Fraction(7, 10)) + 1  # e^(−0.7) < ½

    def mass(self, z: int) -> arb:
        q = (-real(1 / self.scale)).exp()
        return (1 - q) / (1 + q) * (-real(abs(z) / self.scale)).exp()

    def cdf(self, z: int) -> arb:
        """P(Z ≤ z): the geometric series."""
        beyond = (-real((-z if z < 0 else z + 1) / self.scale)).exp() / (
            1 + (-real(1 / self.scale)).exp()
        )
        return beyond if z < 0 else 1 - beyond

    def atoms(self, shift: int, bits: int) -> tuple[Atoms, arb]:
        """Exact: left of 0 and right of the shift the ratio is constant, so each side is one
        atom.
        """
        inside = [(self.mass(z), self.mass(z - shift)) for z in range(1, shift)]
        return [(self.cdf(0), self.cdf(-shift)), *inside, (self.cdf(-shift), self.cdf(0))], arb(0)

    def renyi_sum(self, order: Fraction, shift: int) -> arb:
        """Σ p^α q^(1−α)."""
        a, b = real(order), real(1 - order)
        return sum(((a * p.log() + b * q.log()).exp() for p, q in self.atoms(shift, 0)[0]), arb(0))

    def narrow(self, factor: Fraction) -> Geometric:
        return replace(self, scale=self.scale * factor)


@dataclass(frozen=True)
class RoundedNormal:
    """⌊σX + ½⌋ with X standard normal."""

    sigma: Fraction

    def reach(self, bits: int = TAIL) -> int:
        return math.ceil(self.sigma * math.sqrt(2 * bits * math.log(2))) + 1  # Φ(−t) < e^(−t²/2)/2

    def mass(self, z: int) -> arb:
        z = abs(z)
        return (self._above(2 * z - 1) - self._above(2 * z + 1)) if z else 1 - 2 * self._above(1)

    def cdf(self, z: int) -> arb:
        return self._above(-2 * z - 1) if z < 0 else 1 - self._above(2 * z + 1)

    def _above(self, twice: int) -> arb:
        """P(σX > twice/2), twice > 0."""
        return (real(Fraction(twice, 2) / self.sigma) / arb(2).sqrt()).erfc() / 2

    def atoms(self, shift: int, bits: int) -> tuple[Atoms, arb]:
        return window(self, shift, bits)

    def renyi_sum(self, order: Fraction, shift: int) -> arb:
        """Σ p^α q^(1−α) over a window around the bulk, which lies (α − 1)·s to the left, and a
        bound on the rest.

        Right of the window p(z) < q(z), so the terms are below p(z). Left of it, at u = −z, a
        cell's mass is at most the density at its inner end, and the ratio p/q at most that of the
        densities at its outer end; these bounds fall from cell to cell at least by the factor r.
        """
        bulk = math.ceil((order - 1) * shift)
        low, high = -self.reach() - bulk - math.isqrt(2 * bulk) - 1, self.reach() + shift
        p = masses(self, low - shift, high)
        a, b = real(order), real(1 - order)
        inside = sum(
            ((a * p[i + shift].log() + b * p[i].log()).exp() for i in range(high - low + 1)), arb(0)
        )
        u, square = 1 - low, self.sigma**2
        density = (-real((u - Fraction(1, 2)) ** 2 / (2 * square))).exp() / (
            real(self.sigma) * (2 * arb.pi()).sqrt()
        )
        ratio = real(
            (order - 1) * (shift**2 + 2 * (u + Fraction(1, 2)) * shift) / (2 * square)
        ).exp()
        r = (-real((u - (order - 1) * shift) / square)).exp()
        assert r < 1, "the window ends before the terms fall"
        return inside + zero_to(self.cdf(-high - 1)) + zero_to(density * ratio / (1 - r))

    def narrow(self, factor: Fraction) -> RoundedNormal:
        return replace(self, sigma=self.sigma * factor)


Law = Geometric | RoundedNormal

LAWS: dict[type, Callable[[Any], Law]] = {
    mech.Laplace: lambda m: Geometric(m.scale / (m.grid or 1)),
    mech.Gaussian: lambda m: RoundedNormal(m.sigma / (m.grid or 1)),
}

# Shifts.


def partitions(total: int, parts: int, largest: int | None = None) -> Iterator[Shift]:
    """The ways to write `total` as at most `parts` positive integers, largest first."""
    if total == 0:
        yield ()
    elif parts:
        for first in range(min(total, largest or total), 0, -1):
            for rest in partitions(total - first, parts - 1, first):
                yield (first, *rest)


def l1_shifts(m: Any) -> list[Shift]:
    most = math.floor(m.moves / (m.grid or 1))
    return [shift for total in range(1, most + 1) for shift in partitions(total, m.size or 1)]


def l2_shifts(m: Any) -> list[Shift]:
    square = m.moves_squared / (m.grid or 1) ** 2
    largest = math.isqrt(math.floor(square))
    vectors = itertools.combinations_with_replacement(range(largest, -1, -1), m.size or 1)
    return [tuple(s for s in v if s) for v in vectors if 0 < sum(s * s for s in v) <= square]


SHIFTS: dict[type, Callable[[Any], list[Shift]]] = {
    mech.Laplace: l1_shifts,
    mech.Gaussian: l2_shifts,
}


# Divergences.


@cache
def masses(law: Law, low: int, high: int) -> list[arb]:
    return [law.mass(z) for z in range(low, high + 1)]


def window(law: Law, shift: int, bits: int) -> tuple[Atoms, arb]:
    """The atoms of all z that are not far out for both laws, and a bound on what either has
    elsewhere.
    """
    low, high = -law.reach(bits), law.reach(bits) + shift
    p = masses(law, low - shift, high)
    return [(p[i + shift], p[i]) for i in range(high - low + 1)], 2 * law.cdf(low - 1)


def pairs(law: Law, shift: Shift) -> tuple[Atoms, arb]:
    """The atoms of independent coordinates: products of masses."""
    product, outside = [(arb(1), arb(1))], arb(0)
    for step in shift:
        more, rest = law.atoms(step, TAIL if len(shift) < 3 else JOINT_TAIL)
        product = [(p * a, q * b) for p, q in product for a, b in more]
        outside += rest
    return product, outside


def hockey_stick(atoms: Atoms, outside: arb, epsilon: Fraction) -> tuple[arb, arb]:
    """sup_S P(S) − e^ε·Q(S), and the same with P and Q exchanged."""
    grow = real(epsilon).exp()
    there, back = arb(0), arb(0)
    for p, q in atoms:
        a, b = p - grow * q, q - grow * p
        if not a < 0:
            there += a if a > 0 else zero_to(a.upper())
        if not b < 0:
            back += b if b > 0 else zero_to(b.upper())
    return there + zero_to(outside), back + zero_to(outside)


def by_threshold(law: Law, shift: int, epsilon: Fraction) -> arb:
    """The same in one coordinate for a log-concave law: p(z)/p(z − s) falls in z, so the best event
    is {z ≤ t} for some t, found by bisection, or nothing.
    """
    grow = real(epsilon).exp()
    low, high = -law.reach() - 1, law.reach() + shift + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if law.mass(middle) < grow * law.mass(middle - shift) else (middle, high)
        )
    return max(
        (arb(0), *(law.cdf(t) - grow * law.cdf(t - shift) for t in (low - 1, low, low + 1))),
        key=lambda v: v.mid(),
    )


def renyi(law: Law, shift: int, order: Fraction) -> arb:
    """D_α of the law from its shift; one coordinate."""
    return law.renyi_sum(order, shift).log() / real(order - 1)


# Cases.

CASES: dict[str, Any] = {
    "laplace scale 1/20": mech.Laplace(sensitivity=1, scale="1/20"),
    "laplace scale 1/2": mech.Laplace(sensitivity=1, scale="1/2"),
    "laplace ε=1": mech.Laplace(sensitivity=1, epsilon=1),
    "laplace ε=0.1": mech.Laplace(sensitivity=1, epsilon=0.1),
    "laplace ε=ln 3": mech.Laplace(sensitivity=1, epsilon="1.0986122886681098"),
    "laplace Δ=2": mech.Laplace(sensitivity=2, epsilon=1),
    "laplace Δ=5": mech.Laplace(sensitivity=5, epsilon="5/2"),
    "laplace Δ=3/2": mech.Laplace(sensitivity="3/2", epsilon=1),
    "laplace error": mech.Laplace(sensitivity=1, error=5),
    "laplace grid": mech.Laplace(sensitivity=0.01, epsilon=1, grid=2**-8),
    "laplace coarse grid": mech.Laplace(sensitivity=0.01, epsilon=1, grid=1),
    "laplace 2 integers": mech.Laplace(sensitivity=3, epsilon="3/2", size=2),
    "laplace 2 floats": mech.Laplace(sensitivity=0.5, epsilon=2, grid=2**-2, size=2),
    "laplace 3 floats": mech.Laplace(sensitivity=0.5, epsilon=2, grid=2**-2, size=3),
    "gaussian σ=1/10": mech.Gaussian(sensitivity=1, sigma="1/10"),
    "gaussian σ=1/2": mech.Gaussian(sensitivity=1, sigma="1/2"),
    "gaussian σ=1": mech.Gaussian(sensitivity=1, sigma=1),
    "gaussian σ=2": mech.Gaussian(sensitivity=1, sigma=2),
    "gaussian σ=4": mech.Gaussian(sensitivity=1, sigma=4),
    "gaussian Δ=3": mech.Gaussian(sensitivity=3, sigma="5/2"),
    "gaussian ε=1 δ=1e-6": mech.Gaussian(sensitivity=1, epsilon=1, delta=1e-6),
    "gaussian ε=8 δ=1e-2": mech.Gaussian(sensitivity=1, epsilon=8, delta=1e-2),
    "gaussian ρ": mech.Gaussian(sensitivity=2, rho=0.3),
    "gaussian error": mech.Gaussian(sensitivity=1, error=5),
    "gaussian grid": mech.Gaussian(sensitivity=0.01, mu=1, grid=2**-8),
    "gaussian 2 integers": mech.Gaussian(sensitivity="1.4142135623730951", sigma=1, size=2),
    "gaussian 2 floats": mech.Gaussian(sensitivity=0.4, sigma="3/5", grid=2**-2, size=2),
    "gaussian 3 floats": mech.Gaussian(sensitivity=0.25, mu=1, grid=2**-2, size=3),
}

WIDE: dict[str, Any] = {
    "laplace scale 1000": mech.Laplace(sensitivity=1000, scale=1000),
    "laplace scale 1e6": mech.Laplace(sensitivity=1, scale=10**6),
    "laplace scale 1e15": mech.Laplace(sensitivity=10**15, scale=10**15),
    "laplace fine grid": mech.Laplace(sensitivity=0.01, epsilon=1, grid=2**-20),
    "gaussian σ=1000": mech.Gaussian(sensitivity=1000, sigma=1000),
    "gaussian σ=1e6": mech.Gaussian(sensitivity=1, sigma=10**6),
    "gaussian σ=1e15": mech.Gaussian(sensitivity=10**15, sigma=10**15),
    "gaussian fine grid": mech.Gaussian(sensitivity=0.01, epsilon=1, delta=1e-6, grid=2**-20),
}
"""Laws too wide for a sum: by thresholds, at a few shifts."""


def law_of(m: Any) -> Law:
    return LAWS[type(m)](m)


def shifts_of(m: Any) -> list[Shift]:
    return SHIFTS[type(m)](m)
