"""The tables of the catalogue: what PostgreSQL's system tables would say of the declared schema.

They hold names and types of the declaration, which are public. Statistics are empty: the number of
rows is −1, as of a table that was never analysed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...tables.expr.types import Type
from . import wire_types as types
from .catalogue_columns import SCHEMA
from .session_settings import USUAL
from .wire_types import Cell, oid_of

PG_CATALOG, PUBLIC, INFORMATION = 11, 2200, 13000
OWNER = 10
FIRST_TABLE, FIRST_CONSTRAINT = 16_384, 65_536


class CatalogTable(NamedTuple):
    """A table of the dataset, as declared: its name, its columns, and what it is about."""

    name: str
    columns: Mapping[str, Type]
    about: str = ""


class SystemType(NamedTuple):
    """A type of PostgreSQL: number, name, size, category, the name in SQL, and the array of it."""

    oid: int
    name: str
    size: int
    category: str
    shown: str
    list_oid: int = 0


TYPES = (
    SystemType(16, "bool", 1, "B", "boolean", 1000),
    SystemType(17, "bytea", -1, "U", "bytea", 1001),
    SystemType(18, "char", 1, "Z", '"char"', 1002),
    SystemType(19, "name", 64, "S", "name", 1003),
    SystemType(20, "int8", 8, "N", "bigint", 1016),
    SystemType(21, "int2", 2, "N", "smallint", 1005),
    SystemType(23, "int4", 4, "N", "integer", 1007),
    SystemType(24, "regproc", 4, "N", "regproc", 1008),
    SystemType(25, "text", -1, "S", "text", 1009),
    SystemType(26, "oid", 4, "N", "oid", 1028),
    SystemType(114, "json", -1, "U", "json", 199),
    SystemType(700, "float4", 4, "N", "real", 1021),
    SystemType(701, "float8", 8, "N", "double precision", 1022),
    SystemType(705, "unknown", -2, "X", "unknown"),
    SystemType(1042, "bpchar", -1, "S", "character", 1014),
    SystemType(1043, "varchar", -1, "S", "character varying", 1015),
    SystemType(1082, "date", 4, "D", "date", 1182),
    SystemType(1083, "time", 8, "D", "time without time zone", 1183),
    SystemType(1114, "timestamp", 8, "D", "timestamp without time zone", 1115),
    SystemType(1184, "timestamptz", 8, "D", "timestamp with time zone", 1185),
    SystemType(1186, "interval", 16, "T", "interval", 1187),
    SystemType(1700, "numeric", -1, "N", "numeric", 1231),
    SystemType(2205, "regclass", 4, "N", "regclass", 2210),
    SystemType(2206, "regtype", 4, "N", "regtype", 2211),
    SystemType(2249, "record", -1, "P", "record", 2287),
    SystemType(2278, "void", 4, "P", "void"),
    SystemType(2950, "uuid", 16, "U", "uuid", 2951),
)

Record = Mapping[str, Cell]


def contents(dataset: str, tables: Sequence[CatalogTable]) -> Iterable[tuple[str, Record]]:
    """Return the rows of the tables: those of the declared schema, and PostgreSQL's types."""
    for oid, name in ((PG_CATALOG, "pg_catalog"), (PUBLIC, "public"), (INFORMATION, SCHEMA)):
        yield "pg_namespace", {"oid": oid, "nspname": name, "nspowner": OWNER}
        yield f"{SCHEMA}.schemata", {
            "catalog_name": dataset, "schema_name": name, "schema_owner": "owner"
        }  # fmt: skip
    yield "pg_database", {
        "oid": 5, "datname": dataset, "datdba": OWNER, "encoding": 6, "datlocprovider": "c",
        "datcollate": "C", "datctype": "C", "datistemplate": False, "datallowconn": True,
        "datconnlimit": -1, "dattablespace": 1663,
    }  # fmt: skip
    yield "pg_roles", {
        "oid": OWNER, "rolname": "owner", "rolsuper": False, "rolinherit": True,
        "rolcreaterole": False, "rolcreatedb": False, "rolcanlogin": True, "rolreplication": False,
        "rolconnlimit": -1, "rolbypassrls": False,
    }  # fmt: skip
    for word in ("analyse", "analyze", "ilike", "limit", "offset", "qualify"):
        yield "pg_get_keywords", {"word": word, "catcode": "R", "catdesc": "reserved"}
    for name, value in USUAL.items():
        yield "pg_settings", {"name": name, "setting": value, "source": "default"}
    yield "pg_am", {"oid": 2, "amname": "heap", "amtype": "t"}
    yield "pg_tablespace", {"oid": 1663, "spcname": "pg_default", "spcowner": OWNER}
    yield "pg_language", {"oid": 14, "lanname": "sql", "lanowner": OWNER}
    yield "pg_collation", {
        "oid": 100, "collname": "default", "collnamespace": PG_CATALOG, "collowner": OWNER
    }  # fmt: skip
    for kind in TYPES:
        yield "pg_type", _type_row(kind)
        if kind.list_oid:
            yield (
                "pg_type",
                _type_row(
                    SystemType(kind.list_oid, f"_{kind.name}", -1, "A", f"{kind.shown}[]"), kind.oid
                ),
            )
    for place, table in enumerate(tables):
        yield from _table_rows(dataset, table, FIRST_TABLE + place)


