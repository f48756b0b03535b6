"""Generated people have the frequencies they are drawn from; one's own are zeros and ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.attacks.data.genomes import Genomes, genomes, read_genomes
from sfumato.errors import Refused


def test_frequencies() -> None:
    """Each of 500 means of 2000 people is within 6 standard deviations of its frequency, with
    probability 1 − 10⁻⁶.
    """
    people = genomes(2000, 500, seed=3)
    assert (people.people, people.positions) == (2000, 500)
    assert people.frequencies is not None
    spread = np.sqrt(people.frequencies * (1 - people.frequencies) / 2000)
    assert (np.abs(people.bits.mean(axis=0) - people.frequencies) < 6 * spread).all()
    assert people.frequencies.min() >= 0.05
    assert people.frequencies.max() <= 0.95
    np.testing.assert_array_equal(people.bits, genomes(2000, 500, seed=3).bits)


def test_tables_and_matrices() -> None:
    table = {"a": [0, 1, 1, 0], "b": [True, False, True, True]}
    assert read_genomes(table).bits.tolist() == [[0, 1], [1, 0], [1, 1], [0, 1]]
    assert read_genomes(np.eye(4)).frequencies is None
    people = genomes(4, 2)
    assert read_genomes(people) is people
    assert isinstance(people, Genomes)


@pytest.mark.parametrize(
    "people",
    [np.full((4, 2), 2), np.zeros((3, 2)), np.zeros(4), {"a": [0, 1, 2, 3]}],
    ids=["two", "few", "flat", "table"],
)
def test_what_is_not_zeros_and_ones_is_refused(people: Any) -> None:
    with pytest.raises(Refused, match=r"attacks\.values"):
        read_genomes(people)
