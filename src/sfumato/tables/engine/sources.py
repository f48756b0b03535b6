"""Open the owner's data (a path, a frame, an Ibis table) as columns of declared types. Only schemas
are read, no rows.

*Types*     Parquet, DuckDB, Arrow, Polars, Ibis and pandas dtypes have types; columns of CSV files
            and of Python objects are text unless the owner declares a type.
*Total*     A cell that does not fit the declared type is null, never an error. Dates and timestamps
            outside the years 1 to 9999 are null. Parquet cells that DuckDB fails on are null, too:
            see `parquet_cells`.
*Left out*  Columns of lists, structs, maps, binary, JSON, times and intervals are not part of the
            table; a query that names one is refused with the reason.
*Engine*    A `DuckDBEngine` reads files and frames, one for all tables of a declaration; the engine
            of its connection reads an Ibis table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ..expr.column_names import check_names
from ..expr.types import Type
from . import engine_refusals as refusals
from .capabilities import check_capabilities
from .duckdb_columns import cast_columns, read_types, select_sql
from .duckdb_engine import DuckDBEngine, Engine, quote_name
from .engine_registry import connected_table, engine_of
from .external import ExternalEngine, declared_schema
from .frame_sources import FrameSource, find_frame
from .parquet_cells import ParquetCells
from .source_files import Files, find_files
from .stored_columns import STORED, StoredColumns

if TYPE_CHECKING:
    import ibis.expr.types as ir

    SourceData: TypeAlias = Files | FrameSource | ir.Table
    """What a source is: files, a table in memory, or a table of a connection."""

_NAMELESS = "table"  # the engine's name of a table without a name


@dataclass(frozen=True, slots=True, eq=False)
class TableSource:
    """A table and the engine that reads it. All fields are public; the rows of `table` are not."""

    table: ir.Table
    schema: Mapping[str, Type]
    engine: Engine = field(repr=False)
    name: str | None  # as given, or as its file or table is called
    kind: str  # "Parquet", "CSV", "DuckDB", "frame" or "Ibis"
    left_out: Mapping[str, str]  # column → why it is not read
    # its Parquet files
    stored: StoredColumns | None = field(default=None, repr=False)
    # cache of the latest statements: building them dominates planning
    statements: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)


def open_source(
    source: object,
    types: Mapping[str, str] | None = None,
    name: str | None = None,
    *,
    table: str | None = None,
    threads: int | None = None,
) -> TableSource:
    """Open one table. `types` overrides the types of columns; `table` names a table of a server."""
    declared = _declared_types(types or {})
    place = _find(source, declared, table)
    return _open_all([(name or _name_of(place), place, declared)], threads)[0]


def open_sources(
    sources: Mapping[str, object],
    types: Mapping[str, Mapping[str, str]] | None = None,
    *,
    threads: int | None = None,
) -> dict[str, TableSource]:
    """Open several tables on one engine, by name."""
    declared = {name: _declared_types((types or {}).get(name, {})) for name in sources}
    places = [
        (name, _find(source, declared[name]), declared[name]) for name, source in sources.items()
    ]
    return dict(zip(sources, _open_all(places, threads), strict=True))


def _declared_types(types: Mapping[str, str]) -> dict[str, Type]:
    if not isinstance(types, Mapping):
        raise refusals.TYPES_NOT_A_MAPPING(types=types)
    return {name: Type.of(text) for name, text in types.items()}


def _name_of(place: SourceData) -> str | None:
    if isinstance(place, FrameSource):
        return None
    return place.name if isinstance(place, Files) else str(place.get_name())


def _find(source: object, declared: Mapping[str, Type], table: str | None = None) -> SourceData:
    """Find files, a frame, or an Ibis table of a connection."""
    if (connected := connected_table(source, table)) is not None:
        return connected
    if isinstance(source, str | os.PathLike) or (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(path, str | os.PathLike) for path in source)
    ):
        return find_files(source)
    frame = find_frame(source, {name: kind.kind for name, kind in declared.items()})
    if frame is not None:
        return frame
    kind, module = type(source).__name__, sys.modules.get("ibis")
    if module is not None and isinstance(source, module.Table):
        if type(source.op()).__name__ == "DatabaseTable":
            return source
        raise refusals.IBIS_QUERY(kind=kind)
    if type(source).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        raise refusals.DUCKDB_OBJECT(kind=kind)
    raise refusals.NOT_A_TABLE(kind=kind)


def _open_all(
    places: Sequence[tuple[str | None, SourceData, dict[str, Type]]], threads: int | None
) -> list[TableSource]:
    """Open all tables on one engine: a DuckDBEngine, or that of their connection."""
    backends = [
        table.get_backend() for _, table, _ in places if not isinstance(table, Files | FrameSource)
    ]
    if backends:
        if len(backends) != len(places) or any(backend is not backends[0] for backend in backends):
            raise refusals.ENGINES_MIXED()
        engine = engine_of(backends[0])
        try:
            check_capabilities(engine)
            return [
                _external_source(engine, name, engine.resolve_table(table), declared)
                for name, table, declared in places
            ]
        except BaseException:
            engine.close()
            raise
    files = [table for _, table, _ in places if isinstance(table, Files)]
    paths = [path for table in files for path in table.paths if not table.attached]
    attached = {alias: path for table in files for alias, path in table.attached.items()}
    pinned = DuckDBEngine(paths=paths, attached=attached, threads=threads)
    try:
        return [_create_view(pinned, name, table, declared) for name, table, declared in places]
    except BaseException:
        pinned.close()
        raise


def _create_view(
    engine: DuckDBEngine, name: str | None, table: Files | FrameSource, declared: dict[str, Type]
) -> TableSource:
    """Create a view of the columns that are read, each cast to its type."""
    view, left_out = name or _NAMELESS, {}
    if isinstance(table, FrameSource):
        left_out, relation = dict(table.left_out), quote_name(f"{view} in memory")
        check_names([*table.schema.names, *left_out], f"protect({view!r:.60})")
        described = engine.register_frame(f"{view} in memory", table) if table.schema.names else ()
    else:
        check_names(table.columns, f"protect({view!r:.60})")
        relation, left_out = table.relation(engine), table.left_out(engine)
        described = table.describe(engine)
        check_names([column for column, _ in described], f"protect({view!r:.60})")
    have = read_types(described, left_out)
    schema = declared_schema(have, declared, left_out, view)
    attached = isinstance(table, Files) and bool(table.attached)
    column_sql = cast_columns(described, have, schema, by_bytes=attached)
    engine.connection.execute(
        f"CREATE VIEW {quote_name(view)} AS {select_sql(column_sql, relation)}"
    )
    stored = None
    if isinstance(table, Files):
        engine.watch_files(table.paths, lambda: table.still_has(engine, described))
    if isinstance(table, Files) and table.kind == "Parquet":
        engine.register_parquet(
            ParquetCells(
                view,
                table.paths,
                relation,
                {column: text for column, text in described if column in column_sql},
                select_sql(column_sql, "{0}"),
            )
        )
        stored = StoredColumns(
            table.paths,
            tuple(column for column, _ in described),
            {
                column: STORED[text]
                for column, text in described
                if text in STORED and column_sql.get(column) == quote_name(column)
            },
        )
    return TableSource(
        engine.backend.table(view),
        schema,
        engine,
        name,
        table.kind if isinstance(table, Files) else "frame",
        left_out,
        stored,
    )


def _external_source(
    engine: ExternalEngine, name: str | None, table: ir.Table, declared: dict[str, Type]
) -> TableSource:
    """Open a table of a connection, each column cast to its type."""
    check_names(table.columns, f"protect({name!r:.60})")
    left_out = engine.left_out(table)
    cast, schema = engine.cast_table(table, declared, left_out, str(name))
    return TableSource(cast, schema, engine, name, "Ibis", left_out)
