"""The laws of the loss of Gaussian noise, Laplace noise and randomized response, as masses between
edges.

*Gaussian*   Q = N(0, 1), P = N(μ, 1), L(x) = μx − μ²/2. A cell's mass is a sum of Gauss–Legendre
             rules: of seven points over pieces d with d·max(2, |x|) ≤ 1, of three where that is at
             most 1/32. Their remainders, n!⁴/((2n + 1)·(2n)!³)·d²ⁿ times the 2n-th derivative, are
             below 2⁻⁴⁷ of it. No difference of large numbers is taken.
*Laplace*    Two-sided geometric noise, shifted by D steps of loss c = ε/D: L = c·(D − 2z) with z
             the noise cut to 0 … D. The ends hold 1/(1 + e⁻ᶜ) and e⁻ᵋ/(1 + e⁻ᶜ); between, a run of
             n values from z on holds e⁻ᶜᶻ·(1 − e⁻ᶜⁿ)/(1 + e⁻ᶜ). Without steps: the continuous law,
             their limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .loss_laws import FUNCTION, NOTHING, UNIT, Atoms, Cells, Doubles, Law, PointLaw

_RULES = {n: np.polynomial.legendre.leggauss(n) for n in (3, 7)}
_FEW = 65  # atoms
_FAR = 38.5  # beyond it a normal variable falls with probability below 2^-1070


@dataclass(frozen=True, slots=True, eq=False)
class GaussianLaw(Law):
    """Telling N(0, 1) from N(μ, 1); `mu` is μ to within 2⁻⁵² of itself."""

    mu: float

    symmetric = True

    @property
    def error(self) -> float:
        far = _FAR + self.mu
        return (2 * far * far + 4 * far * self.mu + 128) * UNIT + FUNCTION

    @property
    def slack(self) -> float:
        return 8 * UNIT * self.mu * (_FAR + 2 * self.mu)

    def rough(self, tail: float) -> Doubles:
        far = min(_FAR, math.sqrt(-2 * math.log(max(tail, NOTHING))) + 1)
        return self.mu * np.linspace(-far, self.mu + far, 400) - self.mu * self.mu / 2

    def cells(self, edges: Doubles) -> Cells:
        x = np.clip((edges + self.mu * self.mu / 2) / self.mu, -_FAR, self.mu + _FAR)
        ends = np.concatenate(([-_FAR], x, [self.mu + _FAR]))
        reach = np.maximum(2.0, np.maximum(np.abs(ends), np.abs(ends - self.mu)))
        size = np.diff(ends) * np.maximum(reach[:-1], reach[1:])
        fine = size <= 1 / 32
        masses = np.empty((2, size.size))
        masses[:, fine] = self._rule(3, ends[:-1][fine], ends[1:][fine])
        start = ends[:-1][~fine]
        end = ends[1:][~fine]
        pieces = np.ceil(size[~fine]).astype(np.int64)
        first = np.cumsum(pieces) - pieces
        number = np.arange(pieces.sum()) - np.repeat(first, pieces)
        step, low = np.repeat((end - start) / pieces, pieces), np.repeat(start, pieces)
        masses[:, ~fine] = np.add.reduceat(
            self._rule(7, low + number * step, low + (number + 1) * step), first, axis=1
        )
        return Cells(masses[0], masses[1])

    def _rule(self, points: int, low: Doubles, high: Doubles) -> Doubles:
        """Integrate P and Q over each interval by one Gauss–Legendre rule."""
        nodes, weights = _RULES[points]
        half = (high - low) / 2
        x = (low + high) / 2 + half * nodes[:, None]
        masses = np.stack(
            (weights @ np.exp(-0.5 * (x - self.mu) ** 2), weights @ np.exp(-0.5 * x * x))
        )
        return masses * (half / math.sqrt(2 * math.pi))


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceLaw(Law):
    """Two-sided geometric noise of total loss ε over `steps` steps, or continuous Laplace noise if
    there are infinitely many.
    """

    epsilon: float
    steps: float

    symmetric = True

    @property
    def error(self) -> float:
        return 4 * FUNCTION + 8 * UNIT * self.epsilon

    @property
    def slack(self) -> float:
        return 16 * UNIT * self.epsilon

    unseen = 0.0

    @property
    def atoms(self) -> Atoms:
        more = 1.0 + math.exp(-self.epsilon / self.steps)
        high, low = 1.0 / more, math.exp(-self.epsilon) / more
        return Atoms(
            np.array([-self.epsilon, self.epsilon]), np.array([low, high]), np.array([high, low])
        )

    def rough(self, tail: float) -> Doubles:
        return np.linspace(-self.epsilon, self.epsilon, 128)

    def cells(self, edges: Doubles) -> Cells:
        if math.isinf(self.steps):
            z = np.clip(
                (self.epsilon - np.concatenate(([-math.inf], edges, [math.inf]))) / 2,
                0.0,
                self.epsilon,
            )
            length = -np.diff(z)
            inside = -np.expm1(-length) / 2
            return Cells(np.exp(-z[1:]) * inside, np.exp(z[:-1] - self.epsilon) * inside)
        c = self.epsilon / self.steps
        z = np.floor(
            np.clip(
                (self.steps - np.concatenate(([-math.inf], edges, [math.inf])) / c) / 2,
                0.0,
                self.steps - 1.0,
            )
        )
        # the cell between two edges holds the whole numbers above z[i + 1] up to z[i]
        z[0], z[-1] = self.steps - 1.0, 0.0
        count = -np.diff(z)
        inside = -np.expm1(-c * count) / (1.0 + math.exp(-c))
        return Cells(
            np.exp(-c * (z[1:] + 1.0)) * inside, np.exp(-c * (self.steps - z[:-1])) * inside
        )


def laplace_law(epsilon: float, steps: float) -> Law:
    """Return the law of Laplace noise; for few steps, as a list of atoms."""
    if steps + 1 > _FEW:
        return LaplaceLaw(epsilon, steps)
    c, d = epsilon / steps, int(steps)
    z = np.arange(d, -1, -1, dtype=np.float64)
    inside = -math.expm1(-c) * np.exp(-c * z) / (1.0 + math.exp(-c))
    inside[0], inside[-1] = math.exp(-epsilon) / (1.0 + math.exp(-c)), 1.0 / (1.0 + math.exp(-c))
    points = Atoms(c * (d - 2 * z), inside, inside[::-1].copy())
    return PointLaw(points, 8 * FUNCTION + 8 * UNIT * epsilon, 16 * UNIT * epsilon, symmetric=True)


def response_law(epsilon: float, categories: int, delta: float = 0.0) -> Law:
    """Return the law of k-ary randomized response: the true category, a false one, or one that
    tells nothing; and a chance δ of telling all.
    """
    lie = math.exp(-epsilon) / (1.0 + (categories - 1) * math.exp(-epsilon))
    truth, rest = 1.0 / (1.0 + (categories - 1) * math.exp(-epsilon)), (categories - 2) * lie
    p = np.array([lie, rest, truth])
    q = np.array([truth, rest, lie])
    at = np.array([-epsilon, 0.0, epsilon])
    present = np.array([epsilon > 0, True, epsilon > 0]) & ((p > 0) | (at != 0))
    if epsilon == 0.0:
        at, p, q, present = np.zeros(1), np.ones(1), np.ones(1), np.array([True])
    left = 1.0 - delta
    points = Atoms(at[present], left * p[present], left * q[present])
    return PointLaw(
        points, 8 * FUNCTION + 8 * UNIT * epsilon, 2 * UNIT * epsilon, delta, delta, symmetric=True
    )
