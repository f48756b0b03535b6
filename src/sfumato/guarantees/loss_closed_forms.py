"""Closed forms of the privacy loss and the Rényi divergence: shifted Laplace and normal laws, and
randomized response for comparison.

*Laplace*    With t = Δ/b for scale b and shift Δ: the loss is t with probability ½, −t with
             probability e^(−t)/2, and spread between; D_α = ln[α/(2α − 1)·e^((α − 1)t) + (α −
             1)/(2α − 1)·e^(−αt)]/(α − 1), with limits t + e^(−t) − 1 at 1 and t at ∞.
*Gaussian*   With μ = Δ/σ: the loss is normal with mean μ²/2 and variance μ²; D_α = α·μ²/2, in d
             dimensions α/2·dᵀΣ⁻¹d. It grows without bound in α: no pure promise follows, and an
             ε(α) below 1 at small orders is above 1 at large ones.
*Response*   D_α between (p, 1 − p) and (1 − p, p), at most |ln(p/(1 − p))|.

Mironov 2017, table II and figure 1, which `renyi_table` and `renyi_curves` give as data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from flint import arb, fmpq, fmpq_mat

from ..exact.balls import Rounding, ball, chance, evaluate, normal_cdf
from ..exact.numbers import Number, exact, positive, probability
from . import guarantee_refusals as refusals
from .finite.divergences import order_of, renyi


class LaplaceLoss(NamedTuple):
    """The privacy loss between a Laplace law and its shift: two atoms at ± `largest`, and its
    mean.
    """

    largest: float
    at_largest: float
    at_smallest: float
    mean: float


class NormalLoss(NamedTuple):
    """The privacy loss between a normal law and its shift, itself normal."""

    mean: Fraction
    variance: Fraction

    def tail(self, loss: Number, *, rounding: Rounding = "nearest") -> float:
        """P(L > loss)."""
        gap = self.mean - exact(loss, "loss")
        return chance(lambda: normal_cdf(ball(gap) / ball(self.variance).sqrt()), rounding)


class RenyiRow(NamedTuple):
    """A mechanism with its pure ε and its Rényi ε at one order."""

    mechanism: str
    pure: float
    renyi: float


def laplace_loss(scale: Number, sensitivity: Number = 1) -> LaplaceLoss:
    """The atoms and the mean of the loss, to the nearest double."""
    t = _shift(scale, sensitivity)
    mean = evaluate(lambda: ball(t) + ball(-t).expm1())
    return LaplaceLoss(evaluate(lambda: ball(t)), 0.5, evaluate(lambda: ball(-t).exp() / 2), mean)


def laplace_renyi(
    order: Number, scale: Number, sensitivity: Number = 1, *, rounding: Rounding = "up"
) -> float:
    """D_α between a Laplace law and its shift, for an order in (0, ∞]."""
    a, t = order_of(order), _shift(scale, sensitivity)
    if a is None:
        return evaluate(lambda: ball(t), rounding)
    if a == 1:
        return evaluate(lambda: ball(t) + ball(-t).expm1(), rounding)
    if a == Fraction(1, 2):
        return evaluate(lambda: ball(t) - 2 * ball(t / 2).log1p(), rounding)
    # D_α(P‖Q) = α/(1 − α)·D_{1−α}(Q‖P), and the laws are mirror images
    order, factor = (a, Fraction(1)) if 2 * a > 1 else (1 - a, a / (1 - a))

    def formula() -> arb:
        rest = (
            ball(order / (2 * order - 1))
            + ball((order - 1) / (2 * order - 1)) * ball((1 - 2 * order) * t).exp()
        )
        return ball(factor) * (ball(t) + rest.log() / ball(order - 1))

    return evaluate(formula, rounding)


def gaussian_loss(sigma: Number, sensitivity: Number = 1) -> NormalLoss:
    """The law of the loss, exactly."""
    mu = _shift(sigma, sensitivity, "sigma")
    return NormalLoss(mu**2 / 2, mu**2)


def gaussian_renyi(
    order: Number,
    difference: Sequence[Number],
    covariance: Sequence[Sequence[Number]],
    *,
    rounding: Rounding = "up",
) -> float:
    """α/2 · dᵀΣ⁻¹d for normal laws whose means differ by d and that share the covariance Σ."""
    a = order_of(order)
    d = [exact(x, "difference") for x in difference]
    sigma = [[exact(x, "covariance") for x in row] for row in covariance]
    if not d or len(sigma) != len(d) or any(len(row) != len(d) for row in sigma):
        raise refusals.COVARIANCE_SIZE(rows=len(sigma), means=len(d))
    matrix = _matrix(sigma)
    minors = (_matrix([row[:n] for row in sigma[:n]]).det() for n in range(1, len(d) + 1))
    if matrix != matrix.transpose() or not all(minor > 0 for minor in minors):
        raise refusals.COVARIANCE_NOT_POSITIVE_DEFINITE()
    column = _matrix([[x] for x in d])
    form = (column.transpose() * matrix.solve(column))[0, 0]
    if a is None:
        return math.inf if form != 0 else 0.0
    value = a / 2 * Fraction(int(form.p), int(form.q))
    return evaluate(lambda: ball(value), rounding)


def gaussian_variance(order: Number, epsilon: Number, sensitivity: Number = 1) -> Fraction:
    """The least variance with D_α ≤ ε: σ² = α·Δ²/(2ε), exactly."""
    return (
        positive(order, "order")
        * positive(sensitivity, "sensitivity") ** 2
        / (2 * positive(epsilon, "epsilon"))
    )


def randomized_response_renyi(order: Number, truth: Number, *, rounding: Rounding = "up") -> float:
    """D_α between the two answers' laws, the truth being told with probability `truth`."""
    p = probability(truth, "truth", zero=False)
    return renyi((p, 1 - p), (1 - p, p), order, rounding=rounding)


