"""From what the owner has (a path, a frame, an Ibis table) to columns of declared types. Only
schemas are looked at: no row is read.

*Types*     Parquet, DuckDB, Arrow, Polars and Ibis know theirs, and so does a pandas dtype; CSV and
            Python objects are text unless declared.
*Total*     A cell that does not fit the declared type is null, never an error. Dates and timestamps
            outside the years 1 to 9999 are null. What DuckDB itself stops at in a Parquet file is
            null, too: see `parquet_cells`.
*Left out*  Columns of lists, structs, maps, binary, JSON, times and intervals are not part of the
            table; whoever names one is told why.
*Engine*    Files and frames are read by an engine of our own, all tables of a declaration by the
            same one; an Ibis table by its own connection.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import Refused
from ..expr.column_names import known_names, unknown
from ..expr.types import CASTS, SPAN, Type
from .capabilities import check_capabilities
from .duckdb_engine import Engine, Pinned, identifier
from .engine_registry import engine_of, served
from .external import Lent, as_type
from .frame_sources import Held, find_frame, unread
from .parquet_cells import ParquetCells
from .parquet_sums import STORED, Stored
from .relational import select
from .source_files import Files, find_files

_KNOWN = (
    "the path of a Parquet, CSV or DuckDB file, a pandas, Polars or Spark DataFrame, an "
    "Arrow table, an Ibis table, or the URL of a PostgreSQL database"
)
_NAMELESS = "table"  # what the engine calls a table that has no name
_OWN_NAMES = {
    "INT": "INTEGER",
    "REAL": "FLOAT",
    "TEXT": "VARCHAR",
}  # as DuckDB says them itself: a column that has its type already is left as it is
_WIDER = (
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)  # what they are read as has room for all their values


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A table as the engine reads it. All of this is public; what `table` would give is not."""

    table: Any  # an ibis.Table
    schema: Mapping[str, Type]
    engine: Engine = field(repr=False)
    name: str | None  # as given, or as its file or table is called
    kind: str  # "Parquet", "CSV", "DuckDB", "frame" or "Ibis"
    left_out: Mapping[str, str]  # column → why it is not read
    stored: Stored | None = field(
        default=None, repr=False
    )  # the files that it lies in, if they are Parquet
    made: dict[Any, Any] = field(
        default_factory=dict, init=False, repr=False
    )  # the latest statements, which take longer to make than all else in a plan


def open_source(
    source: object,
    types: Mapping[str, str] | None = None,
    name: str | None = None,
    *,
    table: str | None = None,
    threads: int | None = None,
) -> Source:
    """One table. `types` says what columns are to be read as, where that is not what the source
    says; `table` which one of a server's.
    """
    declared = _declared(types or {})
    found = _find(source, declared, table)
    return _opened([(name or _name_of(found), found, declared)], threads)[0]


def open_sources(
    sources: Mapping[str, object],
    types: Mapping[str, Mapping[str, str]] | None = None,
    *,
    threads: int | None = None,
) -> dict[str, Source]:
    """Several tables on one engine, by name."""
    declared = {name: _declared((types or {}).get(name, {})) for name in sources}
    found = [
        (name, _find(source, declared[name]), declared[name]) for name, source in sources.items()
    ]
    return dict(zip(sources, _opened(found, threads), strict=True))


def _declared(types: Mapping[str, str]) -> dict[str, Type]:
    if not isinstance(types, Mapping):
        raise Refused(
            "table.type",
            f"types={types!s:.60}",
            "types are given by column",
            'types={"spend": "float"}',
        )
    return {name: Type.of(text) for name, text in types.items()}


def _name_of(found: Any) -> str | None:
    if isinstance(found, Held):
        return None
    return found.name if isinstance(found, Files) else str(found.get_name())


def _find(source: object, declared: Mapping[str, Type], table: str | None = None) -> Any:
    """Files, a frame, or an Ibis table of a connection."""
    if (there := served(source, table)) is not None:
        return there
    if isinstance(source, str | os.PathLike) or (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(path, str | os.PathLike) for path in source)
    ):
        return find_files(source)
    held = find_frame(source, {name: kind.kind for name, kind in declared.items()})
    if held is not None:
        return held
    place, module = f"protect({type(source).__name__}, …)", sys.modules.get("ibis")
    if module is not None and isinstance(source, module.Table):
        if type(source.op()).__name__ == "DatabaseTable":
            return source
        reason = (
            "this is a query, whose rows may be about many people, and not a table of a connection"
        )
        raise Refused(
            "table.source",
            place,
            reason,
            'protect(connection.table("visits"), …), and where() and mutate() of what that gives',
        )
    if type(source).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        rewrite = 'protect(ibis.duckdb.from_connection(connection).table("visits"), …)'
        raise Refused(
            "table.source", place, "a relation or a connection of DuckDB is no table", rewrite
        )
    raise Refused("table.source", place, f"a table is {_KNOWN}", 'protect("visits.parquet", …)')


