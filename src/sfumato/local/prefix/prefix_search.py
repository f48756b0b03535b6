"""Search a prefix tree level by level: extend the surviving prefixes, keep the candidates that are
surely there.

*Steps*      Each level uses only its own reports, so the candidates, which come from the levels
             before, do not depend on them. A candidate survives if its unbiased frequency is above
             the bound below; at most `most` survive, the best first. A prefix that has ended
             continues only as ended.
*Bound*      h = √(ln(2·levels·c/β)/(2m))/(p − q) for c candidates and m reports at a level
             (Hoeffding). Except with probability β, all estimates of all levels are within h of the
             truth together: no text survives that nobody has, and no text of frequency 2h or more
             at every level is lost, unless `most` others are above it.
*Interval*   Clopper & Pearson's at the last level, for all its candidates together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...exact.balls import down, up
from ...exact.numbers import Number, probability
from ...mechanisms.shared.response_estimate import limit
from ..client import END, PRIME
from ..estimate_views import EstimateViews, Row
from ..frequency_estimate import estimate_header
from ..lib.biased_coins import Bytes
from ..lib.hash_families import bucket_ends

if TYPE_CHECKING:
    from ...templates.summary import Summary
    from .prefix_tree import PrefixTree
    from .text_oracle import TextOracle

_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True)
class Hitter:
    """A frequent text, its frequency, and its interval; all intervals hold together."""

    text: str
    frequency: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hitters(EstimateViews):
    """The frequent texts, the most frequent first. `levels` gives for each level the numbers of
    reports, candidates and survivors, and the bound.
    """

    oracle: TextOracle
    hitters: tuple[Hitter, ...]
    levels: tuple[dict[str, float], ...]
    reports: int

    def __iter__(self) -> Iterator[Hitter]:
        return iter(self.hitters)

    def __len__(self) -> int:
        return len(self.hitters)

    def __getitem__(self, text: str) -> Hitter:
        return next(hitter for hitter in self.hitters if hitter.text == text)

    @property
    def texts(self) -> list[str]:
        return [hitter.text for hitter in self.hitters]

    def rows(self, confidence: Number = 0.95, *, simultaneous: bool = True) -> list[Row]:
        """Return a row for each text: its frequency, and the interval of the search, which holds
        for all texts together.
        """
        return [
            {"text": hit.text, "frequency": hit.frequency, "low": hit.low, "high": hit.high}
            for hit in self.hitters
        ]

    def record(self) -> dict[str, object]:
        """Return the public record of the estimate, for JSON."""
        return {
            **estimate_header(self.oracle, self.reports),
            "hitters": self.rows(),
            "levels": list(self.levels),
            "note": self.oracle.texts_note,
        }

    def _summary(self) -> Summary:
        summary = super(Hitters, self)._summary()
        return replace(summary, notes=[self.oracle.texts_note, *summary.notes])


def search(oracle: PrefixTree, payload: Bytes, confidence: Number) -> Hitters:
    """Find the frequent texts of reports."""
    missing = 1 - probability(confidence, "confidence", zero=False)
    level, a, b, bucket = oracle.split(payload)
    p, q = float(oracle.true_support), float(oracle.false_support)
    prefixes, levels, hitters = [""], list[dict[str, float]](), list[Hitter]()
    for number in range(oracle.levels):
        candidates = [
            prefix + more for prefix in prefixes for more in continuations(oracle, prefix)
        ]
        mine = level == number
        reports = int(mine.sum())
        if not reports or not candidates:
            break
        codes = np.array(
            [oracle.fingerprint(candidate) for candidate in candidates], dtype=np.int64
        )
        counts = support(codes, a[mine], b[mine], bucket[mine], oracle.buckets)
        frequencies = (counts / reports - q) / (p - q)
        bound = math.sqrt(
            math.log(2 * oracle.levels * len(candidates) / float(missing)) / (2 * reports)
        ) / (p - q)
        order = [
            i for i in np.argsort(-frequencies, kind="stable").tolist() if frequencies[i] > bound
        ][: oracle.most]
        prefixes = [candidates[i] for i in order]
        levels.append(
            {
                "reports": reports,
                "candidates": len(candidates),
                "kept": len(prefixes),
                "bound": bound,
            }
        )
        if number == oracle.levels - 1:
            hitters = [
                describe_hitter(
                    oracle, candidates[i], int(counts[i]), reports, missing / len(candidates)
                )
                for i in order
            ]
    return Hitters(oracle, tuple(hitters), tuple(levels), len(payload))


def support(
    codes: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    bucket: NDArray[np.int64],
    buckets: int,
) -> NDArray[np.int64]:
    """Count the reports whose hash function puts each code into their bucket."""
    counts, ends = np.zeros(codes.size, dtype=np.int64), bucket_ends(buckets)
    prime, half = np.uint64(PRIME), np.uint64(31)
    for start in range(0, a.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        step, offset = a[part].astype(np.uint64), b[part].astype(np.uint64)
        low = ends[bucket[part]].astype(np.uint64)
        room = (ends[bucket[part] + 1] - ends[bucket[part]]).astype(np.uint64)
        for i, code in enumerate(codes.astype(np.uint64)):
            # below 2^62; 2^31 is 1 modulo P, so the upper bits are added to the lower
            at = step * code + offset
            at = (at & prime) + (at >> half)
            at = np.where(at >= prime, at - prime, at)
            counts[i] += np.count_nonzero(at - low < room)  # wraps around below the bucket
    return counts


def continuations(oracle: PrefixTree, prefix: str) -> list[str]:
    """List the continuations by one level: letters, and after an end sign only end signs."""
    if prefix.endswith(END):
        return [END * oracle.step]
    return [
        "".join(more)
        for more in product((*oracle.alphabet, END), repeat=oracle.step)
        if END not in "".join(more).rstrip(END)
    ]


def describe_hitter(
    oracle: TextOracle, text: str, count: int, reports: int, missing: Fraction
) -> Hitter:
    """Return a text with its frequency, and the interval of Clopper and Pearson."""

    def at(share: Fraction) -> Fraction:
        return (share - oracle.false_support) / (oracle.true_support - oracle.false_support)

    low, high = (at(limit(count, reports, missing / 2, upper=upper)) for upper in (False, True))
    return Hitter(
        text.rstrip(END),
        float(at(Fraction(count, reports))),
        down(min(max(low, Fraction(0)), Fraction(1))),
        up(min(max(high, Fraction(0)), Fraction(1))),
    )
