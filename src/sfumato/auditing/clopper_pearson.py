"""Exact confidence limits of a probability, from how often an event occurred.

*Lower*   p such that P(Bin(n, p) ≥ k) ≤ α: the true chance is at least p but for a chance of α,
          whatever it is (Clopper & Pearson 1934).
*Upper*   p such that P(Bin(n, p) ≤ k) ≤ α.
*Steps*   scipy's quantile of the beta law is where the search begins. It is then moved outward
          until the binomial tail itself, an incomplete beta function, is below α with a relative
          margin of 10⁻⁹; against ball arithmetic the tests measure errors of that function below
          10⁻¹⁰.
*Proof*   docs/proofs/audit.md
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import audit_refusals as refusals

_MARGIN = 1e-9


def lower_limit(hits: int, trials: int, alpha: float) -> float:
    """Compute a lower limit of an event's probability that is wrong with probability `alpha`."""
    from scipy.special import betainc, betaincinv

    _check_counts(hits, trials, alpha)
    if hits == 0:
        return 0.0
    p, nudge = float(betaincinv(hits, trials - hits + 1, alpha)), _MARGIN
    while p > 0 and not betainc(hits, trials - hits + 1, p) <= alpha * (1 - _MARGIN):
        p, nudge = p * (1 - nudge), 2 * nudge
    return max(p, 0.0)


def upper_limit(hits: int, trials: int, alpha: float) -> float:
    """Compute an upper limit of an event's probability that is wrong with probability `alpha`."""
    from scipy.special import betaincc, betainccinv

    _check_counts(hits, trials, alpha)
    if hits == trials:
        return 1.0
    p, nudge = float(betainccinv(hits + 1, trials - hits, alpha)), _MARGIN
    while p < 1 and not betaincc(hits + 1, trials - hits, p) <= alpha * (1 - _MARGIN):
        p, nudge = p * (1 + nudge), 2 * nudge
    return min(p, 1.0)


def expected_limits(
    p: ArrayLike, q: ArrayLike, trials: int, alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimate the lower limit of each p and the upper limit of each q, if events occurred exactly
    as often as expected. These are estimates, not limits.
    """
    from scipy.special import betainccinv, betaincinv

    high, low = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    hits = np.maximum(high * trials, 1e-300)
    misses = np.minimum(low * trials, trials * (1 - 1e-16))
    lowest = np.where(
        high * trials < 1e-9, 0.0, betaincinv(hits, trials - high * trials + 1, alpha)
    )
    highest = np.where(
        low >= 1, 1.0, betainccinv(misses + 1, np.maximum(trials - low * trials, 1e-300), alpha)
    )
    return lowest, highest


def _check_counts(hits: int, trials: int, alpha: float) -> None:
    if not 0 <= hits <= trials or trials < 1 or not 0 < alpha < 1:
        raise refusals.COUNTS_OUT_OF_RANGE(hits=hits, trials=trials, alpha=alpha)
