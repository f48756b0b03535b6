"""Whatever a function does, finite numbers of the stated form come out, and nothing else does."""

from __future__ import annotations

import math
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato.errors import Refused
from sfumato.functions.completed import completed, form_of, values_of


def raises(error: BaseException) -> Any:
    def f(data: Any) -> Any:
        raise error

    return f


ONE = form_of()
BOUNDED = form_of(bounds=(0, 10))
THREE = form_of(size=3, default=7)


@pytest.mark.parametrize(
    ("found", "plain", "bounded"),
    [
        (0.5, 0.5, 0.5),
        (3, 3.0, 3.0),
        (True, 1.0, 1.0),
        (-4.0, -4.0, 0.0),
        (1e300, 1e300, 10.0),
        (math.nan, 0.0, 5.0),
        (math.inf, 0.0, 10.0),
        (-math.inf, 0.0, 0.0),
        (np.float64(2.5), 2.5, 2.5),
        (np.float32(2.5), 2.5, 2.5),
        (np.array(2.5), 2.5, 2.5),
        (np.int64(4), 4.0, 4.0),
        ("3", 0.0, 5.0),
        (None, 0.0, 5.0),
        ([1, 2], 0.0, 5.0),
        (10**400, 0.0, 5.0),
        (3j, 0.0, 5.0),
    ],
    ids=repr,
)
def test_one_number(found: Any, plain: float, bounded: float) -> None:
    for form, expected in ((ONE, plain), (BOUNDED, bounded)):
        value = completed(lambda _: found, None, form)
        assert type(value) is float or isinstance(value, np.floating)
        assert value == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ((1.5, math.nan, math.inf), [1.5, 7, 7]),
        (pd.Series([1.0, None, 3.0]), [1, 7, 3]),
        (pl.Series([1.0, None, 3.0]), [1, 7, 3]),
        (np.arange(3, dtype=np.uint8), [0, 1, 2]),
        ([1, 2], [7, 7, 7]),
        ([[1, 2, 3]], [7, 7, 7]),
        (5, [7, 7, 7]),
        ("abc", [7, 7, 7]),
        ([1, [2], 3], [7, 7, 7]),
        ([{}, {}, {}], [7, 7, 7]),
    ],
    ids=lambda v: type(v).__name__,
)
def test_an_array(found: Any, expected: list[float]) -> None:
    value = completed(lambda _: found, None, THREE)
    assert value.dtype == np.float64
    assert value.tolist() == expected


def test_whole_numbers() -> None:
    from dataclasses import replace

    one, three = replace(ONE, whole=True), replace(THREE, whole=True)
    assert completed(lambda _: 2.5, None, one) == 3
    assert type(completed(lambda _: 41, None, one)) is int
    assert completed(lambda _: [0.5, -0.5, 1e30], None, three).tolist() == [1, 0, 2**62]
    assert completed(raises(ValueError()), None, three).dtype == np.int64


@pytest.mark.parametrize(
    "error", [ValueError("17 patients"), MemoryError(), RecursionError(), SystemExit(3), StopIteration(), GeneratorExit()], ids=lambda e: type(e).__name__
)
def test_what_it_raises_does_not_come_out(error: BaseException) -> None:
    assert completed(raises(error), None, BOUNDED) == 5.0
    assert completed(raises(error), None, THREE).tolist() == [7, 7, 7]


def test_the_callers_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        completed(raises(KeyboardInterrupt("17 patients")), None, ONE)


def test_warnings_are_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    """In this suite a warning is an error; in a notebook it would be text. Here it is neither, and afterwards all is as it was."""

    def f(data: Any) -> Any:
        warnings.warn("17 patients", stacklevel=2)
        warnings.simplefilter("error")
        return np.mean([]) + np.array([1.0])[0] / np.array([0.0])[0]

    before = list(warnings.filters)
    assert completed(f, None, ONE) == 0.0
    assert list(warnings.filters) == before
    assert capfd.readouterr() == ("", "")
    assert completed(lambda _: warnings.warn("x", stacklevel=2) or 4.0, None, ONE) == 4.0  # type: ignore[func-returns-value]


def test_an_audit_of_what_leaves() -> None:
    """A function that fails on some data and not on others gives values of the same type and shape, and leaves no trace of the error."""
    values = [completed(lambda d: 1 / d, d, ONE) for d in (0.0, 4.0)]
    assert [type(v) for v in values] == [float, float]
    assert sys.exc_info() == (None, None, None)
    assert threading.active_count() >= 1


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ({"size": 3, "shape": (3,)}, "privatize.shape"),
        ({"size": 0}, "mechanism.size"),
        ({"shape": (2, -1)}, "mechanism.size"),
        ({"bounds": (1, 1)}, "privatize.bounds"),
        ({"bounds": (0, math.inf)}, "number.not-finite"),
        ({"default": math.nan}, "number.not-finite"),
    ],
    ids=repr,
)
def test_refusals(stated: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as caught:
        form_of(**stated)
    assert caught.value.code == code


def test_forms() -> None:
    assert form_of(shape=(2, 3)).size == 6
    assert form_of(shape=()).shape == ()
    assert form_of(bounds=(0, 1), default=9).default == 1.0
    assert form_of(bounds=("1/4", 1)).default == 0.625


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
    ],
    ids=["list", "floats", "integers", "pandas", "polars", "text", "empty"],
)
def test_each_record_by_itself(data: Any, expected: list[float]) -> None:
    """So that one strange record changes one value, and not all of them."""
    assert values_of(data, -9.0).tolist() == expected
