"""The columns of PostgreSQL's system tables, as far as clients read them."""

from __future__ import annotations

from collections.abc import Iterable

SCHEMA = "information_schema"
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
    "pg_language": "oid:n tableoid:n lanname lanowner:n lanispl:b lanpltrusted:b lanplcallfoid:n",
    "pg_locks": "locktype database:n relation:n pid:n mode granted:b",
    "pg_matviews": "schemaname matviewname matviewowner definition",
    "pg_opclass": "oid:n opcname opcmethod:n opcnamespace:n opcdefault:b",
    "pg_operator": "oid:n oprname oprnamespace:n",
    "pg_partitioned_table": "partrelid:n partstrat partnatts:n",
    "pg_policy": "oid:n polname polrelid:n polcmd polpermissive:b polroles:i polqual polwithcheck",
    "pg_proc": "oid:n proname pronamespace:n proowner:n prolang:n prokind prorettype:n "
    "proargtypes proargnames:l proretset:b proisstrict:b provolatile prosrc pronargs:n "
    "proargmodes:l proallargtypes:l",
    "pg_publication": "oid:n pubname pubowner:n puballtables:b",
    "pg_publication_namespace": "oid:n pnpubid:n pnnspid:n",
    "pg_publication_rel": "oid:n prpubid:n prrelid:n prqual prattrs:i",
    "pg_range": "rngtypid:n rngsubtype:n",
    "pg_rewrite": "oid:n rulename ev_class:n ev_type ev_enabled is_instead:b",
    "pg_roles": "oid:n rolname rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b "
    "rolcanlogin:b rolreplication:b rolconnlimit:n rolpassword rolvaliduntil rolbypassrls:b "
    "rolconfig:l",
    "pg_sequence": "seqrelid:n seqtypid:n seqstart:n seqincrement:n seqmax:n seqmin:n "
    "seqcache:n seqcycle:b",
    "pg_sequences": "schemaname sequencename sequenceowner",
    "pg_settings": "name setting unit category short_desc vartype source boot_val",
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
    "pg_conversion": "oid:n conname connamespace:n conforencoding:n contoencoding:n condefault:b",
    "pg_subscription": "oid:n subname subowner:n subenabled:b",
    "pg_ts_config": "oid:n cfgname cfgnamespace:n cfgparser:n",
    "pg_ts_dict": "oid:n dictname dictnamespace:n dicttemplate:n dictinitoption",
    "pg_ts_parser": "oid:n prsname prsnamespace:n",
    "pg_ts_template": "oid:n tmplname tmplnamespace:n",
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
FILLED = {
    "pg_am", "pg_attribute", "pg_class", "pg_collation", "pg_database", "pg_description",
    "pg_get_keywords", "pg_language", "pg_namespace", "pg_roles", "pg_settings", "pg_tables",
    "pg_tablespace", "pg_type", "columns", "schemata", "tables", "table_privileges",
}  # fmt: skip
EMPTY = frozenset(name.rpartition(".")[2] for name in COLUMNS) - FILLED
"""The tables that hold nothing: there are no indexes, constraints, sequences …"""
ENGINE_TYPES = {"n": "BIGINT", "d": "DOUBLE", "b": "BOOLEAN", "l": "VARCHAR[]", "i": "BIGINT[]"}


VIEWS = (
    (
        "CREATE VIEW f_classes AS SELECT oid AS f_class, relname AS f_class_name FROM pg_class "
        "UNION ALL VALUES (1247, 'pg_type'), (1249, 'pg_attribute'), (1255, 'pg_proc'), "
        "(1259, 'pg_class'), (2604, 'pg_attrdef'), (2606, 'pg_constraint'), (2610, 'pg_index'), "
        "(2615, 'pg_namespace'), (2618, 'pg_rewrite'), (2620, 'pg_trigger'), (1262, 'pg_database')"
    ),
    (
        "CREATE VIEW f_types AS SELECT oid AS f_type, typname AS f_type_name, "
        "typshown AS f_type_shown FROM pg_type"
    ),
    (
        "CREATE VIEW f_descriptions AS SELECT objoid AS f_object, objsubid AS f_part, "
        "description AS f_description FROM pg_description"
    ),
)
"""The tables that functions read, with names that no query has: an argument of a function may be a
column of any name.
"""


def definitions() -> Iterable[str]:
    """Return the statements that create the tables in the engine."""
    for name, columns in COLUMNS.items():
        parts = [column.partition(":") for column in columns.split()]
        typed = ", ".join(f'"{part}" {ENGINE_TYPES.get(kind, "VARCHAR")}'
                          for part, _, kind in parts)  # fmt: skip
        yield f'CREATE TABLE "{name}" ({typed})'
    yield from VIEWS


def column_names(table: str) -> list[str]:
    return [column.partition(":")[0] for column in COLUMNS[table].split()]
