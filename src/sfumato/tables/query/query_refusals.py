"""The refusals of `tables.query`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

AGGREGATE_BOUNDS_1 = RefusalText(
    "aggregate.bounds",
    "low={low}, high={high}",
    "bounds need both low= and high=",
    "low=0, high=100",
)
AGGREGATE_BOUNDS_2 = RefusalText(
    "aggregate.bounds",
    "low={low}, high={high}",
    "low has to be below high",
    "low=0, high=100",
)
AGGREGATE_EDGES_1 = RefusalText(
    "aggregate.edges",
    "{ends_count} edges",
    "edges are 2 to {MOST_EDGES} numbers, each above the one before",
    "edges=range(0, 121, 10)",
)
AGGREGATE_QUANTILE_1 = RefusalText(
    "aggregate.quantile",
    "q={q}",
    "q is a fraction with a denominator of at most 10,000",
    "q=0.999",
)
AGGREGATE_QUANTILE_2 = RefusalText(
    "aggregate.quantile",
    "{parts_count} probabilities",
    "quantiles needs one or more probabilities, each once",
    "[0.25, 0.5, 0.75]",
)
AGGREGATE_WHERE_1 = RefusalText(
    "aggregate.where",
    "{place}({type})",
    "a condition has to be an expression on columns",
    "{place}(sf.col('age') >= 18)",
)
CALENDAR_BUCKETS_1 = RefusalText(
    "calendar.buckets",
    "calendar(…, {unit!r}, …)",
    "a calendar has at most {MOST_BUCKETS} buckets: take a coarser unit",
    "unit={UNITS!r}",
)
CALENDAR_DATES_1 = RefusalText(
    "calendar.dates",
    "{name}={value!r:.40}",
    "{name} has to be a date, or a date as text",
    "{name}='2026-01-01'",
)
CALENDAR_DATES_2 = RefusalText(
    "calendar.dates",
    "{first} … {last}",
    "the first date lies after the last",
    "'2026-01-01', '2026-12-31'",
)
CALENDAR_UNIT_1 = RefusalText(
    "calendar.unit",
    "unit={unit!r:.40}",
    "a bucket is one of {UNITS}",
    "unit='month'",
)
JOIN_COLUMNS_1 = RefusalText(
    "join.columns",
    "where=…",
    "an inner join takes no where=: filter the joined rows",
    ".where(sf.col('age') >= 18) after the join",
)
JOIN_COLUMNS_2 = RefusalText(
    "join.columns",
    "{place}",
    "nulls=True works in an anti join on one column of a public table",
    "anti_join(cities, on='city', nulls=True)",
)
JOIN_COLUMNS_3 = RefusalText(
    "join.columns",
    "{place}",
    "a join needs the columns to join on",
    "{EXAMPLE}",
)
JOIN_COLUMNS_4 = RefusalText(
    "join.columns",
    "{place}",
    "on= takes a column name, several, or a dictionary from left names to right names",
    "{EXAMPLE}",
)
JOIN_COLUMNS_5 = RefusalText(
    "join.columns",
    "{place}: where=…",
    "a condition has to be true or false of two rows",
    "where=sf.col('age') >= sf.col('low')",
)
JOIN_KIND_1 = RefusalText(
    "join.kind",
    "how={how!r:.60}",
    "{reason}",
    "how='left'",
)
JOIN_KIND_2 = RefusalText(
    "join.kind",
    "how='cross'",
    "a cross join has no condition",
    "how='inner'",
)
JOIN_KIND_3 = RefusalText(
    "join.kind",
    "{place}",
    "{reason}",
    "{name:.60}.join({name_2:.60}, on='city')",
)
JOIN_KIND_4 = RefusalText(
    "join.kind",
    "{place}",
    "{reason}",
    "{name:.60}.semi_join({name_2:.60}, on='city')",
)
JOIN_OWNERSHIP_1 = RefusalText(
    "join.ownership",
    "{place}",
    "{reason}",
    "{rewrite}",
)
JOIN_OWNERSHIP_2 = RefusalText(
    "join.ownership",
    "{place}",
    "a union would count public rows as if they were people's",
    "a union of two protected tables",
)
JOIN_PUBLIC_1 = RefusalText(
    "join.public",
    "{place}",
    "{name:.60} is public and has no budget: read it directly",
    "visits.join({name:.60}, on='city')",
)
JOIN_PUBLIC_2 = RefusalText(
    "join.public",
    "{name}",
    "sfumato counts the rows of a public table before a join, and cannot read this one",
    "a public table that the engine can read",
)
JOIN_TABLES_1 = RefusalText(
    "join.tables",
    "{type:.60}",
    "a join needs the rows of a protected table or of a public one",
    "{EXAMPLE}",
)
JOIN_TABLES_2 = RefusalText(
    "join.tables",
    "{name}",
    "tables in one query have to be protected together, under one budget",
    "sf.protect({{'visits': visits, 'patients': patients}}, unit='patients.id', budget=1)",
)
JOIN_TABLES_3 = RefusalText(
    "join.tables",
    "{name}",
    "one query joins at most {MOST_TABLES} tables",
    "fewer tables in one query",
)
JOIN_UNIT_1 = RefusalText(
    "join.unit",
    "{place}",
    "{reason}",
    "unit='user_id' in protect()",
)
JOIN_UNIT_2 = RefusalText(
    "join.unit",
    "{place}",
    "without a unit a row that the union repeats would count as several people",
    "unit='user_id' in protect()",
)
QUESTION_WORK_1 = RefusalText(
    "question.work",
    "{place}",
    (
        "one unit's rows could cost {work:,} operations, and the limit is {UNIT_WORK:,}; an "
        "operation on a text counts 64"
    ),
    "put conditions and text functions before the join, use fewer, or split the question",
)
QUESTION_WORK_2 = RefusalText(
    "question.work",
    "{place}",
    (
        "the joins could turn {UNIT_ROWS} rows of one unit into {unit_rows:,}, and the limit is "
        "{MOST_UNIT_ROWS:,}"
    ),
    "join on columns that fit few public rows, or fewer public tables",
)
QUESTION_WORK_3 = RefusalText(
    "question.work",
    "{place}",
    (
        "the expressions on its {rows:,} rows cost {work:,} operations, and the limit is "
        "{PUBLIC_WORK:,}; an operation on a text counts 64"
    ),
    "a public table that has these columns already",
)
STAGE_AGGREGATE_1 = RefusalText(
    "stage.aggregate",
    "aggregate(…)",
    "aggregate needs at least one named aggregate",
    "aggregate(n=sf.count())",
)
STAGE_AGGREGATE_2 = RefusalText(
    "stage.aggregate",
    "{aggregates_count} aggregates",
    "an answer has at most {MOST_COLUMNS} columns",
    "at most {MOST_COLUMNS} columns in each of several queries",
)
STAGE_AGGREGATE_3 = RefusalText(
    "stage.aggregate",
    "{twice}=…",
    "a key is called {twice} already",
    "{twice}_n=sf.count()",
)
STAGE_AGGREGATE_4 = RefusalText(
    "stage.aggregate",
    "{column}=…",
    "two columns would be called {column}",
    "{column}_2=sf.count()",
)
STAGE_KEYS_1 = RefusalText(
    "stage.keys",
    "group_by(…)",
    "group_by takes columns by name",
    "mutate(decade=sf.col('age') // 10).group_by('decade')",
)
STAGE_KEYS_2 = RefusalText(
    "stage.keys",
    "group_by({name}=sf.calendar(…))",
    "the table has a column {name} already",
    "group_by({name}_bucket={text})",
)
STAGE_MUTATE_1 = RefusalText(
    "stage.mutate",
    "mutate({name}=…)",
    "a new column has to be an expression on columns",
    "mutate({name}=sf.col('age') // 10)",
)
STAGE_TOTAL_1 = RefusalText(
    "stage.total",
    "{text}",
    "a condition has to be true or false of a row",
    "where=sf.col('age') >= 18",
)
STAGE_TOTAL_2 = RefusalText(
    "stage.total",
    "{text}",
    "{words} is not put in order here",
    "count({text_2})",
)
STAGE_TOTAL_3 = RefusalText(
    "stage.total",
    "{text}",
    (
        "without bounds of {text_2} its sum would depend on the order of the rows, and so on "
        "who else is there"
    ),
    "{text_2}.clip(0, 100)",
)
STAGE_TOTAL_4 = RefusalText(
    "stage.total",
    "{text}",
    "{words} has no sum",
    "count({text_2})",
)
STAGE_UNIT_1 = RefusalText(
    "stage.unit",
    "per_unit(…)",
    "without a unit each row is taken as a different person, who has no other rows",
    "unit='user_id' in protect()",
)
STAGE_UNIT_2 = RefusalText(
    "stage.unit",
    "per_unit({names})",
    "each column needs a name of its own, and {unit} is the unit",
    "per_unit({{}}, {{'total': total}})",
)
STAGE_UNIT_3 = RefusalText(
    "stage.unit",
    "mutate({name}=…)",
    "{name} is the unit, which says whose row it is: no step may change it",
    "mutate({name}_2=sf.col({name!r}))",
)
STAGE_UNIT_4 = RefusalText(
    "stage.unit",
    "group_by({name!r})",
    "a group for each {name} would be about one person",
    "aggregate(n=sf.count_units())",
)
STAGE_WHERE_1 = RefusalText(
    "stage.where",
    "where({type})",
    "a condition has to be an expression on columns",
    "where(sf.col('age') >= 18)",
)
STAGE_WHERE_2 = RefusalText(
    "stage.where",
    "where({text})",
    "a condition has to be true or false of a row",
    "where(sf.col('age') >= 18)",
)
TABLE_MAX_ROWS_1 = RefusalText(
    "table.max-rows",
    "{place}",
    "a unit would count for the rows of both tables, and the limit is 2^{value} rows",
    "a smaller max_rows in protect(), or fewer tables in the union",
)
UNION_COLUMNS_1 = RefusalText(
    "union.columns",
    "{place}",
    "{reason}",
    "{rewrite}",
)
