"""Unary: report a bit for each category, every bit perturbed.

*Law*        The bit of the own category is 1 with probability p, every other one with q,
             independently. Symmetric (Erlingsson, Pihur & Korolova 2014, basic one-time RAPPOR): p
             = 1 − q = e^(ε/2)/(e^(ε/2) + 1), p rounded down. Optimised (Wang et al. 2017): p = ½, q
             = 1/(e^ε + 1), q rounded up.
*Promise*    Two values differ in two bits: odds = p(1 − q)/(q(1 − p)) ≤ e^ε. Both bits count; to
             calibrate each of them to ε would promise half of what it costs.
*Error*      p and q as they stand; optimised, n·Var ≈ 4e^ε/(e^ε − 1)² at small frequencies,
             whatever k is.
*Report*     k bits.
*Proof*      docs/proofs/local-unary.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..exact.balls import ball
from ..exact.numbers import Number, positive
from ..keywords import spell_out
from ..mechanisms.shared.audit_example import AuditExample
from ..mechanisms.shared.stated_laws import FiniteLaws
from ..noise.bits import Bits
from .client import Question
from .frequency_oracle import FrequencyOracle
from .lib.audit_inputs import category_example
from .lib.biased_coins import (
    Bytes,
    clear_padding,
    column_counts,
    flags,
    packed,
    padding_is_clear,
    put_bit,
)
from .lib.dyadic_probability import ONE, as_fraction, down, up
from .oracle import UnitOptions, plain_categories


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Unary(FrequencyOracle):
    """A perturbed bit for each category."""

    kind = "unary"
    symmetric: bool
    p: int  # of 2^64
    q: int

    @spell_out(UnitOptions)
    def __init__(
        self,
        *,
        epsilon: Number,
        categories: Iterable[Hashable],
        symmetric: bool = False,
        **about: Unpack[UnitOptions],
    ) -> None:
        self._begin(categories, positive(epsilon, "epsilon"), about)
        put = object.__setattr__
        put(self, "symmetric", bool(symmetric))
        p, q = bit_probabilities(self.epsilon, symmetric=self.symmetric)
        put(self, "p", p)
        put(self, "q", q)
        self._end()

    @property
    def true_support(self) -> Fraction:
        return as_fraction(self.p)

    @property
    def false_support(self) -> Fraction:
        return as_fraction(self.q)

    @property
    def odds(self) -> Fraction:
        return bit_odds(self.p, self.q)

    @property
    def most(self) -> int:
        return self.k

    @property
    def width(self) -> int:
        return -(-self.k // 8)

    def constants(self) -> Question:
        return {
            "categories": plain_categories(self.labels),
            "own": str(self.p),
            "other": str(self.q),
        }

    def arguments(self) -> Question:
        return {"epsilon": str(self.epsilon), "symmetric": self.symmetric}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return draw_bits(codes, self.p, self.q, self.k, bits)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        return padding_is_clear(payload, self.k)

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        return column_counts(payload, self.k)

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        return [category_example(cls), category_example(cls, "symmetric", symmetric=True)]

    def output_laws(self, x: Hashable, y: Hashable) -> FiniteLaws:
        """The laws of the two bits in which the values differ: all other bits have the same law
        under both values, and are independent.
        """
        at = self.labels.index(x), self.labels.index(y)
        if at[0] == at[1]:
            return FiniteLaws.between({"any report": 1}, {"any report": 1})
        outcomes = list(product((0, 1), repeat=2))
        true, false = self.true_support, self.false_support
        p, q = (
            tuple((c if a else 1 - c) * (d if b else 1 - d) for a, b in outcomes)
            for c, d in ((true, false), (false, true))
        )
        names = [f"bits {a}{b} of the two values" for a, b in outcomes]
        return FiniteLaws(outcomes, p, q, names, bits=at)


def bit_probabilities(epsilon: Fraction, *, symmetric: bool) -> tuple[int, int]:
    """Return p and q, rounded so that the odds do not exceed e^ε."""
    if symmetric:
        p = down(lambda: 1 / (1 + (-ball(epsilon) / 2).exp()))
        return p, ONE - p
    return ONE // 2, up(lambda: 1 / (1 + ball(epsilon).exp()))


def bit_odds(p: int, q: int) -> Fraction:
    """Return p(1 − q)/(q(1 − p)): the odds of the two bits in which two values differ."""
    return Fraction(p * (ONE - q), q * (ONE - p))


def draw_bits(places: NDArray[np.int64], p: int, q: int, k: int, bits: Bits) -> Bytes:
    """Draw rows of k bits: in each row one place is 1 with probability p, the others with q."""
    width = -(-k // 8)
    rows = packed(q, places.size * width, bits).reshape(places.size, width)
    clear_padding(rows, k)
    put_bit(rows, places, flags(p, places.size, bits))
    return rows
