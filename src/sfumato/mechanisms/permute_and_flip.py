"""Permute and flip: visit the candidates in random order, take each with probability
e^(−rate·regret).

*Law*        P(i) = q_i · ∫₀¹ Π_{j≠i} (1 − t·q_j) dt with q_j = e^(rate·(score_j − best)), rate =
             ε/(2Δ); ε/Δ for monotone scores.
*Promise*    ε-DP (McKenna & Sheldon 2020); it is report-noisy-max with exponential noise (Ding et
             al. 2021). No better zCDP than that of any ε-DP mechanism.
*Error*      P(best score − chosen score ≥ r) ≤ n·e^(−rate·r); the expected regret is never above
             the exponential mechanism's.
*Proof*      docs/proofs/permute-and-flip.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb, arb_poly
from numpy.typing import NDArray

from ..exact.balls import ball, evaluate
from ..exact.numbers import Number
from ..guarantees import Guarantee, Pure
from ..noise.bernoulli import Bernoulli
from ..noise.bits import Bits
from ..noise.choice import Scores
from ..noise.uniform import integer_below
from ..records import record
from .shared.selection import Selection


@record(kw_only=True)
class PermuteAndFlip(Selection):
    """Permute-and-flip for scores of a given sensitivity."""

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        return (Pure(self.epsilon, **self._neighbours),)

    def probabilities(self, scores: Sequence[Number]) -> NDArray[np.float64]:
        regrets = self._regrets(self._exact(scores))

        def chance(i: int) -> arb:
            product = arb_poly([1])
            for j, regret in enumerate(regrets):
                if j != i:
                    product = product * arb_poly([1, -(-ball(regret)).exp()])
            return (-ball(regrets[i])).exp() * product.integral()(arb(1))

        return np.array([evaluate(partial(chance, i)) for i in range(len(regrets))])

    def _index(self, scores: Scores, bits: Bits) -> int:
        regrets = self._regrets(scores)
        waiting = list(range(len(regrets)))
        while True:
            place = integer_below(len(waiting), bits)
            waiting[place], waiting[-1] = waiting[-1], waiting[place]
            index = waiting.pop()
            if regrets[index] == 0 or Bernoulli(exponent=regrets[index]).draw(bits):
                return index

    def _regrets(self, scores: Scores) -> list[Fraction]:
        # Python's integers: differences of 64-bit ones may not fit
        plain = scores.tolist() if isinstance(scores, np.ndarray) else scores
        best = max(plain)
        return [self.rate * (best - s) for s in plain]
