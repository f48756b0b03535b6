"""An answer in a notebook: the same tables and remarks as HTML. Everything that came from data or
from a user is escaped; there is no script.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ...exact.numbers import Number
from ..chosen_groups import shown_first
from .footnotes import notes
from .tabulate import Table, tables

if TYPE_CHECKING:
    from ..answer import Answer

STYLE = """
.sfumato { font: 14px/1.45 system-ui, sans-serif; }
.sfumato table { border-collapse: collapse; margin: 0 0 .6em; }
.sfumato th { text-align: left; font-weight: 600; border-bottom: 1px solid currentColor; padding: .2em 1.4em .2em 0; }
.sfumato td { border: 0; padding: .15em 1.4em .15em 0; vertical-align: top; text-align: left; font-variant-numeric: tabular-nums; white-space: nowrap; }
.sfumato td.value { text-align: right; padding-right: .4em; }
.sfumato td.number { text-align: right; }
.sfumato td.margin { opacity: .65; }
.sfumato ul { margin: 0; padding: 0; list-style: none; font-size: 12px; opacity: .8; }
"""

_CLASS = {True: "number", False: "key"}


def render(answer: Answer, confidence: Number = 0.95, most: int = 200) -> str:
    """The tables and the remarks."""
    answer = shown_first(answer, most)
    drawn = "".join(_draw(table) for table in tables(answer, confidence, most))
    remarks = "".join(
        f"<li>{' · '.join(map(text, items))}</li>" for items in notes(answer, confidence)
    )
    return f'<div class="sfumato"><style>{STYLE}</style>{drawn}<ul>{remarks}</ul></div>'


def text(value: str) -> str:
    """A text as text, whichever way its letters run."""
    return f"<bdi>{escape(value)}</bdi>"


def _draw(table: Table) -> str:
    head = "".join(f"<th>{text(name)}</th>" for name in table.keys) + "".join(
        f'<th colspan="2">{text(name)}</th>' for name in table.names
    )
    lines = []
    for keys, cells in zip(table.rows, table.cells, strict=True):
        named = "".join(
            f'<td class="{_CLASS[number]}">{text(key)}</td>'
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
        lines.append(
            f'<tr><td colspan="{wide}">… and {table.more:,} more rows</td></tr>'.replace(",", " ")
        )
    if not table.rows:
        lines.append(f'<tr><td colspan="{wide}">no group is shown</td></tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
