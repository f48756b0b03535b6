"""Cells and the search for identifying columns, against brute force."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from sfumato.attacks.lib.look_alikes import CodedColumns, pair_codes
from sfumato.attacks.lib.owner_table import read_columns


def table(seed: int, n: int = 60) -> dict[str, list[int]]:
    generator = np.random.default_rng(seed)
    return {
        name: generator.integers(0, width, n).tolist()
        for name, width in (("a", 2), ("b", 5), ("c", 9), ("d", 13), ("e", 3))
    }


def brute(rows: dict[str, list[int]], names: tuple[str, ...]) -> int:
    """How many rows are alone, by counting tuples."""
    return sum(
        many == 1 for many in Counter(zip(*(rows[name] for name in names), strict=True)).values()
    )


@pytest.mark.parametrize("seed", range(4))
def test_alone_by_every_set_of_columns(seed: int) -> None:
    rows = table(seed)
    coded = CodedColumns(read_columns(rows), list(rows))
    for size in range(1, 6):
        for names in combinations(rows, size):
            assert coded.alone(names) == brute(rows, names)
            assert coded.sizes(names).sum() == 60


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("least_alone", [1, 20, 40, 55, 60])
def test_the_smallest_sets(seed: int, least_alone: int) -> None:
    rows = table(seed)
    result = CodedColumns(read_columns(rows), list(rows)).smallest(least_alone)
    enough = [
        names
        for size in range(1, 6)
        for names in combinations(rows, size)
        if brute(rows, names) >= least_alone
    ]
    least = min(map(len, enough), default=0)
    assert set(result) == {names for names in enough if len(names) == least}
    counts = [brute(rows, names) for names in result]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("room", [0, 200])
def test_the_search_needs_no_room(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that are not kept are found again."""
    rows = table(0)
    expected = CodedColumns(read_columns(rows), list(rows)).smallest(50)
    monkeypatch.setattr("sfumato.attacks.lib.look_alikes._ROOM", room)
    assert CodedColumns(read_columns(rows), list(rows)).smallest(50) == expected != ()


def test_needed_columns_spare_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten columns of which three tell everybody apart, and only together: no set without them is
    tried.
    """
    codes = np.arange(1000)
    rows = {f"digit {place}": (codes // 10**place % 10).tolist() for place in range(3)} | {
        f"same {place}": [0] * 1000 for place in range(7)
    }
    coded, tried = CodedColumns(read_columns(rows), list(rows)), []
    alone = coded.alone
    monkeypatch.setattr(coded, "alone", lambda names: (tried.append(tuple(names)), alone(names))[1])
    assert coded.smallest(1000) == (("digit 0", "digit 1", "digit 2"),)
    assert len(tried) == 1 + 10 + 1


def test_pairs_are_numbered_densely_either_way() -> None:
    """By a table of all pairs where there are few, by sorting where there are many."""
    generator = np.random.default_rng(1)
    for width in (3, 10**6):
        front, back = generator.integers(0, width, 500), generator.integers(0, width, 500)
        result = pair_codes(front, back)
        pairs = list(zip(front.tolist(), back.tolist(), strict=True))
        assert len(set(pairs)) == result.max() + 1 == len(set(result.tolist()))
        assert len(set(zip(pairs, result.tolist(), strict=True))) == len(set(pairs))
