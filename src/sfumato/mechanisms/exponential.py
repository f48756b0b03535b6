"""The exponential mechanism: choose a candidate with probability growing exponentially with its
score.

*Law*        P(i) ∝ prior_i · e^(rate·score_i), rate = ε/(2Δ); ε/Δ for monotone scores. The prior is
             public; uniform if none is given.
*Promise*    ε-DP for any prior (McSherry & Talwar 2007); and ε²/8-zCDP, as the privacy loss of two
             neighbours has range ε (Cesar & Rogers 2021). The discount belongs to this mechanism:
             permute-and-flip does not have it.
*Error*      P(best score − chosen score ≥ r) ≤ n·e^(−rate·r) for n candidates; with a prior, Σ_k
             prior_k / min_k prior_k in place of n.
*Proof*      docs/proofs/exponential.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.numbers import Number
from ..guarantees import ZCDP, Guarantee, Pure
from ..noise.bits import Bits
from ..noise.choice import Choice, Scores
from ..records import record
from .shared import mechanism_refusals as refusals
from .shared.mechanism import Input
from .shared.selection import Selection, check_count, check_prior_weights
from .stated.audit_example import AuditExample


@record(kw_only=True)
class Exponential(Selection):
    """The exponential mechanism for scores of a given sensitivity."""

    prior: tuple[Fraction, ...] | None = field(default=None, converter=check_prior_weights)

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        pure = Pure(self.epsilon, **self._neighbours)
        return (pure, ZCDP(self.epsilon**2 / 8, **self._neighbours))

    def regret(self, confidence: Number = 0.95, *, count: int | None = None) -> float:
        """How far below the best score the chosen one may lie, with this probability, rounded up;
        `count` is the number of candidates, not needed with a prior.
        """
        if self.prior is None:
            if count is None and self.candidates is not None:
                count = len(self.candidates)
            return self._regret(Fraction(check_count(count)), confidence)
        return self._regret(sum(self.prior) / min(self.prior), confidence)

    def law(self, scores: Sequence[Number]) -> Choice:
        """The law of the choice at these scores. It holds data."""
        return self._law(self._exact(scores))

    def probabilities(self, scores: Sequence[Number]) -> NDArray[np.float64]:
        return self.law(scores).pmfs()

    def _index(self, scores: Scores, bits: Bits) -> int:
        return self._law(scores).draw(bits)

    def _law(self, scores: Scores) -> Choice:
        if self.prior is not None and len(self.prior) != len(scores):
            raise refusals.SCORES_UNLIKE_PRIOR(scores=len(scores), weights=len(self.prior))
        return Choice(scores, rate=self.rate, prior=self.prior)

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [
            AuditExample("Exponential", lambda e: cls(sensitivity=1, epsilon=e)),
            AuditExample(
                "Exponential, monotone", lambda e: cls(sensitivity=1, epsilon=e, monotone=True)
            ),
        ]

    def draw_many(self, x: Input, n: int) -> NDArray[np.int64] | None:
        return None if self.candidates is not None else self.law(x).sample(n)
