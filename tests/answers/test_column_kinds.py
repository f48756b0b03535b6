"""Every kind of column: its value, and its interval over a box, against exact arithmetic and
against the whole law of the noise.
"""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.answers import KINDS, Answer, Column, Noisy
from sfumato.answers.answer_records import Noisy as Piece
from sfumato.answers.quotient_intervals import QuotientNoise
from sfumato.tables.aggregates import KINDS as AGGREGATE_KINDS
from sfumato.tables.aggregates.column_kind import Box

from .examples import BOUNDS, laplace

CONFIDENCE = F(19, 20)


def answer(kind: str, pieces: list[Noisy], **numbers: F) -> Answer:
    groups = tuple((i,) for i in range(len(pieces[0].values)))
    column = Column("x", kind, tuple(range(len(pieces))), "", numbers)
    return Answer(
        keys=("g",), rows=groups, pieces=tuple(pieces), columns=(column,), cost=sf.Pure(1)
    )


def box(low: list[int], high: list[int], step: F) -> Box:
    return Box(np.array(low, dtype=object), np.array(high, dtype=object), step)


def test_the_table_is_complete() -> None:
    assert set(KINDS) == {*AGGREGATE_KINDS, "computed"}


@given(
    s=st.tuples(st.integers(-50, 50), st.integers(0, 30)),
    n=st.tuples(st.integers(-40, 40), st.integers(0, 20)),
    steps=st.tuples(st.sampled_from([F(1), F(1, 4)]), st.sampled_from([F(1), F(2, 3)])),
)
def test_a_ratio_over_a_box(s: tuple[int, int], n: tuple[int, int], steps: tuple[F, F]) -> None:
    """The extremes over the box are attained, and none lies outside; nothing is known where the
    divisor may be zero.
    """
    column = Column("x", "ratio", (0, 1), "", {})
    boxes = [box([s[0]], [s[0] + s[1]], steps[0]), box([n[0]], [n[0] + n[1]], steps[1])]
    ends = [KINDS["ratio"].finish(column.numbers, boxes, side) for side in ("low", "high")]
    if n[0] <= 0 <= n[0] + n[1]:
        assert not any(end.valid for end in ends)
        return
    truths = [
        (a * steps[0]) / (b * steps[1]) for a in (s[0], s[0] + s[1]) for b in (n[0], n[0] + n[1])
    ]
    assert [F(end.ratios.top[0], end.ratios.bottom[0]) for end in ends] == [
        min(truths),
        max(truths),
    ]


def test_a_ratio_without_a_divisor_is_unknown() -> None:
    noise = sf.mechanisms.Laplace(sensitivity=1, scale=1)
    result = answer(
        "ratio", [Noisy("s", [[6], [6], [6]], 1, noise), Noisy("n", [[300], [0], [-2]], 1, noise)]
    )
    assert result["x"][0] == 0.02
    assert np.isnan(result["x"][1])
    low, high = result.interval("x")
    assert -1 < low[0] < 0.02 < high[0] < 1
    assert low[1:].tolist() == [-np.inf, -np.inf]
    assert high[1:].tolist() == [np.inf, np.inf]


@given(
    s=st.tuples(st.integers(-50, 50), st.integers(0, 30)),
    n=st.tuples(st.integers(-5, 40), st.integers(0, 20)),
    steps=st.tuples(
        st.sampled_from([F(1), F(1, 4), F(3, 10)]), st.sampled_from([F(1), F(1, 8), F(2, 3)])
    ),
)
def test_a_mean_over_a_box(s: tuple[int, int], n: tuple[int, int], steps: tuple[F, F]) -> None:
    """The extremes over all integers in the box are attained, and none lies outside."""
    column = Column("x", "mean", (0, 1), "", BOUNDS)
    boxes = [box([s[0]], [s[0] + s[1]], steps[0]), box([n[0]], [n[0] + n[1]], steps[1])]
    if n[0] <= 0:
        assert not KINDS["mean"].finish(column.numbers, boxes, "low").valid
        return
    truths = [
        32 + (a * steps[0]) / (b * steps[1])
        for a in range(s[0], s[0] + s[1] + 1)
        for b in (n[0], n[0] + n[1])
    ]
    for side, extreme in (("low", min(truths)), ("high", max(truths))):
        result = KINDS["mean"].finish(column.numbers, boxes, side)
        assert F(result.ratios.top[0], result.ratios.bottom[0]) == extreme


