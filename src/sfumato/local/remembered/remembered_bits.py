"""What RAPPOR oracles share: bits that are perturbed once and remembered, and perturbed again for
each report. The law and the proof are in `rappor`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...guarantees import Guarantee, Pure, Relation
from ...noise.bits import Bits
from ..bloom import bit_places
from ..lib.biased_coins import (
    Bytes,
    clear_padding,
    column_counts,
    flags,
    packed,
    padding_is_clear,
    put_bit,
)
from ..lib.dyadic_probability import ONE, as_fraction, epsilon_of_odds
from ..wire_reports import unpack_integers, width_for


class RememberedBits:
    """The supports, odds and bytes of an oracle whose reports perturb remembered bits."""

    __slots__ = ()

    hashes: int
    size: int
    cohorts: int
    seed: str
    keep: int
    p: int
    q: int
    relation: Relation | None
    unit: str | None

    @property
    def per_value(self) -> int:
        """The number of bits of one value."""
        return max(1, self.hashes)

    @property
    def true_support(self) -> Fraction:
        """P(a bit of the value is reported as 1)."""
        return as_fraction(self.keep) * as_fraction(self.q) + (
            1 - as_fraction(self.keep)
        ) * as_fraction(self.p)

    @property
    def false_support(self) -> Fraction:
        """P(another bit is reported as 1)."""
        return as_fraction(self.keep) * as_fraction(self.p) + (
            1 - as_fraction(self.keep)
        ) * as_fraction(self.q)

    @property
    def odds(self) -> Fraction:
        return (
            self.true_support
            * (1 - self.false_support)
            / (self.false_support * (1 - self.true_support))
        ) ** self.per_value

    @property
    def lifetime_odds(self) -> Fraction:
        """The odds of everything that is remembered about one value."""
        return (as_fraction(self.keep) / (1 - as_fraction(self.keep))) ** (2 * self.per_value)

    def lifetime(self) -> Guarantee:
        """Return what all reports of one person keep together, however many, between any two values
        that never change. It does not cover a person whose value changes: the reports show when,
        and no ε bounds that.
        """
        return Pure(epsilon_of_odds(self.lifetime_odds), relation=self.relation, unit=self.unit)

    @property
    def width(self) -> int:
        return width_for(self.cohorts) + -(-self.size // 8)

    def _bits_in_question(self) -> dict[str, object]:
        """Return what a client reads: chances, the lifetime that they keep, and the filter."""
        return {
            "keep": str(self.keep),
            "own": str(self.q),
            "other": str(self.p),
            "lifetime": str(epsilon_of_odds(self.lifetime_odds)),
            "hashes": self.hashes,
            "size": self.size,
            "cohorts": self.cohorts,
            "seed": self.seed,
        }

    def _bits_as_arguments(self) -> dict[str, object]:
        """Return constructor arguments that give the same chances."""
        return {
            "f": str(2 * (1 - as_fraction(self.keep))),
            "p": str(as_fraction(self.p)),
            "q": str(as_fraction(self.q)),
            "hashes": self.hashes,
            "cohorts": self.cohorts,
        }

    def _permanent(self, codes: NDArray[np.int64], cohort: NDArray[np.int64], bits: Bits) -> Bytes:
        """Draw the bits that each person remembers."""
        rows = packed(ONE - self.keep, codes.size * -(-self.size // 8), bits).reshape(
            codes.size, -(-self.size // 8)
        )
        clear_padding(rows, self.size)
        for i in range(self.per_value):
            put_bit(rows, bit_places(self, cohort, codes, i), flags(self.keep, codes.size, bits))
        return rows

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        head = width_for(self.cohorts)
        return (unpack_integers(payload[:, :head]) < self.cohorts) & padding_is_clear(
            payload[:, head:], self.size
        )

    def _count_by_cohort(self, payload: Bytes) -> NDArray[np.int64]:
        """Count the reports with each bit: a row for each cohort, and last its number of
        reports.
        """
        head = width_for(self.cohorts)
        cohort = unpack_integers(payload[:, :head])
        each = [payload[cohort == c, head:] for c in range(self.cohorts)]
        return np.stack([np.append(column_counts(rows, self.size), len(rows)) for rows in each])
