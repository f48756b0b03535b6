"""The refusals of `tables.query`: aggregates, calendars, joins, unions and the stages of a query.
Names in braces are fields.
"""

from __future__ import annotations

from ...errors import RefusalText, RefusedName

# Aggregates.

LOW_OR_HIGH_MISSING = RefusalText(
    "aggregate.bounds",
    "low={low}, high={high}",
    "bounds need both low= and high=",
    "low=0, high=100",
)
LOW_NOT_BELOW_HIGH = RefusalText(
    "aggregate.bounds",
    "low={low}, high={high}",
    "low has to be below high",
    "low=0, high=100",
)
AGGREGATE_CONDITION_NOT_EXPRESSION = RefusalText(
    "aggregate.where",
    "{method}({type})",
    "a condition has to be an expression on columns",
    "{method}(sf.col('age') >= 18)",
)

# Calendars.

UNKNOWN_CALENDAR_UNIT = RefusalText(
    "calendar.unit",
    "unit={unit!r:.40}",
    "a bucket is one of {units}",
    "unit='month'",
)
NOT_A_DATE = RefusalText(
    "calendar.dates",
    "{argument}={value!r:.40}",
    "{argument} has to be a date, or a date as text",
    "{argument}='2026-01-01'",
)
DATES_NOT_IN_ORDER = RefusalText(
    "calendar.dates",
    "{first} … {last}",
    "the first date lies after the last",
    "first='2026-01-01', last='2026-12-31'",
)
TOO_MANY_BUCKETS = RefusalText(
    "calendar.buckets",
    "calendar(…, {unit!r}, …)",
    "a calendar has at most {most:,} buckets: take a coarser unit",
    "unit={coarser!r}",
)

# Several groupings.

TOO_MANY_GROUPINGS = RefusalText(
    "query.groupings",
    "group_by(…)",
    "one question has at most {most} groupings: list those that you need",
    "group_by(sf.grouping_sets(['city', 'vip'], ['city'], []))",
)
GROUPINGS_WITHOUT_KEYS = RefusalText(
    "query.groupings",
    "{method}()",
    "{method} needs the names of keys",
    "{method}('city', 'vip')",
)

# Names from other libraries.

ROWS_ARE_NOT_SHOWN = RefusalText(
    "table.attribute",
    "{table}.{name}",
    "rows cannot be shown: only noisy answers leave a protected table; describe() shows its "
    "columns, free of charge",
    "{table}.describe()",
    kind=RefusedName,
)
NAMED_OTHERWISE = RefusalText(
    "table.attribute",
    "{table}.{name}",
    "a protected table has no {name}, but a method that does the same",
    "{table}.{rewrite}",
    kind=RefusedName,
)

# Conditions, new columns and keys.

CONDITION_NOT_EXPRESSION = RefusalText(
    "stage.where",
    "where({type})",
    "a condition has to be an expression on columns",
    "where(sf.col('age') >= 18)",
)
CONDITION_NOT_TRUE_OR_FALSE = RefusalText(
    "stage.where",
    "where({condition})",
    "a condition has to be true or false of a row",
    "where(sf.col('age') >= 18)",
)
NEW_COLUMN_NOT_EXPRESSION = RefusalText(
    "stage.mutate",
    "mutate({column}=…)",
    "a new column has to be an expression on columns",
    "mutate({column}=sf.col('age') // 10)",
)
UNIT_OVERWRITTEN = RefusalText(
    "stage.unit",
    "mutate({column}=…)",
    "{column} is the unit, which says whose row it is: no step may change it",
    "mutate({column}_2=sf.col({column!r}))",
)
KEY_NOT_A_NAME = RefusalText(
    "stage.keys",
    "group_by(…)",
    "group_by takes columns by name, and an expression under a name",
    "group_by(decade=sf.col('age') // 10)",
)
KEY_HIDES_COLUMN = RefusalText(
    "stage.keys",
    "group_by({column}=…)",
    "the table has a column {column} already",
    "group_by({column}_group={expression})",
)
CALENDAR_HIDES_COLUMN = RefusalText(
    "stage.keys",
    "group_by({column}=sf.calendar(…))",
    "the table has a column {column} already",
    "group_by({column}_bucket={calendar})",
)
KEY_IS_UNIT = RefusalText(
    "stage.unit",
    "group_by({column!r})",
    "a group for each {column} would be about one person",
    "aggregate(n=sf.count_units())",
)

