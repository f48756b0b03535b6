"""Secret shares: any shares but all of them are uniform, and sums of shares are shares of sums."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.curators import secret_shares
from sfumato.curators.secret_shares import MODULUS, add, centre, pack, split, unpack
from sfumato.testing import SeededBits


@pytest.mark.parametrize("missing", range(3))
def test_without_one_share_the_others_are_uniform(
    missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every draw modulo 4 is followed: for each number the other two shares have all 16 values
    equally often.
    """
    for number in range(4):
        shown: Counter[tuple[int, ...]] = Counter()
        for values in product(range(4), repeat=2):
            script = iter(values)
            monkeypatch.setattr(
                secret_shares, "integer_below", lambda limit, bits, script=script: next(script)
            )
            shares = split(number, 3, SeededBits(0), 4)
            assert add(shares, 4) == number
            shown[tuple(share for i, share in enumerate(shares) if i != missing)] += 1
        assert len(shown) == 16
        assert set(shown.values()) == {1}


@settings(max_examples=30)
@given(st.integers(-(2**61), 2**61), st.integers(-(2**61), 2**61), st.integers(2, 6))
def test_sums_of_shares_are_shares_of_the_sum(a: int, b: int, holders: int) -> None:
    both = zip(split(a, holders), split(b, holders), strict=True)
    assert centre(add(map(add, both))) == a + b


def test_packets_and_centres() -> None:
    residues = [0, 1, MODULUS - 1, 1 << 63]
    assert unpack(pack(residues)) == residues
    assert [centre(residue) for residue in residues] == [0, 1, -1, -(1 << 63)]
