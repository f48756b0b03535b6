"""The refusals of `tables.expr`: types, names of columns, constants and expressions. Names in
braces are fields.
"""

from __future__ import annotations

from ...errors import RefusalText, RefusedName

# The names of columns.

COLUMN_NAME_NOT_PRINTABLE = RefusalText(
    "table.columns",
    "{place}: {name!r:.60}",
    "a column name is printable text of 1 to {most} characters",
    "user_id",
)
COLUMN_NAMES_DIFFER_IN_CASE = RefusalText(
    "table.columns",
    "{place}: {first!r:.60} and {second!r:.60}",
    "to an engine, names that differ only in upper and lower case are one column",
    "rename one of the two columns",
)
TABLE_LACKS_COLUMN = RefusalText(
    "table.column",
    "{place}: {column!r:.60}",
    "the table has no such column; some of its columns are {names}",
    "{nearest!r}",
)
COLUMN_NOT_READ = RefusalText(
    "table.column",
    "{place}: {column!r:.60}",
    "{why}",
    "name another column",
)
COLUMN_NAME_NOT_TEXT = RefusalText(
    "expression.column",
    "col({name!r:.60})",
    "a column name is a text",
    "sf.col('age')",
)
UNKNOWN_COLUMN = RefusalText(
    "expression.column",
    "{column}",
    "there is no such column; some of the table's columns are {names}",
    "{nearest}",
)

# The types of columns.

DECIMAL_DIGITS_OUT_OF_RANGE = RefusalText(
    "table.type",
    "decimal({precision},{scale})",
    "a decimal has 1 to {most} digits in all, and its scale counts some of them",
    "decimal(18,2)",
)
UNKNOWN_TYPE = RefusalText(
    "table.type",
    "{type!r:.60}",
    "this column type is not supported; {supported} and decimal(18,2) are",
    "'float64'",
)
COLUMN_TYPE_NOT_SUPPORTED = RefusalText(
    "table.type",
    "{column}: {type!s:.60}",
    "this column type is not supported",
    "types={{{column!r:.60}: 'string'}}",
)

# Constants.

NAN_CONSTANT = RefusalText(
    "expression.literal",
    "{value}",
    "NaN is not a number: null is None",
    "None",
)
DECIMAL_NOT_FINITE = RefusalText(
    "expression.literal",
    "{value}",
    "a decimal is finite: null is None",
    "None",
)
NUMBER_TOO_LONG = RefusalText(
    "expression.literal",
    "{value}",
    "an exact number has at most {most} digits: write a longer one as a float",
    "1e40",
)
TEXT_TOO_LONG_OR_BROKEN = RefusalText(
    "expression.literal",
    "{value}",
    "a text has at most {most} characters, without NUL and without half of a surrogate pair",
    "'Roma'",
)
MOMENT_OUTSIDE_YEARS = RefusalText(
    "expression.literal",
    "{value}",
    "in UTC this lies outside the years 1 to 9999",
    "datetime.datetime(2026, 1, 31)",
)
TYPE_HAS_NO_CONSTANTS = RefusalText(
    "expression.literal",
    "{type}",
    "a value of this type cannot be a constant",
    "a bool, int, float, str, Decimal, date, datetime, UUID or None",
)
TEXT_NOT_PARSED = RefusalText(
    "expression.literal",
    "{place:.200}",
    "{text:.60} is not {expected}",
    "{example}",
)

# Functions, and the constants that they take.

UNKNOWN_FUNCTION = RefusalText(
    "expression.function",
    "{name!s:.60}(…)",
    "there is no such function; the nearest names are {names}",
    "{nearest}",
)
WRONG_NUMBER_OF_ARGUMENTS = RefusalText(
    "expression.function",
    "{name}(…) with {count} arguments",
    "{name} takes {expected}",
    "{example}",
)
CASE_WITHOUT_PAIRS = RefusalText(
    "expression.function",
    "{name}(…) with {count} arguments",
    "{name} takes a condition and a value, any number of times, and a last value",
    "{example}",
)
CONSTANT_NEEDED = RefusalText(
    "expression.constant",
    "{call}",
    "{function} takes {expected}, as a constant",
    "{example}",
)
CLIP_BOUNDS_REVERSED = RefusalText(
    "expression.constant",
    "clip({value}, {low}, {high})",
    "the lower bound {low} lies above the upper bound {high}",
    "clip({value}, {high}, {low})",
)

