"""Covariances: over a box, of data with nulls, of neighbours, and as often as their intervals say.

*False alarms*  A simulated interval fails here with a chance below 10⁻⁹, as in `test_statements`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates import KINDS
from sfumato.tables.aggregates.column_kind import Box
from sfumato.tables.expr.expressions import col

from ..answers.simulation import each, tried
from ..answers.test_statements import seldom
from .paired import (
    BOUNDS,
    covariance,
    data,
    end,
    movement,
    pairs_of,
    protected,
    without_noise,
    wrong_finish,
)
from .worlds import Bench

NUMBERS = {"low": F(0), "high": F(64), "by_low": F(0), "by_high": F(64)}
spans = st.tuples(st.integers(-40, 40), st.integers(0, 20))


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


@given(
    p=st.tuples(st.integers(-300, 300), st.integers(0, 60)),
    s=spans,
    t=spans,
    n=st.tuples(st.integers(1, 30), st.integers(0, 9)),
    steps=st.lists(st.sampled_from([F(1), F(1, 4), F(3, 10)]), min_size=4, max_size=4),
)
def test_the_extremes_over_a_box(p: Any, s: Any, t: Any, n: Any, steps: list[F]) -> None:
    """No point of the box lies outside, and a point of it attains each end: at a whole N, or where
    N is best between two of them.
    """

    def f(a: int, b: int, c: int, d: F) -> F:
        rows = d * steps[3]
        return a * steps[0] / rows - b * steps[1] * c * steps[2] / rows**2

    def ends_of(span: tuple[int, int]) -> tuple[int, int]:
        return span[0], span[0] + span[1]

    corners = [(a, b, c) for a in ends_of(p) for b in ends_of(s) for c in ends_of(t)]
    values = [f(*corner, F(d)) for corner in corners for d in range(n[0], n[0] + n[1] + 1)]
    for a, b, c in corners:
        if a * steps[0]:
            best = 2 * b * steps[1] * c * steps[2] / (a * steps[0]) / steps[3]
            values += [f(a, b, c, best)] if n[0] < best < n[0] + n[1] else []
    ends = [end(KINDS["covariance"], [p, s, t, n], steps, side) for side in ("low", "high")]
    assert ends == [min(values), max(values)]


@given(
    p=st.tuples(st.integers(-300, 300), st.integers(0, 60)),
    s=spans,
    t=spans,
    n=st.tuples(st.integers(1, 30), st.integers(0, 9)),
    step=st.sampled_from([F(1), F(1, 8)]),
)
def test_the_sample_version_holds_every_point(p: Any, s: Any, t: Any, n: Any, step: F) -> None:
    ends = [
        end(KINDS["sample_covariance"], [p, s, t, n], [F(1), F(1), F(1), step], side)
        for side in ("low", "high")
    ]
    for a in (p[0], p[0] + p[1]):
        for b in (s[0], s[0] + s[1]):
            for c in (t[0], t[0] + t[1]):
                for d in range(n[0], n[0] + n[1] + 1):
                    rows = d * step
                    factor = rows / (rows - 1) if rows >= 2 else F(2)
                    value = factor * (a / rows - b * c / rows**2)
                    assert ends[0] is not None
                    assert ends[1] is not None
                    assert ends[0] <= value <= ends[1]


def test_limits_and_what_may_be_empty() -> None:
    assert KINDS["covariance"].limits(NUMBERS) == (-(32**2), 32**2)
    assert KINDS["sample_covariance"].limits(NUMBERS) == (-2 * 32**2, 2 * 32**2)
    assert end(KINDS["covariance"], [(5, 0), (1, 0), (1, 0), (0, 9)], [F(1)] * 4, "low") is None


def test_the_value_is_that_of_the_clipped_rows() -> None:
    frame = data()
    answer = without_noise(
        protected(frame),
        "SELECT COVAR_POP(x, y) AS c, COVAR_SAMP(x, y) AS s, "
        "COVAR_POP(x, y) FILTER (WHERE z < 30) AS f, "
        "COVAR_POP(CLAMP(x, 0, 20), CLAMP(y, -4, 8)) AS d FROM t",
    )
    exact = pairs_of(frame)
    assert float(answer["c"][0]) == float(covariance(exact))
    assert float(answer["s"][0]) == float(covariance(exact, 1))
    assert float(answer["f"][0]) == float(covariance(pairs_of(frame[frame["z"] < 30])))
    assert answer["d"][0] == answer["c"][0]


def test_weights_and_truncation_leave_the_value_where_no_unit_has_too_much() -> None:
    frame = data().assign(u=range(60))
    for bounding in ("weights", "truncation"):
        table = protected(frame, unit="u", max_rows=1, bounding=bounding)
        answer = without_noise(table, "SELECT COVAR_POP(x, y) AS c FROM t")
        assert float(answer["c"][0]) == float(covariance(pairs_of(frame)))


def test_doubles_are_within_their_slack() -> None:
    draw = np.random.default_rng(4)
    frame = pd.DataFrame({"x": draw.normal(10, 6, 500), "y": draw.normal(2, 5, 500)})
    answer = without_noise(protected(frame), "SELECT COVAR_POP(x, y) AS c FROM t")
    exact = covariance(
        [(F(min(max(x, 0.0), 20.0)), F(min(max(y, -4.0), 8.0))) for x, y in frame.to_numpy()]
    )
    (column,) = answer.columns
    assert 0 < column.numbers["slack"] < F(1, 1000)
    assert abs(F(answer["c"][0]) - exact) <= column.numbers["slack"] + F(1, 10**9)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("cells", [{"c": 10, "v0": 5.0}, {"c": 10**9, "v0": -1e300}, {"c": None}])
def test_neighbours_move_no_farther_than_declared(
    relation: str, cells: dict[str, Any], bench: Bench
) -> None:
    for aggregate in (ag.covar("c", "v0"), ag.covar("c", col("v0").clip(0, 3), sample=True)):
        for rows in (1, 2, 5):
            change = movement(bench, aggregate, [cells] * rows, relation=relation)
            assert not change.wrong
            if relation == "add-remove" and rows > 1 and cells["c"] == 10:
                assert change.most > F(9, 10)


def test_a_product_that_is_not_clipped_is_seen(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin: a unit moves the sum of products farther than its noise allows."""
    from sfumato.tables.expr import grids

    monkeypatch.setattr(grids, "_clip", lambda value, low, high: value)
    wide = {"c": 40, "u1": 40}  # more would overflow where products of cells are rounded
    assert movement(bench, ag.covar("c", "u1"), [wide]).wrong
    assert BOUNDS["u1"] == (0, 10)


def test_intervals_hold_and_a_wrong_formula_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin forgets the noise of the products; `test_statements` tries the other worlds."""
    checks = {name: each(name) for name in ("c", "cs")}
    for held in tried("laplace", checks, 60).values():
        assert not seldom(list(held))

    def forget(boxes: list[Box]) -> list[Box]:
        middle = (boxes[0].low + boxes[0].high) // 2
        return [boxes[0]._replace(low=middle, high=middle), *boxes[1:]]

    kind = KINDS["covariance"]
    for held in tried("laplace", {"c": wrong_check(kind, forget, monkeypatch)}, 60).values():
        assert seldom(list(held))


def wrong_check(kind: Any, drop: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Check the intervals of a wrong finishing against the right value."""

    def check(world: Any, answer: sf.answers.Answer) -> list[bool]:
        world.exact("c")  # by the right formula, before it is replaced
        with monkeypatch.context() as patch:
            patch.setitem(KINDS, kind.name, replace(kind, finish=wrong_finish(kind, drop)))
            return list(each("c")(world, answer))

    return check
