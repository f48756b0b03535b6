"""The k best candidates: the exponential mechanism k times, without those already chosen.

*Law*        k draws without replacement, each with P(i) ∝ e^(rate·score_i) among the candidates
             left, rate = (ε/k)/(2Δ); (ε/k)/Δ for monotone scores.
*Promise*    ε-DP by composition, and k·(ε/k)²/8-zCDP (Durfee & Rogers 2019).
*Proof*      docs/proofs/top-k.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import permutations

import numpy as np
from attrs import field

from ..exact.numbers import Number, is_whole
from ..guarantees import ZCDP, Guarantee, Pure
from ..noise.bits import SYSTEM, Bits
from ..records import FIRST, PARTIAL, record
from .exponential import Exponential
from .shared import mechanism_refusals as refusals
from .shared.mechanism import Input, InputPair
from .shared.selection import ScoredChoice, score_pairs
from .stated.audit_example import AuditExample
from .stated.stated_laws import MOST_OUTCOMES, FiniteLaws


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

    perturb = choose

    why_no_loss_pair = "the law depends on all scores; the pair of ε dominates every choice"

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [AuditExample("TopK", lambda e: cls(k=2, sensitivity=1, epsilon=e), at_once=False)]

    def audit_pairs(self) -> list[InputPair]:
        return score_pairs(self.sensitivity, self.grid, self.candidates, monotone=self.monotone)

    def output_laws(self, x: Input, y: Input) -> FiniteLaws | None:
        names = range(len(x)) if self.candidates is None else self.candidates
        if len(x) ** self.k > MOST_OUTCOMES:
            return None
        choices = list(permutations(range(len(x)), self.k))
        p, q = (tuple(self._chance(list(s), chosen) for chosen in choices) for s in (x, y))
        outcomes = [[names[i] for i in chosen] for chosen in choices]
        return FiniteLaws(outcomes, p, q, [str(tuple(outcome)) for outcome in outcomes])

    def _chance(self, scores: list[Number], chosen: Iterable[int]) -> float:
        """P(these places are chosen, in this order)."""
        left, chance = list(range(len(scores))), 1.0
        for place in chosen:
            chances = self.round.probabilities([scores[i] for i in left])
            chance *= float(chances[left.index(place)])
            left.remove(place)
        return chance
