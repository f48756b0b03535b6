"""PrefixTree: which texts are frequent, among all texts of an alphabet. Heavy hitters, letter by
letter.

*Law*        Letters that the alphabet lacks are left out, and what is no text is the empty one:
             every value is answered. Then a text is cut or filled with an end sign to `length`
             letters. How many of its first letters are looked at, `step`, 2·`step`, … `length`, is
             drawn by lot whatever the text is; the prefix becomes a public fingerprint below 2^31 −
             1, which is reported as in `Hashing`: a hash function of one's own into g buckets, and
             the bucket, kept with t = e^ε/(e^ε + g − 1) rounded down (Bassily et al. 2017; Wang, Li
             & Jha 2018).
*Promise*    The level and the function are independent of the text, and everyone reports once,
             about one level: odds = t(g − 1)/(1 − t) ≤ e^ε, once, however many levels there are. A
             person asked again pays again.
*Search*     From the first letters on: of the prefixes kept so far, every continuation by one level
             is a candidate; those whose unbiased frequency is above what noise alone would give to
             any of them are kept, at most `most`, the best first (`heavy_search`).
*Error*      As that of `Hashing` from 1/levels of the reports. Two texts of the same fingerprint
             are one: a chance of 2^-31 for each two.
*Report*     The level, and 9 bytes or so, however long the text is.
*Proof*      docs/proofs/local-numbers.md
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...exact.numbers import Number, is_whole, positive, text
from ...guarantees import Relation
from ...guarantees.guarantee import relation_of, unit_of
from ...mechanisms.randomized_response import refuse_added
from ...noise.bits import SYSTEM, Bits
from .. import client
from ..client import END, PRIME
from ..direct import keep_of
from ..frequency_estimate import Aggregate, variance
from ..hashing import (
    best_buckets,
    draw_hashed,
    hashed_odds,
    hashed_other,
    hashed_parts,
    hashed_width,
)
from ..lib.biased_coins import Bytes, below
from ..lib.dyadic_probability import share
from ..oracle import Oracle, reports_of
from ..wire_reports import Reports, from_whole_numbers, whole_numbers, width_for
from .prefix_search import Hitters, search

_TINY = Fraction(
    1, 1 << 40
)  # below it rounding decides which number is best; far below, nothing is told, and `keeps` refuses
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PrefixTree(Oracle):
    """Heavy hitters over texts."""

    kind = "prefix"
    alphabet: str
    length: int
    step: int
    most: int
    seed: str
    buckets: int
    keep: int  # of 2^64
    epsilon: Fraction
    relation: Relation | None
    unit: str | None

    def __init__(
        self,
        *,
        epsilon: Number,
        length: int,
        alphabet: str = LETTERS,
        step: int = 1,
        most: int = 32,
        seed: str = "sfumato",
        relation: str | None = None,
        unit: str | None = None,
    ) -> None:
        whole = all(is_whole(value) for value in (length, step, most))
        if (
            not whole
            or length % step
            or length > 256
            or most > 1 << 12
            or most * (len(alphabet) + 1) ** step > 1 << 20
        ):
            reason = (
                "length is a multiple of step up to 256; most·(letters + 1)^step candidates "
                "are at most 2^20"
            )
            raise Refused(
                "local.size",
                f"length={length}, step={step}, most={most}",
                reason,
                "length=8, step=1, most=32",
            )
        if (
            not isinstance(alphabet, str)
            or not alphabet
            or len(set(alphabet)) != len(alphabet)
            or END in alphabet
            or not alphabet.isprintable()
        ):
            raise Refused(
                "local.alphabet",
                "alphabet=…",
                "an alphabet is printable letters, each of them once",
                "alphabet='abc'",
            )
        put = object.__setattr__
        fields = {
            "alphabet": alphabet,
            "length": length,
            "step": step,
            "most": most,
            "seed": str(seed),
            "epsilon": positive(epsilon, "epsilon"),
        }
        for name, value in {
            **fields,
            "relation": relation_of(relation),
            "unit": unit_of(unit),
        }.items():
            put(self, name, value)
        refuse_added(self.relation)
        put(self, "buckets", best_buckets(self.epsilon) if self.epsilon >= _TINY else 2)
        put(self, "keep", keep_of(self.epsilon, self.buckets))
        self._end()

    @property
    def levels(self) -> int:
        return self.length // self.step

    @property
    def own(self) -> Fraction:
        """P(a report supports a prefix | it is that of the text)."""
        return share(self.keep)

    @property
    def other(self) -> Fraction:
        """P(a report supports a prefix | it is another)."""
        return hashed_other(self.keep, self.buckets)

    @property
    def odds(self) -> Fraction:
        return hashed_odds(self.keep, self.buckets)

    @property
    def width(self) -> int:
        return width_for(self.levels) + hashed_width(self.buckets)

    def constants(self) -> dict[str, Any]:
        shape = {
            "alphabet": self.alphabet,
            "levels": self.levels,
            "step": self.step,
            "seed": self.seed,
        }
        return {**shape, "own": str(self.keep), "buckets": self.buckets}

    def made_of(self) -> dict[str, Any]:
        made = {"epsilon": str(self.epsilon), "length": self.length, "alphabet": self.alphabet}
        return {**made, "step": self.step, "most": self.most, "seed": self.seed}

    def perturb(self, values: Any, *, bits: Bits = SYSTEM) -> Reports:
        """A report for each text, whatever it is."""
        texts = (
            list(values)
            if isinstance(values, Iterable) and not isinstance(values, str | bytes)
            else [values]
        )
        asked = {"alphabet": self.alphabet, "levels": self.levels, "step": self.step}
        whole = [client.filled(asked, value) for value in texts]
        levels = below(self.levels, len(whole), bits)
        prefixes = [
            value[: (level + 1) * self.step]
            for value, level in zip(whole, levels.tolist(), strict=True)
        ]
        known = {
            prefix: self.fingerprint(prefix) for prefix in set(prefixes)
        }  # many people say the same
        codes = np.array([known[prefix] for prefix in prefixes], dtype=np.int64)
        return Reports(
            self.mark,
            np.concatenate(
                [whole_numbers(levels, width_for(self.levels)), self._draw(codes, bits)], axis=1
            ),
        )

    def fingerprint(self, prefix: str) -> int:
        """The public number of a prefix."""
        return client.fingerprint({"seed": self.seed}, prefix)

    def _codes(self, values: Any, bits: Bits = SYSTEM) -> NDArray[np.int64]:
        raise NotImplementedError  # a text has a code for each level: `perturb` is its own

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return draw_hashed(codes, self.keep, self.buckets, bits)

    def split(
        self, payload: Bytes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Level, a, b and bucket of each report."""
        head = width_for(self.levels)
        return from_whole_numbers(payload[:, :head]), *hashed_parts(payload[:, head:])

    def _formed(self, payload: Bytes) -> NDArray[np.bool_]:
        level, a, b, said = self.split(payload)
        return (level < self.levels) & (a < PRIME) & (b < PRIME) & (said < self.buckets)

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Reports of each level."""
        return np.bincount(self.split(payload)[0], minlength=self.levels)

    def estimate(
        self, reports: Reports | bytes | Iterable[bytes], *, confidence: Number = 0.95
    ) -> Hitters:
        """The frequent texts, with intervals that hold together with this confidence. Candidates
        are looked up in the reports: an aggregate is not enough.
        """
        if isinstance(reports, Aggregate):
            raise Refused(
                "local.report",
                f"{reports}",
                "candidates are looked up in the reports themselves",
                "estimate(reports)",
            )
        known = self.read(reports)
        if not len(known):
            raise Refused(
                "response.reports",
                "estimate([])",
                "there is no report to estimate from",
                "estimate(oracle.perturb(values))",
            )
        return search(self, known.payload, confidence)

    def variance(self, n: int) -> float:
        """Of one frequency near 0, from the reports of one level of n people, n/levels of them."""
        return self._level_variance(max(1, reports_of(n) // self.levels))

    def influence(self, fakes: int, n: int) -> tuple[float, float]:
        """How far `fakes` invented reports among n can move a frequency, down and up: liars choose
        their level, which has n/levels reports.
        """
        share, spread = (
            reports_of(fakes) * self.levels / reports_of(n),
            float(self.own - self.other),
        )
        return -share * float(self.other) / spread, share * float(1 - self.other) / spread

    def _level_variance(self, n: int) -> float:
        return float(variance(self.own, self.other, Fraction(0), n, "population"))

    def __repr__(self) -> str:
        return (
            f"PrefixTree(epsilon={text(self.epsilon)}, length={self.length}, "
            f"step={self.step}, {len(self.alphabet)} letters, most={self.most})"
        )
