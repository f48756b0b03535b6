"""The k best candidates: the exponential mechanism k times, without those already chosen.

*Law*        k draws without replacement, each with P(i) ∝ e^(rate·score_i) among the candidates
             left, rate = (ε/k)/(2Δ); (ε/k)/Δ for monotone scores.
*Promise*    ε-DP by composition, and k·(ε/k)²/8-zCDP (Durfee & Rogers 2019).
*Proof*      docs/proofs/top-k.md
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

import numpy as np

from ..exact.numbers import Number, is_whole
from ..guarantees import ZCDP, Guarantee, Pure, Relation
from ..keywords import spell_out
from ..noise.bits import SYSTEM, Bits
from .exponential import Exponential
from .shared import mechanism_refusals as refusals
from .shared.mechanism import Mechanism
from .shared.selection import SelectionOptions, set_selection_fields


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TopK(Mechanism):
    """The k best of the candidates, best first as far as privacy allows."""

    k: int
    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool
    grid: Fraction | None
    candidates: tuple[Hashable, ...] | None
    relation: Relation | None
    unit: str | None

    @spell_out(SelectionOptions, monotone=False, grid=None, candidates=None)
    def __init__(
        self,
        *,
        k: int,
        sensitivity: Number,
        epsilon: Number,
        **options: Unpack[SelectionOptions],
    ) -> None:
        set_selection_fields(self, sensitivity, epsilon, **options)
        if not is_whole(k) or (self.candidates is not None and k > len(self.candidates)):
            raise refusals.K_OUT_OF_RANGE(k=k)
        object.__setattr__(self, "k", k)

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