def _opened(
    found: Sequence[tuple[str | None, Any, dict[str, Type]]], threads: int | None
) -> list[Source]:
    """All tables on one engine: ours, or the one they lie in."""
    lent = [table.get_backend() for _, table, _ in found if not isinstance(table, Files | Held)]
    if lent:
        if len(lent) != len(found) or any(backend is not lent[0] for backend in lent):
            rewrite = "all of them files and frames, or all of one Ibis connection"
            raise Refused(
                "table.engines",
                "protect({…}, …)",
                "tables that are asked together lie in one engine",
                rewrite,
            )
        engine = engine_of(lent[0])
        try:
            check_capabilities(engine)
            return [
                _borrowed(engine, name, engine.known(table), declared)
                for name, table, declared in found
            ]
        except BaseException:
            engine.close()
            raise
    files = [table for _, table, _ in found if isinstance(table, Files)]
    paths = [path for table in files for path in table.paths if not table.attached]
    attached = {alias: path for table in files for alias, path in table.attached.items()}
    pinned = Pinned(paths=paths, attached=attached, threads=threads)
    try:
        return [_viewed(pinned, name, table, declared) for name, table, declared in found]
    except BaseException:
        pinned.close()
        raise


def _viewed(
    engine: Pinned, name: str | None, table: Files | Held, declared: dict[str, Type]
) -> Source:
    """A view of the columns that are read, each as its type."""
    view, left_out = name or _NAMELESS, {}
    if isinstance(table, Held):
        left_out, relation = dict(table.left_out), identifier(f"{view} in memory")
        known_names([*table.schema.names, *left_out], f"protect({view!r:.60})")
        described = engine.hold(f"{view} in memory", table) if table.schema.names else ()
    else:
        known_names(table.columns, f"protect({view!r:.60})")
        relation, left_out = table.relation(engine), table.left_out(engine)
        described = table.describe(engine)
        known_names([column for column, _ in described], f"protect({view!r:.60})")
    schema, made = _made(
        described,
        declared,
        left_out,
        view,
        by_bytes=isinstance(table, Files) and bool(table.attached),
    )
    engine.connection.execute(f"CREATE VIEW {identifier(view)} AS {_selected(made, relation)}")
    stored = None
    if isinstance(table, Files):
        engine.watch(table.paths, lambda: table.alike(engine, described))
    if isinstance(table, Files) and table.kind == "Parquet":
        engine.doubt(
            ParquetCells(
                view,
                table.paths,
                relation,
                {column: text for column, text in described if column in made},
                _selected(made, "{0}"),
            )
        )
        stored = Stored(
            table.paths,
            tuple(column for column, _ in described),
            {
                column: STORED[text]
                for column, text in described
                if text in STORED and made.get(column) == identifier(column)
            },
        )
    return Source(
        engine.backend.table(view),
        schema,
        engine,
        name,
        table.kind if isinstance(table, Files) else "frame",
        left_out,
        stored,
    )


def _made(
    described: Sequence[tuple[str, str]],
    declared: dict[str, Type],
    left_out: dict[str, str],
    name: str,
    *,
    by_bytes: bool,
    filled: Container[str] = (),
) -> tuple[dict[str, Type], dict[str, str]]:
    """Of columns and DuckDB's names of their types: the schema, and each column as its type, in
    SQL. What is not read is added to `left_out`. Columns in `filled` are said to have no nulls.
    """
    have = {
        column: replace(kind, nullable=column not in filled)
        for column, text in described
        if column not in left_out and (kind := _type_of(text))
    }
    left_out |= {
        column: unread(text)
        for column, text in described
        if column not in have and column not in left_out
    }
    schema = _schema(have, declared, left_out, name)
    made = {
        column: f"{_converted(column, text, schema[column], same=schema[column].bare == have[column].bare)}{_by_bytes(schema[column]) if by_bytes else ''}"
        for column, text in described
        if column in schema
    }
    return schema, made


