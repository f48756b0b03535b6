"""What reports support is what their oracle counts."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.auditing.canonical_outputs import Error, read_outputs
from sfumato.auditing.mechanism_laws import bit_of
from sfumato.local import Hashing, PrefixTree, Sketch, Unary


@pytest.mark.parametrize(
    "oracle",
    [Hashing(epsilon=1, categories="abcd"), Sketch(epsilon=1, categories="abcd", rows=4, size=8)],
    ids=str,
)
def test_supports_add_up_to_the_tally(oracle: sf.local.FrequencyOracle) -> None:
    reports = oracle.perturb(["a", "b", "c", "d"] * 50)
    result = oracle.supports(reports.payload)
    if result is not None:
        assert result.sum(axis=0).tolist() == oracle.aggregate(reports).counts.tolist()
    assert (result is None) == (reports.payload.shape[1] <= 2)


def test_prefixes_are_supported_at_their_level() -> None:
    oracle = PrefixTree(epsilon=8, length=2, alphabet="ab")
    result = oracle.draw_many("ab", 400)
    first = result[:, 0] == 0
    assert (
        result[first, 1].mean() > 0.3
    )  # of reports about the first letter one half speaks for "a", and next to none for "b"
    assert result[first, 2].mean() < 0.1
    assert result[~first, 1].sum() == 0


def test_many_categories_are_left_to_the_bytes() -> None:
    oracle = Hashing(epsilon=1, categories=list(range(100)))
    assert oracle.supports(oracle.perturb([1, 2]).payload) is None
    assert oracle.draw_many(1, 3).shape[0] == 3


def test_short_reports_are_numbers_and_longer_ones_bits() -> None:
    assert Unary(epsilon=1, categories="ab").draw_many("a", 5).ndim == 1
    bits = Unary(epsilon=20, categories=[str(i) for i in range(12)]).draw_many("3", 50)
    assert bits.shape == (50, 16)
    assert set(np.unique(bits)) <= {0, 1}


def test_several_answers_come_in_columns() -> None:
    both = sf.local.Questionnaire(
        {
            "one": sf.local.Direct(epsilon=1, categories="ab"),
            "two": sf.local.Direct(epsilon=1, categories="cd"),
        }
    )
    assert len(both.draw_many({"one": "a", "two": "d"}, 7)) == 7


@pytest.mark.parametrize("k", [2, 8, 12, 20, 33, 96, 100, 1024, 1100, 2000])
def test_a_bit_is_found_however_reports_are_written(k: int) -> None:
    oracle = Unary(
        epsilon=60, categories=[str(i) for i in range(k)], symmetric=True
    )  # a wrong bit has a chance of e^-30
    for code in {0, k // 2, k - 1}:
        drawn = read_outputs(oracle.draw_many(str(code), 3))
        assert bit_of(drawn, oracle, code).tolist() == [1, 1, 1]
        assert bit_of(drawn, oracle, (code + 1) % k).tolist() == [0, 0, 0]
    assert bit_of(read_outputs([Error("E")] * 2), oracle, 0).tolist() == [-1, -1]
