"""Operations over ranges of groups."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.answers.group_frames import FRAME_OPERATIONS, Frames

ORDER = np.array([2, 0, 1])
FRAMES = Frames(ORDER, np.array([0, 0, 1, 2]), np.array([1, 3, 3, 2]))


@pytest.mark.parametrize(
    ("op", "values", "result"),
    [
        ("sum_over", [1, 2, 4], [4, 7, 3, np.nan]),
        ("sum_over", [1, np.nan, 4], [4, 5, 1, np.nan]),
        ("sum_over", [1, np.inf, 4], [4, np.inf, np.inf, np.nan]),
        ("mean_over", [1, np.nan, 4], [4, 2.5, 1, np.nan]),
        ("count_over", [1, np.nan, 4], [1, 2, 1, 0]),
        ("min_over", [1, 2, 4], [4, 1, 1, np.nan]),
        ("max_over", [1, np.nan, 4], [4, 4, 1, np.nan]),
        ("pick", [1, 2, 4], [4, 4, 1, np.nan]),
    ],
)
def test_operations(op: str, values: list[float], result: list[float]) -> None:
    computed = FRAME_OPERATIONS[op](np.array(values, dtype=float), FRAMES)
    np.testing.assert_array_equal(computed, np.array(result, dtype=float))


def test_groups_are_counted_without_values() -> None:
    assert FRAME_OPERATIONS["count_over"](None, FRAMES).tolist() == [1, 3, 2, 0]


def test_no_group() -> None:
    none = np.zeros(0, dtype=np.int64)
    frames = Frames(none, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    for op in ("sum_over", "mean_over", "min_over", "pick"):
        assert np.isnan(FRAME_OPERATIONS[op](np.zeros(0), frames)).all()


@pytest.mark.parametrize(
    ("order", "start", "end"),
    [
        ([0, 0], [0], [1]),
        ([0, 2], [0], [1]),
        ([0, 1], [-1], [1]),
        ([0, 1], [1], [0]),
        ([0, 1], [0], [3]),
        ([0, 1], [0, 1], [1]),
    ],
)
def test_ranges_that_do_not_fit_are_refused(
    order: list[int], start: list[int], end: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        Frames(np.array(order), np.array(start), np.array(end))
