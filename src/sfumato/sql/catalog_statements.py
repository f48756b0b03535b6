"""Read statements that are no SELECT.

*Catalogue*  DESCRIBE, SHOW TABLES and SHOW COLUMNS ask for what is declared, which is public: no
             data is read for them, and they cost nothing.
*Synthetic*  CREATE SYNTHETIC TABLE name AS SELECT columns FROM table WHERE condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from sqlglot import exp

from ..tables.query.stages import Rows
from . import sql_refusals as refusals
from .read_sql import parse_select

_NAME = r'(?P<name>[^\s"\';]+|"[^"\';]+")'
_FORMS = re.compile(
    rf"\s*(?:(?:DESCRIBE|DESC)(?:\s+TABLE)?(?:\s+{_NAME})?"
    rf"|SHOW\s+(?:ALL\s+)?TABLES|SHOW\s+COLUMNS\s+(?:FROM|IN)\s+{_NAME.replace('name', 'of')})"
    r"\s*;?\s*",
    re.IGNORECASE,
)

_HEAD = re.compile(
    r"\s*CREATE\s+SYNTHETIC\s+TABLE\s+\w+\s+AS\s+(?=SELECT\b)", re.IGNORECASE | re.ASCII
)
_PARTS = frozenset({"expressions", "from_", "where", "kind"})


def described_table(text: object) -> str | None:
    """Return the table that a text asks to describe, "" for all tables. None for other texts."""
    form = _FORMS.fullmatch(text) if isinstance(text, str) else None
    if form is None:
        return None
    return (form["name"] or form["of"] or "").strip('"')


def find_table(name: str, tables: Iterable[str], text: str) -> str:
    """Return the table of a name, in whatever case."""
    listed = list(tables)
    for table in listed:
        if table.lower() == name.lower():
            return table
    near = get_close_matches(name, listed, n=1, cutoff=0)[0]
    shown = " ".join(text.split())
    raise refusals.DESCRIBED_TABLE(text=shown, tables=", ".join(listed), near=near)


def find_synthetic(text: object) -> str | None:
    """Return the SELECT of a CREATE SYNTHETIC TABLE; None if the text is something else."""
    head = _HEAD.match(text) if isinstance(text, str) else None
    return None if head is None else head.string[head.end() :]


def read_synthetic(select: str, rows: Rows) -> tuple[Rows, list[str] | None]:
    """Return the rows and the columns of a synthetic table: plain columns of one table, with a
    condition.
    """
    name = rows.declaration.name
    source, tree = parse_select(select, f"SELECT * FROM {name}")
    for part, value in tree.args.items():
        if value and part not in _PARTS:
            raise source.refuse(refusals.NOT_PLAIN_ROWS, value if part == "limit" else tree)
    origin = tree.args.get("from_")
    table = origin.this if origin is not None else None
    if not isinstance(table, exp.Table) or table.name.lower() != name.lower():
        raise source.refuse(refusals.NOT_PLAIN_ROWS, table or tree)
    if table.args.get("joins"):
        raise source.refuse(refusals.NOT_PLAIN_ROWS, table)
    columns: list[str] | None = []
    for node in tree.expressions:
        if isinstance(node, exp.Star) and len(tree.expressions) == 1:
            columns = None
        elif isinstance(node, exp.Column) and columns is not None:
            columns.append(_find(node.name, rows))
        else:
            raise source.refuse(refusals.NOT_PLAIN_ROWS, node)
    condition = tree.args.get("where")
    if condition is not None:
        rows = rows.where(condition.this.sql(dialect="duckdb"))
    return rows, columns


def _find(name: str, rows: Rows) -> str:
    """Return the column of that name, as SQL compares names."""
    return next((each for each in rows.schema if each.lower() == name.lower()), name)
