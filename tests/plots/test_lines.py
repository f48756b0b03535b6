"""Lines with bands: each point and each end of its interval is where it belongs."""

from __future__ import annotations

from datetime import date

import numpy as np

from sfumato.plots import Line, lines


def line(low: float, label: str = "", *, count: int = 4) -> Line:
    values = np.linspace(low, low + 10, count)
    return Line(label, [float(i) for i in range(count)], values, values - 2, values + 3)


def test_the_band_holds_every_interval() -> None:
    (axes,) = lines([line(5)], title="t", across="x", up="y", note="note").axes
    points = axes.collections[0].get_paths()[0].vertices
    for place, low, high in ((0, 3, 8), (3, 13, 18)):
        assert {low, high} <= set(points[points[:, 0] == place][:, 1])
    assert axes.get_xlabel() == "x\nnote"
    assert axes.get_ylabel() == "y"


def test_zero_is_shown_where_it_is_near() -> None:
    def bottom(low: float) -> float:
        return float(lines([line(low)], title="", across="", up="").axes[0].get_ylim()[0])

    assert bottom(5) == 0
    assert bottom(1000) > 900
    assert bottom(-5) < -7


def test_several_lines_have_a_legend() -> None:
    canvas = lines([line(5, "a"), line(9, "$b")], title="", across="", up="")
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["a", r"\$b"]
    assert not lines([line(5)], title="", across="", up="").legends


def test_many_points_have_no_marks() -> None:
    def marker(count: int) -> str:
        canvas = lines([line(5, count=count)], title="", across="", up="")
        return str(canvas.axes[0].get_lines()[0].get_marker())

    assert marker(60) == "o"
    assert marker(61) in ("", "None")


def test_dates_are_written_in_short() -> None:
    days = [date(2025, month, 1) for month in range(1, 13)]
    values = np.arange(12.0)
    canvas = lines([Line("", days, values, values, values)], title="", across="", up="")
    canvas.draw_without_rendering()
    written = [tick.get_text() for tick in canvas.axes[0].get_xticklabels()]
    assert "2025" in written
    assert "Mar" in written or "Apr" in written
