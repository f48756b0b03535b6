"""Best linear unbiased estimates on a tree: what is measured at a place, above it and below it.

*Model*     Every place has a true value; a parent's is the sum of its children's. Some places are
            measured, each with independent noise of a known variance. A variance of 0 marks a
            public number, an infinite one a place that is not measured.
*Up*        From the last level upwards, a place combines its own measurement with the sum of its
            children's estimates, each weighted by the inverse of its variance.
*Down*      From the first level downwards, a place takes its share of the gap between its parent's
            final estimate and the sum that it was part of: K = v/Σv of the siblings.
            Var = v + K²·(Var(parent) − Σv).
*Sums*      The variance of any weighted sum of places, at any levels, in the same closed form.
*Proof*     docs/proofs/census.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .spine import Spine, Values


@dataclass(frozen=True, slots=True, eq=False)
class TreeWeights:
    """How estimates weigh measurements. It follows from public variances alone."""

    spine: Spine
    shares: tuple[Values, ...]  # weight of a place's own measurement beside its children's sum
    upward: tuple[Values, ...]  # variance of the estimate from the place and what is below it
    children: tuple[Values, ...]  # variance of the sum of the children's upward estimates
    gains: tuple[Values, ...]  # share of a parent's gap that a place takes; none at level 0
    variances: tuple[Values, ...]  # of the final estimates

    @classmethod
    def of(cls, spine: Spine, measured: Sequence[Values]) -> TreeWeights:
        """Compute the weights from the variance of each place's measurement."""
        last = spine.depth - 1
        upward: list[Values] = [measured[last]]
        children: list[Values] = []
        shares = [np.ones(spine.sizes[last])]
        for level in range(last - 1, -1, -1):
            below = spine.sum_children(level, upward[0])
            share = _share(measured[level], below)
            # 0·∞ is not computed: the other one of two estimates then has all of the weight
            combined = np.where(share > 0, share * np.where(share > 0, measured[level], 0.0), below)
            shares.insert(0, share)
            children.insert(0, below)
            upward.insert(0, combined)
        gains, variances = [np.zeros(spine.sizes[0])], [upward[0]]
        for level in range(1, spine.depth):
            above = spine.parents[level - 1]
            total = children[level - 1][above]
            gain = np.divide(upward[level], total, out=np.zeros_like(total), where=total > 0)
            variance = upward[level] + gain**2 * (variances[level - 1][above] - total)
            gains.append(gain)
            variances.append(np.maximum(variance, 0.0))
        return cls(
            spine, tuple(shares), tuple(upward), tuple(children), tuple(gains), tuple(variances)
        )

    def estimate(self, measured: Sequence[Values]) -> list[Values]:
        """Estimate all places from measurements: arrays of places × numbers, one for each level.
        What stands at a place that is not measured is not read.
        """
        spine = self.spine
        upward, sums = [measured[-1]], list[Values]()
        for level in range(spine.depth - 2, -1, -1):
            below = spine.sum_children(level, upward[0])
            share = self.shares[level][:, None]
            upward.insert(0, below + share * np.where(share > 0, measured[level] - below, 0.0))
            sums.insert(0, below)
        final = [upward[0]]
        for level in range(1, spine.depth):
            gap = (final[-1] - sums[level - 1])[spine.parents[level - 1]]
            gap *= self.gains[level][:, None]
            gap += upward[level]
            final.append(gap)
        return final

    def variance_of_sum(self, weights: Sequence[Values]) -> float:
        """Return the variance of Σ weight·estimate over the places of all levels."""
        spine, total = self.spine, 0.0
        carried = np.asarray(weights[-1], dtype=np.float64)
        for level in range(spine.depth - 1, 0, -1):
            upward = self.upward[level]
            moved = spine.sum_children(level - 1, carried * upward)
            below = self.children[level - 1]
            square = np.divide(moved**2, below, out=np.zeros_like(below), where=below > 0)
            # residuals of siblings: variance diag(v) − v·vᵀ/Σv, independent of the parent's
            total += float((carried**2 * upward).sum() - square.sum())
            carried = weights[level - 1] + spine.sum_children(
                level - 1, carried * self.gains[level]
            )
        return max(total + float((carried**2 * self.variances[0]).sum()), 0.0)


def _share(measured: Values, below: Values) -> Values:
    """Return the weight of an estimate of variance `measured` beside one of variance `below`."""
    share = np.ones_like(measured)
    np.divide(below, measured + below, out=share, where=(measured > 0) & np.isfinite(below))
    return np.where(np.isfinite(measured), share, 0.0)
