"""From an answer to its picture."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from fractions import Fraction as F
from typing import Any

import pytest
from matplotlib.figure import Figure

from ..refusing import refusal
from .examples import counted, visits


def labels(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def test_a_bar_for_each_group() -> None:
    figure = visits().plot("n")
    (axes,) = figure.axes
    assert labels(figure) == ["Bari", "Roma", "Sassari"]
    assert [bar.get_width() for bar in axes.patches] == [3000, 6000, 9000]
    assert "95 % intervals, each cell" in axes.get_xlabel()
    (bars,) = [c for c in axes.containers if hasattr(c, "has_xerr")]
    ends = [segment[:, 0].tolist() for segment in bars[2][0].get_segments()]
    low, high = visits().interval("n")
    assert ends[0] == pytest.approx([low[0], high[0]])


def test_the_first_column_by_default_and_other_levels() -> None:
    figure = visits().plot(confidence=0.5, title="Visits")
    assert "50 % intervals" in figure.axes[0].get_xlabel()
    assert figure.get_suptitle() == "Visits"
    assert visits().plot("p50").axes[0].get_xlabel().endswith("90 % intervals, each cell")


def test_the_largest_of_many() -> None:
    figure = counted(list(range(100))).plot("n", top=3)
    assert labels(figure) == ["c99", "c98", "c97"]
    assert "the 3 largest of 100 groups" in figure.axes[0].get_xlabel()


def test_bins() -> None:
    figure = visits().plot("ages")
    assert [axes.get_title() for axes in figure.axes] == ["Bari", "Roma", "Sassari"]
    assert figure.axes[0].patches[0].get_data().edges.tolist() == [0, 18, 40, 65, 121]
    assert len(visits(tuple("abcdefghij")).plot("ages", top=50).axes) == 6
    assert len(visits(tuple("abcdefghij")).plot("ages", top=2).axes) == 2


def test_what_cannot_be_drawn() -> None:
    refusal(lambda: counted([], rows=()).plot("n"), "answer.plot")
    refusal(lambda: counted([1]).plot("n", top=0), "answer.plot")
    refusal(lambda: counted([1]).plot("m"), "answer.column")


@pytest.mark.parametrize("name", ["$x^2$", "a" * 200, "\x1b[31m", r"\frac$"])
def test_any_name_can_be_drawn(name: str, tmp_path: Any) -> None:
    counted([1, 2], rows=((name,), ("b",)), keys=(name,)).plot("n").savefig(tmp_path / "x.png")
    visits((name, "b")).plot("ages", title=name).savefig(tmp_path / "y.png")


def test_processed_values_are_drawn_inside_the_released_interval() -> None:
    answer = counted([10, 20]).agreeing(total=5000)
    (axes,) = answer.plot("n").axes
    assert [bar.get_width() for bar in axes.patches] == answer["n"].tolist()


def drawn(figure: Any) -> list[tuple[list[Any], list[float]]]:
    """The places and numbers of each line that has a point for each group."""
    series = [line for line in figure.axes[0].get_lines() if len(line.get_xdata(orig=True)) > 2]
    return [
        (list(line.get_xdata(orig=True)), line.get_ydata(orig=True).tolist()) for line in series
    ]


MONTHS = [datetime(2025, month, 1) for month in range(1, 7)]


def test_a_notebook_shows_it_by_itself() -> None:
    figure = visits().plot("n")
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert isinstance(figure, Figure)


def test_dates_are_a_line_in_order_with_a_band() -> None:
    rows = tuple((month,) for month in reversed(MONTHS))
    answer = counted([6, 5, 4, 3, 2, 1], rows=rows, keys=("month",))
    figure = answer.plot("n")
    ((places, numbers),) = drawn(figure)
    assert places == MONTHS
    assert numbers == [1, 2, 3, 4, 5, 6]
    low, high = answer.interval("n")
    (band,) = figure.axes[0].collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (low.min(), high.max())
    assert figure.axes[0].get_xlabel() == "month\n95 % intervals, each cell"
    assert figure.axes[0].get_ylabel() == "n"


def test_a_line_for_each_value_of_the_other_keys() -> None:
    rows = tuple((month, city) for month in MONTHS for city in ("Roma", "Bari", None))
    answer = counted(list(range(18)), rows=rows, keys=("month", "city"))
    figure = answer.plot("n")
    assert [numbers[0] for _, numbers in drawn(figure)] == [0, 1, 2]
    (key,) = figure.legends
    assert [text.get_text() for text in key.get_texts()] == ["Roma", "Bari", "null"]
    many = tuple((month, str(city)) for month in MONTHS for city in range(7))
    bars = counted(list(range(42)), rows=many, keys=("month", "city")).plot("n")
    assert len(labels(bars)) == 20


def test_rows_without_a_date_are_not_on_the_axis() -> None:
    rows = (*((month.date(),) for month in MONTHS), (None,))
    figure = counted([1, 2, 3, 4, 5, 6, 7], rows=rows, keys=("day",)).plot("n")
    ((_, numbers),) = drawn(figure)
    assert numbers == [1, 2, 3, 4, 5, 6]
    assert "groups without day are left out; 95 %" in figure.axes[0].get_xlabel()


def test_numbers_as_keys_stay_in_order() -> None:
    few = counted(list(range(12)), rows=tuple((i,) for i in range(1, 13))).plot("n")
    assert labels(few) == [str(i) for i in range(1, 13)]
    many = counted(list(range(60)), rows=tuple((i,) for i in range(60))).plot("n")
    ((places, _),) = drawn(many)
    assert places == list(range(60))


def test_bins_of_different_widths_show_densities() -> None:
    answer = visits()
    figure = answer.plot("ages")
    assert figure.get_supylabel() == "density (count per unit)"
    heights = figure.axes[0].patches[0].get_data().values
    assert heights.tolist() == (answer["ages"][0] / [18, 22, 25, 56]).tolist()
    assert heights @ [18, 22, 25, 56] == pytest.approx(answer["ages"][0].sum())
    (bars,) = [c for c in figure.axes[0].containers if hasattr(c, "has_xerr")]
    low, high = bars[2][0].get_segments()[0][:, 1]
    ends = answer.interval("ages")
    assert [low, high] == pytest.approx([ends[0][0, 0] / 18, ends[1][0, 0] / 18])
    even = tuple(F(edge) for edge in (0, 20, 40, 60, 80))
    column = replace(answer.columns[-1], edges=even)
    equal = replace(answer, columns=(*answer.columns[:-1], column)).plot("ages")
    assert equal.get_supylabel() == ""
    assert equal.axes[0].patches[0].get_data().values.tolist() == answer["ages"][0].tolist()
