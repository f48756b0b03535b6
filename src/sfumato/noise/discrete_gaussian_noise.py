"""Discrete Gaussian noise: the normal density at the integers, normalised by its sum.

*Law*     P(Z = z) = e^(−z²/(2σ²)) / Σ_k e^(−k²/(2σ²)), σ² rational.
*Draw*    A two-sided geometric candidate Y of scale t = ⌊σ⌋ + 1, accepted with probability e^(−γ),
          γ = (|Y| − σ²/t)²/(2σ²): about three in four are. The accept test compares 64 bits of a
          uniform with exp in double precision where MARGIN allows, else in ball arithmetic with
          further bits.
*Sum*     The normaliser is a theta function, summed over the integers or, by Poisson's formula,
          over the dual ones: whichever takes a few terms. Tails are summed term by term below σ =
          64, and by Euler and Maclaurin's formula with a proved remainder above.
*Proof*   docs/proofs/discrete-gaussian.md. Canonne, Kamath & Steinke 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq

from ..exact.balls import ball, evaluate, normal_cdf
from ..exact.numbers import Number, positive
from . import noise_refusals as refusals
from .bits import CHUNK, SYSTEM, Bits
from .geometric import Geometric
from .law import LARGEST_SCALE, Integers, SymmetricLaw
from .uniform import lies_below

MARGIN = 2.0**-40
"""Assumed: exp of a double in [−750, 0] errs by less than 2^-41, absolutely; proved: all other
errors of the accept test stay below 2^-41.
"""

_SUMMED = 64**2  # σ² below which tails are summed term by term


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianLaw(SymmetricLaw):
    """The law with P(Z = z) ∝ e^(−z²/(2·sigma_squared)) on the integers."""

    sigma_squared: Fraction
    _proposal: Geometric = field(init=False, repr=False, compare=False)
    _slope: float = field(init=False, repr=False, compare=False)  # γ is (_slope·|Y| − _centre)²/2
    _centre: float = field(init=False, repr=False, compare=False)

    def __init__(self, *, sigma_squared: Number) -> None:
        square = positive(sigma_squared, "sigma_squared")
        if square > LARGEST_SCALE**2:
            raise refusals.SCALE_TOO_LARGE(name="sigma_squared", value=sigma_squared)
        t = math.isqrt(math.floor(square)) + 1
        put = object.__setattr__
        put(self, "sigma_squared", square)
        # any scale would do
        put(self, "_proposal", Geometric(scale=min(Fraction(t), LARGEST_SCALE)))
        put(self, "_slope", evaluate(lambda: 1 / ball(square).sqrt()))
        put(self, "_centre", evaluate(lambda: ball(square).sqrt() / ball(self._proposal.scale)))

    @property
    def variance(self) -> float:
        """The variance: below σ², by less than a relative 10^-6 from σ = 1 on."""
        square = self.sigma_squared

        def formula() -> arb:
            if self._steep():
                x = ball(1 / (2 * square))
                return _theta(x, 2) / _theta(x, 0)
            x = 2 * arb.pi() ** 2 * ball(square)
            return ball(square) - 4 * arb.pi() ** 2 * ball(square**2) * _theta(x, 2) / _theta(x, 0)

        return evaluate(formula)

    def draw(self, bits: Bits = SYSTEM) -> int:
        while True:
            z = self._proposal.draw(bits)
            word = bits.integer(64)
            x = self._slope * abs(z) - self._centre
            excess = math.exp(-min(x * x / 2, 750.0)) - word * 2.0**-64
            if excess > MARGIN or (excess > -MARGIN and self._settle(z, word, bits)):
                return z

    def _fill(self, count: int, bits: Bits) -> Integers:
        tried = min(CHUNK, count + count // 2 + 8)
        while True:
            z = self._proposal.sample(tried, bits)
            words = bits.words(tried)
            with np.errstate(over="ignore"):
                x = np.abs(z).astype(np.float64)
                x *= self._slope
                x -= self._centre
                x *= x
            x *= -0.5
            np.maximum(x, -750.0, out=x)
            np.exp(x, out=x)
            x -= words.astype(np.float64) * 2.0**-64
            accepted = x > 0.0
            for lane in np.flatnonzero(np.abs(x, out=x) < MARGIN).tolist():
                accepted[lane] = self._settle(int(z[lane]), int(words[lane]), bits)
            drawn: Integers = z[accepted][:count]
            if len(drawn):
                return drawn

    def _settle(self, z: int, level: int, bits: Bits) -> bool:
        """Decide by ball arithmetic whether the uniform number that begins with these 64 bits lies
        below e^(−γ).
        """
        gamma = (abs(z) - self.sigma_squared / self._proposal.scale) ** 2 / (2 * self.sigma_squared)
        return lies_below(lambda: (-ball(gamma)).exp(), level, 64, bits)

    def excess(self, shift: int, epsilon: Fraction) -> arb:
        """Return Σ_z (P(Z = z) − e^ε·P(Z + shift = z))₊ for shift ≥ 1, as a ball: the terms are
        positive up to ⌊shift/2 − ε·σ²/shift⌋.
        """
        last = math.floor(Fraction(shift, 2) - epsilon * self.sigma_squared / shift)
        return self._tail(-last) - ball(epsilon).exp() * self._tail(shift - last)

    def _steep(self) -> bool:
        """Whether the sum over the integers has fewer terms than the dual one, that is 2πσ² < 1."""
        return self.sigma_squared < Fraction(4, 25)

    def _norm(self) -> arb:
        """Return Σ_k e^(−k²/(2σ²)) = √(2πσ²)·Σ_k e^(−2π²σ²k²)."""
        if self._steep():
            return _theta(ball(1 / (2 * self.sigma_squared)), 0)
        return (2 * arb.pi() * ball(self.sigma_squared)).sqrt() * _theta(
            2 * arb.pi() ** 2 * ball(self.sigma_squared), 0
        )

    def _mass(self, z: int) -> arb:
        return (-ball(z * z / (2 * self.sigma_squared))).exp() / self._norm()

    def _upper(self, z: int) -> arb:
        return (_term_by_term if self.sigma_squared < _SUMMED else _euler_maclaurin)(
            self.sigma_squared, z
        ) / self._norm()


def _theta(x: arb, power: int) -> arb:
    """Return Σ_{k ∈ ℤ} k^power·e^(−x·k²) for power 0 or 2 and x ≥ 3: from k = 1 on each term is
    below half of the term before.
    """
    last = math.isqrt(ctx.prec // 4) + 2  # e^(−3·last²) < 2^-prec
    terms = [k**power * (-x * k * k).exp() for k in range(1, last + 2)]
    return (1 if power == 0 else 0) + 2 * sum(terms[:-1], arb(0)) + 4 * arb(0).union(terms[-1])


def _term_by_term(square: Fraction, z: int) -> arb:
    """Return Σ_{k ≥ z} e^(−k²/(2σ²)), z ≥ 1. The ratio of successive terms falls, so a geometric
    series bounds the remainder.
    """
    term = (-ball(z * z / (2 * square))).exp()
    ratio = (-ball((2 * z + 1) / (2 * square))).exp()
    fall = (-ball(1 / square)).exp()
    enough = arb(2) ** -ctx.prec * term
    total = arb(0)
    while True:
        total += term
        term *= ratio
        ratio *= fall
        if (
            term / (1 - ratio) < enough
            or not term.is_finite()
            or (term.rel_accuracy_bits() < 2 and not term > enough)
        ):
            return total + arb(0).union(term / (1 - ratio))


def _euler_maclaurin(square: Fraction, z: int) -> arb:
    """Return Σ_{k ≥ z} e^(−k²/(2σ²)) for wide laws: ∫ + f(z)/2 − Σ_j B_2j/(2j)!·f^(2j−1)(z),
    f^(n) = (−1/σ)^n·He_n(x/σ)·f.

    The remainder after m terms is at most 4·(2π)^(−2m)·∫|f^(2m)|, and |He_n(u)|·e^(−u²/4) ≤
    1.09·√(n!) (Cramér), which bounds the integral by 1.09·√((2m)!)·σ^(−2m)·√(4π)·σ·Φ(−z/(σ√2)).
    """
    sigma = ball(square).sqrt()
    u = z / sigma
    f = (-ball(z * z / (2 * square))).exp()
    total = (2 * arb.pi()).sqrt() * sigma * normal_cdf(-u) + f / 2
    rest = 5 * (4 * arb.pi()).sqrt() * sigma * normal_cdf(-u / arb(2).sqrt())
    enough = arb(2) ** -ctx.prec * f
    before, hermite = arb(1), u  # He_0 and He_1
    step = 1 / (2 * arb.pi() * sigma) ** 2
    weight, factorial, j = 1 / sigma, 1, 1
    while True:
        factorial *= 2 * j * (2 * j - 1)
        total += arb(fmpq.bernoulli(2 * j)) / factorial * weight * hermite * f
        rest *= step * arb(2 * j * (2 * j - 1)).sqrt()
        if rest < enough or 2 * j > 39 * square:  # past 2m = (2πσ)² the bound grows
            return total + arb(0, 1) * rest
        before, hermite = hermite, u * hermite - (2 * j - 1) * before
        before, hermite = hermite, u * hermite - 2 * j * before
        weight /= sigma * sigma
        j += 1
