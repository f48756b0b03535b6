"""The refusals of `tables.declare`: what the owner says of one table or of several. Names in braces
are fields.
"""

from __future__ import annotations

from ...errors import RefusalText

# Names and labels.

NAME_MISSING = RefusalText(
    "table.name",
    "name=None",
    "a table in memory needs a name",
    "name='visits'",
)
NAME_NOT_PRINTABLE = RefusalText(
    "table.name",
    "name={name!r:.60}",
    "a name is printable text of 1 to {most} characters",
    "name='visits'",
)
VERSION_NOT_PRINTABLE = RefusalText(
    "table.version",
    "version={version!r:.60}",
    "a version is printable text of at most {most} characters",
    "version='2026-03'",
)

# The unit.

UNIT_NOT_COLUMNS = RefusalText(
    "table.unit",
    "unit={unit!s:.60}",
    "the unit is the name of a column, or a list of names",
    "unit='user_id'",
)
UNIT_NAMES_NO_COLUMN_OR_ONE_TWICE = RefusalText(
    "table.unit",
    "unit={unit!r:.60}",
    "the unit is one column, or several different columns",
    "unit=['hospital', 'patient']",
)
UNIT_NAME_HAS_ANOTHER_MEANING = RefusalText(
    "table.unit",
    "unit={unit!r:.60}",
    "a ledger would read this name as 'each row', or as several columns",
    "rename the column",
)
UNIT_IS_FLOAT = RefusalText(
    "table.unit",
    "unit={column!r:.60}",
    "a float cannot identify a person: floats that look the same may differ",
    "types={{{column!r:.60}: 'int64'}}",
    shell="--types {column}=int64",
)
LIMITS_WITHOUT_UNIT = RefusalText(
    "table.unit",
    "max_rows={max_rows}, max_groups={max_groups}",
    "without a unit every row counts as a different person, who has one row",
    "unit='user_id'",
    shell="--unit user_id",
)

# Limits.

MAX_ROWS_OUT_OF_RANGE = RefusalText(
    "table.max-rows",
    "max_rows={value}",
    "max_rows is a whole number from 1 to 2^{bits}",
    "max_rows=5",
    shell="--max-rows 5",
)
MAX_GROUPS_OUT_OF_RANGE = RefusalText(
    "table.max-rows",
    "max_groups={value}",
    "max_groups is a whole number from 1 to 2^{bits}",
    "max_groups=5",
    shell="--max-groups 5",
)
TABLE_ROWS_OUT_OF_RANGE = RefusalText(
    "table.rows",
    "table_rows={value}",
    "table_rows is a whole number from 1 to 2^{bits}",
    "table_rows=2**40",
)
UNKNOWN_BOUNDING = RefusalText(
    "table.bounding",
    "bounding={bounding!r:.60}",
    (
        "the rows of a unit with many are down-weighted ('weights'), or cut to a few in a secret "
        "order ('truncation')"
    ),
    "bounding='weights'",
)
LEARNED_WITHOUT_LIMIT = RefusalText(
    "table.learned",
    "learned=…",
    "a mark for a learned limit needs that limit in the declaration",
    "learned=declaration.learned",
)

# Types, bounds and public keys of columns.

TYPES_MISSING = RefusalText(
    "table.type",
    "declare(…)",
    "without a data source, types lists every column",
    "types={{'user_id': 'int64', 'spend': 'float'}}",
)
TYPES_NOT_BY_COLUMN = RefusalText(
    "table.type",
    "types={values!s:.60}",
    "types is a dictionary from columns to types",
    "types={{'spend': 'float'}}",
)
BOUNDS_NOT_BY_COLUMN = RefusalText(
    "table.bounds",
    "bounds={values!s:.60}",
    "bounds is a dictionary from columns to pairs of numbers",
    "bounds={{'spend': (0, 100)}}",
)
BOUNDS_OF_NO_NUMBER = RefusalText(
    "table.bounds",
    "bounds={{{column!r:.60}: …}}",
    "the column is {words}, and only numbers have bounds: if it is a number, declare its type",
    "types={{{column!r:.60}: 'float'}}",
    shell="--types {column}=float",
)
BOUNDS_NOT_A_PAIR = RefusalText(
    "table.bounds",
    "bounds={{{column!r:.60}: …}}",
    "bounds are a pair: lower bound, upper bound",
    "bounds={{{column!r:.60}: (0, 100)}}",
)
BOUNDS_NOT_IN_ORDER = RefusalText(
    "table.bounds",
    "bounds={{{column!r:.60}: ({low}, {high})}}",
    "the lower bound must be below the upper bound",
    "bounds={{{column!r:.60}: (0, 100)}}",
    shell="--bounds {column}=0:100",
)
BOUNDS_TOO_LARGE = RefusalText(
    "number.range",
    "bounds={{{column!r:.60}: …}}",
    "bounds must fit into 64-bit floats",
    "bounds={{{column!r:.60}: (0, 100)}}",
    shell="--bounds {column}=0:100",
)
KEYS_NOT_BY_COLUMN = RefusalText(
    "table.keys",
    "keys={values!s:.60}",
    "keys is a dictionary from columns to lists of public keys",
    "keys={{'city': ['Roma', 'Bari']}}",
)
KEYS_NOT_A_LIST = RefusalText(
    "table.keys",
    "keys={{{column!r:.60}: {keys}}}",
    "public keys are a list",
    "keys={{{column!r:.60}: {example}}}",
)
KEYS_EMPTY = RefusalText(
    "table.keys",
    "keys={{{column!r:.60}: …}}",
    "a public key set has at least one key",
    "keys={{{column!r:.60}: {example}}}",
)
KEY_OF_WRONG_TYPE = RefusalText(
    "table.keys",
    "keys={{{column!r:.60}: {key}}}",
    "a key of this column is {expected}",
    "keys={{{column!r:.60}: {example}}}",
)
KEY_LISTED_TWICE = RefusalText(
    "table.keys",
    "keys={{{column!r:.60}: {key}}}",
    "this key is listed twice",
    "list each key once",
)