BUCKETS_REVERSED = RefusalText(
    "expression.constant",
    "width_bucket({value}, {low}, {high}, {count})",
    "the lower end {low} does not lie below the upper end {high}",
    "width_bucket({value}, 0, 100, {count})",
)

# Expressions as a whole.

EXPRESSION_TOO_LARGE = RefusalText(
    "expression.size",
    "{name}(…)",
    "the expression is too large for an engine to plan quickly: make a part of it a column first",
    "mutate(part=sf.col('a') + sf.col('b'))",
)
NO_ACCESSOR = RefusalText(
    "table.attribute",
    "{expression}.{name}",
    "columns have these methods themselves: {methods}",
    "sf.col({column!r}).{example}",
    kind=RefusedName,
)
EXPRESSION_HAS_NO_TRUTH = RefusalText(
    "expression.bool",
    "{expression}",
    (
        "an expression has a value for each row, so Python's `and`, `or`, `not`, `if` and "
        "chains like a < b < c cannot use it: write & | ~, with parentheses around each side"
    ),
    "(sf.col('a') > 1) & (sf.col('b') < 2)",
)

# The types of expressions.

ARGUMENT_OF_WRONG_TYPE = RefusalText(
    "expression.type",
    "{call}",
    "{function} takes {expected}, and {argument} is {words}",
    "{call_with_cast}",
)
ARGUMENT_WITHOUT_CAST = RefusalText(
    "expression.type",
    "{call}",
    "{function} takes {expected}, and {argument} is {words}",
    "{function} of {expected}",
)
ARGUMENT_IS_BARE_NULL = RefusalText(
    "expression.type",
    "{call}",
    "{function} takes {expected}, and a bare NULL has no type",
    "TRY_CAST(NULL AS {type})",
)
NULL_HAS_NO_TYPE = RefusalText(
    "expression.type",
    "{place}",
    "NULL alone has no type",
    "TRY_CAST(NULL AS int64)",
)
TYPES_DIFFER = RefusalText(
    "expression.type",
    "{place}",
    "{first} is {first_words}, and {second} is {second_words}",
    "TRY_CAST({value} AS {type})",
)
TYPES_DIFFER_WITHOUT_CAST = RefusalText(
    "expression.type",
    "{place}",
    "{first} is {first_words}, and {second} is {second_words}",
    "values of one type",
)
DATE_HAS_NO_TIME = RefusalText(
    "expression.type",
    "{date}, {unit}",
    "{date} is a date, which has no time of day",
    "TRY_CAST({date} AS timestamp)",
)
CAST_OF_MOMENT_TO_NUMBER = RefusalText(
    "expression.type",
    "TRY_CAST({value} AS {target})",
    "{value} is {words}, which cannot be cast to {target_words}: epoch() counts its seconds",
    "epoch({value})",
)
CAST_NEEDS_A_STEP = RefusalText(
    "expression.type",
    "TRY_CAST({value} AS {target})",
    "{value} is {words}, which cannot be cast to {target_words} at once",
    "TRY_CAST(TRY_CAST({value} AS {via}) AS {target})",
)
CAST_IMPOSSIBLE = RefusalText(
    "expression.type",
    "TRY_CAST({value} AS {target})",
    "{value} is {words}, which cannot be cast to {target_words}, only to {possible}",
    "TRY_CAST({value} AS {first_possible})",
)

# The grid between the bounds of an aggregate.

BOUNDS_BEYOND_FLOATS = RefusalText(
    "aggregate.bounds",
    "{of} in [{low}, {high}]",
    "64-bit floats cannot hold about a million steps between bounds of this size",
    "low=0, high=100",
)
BOUNDS_TOO_CLOSE_FOR_FLOATS = RefusalText(
    "aggregate.bounds",
    "{of} in [{low}, {high}]",
    "a 64-bit float cannot tell these bounds apart",
    "low={wider_low!r}, high={wider_high!r}",
)
FEWER_THAN_TWO_VALUES = RefusalText(
    "aggregate.bounds",
    "{of} in [{low}, {high}]",
    "fewer than two values of this type lie between the bounds",
    "low={wider_low!r}, high={wider_high!r}",
)
NOT_A_NUMBER = RefusalText(
    "aggregate.type",
    "{of}",
    "{of} is of type {type}, which has no bounds, so it cannot be summed",
    "sf.count()",
)
