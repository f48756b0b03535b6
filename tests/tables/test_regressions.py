"""Regressions: over a box, of data with nulls, of neighbours, and as often as their intervals say.

*False alarms*  A simulated interval fails here with a chance below 10⁻⁹, as in `test_statements`.
"""

from __future__ import annotations

import itertools
import math
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
from sfumato.client.to_sql import query_to_sql
from sfumato.tables import aggregates as ag
from sfumato.tables.aggregates import KINDS
from sfumato.tables.aggregates.column_kind import Box, Side
from sfumato.tables.expr.expressions import col

from ..answers.simulation import each, tried
from ..answers.test_statements import seldom
from .paired import (
    BOUNDS,
    Span,
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

SLOPE, INTERCEPT, R2 = (KINDS[f"regression_{name}"] for name in ("slope", "intercept", "r2"))
SIDES: tuple[Side, Side] = ("low", "high")
CENTRES = {"centre": F(2), "by_centre": F(-7, 2)}
NAMES = ("slope", "intercept", "r2", "count", "avgx", "avgy")
QUESTION = (
    "SELECT REGR_SLOPE(y, x) AS slope, REGR_INTERCEPT(y, x) AS intercept, REGR_R2(y, x) AS r2, "
    "REGR_COUNT(y, x) AS count, REGR_AVGX(y, x) AS avgx, REGR_AVGY(y, x) AS avgy FROM t"
)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    new_bench = Bench()
    yield new_bench
    new_bench.close()


# Over a box


def ends_of(kind: Any, spans: list[Span], steps: list[F], **numbers: F) -> tuple[F, F]:
    """Both ends, infinite where nothing is known."""
    low, high = (end(kind, spans, steps, side, **numbers) for side in SIDES)
    return (
        F(-(10**30)) if low is None else low,
        F(10**30) if high is None else high,
    )


spans = st.tuples(st.integers(-20, 20), st.integers(0, 6))
steps = st.sampled_from([F(1), F(1, 4), F(3, 10)])


@given(
    p=st.tuples(st.integers(-200, 200), st.integers(0, 30)),
    s=spans,
    t=spans,
    squares=st.tuples(
        st.tuples(st.integers(0, 300), st.integers(0, 30)),
        st.tuples(st.integers(0, 300), st.integers(0, 30)),
    ),
    n=st.tuples(st.integers(1, 20), st.integers(0, 5)),
    step=st.lists(steps, min_size=6, max_size=6),
)
def test_no_point_of_a_box_lies_outside(
    p: Span, s: Span, t: Span, squares: tuple[Span, Span], n: Span, step: list[F]
) -> None:
    """All corners, and whole numbers between: wherever both sums of squares are above 0."""
    q, r = squares
    both = [p, s, t, r, n]
    two = [*step[:3], *step[4:]]
    slope = ends_of(SLOPE, both, two)
    intercept = ends_of(INTERCEPT, both, two, **CENTRES)
    r2 = ends_of(R2, [p, s, t, q, r, n], step)
    points = itertools.product(
        *(sorted({low, low + width // 2, low + width}) for low, width in (p, s, t, q, r, n))
    )
    for point in points:
        a, b, c, d, e, rows = (F(value) * by for value, by in zip(point, step, strict=True))
        product, first, second = a - b * c / rows, d - b * b / rows, e - c * c / rows
        if second <= 0:
            continue
        line = product / second
        assert slope[0] <= line <= slope[1]
        height = CENTRES["centre"] + b / rows - line * (CENTRES["by_centre"] + c / rows)
        assert intercept[0] <= height <= intercept[1]
        if first > 0:
            explained = product**2 / (first * second)
            assert max(r2[0], F(0)) <= min(explained, F(1)) or explained > 1
            assert min(explained, F(1)) <= r2[1]  # no rows have sums that explain more than all


def test_the_ends_are_those_of_corners() -> None:
    """Where neither sum is near 0 and the means are 0, a corner attains each end."""
    spans = [(90, 20), (0, 0), (0, 0), (180, 40), (20, 0)]
    ones = [F(1)] * 5
    assert ends_of(SLOPE, spans, ones) == (F(90, 220), F(110, 180))
    assert ends_of(INTERCEPT, spans, ones, centre=F(1), by_centre=F(4)) == (
        1 - 4 * F(110, 180),
        1 - 4 * F(90, 220),
    )
    assert ends_of(R2, [*spans[:3], (150, 50), *spans[3:]], [F(1)] * 6) == (
        F(90**2, 200 * 220),
        F(110**2, 150 * 180),
    )


def test_a_slope_has_no_limit_where_the_column_may_be_constant() -> None:
    ones = [F(1)] * 5
    steep = [(90, 20), (0, 0), (0, 0), (-1, 40), (20, 0)]
    assert SLOPE.limits({}) == INTERCEPT.limits({}) == (None, None)
    assert end(SLOPE, steep, ones, "low") == F(90, 39), "the product is above 0: so is the slope"
    assert end(SLOPE, steep, ones, "high") is None
    about = {"centre": F(1), "by_centre": F(4)}
    assert end(INTERCEPT, steep, ones, "low", **about) is None
    assert end(INTERCEPT, steep, ones, "high", **about) == 1 - 4 * F(90, 39)
    about["by_centre"] = F(-4)
    assert end(INTERCEPT, steep, ones, "low", **about) == 1 + 4 * F(90, 39)
    assert end(INTERCEPT, steep, ones, "high", **about) is None
    flat = [(-10, 20), (0, 0), (0, 0), (-1, 40), (20, 0)]
    none = [(90, 20), (0, 0), (0, 0), (180, 40), (0, 20)]
    for spans, kind in itertools.product((flat, none), (SLOPE, INTERCEPT)):
        assert [end(kind, spans, ones, side, **about) for side in SIDES] == [None, None]
    frame = pd.DataFrame({"x": [3] * 50, "y": list(range(-4, 6)) * 5}).astype("Int64")
    answer = protected(frame).sql(QUESTION, epsilon=100)
    for name in ("slope", "intercept"):
        assert [float(ends[0]) for ends in answer.interval(name)] == [-math.inf, math.inf]
    assert [float(ends[0]) for ends in answer.interval("r2")] == [0, 1]
    assert np.isnan(without_noise(protected(frame), QUESTION)["slope"][0]), "null in SQL"


def test_r2_of_a_constant_column_is_that_of_sql() -> None:
    """1 for a constant y; SQL has a null for a constant x, here it is 0 of [0, 1]."""
    constant, line = [3] * 50, list(range(-4, 6)) * 5
    for x, y, value in ((line, constant, 1), (constant, line, 0), (constant, constant, 0)):
        frame = pd.DataFrame({"x": x, "y": y}).astype("Int64")
        assert without_noise(protected(frame), QUESTION)["r2"][0] == value


@given(
    centre=st.tuples(*[st.integers(-60, 60)] * 3, *[st.integers(-20, 200)] * 2, st.integers(1, 20)),
    widths=st.lists(st.integers(0, 30), min_size=6, max_size=6),
)
def test_a_value_lies_inside_its_interval(centre: tuple[int, ...], widths: list[int]) -> None:
    """Also where released squares are below 0. A slope then has no value."""
    for kind in (SLOPE, INTERCEPT, R2):
        places = range(6) if kind is R2 else (0, 1, 2, 4, 5)
        ones = [F(1)] * len(places)
        value = end(kind, [(centre[i], 0) for i in places], ones, "low", **CENTRES)
        around = [(centre[i] - widths[i], 2 * widths[i]) for i in places]
        low, high = ends_of(kind, around, ones, **CENTRES)
        if kind is R2:
            assert value is not None
            value, low, high = (min(F(1), max(F(0), number)) for number in (value, low, high))
        assert value is None or low <= value <= high


def test_slack_widens_every_part() -> None:
    spans = [(-300, 4), (3, 0), (4, 0), (400, 2), (20, 0)]
    slack = {"slack_product": F(1, 10), "slack_second": F(1, 5), "slack_mean": F(1, 7)}
    for kind in (SLOPE, INTERCEPT, R2):
        boxes = [*spans[:3], (500, 2), *spans[3:]] if kind is R2 else spans
        ones = [F(1)] * len(boxes)
        plain = ends_of(kind, boxes, ones, **CENTRES)
        loose = ends_of(kind, boxes, ones, **CENTRES, **slack, slack_first=F(1, 5))
        assert loose[0] < plain[0] < plain[1] < loose[1]


# Of data


def exact_line(pairs: list[tuple[F, F]]) -> dict[str, F]:
    """What a textbook computes of (x, y), in two passes."""
    n, (x, y) = len(pairs), (sum(pair[i] for pair in pairs) / F(len(pairs)) for i in (0, 1))
    (of_x, of_y) = (covariance([(pair[i], pair[i]) for pair in pairs]) for i in (0, 1))
    slope = covariance(pairs) / of_x
    return {
        "slope": slope,
        "intercept": y - slope * x,
        "r2": covariance(pairs) ** 2 / (of_x * of_y),
        "count": F(n),
        "avgx": x,
        "avgy": y,
    }


def test_the_value_is_that_of_the_clipped_rows() -> None:
    frame = data()
    answer = without_noise(protected(frame), QUESTION)
    for name, value in exact_line(pairs_of(frame)).items():
        assert float(answer[name][0]) == pytest.approx(float(value), rel=1e-14)
    some = without_noise(
        protected(frame),
        "SELECT REGR_SLOPE(y, x) FILTER (WHERE z < 30) AS slope, "
        "REGR_COUNT(y, x) FILTER (WHERE z < 30) AS count, "
        "REGR_AVGY(y, x) FILTER (WHERE z < 30) AS avgy FROM t",
    )
    part = exact_line(pairs_of(frame[frame["z"] < 30]))
    for name in ("slope", "count", "avgy"):
        assert float(some[name][0]) == pytest.approx(float(part[name]), rel=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_numpy_and_duckdb_agree(seed: int) -> None:
    """On random doubles inside their bounds, within the slack of the grid."""
    import duckdb

    draw = np.random.default_rng(seed)
    x = draw.uniform(0, 20, 300)
    frame = pd.DataFrame(
        {"x": x, "y": np.clip(draw.uniform(-0.3, 0.5) * x + draw.normal(0, 2, 300), -4, 8)}
    )
    answer = without_noise(protected(frame), QUESTION)
    slope, intercept = np.polyfit(frame["x"], frame["y"], 1)
    r = np.corrcoef(frame["x"], frame["y"])[0, 1]
    numpy = (slope, intercept, r**2, 300, frame["x"].mean(), frame["y"].mean())
    with duckdb.connect() as connection:
        connection.register("t", frame)
        engine = connection.execute(QUESTION).fetchone()
    assert engine is not None
    for name, first, second in zip(NAMES, numpy, engine, strict=True):
        assert answer[name][0] == pytest.approx(first, abs=1e-3)
        assert answer[name][0] == pytest.approx(second, abs=1e-3)
        assert first == pytest.approx(second, rel=1e-9)


def test_doubles_are_within_their_slack() -> None:
    """Intervals without noise still cover the values of rows that were not rounded to a grid."""
    draw = np.random.default_rng(4)
    frame = pd.DataFrame({"x": draw.normal(10, 6, 500), "y": draw.normal(2, 5, 500)})
    answer = protected(frame).sql(QUESTION, epsilon=10**5)
    rows = [(F(min(max(x, 0.0), 20.0)), F(min(max(y, -4.0), 8.0))) for x, y in frame.to_numpy()]
    for name, value in exact_line(rows).items():
        (low,), (high,) = answer.interval(name, "0.999999999")
        assert low <= value <= high
        assert high - low < 0.05


# In a question


def test_sql_is_the_fluent_form_and_its_text() -> None:
    table = protected(data())
    query = table.aggregate(
        **{name: getattr(sf, f"regr_{name}")("y", "x") for name in NAMES},
    )
    assert query_to_sql(query) == QUESTION
    first: Any = table.plan(QUESTION, epsilon=1)
    second = query.plan(epsilon=1)
    assert [column.kind for column in first.columns] == [column.kind for column in second.columns]
    names = [[component.name for component in plan.components] for plan in (first, second)]
    assert names[0] == names[1]


@pytest.mark.parametrize("pair", ["x, y", "y, x"])
def test_components_are_paid_for_once(pair: str) -> None:
    """Neither the order of the columns nor a second aggregate adds a component."""
    table = protected(data())

    def components(text: str) -> set[str]:
        plan: Any = table.plan(text, epsilon=1)
        shown = plan.components[: len(plan.calibration.readings)]  # not sums that cells need
        return {component.name for component in shown}

    alone = components("SELECT CORR(x, y) AS r FROM t")
    assert components(f"SELECT CORR({pair}) AS r FROM t") == alone
    assert components(QUESTION.replace("FROM t", f", CORR({pair}) AS r FROM t")) == alone
    assert components(f"SELECT COVAR_SAMP({pair}) AS c, REGR_SLOPE({pair}) AS b FROM t") <= alone
    count = components(f"SELECT REGR_COUNT({pair}) AS n FROM t")
    assert len(count) == 1
    assert count <= alone


def test_a_count_needs_no_bounds_and_a_mean_only_its_own() -> None:
    frame = data().assign(w=[None, 1] * 30, text=[None, "a", "b"] * 20)
    table = protected(frame.astype({"w": "Int64"}))
    text = "SELECT REGR_COUNT(w, text) AS n, REGR_AVGX(w, x) AS mx, REGR_AVGY(y, text) AS my FROM t"
    answer = without_noise(table, text)
    assert answer["n"][0] == (frame["w"].notna() & frame["text"].notna()).sum()
    both = frame[frame["w"].notna()]["x"].dropna().clip(0, 20)
    assert answer["mx"][0] == pytest.approx(both.mean())
    both = frame[frame["text"].notna()]["y"].dropna().clip(-4, 8)
    assert answer["my"][0] == pytest.approx(both.mean())


def test_errors_before_data_are_the_widths_of_such_a_group() -> None:
    """Means in the middle of their bounds, deviations half of the largest: the slope is 0, and a
    half-width after a release is the expected error.
    """
    numbers = {"low": F(-4), "high": F(8), "by_low": F(0), "by_high": F(20), **CENTRES}
    widths = [F(300), F(40), F(60), F(500), F(7)]
    slope = SLOPE.error(numbers, widths, 1000)
    spread = 1000 * 25
    spans = [(-300, 600), (-40, 80), (-60, 120), (spread - 500, 1000), (993, 14)]
    low, high = ends_of(SLOPE, spans, [F(1)] * 5)
    assert slope == high == -low
    low, high = ends_of(INTERCEPT, spans, [F(1)] * 5, **CENTRES)
    intercept = INTERCEPT.error(numbers, widths, 1000)
    assert intercept == high - 2 == 2 - low
    for kind in (SLOPE, INTERCEPT):
        assert kind.error(numbers, widths, 7) is None
        assert kind.error(numbers, widths, 20) is None, "x may be constant"
    more = [*widths[:3], F(300), *widths[3:]]
    assert R2.error(numbers, more, 7) == R2.error(numbers, more, 20) == 1
    spans = [(1000 * 60 // 8 - 300, 600), *spans[1:3], (1000 * 9 - 300, 600), *spans[3:]]
    assert R2.error(numbers, more, 1000) == ends_of(R2, spans, [F(1)] * 6)[1] - F(1, 4)
    plan: Any = protected(data()).plan(QUESTION, epsilon=1)
    assert set(plan.error()) == set(NAMES)
    text = "SELECT REGR_SLOPE(y, x) AS b FROM t"
    within: Any = protected(data()).plan(text, within="0.1", group_size=1000)
    assert within.error(group_size=1000)["b"] <= 0.1


def test_what_is_computed_from_a_slope() -> None:
    answer = protected(data(600)).sql(
        "SELECT REGR_INTERCEPT(y, x) + 10 * REGR_SLOPE(y, x) AS at_ten FROM t", epsilon=1000
    )
    line = exact_line(pairs_of(data(600)))
    (low,), (high,) = answer.interval("at_ten")
    assert low <= line["intercept"] + 10 * line["slope"] <= high
    assert high - low < 1


# Of neighbours, and by chance


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("cells", [{"c": 10, "v0": 5.0}, {"c": -(10**9), "v0": 1e300}, {"c": None}])
def test_neighbours_move_no_farther_than_declared(
    relation: str, cells: dict[str, Any], bench: Bench
) -> None:
    for aggregate in (
        ag.regr_slope("c", "v0"),
        ag.regr_r2("v0", col("c").clip(0, 3)),
        ag.regr_avgx("u1", "c"),
        ag.regr_count("u1", "c"),
    ):
        for rows in (1, 5):
            assert not movement(bench, aggregate, [cells] * rows, relation=relation).wrong
    assert BOUNDS["c"] == (0, 10)


def test_intervals_hold_and_a_wrong_formula_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twins forget the noise of the products and of both sums; `test_statements` tries the
    other worlds.
    """
    names = ("slope", "intercept", "r2")
    for held in tried("laplace", {name: each(name) for name in names}, 60).values():
        assert not seldom(list(held))

    def forget(boxes: list[Box]) -> list[Box]:
        middles = [(box.low + box.high) // 2 for box in boxes[:3]]
        return [
            *(box._replace(low=z, high=z) for box, z in zip(boxes, middles, strict=False)),
            *boxes[3:],
        ]

    def check(name: str) -> Any:
        kind = KINDS[f"regression_{name}"]

        def held(world: Any, answer: sf.answers.Answer) -> list[bool]:
            world.exact(name)  # by the right formula, before it is replaced
            with monkeypatch.context() as patch:
                patch.setitem(KINDS, kind.name, replace(kind, finish=wrong_finish(kind, forget)))
                return list(each(name)(world, answer))

        return held

    for held in tried("laplace", {name: check(name) for name in names}, 60).values():
        assert seldom(list(held))
