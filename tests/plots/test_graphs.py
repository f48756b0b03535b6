"""Curves are drawn as given, each name in one colour, on the axes asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import plots

X = np.array([1.0, 2.0, 4.0])


def graph(**changes: Any) -> plots.Graph:
    return plots.Graph(
        **(
            {"title": "t", "x": X, "curves": {"a": X, "b": 2 * X}, "across": "x", "up": "y"}
            | changes
        )
    )


def test_curves_are_drawn_as_given() -> None:
    (axes,) = plots.graphs([graph()], title="the title").axes
    for line, y in zip(axes.lines, (X, 2 * X), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), X)
        np.testing.assert_array_equal(line.get_ydata(), y)
    assert (axes.get_xlim(), axes.get_ylim()[0]) == ((1, 4), 0)


def test_labels_are_complete() -> None:
    figure = plots.graphs([graph(), graph(title="u", across="v", up="w")], title="the title")
    assert figure.get_suptitle() == "the title"
    assert [(axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes] == [
        ("t", "x", "y"),
        ("u", "v", "w"),
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_a_name_keeps_its_colour() -> None:
    first, second = plots.graphs([graph(), graph(curves={"b": X, "c": X})], title="").axes
    assert first.lines[1].get_color() == second.lines[0].get_color()
    assert len({line.get_color() for line in (*first.lines, *second.lines)}) == 3


@pytest.mark.parametrize(("logarithmic", "scale"), [(True, "log"), (False, "linear")])
def test_scales(logarithmic: bool, scale: str) -> None:
    (axes,) = plots.graphs([graph(logarithmic=logarithmic)], title="").axes
    assert (axes.get_xscale(), axes.get_yscale()) == (scale, scale)


def test_heights_replace_the_ticks() -> None:
    (axes,) = plots.graphs([graph(heights=(0, 0.125, 8))], title="").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "0.125", "8"]


def test_the_point_has_its_remark() -> None:
    (axes,) = plots.graphs([graph(point=(2.0, 4.0), remark="here")], title="").axes
    assert axes.lines[-1].get_xydata().tolist() == [[2.0, 4.0]]
    assert [text.get_text() for text in axes.texts] == ["here"]
