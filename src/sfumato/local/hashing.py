"""Hashing: each person draws a hash function and answers directly among its few buckets. Optimised
local hashing.

*Law*        A hash function h into g buckets is drawn anew for each report and is part of it; the
             bucket h(v) is reported as in `Direct` with k = g, kept with t = e^ε/(e^ε + g − 1)
             rounded down. g is the integer nearest e^ε + 1 with the smaller variance (Wang et al.
             2017).
*Promise*    The function is independent of the value, and given it the report is k-ary randomized
             response: odds = t(g − 1)/(1 − t) ≤ e^ε.
*Error*      A report supports every category that its function puts into the bucket it says: p = t,
             q = t·c + (1 − c)(1 − t)/(g − 1), where c is the exact chance that two categories meet
             in a bucket, the same for every two because the family is pairwise independent
             (`hash_families`). Hence the formulas of `frequency_estimate`.
*Report*     a and b (4 bytes each) and a bucket: nine bytes, however many categories there are.
*Proof*      docs/proofs/local-hashing.md
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from attrs import field
from numpy.typing import NDArray

from ..exact.balls import ball, decide, floor
from ..exact.numbers import is_whole
from ..noise.bits import Bits
from ..records import PARTIAL, record
from . import local_refusals as refusals
from .client import PRIME, Question
from .direct import keep_probability, respond
from .frequency_estimate import variance
from .frequency_oracle import FrequencyOracle
from .lib.biased_coins import Bytes
from .lib.dyadic_probability import ONE, as_fraction
from .lib.hash_families import bucket_ends, meeting, own_functions, own_hash, to_bucket
from .oracle import MOST_SUPPORTED, plain_categories
from .wire_reports import pack_integers, unpack_integers, width_for

MOST_BUCKETS = 1 << 16
_CHUNK = 1 << 14


def _choose_buckets(buckets: int | None, record: FrequencyOracle = PARTIAL) -> int:
    if buckets is None:
        return best_buckets(record.epsilon)
    if not is_whole(buckets, 2, MOST_BUCKETS):
        raise refusals.HASH_BUCKETS_OUT_OF_RANGE(buckets=buckets, most=MOST_BUCKETS)
    return buckets


@record(kw_only=True)
class Hashing(FrequencyOracle):
    """Optimised local hashing."""

    kind = "hashing"
    buckets: int = field(default=None, converter=_choose_buckets)
    keep: int = field(init=False)  # of 2^64

    @keep.default
    def _choose_keep(self) -> int:
        return keep_probability(self.epsilon, self.buckets)

    @property
    def true_support(self) -> Fraction:
        return as_fraction(self.keep)

    @property
    def false_support(self) -> Fraction:
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

    def constants(self) -> Question:
        return {
            "categories": plain_categories(self.labels),
            "own": str(self.keep),
            "buckets": self.buckets,
        }

    def arguments(self) -> Question:
        return {"epsilon": str(self.epsilon), "buckets": self.buckets}

    def _draw(self, codes: NDArray[np.int64], bits: Bits) -> Bytes:
        return draw_hashed(codes, self.keep, self.buckets, bits)

    def _well_formed(self, payload: Bytes) -> NDArray[np.bool_]:
        a, b, bucket = hashed_parts(payload)
        return (a < PRIME) & (b < PRIME) & (bucket < self.buckets)

    def _tally(self, payload: Bytes) -> NDArray[np.int64]:
        """Count the support of each category."""
        return count_run(*hashed_parts(payload), self.buckets, range(self.k))

    def supports(self, payload: Bytes) -> NDArray[np.int64] | None:
        if self.k > MOST_SUPPORTED:
            return None
        a, b, bucket = hashed_parts(payload)
        codes = (np.full(len(a), code) for code in range(self.k))
        supported = [to_bucket(own_hash(a, b, code), self.buckets) == bucket for code in codes]
        return np.stack(supported, axis=1).astype(np.int64)


def draw_hashed(codes: NDArray[np.int64], keep: int, buckets: int, bits: Bits) -> Bytes:
    """Draw a, b and a bucket for each code."""
    a, b = own_functions(codes.size, bits)
    bucket = respond(to_bucket(own_hash(a, b, codes), buckets), keep, buckets, bits)
    return np.concatenate(
        [pack_integers(a, 4), pack_integers(b, 4), pack_integers(bucket, width_for(buckets))],
        axis=1,
    )


def hashed_width(buckets: int) -> int:
    """Return the bytes of a, b and a bucket."""
    return 8 + width_for(buckets)


def hashed_parts(payload: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Read a, b and the bucket of each payload."""
    return (
        unpack_integers(payload[:, :4]),
        unpack_integers(payload[:, 4:8]),
        unpack_integers(payload[:, 8:]),
    )


def count_run(
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    bucket: NDArray[np.int64],
    buckets: int,
    codes: range,
) -> NDArray[np.int64]:
    """Count the support of consecutive codes. The hash of the next code is the last hash plus a,
    modulo P: a sum and a comparison of 32 bits for each report and code.
    """
    counts = np.zeros(len(codes), dtype=np.int64)
    ends, prime = bucket_ends(buckets), np.uint32(PRIME)
    for start in range(0, a.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        step, low = a[part].astype(np.uint32), ends[bucket[part]].astype(np.uint32)
        room = (ends[bucket[part] + 1] - ends[bucket[part]]).astype(np.uint32)
        first = np.full(step.size, codes.start, dtype=np.int64)
        at = own_hash(a[part], b[part], first).astype(np.uint32)
        beyond = np.empty_like(step)
        inside = np.empty(step.size, dtype=np.bool_)
        for i in range(len(codes)):
            # wraps around below the bucket, so that one comparison tells both ends
            np.subtract(at, low, out=beyond)
            np.less(beyond, room, out=inside)
            counts[i] += np.count_nonzero(inside)
            np.add(at, step, out=at)
            np.subtract(at, prime, out=beyond)  # wraps around unless at ≥ P
            np.minimum(at, beyond, out=at)
    return counts


def hashed_odds(keep: int, buckets: int) -> Fraction:
    """Return t(g − 1)/(1 − t)."""
    return Fraction(keep * (buckets - 1), ONE - keep)


def hashed_other(keep: int, buckets: int) -> Fraction:
    """Return the probability that a report supports a code that is not the true one."""
    meet, t = meeting(buckets), as_fraction(keep)
    return t * meet + (1 - meet) * (1 - t) / (buckets - 1)


def best_buckets(epsilon: Fraction) -> int:
    """Return the integer next to e^ε + 1 with the smaller variance at frequency 0."""
    if epsilon > 11:
        return MOST_BUCKETS
    least = decide(lambda: floor(ball(epsilon).exp())) + 1
    keeps = {g: keep_probability(epsilon, g) for g in (least, least + 1) if 2 <= g <= MOST_BUCKETS}
    telling = [g for g in keeps if as_fraction(keeps[g]) > hashed_other(keeps[g], g)]
    if not telling:  # ε is too small for coins of 64 bits: `_end` refuses
        return least
    return min(
        telling,
        key=lambda g: variance(
            as_fraction(keeps[g]), hashed_other(keeps[g], g), Fraction(0), 1, "data"
        ),
    )
