"""Bands of belief are drawn as given, the widest below; certainties do not move."""

from __future__ import annotations

import numpy as np

from sfumato import plots

PRIORS = np.linspace(0.1, 0.9, 9)
BANDS = {"narrow": (PRIORS * 0.9, PRIORS * 1.1), "wide": (PRIORS * 0.5, np.sqrt(PRIORS))}


def test_bands_are_drawn_as_given() -> None:
    (axes,) = plots.beliefs(PRIORS, BANDS, title="the title").axes
    low, high, inner_low, inner_high, unmoved = axes.lines
    for line, end in (
        (low, BANDS["wide"][0]),
        (high, BANDS["wide"][1]),
        (inner_low, BANDS["narrow"][0]),
        (inner_high, BANDS["narrow"][1]),
    ):
        np.testing.assert_array_equal(line.get_xdata()[1:-1], PRIORS)
        np.testing.assert_array_equal(line.get_ydata()[1:-1], end)
        assert line.get_xydata()[0].tolist() == [0, 0]
        assert line.get_xydata()[-1].tolist() == [1, 1]
    assert unmoved.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert len(axes.collections) == 2


def test_the_ends_are_written_outward() -> None:
    figure = plots.beliefs(PRIORS, {"band": (PRIORS - 0.0123, PRIORS + 0.0123)}, title="", mark=0.5)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["48.7 %", "51.3 %"]


def test_labels_are_complete() -> None:
    figure = plots.beliefs(PRIORS, BANDS, title="the title")
    (axes,) = figure.axes
    assert figure.get_suptitle() == "the title"
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["narrow", "wide"]
