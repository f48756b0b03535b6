"""Hashing: everyone hashes with a function of their own and answers directly among its few buckets.
Optimised local hashing.

*Law*        A hash function h into g buckets is drawn anew for each report and is part of it; the
             bucket h(v) is reported as in `Direct` with k = g, kept with t = e^ε/(e^ε + g − 1)
             rounded down. g is the integer nearest e^ε + 1 with the smaller variance (Wang et al.
             2017).
*Promise*    The function is independent of the value, and given it the report is k-ary randomized
             response: odds = t(g − 1)/(1 − t) ≤ e^ε.
*Error*      A report supports every category that its function puts into the bucket it says: p = t,
             q = t·c + (1 − c)(1 − t)/(g − 1), where c is the exact chance that two categories meet
             in a bucket, the same for every two because the family is pairwise independent
             (`hashes`). Hence the formulas of `estimate`.
*Report*     a and b (4 bytes each) and a bucket: nine bytes, however many categories there are.
*Proof*      docs/proofs/local-hashing.md
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused
from ..exact.balls import ball, decide, floor
from ..exact.numbers import Number, is_whole, positive
from ..noise.bits import Bits
from .client import PRIME
from .direct import keep_of, respond
from .frequency_estimate import variance
from .frequency_oracle import FrequencyOracle
from .lib.biased_coins import Bytes
from .lib.dyadic_probability import ONE, share
from .lib.hash_families import bucket_ends, meeting, own_functions, own_hash, to_bucket
from .oracle import plain_categories
from .wire_reports import from_whole_numbers, whole_numbers, width_for

MOST_BUCKETS = 1 << 16
_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hashing(FrequencyOracle):
    """Optimised local hashing."""

    kind = "hashing"
    buckets: int
    keep: int  # of 2^64

    def __init__(
        self,
        *,
        epsilon: Number,
        categories: Iterable[Hashable],
        buckets: int | None = None,
        relation: str | None = None,
        unit: str | None = None,
    ) -> None:
        self._begin(categories, positive(epsilon, "epsilon"), relation, unit)
        if buckets is not None and not is_whole(buckets, 2, MOST_BUCKETS):
            raise Refused(
                "local.size",
                f"buckets={buckets}",
                f"buckets are a whole number from 2 to {MOST_BUCKETS}",
                "Hashing without buckets= takes the best",
            )
        put = object.__setattr__
        put(self, "buckets", best_buckets(self.epsilon) if buckets is None else buckets)
        put(self, "keep", keep_of(self.epsilon, self.buckets))
        self._end()

    @property
    def own(self) -> Fraction:
        return share(self.keep)

    @property
    def other(self) -> Fraction:
        return hashed_other(self.keep, self.buckets)

    @property
    def odds(self) -> Fraction:
        return hashed_odds(self.keep, self.buckets)

    @property
    def most(self) -> int:
        return self.k  # a liar may pick a function that puts everything into one bucket

    @property
    def width(self) -> int:
        return hashed_width(self.buckets)

    def constants(self) -> dict[str, Any]:
        return {
            "categories": plain_categories(self.labels),
            "own": str(self.keep),
            "buckets": self.buckets,
        }

    def made_of(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "buckets": self.buckets}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return draw_hashed(codes, self.keep, self.buckets, bits)

    def _formed(self, payload: Bytes) -> NDArray[np.bool_]:
        a, b, said = hashed_parts(payload)
        return (a < PRIME) & (b < PRIME) & (said < self.buckets)

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """The hash of the next code is the last one plus a, modulo P: a sum and a comparison of 32
        bits for each report and category.
        """
        counts = np.zeros(self.k, dtype=np.int64)
        ends, prime = bucket_ends(self.buckets), np.uint32(PRIME)
        for start in range(0, len(payload), _CHUNK):
            a, b, said = hashed_parts(payload[start : start + _CHUNK])
            step, low = a.astype(np.uint32), ends[said].astype(np.uint32)
            room = (ends[said + 1] - ends[said]).astype(np.uint32)
            at, beyond, inside = (
                b.astype(np.uint32),
                np.empty_like(step),
                np.empty(len(a), dtype=np.bool_),
            )
            for code in range(self.k):
                np.subtract(
                    at, low, out=beyond
                )  # wraps around below the bucket, so that one comparison tells both ends
                np.less(beyond, room, out=inside)
                counts[code] += np.count_nonzero(inside)
                np.add(at, step, out=at)
                np.subtract(at, prime, out=beyond)  # wraps around unless at ≥ P
                np.minimum(at, beyond, out=at)
        return counts


def draw_hashed(codes: NDArray[np.int64], keep: int, buckets: int, bits: Bits) -> Bytes:
    """For each code a, b and a bucket."""
    a, b = own_functions(codes.size, bits)
    said = respond(to_bucket(own_hash(a, b, codes), buckets), keep, buckets, bits)
    return np.concatenate(
        [whole_numbers(a, 4), whole_numbers(b, 4), whole_numbers(said, width_for(buckets))], axis=1
    )


def hashed_width(buckets: int) -> int:
    """Bytes of the three."""
    return 8 + width_for(buckets)


def hashed_parts(payload: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The three again."""
    return (
        from_whole_numbers(payload[:, :4]),
        from_whole_numbers(payload[:, 4:8]),
        from_whole_numbers(payload[:, 8:]),
    )


def hashed_odds(keep: int, buckets: int) -> Fraction:
    """t(g − 1)/(1 − t)."""
    return Fraction(keep * (buckets - 1), ONE - keep)


def hashed_other(keep: int, buckets: int) -> Fraction:
    """The chance to support another than the own code."""
    meet, t = meeting(buckets), share(keep)
    return t * meet + (1 - meet) * (1 - t) / (buckets - 1)


def best_buckets(epsilon: Fraction) -> int:
    """Of the two integers around e^ε + 1 the one with the smaller variance at frequency 0."""
    if epsilon > 11:
        return MOST_BUCKETS
    least = decide(lambda: floor(ball(epsilon).exp())) + 1
    keeps = {g: keep_of(epsilon, g) for g in (least, least + 1) if 2 <= g <= MOST_BUCKETS}
    telling = [g for g in keeps if share(keeps[g]) > hashed_other(keeps[g], g)]
    if not telling:  # ε is so small that no coin of 64 bits shows it: refused at the end
        return least
    return min(
        telling,
        key=lambda g: variance(share(keeps[g]), hashed_other(keeps[g], g), Fraction(0), 1, "data"),
    )
