"""Correlations: over a box, of data with nulls, of neighbours, and as often as their intervals say.

*False alarms*  A simulated interval fails here with a chance below 10⁻⁹, as in `test_statements`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import Refused
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates import KINDS
from sfumato.tables.aggregates.column_kind import Box

from ..answers.simulation import each, tried
from ..answers.test_statements import seldom
from .paired import (
    correlation,
    data,
    end,
    movement,
    pairs_of,
    protected,
    without_noise,
    wrong_finish,
)
from .worlds import Bench

KIND = KINDS["correlation"]
ONES = [F(1)] * 6


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=12)


@given(pairs=points, widths=st.lists(st.integers(0, 6), min_size=6, max_size=6), data=st.data())
def test_the_truth_lies_between_the_ends(
    pairs: list[tuple[int, int]], widths: list[int], data: Any
) -> None:
    """Whatever the noise did within its half-widths, the correlation of the rows is inside."""
    truth = [
        sum(x * y for x, y in pairs),
        sum(x for x, _ in pairs),
        sum(y for _, y in pairs),
        sum(x * x for x, _ in pairs),
        sum(y * y for _, y in pairs),
        len(pairs),
    ]
    exact = [(F(x), F(y)) for x, y in pairs]
    assume(len({x for x, _ in pairs}) > 1)
    assume(len({y for _, y in pairs}) > 1)
    spans = [
        (value - data.draw(st.integers(0, width)), width)
        for value, width in zip(truth, widths, strict=True)
    ]
    low, high = (end(KIND, spans, ONES, side) for side in ("low", "high"))
    value = correlation(exact)
    assert low is None or float(low) <= value + 1e-12
    assert high is None or value - 1e-12 <= float(high)
    point = end(KIND, [(number, 0) for number in truth], ONES, "low")
    assert point is not None
    assert math.isclose(float(point), value, rel_tol=1e-12, abs_tol=1e-12)


def test_nothing_is_known_of_a_column_that_may_be_constant() -> None:
    spans = [(0, 9), (0, 9), (0, 9), (-1, 9), (50, 9), (10, 2)]
    assert end(KIND, spans, ONES, "low") is None
    assert end(KIND, spans, ONES, "high") is None
    assert KIND.limits({}) == (-1, 1)
    frame = pd.DataFrame({"x": [3] * 50, "y": list(range(-4, 6)) * 5}).astype("Int64")
    table = protected(frame)
    answer = table.sql("SELECT CORR(x, y) AS r FROM t", epsilon=100)
    assert [float(ends[0]) for ends in answer.interval("r")] == [-1, 1]
    assert without_noise(table, "SELECT CORR(x, y) AS r FROM t")["r"][0] == 0


def test_slack_widens_the_three_parts() -> None:
    spans = [(-300, 4), (3, 0), (4, 0), (500, 2), (400, 2), (20, 0)]
    slack = {"slack_product": F(1, 10), "slack_first": F(1, 5), "slack_second": F(1, 5)}
    plain = [end(KIND, spans, ONES, side) for side in ("low", "high")]
    loose = [end(KIND, spans, ONES, side, **slack) for side in ("low", "high")]
    assert None not in (*plain, *loose)
    assert F(-1) < loose[0] < plain[0] < plain[1] < loose[1]  # type: ignore[operator]  # not None


def test_the_value_is_that_of_the_clipped_rows() -> None:
    frame = data()
    answer = without_noise(
        protected(frame),
        "SELECT CORR(x, y) AS r, CORR(x, y) FILTER (WHERE z < 30) AS f FROM t",
    )
    assert answer["r"][0] == pytest.approx(correlation(pairs_of(frame)), rel=1e-12)
    assert answer["f"][0] == pytest.approx(correlation(pairs_of(frame[frame["z"] < 30])), rel=1e-12)


def test_a_column_beside_itself_is_refused() -> None:
    table = protected(data())
    for call, rewrite in (
        ("CORR(x, x)", "VAR_POP(x)"),
        ("COVAR_POP(x + 0, x + 0)", "VAR_POP(x + 0)"),
    ):
        with pytest.raises(Refused) as caught:
            table.plan(f"SELECT {call} AS r FROM t", epsilon=1)
        assert caught.value.code == "aggregate.pair"
        assert caught.value.rewrite == f"SELECT {rewrite} AS r FROM t"


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("cells", [{"c": 10, "v0": 5.0}, {"c": -(10**9), "v0": 1e300}])
def test_neighbours_move_no_farther_than_declared(
    relation: str, cells: dict[str, Any], bench: Bench
) -> None:
    for rows in (1, 2, 5):
        change = movement(bench, ag.corr("c", "v0"), [cells] * rows, relation=relation)
        assert not change.wrong
        if relation == "add-remove" and rows > 1:
            assert change.most > F(9, 10)


def test_intervals_hold_and_a_wrong_formula_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin takes the squares of the second column for a tenth of what they are."""
    for held in tried("laplace", {"k": each("k")}, 60).values():
        assert not seldom(list(held))

    def shrink(boxes: list[Box]) -> list[Box]:
        return [*boxes[:4], boxes[4]._replace(step=boxes[4].step / 10), boxes[5]]

    def check(world: Any, answer: Any) -> list[bool]:
        exact = world.exact("k")
        with monkeypatch.context() as patch:
            wrong = replace(KIND, finish=wrong_finish(KIND, shrink), limits=lambda _: (F(-9), F(9)))
            patch.setitem(KINDS, KIND.name, wrong)
            values = np.array(answer["k"])
            truth = np.array([exact[group] for group in answer.rows])
            low, high = answer.interval("k")
            assert np.isfinite(values).all()
            return list((low <= truth) & (truth <= high))

    for held in tried("laplace", {"k": check}, 60).values():
        assert seldom(list(held))


