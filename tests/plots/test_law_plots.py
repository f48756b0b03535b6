"""Pictures show the arrays they were given, and touch no global state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import plots

INTEGERS = np.arange(-2, 4)
LAWS = {
    "one": np.array([0.1, 0.2, 0.4, 0.2, 0.1, 0.0]),
    "other": np.array([0.0, 0.1, 0.2, 0.4, 0.2, 0.1]),
}


def panel(**changes: Any) -> plots.LawPanel:
    return plots.LawPanel(
        **(
            {"title": "ε = 1", "remark": "± 2", "integers": INTEGERS, "laws": LAWS, "mark": 1}
            | changes
        )
    )


def test_every_law_is_drawn_over_its_integers() -> None:
    (axes,) = plots.laws([panel()], title="t", across="x", mark="drawn").axes
    outlines = [patch for patch in axes.patches if not patch.get_fill()]
    for outline, law in zip(outlines, LAWS.values(), strict=True):
        values, edges, _ = outline.get_data()
        np.testing.assert_array_equal(values, law)
        np.testing.assert_array_equal(edges, np.arange(-2, 5) - 0.5)


def test_labels_are_complete() -> None:
    figure = plots.laws(
        [panel(), panel(title="ε = 2")], title="the title", across="published number", mark="drawn"
    )
    assert figure.get_suptitle() == "the title"
    assert [axes.get_title() for axes in figure.axes] == ["ε = 1", "ε = 2"]
    assert {axes.get_xlabel() for axes in figure.axes} == {"published number"}
    assert figure.axes[0].get_ylabel() == "probability"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "other", "drawn"]


@pytest.mark.parametrize(
    ("mark", "at", "shape"), [(1, 1.0, "^"), (-900, -2.5, "<"), (900, 3.5, ">")]
)
def test_a_mark_outside_becomes_an_arrow_at_the_edge(mark: int, at: float, shape: str) -> None:
    (axes,) = plots.laws([panel(mark=mark)], title="t", across="x", mark="drawn").axes
    (line,) = axes.lines
    assert (line.get_xdata()[0], line.get_marker()) == (at, shape)


def test_no_mark_no_legend_entry() -> None:
    figure = plots.laws([panel(mark=None)], title="t", across="x")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "other"]
