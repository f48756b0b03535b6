"""The pieces of a page for people, as the risk report and the demo are: sections, tables, pictures.
Whoever puts text in escapes it before.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from ..lib.attack_result import Success
from ..lib.attack_text import at_most, per_cent, spaced
from .risk_style import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def document(title: str, body: str, style: str = STYLE) -> str:
    """A page that needs nothing beside it: nothing runs, nothing is fetched."""
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><title>{title}</title><style>{style}</style>'
    )
    return (
        f"<!doctype html>\n<html "
        f'lang="en"><head>{head}</head><body><main>{body}</main></body></html>\n'
    )


def paragraph(*sentences: str) -> str:
    return f"<p>{' '.join(sentences)}</p>"


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{title}</h2>{''.join(parts)}</section>"


def tile(value: str, beside: str, *, kept: bool = False) -> str:
    """One large number and what it is."""
    return f'<div class="tile{" kept" if kept else ""}"><b>{value}</b>{beside}</div>'


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, exact: int = 0, kind: str = ""
) -> str:
    """A table that scrolls where it is too wide; the first rows may be about exact answers."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    lines = (
        f"<tr{' class=exact' if place < exact else ''}>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
        for place, row in enumerate(rows)
    )
    return (
        f"<div "
        f'class="wide{" " if kind else ""}{kind}"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def successes(found: Sequence[Success]) -> str:
    """How often the attacker is right, as numbers and as bars with a mark for what is allowed."""
    rows = []
    for one in found:
        mark = (
            "" if one.bound is None else f'<u style="left:{100 * min(one.bound, 0.985):.1f}%"></u>'
        )
        bar = f'<span class="bar"><i style="width:{100 * one.rate:.1f}%"></i>{mark}</span>'
        most = "no limit" if one.bound is None else at_most(one.bound)
        rows.append((escape(one.against), per_cent(one.rate), bar, most, per_cent(one.chance)))
    heads = ("answers", "the attacker is right", "", "allowed at most", "by guessing")
    return table(heads, rows, exact=sum(one.bound is None for one in found), kind="games")


def picture(drawn: Figure, caption: str) -> str:
    """The figure itself, inside the page."""
    buffer = BytesIO()
    drawn.savefig(buffer, format="png", metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return (
        f'<figure><img alt="{escape(caption)}" '
        f'src="data:image/png;base64,{data}"><figcaption>{escape(caption)}</figcaption></figure>'
    )


def told(value: float) -> str:
    """An answer, as it was given."""
    return (
        spaced(value) if float(value).is_integer() else f"{value:,.1f}".replace(",", " ")
    ).replace("-", "−")


def joined(body: str) -> str:
    """Keep the digits of a number on one line, and the sign of a percentage with it."""
    return re.sub(r"(?<=\d) (?=\d{3}(?!\d)|%)", "\u202f", body)


def up(value: float) -> str:
    """A bound, rounded up to two decimals."""
    return f"{math.ceil(100 * value) / 100:.12g}" if math.isfinite(value) else "∞"
