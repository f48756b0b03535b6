"""Report noisy max: add two-sided geometric noise to every score, publish only which is largest.

*Law*        argmax_i (score_i + Z_i), the first among equals, Z_i two-sided geometric of scale
             2Δ/ε; Δ/ε for monotone scores. Integer scores, or scores on a grid.
*Promise*    ε-DP. Only the index is published, not the noisy score.
*Error*      P(best score − chosen score ≥ r) ≤ (n − 1)·P(Z − Z' ≥ r), Z and Z' independent.
*Proof*      docs/proofs/noisy-max.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from attrs import field
from flint import arb, arb_poly
from numpy.typing import NDArray

from ..exact.balls import ball, below, chance, up
from ..exact.numbers import Number, probability
from ..exact.search import first
from ..guarantees import Guarantee, Pure
from ..noise.bits import Bits
from ..noise.choice import Scores
from ..noise.geometric import Geometric
from ..noise.law import Integers
from ..records import record
from .shared import mechanism_refusals as refusals
from .shared.selection import Selection, check_count

_FITS = 1 << 61


@record(kw_only=True)
class NoisyMax(Selection):
    """Report-noisy-max for scores of a given sensitivity: the quick choice among very many
    candidates.
    """

    _law: Geometric = field(init=False)

    @_law.default
    def _build_law(self) -> Geometric:
        return Geometric(scale=1 / self.rate)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(self.epsilon, **self._neighbours),)

    def probabilities(self, scores: Sequence[Number]) -> NDArray[np.float64]:
        """P(i) = Σ_y P(s_i + Z_i = y) · Π_{j<i} P(s_j + Z_j < y) · Π_{j>i} P(s_j + Z_j ≤ y). For a
        few candidates: the time grows with their number⁴.
        """
        exact = [int(s) for s in self._integers(self._exact(scores))]
        return np.array([chance(partial(self._wins, i, exact)) for i in range(len(exact))])

    def regret(self, confidence: Number = 0.95, *, count: int) -> float:
        """How far below the best score the chosen one may lie, with this probability, among `count`
        candidates.
        """
        missing, others = 1 - probability(confidence, "confidence"), check_count(count) - 1
        r = first(lambda r: self._rarely(r, missing / others), least=0) if others else 0
        return float(r) if self.grid is None else up(self.grid * (r + 1))

    def _rarely(self, r: int, chance: Fraction) -> bool:
        """Whether P(Z − Z' > r) ≤ chance: Σ_{k>r} ((1 − q)/(1 + q))² · q^k · (k + (1 + q²)/(1 −
        q²)).
        """

        def tail() -> arb:
            q = self._power(1)
            middle = (1 + q * q) / (1 - q * q)
            return (
                ((1 - q) / (1 + q)) ** 2
                * self._power(r + 1)
                * ((r + 1 + middle) / (1 - q) + q / (1 - q) ** 2)
            )

        return below(tail, lambda: ball(chance))

    def _power(self, k: int) -> arb:
        """q^k."""
        return (-ball(k * self.rate)).exp()

    def _wins(self, i: int, scores: list[int]) -> arb:
        """P(i): between two scores every factor is 1 − c·x or c/x with x = q^(y − start), so the
        sum over y is one of geometric series.
        """
        others = [
            s + (j < i)
            for j, s in enumerate(scores)
            if j != i
            # P(s_j + Z_j ≤ y) is 1 − q^(y − c + 1)/(1 + q) from c − 1 on and q^(c − y)/(1 + q) up
            # to c
        ]
        divisor, cuts = 1 + self._power(1), sorted({*others, scores[i]})
        total = arb(0)
        # y in [start, stop); below the first cut everything falls, from the last on it rises
        for start, stop in zip([None, *cuts], [*cuts, None], strict=True):
            at = cuts[0] - 1 if start is None else start
            rising, powers = arb_poly([1]), 0  # the product is rising(x)·x^(−powers)
            for c in others:
                if c <= at:
                    rising *= arb_poly([1, -self._power(at - c + 1) / divisor])
                else:
                    rising, powers = rising * (self._power(c - at) / divisor), powers + 1
            if scores[i] <= at:
                rising, powers = rising * self._power(at - scores[i]), powers - 1
            else:
                rising, powers = rising * self._power(scores[i] - at), powers + 1
            count = None if start is None or stop is None else stop - start
            total += sum(
                (
                    rising[m] * self._series(m - powers, count, start is None)
                    for m in range(rising.degree() + 1)
                ),
                arb(0),
            )
        return total * (1 - self._power(1)) / divisor

    def _series(self, m: int, count: int | None, downward: bool) -> arb:
        """Σ x^m over x = q^k: k = 0, …, count − 1; or all k ≥ 0; or all k ≤ 0."""
        if count is None:
            return 1 / (1 - self._power(-m if downward else m))
        return arb(count) if m == 0 else (1 - self._power(m * count)) / (1 - self._power(m))

    def _index(self, scores: Scores, bits: Bits) -> int:
        exact = self._integers(scores)
        noise = self._law.sample(len(exact), bits)
        if all(
            array.dtype == np.int64 and array.min() > -_FITS and array.max() < _FITS
            for array in (exact, noise)
        ):
            return int(np.argmax(exact + noise))
        sums = [int(s) + int(n) for s, n in zip(exact, noise, strict=True)]
        return sums.index(max(sums))

    def _integers(self, scores: Scores) -> Integers:
        if isinstance(scores, np.ndarray):
            return scores
        if any(s.denominator != 1 for s in scores):
            raise refusals.SCORES_NOT_WHOLE()
        integers = [int(s) for s in scores]
        return np.array(integers, dtype=np.int64 if max(map(abs, integers)) < 2**62 else object)
