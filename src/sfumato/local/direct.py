"""Direct: report the value itself, or any other category. Randomized response with k categories, as
a local oracle.

*Law*        The value with probability t, each other one with (1 − t)/(k − 1); t = e^ε/(e^ε + k −
             1) rounded down to 64 bits. It is the law of `mechanisms.RandomizedResponse(keep=t)`; ε
             = ln 3 for two categories and t = 3/4 is the coin toss (Warner 1965; Kairouz, Oh &
             Viswanath 2014).
*Promise*    odds = t·(k − 1)/(1 − t) ≤ e^ε.
*Error*      A report supports what it says: p = t, q = (1 − t)/(k − 1). Less error than Unary or
             Hashing for k < 3e^ε + 2; it grows with k.
*Report*     The place of a category.
*Proof*      docs/proofs/local-direct.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Self, Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.balls import ball
from ..exact.numbers import Number, open_probability, positive
from ..keywords import spell_out
from ..mechanisms.randomized_response import RandomizedResponse
from ..mechanisms.shared.calibrated import Way, choose_way, solve
from ..mechanisms.stated.stated_laws import FiniteLaws
from ..noise.bits import Bits
from ..records import FIRST, PARTIAL, record
from .client import Question
from .frequency_oracle import FrequencyOracle
from .lib.biased_coins import Bytes, below, flags
from .lib.dyadic_probability import ONE, as_fraction, down, epsilon_of_odds
from .oracle import UnitOptions, plain_categories
from .wire_reports import pack_integers, unpack_integers, width_for


def _choose_keep(way: Way, record: FrequencyOracle = PARTIAL) -> int:
    if way.name == "epsilon":
        return keep_probability(positive(way.value, "epsilon"), record.k)
    return int(open_probability(way.value, "keep") * ONE)


@record(kw_only=True, init=False)
class Direct(FrequencyOracle):
    """k-ary randomized response: reports keep ε, or are true with a given probability."""

    kind = "direct"
    keep: int = field(converter=_choose_keep)  # of 2^64
    epsilon: Fraction = field(converter=solve, metadata=FIRST)

    @spell_out(UnitOptions)
    def __init__(
        self,
        *,
        categories: Iterable[Hashable] = ("yes", "no"),
        epsilon: Number | None = None,
        keep: Number | None = None,
        **about: Unpack[UnitOptions],
    ) -> None:
        ways = {"epsilon": epsilon, "keep": keep}
        way = choose_way("Direct(epsilon=1, categories=['yes', 'no'])", ways)
        self.__attrs_init__(categories=categories, keep=way, epsilon=way, **about)

    def _solve(self, way: Way) -> Fraction:
        if way.name == "epsilon":
            return positive(way.value, "epsilon")
        return epsilon_of_odds(max(self.odds, Fraction(1)))

    @classmethod
    def coin_toss(
        cls, categories: Iterable[Hashable] = ("yes", "no"), *, unit: str | None = None
    ) -> Self:
        """Report the truth on heads, and what a second fair coin says on tails: the truth with
        probability 3/4, ε = ln 3.
        """
        return cls(categories=categories, keep=Fraction(3, 4), unit=unit)

    @property
    def response(self) -> RandomizedResponse:
        """The mechanism with the same law."""
        return RandomizedResponse(
            categories=self.categories,
            keep=self.true_support,
            relation=self.relation,
            unit=self.unit,
        )

    @property
    def true_support(self) -> Fraction:
        return as_fraction(self.keep)

    @property
    def false_support(self) -> Fraction:
        return (1 - self.true_support) / (self.k - 1)

    @property
    def odds(self) -> Fraction:
        return Fraction(self.keep * (self.k - 1), ONE - self.keep)

    most = 1

    @property
    def width(self) -> int:
        return width_for(self.k)

    def constants(self) -> Question:
        return {"categories": plain_categories(self.labels), "own": str(self.keep)}

    def arguments(self) -> Question:
        return (
            {"epsilon": str(self.epsilon)}
            if self.keep == keep_probability(self.epsilon, self.k)
            else {"keep": str(self.true_support)}
        )

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return pack_integers(respond(codes, self.keep, self.k, bits), self.width)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        return unpack_integers(payload) < self.k

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        return np.bincount(unpack_integers(payload), minlength=self.k)

    def output_laws(self, x: Hashable, y: Hashable) -> FiniteLaws:
        law_x, law_y = (
            {
                code: self.true_support if code == at else self.false_support
                for code in range(self.k)
            }
            for at in (self.labels.index(x), self.labels.index(y))
        )
        return FiniteLaws.between(law_x, law_y)


def keep_probability(epsilon: Fraction, k: int) -> int:
    """Return e^ε/(e^ε + k − 1), rounded down: the truth a little less often than allowed."""
    return down(lambda: 1 / (1 + (k - 1) * (-ball(epsilon)).exp()))


def respond(codes: NDArray[np.int64], keep: int, k: int, bits: Bits) -> NDArray[np.int64]:
    """Return each code, or another one: the step 1 … k − 1 to it is uniform."""
    truthful = flags(keep, codes.size, bits)
    shifted = codes + 1 + below(k - 1, codes.size, bits)
    shifted -= k * (shifted >= k)
    return np.where(truthful, codes, shifted)
