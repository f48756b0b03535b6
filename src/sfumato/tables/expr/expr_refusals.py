"""The refusals of `tables.expr`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

AGGREGATE_BOUNDS_1 = RefusalText(
    "aggregate.bounds",
    "{place} in [{low}, {high}]",
    "a 64-bit float cannot hold a grid between these bounds",
    "bounds between -1e200 and 1e200",
)
AGGREGATE_BOUNDS_2 = RefusalText(
    "aggregate.bounds",
    "{place} in [{low}, {high}]",
    "a 64-bit float cannot tell these bounds apart",
    "wider bounds",
)
AGGREGATE_BOUNDS_3 = RefusalText(
    "aggregate.bounds",
    "{place} in [{low}, {high}]",
    "no two values of this type lie between the bounds",
    "wider bounds",
)
AGGREGATE_TYPE_1 = RefusalText(
    "aggregate.type",
    "{place}",
    "a column of type {kind} has no bounds, so it cannot be summed",
    "{rewrite}",
)
EXPRESSION_BOOL_1 = RefusalText(
    "expression.bool",
    "{text}",
    (
        "an expression has a value for each row, so Python's `and`, `or`, `not`, `if` and "
        "chains like a < b < c cannot use it"
    ),
    "& | ~, with parentheses around each side: (a > 1) & (b < 2); x.between(1, 2)",
)
EXPRESSION_COLUMN_1 = RefusalText(
    "expression.column",
    "col({name!r:.60})",
    "a column name is a text",
    'col("age")',
)
EXPRESSION_COLUMN_2 = RefusalText(
    "expression.column",
    "{text}",
    "there is no such column",
    "{rewrite}",
)
EXPRESSION_CONSTANT_1 = RefusalText(
    "expression.constant",
    "clip({text}, {text_2}, {text_3})",
    "the lower bound lies above the upper bound",
    "clip({text}, {text_3}, {text_2})",
)
EXPRESSION_CONSTANT_2 = RefusalText(
    "expression.constant",
    "{here}",
    "{name} takes {words}, as a constant",
    "{shorten}",
)
EXPRESSION_FUNCTION_1 = RefusalText(
    "expression.function",
    "{name!s:.60}(…)",
    "there is no such function",
    "{rewrite}",
)
EXPRESSION_FUNCTION_2 = RefusalText(
    "expression.function",
    "{name}(…) with {operands_count} arguments",
    "{name} takes {expected}{count}",
    "{takes_count} arguments",
)
EXPRESSION_LITERAL_1 = RefusalText(
    "expression.literal",
    "{place:.200}",
    "{text_value:.60} is not {words}",
    "{rewrite}",
)
EXPRESSION_LITERAL_2 = RefusalText(
    "expression.literal",
    "{value}",
    "{reason}",
    "a truth value, a number, a text, a date, a datetime, a UUID or None",
)
EXPRESSION_SIZE_1 = RefusalText(
    "expression.size",
    "{name}(…)",
    "the expression is too large for an engine to plan quickly",
    'mutate(part=col("a") + col("b")), then an expression of col("part")',
)
EXPRESSION_TYPE_1 = RefusalText(
    "expression.type",
    "TRY_CAST({text} AS {target})",
    "{reason}",
    "{rewrite}",
)
EXPRESSION_TYPE_2 = RefusalText(
    "expression.type",
    "{text}, {text_2}",
    "a date has no time of day",
    "TRY_CAST({text} AS timestamp)",
)
EXPRESSION_TYPE_3 = RefusalText(
    "expression.type",
    "{place}",
    "{first_text} is {words}, and {second_text} is {words_2}",
    "{casts}",
)
EXPRESSION_TYPE_4 = RefusalText(
    "expression.type",
    "{place}",
    "NULL alone has no type",
    "TRY_CAST(NULL AS int64)",
)
EXPRESSION_TYPE_5 = RefusalText(
    "expression.type",
    "{here}",
    "{reason}",
    "{rewrite}",
)
EXPRESSION_TYPE_6 = RefusalText(
    "expression.type",
    "{here}",
    "{reason}",
    "TRY_CAST(NULL AS {value})",
)
TABLE_COLUMN_1 = RefusalText(
    "table.column",
    "{place}: {column!r:.60}",
    "the table has no such column",
    "{near}",
)
TABLE_COLUMN_2 = RefusalText(
    "table.column",
    "{place}: {column!r:.60}",
    "{left_out}",
    "another column",
)
TABLE_COLUMNS_1 = RefusalText(
    "table.columns",
    "{place}: {name!r:.60}",
    "a column name is printable text of at most {LONGEST_NAME} characters",
    "user_id",
)
TABLE_COLUMNS_2 = RefusalText(
    "table.columns",
    "{place}: {names_by_lower!r:.60} and {name!r:.60}",
    "names that differ only in upper and lower case are one column to an engine",
    "rename one of the two columns",
)
TABLE_TYPE_1 = RefusalText(
    "table.type",
    "decimal({precision},{scale})",
    "a decimal has 1 to {DIGITS} digits in all, and its scale counts some of them",
    "decimal(18,2)",
)
TABLE_TYPE_2 = RefusalText(
    "table.type",
    "{text!r:.60}",
    "{UNKNOWN}",
    "one of {listed}, decimal(18,2)",
)
TABLE_TYPE_3 = RefusalText(
    "table.type",
    "{place}: {dtype!s:.60}",
    "{UNKNOWN}",
    "types={{{place!r:.60}: 'string'}}, or a table without this column",
)
