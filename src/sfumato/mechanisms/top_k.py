"""The k best candidates: the exponential mechanism k times, without those already chosen.

*Law*        k draws without replacement, each with P(i) ∝ e^(rate·score_i) among the candidates
             left, rate = (ε/k)/(2Δ); (ε/k)/Δ for monotone scores.
*Promise*    ε-DP by composition, and k·(ε/k)²/8-zCDP (Durfee & Rogers 2019).
*Proof*      docs/proofs/top-k.md
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from attrs import field

from ..exact.numbers import Number, is_whole
from ..guarantees import ZCDP, Guarantee, Pure
from ..noise.bits import SYSTEM, Bits
from ..records import FIRST, PARTIAL, record
from .exponential import Exponential
from .shared import mechanism_refusals as refusals
from .shared.selection import ScoredChoice


def _check_k(k: int, record: ScoredChoice = PARTIAL) -> int:
    if not is_whole(k) or (record.candidates is not None and k > len(record.candidates)):
        raise refusals.K_OUT_OF_RANGE(k=k)
    return k


@record(kw_only=True)
class TopK(ScoredChoice):
    """The k best of the candidates, best first as far as privacy allows."""

    k: int = field(converter=_check_k, metadata=FIRST)

    @property
    def round(self) -> Exponential:
        """One of the k draws."""
        share = self.epsilon / self.k
        return Exponential(
            sensitivity=self.sensitivity,
            epsilon=share,
            monotone=self.monotone,
            grid=self.grid,
            **self._neighbours,
        )

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        pure = Pure(self.epsilon, **self._neighbours)
        return (pure, ZCDP(self.epsilon**2 / (8 * self.k), **self._neighbours))

    def choose(self, scores: Sequence[Number], *, bits: Bits = SYSTEM) -> list[Hashable]:
        """The indices chosen, first to last, or the candidates where the record names them."""
        once = self.round
        left = once._exact(scores)
        if self.candidates is not None and len(left) != len(self.candidates):
            raise refusals.SCORES_UNLIKE_CANDIDATES(
                scores=len(left), candidates=len(self.candidates)
            )
        if len(left) < self.k:
            raise refusals.FEWER_SCORES_THAN_K(scores=len(left), k=self.k)
        names: list[Hashable] = list(
            range(len(left)) if self.candidates is None else self.candidates
        )
        chosen = []
        for _ in range(self.k):
            place = once._index(left, bits)
            chosen.append(names.pop(place))
            left = (
                np.delete(left, place)
                if isinstance(left, np.ndarray)
                else left[:place] + left[place + 1 :]
            )
        return chosen