def renyi_table(
    order: Number,
    *,
    truth: Number,
    scale: Number,
    sigma: Number,
    sensitivity: Number = 1,
    rounding: Rounding = "up",
) -> tuple[RenyiRow, RenyiRow, RenyiRow]:
    """Return the pure and the Rényi ε of the three basic mechanisms."""
    return (
        RenyiRow(
            "randomized response",
            randomized_response_renyi(math.inf, truth, rounding=rounding),
            randomized_response_renyi(order, truth, rounding=rounding),
        ),
        RenyiRow(
            "Laplace",
            laplace_renyi(math.inf, scale, sensitivity, rounding=rounding),
            laplace_renyi(order, scale, sensitivity, rounding=rounding),
        ),
        RenyiRow("Gaussian", math.inf, _gaussian(order, sigma, sensitivity, rounding)),
    )


def renyi_curves(
    orders: Iterable[Number],
    *,
    truth: Number,
    scale: Number,
    sigma: Number,
    sensitivity: Number = 1,
    rounding: Rounding = "up",
) -> dict[str, list[float]]:
    """The column `renyi` of `renyi_table` over the orders, by mechanism."""
    tables = [
        renyi_table(
            order, truth=truth, scale=scale, sigma=sigma, sensitivity=sensitivity, rounding=rounding
        )
        for order in orders
    ]
    return {rows[0].mechanism: [row.renyi for row in rows] for rows in zip(*tables, strict=True)}


def _gaussian(order: Number, sigma: Number, sensitivity: Number, rounding: Rounding) -> float:
    return gaussian_renyi(
        order,
        [positive(sensitivity, "sensitivity")],
        [[positive(sigma, "sigma") ** 2]],
        rounding=rounding,
    )


def _shift(scale: Number, sensitivity: Number, name: str = "scale") -> Fraction:
    return positive(sensitivity, "sensitivity") / positive(scale, name)


def _matrix(rows: list[list[Fraction]]) -> fmpq_mat:
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in rows])
