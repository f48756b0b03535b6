"""Read columns of a DuckDB table or file in SQL: the type of each, and the cast to it.

*Total*     A cell that does not fit its type is null, never an error: files, frames and an owner's
            DuckDB get the same SQL.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ..expr.types import SPAN, Type
from .duckdb_engine import quote_name
from .frame_sources import unread_reason

# DuckDB's own names, so that a column of the right type needs no cast
_OWN_NAMES = {
    "INT": "INTEGER",
    "REAL": "FLOAT",
    "TEXT": "VARCHAR",
}
# unsigned types, which are read as wider signed types
_WIDER = (
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)

Described = Sequence[tuple[str, str]]
"""Columns and DuckDB's names of their types, as DESCRIBE gives them."""


def read_types(
    described: Described, left_out: dict[str, str], filled: Container[str] = ()
) -> dict[str, Type]:
    """Return the types of the columns that can be read; add the others to `left_out`. Columns in
    `filled` have no nulls, as their database promises.
    """
    have = {
        column: replace(kind, nullable=column not in filled)
        for column, text in described
        if column not in left_out and (kind := _type_of(text))
    }
    left_out |= {
        column: unread_reason(text)
        for column, text in described
        if column not in have and column not in left_out
    }
    return have


def cast_columns(
    described: Described,
    have: Mapping[str, Type],
    schema: Mapping[str, Type],
    *,
    by_bytes: bool,
) -> dict[str, str]:
    """Return the SQL that casts each column of a schema to its type."""
    return {
        column: _cast_sql(
            column, text, schema[column], same=schema[column].bare == have[column].bare
        )
        + (_by_bytes(schema[column]) if by_bytes else "")
        for column, text in described
        if column in schema
    }


def select_sql(columns: Mapping[str, str], relation: str) -> str:
    """Write the SELECT of these columns, by name."""
    return (
        f"SELECT "
        f"{', '.join(f'{value} AS {quote_name(column)}' for column, value in columns.items())} "
        f"FROM {relation}"
    )


def _type_of(text: str) -> Type | None:
    """Read DuckDB's name of a type; None if it is not supported."""
    from ibis.backends.sql.datatypes import DuckDBType

    with suppress(Exception):  # types that Ibis does not know either
        return Type.from_ibis(DuckDBType.from_string(text), "column")
    return None


def _sql_type(kind: Type) -> str:
    from ibis.backends.sql.datatypes import DuckDBType

    if kind.zone:
        return "TIMESTAMP WITH TIME ZONE"
    text = str(DuckDBType.to_string(kind.to_ibis())).replace(", ", ",")
    return _OWN_NAMES.get(text, text)


def _by_bytes(kind: Type) -> str:
    """Compare texts by bytes: with a collation that takes "a" and "A" for one, a person's rows
    would change another's weight and the name of their group.
    """
    return ' COLLATE "binary"' if kind.kind == "string" else ""


def _cast_sql(column: str, text: str, target: Type, *, same: bool) -> str:
    """Write the SQL that casts a column to its type. TRY stands around TRY_CAST, which alone raises
    on a few timestamps at the ends of the calendar.
    """
    value, sql_type = quote_name(column), _sql_type(target)
    if text in _WIDER and same:
        # a CAST keeps the statistics of the range, which make an integer unit fast
        value = f"CAST({value} AS {sql_type})"
    elif text != sql_type:
        # round halves away from zero, as in every other cast
        value = (
            f"round({value})" if text in ("FLOAT", "DOUBLE") and target.kind == "integer" else value
        )
        value = f"TRY(TRY_CAST({value} AS {sql_type}))"
    elif target.kind == "uuid":
        # a join would filter the scan of an Arrow table by it, which DuckDB has not built for uuids
        value = f"TRY({value})"
    # Arrow and Parquet may store more digits than the type has, and DuckDB computes with them
    if target.kind == "decimal" and text == sql_type:
        first, last = (
            (
                f"CAST('{sign}{'9' * (target.precision - target.scale)}.{'9' * target.scale}' "
                f"AS {sql_type})"
            )
            for sign in ("-", "")
        )
    elif target.kind in SPAN:
        first, last = (
            f"CAST('{end}{'+00' if target.zone else ''}' AS {sql_type})"
            for end in SPAN[target.kind]
        )
    else:
        return value
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN {value} END"