# Columns of the answer.

AGGREGATE_MISSING = RefusalText(
    "stage.aggregate",
    "aggregate(…)",
    "aggregate needs at least one named aggregate",
    "aggregate(n=sf.count())",
)
AGGREGATE_UNNAMED = RefusalText(
    "stage.aggregate",
    "aggregate(…)",
    "only an aggregate of a column has a name of its own: name the others",
    "aggregate(n=sf.count())",
)
TOO_MANY_COLUMNS = RefusalText(
    "stage.aggregate",
    "{count} aggregates",
    "an answer has at most {most} columns",
    "ask for at most {most} columns in each of several queries",
)
AGGREGATE_NAMED_LIKE_KEY = RefusalText(
    "stage.aggregate",
    "{column}=…",
    "a key is called {column} already",
    "{column}_n=sf.count()",
)
AGGREGATE_NAMED_TWICE = RefusalText(
    "stage.aggregate",
    "{column}=…",
    "two columns would be called {column}",
    "{column}_2=sf.count()",
)

# Totals of the rows of each unit.

TOTALS_WITHOUT_UNIT = RefusalText(
    "stage.unit",
    "per_unit(…)",
    "without a unit in protect() each row is taken as a different person, who has no other rows",
    "unit='user_id'",
)
ORDER_WITHOUT_UNIT = RefusalText(
    "stage.unit",
    "number_rows(…)",
    "without a unit in protect() each row is taken as a different person, who has no other rows",
    "unit='user_id'",
)
ORDER_MISSING = RefusalText(
    "stage.order",
    "number_rows({column!r})",
    "rows are numbered in the order of a column",
    "by='day'",
)
ORDER_OF_NO_ORDER = RefusalText(
    "stage.order",
    "{of}",
    "rows have an order by numbers, texts, dates and times, and this is {words}",
    "by='day'",
)
TOTAL_NAMES_TWICE = RefusalText(
    "stage.unit",
    "per_unit({columns})",
    "each column needs a name of its own, and {unit} is the unit",
    "per_unit({{}}, {{'visits': Total('count')}})",
)
TOTAL_CONDITION_NOT_TRUE_OR_FALSE = RefusalText(
    "stage.total",
    "{total}",
    "a condition has to be true or false of a row",
    "where=sf.col('age') >= 18",
)
TOTAL_WITHOUT_ORDER = RefusalText(
    "stage.total",
    "{total}",
    "{of} is {words}, and such values have no least and no largest one here",
    "Total('count', {python})",
)
TOTAL_WITHOUT_BOUNDS = RefusalText(
    "stage.total",
    "{total}",
    (
        "without bounds of {of} its sum would depend on the order of the rows, and so on who else "
        "is there"
    ),
    "Total({kind!r}, {python}.clip(0, 100))",
)
TOTAL_OF_NO_NUMBER = RefusalText(
    "stage.total",
    "{total}",
    "{of} is {words}, which has no sum",
    "Total('count', {python})",
)

# Joins: their tables.

NOT_ROWS = RefusalText(
    "join.tables",
    "{type:.60}",
    "a join needs the rows of a protected table or of a public one",
    "visits.join(patients, on={{'patient_id': 'id'}})",
)
TABLES_NOT_PROTECTED_TOGETHER = RefusalText(
    "join.tables",
    "{table}",
    "tables in one query have to be protected together, under one budget",
    "sf.protect({{'visits': visits, 'patients': patients}}, unit='patients.id', budget=1)",
)
TOO_MANY_TABLES = RefusalText(
    "join.tables",
    "{table}",
    "one query joins at most {most} tables",
    "join fewer tables in one query",
)
QUESTION_ABOUT_PUBLIC_TABLE = RefusalText(
    "join.public",
    "{place}",
    "{table:.60} is public and has no budget: read it directly, or join it to a protected table",
    "visits.join({table:.60}, on='city')",
)
PUBLIC_TABLE_NOT_READABLE = RefusalText(
    "join.public",
    "{table}",
    "sfumato counts the rows of a public table before a join, and cannot read this one",
    "give a public table that the engine can read",
)

# Joins: their kind and their columns.

