"""Pictures of tables: a mark for every printed number, in the colour of its verdict."""

from __future__ import annotations

from sfumato.studies import StudyRow, Verdict
from sfumato.studies.band_pictures import MARKS, bars, spreads, strips
from sfumato.studies.printed import Printed

ROWS = [
    StudyRow.drawn(f"cell {x}", Printed(x), [1.0, 2.0, 3.0], (0.5, 4.0)) for x in ("2.0", "9.0")
]


def test_strips() -> None:
    for log in (False, True):
        canvas = strips(ROWS, title="A table", log=log)
        (axes,) = canvas.axes
        assert [label.get_text() for label in axes.get_yticklabels()] == ["cell 2.0", "cell 9.0"]
        (legend,) = canvas.legends
        assert {text.get_text() for text in legend.get_texts()} >= {
            MARKS[Verdict.AGREES][2],
            MARKS[Verdict.DIFFERS][2],
        }


def test_bars_and_spreads() -> None:
    canvas = bars(["a", "b"], {"one": [0.1, 0.2], "two": [0.3, 0.4]}, title="Bars", up="share")
    assert len(canvas.axes[0].patches) == 4
    canvas = spreads({"one": [1.0, 2.0], "two": [2.0, 3.0]}, title="Boxes", across="x", exact=1.5)
    assert [label.get_text() for label in canvas.axes[0].get_yticklabels()] == ["one", "two"]
