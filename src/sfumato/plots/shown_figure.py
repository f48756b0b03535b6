"""A figure that a notebook shows by itself, whatever its plotting settings are."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A matplotlib figure that knows its picture: Jupyter asks any object for `_repr_png_`."""

    def _repr_png_(self) -> bytes:
        """Return the picture as PNG."""
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()
