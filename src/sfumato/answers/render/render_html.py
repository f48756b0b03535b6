"""Render an answer as HTML for notebooks: the tables and footnotes of the printed text. Everything
that came from data or from a user is escaped, and there is no script.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ...exact.numbers import Number
from ..chosen_groups import mark_shown_groups
from . import footnote_texts as texts
from .footnotes import build_notes
from .tabulate import TextTable, build_tables

if TYPE_CHECKING:
    from ..answer import Answer

STYLE = """
.sfumato { font: 14px/1.45 system-ui, sans-serif; }
.sfumato table { border-collapse: collapse; margin: 0 0 .6em; }
.sfumato th { text-align: left; font-weight: 600; border-bottom: 1px solid currentColor;
 padding: .2em 1.4em .2em 0; }
.sfumato td { border: 0; padding: .15em 1.4em .15em 0; vertical-align: top; text-align: left;
 font-variant-numeric: tabular-nums; white-space: nowrap; }
.sfumato td.value { text-align: right; padding-right: .4em; }
.sfumato td.number { text-align: right; }
.sfumato td.margin { opacity: .65; }
.sfumato ul { margin: 0; padding: 0; list-style: none; font-size: 12px; opacity: .8; }
"""

_CLASS = {True: "number", False: "key"}


def render(answer: Answer, confidence: Number = 0.95, most: int = 200) -> str:
    """Render the tables and the footnotes, with at most `most` rows."""
    answer = mark_shown_groups(answer, most)
    drawn = "".join(_draw(table) for table in build_tables(answer, confidence, most))
    remarks = "".join(
        f"<li>{' · '.join(map(escape_text, items))}</li>"
        for items in build_notes(answer, confidence)
    )
    return f'<div class="sfumato"><style>{STYLE}</style>{drawn}<ul>{remarks}</ul></div>'


def escape_text(value: str) -> str:
    """Escape a text and isolate its writing direction."""
    return f"<bdi>{escape(value)}</bdi>"


def _draw(table: TextTable) -> str:
    head = "".join(f"<th>{escape_text(name)}</th>" for name in table.keys) + "".join(
        f'<th colspan="2">{escape_text(name)}</th>' for name in table.names
    )
    lines = []
    for keys, cells in zip(table.rows, table.cells, strict=True):
        named = "".join(
            f'<td class="{_CLASS[number]}">{escape_text(key)}</td>'
            for key, number in zip(keys, table.numeric, strict=True)
        )
        valued = "".join(
            (
                f'<td class="value">{escape(cell.value)}</td><td '
                f'class="margin">{escape(cell.margin)}</td>'
            )
            for cell in cells
        )
        lines.append(f"<tr>{named}{valued}</tr>")
    wide = len(table.keys) + 2 * len(table.names)
    if table.more:
        thousands = f"{table.more:,}".replace(",", " ")
        lines.append(f'<tr><td colspan="{wide}">{texts.MORE_ROWS.format(more=thousands)}</td></tr>')
    if not table.rows:
        lines.append(f'<tr><td colspan="{wide}">{texts.NO_GROUP}</td></tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
