"""An exact choice among finitely many candidates, with probability ∝ e^score.

*Law*     P(I = i) = e^(s_i) / Σ_k e^(s_k), scores exact rationals of any size: nothing underflows, because only differences of scores matter and a
          candidate too unlikely for a double still owns its sliver of the unit interval.
*Draw*    U uniform; I is the candidate whose part of the cumulative law holds U. Sums in double precision decide all but about n·2^-38 of the
          draws; the others are settled in ball arithmetic with further bits.
*Proof*   docs/proofs/choice.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.balls import Rounding, ball, below, between, chance, precision
from ..exact.numbers import Number, exact, probability
from .bits import SYSTEM, Bits
from .law import Shape

MARGIN = 2.0**-40
"""Assumed: exp of a double in [−745, 0] errs by less than 2^-42 of itself; proved: conversions, sums (2^-52 per candidate) and the division add less."""

_NEVER = Fraction(-800)  # e^(−800) is 0 in doubles: such a candidate is only ever chosen by `_settle`


@dataclass(frozen=True, slots=True)
class Choice:
    """The law with probability ∝ e^score on the indices of `scores`."""

    scores: tuple[Fraction, ...]
    _ends: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    _margin: float = field(init=False, repr=False, compare=False)

    def __init__(self, scores: Sequence[Number]) -> None:
        exact_scores = tuple(exact(s, "score") for s in scores)
        if not exact_scores:
            raise Refused("noise.choice", "Choice([])", "there is nothing to choose from", "at least one score")
        top = max(exact_scores)
        ends = np.cumsum([math.exp(max(s - top, _NEVER)) for s in exact_scores])
        put = object.__setattr__
        put(self, "scores", exact_scores)
        put(self, "_ends", ends / ends[-1])
        put(self, "_margin", MARGIN + 2.0**-51 * len(exact_scores))

    def pmf(self, i: int, rounding: Rounding = "nearest") -> float:
        """P(I = i)."""
        s = self.scores[i]
        return chance(lambda: 1 / sum((ball(t - s).exp() for t in self.scores), arb(0)), rounding)

    def cdf(self, i: int, rounding: Rounding = "nearest") -> float:
        """P(I ≤ i)."""
        return chance(lambda: self._part(i + 1) / self._part(len(self.scores)), rounding)

    def tail(self, i: int, rounding: Rounding = "nearest") -> float:
        """P(I ≥ i)."""
        return chance(lambda: self._part(len(self.scores), i) / self._part(len(self.scores)), rounding)

    def quantile(self, p: Number) -> int:
        """The least i with P(I ≤ i) ≥ p."""
        level = probability(p, "p", zero=False, one=True)
        return next(i for i in range(len(self.scores)) if i + 1 == len(self.scores) or self._reaches(i, level))

    def draw(self, bits: Bits = SYSTEM) -> int:
        return int(self.sample(1, bits)[0])

    def sample(self, shape: Shape, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        """An array of independent exact draws."""
        count = math.prod(shape) if isinstance(shape, tuple) else shape
        words = bits.words(count)
        u = words.astype(np.float64) * 2.0**-64
        index = self._ends.searchsorted(u - self._margin, side="right")
        doubt = index != self._ends.searchsorted(u + self._margin, side="right")
        for lane in np.flatnonzero(doubt):
            index[lane] = self._settle(int(words[lane]), bits)
        return np.minimum(index, len(self.scores) - 1).reshape(shape)

    def _settle(self, word: int, bits: Bits) -> int:
        known = 64
        while True:
            with precision(known + 64):
                here = between(word, word + 1, known) * self._part(len(self.scores))
                sum_ = arb(0)
                for i, s in enumerate(self.scores):
                    sum_ += ball(s - max(self.scores)).exp()
                    if here <= sum_ or i + 1 == len(self.scores):
                        return i
                    if not here >= sum_:
                        break
            word = word << 64 | bits.integer(64)
            known += 64

    def _part(self, stop: int, start: int = 0) -> arb:
        top = max(self.scores)
        return sum((ball(s - top).exp() for s in self.scores[start:stop]), arb(0))

    def _reaches(self, i: int, level: Fraction) -> bool:
        part, whole = Counter(self.scores[: i + 1]), Counter(self.scores)
        if all(part[s] == level * whole[s] for s in whole):
            return True  # a tie; there is no other, as e^s for different rational s are linearly independent (Lindemann, Weierstrass)
        return not below(lambda: self._part(i + 1), lambda: ball(level) * self._part(len(self.scores)))
