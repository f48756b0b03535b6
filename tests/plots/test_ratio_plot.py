"""The ratio of two laws is drawn where it is, told apart at the promise, and beside the right
band.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sfumato import plots
from sfumato.plots.plot_style import COLOURS, INK

INTEGERS = np.arange(4)
ONE = np.array([0.4, 0.3, 0.2, 0.1])
OTHER = np.array([0.1, 0.2, 0.3, 0.4])


def panel(**laws: np.ndarray) -> plots.LawPanel:
    return plots.LawPanel(title="t", remark="r", integers=INTEGERS, laws=laws)


def dots(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Colour to the points drawn in it."""
    return {
        line.get_color(): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if line.get_marker() == "o"
    }


def test_the_laws_stand_above_their_ratio() -> None:
    figure = plots.ratios(
        [panel(one=ONE, other=OTHER)], epsilon=1, title="the title", across="published"
    )
    above, below = figure.axes
    outlines = [patch.get_data().values for patch in above.patches if not patch.get_fill()]
    np.testing.assert_array_equal(outlines, [ONE, OTHER])
    assert (below.get_yscale(), below.get_xlabel(), figure.get_suptitle()) == (
        "log",
        "published",
        "the title",
    )
    assert above.get_xlim() == below.get_xlim()


def test_what_lies_outside_has_its_own_colour() -> None:
    _, below = plots.ratios([panel(one=ONE, other=OTHER)], epsilon=1, title="", across="").axes
    drawn = dots(below)
    assert drawn[INK] == ([1, 2], [0.3 / 0.2, 0.2 / 0.3])
    assert drawn[COLOURS[3]] == ([0, 3], [0.4 / 0.1, 0.1 / 0.4])


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_equality_counts_as_inside(epsilon: float) -> None:
    law = np.exp(-epsilon * np.arange(4.0))
    _, below = plots.ratios(
        [panel(one=law, other=law * math.exp(epsilon))], epsilon=epsilon, title="", across=""
    ).axes
    assert dots(below)[COLOURS[3]] == ([], [])


def test_the_band_reaches_from_one_bound_to_the_other() -> None:
    _, below = plots.ratios([panel(one=ONE, other=OTHER)], epsilon=0.5, title="", across="").axes
    (band,) = below.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx(
        (math.exp(-0.5), math.exp(0.5))
    )
    assert list(below.get_yticks()) == pytest.approx([math.exp(-0.5), 1, math.exp(0.5)])
    low, high = below.get_ylim()
    assert low < 0.25
    assert high > 4


def test_a_zero_has_no_ratio() -> None:
    _, below = plots.ratios(
        [panel(one=np.array([0, 0.5, 0.5, 0]), other=np.array([0, 0, 0.5, 0.5]))],
        epsilon=1,
        title="",
        across="",
    ).axes
    assert dots(below)[INK] == ([2], [1.0])


def test_the_legend_explains_everything() -> None:
    figure = plots.ratios([panel(one=ONE, other=OTHER)] * 2, epsilon=1, title="", across="")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "one",
        "other",
        "ratio inside the band",
        "outside",
        "$e^{-ε}$ to $e^{ε}$",
    ]
