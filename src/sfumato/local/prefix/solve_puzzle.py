"""Solve a puzzle of fragments: join frequent pieces of one mark to texts, and look the texts up.

*Steps*      Place by place: a piece (mark, byte) is a candidate if the byte continues, in UTF-8, a
             text joined so far from pieces of this mark. Candidates come from the reports about
             earlier places, counts from the reports about this place: other people. Pieces above
             the bound survive, at most `most`, the best first. Texts whose fingerprint has the mark
             are looked up in the reports about whole texts, with the same bound.
*Bound*      The least number of supports that Bin(m, q) exceeds with probability at most
             β/(levels·c), for c candidates and m reports of a level: so except with probability β
             no piece and no text survives that nobody has. `bound` is that share as a frequency.
             `sure` is the frequency from which on a piece survives but for a chance of β/levels.
*Interval*   Clopper & Pearson's for whole texts, for all candidates together.
*Limit*      At most 2^14 texts are joined; of marks with more, the one with the most texts is
             dropped. `levels` says how many were.
"""

from __future__ import annotations

import math
from codecs import getincrementaldecoder
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ...exact.numbers import Number, probability
from ...mechanisms.shared.response_estimate import limit
from ..client import END
from ..hashing import count_run
from ..lib.biased_coins import Bytes
from .prefix_search import Hitters, describe_hitter, support

if TYPE_CHECKING:
    from .fragment_puzzle import FragmentPuzzle

MARKS = 256
MOST_TEXTS = 1 << 14
Level = dict[str, float]
Reported = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def solve(oracle: FragmentPuzzle, payload: Bytes, confidence: Number) -> Hitters:
    """Find the frequent texts of reports."""
    missing = 1 - probability(confidence, "confidence", zero=False)
    level, *parts = oracle.split(payload)
    texts = {mark: [b""] for mark in range(MARKS)}
    levels: list[Level] = []
    for place in range(oracle.length):
        a, b, bucket = (part[level == place] for part in parts)
        texts, summary = _join(oracle, (a, b, bucket), texts, missing / oracle.levels)
        levels.append(summary)
        if not texts:
            return Hitters(oracle, (), tuple(levels), len(payload))
    candidates = [
        filled
        for mark, joined in texts.items()
        for filled in (text.decode("latin-1") for text in joined if not open_character(text))
        if oracle.fingerprint(filled) % MARKS == mark
    ]
    a, b, bucket = (part[level == oracle.length] for part in parts)
    codes = np.array([oracle.fingerprint(filled) for filled in candidates], dtype=np.int64)
    counts = support(codes, a, b, bucket, oracle.buckets)
    order, summary = _survivors(oracle, counts, a.size, missing / oracle.levels)
    hitters = tuple(
        describe_hitter(
            oracle,
            oracle._read(candidates[i]),
            int(counts[i]),
            a.size,
            missing / len(candidates),
        )
        for i in order
    )
    return Hitters(oracle, hitters, (*levels, summary), len(payload))


def _join(
    oracle: FragmentPuzzle, reported: Reported, texts: dict[int, list[bytes]], missing: Fraction
) -> tuple[dict[int, list[bytes]], Level]:
    """Continue the texts of each mark by the frequent pieces of a place."""
    if len(texts) == MARKS:
        runs = count_run(*reported, oracle.buckets, range(MARKS * 256)).reshape(MARKS, 256)
    else:
        runs = np.zeros((MARKS, 256), dtype=np.int64)
        for mark in texts:
            codes = range(mark * 256, (mark + 1) * 256)
            runs[mark] = count_run(*reported, oracle.buckets, codes)
    pieces = np.array(
        [
            (mark, byte)
            for mark, joined in texts.items()
            for byte in sorted(set().union(*map(next_bytes, joined)))
        ]
    )
    counts = runs[pieces[:, 0], pieces[:, 1]]
    order, summary = _survivors(oracle, counts, reported[0].size, missing)
    longer: dict[int, list[bytes]] = {}
    for mark, byte in pieces[order].tolist():
        longer.setdefault(mark, []).extend(
            text + bytes([byte]) for text in texts[mark] if byte in next_bytes(text)
        )
    dropped = 0
    while sum(map(len, longer.values())) > MOST_TEXTS:
        del longer[max(longer, key=lambda mark: len(longer[mark]))]
        dropped += 1
    return longer, {**summary, "marks_dropped": dropped}


def _survivors(
    oracle: FragmentPuzzle, counts: NDArray[np.int64], reports: int, missing: Fraction
) -> tuple[list[int], Level]:
    """Return the places of the counts above the bound, the largest first, and what was done."""
    p, q = oracle.true_support, oracle.false_support
    most_by_noise = reports
    if reports and counts.size:
        above = math.nextafter(float(q), 1.0)
        most_by_noise = int(binom.isf(float(missing) / counts.size, reports, above))
    order = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i] > most_by_noise][
        : oracle.most
    ]

    def frequency(share: Fraction) -> float:
        return float((share - q) / (p - q))

    return order, {
        "reports": reports,
        "candidates": counts.size,
        "kept": len(order),
        "bound": frequency(Fraction(most_by_noise, max(reports, 1))),
        "sure": frequency(limit(most_by_noise, reports, missing, upper=True)) if reports else 1.0,
    }


def next_bytes(text: bytes) -> frozenset[int]:
    """Return the bytes that may follow a text in UTF-8: after an end sign only end signs."""
    return frozenset([0]) if text.endswith(END.encode()) else _followers(open_character(text))


@lru_cache(maxsize=1 << 12)
def _followers(opened: bytes) -> frozenset[int]:
    return frozenset(byte for byte in range(256) if _decodes(opened + bytes([byte])))


def open_character(text: bytes) -> bytes:
    """Return the bytes of a last character that is not complete."""
    decoder = getincrementaldecoder("utf-8")()
    decoder.decode(text)
    return decoder.getstate()[0]


def _decodes(text: bytes) -> bool:
    try:
        open_character(text)
    except UnicodeDecodeError:
        return False
    return True