def _type_row(kind: SystemType, element: int = 0) -> Record:
    return {
        "oid": kind.oid, "typname": kind.name, "typnamespace": PG_CATALOG, "typowner": OWNER,
        "typlen": kind.size, "typbyval": 0 < kind.size <= 8,
        "typtype": "p" if kind.category == "P" else "b", "typcategory": kind.category,
        "typispreferred": False, "typisdefined": True, "typdelim": ",", "typrelid": 0,
        "typelem": element, "typarray": kind.list_oid,
        "typinput": "array_in" if element else f"{kind.name}in",
        "typoutput": "array_out" if element else f"{kind.name}out",
        "typnotnull": False, "typbasetype": 0, "typtypmod": -1, "typndims": 0,
        "typcollation": 100 if kind.category == "S" else 0, "typshown": kind.shown,
    }  # fmt: skip


def _table_rows(dataset: str, table: CatalogTable, oid: int) -> Iterable[tuple[str, Record]]:
    yield "pg_class", {
        "oid": oid, "relname": table.name, "relnamespace": PUBLIC, "reltype": 0, "reloftype": 0,
        "relowner": OWNER, "relam": 2, "relfilenode": 0, "reltablespace": 0, "relpages": 0,
        "reltuples": -1.0, "relallvisible": 0, "reltoastrelid": 0, "relhasindex": False,
        "relisshared": False, "relpersistence": "p", "relkind": "r",
        "relnatts": len(table.columns), "relchecks": 0, "relhasrules": False,
        "relhastriggers": False, "relhassubclass": False, "relrowsecurity": False,
        "relforcerowsecurity": False, "relispopulated": True, "relreplident": "d",
        "relispartition": False, "relrewrite": 0, "relhasoids": False,
    }  # fmt: skip
    place = {"table_catalog": dataset, "table_schema": "public", "table_name": table.name}
    yield "pg_tables", {
        "schemaname": "public", "tablename": table.name, "tableowner": "owner",
        "hasindexes": False, "hasrules": False, "hastriggers": False, "rowsecurity": False,
    }  # fmt: skip
    yield f"{SCHEMA}.tables", {
        **place, "table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO"
    }  # fmt: skip
    yield f"{SCHEMA}.table_privileges", {
        **place, "grantor": "owner", "grantee": "PUBLIC", "privilege_type": "SELECT",
        "is_grantable": "NO",
    }  # fmt: skip
    if table.about:
        yield "pg_description", {
            "objoid": oid, "classoid": 1259, "objsubid": 0, "description": table.about
        }  # fmt: skip
    shown = {kind.oid: kind for kind in TYPES}
    for number, (name, declared) in enumerate(table.columns.items(), 1):
        kind = shown[oid_of(declared)]
        typmod = -1
        if declared.kind == "decimal":
            typmod = (declared.precision << 16 | declared.scale) + 4
        yield "pg_attribute", {
            "attrelid": oid, "attname": name, "atttypid": kind.oid, "attstattarget": -1,
            "attlen": kind.size, "attnum": number, "attndims": 0, "attcacheoff": -1,
            "atttypmod": typmod, "attbyval": 0 < kind.size <= 8, "attalign": "d",
            "attstorage": "p", "attcompression": "", "attnotnull": not declared.nullable,
            "atthasdef": False, "atthasmissing": False, "attidentity": "", "attgenerated": "",
            "attisdropped": False, "attislocal": True, "attinhcount": 0,
            "attcollation": 100 if kind.category == "S" else 0,
        }  # fmt: skip
        is_number = kind.category == "N"
        yield f"{SCHEMA}.columns", {
            **place, "column_name": name, "ordinal_position": number,
            "is_nullable": "YES" if declared.nullable else "NO", "data_type": kind.shown,
            "numeric_precision": _precision(declared) if is_number else None,
            "numeric_scale": declared.scale if declared.kind in ("decimal", "integer") else None,
            "numeric_precision_radix": (10 if declared.kind == "decimal" else 2)
            if is_number else None,
            "udt_catalog": dataset, "udt_schema": "pg_catalog", "udt_name": kind.name,
            "is_identity": "NO", "is_generated": "NEVER", "is_updatable": "NO",
        }  # fmt: skip


def _precision(declared: Type) -> int | None:
    if declared.kind == "decimal":
        return declared.precision
    return {types.INT2: 16, types.INT4: 32, types.INT8: 64, types.FLOAT8: 53}.get(oid_of(declared))
