"""Turn two limits, P(S | x) ≥ p and P(S | y) ≤ q, into a lower bound on ε or μ and a verdict on any
promise.

*ε*        (ε, δ)-DP says P(S | x) ≤ e^ε·P(S | y) + δ, and the same of the other outputs with x and
           y exchanged, so ε ≥ ln((p − δ)/q) and ε ≥ ln((1 − q − δ)/(1 − p)).
*μ*        μ-GDP says Φ⁻¹(P(S | x)) ≤ Φ⁻¹(P(S | y)) + μ, so μ ≥ Φ⁻¹(p) − Φ⁻¹(q).
*Verdict*  Whoever bets on x when S happens errs under y with chance P(S | y) ≤ q, and under x with
           chance 1 − P(S | x) ≤ 1 − p. A promise bounds the second from below by its trade-off at
           the first, which falls: it is broken if tradeoff(q) > 1 − p.
*Rounding* Bounds are rounded down, so that what is proven is true.
*Proof*    docs/proofs/audit.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeGuard

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.balls import ball, evaluate
from ..guarantees import GDP, Approx, Guarantee, Pure
from . import audit_refusals as refusals

DELTA = 1e-6
"""The δ at which an ε is stated where the claim has none of its own."""


def epsilon_bound(p: float, q: float, delta: float) -> float:
    """Compute the largest ε that P(S | x) ≥ p and P(S | y) ≤ q refute, rounded down; 0 where they
    refute none.
    """
    bounds = [
        _log_ratio(Fraction(p) - Fraction(delta), Fraction(q)),
        _log_ratio(1 - Fraction(q) - Fraction(delta), 1 - Fraction(p)),
    ]
    return max(0.0, *bounds)


def mu_bound(p: float, q: float) -> float:
    """Compute the largest μ that P(S | x) ≥ p and P(S | y) ≤ q refute, rounded down."""
    if p <= q:
        return 0.0
    if p >= 1 or q <= 0:
        return math.inf
    high, low = Fraction(p), Fraction(q)
    return max(
        0.0,
        evaluate(
            lambda: arb(2).sqrt() * ((2 * ball(low)).erfcinv() - (2 * ball(high)).erfcinv()), "down"
        ),
    )


def breaks(claim: Guarantee, p: float, q: float) -> bool:
    """Whether P(S | x) ≥ p and P(S | y) ≤ q contradict the promise."""
    if p <= q:
        return False
    return Fraction(claim.tradeoff(min(max(q, 0.0), 1.0))) > 1 - Fraction(p)


def delta_of(claim: Guarantee, delta: float | None) -> float:
    """Return the δ at which ε is stated: the caller's, else the claim's, else 10⁻⁶ where the claim
    is a curve.
    """
    if delta is not None:
        if not is_number(delta) or not 0 <= delta < 1:
            raise refusals.DELTA_OUT_OF_RANGE(delta=delta)
        return float(delta)
    if isinstance(claim, Pure):
        return 0.0
    if isinstance(claim, Approx):
        return float(claim.parameters["delta"])
    return DELTA


def is_number(value: object) -> TypeGuard[float | Fraction]:
    """Whether this is a real number, of Python or of numpy."""
    return isinstance(value, int | float | Fraction | np.integer | np.floating) and not isinstance(
        value, bool
    )


def deciding_delta(claim: Guarantee, delta: float) -> float:
    """Return the δ at which the audit chooses events and decides: the claim's where it has one,
    whatever the δ at which the caller wants ε.
    """
    return delta_of(claim, None) if isinstance(claim, Pure | Approx) else delta


def expected_bounds(
    claim: Guarantee, p: NDArray[np.float64], q: NDArray[np.float64], delta: float
) -> NDArray[np.float64]:
    """Compute in doubles what limits would prove, to choose between events: a bound on μ for a
    claim in μ, else on ε.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(claim, GDP):
            from scipy.special import ndtri

            return np.where(
                p > q, np.nan_to_num(ndtri(p) - ndtri(q), nan=0.0, posinf=np.inf, neginf=0.0), 0.0
            )
        forward = np.where(p > delta, np.log(np.maximum(p - delta, 1e-300) / q), 0.0)
        backward = np.where(1 - q > delta, np.log(np.maximum(1 - q - delta, 1e-300) / (1 - p)), 0.0)
    return np.maximum(0.0, np.maximum(forward, backward))


def _log_ratio(top: Fraction, bottom: Fraction) -> float:
    if top <= 0 or top <= bottom:
        return 0.0
    return math.inf if bottom <= 0 else evaluate(lambda: (ball(top) / ball(bottom)).log(), "down")
