"""Read CSV files as text. Every line is parsed alone, so that a broken line cannot affect another.

*Names*     The first line names the columns; all files of a table have the same.
*Lines*     A line is split at commas (.tsv: at tabs). A field may stand in quotes, in which a comma
            is text and a quote is written twice. A line ends at its first NUL character, if it has
            one.
*Left out*  Lines that are not UTF-8, longer than 2 MB, with quotes that do not match, or with
            another number of fields than the first. Records with a line break inside a field are
            left out, too: if lines were joined, one forgotten quote would swallow other rows.
*Types*     Every column is text, and an empty field is null; the owner declares other types.
            Nothing is guessed from values.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Sequence
from pathlib import Path

from . import engine_refusals as refusals
from .duckdb_engine import quote_name, quote_text

MOST_COLUMNS = 1000
_LONGEST_HEADER = 1 << 20
_OPTIONS = (
    "auto_detect = false, columns = {'line': 'VARCHAR'}, header = false, skip = 1, "
    "nullstr = '', strict_mode = false, ignore_errors = true, "
    # No quotes, no delimiter: DuckDB's reader then only looks for line breaks, each of \r and \n
    # being one. With quotes it is not total: a bad one at the edge of a buffer can end in an
    # internal error, and which lines are joined depends on the size of the buffer.
    "delim = '', quote = '', escape = '', comment = '', new_line = '\\n', null_padding = "
    "false, hive_partitioning = false, filename = false"
)


def read_header(paths: Sequence[str]) -> tuple[str, ...]:
    """Read the column names, which all files must share in their first lines."""
    first = _first_line(paths[0])
    for path in paths:
        if (_first_line(path), _comma(path)) != (first, _comma(paths[0])):
            raise refusals.CSV_HEADERS_DIFFER(file=Path(path).name, first_file=Path(paths[0]).name)
    if len(first) > MOST_COLUMNS:
        raise refusals.CSV_TOO_WIDE(file=Path(paths[0]).name, columns=len(first), most=MOST_COLUMNS)
    return first


def lines_query(paths: Sequence[str], columns: Sequence[str]) -> str:
    """Write the subquery after FROM that splits every line into text fields, by functions that
    cannot fail.
    """
    comma, count = _comma(paths[0]), len(columns)
    reader = f"read_csv([{', '.join(map(quote_text, paths))}], {_OPTIONS})"
    # A line with quotes is matched as a whole; one that is not well formed matches nowhere, and
    # `whole` is empty.
    pattern = "^(" + comma.join([f'("(?:[^"]|"")*"|[^{comma}"]*)'] * count) + ")$"
    names = ", ".join(["'whole'", *(f"'c{i}'" for i in range(count))])
    matched = (
        f"CASE WHEN contains(line, '\"') THEN regexp_extract(line, {quote_text(pattern)}, "
        f"[{names}]) END"
    )
    split = (
        f"SELECT string_split(line, {quote_text(comma)}) AS s, {matched} AS q FROM {reader} WHERE "
        f"line IS NOT NULL"
    )
    fields = ", ".join(f"{_field(i)} AS {quote_name(name)}" for i, name in enumerate(columns))
    return f"(SELECT {fields} FROM ({split}) WHERE coalesce(q.whole <> '', len(s) = {count}))"


def _field(i: int) -> str:
    return (
        f"NULLIF(CASE WHEN q IS NULL THEN s[{i + 1}] WHEN q.c{i}[1] = '\"' THEN "
        f"replace(q.c{i}[2:-2], '\"\"', '\"') ELSE q.c{i} END, '')"
    )


def _comma(path: str) -> str:
    return "\t" if path.lower().endswith((".tsv", ".tsv.gz")) else ","


def _first_line(path: str) -> tuple[str, ...]:
    zipped = path.lower().endswith(".gz")
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as file:
            line = re.split(rb"[\r\n]", file.read(_LONGEST_HEADER), maxsplit=1)[0].decode(
                "utf-8-sig"
            )
        names = tuple(next(csv.reader([line], delimiter=_comma(path), strict=True)))
    except UnicodeDecodeError:  # the first line is public, so that this may be said of it
        raise refusals.CSV_NOT_UTF8(file=Path(path).name) from None
    except (OSError, EOFError, csv.Error, StopIteration):
        names = ()
    if not names:
        raise refusals.CSV_HEADER_MISSING(file=Path(path).name)
    return names
