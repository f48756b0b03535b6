"""The pictures of published numbers hold what they were given."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import plots

VALUES, LOW, HIGH = (
    np.array([5.0, -1.0, 12.0]),
    np.array([3.0, -3.0, 8.0]),
    np.array([7.0, 1.0, 20.0]),
)


def test_bars_and_their_intervals() -> None:
    drawn = plots.bars(
        plots.Bars(("a", "b", "c"), VALUES, LOW, HIGH),
        title="Visits",
        across="n",
        up="city",
        note="95 %",
    )
    (axes,) = drawn.axes
    assert [bar.get_width() for bar in axes.patches] == VALUES.tolist()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    assert axes.yaxis_inverted(), "the first stands on top"
    (sticks,) = [c for c in axes.containers if getattr(c, "has_xerr", False)]
    assert [segment[:, 0].tolist() for segment in sticks[2][0].get_segments()] == [
        [3, 7],
        [-3, 1],
        [8, 20],
    ]
    assert axes.get_xlabel() == "n\n95 %"
    assert axes.get_ylabel() == "city"


def test_without_intervals_there_are_no_sticks() -> None:
    (axes,) = plots.bars(
        plots.Bars(("a",), VALUES[:1], VALUES[:1], VALUES[:1]), title="", across="n"
    ).axes
    assert not [c for c in axes.containers if getattr(c, "has_xerr", False)]


def test_bins() -> None:
    edges = np.array([0.0, 10.0, 20.0, 40.0])
    drawn = plots.bins(
        [plots.Bins(name, edges, VALUES, LOW, HIGH) for name in "abcd"],
        title="Ages",
        across="age",
        note="95 %",
    )
    assert [axes.get_title() for axes in drawn.axes if axes.get_visible()] == ["a", "b", "c", "d"]
    first = drawn.axes[0]
    assert first.patches[0].get_data().values.tolist() == VALUES.tolist()
    (sticks,) = first.containers
    assert [segment[:, 1].tolist() for segment in sticks[2][0].get_segments()] == [
        [3, 7],
        [-3, 1],
        [8, 20],
    ]
    assert [segment[0, 0] for segment in sticks[2][0].get_segments()] == [5, 15, 30]
    assert drawn.get_supxlabel() == "age\n95 %"
    assert drawn.axes[0].get_ylim() == drawn.axes[3].get_ylim(), "to the same scale"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6])
def test_any_number_of_panels(count: int, tmp_path) -> None:
    panel = plots.Bins("", np.array([0.0, 1.0]), np.array([3.0]), np.array([3.0]), np.array([3.0]))
    plots.bins([panel] * count, title="", across="").savefig(tmp_path / "x.png")


def test_labels_are_not_mathematics(tmp_path) -> None:
    names = ("$x^2$", "a" * 100, r"\alpha$", "100 %")
    drawn = plots.bars(
        plots.Bars(names, np.ones(4), np.ones(4), np.ones(4)), title="$", across="$", up="$"
    )
    drawn.savefig(tmp_path / "x.png")
    assert len(drawn.axes[0].get_yticklabels()[1].get_text()) < 40
