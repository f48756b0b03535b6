"""Tables of a stream: intervals that hold, exports, and a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.mechanisms import RunningSums
from sfumato.streams import StreamTable
from sfumato.streams.stream_table import MeasuredComponent
from sfumato.tables.plan.components import ColumnPlan
from sfumato.testing import SeededBits

COUNT = ColumnPlan("n", "count", (1,), "count()")
SUM = ColumnPlan("sum", "sum", (0, 1), "sum(x)", {"centre": Fraction(50)})
MEAN = ColumnPlan(
    "mean",
    "mean",
    (0, 1),
    "mean(x)",
    {"centre": Fraction(50), "low": Fraction(0), "high": Fraction(100)},
)


def release_totals(sums: list[np.ndarray[Any, Any]], noise: RunningSums, days: int) -> StreamTable:
    """The totals of days with these exact sums: centred sums, and counts."""
    totals = [noise.totals(noise.perturb(x, bits=SeededBits(n))) for n, x in enumerate(sums)]
    groups = tuple((f"g{i}",) for i in range(sums[0].shape[1]))
    return StreamTable(
        "totals",
        ("day", "group"),
        tuple(date(2026, 1, 1 + day) for day in range(days)),
        tuple((1, 1 + day) for day in range(days)),
        groups,
        (COUNT, MEAN, SUM),
        (MeasuredComponent(noise, Fraction(1, 4)), MeasuredComponent(noise, Fraction(1))),
        tuple(totals),
    )


@pytest.mark.parametrize(("rows", "mean"), [(400, 30), (200, 50), (40, 93), (0, 50)])
def test_intervals_hold(rows: int, mean: int) -> None:
    """4000 groups: counts and sums in 95 % up to chance (false alarm 10^-9), means at least as
    often; the twin, intervals that are a fifth narrower, holds too seldom.
    """
    noise = RunningSums(sensitivity=10, mu_squared=1)
    each = np.zeros((3, 4000), dtype=np.int64)
    each[0] = rows
    table = release_totals([each * (mean - 50) * 4, each], noise, 3)
    slack = 6 * math.sqrt(0.05 * 0.95 / 4000)
    low, high = (ends.reshape(3, 4000)[2] for ends in table.interval("n"))
    inside = float(np.mean((low <= rows) & (rows <= high)))
    assert 0.95 - slack < inside < 0.95 + slack + 0.01
    fifth = (high - low) / 10
    assert np.mean((low + fifth <= rows) & (rows <= high - fifth)) < 0.95 - slack
    low, high = (ends.reshape(3, 4000)[2] for ends in table.interval("sum"))
    inside = float(np.mean((low <= rows * mean) & (rows * mean <= high)))
    assert 0.95 - slack < inside < 0.95 + slack + 0.01
    low, high = (ends.reshape(3, 4000)[2] for ends in table.interval("mean"))
    assert float(np.mean((low <= mean) & (mean <= high))) > 0.95 - slack
    values = table["mean"].reshape(3, 4000)[2]
    assert ((low <= values) & (values <= high)).mean() > 0.99
    if rows >= 200:
        assert float(np.median(high - low)) < 2 * 2.2 * noise.deviation(3) / 200 * 20
        fifth = (high - low) / 10
        assert np.mean((low + fifth <= mean) & (mean <= high - fifth)) < 0.95 - slack


@pytest.fixture(scope="module")
def totals() -> Iterator[StreamTable]:
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        each_row_a_person=True,
        keys={"city": ["Roma", "Bari"]},
        bounds={"spend": (0, 100)},
        budget=2,
    ) as visits:
        stream = sf.stream(
            visits,
            "SELECT city, COUNT(*) AS n, AVG(spend) AS mean FROM visits GROUP BY city",
            time="day",
            start="2026-01-01",
            every="month",
            epsilon=1,
        )
        stream.advance(until="2026-06-02")
        yield stream.totals()


def test_a_table_is_read_like_an_answer(totals: StreamTable) -> None:
    assert totals.keys == ("month", "city")
    assert totals.names == ("n", "mean")
    assert len(totals) == len(list(totals)) == 10
    assert totals["month"][-1] == date(2026, 5, 1)
    assert list(totals)[-1]["city"] == "Roma"
    assert totals.latest().rows == [(date(2026, 5, 1), "Bari"), (date(2026, 5, 1), "Roma")]
    text = repr(totals)
    assert "month       city" in text
    assert "± at 95 %, each by itself" in text
    assert (totals["mean"] >= 0).all()
    assert (totals["mean"] <= 100).all()


def test_exports(totals: StreamTable, tmp_path: Path) -> None:
    frame = totals.to_pandas(intervals=True)
    assert list(frame) == ["month", "city", "n", "n_low", "n_high", "mean", "mean_low", "mean_high"]
    assert (frame.n_low < frame.n).all()
    text = totals.to_csv(tmp_path / "totals.csv")
    assert text.splitlines()[0] == "month,city,n,mean"
    assert text.splitlines()[1].startswith("2026-01-01,Bari,")
    assert (tmp_path / "totals.csv").read_bytes().decode() == text


def test_a_picture(totals: StreamTable) -> None:
    figure = totals.plot("n", title="visits so far")
    (axes,) = figure.axes
    assert len(axes.lines) == 2
    assert len(axes.collections) == 2, "a band for each city"
    assert axes.get_ylabel() == "n"
