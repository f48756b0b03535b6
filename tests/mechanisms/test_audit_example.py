"""The pairs of the catalogue are neighbours: by one record, one number of a stream, or a step of
each score.
"""

from __future__ import annotations

from collections import Counter

import pytest

from sfumato.auditing.catalogue import CATALOGUE
from sfumato.mechanisms.shared.mechanism import InputPair

ENTRIES = {entry.name: entry for entry in CATALOGUE}


def pairs_of(name: str) -> list[InputPair]:
    return ENTRIES[name].pairs(ENTRIES[name].build(1.0))


@pytest.mark.parametrize("name", ["Histogram", "Hierarchy", "Mean", "Quantile", "Subsampled"])
def test_grown_by_one_record(name: str) -> None:
    for a, b in pairs_of(name):
        assert abs(len(a) - len(b)) == 1
        more, less = (Counter(a), Counter(b)) if len(a) > len(b) else (Counter(b), Counter(a))
        assert (more - less).total() == 1
        assert (less - more).total() == 0


def test_changed_in_one_record() -> None:
    for a, b in pairs_of("Mean, replace"):
        assert len(a) == len(b) == 5
        assert (Counter(a) - Counter(b)).total() == 1


@pytest.mark.parametrize("name", ["PrefixSums", "Laplace, vector", "Gaussian, vector"])
def test_changed_in_one_number_by_one(name: str) -> None:
    for a, b in pairs_of(name):
        assert sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 1


def test_queries_move_by_one() -> None:
    for a, b in pairs_of("AboveThreshold"):
        assert max(abs(x - y) for x, y in zip(a, b, strict=True)) == 1
    for a, b in pairs_of("AboveThreshold, monotone"):
        moves = {y - x for x, y in zip(a, b, strict=True)} - {0}
        assert moves in ({1}, {-1})


def test_weighed_by_one_unit() -> None:
    for (points, weights), (second, more) in pairs_of("WeightedQuantile"):
        first = Counter([p for p, w in zip(points, weights, strict=True) for _ in range(w)])
        two = Counter([p for p, w in zip(second, more, strict=True) for _ in range(w)])
        assert ((first - two) + (two - first)).total() == 1


def test_one_person_changes_an_answer() -> None:
    for a, b in pairs_of("RandomizedResponse"):
        assert type(a) is type(b)
        assert (
            sum(x != y for x, y in zip(a, b, strict=True)) == 1
            if isinstance(a, list)
            else {a, b} == {"yes", "no"}
        )


@pytest.mark.parametrize("name", ["Gibbs", "Gibbs, in μ"])
def test_losses_are_of_records_of_which_one_changes(name: str) -> None:
    for a, b in pairs_of(name):
        assert len(a) == len(b)
        assert sum(x != y for x, y in zip(a, b, strict=True)) == 1
