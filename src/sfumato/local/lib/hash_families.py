"""Two families of hash functions with proved properties, identical here and in the client.

*Own*      x ↦ (a·x + b) mod P, P = 2^31 − 1, a and b uniform in [0, P): for x ≠ y < P the two
           numbers are independent and uniform (Carter & Wegman 1979).
*Shared*   x ↦ (a·x² + b·x + c) mod P: any three numbers are independent and uniform. A row's a, b,
           c are digits of SHA-256 of a public seed and the row's number, which count as uniform:
           that the seed was not chosen to make values collide is an assumption about the collector,
           and concerns accuracy alone.
*Bucket*   r ↦ ⌊r·g/2^31⌋: g parts of [0, P) whose sizes differ by two at most.
*Meets*    The chance that two values share a bucket is c = Σ(size/P)², exactly, for every two
           values: 1/g and a little more. Of three, Σ(size/P)³.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...noise.bits import Bits
from ..client import PRIME
from .biased_coins import below

_P = np.uint64(PRIME)


def bucket_ends(buckets: int) -> NDArray[np.int64]:
    """Return the start of each bucket, and P at the end."""
    starts = -(-(np.arange(buckets, dtype=np.int64) << 31) // buckets)
    return np.append(starts, PRIME)


@lru_cache(maxsize=256)
def meeting(buckets: int, values: int = 2) -> Fraction:
    """Return the probability that so many different values share a bucket."""
    sizes, counts = np.unique(np.diff(bucket_ends(buckets)), return_counts=True)
    return sum(
        (
            int(count) * Fraction(int(size), PRIME) ** values
            for size, count in zip(sizes, counts, strict=True)
        ),
        Fraction(0),
    )


def own_functions(count: int, bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw a and b for each person."""
    return below(PRIME, count, bits), below(PRIME, count, bits)


def own_hash(
    a: NDArray[np.int64], b: NDArray[np.int64], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Hash one value of each person."""
    return ((a.astype(np.uint64) * codes.astype(np.uint64) + b.astype(np.uint64)) % _P).astype(
        np.int64
    )


def to_bucket(numbers: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    return numbers * buckets >> 31


@lru_cache(maxsize=8)
def shared_functions(seed: str, rows: int) -> NDArray[np.uint64]:
    """Return the coefficients of each row's hash function."""
    functions = np.array([_coefficients(seed, row) for row in range(rows)], dtype=np.uint64).T
    functions.flags.writeable = False
    return functions


def _coefficients(seed: str, row: int) -> list[int]:
    coefficients: list[int] = []
    turn = 0
    while len(coefficients) < 3:
        digest = (
            np.frombuffer(hashlib.sha256(f"{seed}:{row}:{turn}".encode()).digest(), dtype=">u4")
            >> 1
        )
        coefficients += [int(number) for number in digest if number != PRIME]
        turn += 1
    return coefficients[:3]


def shared_hash(
    functions: NDArray[np.uint64], rows: NDArray[np.int64] | slice, codes: NDArray[np.int64] | int
) -> NDArray[np.int64]:
    """Hash values by the functions of these rows."""
    a, b, c = functions[:, rows]
    x = np.asarray(codes).astype(np.uint64)
    hashes: NDArray[np.int64] = (((a * x % _P + b) % _P * x + c) % _P).astype(np.int64)
    return hashes
