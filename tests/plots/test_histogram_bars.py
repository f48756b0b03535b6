"""The picture of a histogram holds what it was given."""

from __future__ import annotations

import numpy as np

from sfumato import plots


def test_exact_steps_and_published_points() -> None:
    edges, exact, published = np.array([0.0, 1.0, 3.0]), np.array([4, 7]), np.array([-2, 9])
    drawn = plots.cells(edges, exact, published, error=5, title="Counts", across="age")
    (axes,) = drawn.axes
    assert [list(patch.get_data().values) for patch in axes.patches] == [[4, 7], [4, 7]]
    (bars,) = axes.containers
    points, _, (sticks,) = bars
    assert points.get_xydata().tolist() == [[0.5, -2], [2.0, 9]]
    assert [segment[:, 1].tolist() for segment in sticks.get_segments()] == [[-7, 3], [4, 14]]
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "exact, and secret",
        "published, ± 5",
    ]
    assert axes.get_xlabel() == "age"
