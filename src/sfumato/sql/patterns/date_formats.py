"""Read STRFTIME, TO_CHAR and DATE_FORMAT: each system's codes become those of `strftime`.

*Constant*   The format has to be a constant: the query is the same for every row.
*TO_CHAR*    has PostgreSQL's codes. Its names of days and months are not padded with blanks here.
*Quotes*     are those of each system: "…" in TO_CHAR, '…' in Spark, none in MySQL.
*DATE_FORMAT* has MySQL's codes if there is a % in it, and Spark's otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ...tables.expr.expressions import Expr, call
from ...tables.expr.functions_format import CODES, is_format
from .. import sql_refusals as refusals
from ..sql_text import Node

if TYPE_CHECKING:
    from ..datetimes import Read
    from ..row_expressions import RowReader


@dataclass(frozen=True, slots=True)
class FormatLanguage:
    """The codes of a system's formats → those of strftime, and the pattern of a quoted text."""

    codes: Mapping[str, str]
    quoted: str = "(?!)"  # nothing is quoted


POSTGRES = FormatLanguage(
    {
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
    },
    quoted=r'"[^"\\]*"',
)
"""Codes of TO_CHAR → those of strftime."""

SPARK = FormatLanguage(
    {
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
    },
    quoted="'[^']+'(?!')",
)
"""Codes of Spark's DATE_FORMAT → those of strftime."""

MYSQL = FormatLanguage(
    {
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
)
"""Codes of MySQL's DATE_FORMAT → those of strftime."""

NAMES = ("strftime", "to_char", "date_format", "format_datetime")


_NOT_PLAIN = "%'\"\\[]{}#"
"""Signs that mean something else in a format of one of the systems, or that one does not print."""


def translate(form: str, language: FormatLanguage) -> str | None:
    """Write a format with the codes of strftime; None if it has another code."""
    codes = language.codes
    longest = sorted(codes, key=len, reverse=True)
    pattern = re.compile(
        f"({language.quoted})|({'|'.join(map(re.escape, longest))})|(.)", re.DOTALL
    )
    pieces = []
    for match in pattern.finditer(form):
        text, code, sign = match.groups()
        if code is not None:
            pieces.append(codes[code])
        elif text is not None:
            pieces.append(text[1:-1].replace("%", "%%"))
        elif sign.isalpha() or sign in _NOT_PLAIN:
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
    language = MYSQL if _is_text(form) and "%" in str(form.this) else SPARK
    return _format(node, moment, form, language, read, scalars)


def _format(
    node: Node,
    moment: Node,
    form: Node | None,
    language: FormatLanguage | None,
    read: Read,
    scalars: RowReader,
) -> Expr:
    if form is None or not _is_text(form):
        raise scalars.source.refuse(refusals.FORMAT_NOT_CONSTANT, node)
    text = str(form.this)
    plain = text if language is None else translate(text, language)
    if plain is None or not is_format(plain):
        raise scalars.source.refuse(
            refusals.FORMAT_UNSUPPORTED, node, format=text, codes=" ".join(CODES)
        )
    return call("strftime", read(moment), plain)


def _is_text(node: object) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)
