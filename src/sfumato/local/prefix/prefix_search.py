"""The search in a prefix tree: level by level, candidates from what was kept, kept what is surely
there.

*Steps*      At each level the reports of that level alone count, so candidates, which come from the
             levels before, are fixed when they are looked up. A candidate is kept if its unbiased
             frequency is above the bound below, and at most `most` are, the best first. A prefix
             that has ended continues only as ended.
*Bound*      h = √(ln(2·levels·c/β)/(2m))/(p − q) for c candidates and m reports at a level
             (Hoeffding). But for a chance of β all estimates of all levels are within h of the
             truth together: nothing that nobody has is kept, and no text of frequency 2h or more at
             every level is lost, unless `most` others stand above it.
*Interval*   Clopper & Pearson's at the last level, for all its candidates together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...exact.balls import down, up
from ...exact.numbers import Number, probability
from ...mechanisms.shared.response_estimate import limit
from ..client import END, PRIME
from ..frequency_estimate import published
from ..lib.biased_coins import Bytes
from ..lib.hash_families import bucket_ends

if TYPE_CHECKING:
    from .prefix_tree import PrefixTree

_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True)
class Hitter:
    """A frequent text, how frequent it is, and between which ends, all hitters together."""

    text: str
    frequency: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Hitters:
    """The frequent texts, the most frequent first. `levels` says of each level how many reports,
    candidates and survivors there were, and the bound.
    """

    oracle: PrefixTree
    found: tuple[Hitter, ...]
    levels: tuple[dict[str, float], ...]
    reports: int

    def __iter__(self) -> Iterator[Hitter]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, text: str) -> Hitter:
        return next(hitter for hitter in self.found if hitter.text == text)

    @property
    def texts(self) -> list[str]:
        return [hitter.text for hitter in self.found]

    def record(self) -> dict[str, Any]:
        """What may be published, for JSON."""
        rows = [
            {
                "text": hitter.text,
                "frequency": hitter.frequency,
                "low": hitter.low,
                "high": hitter.high,
            }
            for hitter in self.found
        ]
        return {
            **published(self.oracle, self.reports),
            "hitters": rows,
            "levels": list(self.levels),
        }

    def __repr__(self) -> str:
        return f"Hitters({len(self.found)} texts from {self.reports} reports)"


def search(oracle: PrefixTree, payload: Bytes, confidence: Number) -> Hitters:
    """The frequent texts of reports."""
    missing = 1 - probability(confidence, "confidence", zero=False)
    level, a, b, said = oracle.split(payload)
    own, other = float(oracle.own), float(oracle.other)
    kept, told, found = [""], list[dict[str, float]](), list[Hitter]()
    for number in range(oracle.levels):
        candidates = [prefix + more for prefix in kept for more in continued(oracle, prefix)]
        mine = level == number
        reports = int(mine.sum())
        if not reports or not candidates:
            break
        codes = np.array(
            [oracle.fingerprint(candidate) for candidate in candidates], dtype=np.int64
        )
        counts = support(codes, a[mine], b[mine], said[mine], oracle.buckets)
        frequencies = (counts / reports - other) / (own - other)
        bound = math.sqrt(
            math.log(2 * oracle.levels * len(candidates) / float(missing)) / (2 * reports)
        ) / (own - other)
        order = [
            i for i in np.argsort(-frequencies, kind="stable").tolist() if frequencies[i] > bound
        ][: oracle.most]
        kept = [candidates[i] for i in order]
        told.append(
            {"reports": reports, "candidates": len(candidates), "kept": len(kept), "bound": bound}
        )
        if number == oracle.levels - 1:
            found = [
                _hitter(oracle, candidates[i], int(counts[i]), reports, missing / len(candidates))
                for i in order
            ]
    return Hitters(oracle, tuple(found), tuple(told), len(payload))


def support(
    codes: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    said: NDArray[np.int64],
    buckets: int,
) -> NDArray[np.int64]:
    """How many reports put each code into the bucket they say."""
    counts, ends = np.zeros(codes.size, dtype=np.int64), bucket_ends(buckets)
    prime, half = np.uint64(PRIME), np.uint64(31)
    for start in range(0, a.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        step, offset = a[part].astype(np.uint64), b[part].astype(np.uint64)
        low, room = (
            ends[said[part]].astype(np.uint64),
            (ends[said[part] + 1] - ends[said[part]]).astype(np.uint64),
        )
        for i, code in enumerate(codes.astype(np.uint64)):
            at = (
                step * code + offset
            )  # below 2^62; 2^31 is 1 modulo P, so the upper bits are added to the lower
            at = (at & prime) + (at >> half)
            at = np.where(at >= prime, at - prime, at)
            counts[i] += np.count_nonzero(at - low < room)  # wraps around below the bucket
    return counts


def continued(oracle: PrefixTree, prefix: str) -> list[str]:
    """Every continuation by one level: letters, and after the end sign nothing but end signs."""
    if prefix.endswith(END):
        return [END * oracle.step]
    return [
        "".join(more)
        for more in product((*oracle.alphabet, END), repeat=oracle.step)
        if END not in "".join(more).rstrip(END)
    ]


def _hitter(oracle: PrefixTree, text: str, count: int, reports: int, missing: Fraction) -> Hitter:
    def at(share: Fraction) -> Fraction:
        return (share - oracle.other) / (oracle.own - oracle.other)

    low, high = (at(limit(count, reports, missing / 2, upper=upper)) for upper in (False, True))
    return Hitter(
        text.rstrip(END),
        float(at(Fraction(count, reports))),
        down(max(low, Fraction(0))),
        up(min(high, Fraction(1))),
    )