@given(
    q=st.tuples(st.integers(-20, 400), st.integers(0, 60)),
    s=st.tuples(st.integers(-40, 40), st.integers(0, 20)),
    n=st.tuples(st.integers(1, 40), st.integers(0, 12)),
    steps=st.tuples(
        st.sampled_from([F(1), F(1, 4)]),
        st.sampled_from([F(1), F(3, 10)]),
        st.sampled_from([F(1), F(1, 8)]),
    ),
)
def test_a_variance_over_a_box(
    q: tuple[int, int], s: tuple[int, int], n: tuple[int, int], steps: tuple[F, F, F]
) -> None:
    """No point of the box lies outside, and a point of it (of N between whole numbers, too) attains
    each end.
    """
    column = Column("x", "variance", (0, 1, 2), "", BOUNDS)
    boxes = [box([a], [a + w], step) for (a, w), step in zip((q, s, n), steps, strict=True)]
    ends = {
        side: F(e.ratios.top[0], e.ratios.bottom[0])
        for side in ("low", "high")
        if (e := KINDS["variance"].finish(column.numbers, boxes, side))
    }

    def f(a: int, b: int, c: F) -> F:
        return a * steps[0] / (c * steps[2]) - (b * steps[1] / (c * steps[2])) ** 2

    near = [0] if s[0] <= 0 <= s[0] + s[1] else []
    corners = [
        f(a, b, F(c))
        for a in (q[0], q[0] + q[1])
        for b in (s[0], s[0] + s[1], *near)
        for c in range(n[0], n[0] + n[1] + 1)
    ]
    assert ends["low"] == min(corners)
    assert ends["high"] >= max(corners)
    top, least = q[0] + q[1], min(abs(b) for b in (s[0], s[0] + s[1], *near))
    best = (
        2 * (least * steps[1]) ** 2 / (top * steps[0] * steps[2]) if top > 0 else F(0)
    )  # where N is best, if it lies in the box
    inside = [f(top, least, best)] if n[0] < best < n[0] + n[1] else []
    assert ends["high"] == max([*corners, *inside])


def test_a_deviation_is_the_root_of_a_variance() -> None:
    pieces = [
        Noisy("q", [[4500]], F(1), laplace(5)),
        Noisy("s", [[300]], F(1), laplace(5)),
        Noisy("n", [[100]], F(1), laplace(5)),
    ]
    variance, std = (answer(kind, pieces, **BOUNDS) for kind in ("variance", "std"))
    assert float(variance) == 36
    assert float(std) == 6
    low, high = variance.interval("x")
    below, above = std.interval("x")
    assert below[0] == pytest.approx(low[0] ** 0.5, rel=1e-14)
    assert above[0] == pytest.approx(high[0] ** 0.5, rel=1e-14)
    assert F(below[0]) ** 2 <= F(low[0]) or F(below[0]) ** 2 == pytest.approx(low[0], rel=1e-15)


@pytest.mark.parametrize(
    ("kind", "limits"),
    [("mean", (0, 64)), ("variance", (0, 32**2)), ("std", (0, 32)), ("quantile", (0, 64))],
)
def test_limits(kind: str, limits: tuple[int, int]) -> None:
    column = Column("x", kind, (), "", BOUNDS)
    assert KINDS[kind].limits(column.numbers) == limits
    rounded = Column("x", kind, (), "", {**BOUNDS, "slack": F(1, 2)})
    assert KINDS[kind].limits(rounded.numbers) == limits  # the ends are on the grid


def test_slack_widens_both_ends() -> None:
    pieces = [Noisy("s", [[0]], F(1), laplace(5)), Noisy("n", [[1000]], F(1), laplace(5))]
    plain, loose = (
        answer("mean", pieces, **BOUNDS, **more).interval("x") for more in ({}, {"slack": F(1, 4)})
    )
    assert loose[0][0] == pytest.approx(plain[0][0] - 0.25)
    assert loose[1][0] == pytest.approx(plain[1][0] + 0.25)


