"""PrefixTree: find the frequent texts among all texts over an alphabet. Heavy hitters, letter by
letter.

*Law*        Letters outside the alphabet are dropped, and a value that is no text is the empty
             text: every value is answered. Then a text is cut or filled with an end sign to
             `length` letters. How many of its first letters are used, `step`, 2·`step`, … `length`,
             is drawn by lot whatever the text is; the prefix becomes a public fingerprint below
             2^31 − 1, which is reported as in `Hashing`: a fresh hash function into g buckets, and
             the bucket, kept with t = e^ε/(e^ε + g − 1) rounded down (Bassily et al. 2017; Wang, Li
             & Jha 2018).
*Promise*    The level and the function are independent of the text, and everyone reports once,
             about one level: odds = t(g − 1)/(1 − t) ≤ e^ε, once, however many levels there are. A
             person asked again pays again.
*Search*     From the first letters on: every continuation of a surviving prefix by one level is a
             candidate; those whose unbiased frequency is above what noise alone would give to any
             of them survive, at most `most`, the best first (`prefix_search`).
*Error*      As that of `Hashing` from 1/levels of the reports. Two texts of the same fingerprint
             are one: a chance of 2^-31 for each two.
*Report*     The level, and 9 bytes or so, however long the text is.
*Proof*      docs/proofs/local-numbers.md
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Unpack

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ...exact.numbers import Number, is_whole, positive, text
from ...guarantees import Relation
from ...guarantees.guarantee import unit_of
from ...keywords import spell_out
from ...mechanisms.randomized_response import check_reported_relation
from ...mechanisms.stated.audit_example import AuditExample, fixed
from ...noise.bits import SYSTEM, Bits
from ...records import record
from .. import client
from .. import local_refusals as refusals
from ..client import END, PRIME, Question
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
from ..lib.hash_families import own_hash, to_bucket
from ..oracle import MOST_SUPPORTED, CountedOracle, UnitOptions, check_report_count
from ..wire_reports import Reports, pack_integers, unpack_integers, width_for
from .prefix_search import Hitters, continuations, search

# below it rounding decides which number is best; far below, `check_promise` refuses
_TINY = Fraction(1, 1 << 40)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@record(kw_only=True, init=False)
class PrefixTree(CountedOracle):
    """An oracle for the frequent texts over an alphabet."""

    kind = "prefix"
    alphabet: str
    length: int
    step: int
    most: int
    seed: str
    buckets: int
    keep: int  # of 2^64
    epsilon: Fraction
    relation: Relation | None = field(default=None, converter=check_reported_relation)
    unit: str | None = field(default=None, converter=unit_of)

    @spell_out(UnitOptions)
    def __init__(
        self,
        *,
        epsilon: Number,
        length: int,
        alphabet: str = LETTERS,
        step: int = 1,
        most: int = 32,
        seed: str = "sfumato",
        **about: Unpack[UnitOptions],
    ) -> None:
        if (
            not isinstance(alphabet, str)
            or not alphabet
            or len(set(alphabet)) != len(alphabet)
            or END in alphabet
            or not alphabet.isprintable()
        ):
            raise refusals.ALPHABET_NOT_LETTERS(alphabet=alphabet)
        are_integers = all(is_whole(value) for value in (length, step, most))
        if (
            not are_integers
            or length % step
            or length > 256
            or most > 1 << 12
            or most * (len(alphabet) + 1) ** step > 1 << 20
        ):
            raise refusals.PREFIX_TREE_TOO_LARGE(length=length, step=step, most=most)
        exact_epsilon = positive(epsilon, "epsilon")
        buckets = best_buckets(exact_epsilon) if exact_epsilon >= _TINY else 2
        self.__attrs_init__(
            alphabet=alphabet,
            length=length,
            step=step,
            most=most,
            seed=str(seed),
            buckets=buckets,
            keep=keep_probability(exact_epsilon, buckets),
            epsilon=exact_epsilon,
            **about,
        )

    @property
    def levels(self) -> int:
        return self.length // self.step

    @property
    def true_support(self) -> Fraction:
        """P(a report supports a prefix | it is the prefix of the text)."""
        return as_fraction(self.keep)

    @property
    def false_support(self) -> Fraction:
        """P(a report supports a prefix | it is not the prefix of the text)."""
        return hashed_other(self.keep, self.buckets)

    @property
    def odds(self) -> Fraction:
        return hashed_odds(self.keep, self.buckets)

    @property
    def width(self) -> int:
        return width_for(self.levels) + hashed_width(self.buckets)

    def constants(self) -> Question:
        shape = {
            "alphabet": self.alphabet,
            "levels": self.levels,
            "step": self.step,
            "seed": self.seed,
        }
        return {**shape, "own": str(self.keep), "buckets": self.buckets}

    def arguments(self) -> Question:
        numbers = {"epsilon": str(self.epsilon), "length": self.length, "alphabet": self.alphabet}
        return {**numbers, "step": self.step, "most": self.most, "seed": self.seed}

    def perturb(self, values: object, *, bits: Bits = SYSTEM) -> Reports:
        """Draw a report for each text, whatever it is."""
        texts = (
            list(values)
            if isinstance(values, Iterable) and not isinstance(values, str | bytes)
            else [values]
        )
        question = {"alphabet": self.alphabet, "levels": self.levels, "step": self.step}
        filled = [client.fill_text(question, value) for value in texts]
        levels = below(self.levels, len(filled), bits)
        prefixes = [
            value[: (level + 1) * self.step]
            for value, level in zip(filled, levels.tolist(), strict=True)
        ]
        # many people have the same prefix
        fingerprints = {prefix: self.fingerprint(prefix) for prefix in set(prefixes)}
        codes = np.array([fingerprints[prefix] for prefix in prefixes], dtype=np.int64)
        return Reports(
            self.mark,
            np.concatenate(
                [pack_integers(levels, width_for(self.levels)), self._draw(codes, bits)], axis=1
            ),
        )

    def fingerprint(self, prefix: str) -> int:
        """Return the public number of a prefix."""
        return client.fingerprint({"seed": self.seed}, prefix)

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return draw_hashed(codes, self.keep, self.buckets, bits)

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
        return search(self, checked.payload, confidence)

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

    def __repr__(self) -> str:
        return (
            f"PrefixTree(epsilon={text(self.epsilon)}, length={self.length}, "
            f"step={self.step}, {len(self.alphabet)} letters, most={self.most})"
        )

    @classmethod
    def audit_examples(cls) -> list[AuditExample]:
        def build(epsilon: float) -> PrefixTree:
            return cls(epsilon=epsilon, length=2, alphabet="ab")

        texts = fixed(("aa", "bb"), ("bb", "ab"), ("", "ab"), ("ab", "ba"), ("zz", "aa"))
        return [AuditExample("local.PrefixTree", build, texts)]

    def supports(self, payload: Bytes) -> NDArray[np.int64] | None:
        """Look up each prefix of a short text."""
        level, a, b, bucket = self.split(payload)
        columns, prefixes = [level], [""]
        for number in range(self.levels):
            prefixes = [
                prefix + more for prefix in prefixes for more in continuations(self, prefix)
            ]
            if len(prefixes) > MOST_SUPPORTED:
                return None
            for prefix in prefixes:
                code = np.full(len(a), self.fingerprint(prefix))
                columns.append(
                    (level == number) & (to_bucket(own_hash(a, b, code), self.buckets) == bucket)
                )
        return np.stack(columns, axis=1).astype(np.int64)
