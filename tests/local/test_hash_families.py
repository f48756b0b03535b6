"""Hash functions: independence by solving for the one function that gives any wanted pair or
triple, and the chances of meeting, exactly.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.local import client
from sfumato.local.client import PRIME
from sfumato.local.lib import hash_families

NUMBER = st.integers(0, PRIME - 1)


@given(NUMBER, NUMBER, NUMBER, NUMBER)
def test_two_values_are_independent_and_uniform(x: int, y: int, r: int, s: int) -> None:
    """Exactly one (a, b) of P² sends x to r and y to s: so every pair of hashes is as likely as
    every other.
    """
    assume(x != y)
    a = (r - s) * pow(x - y, -1, PRIME) % PRIME
    b = (r - a * x) % PRIME
    hashes = hash_families.own_hash(np.array([a, a]), np.array([b, b]), np.array([x, y]))
    assert hashes.tolist() == [r, s]


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER)
def test_three_values_of_shared_functions(x: int, y: int, z: int, r: int, s: int, t: int) -> None:
    """One polynomial of degree two goes through any three points."""
    assume(len({x, y, z}) == 3)
    total = [0, 0, 0]
    for (u, v), (p, _), (q, _) in [
        ((x, r), (y, s), (z, t)),
        ((y, s), (x, r), (z, t)),
        ((z, t), (x, r), (y, s)),
    ]:
        scale = v * pow((u - p) * (u - q), -1, PRIME)
        for i, term in enumerate((1, -(p + q), p * q)):
            total[i] = (total[i] + scale * term) % PRIME
    functions = np.array(total, dtype=np.uint64)[:, None]
    assert [
        int(hash_families.shared_hash(functions, slice(None), value)[0]) for value in (x, y, z)
    ] == [
        r,
        s,
        t,
    ]


@pytest.mark.parametrize("buckets", [2, 3, 4, 7, 1024, 65536])
def test_buckets(buckets: int) -> None:
    ends = hash_families.bucket_ends(buckets)
    sizes = np.diff(ends)
    assert ends[0] == 0
    assert sizes.sum() == PRIME
    assert sizes.max() - sizes.min() <= 2
    for j in {0, 1, buckets // 2, buckets - 1}:
        assert (
            client.bucket(int(ends[j]), buckets)
            == j
            == client.bucket(int(ends[j + 1]) - 1, buckets)
        )
    assert hash_families.to_bucket(ends[:-1], buckets).tolist() == list(range(buckets))
    assert hash_families.meeting(buckets) == sum(Fraction(int(size), PRIME) ** 2 for size in sizes)
    assert (
        1 / Fraction(buckets)
        <= hash_families.meeting(buckets)
        < Fraction(1, buckets) * (1 + Fraction(buckets, 2**30))
    )
    assert hash_families.meeting(buckets, 3) >= hash_families.meeting(buckets) ** 2


def test_shared_functions_are_those_of_the_client() -> None:
    functions = hash_families.shared_functions("seed", 20)
    codes = np.array([0, 1, 2, 999, 10**6])
    for row, code in itertools.product(range(20), codes.tolist()):
        assert int(
            hash_families.shared_hash(functions, np.array([row]), np.array([code]))[0]
        ) == client.row_hash("seed", row, code)


def test_shared_functions_look_uniform() -> None:
    """Buckets of 4096 rows: χ² with 15 degrees of freedom below 70 but for 10⁻⁸; for rows that all
    agree it is far above. No chance here: SHA-256 of a seed.
    """
    functions = hash_families.shared_functions("sfumato", 4096)
    counts = np.bincount(
        hash_families.to_bucket(hash_families.shared_hash(functions, slice(None), 5), 16),
        minlength=16,
    )
    assert ((counts - 256) ** 2 / 256).sum() < 70
    assert ((np.bincount(np.zeros(4096, dtype=np.int64), minlength=16) - 256) ** 2 / 256).sum() > 70
