"""Rules for refused values of rows: constants of another type, functions, formats and patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import get_close_matches

from sqlglot import exp

from ..sql_functions import function_names
from ..sql_text import Node
from .rewrite_trees import call_name, operands_of, replaced, write

TRUE_WORDS = frozenset({"1", "true", "t", "yes", "y"})
FALSE_WORDS = frozenset({"0", "false", "f", "no", "n"})

NEAR_FUNCTIONS = {
    "lastday": "DATE_TRUNC('month', {0})",
    "age": "DATE_DIFF('day', {0}, DATE '2026-01-01')",
    "instr": "STRPOS({all})",
    "charindex": "STRPOS({1}, {0})",
    "len": "LENGTH({0})",
    "charlength": "LENGTH({0})",
    "substringindex": "SPLIT_PART({0}, {1}, 1)",
    "ucase": "UPPER({0})",
    "lcase": "LOWER({0})",
    "todate": "CAST({0} AS DATE)",
    "strtodate": "CAST({0} AS DATE)",
    "strptime": "CAST({0} AS TIMESTAMP)",
    "totimestamp": "CAST({0} AS TIMESTAMP)",
    "datediff": "DATE_DIFF('day', {1}, {0})",
    "isnull": "{0} IS NULL",
}
"""Names of other systems, without underscores → what does nearly the same here."""

_PARTS = ("year", "quarter", "month", "week", "day", "isodow", "doy", "dow", "hour", "minute")
_PATTERNS = (exp.RegexpLike, exp.RegexpFullMatch, exp.RegexpILike, exp.SimilarTo, exp.Glob)


def name_today(part: Node) -> Iterator[Node]:
    """Write the date or the time of now, in UTC: the next question then means the same."""
    now, name = datetime.now(UTC), call_name(part)
    if isinstance(part, exp.CurrentDate) or name in ("today", "curdate", "getdate"):
        yield replaced(part, f"DATE '{now:%Y-%m-%d}'")
    elif isinstance(part, exp.CurrentTimestamp) or name == "now":
        yield replaced(part, f"TIMESTAMP '{now:%Y-%m-%d %H:%M:%S}'")


def compare_by_type(part: Node) -> Iterator[Node]:
    """Write a constant in another type: returned = 1 as returned = TRUE, age = '5' as age = 5."""
    for constant in list(part.find_all(exp.Literal)):
        text = str(constant.this)
        if text.lower() in TRUE_WORDS:
            yield replaced(constant, "TRUE")
        elif text.lower() in FALSE_WORDS:
            yield replaced(constant, "FALSE")
        if constant.is_string and text.removeprefix("-").replace(".", "", 1).isdecimal():
            yield replaced(constant, text)
        elif not constant.is_string:
            yield replaced(constant, exp.Literal.string(text))
        if constant.is_string and isinstance(part, exp.Binary):
            for kind in ("DATE", "TIMESTAMP"):
                yield replaced(constant, f"CAST({write(constant)} AS {kind})")
    if isinstance(part, exp.Binary):
        for side in (part.this, part.expression):
            for kind in ("DOUBLE", "TEXT", "TIMESTAMP"):
                yield replaced(side, f"TRY_CAST({write(side)} AS {kind})")


def read_as_number(part: Node) -> Iterator[Node]:
    """Read the arguments of a call as numbers, as texts or as moments."""
    for operand in operands_of(part):
        if isinstance(operand, exp.Column):
            for kind in ("DOUBLE", "TEXT", "TIMESTAMP"):
                yield replaced(operand, f"TRY_CAST({write(operand)} AS {kind})")


def count_seconds(part: Node) -> Iterator[Node]:
    """Count the seconds of a moment that was to be cast to a number."""
    if isinstance(part, exp.Cast):
        yield replaced(part, f"EPOCH({write(part.this)})")


def name_nearest_function(part: Node) -> Iterator[Node]:
    """Call the function of the nearest name with the same arguments."""
    if not isinstance(part, exp.Func):
        return
    name, operands = call_name(part), [write(operand) for operand in operands_of(part)]
    form = NEAR_FUNCTIONS.get(name.replace("_", ""))
    if form is not None and operands:
        yield replaced(part, form.format(*operands, *[""] * 3, all=", ".join(operands)))
    for near in get_close_matches(name, function_names(), n=3, cutoff=0.7):
        yield replaced(part, f"{near.upper()}({', '.join(operands)})")


def keep_argument(part: Node) -> Iterator[Node]:
    """Leave out a function but keep its argument; read a text where one is compared."""
    for operand in operands_of(part):
        if isinstance(operand, exp.Column):
            yield replaced(part, operand)
            yield replaced(part, f"LENGTH({write(operand)})")


def count_days_between(part: Node) -> Iterator[Node]:
    """Count days within bounds: a difference in days has none of its own."""
    if isinstance(part, exp.DateDiff):
        days = f"DATE_DIFF('day', {write(part.expression)}, {write(part.this)})"
        yield replaced(part, days)
        yield replaced(part, f"CLAMP({days}, 0, 1000)")


def name_nearest_part(part: Node) -> Iterator[Node]:
    """Name a part of a moment that there is."""
    for node in part.find_all(exp.Var, exp.Literal):
        name = (node.name if isinstance(node, exp.Var) else str(node.this)).lower()
        for near in [*get_close_matches(name, _PARTS, n=2, cutoff=0.5), "week"]:
            fresh = exp.Var(this=near) if isinstance(node, exp.Var) else exp.Literal.string(near)
            yield replaced(node, fresh)


def format_by_part(part: Node) -> Iterator[Node]:
    """Take a part of a moment instead of a format."""
    if call_name(part).replace("_", "") not in (
        *("timetostr", "tochar", "dateformat", "strftime", "formatdatetime"),
    ):
        return
    operands = operands_of(part)
    moment = next((node for node in operands if not isinstance(node, exp.Literal)), None)
    form = next((str(node.this) for node in operands if isinstance(node, exp.Literal)), "")
    if moment is None:
        return
    codes = (
        (("%W", "%U", "%V", "WW", "IW", "ww"), "EXTRACT(WEEK FROM {0})"),
        (("%u", "%w", "ID", "%a", "Dy", "E"), "DAYNAME({0})"),
        (("%b", "Mon", "MMM"), "MONTHNAME({0})"),
        (("%q", "Q"), "EXTRACT(QUARTER FROM {0})"),
        (("%H", "HH"), "DATE_TRUNC('hour', {0})"),
        (("%d", "DD", "dd"), "DATE_TRUNC('day', {0})"),
        (("%m", "MM"), "DATE_TRUNC('month', {0})"),
    )
    for signs, rewrite in codes:
        if any(sign in form for sign in signs):
            yield replaced(part, rewrite.format(write(moment)))
    yield replaced(part, f"DATE_TRUNC('month', {write(moment)})")


def search_parts(part: Node) -> Iterator[Node]:
    """Search by LIKE for the letters of a pattern, in their order."""
    node = part.this if isinstance(part, exp.Escape) else part
    if not isinstance(node, (*_PATTERNS, exp.Like, exp.ILike)) or not isinstance(
        node.expression, exp.Literal
    ):
        return
    text = str(node.expression.this)
    if isinstance(part, exp.Escape):
        sign = str(part.expression.this)
        unescaped = "".join(c for c in text.replace(sign + "%", "%").replace(sign + "_", "_"))
        plain = unescaped.strip("%")
        at_start, at_end = not text.startswith("%"), not text.endswith("%")
        name = "STARTS_WITH" if at_start and not at_end else "CONTAINS"
        yield replaced(part, f"{name}({write(node.this)}, {_quote(plain)})")
        return
    if isinstance(node, exp.Glob):
        yield replaced(part, f"{write(node.this)} LIKE {_quote(_from_glob(text))}")
        return
    if (letters := _letters(text)).strip("%"):
        yield replaced(node, f"{write(node.this)} LIKE {_quote(letters)}")
    loose = re.sub(r"[+*]+|\{[^}]*\}", ".*", text)
    yield replaced(node, f"REGEXP_MATCHES({write(node.this)}, {_quote(loose)})")


def _quote(text: str) -> str:
    return write(exp.Literal.string(text))


def _from_glob(text: str) -> str:
    """Write a pattern of GLOB as one of LIKE."""
    return text.replace("*", "%").replace("?", "_")


def _letters(pattern: str) -> str:
    """Return a pattern of LIKE with the plain letters of a regular expression in their order. What
    may be missing, or is one of several, becomes any characters.
    """
    without_sets = re.sub(r"\\[A-Za-z]|\[[^\]]*\]|\{[^}]*\}|\(\?[^)]*\)", "\0", pattern)
    sure = re.sub(r"\\?.[*?]", "\0", without_sets)
    pieces = [re.sub(r"[%_]", "", run) for run in re.split(r"[\0^$.|?*+()\\]+", sure)]
    text = "%".join(pieces)
    start = "" if pattern.startswith("^") and pieces[:1] == [""] and text[:1] == "%" else "%"
    text = text.removeprefix("%") if start == "" and sure[1:2].isalnum() else text
    end = "" if pattern.endswith("$") and sure[-2:-1].isalnum() else "%"
    text = text.removesuffix("%") if end == "" else text
    return re.sub("%+", "%", f"{start}{text}{end}")
