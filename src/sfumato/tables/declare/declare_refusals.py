"""The refusals of `tables.declare`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

NUMBER_RANGE_1 = RefusalText(
    "number.range",
    "{place}",
    "bounds must fit into 64-bit floats",
    "{rewrite}",
)
TABLE_BOUNDING_1 = RefusalText(
    "table.bounding",
    "bounding={bounding!r:.60}",
    "{reason}",
    "bounding='weights' or bounding='truncation'",
)
TABLE_BOUNDS_1 = RefusalText(
    "table.bounds",
    "{place}",
    "the column is {words}: only numbers have bounds",
    "types={{{column!r:.60}: 'float'}}, if it is a number",
)
TABLE_BOUNDS_2 = RefusalText(
    "table.bounds",
    "{place}",
    "bounds are a pair: lower bound, upper bound",
    "{rewrite}",
)
TABLE_BOUNDS_3 = RefusalText(
    "table.bounds",
    "bounds={{{column!r:.60}: ({shown}, {shown_2})}}",
    "the lower bound must be below the upper bound",
    "{rewrite}",
)
TABLE_COLUMN_1 = RefusalText(
    "table.column",
    "{place}: '{table:.60}.{column:.60}'",
    "the table has no such column",
    "{listed}",
)
TABLE_KEYS_1 = RefusalText(
    "table.keys",
    "keys={{{column!r:.60}: {keys}}}",
    "public keys are a list",
    "keys={{{column!r:.60}: {EXAMPLES}}}",
)
TABLE_KEYS_2 = RefusalText(
    "table.keys",
    "{place}",
    "a public key set has at least one key",
    "keys={{{column!r:.60}: {EXAMPLES}}}",
)
TABLE_KEYS_3 = RefusalText(
    "table.keys",
    "keys={{{column!r:.60}: {key}}}",
    "a key of this column is {name}",
    "keys={{{column!r:.60}: {EXAMPLES}}}",
)
TABLE_KEYS_4 = RefusalText(
    "table.keys",
    "keys={{{column!r:.60}: {key}}}",
    "this key is listed twice",
    "list each key once",
)
TABLE_LEARNED_1 = RefusalText(
    "table.learned",
    "learned=…",
    "a mark for a learned limit needs that limit in the declaration",
    "learned=declaration.learned",
)
TABLE_LINKS_1 = RefusalText(
    "table.links",
    "{name}",
    "tables protected together have the same relation, bounding and version",
    "the same relation, bounding and version for all tables",
)
TABLE_LINKS_2 = RefusalText(
    "table.links",
    "{place}: {word!r:.60}",
    "with several tables, a column is written table.column",
    "'visits.patient_id'",
)
TABLE_LINKS_3 = RefusalText(
    "table.links",
    "{place}: {word!r:.60}",
    "it may be a column of {fit!r:.60} or of {fit_2!r:.60}",
    "rename one of the two tables",
)
TABLE_LINKS_4 = RefusalText(
    "table.links",
    "links={{'{table:.40}.{value:.40}': …}}",
    "{reason}",
    "a link for each column of the unit",
)
TABLE_LINKS_5 = RefusalText(
    "table.links",
    "links={{'{table:.40}.{value:.40}': …, '{table:.40}.{value_2:.40}': …}}",
    "{reason}",
    "a link to the unit itself, or one link",
)
TABLE_LINKS_6 = RefusalText(
    "table.links",
    "{pair}",
    (
        "with two links a row of {table:.60} would belong to two people, and only one of them "
        "would be protected"
    ),
    "one link to the unit; no link for the other column",
)
TABLE_LINKS_7 = RefusalText(
    "table.links",
    "{place}",
    "a link leads to another table",
    "{EXAMPLE}",
)
TABLE_LINKS_8 = RefusalText(
    "table.links",
    "{place}",
    "linked columns have one type: one is {words}, the other {words_2}",
    "types={{'{table:.40}.{column:.40}': '{bare}'}}",
)
TABLE_LINKS_9 = RefusalText(
    "table.links",
    "protect({{{table!r:.60}: …}})",
    "{reason}",
    "links={{'{table:.40}.{next:.40}': '{home:.40}.{value:.40}'}}, or the table in public=",
)
TABLE_NAME_1 = RefusalText(
    "table.name",
    "name={name!r:.60}",
    "a name is printable text of at most 200 characters",
    "name='clinic'",
)
TABLE_PUBLIC_1 = RefusalText(
    "table.public",
    "{value}",
    "two tables have the same name (upper and lower case are equal)",
    "rename one of the two tables",
)
TABLE_STORED_1 = RefusalText(
    "table.stored",
    "Declaration.from_toml(…)",
    "{reason}",
    "the text of to_toml()",
)
TABLE_STORED_2 = RefusalText(
    "table.stored",
    "DatabaseDeclaration.from_toml(…)",
    "{reason}",
    "the text of to_toml()",
)
TABLE_STORED_3 = RefusalText(
    "table.stored",
    "learned = …",
    "learned holds {counts} numbers in quotes, or [] for a default",
    "the text of to_toml()",
)
TABLE_STORED_4 = RefusalText(
    "table.stored",
    "learned = …",
    "a share lies between 0 and 1",
    "the text of to_toml()",
)
TABLE_TYPE_1 = RefusalText(
    "table.type",
    "declare(…)",
    "without a data source, types lists every column",
    'types={{"user_id": "int64", "spend": "float"}}',
)
TABLE_UNIT_1 = RefusalText(
    "table.unit",
    "max_rows={max_rows}, max_groups={max_groups}",
    "{reason}",
    "unit='user_id'",
)
TABLE_UNIT_2 = RefusalText(
    "table.unit",
    "unit={unit!s:.60}",
    "the unit is the name of a column, or a list of names",
    "unit='user_id' or unit=['hospital', 'patient']",
)
TABLE_UNIT_3 = RefusalText(
    "table.unit",
    "unit={unit!r:.60}",
    "a ledger would read this name as 'each row', or as several columns",
    "rename the column",
)
TABLE_UNIT_4 = RefusalText(
    "table.unit",
    "unit={unit!r:.60}",
    "the unit is one column, or several different columns",
    "unit='user_id' or unit=['hospital', 'patient']",
)
TABLE_UNIT_5 = RefusalText(
    "table.unit",
    "unit={column!r:.60}",
    "a float cannot identify a person: floats that look the same may differ",
    "types={{{column!r:.60}: 'int64'}}",
)
TABLE_UNIT_6 = RefusalText(
    "table.unit",
    "{name}",
    "the links determine the unit of this table",
    "unit = {unit}",
)
TABLE_UNIT_7 = RefusalText(
    "table.unit",
    "unit={unit!s:.60}",
    "several tables need a unit: the column that identifies a person",
    "unit='patients.id'",
)
TABLE_UNIT_8 = RefusalText(
    "table.unit",
    "unit={unit!r:.60}",
    "the unit is one column, or several columns of one table",
    "unit='patients.id'",
)
