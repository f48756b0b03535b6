"""The functions of PostgreSQL's catalogue, as macros of the engine.

Sizes, definitions and statistics are NULL: there is nothing of the kind, and nothing about data.
"""

from __future__ import annotations

from collections.abc import Iterable

_TRUE = ("true",) * 5
_NULL = ("NULL",) * 5
_NAMES = "abcde"

MACROS: dict[str, dict[int, str]] = {
    "format_type": {
        2: "(SELECT CASE WHEN f_type = 1700 AND b > 4 THEN 'numeric(' || ((b - 4) >> 16) || ',' "
        "|| ((b - 4) & 65535) || ')' ELSE f_type_shown END FROM f_types WHERE f_type = a)"
    },
    "pg_get_userbyid": {1: "'owner'"},
    "pg_encoding_to_char": {1: "'UTF8'"},
    "pg_char_to_encoding": {1: "6"},
    "pg_my_temp_schema": {0: "0"},
    "pg_backend_pid": {0: "1"},
    "pg_is_in_recovery": {0: "false"},
    "pg_is_other_temp_schema": {1: "false"},
    "txid_current": {0: "0"},
    "current_schemas": {1: "CASE WHEN a THEN ['pg_catalog', 'public'] ELSE ['public'] END"},
    "to_regclass": {
        1: "(SELECT max(f_class) FROM f_classes WHERE f_class_name = "
        "trim(regexp_replace(a, '^\"?(public|pg_catalog)\"?\\.', ''), '\"'))"
    },
    "regclass_name": {
        1: "coalesce((SELECT max(f_class_name) FROM f_classes WHERE CAST(f_class AS VARCHAR) = "
        "CAST(a AS VARCHAR)), CAST(a AS VARCHAR))"
    },
    "to_regtype": {
        1: "(SELECT max(f_type) FROM f_types WHERE f_type_name = a OR f_type_shown = a)"
    },
    "obj_description": {
        1: "(SELECT max(f_description) FROM f_descriptions WHERE f_object = a AND f_part = 0)",
        2: "(SELECT max(f_description) FROM f_descriptions WHERE f_object = a AND f_part = 0)",
    },
    "quote_ident": {1: "a"},
    "pg_size_pretty": {1: "NULL"},
    "array_upper": {2: "len(a)"},
    "array_lower": {2: "1"},
    "pg_relation_is_publishable": {1: "false"},
    "pg_get_keywords": {0: "NULL"},
    **{
        name: dict(enumerate(_NULL))
        for name in (
            "col_description",
            "shobj_description",
            "inet_server_addr",
            "inet_server_port",
            "inet_client_addr",
            "pg_column_size",
            "pg_conf_load_time",
            "pg_database_size",
            "pg_get_constraintdef",
            "pg_get_expr",
            "pg_get_function_arguments",
            "pg_get_function_identity_arguments",
            "pg_get_function_result",
            "pg_get_indexdef",
            "pg_get_partition_constraintdef",
            "pg_get_partkeydef",
            "pg_get_ruledef",
            "pg_get_serial_sequence",
            "pg_get_statisticsobjdef",
            "pg_get_statisticsobjdef_columns",
            "pg_get_triggerdef",
            "pg_get_viewdef",
            "pg_indexes_size",
            "pg_partition_root",
            "pg_postmaster_start_time",
            "pg_relation_filenode",
            "pg_relation_size",
            "pg_stat_get_numscans",
            "pg_table_size",
            "pg_tablespace_location",
            "pg_tablespace_size",
            "pg_total_relation_size",
            "pg_notify",
        )
    },
    **{
        name: dict(enumerate(_TRUE))
        for name in (
            "has_any_column_privilege",
            "has_column_privilege",
            "has_database_privilege",
            "has_function_privilege",
            "has_schema_privilege",
            "has_sequence_privilege",
            "has_table_privilege",
            "pg_collation_is_visible",
            "pg_function_is_visible",
            "pg_has_role",
            "pg_opclass_is_visible",
            "pg_operator_is_visible",
            "pg_statistics_obj_is_visible",
            "pg_table_is_visible",
            "pg_type_is_visible",
        )
    },
}
"""The functions by name: what each is in the engine, by the number of its arguments a, b, c …"""

BUILT_IN = frozenset({
    "array_length", "array_position", "array_to_string", "btrim", "format", "json_object", "left",
    "ltrim",
    "now", "position", "right", "rtrim", "string_to_array", "strpos", "translate", "unnest",
})  # fmt: skip
"""Functions that the engine has under the same name."""

TABLE_FUNCTIONS = frozenset({"explode", "exploding_generate_series", "generate_series", "unnest"})


def macro_definitions() -> Iterable[str]:
    """Return the statements that create the macros in the engine."""
    for name, bodies in MACROS.items():
        forms = ", ".join(
            f"({', '.join(_NAMES[:count])}) AS {body}" for count, body in bodies.items()
        )
        yield f"CREATE MACRO f_{name}{forms}"
