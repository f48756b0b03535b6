"""Pairs of neighbours of every kind of dataset: they share all records but one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato.errors import Refused
from sfumato.sensitivity.neighbours import concatenate, count, pair, take_rows


class Numbers:
    """Draws the next numbers, so that every record is different."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.next = kind, 0
        self.requests: list[int] = []

    def __call__(self, n: int) -> Any:
        self.requests.append(n)
        self.next += n
        return self.kind(range(self.next - n, self.next))


KINDS: dict[str, tuple[Any, Any]] = {
    "list": (list, list),
    "tuple": (tuple, list),
    "array": (lambda r: np.array(r, dtype=float), lambda d: d.tolist()),
    "matrix": (lambda r: np.array([[i, -i] for i in r]), lambda d: d[:, 0].tolist()),
    "strings": (lambda r: [f"n{i}" for i in r], list),
    "columns": (lambda r: {"x": np.array(r), "y": [str(i) for i in r]}, lambda d: d["x"].tolist()),
    "pandas": (lambda r: pd.DataFrame({"x": list(r), "y": "a"}), lambda d: d["x"].tolist()),
    "pandas series": (lambda r: pd.Series(list(r)), lambda d: d.tolist()),
    "polars": (lambda r: pl.DataFrame({"x": list(r), "y": "a"}), lambda d: d["x"].to_list()),
    "polars series": (lambda r: pl.Series(list(r)), lambda d: d.to_list()),
}


@pytest.mark.parametrize("apart", [False, True], ids=["together", "apart"])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_but_one(kind: str, relation: str, apart: bool) -> None:
    make, records = KINDS[kind]
    oracle = Numbers(make)
    a, b = pair(oracle, 5, relation, apart=apart)
    assert type(a) is type(b) is type(make(range(1)))
    assert count(a) == 5
    assert count(b) == (5 if relation == "replace" else 4)
    shared = Counter(records(a)) & Counter(records(b))
    assert shared.total() == 4
    assert oracle.requests == ([4, 1, 1] if apart else [6] if relation == "replace" else [5])


def test_of_one_record() -> None:
    a, b = pair(Numbers(list), 1, "replace")
    assert (a, b) == ([0], [1])
    assert pair(Numbers(list), 1, "add-remove") == ([0], [])


def test_taken_and_joined() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3]})
    assert take_rows(frame, np.array([2, 0]))["x"].to_list() == [3, 1]
    assert concatenate({"x": [1]}, {"x": [2]}) == {"x": [1, 2]}


@pytest.mark.parametrize(
    "oracle",
    [lambda n: [0] * (n + 1), lambda n: 7, lambda n: None],
    ids=["too many", "a number", "nothing"],
)
def test_an_oracle_that_does_not_draw_what_it_is_asked_for(oracle: Any) -> None:
    with pytest.raises(Refused) as caught:
        pair(oracle, 3, "replace")
    assert caught.value.code == "sensitivity.oracle"
