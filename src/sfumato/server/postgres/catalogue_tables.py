"""The tables of the catalogue: what PostgreSQL's system tables would say of the declared schema.

They hold names and types of the declaration, which are public. Statistics are empty: the number of
rows is −1, as of a table that was never analysed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...tables.expr.types import Type
from . import wire_types as types
from .wire_types import Cell, oid_of

PG_CATALOG, PUBLIC, INFORMATION = 11, 2200, 13000
OWNER = 10
FIRST_TABLE, FIRST_CONSTRAINT = 16_384, 65_536
SCHEMA = "information_schema"


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

COLUMNS: dict[str, str] = {
    "pg_namespace": "oid:n nspname nspowner:n nspacl",
    "pg_class": "oid:n relname relnamespace:n reltype:n reloftype:n relowner:n relam:n "
    "relfilenode:n reltablespace:n relpages:n reltuples:d relallvisible:n reltoastrelid:n "
    "relhasindex:b relisshared:b relpersistence relkind relnatts:n relchecks:n relhasrules:b "
    "relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b "
    "relreplident relispartition:b relrewrite:n relhasoids:b relacl reloptions:l relpartbound",
    "pg_attribute": "attrelid:n attname atttypid:n attstattarget:n attlen:n attnum:n attndims:n "
    "attcacheoff:n atttypmod:n attbyval:b attalign attstorage attcompression attnotnull:b "
    "atthasdef:b atthasmissing:b attidentity attgenerated attisdropped:b attislocal:b "
    "attinhcount:n attcollation:n attacl attoptions:l attfdwoptions:l attmissingval",
    "pg_type": "oid:n typname typnamespace:n typowner:n typlen:n typbyval:b typtype typcategory "
    "typispreferred:b typisdefined:b typdelim typrelid:n typsubscript typelem:n typarray:n "
    "typinput typoutput typreceive typsend typmodin typmodout typanalyze typalign typstorage "
    "typnotnull:b typbasetype:n typtypmod:n typndims:n typcollation:n typdefaultbin typdefault "
    "typacl typshown",
    "pg_attrdef": "oid:n adrelid:n adnum:n adbin",
    "pg_am": "oid:n amname amhandler amtype",
    "pg_auth_members": "roleid:n member:n grantor:n admin_option:b",
    "pg_cast": "oid:n castsource:n casttarget:n castfunc:n castcontext castmethod",
    "pg_collation": "oid:n collname collnamespace:n collowner:n collprovider collcollate "
    "collctype collisdeterministic:b collencoding:n",
    "pg_constraint": "oid:n conname connamespace:n contype condeferrable:b condeferred:b "
    "convalidated:b conrelid:n contypid:n conindid:n conparentid:n confrelid:n confupdtype "
    "confdeltype confmatchtype conislocal:b coninhcount:n connoinherit:b conkey:i confkey:i conbin",
    "pg_database": "oid:n datname datdba:n encoding:n datlocprovider datcollate datctype "
    "daticulocale datcollversion datistemplate:b datallowconn:b datconnlimit:n dattablespace:n "
    "datacl",
    "pg_db_role_setting": "setdatabase:n setrole:n setconfig:l",
    "pg_depend": "classid:n objid:n objsubid:n refclassid:n refobjid:n refobjsubid:n deptype",
    "pg_description": "objoid:n classoid:n objsubid:n description",
    "pg_enum": "oid:n enumtypid:n enumsortorder:d enumlabel",
    "pg_event_trigger": "oid:n evtname evtevent evtowner:n evtfoid:n evtenabled evttags:l",
    "pg_extension": "oid:n extname extowner:n extnamespace:n extrelocatable:b extversion",
    "pg_foreign_data_wrapper": "oid:n fdwname fdwowner:n fdwoptions:l",
    "pg_foreign_server": "oid:n srvname srvowner:n srvfdw:n srvtype srvversion srvoptions:l",
    "pg_foreign_table": "ftrelid:n ftserver:n ftoptions:l",
    "pg_get_keywords": "word catcode barelabel:b catdesc baredesc",
    "pg_index": "indexrelid:n indrelid:n indnatts:n indnkeyatts:n indisunique:b indisprimary:b "
    "indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b "
    "indislive:b indisreplident:b indkey:i indcollation indclass indoption:i indexprs indpred "
    "indnullsnotdistinct:b",
    "pg_indexes": "schemaname tablename indexname tablespace indexdef",
    "pg_inherits": "inhrelid:n inhparent:n inhseqno:n inhdetachpending:b",
    "pg_language": "oid:n lanname lanowner:n lanispl:b lanpltrusted:b",
    "pg_locks": "locktype database:n relation:n pid:n mode granted:b",
    "pg_matviews": "schemaname matviewname matviewowner definition",
    "pg_opclass": "oid:n opcname opcmethod:n opcnamespace:n opcdefault:b",
    "pg_operator": "oid:n oprname oprnamespace:n",
    "pg_partitioned_table": "partrelid:n partstrat partnatts:n",
    "pg_policy": "oid:n polname polrelid:n polcmd polpermissive:b polroles:l polqual polwithcheck",
    "pg_proc": "oid:n proname pronamespace:n proowner:n prolang:n prokind prorettype:n "
    "proargtypes proargnames:l proretset:b proisstrict:b provolatile prosrc pronargs:n "
    "proargmodes:l proallargtypes:l",
    "pg_publication": "oid:n pubname pubowner:n puballtables:b",
    "pg_publication_namespace": "oid:n pnpubid:n pnnspid:n",
    "pg_publication_rel": "oid:n prpubid:n prrelid:n prqual prattrs",
    "pg_range": "rngtypid:n rngsubtype:n",
    "pg_rewrite": "oid:n rulename ev_class:n ev_type ev_enabled is_instead:b",
    "pg_roles": "oid:n rolname rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b "
    "rolcanlogin:b rolreplication:b rolconnlimit:n rolpassword rolvaliduntil rolbypassrls:b "
    "rolconfig:l",
    "pg_sequence": "seqrelid:n seqtypid:n seqstart:n seqincrement:n seqmax:n seqmin:n",
    "pg_sequences": "schemaname sequencename sequenceowner",
    "pg_settings": "name setting unit category short_desc vartype source",
    "pg_shdescription": "objoid:n classoid:n description",
    "pg_stat_activity": "datid:n datname pid:n usename application_name state query",
    "pg_stat_user_tables": "relid:n schemaname relname n_live_tup:n",
    "pg_statistic_ext": "oid:n stxrelid:n stxname stxnamespace:n stxkeys:i stxkind:l "
    "stxstattarget:n",
    "pg_stats": "schemaname tablename attname null_frac:d n_distinct:d",
    "pg_tables": "schemaname tablename tableowner tablespace hasindexes:b hasrules:b "
    "hastriggers:b rowsecurity:b",
    "pg_tablespace": "oid:n spcname spcowner:n spcacl spcoptions:l",
    "pg_trigger": "oid:n tgrelid:n tgname tgfoid:n tgtype:n tgenabled tgisinternal:b "
    "tgconstraint:n tgparentid:n",
    "pg_user": "usename usesysid:n usecreatedb:b usesuper:b passwd",
    "pg_views": "schemaname viewname viewowner definition",
    f"{SCHEMA}.columns": "table_catalog table_schema table_name column_name ordinal_position:n "
    "column_default is_nullable data_type character_maximum_length:n character_octet_length:n "
    "numeric_precision:n numeric_precision_radix:n numeric_scale:n datetime_precision:n "
    "interval_type character_set_name collation_name domain_schema domain_name udt_catalog "
    "udt_schema udt_name is_identity identity_generation is_generated generation_expression "
    "is_updatable",
    f"{SCHEMA}.constraint_column_usage": "table_catalog table_schema table_name column_name "
    "constraint_catalog constraint_schema constraint_name",
    f"{SCHEMA}.key_column_usage": "constraint_catalog constraint_schema constraint_name "
    "table_catalog table_schema table_name column_name ordinal_position:n "
    "position_in_unique_constraint:n",
    f"{SCHEMA}.parameters": "specific_schema specific_name ordinal_position:n parameter_name "
    "data_type",
    f"{SCHEMA}.referential_constraints": "constraint_catalog constraint_schema constraint_name "
    "unique_constraint_schema unique_constraint_name update_rule delete_rule",
    f"{SCHEMA}.routines": "specific_schema specific_name routine_schema routine_name routine_type "
    "data_type",
    f"{SCHEMA}.schemata": "catalog_name schema_name schema_owner",
    f"{SCHEMA}.sequences": "sequence_catalog sequence_schema sequence_name",
    f"{SCHEMA}.table_constraints": "constraint_catalog constraint_schema constraint_name "
    "table_catalog table_schema table_name constraint_type",
    f"{SCHEMA}.table_privileges": "grantor grantee table_catalog table_schema table_name "
    "privilege_type is_grantable",
    f"{SCHEMA}.tables": "table_catalog table_schema table_name table_type is_insertable_into "
    "is_typed",
    f"{SCHEMA}.triggers": "trigger_schema trigger_name event_object_table",
    f"{SCHEMA}.views": "table_catalog table_schema table_name view_definition is_updatable",
}
"""The tables and their columns. After a colon: n whole number, d double, b truth value, l list of
texts, i list of whole numbers; else text.
"""
ENGINE_TYPES = {"n": "BIGINT", "d": "DOUBLE", "b": "BOOLEAN", "l": "VARCHAR[]", "i": "BIGINT[]"}

Record = Mapping[str, Cell]


def definitions() -> Iterable[str]:
    """Return the statements that create the tables in the engine."""
    for name, columns in COLUMNS.items():
        parts = [column.partition(":") for column in columns.split()]
        typed = ", ".join(f'"{part}" {ENGINE_TYPES.get(kind, "VARCHAR")}'
                          for part, _, kind in parts)  # fmt: skip
        yield f'CREATE TABLE "{name}" ({typed})'


def column_names(table: str) -> list[str]:
    return [column.partition(":")[0] for column in COLUMNS[table].split()]


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