def test_a_value_lies_inside_its_interval() -> None:
    """Also where a released variance is below 0: the value is then the limit on the side of the
    covariance, and not the middle of all that is possible.
    """
    half = (100_000, 100, 100, 200_000, 200_000, 10)
    for sign in (-1, 0, 1):
        centre = (sign * 1_400_000, 0, 0, -1_000, 10_000_000, 4_000)
        at, around = (
            [
                Box(np.array([c - w], dtype=object), np.array([c + w], dtype=object), F(1))
                for c, w in zip(centre, widths, strict=True)
            ]
            for widths in ((0,) * 6, half)
        )
        value, valid = KINDS["correlation"].finish({}, at, "low")
        assert valid is not None
        assert valid.all()
        number = max(-1, min(1, value.top[0] / value.bottom[0]))
        assert number == sign
        ends = []
        for side, limit in (("low", -1), ("high", 1)):
            (top, bottom), valid = KINDS["correlation"].finish({}, around, side)
            assert valid is not None
            ends.append(max(-1, min(1, top[0] / bottom[0])) if valid[0] else limit)
        assert ends[0] <= number <= ends[1]
        assert sign != 1 or ends[0] > 0.9, "the covariance alone says so"


def test_a_clipped_share_is_said_of_its_column() -> None:
    """And not of the product, which clips the same column."""
    frame = pd.DataFrame({"u": range(1000), "age": [70] * 300 + [30] * 700, "w": [1, 2] * 500})
    bounds = {"age": (18, 60), "w": (0, 4)}
    table = sf.protect(frame, name="t", unit="u", max_rows=1, bounds=bounds, budget=1000)
    answer = table.sql("SELECT CORR(age, w) AS r, AVG(age) AS s FROM t", epsilon=500)
    text = answer.explain(width=1000)
    pattern = r"about (29|30)\.\S* % ± \S* % of rows lie above the bounds of age \[18, 60\]"
    assert re.search(pattern, text), "± 1 but for e^-50"
    assert not re.search("lie (below|above) the bounds of (product|age w)", text)
