"""Table and picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.auditing.survey import survey
from sfumato.auditing.survey_report import markdown_table, plot_survey, table_lines

ROWS = survey(["NoisyMax", "RandomizedResponse"], samples=100, epsilons=(1.0, 2.0))


def test_a_row_for_each_mechanism_and_level() -> None:
    table = table_lines(ROWS)
    assert len(table) == 1 + len(ROWS) == 7
    assert table[0].split() == [
        "mechanism",
        "ε",
        "claimed",
        "proven",
        "share",
        "pairs",
        "how",
        "verdict",
    ]
    assert all(line.endswith("holds") for line in table[1:])
    assert len({line.index("ε ") for line in table[1:]}) == 1
    assert markdown_table(ROWS).count("\n") == 2 + len(ROWS)
    assert "arithmetic" in markdown_table(ROWS)


def test_the_picture_has_a_line_for_each_mechanism() -> None:
    canvas = plot_survey(
        [
            *ROWS,
            replace(ROWS[0], proven=9.0, verdict="violated"),
            replace(ROWS[0], name="nothing", claimed=0.0),
        ]
    )
    axes = canvas.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        *dict.fromkeys(row.name for row in ROWS),
        "nothing",
    ]
    assert max(np.max(np.asarray(line.get_xdata()), initial=0.0) for line in axes.lines) <= 1.06