UNKNOWN_JOIN = RefusalText(
    "join.kind",
    "how={how!r:.60}",
    "only inner, left and cross joins are answered: others keep rows that belong to nobody",
    "how='left'",
)
CROSS_JOIN_WITH_CONDITION = RefusalText(
    "join.kind",
    "how='cross'",
    "a cross join has no condition",
    "how='inner'",
)
PUBLIC_LEFT_OF_JOIN = RefusalText(
    "join.kind",
    "{place}",
    "{public:.60} is public: its rows without a match would count as data of nobody",
    "{protected:.60}.join({public:.60}, on='city')",
)
PUBLIC_LEFT_OF_MATCH = RefusalText(
    "join.kind",
    "{place}",
    (
        "{public:.60} is public: which of its rows have a match is a fact about the people who "
        "have it"
    ),
    "{protected:.60}.semi_join({public:.60}, on='city')",
)
INNER_JOIN_WITH_CONDITION = RefusalText(
    "join.columns",
    "where=…",
    "an inner join takes no where=: filter the rows after the join",
    "where(sf.col('age') >= 18)",
)
NULLS_NOT_POSSIBLE = RefusalText(
    "join.columns",
    "{place}",
    "nulls=True works in an anti join on one column of a public table",
    "anti_join(cities, on='city', nulls=True)",
)
JOIN_COLUMNS_MISSING = RefusalText(
    "join.columns",
    "{place}",
    "a join needs the columns to join on",
    "on={{'patient_id': 'id'}}",
)
JOIN_COLUMNS_NOT_NAMES = RefusalText(
    "join.columns",
    "{place}",
    "on= takes a column name, several, or a dictionary from left names to right names",
    "on={{'patient_id': 'id'}}",
)
JOIN_CONDITION_NOT_TRUE_OR_FALSE = RefusalText(
    "join.columns",
    "{place}: where=…",
    "a condition has to be true or false of two rows",
    "where=sf.col('age') >= sf.col('low')",
)

# Joins and unions: the owner of every row.

JOIN_OF_TWO_OWNERS = RefusalText(
    "join.ownership",
    "{place}",
    (
        "two protected tables have to be joined on the unit or on a declared link: any other "
        "joined row would belong to two people"
    ),
    "on={unit!r}",
)
MATCH_WITHOUT_UNIT = RefusalText(
    "join.ownership",
    "{place}",
    "without a unit in protect() no row of two protected tables belongs to the same person",
    "unit='user_id'",
)
UNION_WITH_PUBLIC_ROWS = RefusalText(
    "join.ownership",
    "{place}",
    "a union would count public rows as if they were people's",
    "unite two protected tables",
)
JOIN_WITHOUT_UNIT = RefusalText(
    "join.unit",
    "{place}",
    "without a unit in protect() a repeated row would count as several people",
    "unit='user_id'",
)
UNION_TYPES_DIFFER = RefusalText(
    "union.columns",
    "{place}",
    "{reason}",
    "{rewrite}",
)
UNION_EXCEEDS_MAX_ROWS = RefusalText(
    "table.max-rows",
    "{place}",
    (
        "a unit would count for the rows of both tables, {rows:,}, and the limit is 2^{bits}: "
        "declare a smaller max_rows in protect()"
    ),
    "max_rows=5",
)

# The work that one unit can cause.

UNIT_WORK_TOO_LARGE = RefusalText(
    "question.work",
    "{place}",
    (
        "one unit's rows could cost {work:,} operations, and the limit is {most:,}; an operation "
        "on a text counts 64"
    ),
    "put conditions and text functions before the join, use fewer, or split the question",
)
UNIT_ROWS_TOO_MANY = RefusalText(
    "question.work",
    "{place}",
    "the joins could turn {before:,} rows of one unit into {after:,}, and the limit is {most:,}",
    "join on columns that fit few public rows, or fewer public tables",
)
PUBLIC_WORK_TOO_LARGE = RefusalText(
    "question.work",
    "{place}",
    (
        "the expressions on its {rows:,} rows cost {work:,} operations, and the limit is {most:,}; "
        "an operation on a text counts 64"
    ),
    "give a public table that has these columns already",
)
PLACES_APART = RefusalText(
    "stage.places",
    "group by {columns:.80}",
    "none of these places lies in another of them, by the declared hierarchy: the answer would "
    "have no group",
    "group by one of the columns",
)
