"""Consistent frequencies: the nearest ones that are frequencies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.local.lib.consistency import CONSISTENT, norm_sub

FREQUENCIES = arrays(
    np.float64, st.integers(1, 12), elements=st.floats(-2, 2, allow_nan=False, width=32)
)


@given(FREQUENCIES)
def test_norm_sub_is_the_projection(frequencies: np.ndarray) -> None:
    projected = norm_sub(frequencies)
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(1, abs=1e-9)
    assert projected == pytest.approx(CONSISTENT["projection"](frequencies), abs=1e-9)


@given(FREQUENCIES, st.integers(0, 11))
def test_no_farther_from_any_truth(frequencies: np.ndarray, corner: int) -> None:
    truth = np.eye(len(frequencies))[corner % len(frequencies)]
    assert ((norm_sub(frequencies) - truth) ** 2).sum() <= ((frequencies - truth) ** 2).sum() + 1e-9


def test_what_is_consistent_stays() -> None:
    assert norm_sub(np.array([0.2, 0.3, 0.5])) == pytest.approx([0.2, 0.3, 0.5])
    assert CONSISTENT["clip"](np.array([-1.0, 0.5, 2.0])).tolist() == [0.0, 0.5, 1.0]
