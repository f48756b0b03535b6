"""Rényi divergences of the clone pair, rounded up: of one report among n shuffled ones.

*Sum*       The pair is its own mirror image: an outcome of loss l > 0 has the probabilities p and
            p·e^(−l), and another outcome has them exchanged. Both add p·(1 − e^(−αl))·(e^((α−1)l) −
            1) to e^((α−1)·D_α) − 1, and p·(1 − e^(−l))·l to D₁. All terms are positive and grow
            with l: nothing cancels, and each is taken at the upper end of its l.
*Left out*  What the law leaves out has a loss of at most ε₀: u·e^((α−1)·ε₀).
*Curve*     At the public orders the losses are first rounded up to geometric steps of 2^−13, which
            moves D_α by at most 3·10⁻⁴ of itself.
*Line*      The least ρ with D_α ≤ ρ·α for all α ≥ 1. (α − 1)·D_α is convex, so between two orders
            it is below its chord, and chord/(α(α − 1)) has its maximum at an end or where its
            derivative is 0. Beyond the last order α₁ it is at most ε₀/α₁.
*Local*     Never more than the divergence of randomized response, which is that of n = 1.
*Proof*     docs/proofs/shuffle.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...exact.balls import up
from ...exact.numbers import SMALLEST
from ...guarantees.pure import renyi_of_pure
from ...guarantees.renyi import ORDERS
from .loss_laws import FUNCTION, Doubles, sum_by_bin
from .shuffle_pair import clone_laws

_STEPS = 2**13
"""Geometric steps of the losses to a factor e."""
_MARGIN = 1 + 1e-9
"""More than the rounding errors of a few operations on doubles."""
_LEAST = float(SMALLEST)
"""Stands for what underflows a double."""
_LAST = 2.0**30
"""The last order at which `line_above` looks."""
_NEAR = 5e-4
"""The relative excess of a chord over a parabola that the orders of `line_above` allow."""


class _Losses(NamedTuple):
    """The positive losses from above, ascending, with their probabilities from above."""

    loss: Doubles
    mass: Doubles
    unseen: float


def divergence(epsilon: Fraction, n: int, order: Fraction) -> Fraction:
    """Return D_α of the clone pair, rounded up."""
    return _bound(_losses(epsilon, n), epsilon, order)


@lru_cache(maxsize=16)
def divergence_curve(epsilon: Fraction, n: int) -> dict[Fraction, Fraction]:
    """Return D_α at the public orders, rounded up."""
    losses = _coarse(epsilon, n)
    return {order: _bound(losses, epsilon, order) for order in ORDERS}


@lru_cache(maxsize=16)
def line_above(epsilon: Fraction, n: int) -> Fraction:
    """Return a ρ with D_α ≤ ρ·α at every order α ≥ 1."""
    losses, local = _coarse(epsilon, n), float(epsilon)
    first = 1.0 + _NEAR
    before = first, _divergence(losses, first) * _MARGIN
    rho = before[1]  # between 1 and the first order D_α is no larger, and α no smaller
    for order in _orders(first):
        if local / before[0] * _MARGIN <= rho or order > _LAST:
            break
        here = order, min(local, _divergence(losses, order) * _MARGIN)
        rho = max(rho, _steepest(before, here) * _MARGIN)
        before = here
    rho = max(rho, local / before[0] * _MARGIN)
    local_rho = Fraction(renyi_of_pure(epsilon, Fraction(1)))
    return max(min(Fraction(up(Fraction(rho))), local_rho), SMALLEST)


def _orders(first: float) -> Iterator[float]:
    """Yield ascending orders, so near that chords are near the curve between them."""
    order = first
    while True:
        order += math.sqrt(4 * _NEAR * order * (order - 1.0))
        yield order


def _steepest(low: tuple[float, float], high: tuple[float, float]) -> float:
    """Return the largest ratio to α(α − 1) of the chord of (α − 1)·D_α between two orders."""
    (a, at_a), (b, at_b) = low, high
    slope = ((b - 1.0) * at_b - (a - 1.0) * at_a) / (b - a)
    rest = (a - 1.0) * at_a - slope * a
    places = [a, b]
    square = rest * (rest + slope)
    if slope > 0 and square >= 0:
        places += [(-rest + sign * math.sqrt(square)) / slope for sign in (-1.0, 1.0)]
    return max((slope * x + rest) / (x * (x - 1.0)) for x in places if a <= x <= b)


@lru_cache(maxsize=4)
def _losses(epsilon: Fraction, n: int) -> _Losses:
    law = clone_laws(float(epsilon), n)[1]
    points = law.points
    positive = points.loss > 0
    loss = points.loss[positive] + law.slack
    return _Losses(
        np.minimum(loss, float(epsilon) * _MARGIN),
        points.p[positive] * (1.0 + law.error) * _MARGIN,
        law.unseen,
    )


@lru_cache(maxsize=4)
def _coarse(epsilon: Fraction, n: int) -> _Losses:
    """Round the losses up to geometric steps, and join equal ones."""
    losses = _losses(epsilon, n)
    steps = np.ceil(np.log(losses.loss) * _STEPS)
    _, place = np.unique(steps, return_inverse=True)
    mass = sum_by_bin(place, losses.mass, int(place.max(initial=-1)) + 1)
    loss = np.zeros(mass.size)
    np.maximum.at(loss, place, losses.loss)
    return _Losses(loss, mass * _MARGIN, losses.unseen)


def _bound(losses: _Losses, epsilon: Fraction, order: Fraction) -> Fraction:
    """Return D_α from above, and no more than the divergence of the report alone."""
    local = Fraction(renyi_of_pure(epsilon, order))
    bound = Fraction(up(Fraction(_divergence(losses, float(order)) * _MARGIN)))
    return max(min(local, bound), SMALLEST)


def _divergence(losses: _Losses, order: float) -> float:
    """Return D_α of the losses, up to a few rounding errors."""
    loss, mass, unseen = losses
    farthest = float(loss[-1]) if loss.size else 0.0
    if order == 1.0:
        return max(float((mass * loss * -np.expm1(-loss)).sum()) + unseen * farthest, _LEAST)
    power = order - 1.0
    likely = mass > 0
    terms = (
        np.log(mass[likely])
        + power * loss[likely]
        + np.log(-np.expm1(-order * loss[likely]))
        + np.log(-np.expm1(-power * loss[likely]))
    )
    rest = math.log(unseen) + power * farthest if unseen else -math.inf
    top = max(float(terms.max(initial=-math.inf)), rest)
    size = max(abs(float(terms.min(initial=0.0))), abs(top), power * farthest)
    logarithm = top + math.log(float(np.exp(terms - top).sum()) + math.exp(rest - top))
    logarithm += 64 * FUNCTION * (1.0 + size)
    return max(float(np.logaddexp(0.0, logarithm)) / power, _LEAST)
