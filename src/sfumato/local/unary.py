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

from collections.abc import Hashable
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.balls import ball
from ..mechanisms.stated.audit_example import AuditExample
from ..mechanisms.stated.stated_laws import FiniteLaws
from ..noise.bits import Bits
from ..records import check_flag, record
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
from .oracle import plain_categories


@record(kw_only=True)
class Unary(FrequencyOracle):
    """A perturbed bit for each category."""

    kind = "unary"
    symmetric: bool = field(default=False, converter=check_flag)
    p: int = field(init=False)  # of 2^64
    q: int = field(init=False)

    @p.default
    def _choose_p(self) -> int:
        return bit_probabilities(self.epsilon, symmetric=self.symmetric)[0]

    @q.default
    def _choose_q(self) -> int:
        return bit_probabilities(self.epsilon, symmetric=self.symmetric)[1]

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


@lru_cache(maxsize=64)
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