@pytest.mark.parametrize("rows", [-3, 0])
@pytest.mark.parametrize(
    ("kind", "middle", "limits"),
    [("mean", 32, (0, 64)), ("variance", 512, (0, 1024)), ("std", 16, (0, 32))],
)
def test_nothing_is_known_where_there_may_be_no_row(
    kind: str, middle: float, limits: tuple[float, float], rows: int
) -> None:
    pieces = [
        Noisy(str(i), [[v]], F(1), laplace(5))
        for i, v in enumerate([4000, -70, rows][-KINDS[kind].pieces :])
    ]
    given_ = answer(kind, pieces, **BOUNDS)
    assert float(given_) == middle
    assert tuple(end[0] for end in given_.interval("x")) == limits


def test_a_count_that_may_be_zero_leaves_the_mean_open_though_it_has_a_value() -> None:
    given_ = answer(
        "mean",
        [Noisy("s", [[-70]], F(1), laplace(5)), Noisy("n", [[10]], F(1), laplace(50))],
        **BOUNDS,
    )
    assert float(given_) == 25
    assert [end[0] for end in given_.interval("x")] == [0, 64]


def test_values_are_cut_to_what_is_possible_but_counts_are_not() -> None:
    assert (
        float(
            answer(
                "mean",
                [Noisy("s", [[10**6]], F(1), laplace(5)), Noisy("n", [[10]], F(1), laplace(1))],
                **BOUNDS,
            )
        )
        == 64
    )
    assert float(answer("count", [Noisy("n", [[-12]], F(1, 4), laplace(5))])) == -3


# Coverage, by summing the exact law of the noise: not one draw is made. Each group of the answer is
# one outcome of the noise.
SCALES = {
    "count": (6,),
    "sum": (6,),
    "mean": (3, 2),
    "variance": (1, F(4, 5), F(1, 2)),
    "std": (1, F(4, 5), F(1, 2)),
}
TRUTHS = {
    "count": [(40,)],
    "sum": [(-7,)],
    "mean": [(60, 20), (-200, 12), (-31 * 9, 9), (0, 8), (3, 1)],
    "variance": [(900, 60, 12), (2000, -100, 6), (9, 3, 1)],
    "std": [(900, 60, 12), (30, 4, 12)],
}


def value(kind: str, truth: tuple[int, ...]) -> float:
    if kind in ("count", "sum"):
        return truth[0]
    if kind == "mean":
        return 32 + truth[0] / truth[1]
    variance = truth[0] / truth[2] - (truth[1] / truth[2]) ** 2
    return variance if kind == "variance" else variance**0.5


def coverage(kind: str, truth: tuple[int, ...]) -> float:
    mechanisms = [laplace(scale) for scale in SCALES[kind]]
    reach = [m.law.half_width(1 - F(1, 10**5)) for m in mechanisms]
    noise = np.array(list(itertools.product(*(range(-r, r + 1) for r in reach))))
    chance = np.prod([m.probability(noise[:, i]) for i, m in enumerate(mechanisms)], axis=0)
    pieces = [
        Noisy(str(i), (noise[:, i : i + 1] + truth[i]).astype(np.int64), F(1), m)
        for i, m in enumerate(mechanisms)
    ]
    low, high = answer(kind, pieces, **BOUNDS).interval("x", CONFIDENCE)
    exact = value(kind, truth)
    return float(chance[(low <= exact) & (exact <= high)].sum())


CASES = [(kind, truth) for kind, truths in TRUTHS.items() for truth in truths]


@pytest.mark.parametrize(("kind", "truth"), CASES, ids=str)
def test_intervals_hold_as_often_as_they_say(kind: str, truth: tuple[int, ...]) -> None:
    assert coverage(kind, truth) >= CONFIDENCE - F(
        1, 10**4
    )  # what lies beyond the sum is not counted


@pytest.mark.parametrize(
    ("kind", "truth"), [("count", (40,)), ("mean", (60, 20)), ("variance", (900, 60, 12))], ids=str
)
def test_narrower_boxes_would_be_seen(
    kind: str, truth: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact, exact_bound = Piece.half_width, QuotientNoise.bound

    def narrow(piece: Any, confidence: F, values: int = 1) -> int:
        return exact(piece, confidence, values) // 3

    def narrow_bound(noise: QuotientNoise, first: Any, last: Any) -> float:
        return exact_bound(noise, first, last) / 3  # above the cache, which stays exact

    monkeypatch.setattr(Piece, "half_width", narrow)
    monkeypatch.setattr(QuotientNoise, "bound", narrow_bound)
    assert coverage(kind, truth) < CONFIDENCE
