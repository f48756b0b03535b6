"""Whatever a function does, finite numbers of the stated form come out, and nothing else does."""

from __future__ import annotations

import math
import sys
import threading
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato.errors import Refused
from sfumato.functions.guarded_call import call_guarded, form_of
from sfumato.functions.privatize import NoiseRequest, NoiseSetup, prepare
from sfumato.sensitivity import Global


def raises(error: BaseException) -> Any:
    def f(data: Any) -> Any:
        raise error

    return f


ONE = form_of()
BOUNDED = form_of(bounds=(0, 10))
THREE = form_of(size=3, default=7)


@pytest.mark.parametrize(
    ("output", "plain", "bounded"),
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
        (3j, 0.0, 5.0),
    ],
    ids=repr,
)
def test_one_number(output: Any, plain: float, bounded: float) -> None:
    for form, expected in ((ONE, plain), (BOUNDED, bounded)):
        value = call_guarded(lambda _: output, None, form)
        assert type(value) is float or isinstance(value, np.floating)
        assert value == expected


@pytest.mark.parametrize(
    ("output", "expected"),
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
def test_an_array(output: Any, expected: list[float]) -> None:
    value = call_guarded(lambda _: output, None, THREE)
    assert value.dtype == np.float64
    assert value.tolist() == expected


def test_whole_numbers() -> None:
    single, three = replace(ONE, integer_valued=True), replace(THREE, integer_valued=True)
    assert call_guarded(lambda _: 2.5, None, single) == 3
    assert type(call_guarded(lambda _: 41, None, single)) is int
    assert call_guarded(lambda _: [0.5, -0.5, 1e30], None, three).tolist() == [1, 0, 2**62]
    assert call_guarded(raises(ValueError()), None, three).dtype == np.int64


@pytest.mark.parametrize(
    "error",
    [
        ValueError("17 patients"),
        MemoryError(),
        RecursionError(),
        SystemExit(3),
        StopIteration(),
        GeneratorExit(),
    ],
    ids=lambda e: type(e).__name__,
)
def test_what_it_raises_does_not_come_out(error: BaseException) -> None:
    assert call_guarded(raises(error), None, BOUNDED) == 5.0
    assert call_guarded(raises(error), None, THREE).tolist() == [7, 7, 7]


def test_the_callers_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        call_guarded(raises(KeyboardInterrupt("17 patients")), None, ONE)


def test_warnings_are_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    """In this suite a warning is an error; in a notebook it would be text. Here it is neither, and
    afterwards all is as it was.
    """

    def f(data: Any) -> Any:
        warnings.warn("17 patients", stacklevel=2)
        warnings.simplefilter("error")
        return np.mean([]) + np.array([1.0])[0] / np.array([0.0])[0]

    before = list(warnings.filters)
    assert call_guarded(f, None, ONE) == 0.0
    assert list(warnings.filters) == before
    assert capfd.readouterr() == ("", "")

    def warns(_: Any) -> float:
        warnings.warn("x", stacklevel=2)
        return 4.0

    assert call_guarded(warns, None, ONE) == 4.0


def test_an_audit_of_what_leaves() -> None:
    """A function that fails on some data and not on others gives values of the same type and shape,
    and leaves no trace of the error.
    """
    values = [call_guarded(lambda d: 1 / d, d, ONE) for d in (0.0, 4.0)]
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
    "noise",
    [
        prepare(NoiseRequest(Global(1, integer_valued=True), 1)),
        prepare(NoiseRequest(1, 1, grid=1)),
        prepare(NoiseRequest(1, 1, grid=8)),
    ],
    ids=["whole", "grid 1", "grid 8"],
)
@pytest.mark.parametrize("kind", [int, np.int64, np.array], ids=["int", "int64", "0-d"])
@pytest.mark.parametrize("start", [2**53, 2**60 + 128, -(2**60) - 128])
def test_an_integer_is_not_made_a_double(noise: NoiseSetup, kind: Any, start: int) -> None:
    """Doubles from 2^53 on are further apart than 1: a record more would move the count by a whole
    gap, or by nothing.
    """
    before, after = (
        call_guarded(lambda d: kind(start + len(d)), [0] * k, noise.form) for k in (0, 1)
    )
    assert (before, after) == (start, start + 1)


@pytest.mark.parametrize("integer_valued", [True, False])
@pytest.mark.parametrize(
    "output",
    [
        [2**60 + 129, 0],
        np.array([2**60 + 129, 0]),
        np.array([2**60 + 129, 0], dtype=np.uint64),
        np.array([2**60 + 129, 0], dtype=object),
    ],
    ids=repr,
)
def test_nor_are_those_of_an_array(output: Any, integer_valued: bool) -> None:
    grid = None if integer_valued else 1
    prepared = prepare(
        NoiseRequest(Global(l1=1, integer_valued=integer_valued), 1, size=2, grid=grid)
    )
    value = call_guarded(lambda _: output, None, prepared.form)
    assert [int(v) for v in value] == [2**60 + 129, 0]
    assert prepared.noise.perturb(value).dtype == (np.int64 if integer_valued else np.float64)


def test_integers_are_clipped_as_integers() -> None:
    """A value is clipped alike whatever stands beside it, so that one coordinate does not move
    another.
    """
    form = form_of(size=3, bounds=("1/2", 2**61))
    for third, clipped in ((2**60 + 1, 2**60 + 1), (2**62, 2**61), (7, 7)):
        for output in ([0, 5, third], np.array([0, 5, third]), [0.0, 5.0, third]):
            assert list(call_guarded(lambda _, output=output: output, None, form)) == [
                0.5,
                5,
                clipped,
            ]
    assert (
        call_guarded(lambda _: 10**400, None, ONE) == 10**400
    )  # which perturb clamps to the end of the grid
    square = form_of(shape=(2, 2))
    assert call_guarded(lambda _: [[1, 2], [3, 2**60 + 1]], None, square) == [
        [1, 2],
        [3, 2**60 + 1],
    ]


def test_whole_numbers_of_fractions() -> None:
    form = replace(ONE, integer_valued=True)
    assert call_guarded(lambda _: Fraction(2**61 + 1, 2), None, form) == 2**60 + 1
    assert call_guarded(
        lambda _: np.array([2**62 + 5, -(2**63), 7]), None, replace(THREE, integer_valued=True)
    ).tolist() == [2**62, -(2**62), 7]
    assert call_guarded(
        lambda _: [9, -9, 1], None, replace(form_of(size=3, bounds=("0.5", 4)), integer_valued=True)
    ).tolist() == [4, 1, 1]
    assert call_guarded(
        lambda _: np.array([9, -9, 1]),
        None,
        replace(form_of(size=3, bounds=("0.5", 4)), integer_valued=True),
    ).tolist() == [4, 1, 1]
