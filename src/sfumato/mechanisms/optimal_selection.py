"""Key selection by the rule that is best for one vote, in one group or over many, also for weights.

*Law*        A group of weight W is kept with probability π(W), independently of the others: π(0) = 0 and
             π(w + 1) = min(e^η·π(w) + κ, 1 − e^(−η)·(1 − π(w) − κ), 1), evaluated in closed form; the coin is exact.
*Promise*    Approx(ε, δ), where a unit gives at most `quanta` to a group and at most m·quanta in all, over **any** number of groups: then η = ε/(m·quanta),
             κ = (δ/m)·(e^η − 1)/(e^(ε/m) − 1). With quanta = 1 this is one vote in each of at most m groups (Desfontaines, Voss, Gipson & Mandayam 2022).
             A unit that may put k quanta into one group: groups=1, quanta=k. Under "replace", m stands for twice as many.
*Error*      `keep_probability(n)`: with one group per unit no rule that keeps (ε, δ) keeps a group of n more often. With several, `GaussianThreshold`, whose
             noise grows with the root of their number, soon does: from three on at (1, 10^-5).
*Proof*      docs/proofs/optimal-selection.md
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from ..exact.balls import Rounding, ball, below, between, chance, precision
from ..exact.numbers import Number
from ..guarantees import Relation
from ..noise.bits import SYSTEM, Bits
from .key_selection import KeySelection, Related, each_whole, first_from, known_count, settle, whole


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OptimalSelection(KeySelection):
    """Keep a group with the largest probability that ε and δ allow for each vote."""

    epsilon: Fraction
    delta: Fraction
    groups: int
    quanta: int
    relation: Relation | None
    unit: str | None
    _turn: int = field(repr=False, compare=False)  # up to it π grows by the first branch of the minimum
    _sure: int = field(repr=False, compare=False)  # from it on π is 1

    def __init__(self, *, epsilon: Number, delta: Number, groups: int = 1, quanta: int = 1, relation: Related = "add-remove", unit: str | None = None) -> None:
        settle(self, epsilon, delta, groups, relation, unit)
        put = object.__setattr__
        put(self, "quanta", known_count(quanta, "quanta"))
        put(self, "_turn", first_from(1, self._past_the_turn))
        put(self, "_sure", first_from(self._turn, lambda w: not below(lambda: arb(0), lambda: self._missing(w))))

    @property
    def step(self) -> Fraction:
        """η, the ε of one quantum."""
        return self.epsilon / (self.moved * self.quanta)

    def keep(self, weight: Any, *, bits: Bits = SYSTEM) -> Any:
        """Whether a group of this weight is named; for an array, each group by itself."""
        if np.ndim(weight):
            weights = each_whole(weight)
            return np.array([self.keep(int(w), bits=bits) for w in weights.ravel()], dtype=np.bool_).reshape(weights.shape)
        w, level, known = whole(weight), bits.integer(64), 64
        while True:
            if w <= 0 or w >= self._sure:
                return w > 0
            with precision(known + 64):
                share, here = self._share(w), between(level, level + 1, known)
                if here <= share:
                    return True
                if here >= share:
                    return False
            level, known = level << 64 | bits.integer(64), known + 64

    def keep_probability(self, count: int, rounding: Rounding = "nearest") -> float:
        w = whole(count)
        return chance(lambda: self._share(w), rounding) if 0 < w < self._sure else float(w > 0)

    def _extra(self) -> arb:
        """κ/(e^η − 1) = (δ/m)/(e^(ε/m) − 1)."""
        return ball(self.delta / self.moved) / ball(self.epsilon / self.moved).expm1()

    def _share(self, w: int) -> arb:
        """π(w) below the last step: κ(e^(wη) − 1)/(e^η − 1) up to the turn, then 1 less what is missing."""
        return self._extra() * ball(w * self.step).expm1() if w <= self._turn else 1 - self._missing(w)

    def _missing(self, w: int) -> arb:
        """1 − π(w) from the turn on, before it is cut at 0: e^(−(w − turn)η)·(1 − π(turn) + κ/(e^η − 1)) − κ/(e^η − 1)."""
        extra = self._extra()
        return (-ball((w - self._turn) * self.step)).exp() * (1 - self._share(self._turn) + extra) - extra

    def _past_the_turn(self, w: int) -> bool:
        """Whether the second branch is the smaller one at w: π(w) > (1 − κ)/(1 + e^η), with π(w) by the first branch."""

        def wall() -> arb:
            grow = ball(self.step).expm1()
            return (1 - self._extra() * grow) / (2 + grow)

        return below(wall, lambda: self._extra() * ball(w * self.step).expm1())
