"""Records are read one by one: a strange one changes itself, and nothing else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato import mechanisms as mech
from sfumato.errors import Failed, Refused
from sfumato.functions.record_loop import (
    check_one_column,
    flags_of,
    labels_of,
    perturb_guarded,
    values_of,
)
from sfumato.noise.bits import SYSTEM


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([1, 2.5, None, "7", math.nan, math.inf, 10**400, {}], [1, 2.5, -9, -9, -9, 1e300, -9, -9]),
        (np.array([1.0, math.nan, -math.inf]), [1, -9, -1e300]),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (pd.Series([1, None, 3], dtype="Int64"), [1, -9, 3]),
        (pl.Series([1.5, None]), [1.5, -9]),
        (pd.Series(["a", "1"]), [-9, -9]),
        ([], []),
        ([[1, 2], [3, 4]], [-9, -9]),
        (
            [[1, 2], 5, (6,), np.array([7]), b"8", 1j, np.complex128(1j)],
            [-9, 5, -9, -9, -9, -9, -9],
        ),
        (np.array([[1], [2]]), [1, 2]),
        (np.ones((3, 2)), [-9, -9, -9]),
    ],
    ids=[
        "list",
        "floats",
        "integers",
        "pandas",
        "polars",
        "text",
        "empty",
        "rows",
        "strange",
        "a column",
        "columns",
    ],
)
def test_each_record_by_itself(data: Any, expected: list[float]) -> None:
    """So that one strange record changes one value, and not all of them."""
    assert values_of(data, -9.0).tolist() == expected


def test_yes_and_no() -> None:
    assert flags_of([1, 0, "x", None, [], np.array([1, 2]), math.nan]).tolist() == [
        True,
        False,
        True,
        False,
        False,
        False,
        True,
    ]
    assert flags_of(np.array([0, 3])).tolist() == [False, True]
    assert flags_of(np.array([True, None], dtype=object)).tolist() == [True, False]
    assert flags_of(np.ones((2, 2))).tolist() == [False, False]


def test_labels() -> None:
    """A tuple that holds a list cannot be hashed: it is no category, and the rest are counted."""
    assert labels_of(["a", ([],), "b", {}]) == ["a", "b"]
    assert labels_of(np.array(["a", "b"])) == ["a", "b"]
    assert labels_of(np.array([["a", "b"]])) == []
    assert labels_of(pd.Series(["a", "b"])) == ["a", "b"]


def test_what_is_raised_says_nothing() -> None:
    class Broken(mech.InverseSensitivity):
        def perturb(self, data: Any, **_: Any) -> Any:
            raise ValueError("17 patients")

    with pytest.raises(Failed) as caught:
        perturb_guarded(Broken("median", low=0, high=1, epsilon=1), [1], SYSTEM, None)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "data",
    [np.ones((3, 2)), np.array(5), pd.DataFrame({"x": [1], "y": [2]})],
    ids=["columns", "none", "frame"],
)
def test_several_values_in_a_record_are_refused_by_the_public_shape(data: Any) -> None:
    with pytest.raises(Refused) as caught:
        check_one_column(data)
    assert caught.value.code == "privatize.shape"
    for fine in ([[1, 2]], np.ones(3), np.ones((3, 1)), pd.Series([1])):
        check_one_column(fine)
