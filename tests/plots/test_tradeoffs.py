"""Trade-off curves are drawn as given, beside the line of guessing."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato import plots

ALPHAS = np.linspace(0, 1, 5)
CURVES = {"a": (1 - ALPHAS) ** 2, "b": (1 - ALPHAS) ** 3}


def panel(**changes: Any) -> plots.Tradeoff:
    return plots.Tradeoff(**({"title": "t", "alphas": ALPHAS, "curves": CURVES} | changes))


def test_curves_are_drawn_as_given() -> None:
    (axes,) = plots.tradeoffs([panel()], title="the title").axes
    *curves, guessing = axes.lines
    for line, beta in zip(curves, CURVES.values(), strict=True):
        np.testing.assert_array_equal(line.get_xydata().T, [ALPHAS, beta])
    assert guessing.get_xydata().tolist() == [[0, 1], [1, 0]]
    assert (axes.get_xlim(), axes.get_ylim(), axes.get_aspect()) == ((0, 1), (0, 1), 1)


def test_the_excluded_region_is_below_all_curves() -> None:
    (axes,) = plots.tradeoffs([panel()], title="").axes
    corners = axes.collections[0].get_paths()[0].vertices
    assert all(y <= np.interp(x, ALPHAS, CURVES["b"]) + 1e-12 for x, y in corners)
    assert "nobody" in axes.texts[0].get_text()


def test_labels_and_colours() -> None:
    figure = plots.tradeoffs(
        [panel(), panel(title="u", curves={"b": CURVES["b"], "c": CURVES["a"]})], title="the title"
    )
    first, second = figure.axes
    assert figure.get_suptitle() == "the title"
    assert [axes.get_title() for axes in figure.axes] == ["t", "u"]
    assert all(
        "type-I" in axes.get_xlabel() and "type-II" in axes.get_ylabel() for axes in figure.axes
    )
    assert first.lines[1].get_color() == second.lines[0].get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "a",
        "b",
        "c",
        "guessing",
    ]