def _selected(made: Mapping[str, str], relation: str) -> str:
    return (
        f"SELECT "
        f"{', '.join(f'{value} AS {identifier(column)}' for column, value in made.items())} "
        f"FROM {relation}"
    )


def _borrowed(engine: Lent, name: str | None, table: Any, declared: dict[str, Type]) -> Source:
    """The columns of an Ibis table, each as its type. Those of a DuckDB are converted by the same
    SQL as a file's, so that no cell of either fails.
    """
    known_names(table.columns, f"protect({name!r:.60})")
    left_out = engine.left_out(table)
    if engine.backend.name == "duckdb":
        place = table.op().namespace
        relation = ".".join(
            identifier(part) for part in (place.catalog, place.database, table.op().name) if part
        )
        described = [
            row[:2]
            for row in engine.backend.con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        ]
        filled = [column for column, dtype in table.schema().items() if not dtype.nullable]
        schema, made = _made(described, declared, left_out, str(name), by_bytes=True, filled=filled)
        columns = {column: kind.to_ibis() for column, kind in schema.items()}
        return Source(
            engine.backend.sql(_selected(made, relation), schema=columns),
            schema,
            engine,
            name,
            "Ibis",
            left_out,
        )
    have: dict[str, Type] = {}
    for column, dtype in table.schema().items():
        with suppress(Refused):
            if column not in left_out:
                have[column] = Type.from_ibis(dtype, column)
    unknown_types = {
        column: dtype
        for column, dtype in table.schema().items()
        if column not in have and column not in left_out
    }
    left_out |= {
        column: unread("decimal without digits" if dtype.is_decimal() else dtype)
        for column, dtype in unknown_types.items()
    }
    schema = _schema(have, declared, left_out, str(name))
    made = {
        column: as_type(engine, engine.plain(table[column]), kind)
        for column, kind in schema.items()
    }
    return Source(select(table, made), schema, engine, name, "Ibis", left_out)


def _schema(
    have: Mapping[str, Type], declared: Mapping[str, Type], left_out: Mapping[str, str], name: str
) -> dict[str, Type]:
    if not have:
        raise Refused(
            "table.columns",
            f"protect({name!r:.60})",
            "there is no column that can be read",
            "a table of numbers, texts and dates",
        )
    for column, kind in declared.items():
        if column not in have:
            raise unknown(column, list(have), left_out, "types")
        if kind.kind not in CASTS[have[column].kind]:
            reason = f"the column is {have[column].words}, which is not turned into {kind.words}"
            raise Refused(
                "table.cast",
                f"types={{{column!r:.60}: '{kind}'}}",
                reason,
                f"'{have[column]}', the type it has",
            )
    return {**have, **declared}


def _type_of(text: str) -> Type | None:
    """The type of a DuckDB column; none if it is not read."""
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


def _by_bytes(wanted: Type) -> str:
    """A database may have been told to take "a" and "A" for one: then one person's rows would weigh
    another's, and name their group.
    """
    return ' COLLATE "binary"' if wanted.kind == "string" else ""


def _converted(column: str, text: str, wanted: Type, *, same: bool) -> str:
    """A column as its type. TRY stands around TRY_CAST, which alone raises on a few timestamps at
    the ends of the calendar.
    """
    value, target = identifier(column), _sql_type(wanted)
    if text in _WIDER and same:
        # keeps what is known of its range, by which an integer unit is quick
        value = f"CAST({value} AS {target})"
    elif text != target:
        value = (
            f"round({value})" if text in ("FLOAT", "DOUBLE") and wanted.kind == "integer" else value
        )  # halves away from zero, as in every other cast
        value = f"TRY(TRY_CAST({value} AS {target}))"
    elif wanted.kind == "uuid":
        # a join would filter the scan of an Arrow table by it, which DuckDB has not built for uuids
        value = f"TRY({value})"
    if (
        wanted.kind == "decimal" and text == target
        # Arrow and Parquet store more digits than a type has room for, and DuckDB computes with all
        # of
        # them
    ):
        first, last = (
            (
                f"CAST('{sign}{'9' * (wanted.precision - wanted.scale)}.{'9' * wanted.scale}' "
                f"AS {target})"
            )
            for sign in ("-", "")
        )
    elif wanted.kind in SPAN:
        first, last = (
            f"CAST('{end}{'+00' if wanted.zone else ''}' AS {target})" for end in SPAN[wanted.kind]
        )
    else:
        return value
    return f"CASE WHEN {value} BETWEEN {first} AND {last} THEN {value} END"
