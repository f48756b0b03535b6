"""Read any supported table as an Arrow table; only the named columns, where that saves work.

*Objects*   A column of Python objects of several kinds is read as text.
*Raw*       Nothing here is private: these are the owner's own data.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import Refused
from .. import attack_refusals as refusals
from .unread_lines import UnreadLines, find_unread

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Names = Sequence[str] | None
"""The columns to read; None for all."""
Cells = Sequence[object]
"""The values of one column."""


def find_unread_lines(table: object, rows: int) -> UnreadLines | None:
    """Find the lines of a CSV file that could not be read, given the number of rows; None where
    nothing is missing, or the table is no CSV file.
    """
    from ...tables.engine.source_files import find_files

    if not isinstance(table, str | os.PathLike) or "://" in os.fspath(table):
        return None
    files = find_files(table)
    return find_unread(files.paths, rows) if files.kind == "CSV" else None


def as_arrow(table: object, names: Names) -> pa.Table:
    """Read a table as an Arrow table; only the named columns, where that saves work."""
    if isinstance(table, str | os.PathLike):
        return _file(table, names)
    for (library, kind), read in READERS.items():
        module = sys.modules.get(library)  # a caller who has such a table has loaded its library
        if module is not None and isinstance(table, getattr(module, kind)):
            return read(table, names)
    raise refusals.NOT_A_TABLE(type=type(table).__name__)


def _file(path: str | os.PathLike[str], names: Names) -> pa.Table:
    from ...tables.engine.sources import open_source

    source = open_source(path)
    try:
        chosen = choose_columns(names, list(source.schema))
        return source.engine.run(source.table.select(chosen))
    finally:
        source.engine.close()


def _pandas(frame: pd.DataFrame, names: Names) -> pa.Table:
    import pyarrow as pa

    chosen = choose_columns(names, list(frame.columns))
    return pa.table({name: _cells(frame[name]) for name in chosen})


def _cells(values: Cells) -> pa.Array:
    """Convert a column; mixed Python objects become text."""
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([None if _is_missing(cell) else str(cell) for cell in values], pa.string())


def _is_missing(cell: object) -> bool:
    """Whether a cell is None or not equal to itself: NaN, NaT and NA."""
    try:
        return cell is None or bool(cell != cell)
    except (TypeError, ValueError):  # NA says neither, an array says both
        return type(cell).__name__ == "NAType"


def _polars(frame: pl.DataFrame, names: Names) -> pa.Table:
    return frame.select(choose_columns(names, frame.columns)).to_arrow()


def _relation(relation: duckdb.DuckDBPyRelation, names: Names) -> pa.Table:
    from ...tables.engine.duckdb_engine import quote_name

    return relation.project(
        ", ".join(map(quote_name, choose_columns(names, relation.columns)))
    ).to_arrow_table()


def _ibis(table: Any, names: Names) -> pa.Table:  # only `tables` imports Ibis
    return table.select(choose_columns(names, list(table.columns))).to_pyarrow()


def _dictionary(table: Mapping[str, Cells], names: Names) -> pa.Table:
    import pyarrow as pa

    chosen = choose_columns(names, list(table))
    try:
        lengths = {len(table[name]) for name in chosen if not isinstance(table[name], str)}
    except TypeError:
        lengths = set()
    if len(lengths) != 1 or any(isinstance(table[name], str) for name in chosen):
        raise refusals.COLUMNS_OF_UNEQUAL_LENGTH()
    return pa.table({name: _cells(table[name]) for name in chosen})


def _rows(table: Sequence[Mapping[str, object]], names: Names) -> pa.Table:
    if not table:
        raise refusals.LIST_WITHOUT_ROWS()
    if not all(isinstance(row, Mapping) for row in table):
        raise refusals.ROWS_NOT_DICTIONARIES(type=type(table).__name__)
    return _dictionary({name: [row.get(name) for row in table] for name in table[0]}, names)


READERS: Mapping[tuple[str, str], Callable[[Any, Names], pa.Table]] = {
    ("pandas", "DataFrame"): _pandas,
    ("polars", "DataFrame"): _polars,
    ("polars", "LazyFrame"): lambda frame, names: _polars(frame.collect(), names),
    ("pyarrow", "Table"): lambda table, _: table,
    ("duckdb", "DuckDBPyRelation"): _relation,
    ("ibis", "Table"): _ibis,
    ("builtins", "dict"): _dictionary,
    ("builtins", "list"): _rows,
    ("builtins", "tuple"): _rows,
}
"""Library and class → function that reads such a table."""


def check_columns(names: object) -> list[str]:
    """Check that these are one or more different column names."""
    listed = [] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise refusals.COLUMNS_NOT_NAMES(columns=names)
    if len(set(listed)) != len(listed):
        raise refusals.COLUMN_NAMED_TWICE(columns=names)
    return listed


def check_sensitive(name: object, columns: Sequence[str]) -> str:
    """Check that the sensitive column is none of those that the adversary knows."""
    if not isinstance(name, str) or name in columns:
        raise refusals.SENSITIVE_COLUMN_KNOWN(column=name)
    return name


def choose_columns(names: Sequence[str] | None, have: Sequence[str]) -> list[str]:
    if len(set(have)) != len(have):
        raise refusals.TABLE_COLUMNS_OF_SAME_NAME(columns=_join(have))
    if not all(isinstance(name, str) for name in have):
        raise refusals.TABLE_COLUMN_NAMES_NOT_TEXT(columns=_join(have))
    if names is None:
        return list(have)
    chosen = check_columns(names)
    for name in chosen:
        if name not in have:
            raise unknown_column(name, have)
    return chosen


def unknown_column(name: str, have: Sequence[str]) -> Refused:
    """Build the refusal of a column that a table does not have; suggest the closest name."""
    from difflib import get_close_matches

    nearest = next(iter(get_close_matches(name, have, 1)), next(iter(have), ""))
    return refusals.UNKNOWN_COLUMN(name=name, columns=_join(have), nearest=nearest)


def _join(names: Sequence[object]) -> str:
    return ", ".join(map(str, names))
