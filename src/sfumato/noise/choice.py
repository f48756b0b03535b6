"""An exact choice among finitely many candidates, with probability ∝ prior · e^(rate·score).

*Law*     P(I = i) = w_i / Σ_k w_k, w_i = prior_i · e^(rate·s_i); rate, prior and scores exact
          rationals of any size. Nothing underflows, because only differences of scores matter and a
          candidate too unlikely for a double still owns its sliver of the unit interval.
*Draw*    U uniform; I is the candidate whose part of the cumulative law holds U. Sums in double
          precision decide all but about n·2^-37 of the draws; the others are settled in ball
          arithmetic with further bits.
*Proof*   docs/proofs/choice.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TypeGuard

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from ..exact.balls import Rounding, ball, below, chance
from ..exact.numbers import Number, exact, positive, probability
from . import noise_refusals as refusals
from .bits import SYSTEM, Bits
from .law import Shape, count_of
from .uniform import part_holding

MARGIN = 2.0**-38
"""Assumed: exp of a double in [−800, 0] errs by less than 2^-42 of itself; proved: conversions and
the division add less than 2^-39 (sums 2^-52 each).
"""

_NEVER = -800.0  # e^(−800) is 0 in doubles: such a candidate is only ever chosen by `settle`
# smaller sums of weights have lost bits to underflow: the best score has next to no prior weight
_CLEAR = 2.0**-900
_SAFE = 1 << 62

Scores = tuple[Fraction, ...] | NDArray[np.int64]
"""Exact numbers, one for each candidate."""


class Choice:
    """The law with probability ∝ prior · e^(rate·score) on the indices of `scores`. Scores are
    data, so the repr hides them.
    """

    __slots__ = ("_ends", "_margin", "_top", "prior", "rate", "scores")

    def __init__(
        self,
        scores: Sequence[Number] | NDArray[np.int64],
        *,
        rate: Number = 1,
        prior: Sequence[Number] | NDArray[np.int64] | None = None,
    ) -> None:
        self.scores: Scores = (
            np.array(scores) if _is_int64(scores) else tuple(exact(s, "score") for s in scores)
        )
        self.rate = positive(rate, "rate")
        self.prior: Scores | None = (
            prior
            if prior is None
            else np.array(prior)
            if _is_int64(prior)
            else tuple(exact(p, "prior") for p in prior)
        )
        if not len(self.scores):
            raise refusals.NO_CANDIDATES()
        if self.prior is not None and (
            len(self.prior) != len(self.scores) or not _weighs(self.prior)
        ):
            raise refusals.UNFIT_PRIOR(candidates=len(self.scores))
        self._top = self._score(_best(self.scores, self.prior))
        ends = np.cumsum(self._weights())
        clear = bool(ends[-1] > _CLEAR)
        self._ends: NDArray[np.float64] = ends / ends[-1] if clear else np.full(len(ends), 0.5)
        # the latter leaves every word to `settle`
        self._margin = MARGIN + 2.0**-51 * len(self.scores) if clear else 1.0

    def __repr__(self) -> str:
        return f"Choice(among {len(self.scores)} candidates)"

    def pmf(self, i: int, rounding: Rounding = "nearest") -> float:
        """Return P(I = i)."""
        return chance(lambda: self._weight(i) / self._part(len(self.scores)), rounding)

    def pmfs(self, rounding: Rounding = "nearest") -> NDArray[np.float64]:
        """Return P(I = i) for every i."""
        totals: dict[int, arb] = {}

        def ratio(i: int) -> arb:
            if ctx.prec not in totals:  # one sum for each precision that some candidate needs
                totals[ctx.prec] = self._part(len(self.scores))
            return self._weight(i) / totals[ctx.prec]

        return np.array([chance(partial(ratio, i), rounding) for i in range(len(self.scores))])

    def cdf(self, i: int, rounding: Rounding = "nearest") -> float:
        """Return P(I ≤ i)."""
        return chance(lambda: self._part(i + 1) / self._part(len(self.scores)), rounding)

    def tail(self, i: int, rounding: Rounding = "nearest") -> float:
        """Return P(I ≥ i)."""
        return chance(
            lambda: self._part(len(self.scores), i) / self._part(len(self.scores)), rounding
        )

    def quantile(self, p: Number) -> int:
        """Return the least i with P(I ≤ i) ≥ p."""
        level = probability(p, "p", zero=False, one=True)
        return next(
            i
            for i in range(len(self.scores))
            if i + 1 == len(self.scores) or self._reaches(i, level)
        )

    def draw(self, bits: Bits = SYSTEM) -> int:
        return int(self.sample(1, bits)[0])

    def sample(self, shape: Shape, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        """Draw an array of independent exact values."""
        words = bits.words(count_of(shape))
        u = words.astype(np.float64) * 2.0**-64
        index = self._ends.searchsorted(u - self._margin, side="right")
        doubt = index != self._ends.searchsorted(u + self._margin, side="right")
        for lane in np.flatnonzero(doubt):
            index[lane] = self.settle(int(words[lane]), bits)
        return index.reshape(shape)

    def settle(self, word: int, bits: Bits = SYSTEM) -> int:
        """Find the candidate whose part holds the uniform number that begins with this word, in
        ball arithmetic and with further bits.
        """
        return part_holding(
            lambda _: (self._part(len(self.scores)), map(self._weight, range(len(self.scores)))),
            word,
            bits,
        )

    def _weights(self) -> NDArray[np.float64]:
        """Compute the weights in double precision; the best score has weight 1."""
        if isinstance(self.scores, np.ndarray):
            exponents = (self.scores - int(self._top)).astype(np.float64) * float(self.rate)
        else:
            exponents = np.array(
                [float(max(self.rate * (s - self._top), Fraction(-10_000))) for s in self.scores]
            )
        np.clip(exponents, _NEVER, 0.0, out=exponents)  # only a candidate of weight 0 lies above
        weights = np.exp(exponents)
        if isinstance(self.prior, np.ndarray):
            weights *= self.prior.astype(np.float64)
        elif self.prior is not None:
            largest = max(self.prior)
            weights *= [float(p / largest) for p in self.prior]
        return weights

    def _score(self, i: int) -> Fraction:
        s = self.scores[i]
        return s if isinstance(s, Fraction) else Fraction(int(s))

    def _share(self, i: int) -> Fraction:
        """Return the prior weight of a candidate."""
        p = 1 if self.prior is None else self.prior[i]
        return p if isinstance(p, Fraction) else Fraction(int(p))

    def _weight(self, i: int) -> arb:
        return ball(self._share(i)) * ball(self.rate * (self._score(i) - self._top)).exp()

    def _part(self, stop: int, start: int = 0) -> arb:
        return sum((self._weight(i) for i in range(start, stop)), arb(0))

    def _reaches(self, i: int, level: Fraction) -> bool:
        part, total = self._shares(i + 1), self._shares(len(self.scores))
        if all(part[s] == level * total[s] for s in total):
            # A tie. No other tie exists: for different rational s the numbers e^s are linearly
            # independent, by the theorem of Lindemann and Weierstrass.
            return True
        return not below(
            lambda: self._part(i + 1), lambda: ball(level) * self._part(len(self.scores))
        )

    def _shares(self, stop: int) -> defaultdict[Fraction, Fraction]:
        """Add up the prior weight of each score among the first `stop` candidates."""
        shares: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
        for i in range(stop):
            shares[self._score(i)] += self._share(i)
        return shares


def _best(scores: Scores, prior: Scores | None) -> int:
    """Return a candidate with the best score among those of positive weight."""
    if isinstance(scores, np.ndarray) and (prior is None or isinstance(prior, np.ndarray)):
        possible = np.arange(len(scores)) if prior is None else np.flatnonzero(prior > 0)
        return int(possible[np.argmax(scores[possible])])
    return max(
        (i for i in range(len(scores)) if prior is None or prior[i] > 0), key=lambda i: scores[i]
    )


def _weighs(prior: Scores) -> bool:
    """Whether these are weights that are not all 0."""
    least, most = (
        (prior.min(), prior.max()) if isinstance(prior, np.ndarray) else (min(prior), max(prior))
    )
    return bool(least >= 0 and most > 0)


def _is_int64(values: object) -> TypeGuard[NDArray[np.int64]]:
    """Whether these are integers whose differences fit 64 bits."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype == np.int64
        and len(values) > 0
        and bool(values.min() > -_SAFE and values.max() < _SAFE)
    )