# Several tables: the unit, and the links that lead to it.

DATABASE_WITHOUT_UNIT = RefusalText(
    "table.unit",
    "unit={unit!s:.60}",
    "several tables need a unit: the column that identifies a person",
    "unit='patients.id'",
)
UNIT_IN_SEVERAL_TABLES = RefusalText(
    "table.unit",
    "unit={unit!r:.60}",
    "the unit is one column, or several different columns of one table",
    "unit='patients.id'",
)
UNIT_NOT_OF_LINKS = RefusalText(
    "table.unit",
    "{table}",
    "the links determine the unit of this table",
    "unit = {unit}",
)
TABLES_DIFFER = RefusalText(
    "table.links",
    "{name}",
    "tables protected together have the same relation, bounding and version",
    "give all tables the same relation, bounding and version",
)
TABLE_NAMES_TWICE = RefusalText(
    "table.public",
    "{names:.80}",
    "two tables have the same name (upper and lower case are equal)",
    "rename one of the two tables",
)
COLUMN_WITHOUT_TABLE = RefusalText(
    "table.links",
    "{argument}: {column!r:.60}",
    "with several tables, a column is written table.column",
    "'visits.patient_id'",
)
COLUMN_FITS_TWO_TABLES = RefusalText(
    "table.links",
    "{argument}: {column!r:.60}",
    "it may be a column of {first!r:.60} or of {second!r:.60}",
    "rename one of the two tables",
)
TABLE_LACKS_LINKED_COLUMN = RefusalText(
    "table.column",
    "{argument}: '{table:.60}.{column:.60}'",
    "{table:.60} has no such column; some of its columns are {names}",
    "'{table:.60}.{first:.60}'",
)
LINK_WITHIN_TABLE = RefusalText(
    "table.links",
    "links={{'{source:.80}': '{target:.80}'}}",
    "a link leads to another table",
    "links={{'visits.patient_id': 'patients.id'}}",
)
LINKED_TYPES_DIFFER = RefusalText(
    "table.links",
    "links={{'{source:.80}': '{target:.80}'}}",
    "linked columns have one type: one is {words}, the other {target_words}",
    "types={{'{source:.80}': '{type}'}}",
)
LINK_ON_FLOATS = RefusalText(
    "table.links",
    "links={{'{source:.80}': '{target:.80}'}}",
    "a float cannot identify a person: floats that look the same may differ",
    "types={{'{source:.80}': 'int64', '{target:.80}': 'int64'}}",
)
LINKS_TO_PART_OF_UNIT = RefusalText(
    "table.links",
    "links={{'{table:.40}.{column:.40}': …}}",
    "with a unit of several columns, each table links to all of them",
    "links={links}",
)
TWO_LINKS = RefusalText(
    "table.links",
    "links={{'{table:.40}.{first:.40}': …, '{table:.40}.{second:.40}': …}}",
    (
        "with two links a row of {table:.60} would belong to two people, and only one of them "
        "would be protected"
    ),
    "links={{'{table:.40}.{first:.40}': '{target:.80}'}}",
)
TABLE_WITHOUT_OWNER = RefusalText(
    "table.links",
    "protect({{{table!r:.60}: …}})",
    (
        "no link leads from {table:.60} to {home:.60}, so its rows have no owner: add a link, or "
        "name the table in public="
    ),
    "links={{'{table:.40}.{column:.40}': '{home:.40}.{unit:.40}'}}",
)

# Stored declarations.

