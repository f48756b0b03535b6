"""Matching rows, against comparing every row with every other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.attacks.lib import row_matching
from sfumato.attacks.lib.owner_table import read_columns
from sfumato.attacks.lib.row_matching import match_rows, shared_codes
from sfumato.errors import Refused


def table(seed: int, n: int) -> dict[str, list[Any]]:
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 30, n).astype(float)
    x[generator.integers(0, n, 2)] = np.nan
    return {
        "sex": generator.choice(["f", "m"], n).tolist(),
        "x": x.tolist(),
        "y": generator.uniform(0, 9, n).tolist(),
    }


def brute(
    a: dict[str, list[Any]], b: dict[str, list[Any]], tolerance: dict[str, float]
) -> set[tuple[int, int]]:
    def agree(left: Any, right: Any, reach: float | None) -> bool:
        if left != left or right != right:
            return left != left and right != right
        return left == right if reach is None else abs(left - right) <= reach

    rows = range(len(a["x"])), range(len(b["x"]))
    return {
        (i, j)
        for i in rows[0]
        for j in rows[1]
        if all(agree(a[name][i], b[name][j], tolerance.get(name)) for name in a)
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "tolerance", [{}, {"x": 0}, {"x": 2}, {"x": 2, "y": 1.5}, {"y": 0.5}, {"sex": 0}], ids=str
)
def test_pairs_are_those_of_brute_force(seed: int, tolerance: dict[str, float]) -> None:
    a, b = table(seed, 40), table(seed + 10, 50)
    if tolerance == {"sex": 0}:
        with pytest.raises(Refused, match=r"attacks\.number"):
            match_rows(read_columns(a), read_columns(b), tolerance)
        return
    if "y" not in tolerance:
        a, b = ({name: values for name, values in table.items() if name != "y"} for table in (a, b))
    result = match_rows(read_columns(a), read_columns(b), tolerance)
    pairs = set(zip(result.left.tolist(), result.right.tolist(), strict=True))
    assert pairs == brute(a, b, tolerance)
    assert len(pairs) == len(result.left)
    assert result.many.tolist() == [sum(i == row for i, _ in pairs) for row in range(40)]
    assert all(result.single[i] == (j if result.many[i] == 1 else -1) for i, j in pairs)


def test_types_may_differ() -> None:
    first, two = shared_codes(read_columns({"a": [1, 2, 3]}), read_columns({"a": ["3", "1"]}), "a")
    assert (first[0] == two[1], first[2] == two[0], first[1] in two) == (True, True, False)
    first, two = shared_codes(read_columns({"a": [1, 2]}), read_columns({"a": ["x", "1"]}), "a")
    assert first[0] == two[1]


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match=r"attacks\.columns"):
        match_rows(read_columns({"a": [1]}), read_columns({"a": [1]}), {"b": 1})
    with pytest.raises(Refused, match=r"number\.not-positive"):
        match_rows(read_columns({"a": [1]}), read_columns({"a": [1]}), {"a": -1})
    monkeypatch.setattr(row_matching, "_MOST", 3)
    with pytest.raises(Refused, match=r"attacks\.matches"):
        match_rows(read_columns({"a": [1, 1]}), read_columns({"a": [1, 1]}), {})
