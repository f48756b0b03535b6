"""Bound the noise of answers that are known linear combinations of independent draws.

*Gaussian*  The normal quantile times the length of the weights, and half a step for each draw's
            rounding.
*Laplace*   The tail integral of the sum (`linear_bounds`), a convolution for a few draws, and
            Chernoff's bound: the least of those that apply.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from ...exact.balls import up
from ...noise.continuous import Normal
from ...noise.geometric import Geometric
from ...noise.linear_bounds import bound_sums
from ...noise.rounded_normal import RoundedNormal
from ...noise.weighted_sums import FEW, sum_bound
from .query_blocks import Doubles

_LOOSE = 1 + 2.0**-30


def answer_errors(law: Geometric | RoundedNormal, weights: Doubles, missing: Fraction) -> Doubles:
    """Return for each row a bound that |Σ w·Z| exceeds with probability at most `missing`."""
    sizes = np.abs(weights)
    if isinstance(law, RoundedNormal):
        quantile = Normal(sigma=1).quantile(1 - missing / 2, "up")
        spread = float(law.sigma) * np.sqrt((sizes**2).sum(axis=1))
        return np.asarray((quantile * spread + sizes.sum(axis=1) / 2) * _LOOSE)
    used = sizes[:, sizes.max(axis=0, initial=0.0) > 0]
    if not used.shape[1]:
        return np.zeros(len(sizes))
    return bound_sums([law] * used.shape[1], list(used.T), missing)


def answer_error(law: Geometric | RoundedNormal, weights: Doubles, missing: Fraction) -> float:
    """Return the least bound known for one answer."""
    bounds = [float(answer_errors(law, weights[None, :], missing)[0])]
    if isinstance(law, Geometric):
        bounds.append(law.linear_error(weights, missing))
        used = [Fraction(abs(float(weight))) for weight in weights if weight]
        if len(used) <= FEW:
            terms = tuple((law, weight, count) for weight, count in Counter(used).items())
            bounds.append(up(sum_bound(terms, missing)))
    return min(bounds) * _LOOSE
