"""A figure shows itself in a notebook."""

from __future__ import annotations

from matplotlib.figure import Figure

from sfumato.plots.plot_style import figure


def test_it_is_a_picture() -> None:
    canvas = figure(2, 1, "title")
    canvas.subplots().plot([1, 2])
    picture = canvas._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert isinstance(canvas, Figure)