NOT_TOML = RefusalText(
    "table.stored",
    "{record}.from_toml(…)",
    "the text is not TOML",
    "the text of to_toml()",
)
DECLARATION_HEADER_MISSING = RefusalText(
    "table.stored",
    "Declaration.from_toml(…)",
    'the text lacks sfumato = "declaration" and version = {version}',
    'sfumato = "declaration"\nversion = {version}',
)
DECLARATION_PARTS_WRONG = RefusalText(
    "table.stored",
    "Declaration.from_toml(…)",
    "the text has [table], with {names}, and a [columns.NAME] for each column",
    '[table]\nname = "visits"\n\n[columns.age]\ntype = "int64"',
)
COLUMN_PARTS_WRONG = RefusalText(
    "table.stored",
    "[columns.{column!r:.60}]",
    "a column has a type, and may have bounds, keys, null_key and learned",
    'type = "int64"',
)
COLUMN_KEYS_WRONG = RefusalText(
    "table.stored",
    "[columns.{column!r:.60}]",
    "keys is a list, and null_key is true or false",
    'keys = ["Roma", "Bari"]\nnull_key = true',
)
LEARNED_PARTS_WRONG = RefusalText(
    "table.stored",
    "learned = …",
    "learned in [table] has {names}",
    "learned = {{ max_rows = [] }}",
)
LEARNED_NUMBERS_WRONG = RefusalText(
    "table.stored",
    "learned = …",
    "learned holds {count} numbers in quotes, or [] for a default",
    "learned = []",
)
LEARNED_SHARE_OUT_OF_RANGE = RefusalText(
    "table.stored",
    "learned = …",
    "a share lies between 0 and 1",
    "learned = []",
)
DATABASE_HEADER_MISSING = RefusalText(
    "table.stored",
    "DatabaseDeclaration.from_toml(…)",
    'the text lacks sfumato = "database", version = {version} or [database]',
    (
        'sfumato = "database"\nversion = {version}\n\n'
        '[database]\nname = "clinic"\nunit = ["patients.id"]'
    ),
)
DATABASE_PARTS_WRONG = RefusalText(
    "table.stored",
    "DatabaseDeclaration.from_toml(…)",
    (
        "the text has [links], and for each table [tables.NAME.table] and "
        "[tables.NAME.columns.COLUMN], or [public.NAME.table] and "
        "[public.NAME.columns.COLUMN]"
    ),
    (
        '[links]\n"visits.patient_id" = "patients.id"\n\n'
        '[tables.visits.table]\nname = "visits"\n\n'
        '[tables.visits.columns.patient_id]\ntype = "int64"'
    ),
)
STORED_NAME_DIFFERS = RefusalText(
    "table.stored",
    "[tables.{table!r:.60}.table]",
    "this table has another name in its [table]",
    "name = {table!r:.60}",
)

# Hierarchies of places.

LEVELS_NOT_NAMES = RefusalText(
    "table.hierarchy",
    "hierarchy{levels!r:.60}",
    "the levels are names of columns, from large places to small ones",
    "sf.hierarchy('state', 'county', places=places)",
)
LEVEL_TWICE = RefusalText(
    "table.hierarchy",
    "hierarchy({levels:.60})",
    "each level is a different column",
    "sf.hierarchy('state', 'county', places=places)",
)
KEYED_BY_UNKNOWN = RefusalText(
    "table.hierarchy",
    "keyed_by={keyed_by!r:.40}",
    "a place is known by its name, or by its path if names repeat",
    "keyed_by='path'",
)
NO_PLACES = RefusalText(
    "table.hierarchy",
    "places of {levels:.60}",
    "the list of places is empty",
    "places={{'A': ['A1', 'A2'], 'B': ['B1']}}",
)
PLACES_UNREADABLE = RefusalText(
    "table.hierarchy",
    "places={kind:.60}",
    "places are a frame with a column for each level, columns by name, places within places, "
    "a list of paths, or a .csv or .parquet file",
    "places={{'A': ['A1', 'A2'], 'B': ['B1']}}",
)
LEVEL_NOT_A_COLUMN = RefusalText(
    "table.hierarchy",
    "level {level!r:.60}",
    "the table of places has no such column: it has {columns:.200}",
    "rename the column, or the level",
)
PLACE_IN_TWO = RefusalText(
    "table.hierarchy",
    "{level:.60} {name:.60}",
    "it lies in {first:.80} and in {second:.80}: with keyed_by='name' a place has one place "
    "above it",
    "keyed_by='path'",
)
PLACES_ALIKE = RefusalText(
    "table.hierarchy",
    "places of {levels:.60}",
    "two places are the same once their names have the types of the columns",
    "list each place once",
)
LEVELS_DIFFER = RefusalText(
    "table.hierarchy",
    "keys of ({levels:.60})",
    "the hierarchy has the levels {others:.80}",
    "keys=hierarchy",
)
KEYS_TWICE = RefusalText(
    "table.hierarchy",
    "keys of {column!r:.60}",
    "the column has keys of its own, or is a level of another hierarchy",
    "name the keys of a column once",
)
HIERARCHY_PARTS_WRONG = RefusalText(
    "table.hierarchy",
    "[[hierarchies]]",
    "a hierarchy has levels, keyed_by, and places: a list of paths",
    "levels = ['state', 'county']",
)
