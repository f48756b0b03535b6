"""From whatever holds a table to an Arrow table: only the columns that were asked for, where that
spares work.

*Objects*   A column of Python objects of several kinds is read as text.
*Raw*       Nothing here is private: these are the owner's own data.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import Refused
from .unread_lines import Unread, unread

_KNOWN = (
    "a pandas or Polars frame, an Arrow table, a DuckDB relation, an Ibis table, a path, a "
    "dictionary of columns or a list of rows"
)
_REWRITE = 'attacks.uniqueness(frame, ["sex", "age"])'


def unread_lines(table: object, rows: int) -> Unread | None:
    """What could not be read of a CSV file that gave so many rows; None where nothing is missing,
    or there are no lines.
    """
    from ...tables.engine.source_files import find_files

    if not isinstance(table, str | os.PathLike) or "://" in os.fspath(table):
        return None
    files = find_files(table)
    return unread(files.paths, rows) if files.kind == "CSV" else None


def as_arrow(table: object, names: Sequence[str] | None) -> Any:
    """The table as an Arrow table; only the named columns of it where that spares work."""
    if isinstance(table, str | os.PathLike):
        return _file(table, names)
    for (library, kind), read in READERS.items():
        module = sys.modules.get(library)  # whoever has one has loaded its library
        if module is not None and isinstance(table, getattr(module, kind)):
            return read(table, names)
    raise Refused("attacks.table", type(table).__name__, f"a table is {_KNOWN}", _REWRITE)


def _file(path: str | os.PathLike[str], names: Sequence[str] | None) -> Any:
    from ...tables.engine.sources import open_source

    source = open_source(path)
    try:
        chosen = checked(names, list(source.schema))
        return source.engine.run(source.table.select(chosen))
    finally:
        source.engine.close()


def _pandas(frame: Any, names: Sequence[str] | None) -> Any:
    import pyarrow as pa

    chosen = checked(names, list(frame.columns))
    return pa.table({name: _cells(frame[name]) for name in chosen})


def _cells(values: Any) -> Any:
    """A column; of mixed Python objects, as text."""
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([None if _missing(cell) else str(cell) for cell in values], pa.string())


def _missing(cell: object) -> bool:
    """None, and whatever is not equal to itself: NaN, NaT and NA."""
    try:
        return cell is None or bool(cell != cell)
    except (TypeError, ValueError):  # NA says neither, an array says both
        return type(cell).__name__ == "NAType"


def _polars(frame: Any, names: Sequence[str] | None) -> Any:
    return frame.select(checked(names, frame.columns)).to_arrow()


def _lazy(frame: Any, names: Sequence[str] | None) -> Any:
    return _polars(frame.collect(), names)


def _as_it_is(table: Any, names: Sequence[str] | None) -> Any:
    return table


def _relation(relation: Any, names: Sequence[str] | None) -> Any:
    from ...tables.engine.duckdb_engine import identifier

    return relation.project(
        ", ".join(map(identifier, checked(names, relation.columns)))
    ).to_arrow_table()


def _ibis(table: Any, names: Sequence[str] | None) -> Any:
    return table.select(checked(names, list(table.columns))).to_pyarrow()


def _dictionary(table: Mapping[str, Any], names: Sequence[str] | None) -> Any:
    import pyarrow as pa

    chosen = checked(names, list(table))
    try:
        lengths = {len(table[name]) for name in chosen if not isinstance(table[name], str)}
    except TypeError:
        lengths = set()
    if len(lengths) != 1 or any(isinstance(table[name], str) for name in chosen):
        raise Refused(
            "attacks.table",
            "{…}",
            "columns of a table are lists, and equally long",
            '{"sex": ["f", "m"], "age": [20, 21]}',
        )
    return pa.table({name: _cells(table[name]) for name in chosen})


def _rows(table: Sequence[Any], names: Sequence[str] | None) -> Any:
    if not table:
        raise Refused(
            "attacks.empty", "[]", "the table has no rows", "a table of one row for each person"
        )
    if not all(isinstance(row, Mapping) for row in table):
        raise Refused(
            "attacks.table",
            f"{type(table).__name__}",
            f"a table is {_KNOWN}",
            '[{"sex": "f", "age": 20}]',
        )
    return _dictionary({name: [row.get(name) for row in table] for name in table[0]}, names)


READERS: Mapping[tuple[str, str], Any] = {
    ("pandas", "DataFrame"): _pandas,
    ("polars", "DataFrame"): _polars,
    ("polars", "LazyFrame"): _lazy,
    ("pyarrow", "Table"): _as_it_is,
    ("duckdb", "DuckDBPyRelation"): _relation,
    ("ibis", "Table"): _ibis,
    ("builtins", "dict"): _dictionary,
    ("builtins", "list"): _rows,
    ("builtins", "tuple"): _rows,
}
"""Library and class → how it is read."""


def known_columns(names: object) -> list[str]:
    """One or more different names."""
    found = [] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if not found or not all(isinstance(name, str) for name in found):
        raise Refused(
            "attacks.columns",
            f"columns={names!r:.60}",
            "columns are a list of one or more names",
            'columns=["sex", "age"]',
        )
    if len(set(found)) != len(found):
        raise Refused(
            "attacks.columns",
            f"columns={names!r:.60}",
            "a column is named twice",
            'columns=["sex", "age"]',
        )
    return found


def known_sensitive(name: object, columns: Sequence[str]) -> str:
    """A column beside those that the adversary knows."""
    if not isinstance(name, str) or name in columns:
        raise Refused(
            "attacks.sensitive",
            f"sensitive={name!r:.60}",
            "the sensitive column is one that the adversary does not know",
            'sensitive="disease"',
        )
    return name


def checked(names: Sequence[str] | None, have: Sequence[str]) -> list[str]:
    if len(set(have)) != len(have):
        raise Refused(
            "attacks.columns",
            f"columns {_shown(have):.60}",
            "two columns of the table have the same name",
            "columns with different names",
        )
    if not all(isinstance(name, str) for name in have):
        raise Refused(
            "attacks.columns",
            f"columns {_shown(have):.60}",
            "names of columns are texts",
            "frame.columns = ['sex', 'age']",
        )
    if names is None:
        return list(have)
    wanted = known_columns(names)
    for name in wanted:
        if name not in have:
            raise Refused(
                "attacks.columns",
                f"{name!r:.60}",
                f"the table has no such column; it has {_shown(have):.200}",
                f"{nearest(name, have)!r:.60}",
            )
    return wanted


def nearest(name: str, have: Sequence[str]) -> str:
    """The name that was most likely meant, or the first."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, have, 1)), next(iter(have), ""))


def _shown(names: Sequence[object]) -> str:
    return ", ".join(map(str, names))
