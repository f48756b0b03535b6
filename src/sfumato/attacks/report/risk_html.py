"""HTML parts of the risk report and the demo: sections, tables, pictures. Callers escape their
text.
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
from ..lib.attack_text import at_most, format_number, per_cent
from .risk_style import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def document(title: str, body: str, style: str = STYLE) -> str:
    """Build a self-contained page: no script, nothing to fetch."""
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


def tile(value: str, caption: str, *, is_private: bool = False) -> str:
    """Build a tile: one large number and its caption."""
    return f'<div class="tile{" kept" if is_private else ""}"><b>{value}</b>{caption}</div>'


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, exact: int = 0, kind: str = ""
) -> str:
    """Build a table that scrolls where it is too wide; `exact` first rows are exact answers."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    lines = []
    for place, row in enumerate(rows):
        cells = "".join(f"<td>{cell}</td>" for cell in row)
        lines.append(f"<tr{' class=exact' if place < exact else ''}>{cells}</tr>")
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="wide{" " if kind else ""}{kind}"><table>{body}</table></div>'


def successes(games: Sequence[Success]) -> str:
    """Tabulate how often the attacker is right, with bars and a mark for the allowed rate."""
    rows = []
    for game in games:
        mark = (
            ""
            if game.bound is None
            else f'<u style="left:{100 * min(game.bound, 0.985):.1f}%"></u>'
        )
        bar = f'<span class="bar"><i style="width:{100 * game.rate:.1f}%"></i>{mark}</span>'
        most = "no limit" if game.bound is None else at_most(game.bound)
        rows.append((escape(game.against), per_cent(game.rate), bar, most, per_cent(game.chance)))
    heads = ("answers", "the attacker is right", "", "allowed at most", "by guessing")
    return table(heads, rows, exact=sum(game.bound is None for game in games), kind="games")


def picture(drawn: Figure, caption: str) -> str:
    """Embed a figure in the page."""
    buffer = BytesIO()
    drawn.savefig(buffer, format="png", metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return (
        f'<figure><img alt="{escape(caption)}" '
        f'src="data:image/png;base64,{data}"><figcaption>{escape(caption)}</figcaption></figure>'
    )


def format_answer(value: float) -> str:
    """Format an answer as it was released."""
    return (
        format_number(value) if float(value).is_integer() else f"{value:,.1f}".replace(",", " ")
    ).replace("-", "−")


def keep_digits_together(body: str) -> str:
    """Keep the digits of a number on one line, and the sign of a percentage with it."""
    return re.sub(r"(?<=\d) (?=\d{3}(?!\d)|%)", "\u202f", body)


def round_up(value: float) -> str:
    """Format a bound, rounded up to two decimals."""
    return f"{math.ceil(100 * value) / 100:.12g}" if math.isfinite(value) else "∞"
