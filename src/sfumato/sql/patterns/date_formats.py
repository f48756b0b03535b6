"""Read STRFTIME, TO_CHAR and DATE_FORMAT: each system's codes become those of `strftime`.

*Constant*   The format has to be a constant: the query is the same for every row.
*TO_CHAR*    has PostgreSQL's codes. Its names of days and months are not padded with blanks here.
*DATE_FORMAT* has MySQL's codes if there is a % in it, and Spark's otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from ...tables.expr.expressions import Expr, call
from ...tables.expr.functions_format import CODES, is_format
from .. import sql_refusals as refusals
from ..sql_text import Node

if TYPE_CHECKING:
    from ..datetimes import Read
    from ..row_expressions import RowReader

POSTGRES: Mapping[str, str] = {
    "YYYY": "%Y",
    "MM": "%m",
    "DDD": "%j",
    "DD": "%d",
    "HH24": "%H",
    "MI": "%M",
    "SS": "%S",
    "IW": "%V",
    "ID": "%u",
    "FMMonth": "%B",
    "Month": "%B",
    "Mon": "%b",
    "FMDay": "%A",
    "Day": "%A",
    "Dy": "%a",
}
"""Codes of TO_CHAR → those of strftime."""

SPARK: Mapping[str, str] = {
    "yyyy": "%Y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "dd": "%d",
    "DDD": "%j",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "EEEE": "%A",
    "EEE": "%a",
}
"""Codes of Spark's DATE_FORMAT → those of strftime."""

MYSQL: Mapping[str, str] = {
    "%Y": "%Y",
    "%m": "%m",
    "%d": "%d",
    "%H": "%H",
    "%i": "%M",
    "%S": "%S",
    "%s": "%S",
    "%j": "%j",
    "%b": "%b",
    "%a": "%a",
    "%M": "%B",
    "%W": "%A",
}
"""Codes of MySQL's DATE_FORMAT → those of strftime."""

NAMES = ("strftime", "to_char", "date_format", "format_datetime")


def translate(form: str, codes: Mapping[str, str]) -> str | None:
    """Write a format with the codes of strftime; None if it has another code."""
    longest = sorted(codes, key=len, reverse=True)
    quoted = "'[^']*'|\"[^\"]*\""
    pattern = re.compile(f"({quoted})|({'|'.join(map(re.escape, longest))})|(.)", re.DOTALL)
    pieces = []
    for match in pattern.finditer(form):
        text, code, sign = match.groups()
        if code is not None:
            pieces.append(codes[code])
        elif text is not None:
            pieces.append(text[1:-1].replace("%", "%%"))
        elif sign.isalpha() or sign in "%'\"":
            return None
        else:
            pieces.append(sign)
    return "".join(pieces)


def read_strftime(node: exp.TimeToStr, read: Read, scalars: RowReader) -> Expr:
    """Read STRFTIME(x, format); SQLite's order, with the format first, is read, too."""
    moment, form = node.this, node.args["format"]
    if _is_text(moment) and not _is_text(form):
        moment, form = form, moment
    return _format(node, moment, form, None, read, scalars)


def read_to_char(node: exp.ToChar, read: Read, scalars: RowReader) -> Expr:
    return _format(node, node.this, node.args.get("format"), POSTGRES, read, scalars)


def read_date_format(node: exp.Anonymous, read: Read, scalars: RowReader) -> Expr:
    if len(node.expressions) != 2:
        raise scalars.refuse_unsupported(node)
    moment, form = node.expressions
    codes = MYSQL if _is_text(form) and "%" in str(form.this) else SPARK
    return _format(node, moment, form, codes, read, scalars)


def _format(
    node: Node,
    moment: Node,
    form: Node | None,
    codes: Mapping[str, str] | None,
    read: Read,
    scalars: RowReader,
) -> Expr:
    if form is None or not _is_text(form):
        raise scalars.source.refuse(refusals.FORMAT_NOT_CONSTANT, node)
    text = str(form.this)
    plain = text if codes is None else translate(text, codes)
    if plain is None or not is_format(plain):
        raise scalars.source.refuse(
            refusals.FORMAT_UNSUPPORTED, node, format=text, codes=" ".join(CODES)
        )
    return call("strftime", read(moment), plain)


def _is_text(node: object) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)
