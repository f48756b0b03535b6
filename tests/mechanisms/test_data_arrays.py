"""Columns of data as arrays of doubles."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.mechanisms.shared.data_arrays import numbers

from ..refusing import refusing


def test_numbers_of_any_kind_become_doubles_and_none_becomes_nan() -> None:
    doubles = numbers([1, None, True, Decimal("0.5"), Fraction(1, 4)])
    assert doubles.dtype == np.float64
    assert np.array_equal(doubles, [1.0, np.nan, 1.0, 0.5, 0.25], equal_nan=True)


@pytest.mark.parametrize("text", ["1", b"1", "Anna"])
def test_text_is_no_number_even_if_it_reads_like_one(text: Any) -> None:
    for column in ([text, None], [text, 10**30], [text]):
        with refusing("value.type") as caught:
            numbers(column)
        assert "Anna" not in str(caught.value)
