"""Counts that decided whether they are shown: the coverage of their intervals, given that they are
shown, by arithmetic for every true count; and the twin that forgets the condition.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato import mechanisms as mech
from sfumato.answers.answer import Answer
from sfumato.answers.answer_records import Column, Noisy, Weighing
from sfumato.answers.intervals import has_interval
from sfumato.answers.proportions import withheld_share
from sfumato.answers.shown_counts import averages_such, decided_itself, lower_widths
from sfumato.guarantees import Approx

LEVEL = Fraction(19, 20)
CASES = {
    "Laplace": mech.CountThreshold(
        noise=mech.Laplace(sensitivity=4, epsilon=1), delta="1e-6", total=4, most=4
    ),
    "Gaussian": mech.CountThreshold(
        noise=mech.Gaussian(sensitivity=4, mu="0.8"), delta="1e-6", total=16
    ),
}


def piece(m: mech.CountThreshold, values: Any) -> Noisy:
    return Noisy("count", np.array(values, dtype=np.int64).reshape(-1, 1), 1, m)


def shown_values(m: mech.CountThreshold, count: int) -> tuple[Any, Any]:
    """The values that a group of this count may be shown with, and their chances given that."""
    far = m.law.half_width(Fraction(10**9 - 1, 10**9))
    values = np.arange(max(m.threshold, count - far), max(m.threshold, count) + far)
    chances = np.array(m.law.pmf(values - count)) / m.law.tail(m.threshold - count)
    return values, chances


@pytest.mark.parametrize("missing", [Fraction(1, 20), Fraction(1, 2), Fraction(1, 1000)])
@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_given_that_the_count_is_shown(name: str, missing: Fraction) -> None:
    m = CASES[name]
    half = m.law.half_width(1 - missing)
    naive = 1.0
    for count in (1, m.threshold // 2, *range(m.threshold - 12, m.threshold + 40, 4)):
        values, chances = shown_values(m, count)
        ends = values - lower_widths(piece(m, values), values, missing).astype(np.int64)
        covered = float(chances[(ends <= count) & (count <= values + half)].sum())
        assert covered >= 1 - missing - 1e-8, count
        naive = min(naive, float(chances[abs(values - count) <= half].sum()))
    assert naive < 0.7 * float(1 - missing)  # the twin: the interval without the condition


@pytest.mark.parametrize("name", CASES)
def test_ends_are_no_farther_than_they_have_to_be(name: str) -> None:
    """Far above the threshold the interval is the usual one; near to it, it begins at 0."""
    m, missing = CASES[name], 1 - LEVEL
    half = m.law.half_width(LEVEL)
    values = np.array([m.threshold, m.threshold + 5 * half, m.threshold + 500 * half])
    near, far, farther = lower_widths(piece(m, values), values, missing)
    assert half <= far <= half + 1
    assert farther == far
    assert near > 2 * half
    assert name == "Gaussian" or near == m.threshold


def answer_of(m: mech.CountThreshold, values: list[int]) -> Answer:
    total = Noisy("total", [[1000]], 1, mech.Laplace(sensitivity=1, epsilon=1))
    cost = Approx(1, "1e-6")
    return Answer(
        keys=("g",),
        rows=tuple((f"g{i}",) for i in range(len(values))),
        pieces=(piece(m, values), total),
        columns=(Column("n", "count", (0,)),),
        cost=cost,
        promise=cost,
        receipts=(),
        rules=(),
        facts={},
        weighing=Weighing("part", 4, 4, 0),
        complete=False,
    )


def test_an_answer_uses_them() -> None:
    m = CASES["Laplace"]
    answer = answer_of(m, [m.threshold, 900])
    low, high = answer.interval("n")
    half = m.law.half_width(LEVEL)
    assert decided_itself(answer.pieces[0])
    assert (low[0], high[0]) == (0, m.threshold + half)
    assert high[1] - 900 == half <= 900 - low[1] <= half + 1
    again = Answer.from_json(answer.to_json())
    assert [end.tolist() for end in again.interval("n")] == [low.tolist(), high.tolist()]
    share = withheld_share(answer)
    assert share is not None
    assert share.high > (1000 - 900) / 1000  # the first group may hold next to nothing


def test_an_average_has_no_interval() -> None:
    m = CASES["Laplace"]
    from sfumato.answers.merge import _average_pieces

    average = _average_pieces([piece(m, [900]), piece(m, [910])], None, [1, 1])
    assert averages_such(average)
    assert average.among is None
    answer = answer_of(m, [900])
    assert has_interval(answer, answer.columns[0])
