"""The oracles for frequent texts: what they share is a lot, and a hashed answer about the part of
the text that the lot picked.

*Law*      A text is filled to a fixed length. A level is drawn uniformly, whatever the text is. The
           part of the text at this level has a public code below 2^31 − 1, which is reported as in
           `Hashing`: a fresh hash function into g buckets, and the bucket, kept with t.
*Promise*  The level and the function are independent of the text: odds = t(g − 1)/(1 − t) ≤ e^ε,
           once, however many levels there are.
"""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...exact.numbers import Number
from ...noise.bits import SYSTEM, Bits
from .. import client
from .. import local_refusals as refusals
from ..client import PRIME
from ..direct import keep_probability
from ..frequency_estimate import ReportTotals, variance
from ..hashing import (
    best_buckets,
    draw_hashed,
    hashed_odds,
    hashed_other,
    hashed_parts,
    hashed_width,
)
from ..lib.biased_coins import Bytes, below
from ..lib.dyadic_probability import as_fraction
from ..oracle import CountedOracle, check_report_count
from ..wire_reports import Reports, pack_integers, unpack_integers, width_for
from .prefix_search import Hitters

# below it rounding decides which number is best; far below, `check_promise` refuses
_TINY = Fraction(1, 1 << 40)


def choose_hashing(epsilon: Fraction) -> tuple[int, int]:
    """Return the number of buckets with the least variance, and the chance to keep the bucket."""
    buckets = best_buckets(epsilon) if epsilon >= _TINY else 2
    return buckets, keep_probability(epsilon, buckets)


class TextOracle(CountedOracle):
    """An oracle for the frequent texts, whose report is about one level of a text."""

    __slots__ = ()

    seed: str
    most: int
    buckets: int
    keep: int  # of 2^64

    @property
    @abstractmethod
    def levels(self) -> int:
        """The number of levels, of which a report is about one."""

    @property
    @abstractmethod
    def texts_note(self) -> str:
        """What devices did to texts that a report cannot represent: a line for readers."""

    @abstractmethod
    def _fill(self, value: object) -> str:
        """Fill a text to its fixed length; a value that is no text is the empty text."""

    @abstractmethod
    def _read(self, filled: str) -> str:
        """Return the text that a filled text stands for."""

    @abstractmethod
    def _code(self, value: str, level: int) -> int:
        """Return the public code of a filled text at a level."""

    @abstractmethod
    def _search(self, payload: Bytes, confidence: Number) -> Hitters:
        """Find the frequent texts of reports."""

    @property
    def true_support(self) -> Fraction:
        """P(a report supports a code | it is the code of the text)."""
        return as_fraction(self.keep)

    @property
    def false_support(self) -> Fraction:
        """P(a report supports a code | it is not the code of the text)."""
        return hashed_other(self.keep, self.buckets)

    @property
    def odds(self) -> Fraction:
        return hashed_odds(self.keep, self.buckets)

    @property
    def width(self) -> int:
        return width_for(self.levels) + hashed_width(self.buckets)

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> Reports:
        """Draw a report for each text, whatever it is."""
        texts = (
            list(values)
            if isinstance(values, Iterable) and not isinstance(values, str | bytes)
            else [values]
        )
        filled = [self._fill(value) for value in texts]
        levels = below(self.levels, len(filled), bits)
        parts = list(zip(filled, levels.tolist(), strict=True))
        # many people have the same text
        codes_of = {part: self._code(*part) for part in set(parts)}
        codes = np.array([codes_of[part] for part in parts], dtype=np.int64)
        return Reports(
            self.mark,
            np.concatenate(
                [
                    pack_integers(levels, width_for(self.levels)),
                    draw_hashed(codes, self.keep, self.buckets, bits),
                ],
                axis=1,
            ),
        )

    def count_outside(self, values: Iterable[object]) -> int:
        """Count the texts that a report represents by another one, and the values that are no
        text: for the person or the owner who has the values.
        """
        return sum(
            not isinstance(value, str)
            or self._read(self._fill(value)) != unicodedata.normalize("NFC", value)
            for value in values
        )

    def fingerprint(self, part: str) -> int:
        """Return the public number of a text or of a part of it."""
        return client.fingerprint({"seed": self.seed}, part)

    def split(
        self, payload: Bytes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Read level, a, b and bucket of each report."""
        head = width_for(self.levels)
        return unpack_integers(payload[:, :head]), *hashed_parts(payload[:, head:])

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        level, a, b, bucket = self.split(payload)
        return (level < self.levels) & (a < PRIME) & (b < PRIME) & (bucket < self.buckets)

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Count the reports of each level."""
        return np.bincount(self.split(payload)[0], minlength=self.levels)

    def estimate(
        self, reports: Reports | bytes | Iterable[bytes], *, confidence: Number = 0.95
    ) -> Hitters:
        """Find the frequent texts, with intervals that hold together with this confidence. The
        search looks candidates up in the reports: an aggregate is not enough.
        """
        if isinstance(reports, ReportTotals):
            raise refusals.AGGREGATE_NOT_SEARCHABLE(aggregate=reports)
        checked = self.read(reports)
        if not len(checked):
            raise refusals.NO_REPORTS()
        return self._search(checked.payload, confidence)

    def variance(self, n: int) -> float:
        """Return the variance of one frequency near 0, from the n/levels reports of one level."""
        return self._level_variance(max(1, check_report_count(n) // self.levels))

    def influence(self, fakes: int, n: int) -> tuple[float, float]:
        """Return how far `fakes` invented reports among n can move a frequency, down and up: liars
        choose their level, which has n/levels reports.
        """
        share = check_report_count(fakes) * self.levels / check_report_count(n)
        spread = float(self.true_support - self.false_support)
        return -share * float(self.false_support) / spread, share * float(
            1 - self.false_support
        ) / spread

    def _level_variance(self, n: int) -> float:
        return float(variance(self.true_support, self.false_support, Fraction(0), n, "population"))
