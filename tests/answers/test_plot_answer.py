"""From an answer to its picture."""

from __future__ import annotations

from typing import Any

import pytest

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
