"""The refusals of `sql`. Names in braces are fields.

`SqlText.refuse` shows the analyst's own text with a mark under the refused part: here `place` is
the note beside the mark. It also fills `{example}`, a question about the table that works;
`{corrected}` is the analyst's text with the refused part replaced.
"""

from __future__ import annotations

from ..errors import RefusalText

# The text as a whole

NOT_TEXT = RefusalText(
    "sql.text",
    "{type}",
    "a question is a text",
    "{example}",
)
TEXT_TOO_LONG = RefusalText(
    "sql.text",
    "{count} characters",
    "a question has at most {most} characters",
    "a shorter text: state long lists as keys= in protect()",
)
UNPRINTABLE_CHARACTER = RefusalText(
    "sql.text",
    "U+{character:04X}",
    "a question consists of printable characters",
    "{corrected}",
)
EMPTY_TEXT = RefusalText(
    "sql.text",
    "an empty text",
    "the text has no question",
    "{example}",
)
UNTERMINATED = RefusalText(
    "sql.syntax",
    "",
    "a quotation mark, a comment or a number has no end",
    "{example}",
)
UNREADABLE = RefusalText(
    "sql.syntax",
    "from here on",
    "this cannot be read as SQL",
    "{example}",
)
UNREADABLE_NUMBER = RefusalText(
    "sql.syntax",
    "",
    "this number cannot be read",
    "{example}",
)
UNFORESEEN = RefusalText(
    "sql.unsupported",
    "this text",
    "this form of SQL is not supported",
    "{example}",
)
TOO_MANY_WORDS = RefusalText(
    "sql.depth",
    "",
    "a question has at most {most} words, and this text has {count}",
    "{example}",
)
BRACKETS_TOO_DEEP = RefusalText(
    "sql.depth",
    "too deep",
    "brackets nest at most {most} deep: name inner parts with WITH",
    "{example}",
)
NESTED_TOO_DEEPLY = RefusalText(
    "sql.depth",
    "",
    "the text is nested too deeply: name inner parts with WITH",
    "{example}",
)
NOT_A_SELECT = RefusalText(
    "sql.statement",
    "this is not a SELECT",
    "sfumato answers SELECT, EXPLAIN, DESCRIBE and SHOW TABLES: it writes and sets nothing",
    "{example}",
)
NOT_PLAIN_ROWS = RefusalText(
    "sql.unsupported",
    "not a part of plain rows",
    "CREATE SYNTHETIC TABLE takes plain columns of one table, or *, and a WHERE: rows are counted "
    "by all of them",
    "CREATE SYNTHETIC TABLE rows AS {example}",
)
DECLARATION_ASKED = RefusalText(
    "sql.statement",
    "",
    "this asks for what is declared, which is no answer and has no cost: sql() and describe() "
    "return it in Python, GET /api/datasets on a service",
    "{example}",
)
DESCRIBED_TABLE = RefusalText(
    "sql.table",
    "{text:.120}",
    "there is no such table: the tables are {tables:.120}",
    "DESCRIBE {near:.60}",
)
INTO_TABLE = RefusalText(
    "sql.statement",
    "",
    "sfumato only answers questions: it writes no tables",
    "{example}",
)
SECOND_STATEMENT = RefusalText(
    "sql.statements",
    "a second statement",
    "ask one question at a time: each has its own cost",
    "{corrected}",
)

# Tables: FROM, WITH and UNION ALL

FROM_MISSING = RefusalText(
    "sql.table",
    "",
    "FROM is missing: the table here is {table:.60}",
    "{question} FROM {table}",
)
UNKNOWN_TABLE = RefusalText(
    "sql.table",
    "",
    "the tables here are {tables:.120}; files, functions and addresses are never read",
    "{corrected}",
)
NOT_THE_ONLY_TABLE = RefusalText(
    "sql.table",
    "",
    "the only table here is {table:.60}; files, functions and addresses are never read",
    "{corrected}",
)
TABLE_WITHOUT_NAME = RefusalText(
    "sql.table",
    "",
    "a table needs a name",
    "{example}",
)
ONLY_PUBLIC_TABLE = RefusalText(
    "sql.table",
    "",
    "{table:.60} is public: a question needs a protected table, to which it can be joined",
    "{example}",
)
TABLE_NAME_TWICE = RefusalText(
    "sql.names",
    "",
    "two tables are called {name:.60}: give each its own name with AS",
    "{example}",
)
WITH_NAME_TWICE = RefusalText(
    "sql.names",
    "",
    "each part of WITH needs its own name",
    "{example}",
)
RECURSIVE_WITH = RefusalText(
    "sql.recursive",
    "",
    "a recursive table has no bound on its rows",
    "{example}",
)
SAMPLE = RefusalText(
    "sql.sample",
    "",
    "a sample of rows is not a sample of units, and the noise protects people already",
    "{example}",
)
CLAUSE_UNSUPPORTED = RefusalText(
    "sql.unsupported",
    "",
    "{clause} is not supported in this place",
    "{example}",
)
SET_OPERATION = RefusalText(
    "sql.set",
    "",
    "sfumato does not combine the answers of several SELECTs; UNION ALL in a sub-query combines "
    "rows",
    "{example}",
)
UNION_WITHOUT_ALL = RefusalText(
    "sql.set",
    "",
    "only UNION ALL is supported: it keeps every row and its owner",
    "{example}",
)
UNION_CLAUSE = RefusalText(
    "sql.set",
    "",
    "UNION ALL with {clause} is not supported: columns match by position",
    "{example}",
)
UNION_COLUMNS = RefusalText(
    "sql.set",
    "",
    "the first SELECT has {first} columns, the second {second}",
    "{example}",
)

# Joins

LATERAL = RefusalText(
    "sql.join",
    "",
    "LATERAL builds a table for each row: use a join with a condition on two rows",
    "{example}",
)
NATURAL_JOIN = RefusalText(
    "sql.join",
    "",
    "NATURAL joins on all columns with equal names: name the columns with USING",
    "{corrected}",
)
ASOF_JOIN = RefusalText(
    "sql.join",
    "",
    "ASOF joins the nearest row, which depends on other rows",
    "{example}",
)
POSITIONAL_JOIN = RefusalText(
    "sql.join",
    "",
    "POSITIONAL joins by position, and rows have no positions",
    "{example}",
)
FULL_JOIN = RefusalText(
    "sql.join",
    "",
    "FULL JOIN keeps rows of both sides without a match, which have no common unit",
    "{example}",
)
JOIN_UNSUPPORTED = RefusalText(
    "sql.join",
    "",
    "{kind} joins are not supported",
    "{example}",
)
CROSS_JOIN_CONDITION = RefusalText(
    "sql.join",
    "",
    "a cross join has no condition",
    "{example}",
)
JOIN_WITHOUT_CONDITION = RefusalText(
    "sql.join",
    "",
    "this join needs ON or USING",
    "{example}",
)
PUBLIC_ROWS_KEPT = RefusalText(
    "sql.join",
    "",
    "{table:.60} is public: this join would keep its rows without a match, which belong to nobody",
    "{example}",
)
USING_COLUMN = RefusalText(
    "sql.column",
    "",
    "USING needs a column that each side has exactly once",
    "{example}",
)

# Columns

QUANTILE_OF_ALL = RefusalText(
    "sql.aggregate",
    "",
    "a quantile is a part of the rows, from 0 to 1: 0.95 is the 95th percentile",
    "{corrected}",
)
UNKNOWN_COLUMN = RefusalText(
    "sql.column",
    "there is no such column",
    "the columns are {columns}",
    "{corrected}",
)
TEXT_IN_DOUBLE_QUOTES = RefusalText(
    "sql.column",
    "there is no such column",
    "double quotes name a column, single quotes a text",
    "{corrected}",
)
AMBIGUOUS_COLUMN = RefusalText(
    "sql.column",
    "which one?",
    "two tables have a column of that name: {tables:.60}",
    "{corrected}",
)
UNKNOWN_TABLE_OF_COLUMN = RefusalText(
    "sql.column",
    "",
    "no table here has that name: the names are {tables:.60}",
    "{corrected}",
)
COLUMN_FORM = RefusalText(
    "sql.column",
    "",
    "write a column alone, or after its table: visits.city",
    "{example}",
)
NO_COLUMN = RefusalText(
    "sql.syntax",
    "",
    "SELECT names no column",
    "{example}",
)
TOO_MANY_COLUMNS = RefusalText(
    "stage.aggregate",
    "{count} columns",
    "an answer has at most {most} columns",
    "several questions of at most {most} columns each",
)
COLUMN_NAME_TWICE = RefusalText(
    "sql.names",
    "",
    "two columns are called {name:.60}",
    "{corrected}",
)
KEY_NAME_TWICE = RefusalText(
    "sql.names",
    "",
    "two keys have the same name",
    "{example}",
)
KEY_LISTED_TWICE = RefusalText(
    "sql.names",
    "",
    "this key is listed twice",
    "{example}",
)
TOO_MANY_ALIASES = RefusalText(
    "sql.names",
    "",
    "an alias names at most {most} columns here, each differently",
    "{example}",
)

# Questions about single rows or people

STAR = RefusalText(
    "sql.star",
    "all values of all rows",
    "only aggregates over units are answered, never rows",
    "{example}",
)
STAR_IN_EXPRESSION = RefusalText(
    "sql.star",
    "",
    "name the columns one by one",
    "{example}",
)
RAW_VALUE = RefusalText(
    "sql.raw-rows",
    "a raw value of a protected table cannot be published",
    "only aggregates over units are answered",
    "{corrected}",
)
RAW_VALUE_BESIDE_AGGREGATES = RefusalText(
    "sql.raw-rows",
    "a raw value of a protected table cannot be published",
    "next to aggregates, SELECT takes only keys of GROUP BY",
    "{example}",
)
CONSTANT_SELECTED = RefusalText(
    "sql.unsupported",
    "a constant",
    "a constant needs no data: ask for an aggregate",
    "{example}",
)
NO_AGGREGATE = RefusalText(
    "sql.aggregate",
    "",
    "a question needs at least one aggregate",
    "{corrected}",
)
DISTINCT_VALUES = RefusalText(
    "sql.distinct",
    "",
    "a list of values is about the people who have them: ask how often they occur",
    "{corrected}",
)
GROUP_PER_UNIT = RefusalText(
    "sql.unit",
    "a group for each unit",
    "a group for each unit would be about one person",
    "{example}",
)
WINDOW = RefusalText(
    "sql.window",
    "",
    "a window over rows reveals single rows; a window over released groups is free",
    "{corrected}",
)
WINDOW_OF_SEVERAL = RefusalText(
    "sql.window",
    "",
    "in a sub-query ROW_NUMBER, LAG and LEAD look along the rows of one person, with {unit} in "
    "PARTITION BY and with ORDER BY; other windows are over released groups",
    "{corrected}",
)
WINDOW_CLAUSE = RefusalText(
    "sql.window",
    "",
    "windows work on released groups, so at the outermost SELECT",
    "{example}",
)
WINDOW_TOO_EARLY = RefusalText(
    "sql.window",
    "",
    "windows come after {clause}: QUALIFY chooses by them",
    "{corrected}",
)
WINDOW_UNSUPPORTED = RefusalText(
    "sql.window",
    "",
    "windows over groups are SUM, AVG, MIN, MAX, COUNT, LAG, LEAD, FIRST_VALUE, LAST_VALUE, "
    "NTH_VALUE, ROW_NUMBER, RANK, DENSE_RANK and NTILE, with ROWS or the usual RANGE",
    "{example}",
)
WINDOW_WITHOUT_ORDER = RefusalText(
    "sql.window",
    "",
    "{function:.60} needs an order: OVER (ORDER BY …)",
    "{example}",
)

# SELECTs over a released sub-query

RELEASED_AGGREGATE = RefusalText(
    "sql.released",
    "",
    "over released groups the aggregates are SUM, AVG, MIN, MAX and COUNT",
    "{example}",
)
RELEASED_GROUP = RefusalText(
    "sql.released",
    "",
    "a SELECT over released groups is grouped by keys of the sub-query",
    "{example}",
)
RELEASED_NOT_GROUPED = RefusalText(
    "sql.released",
    "",
    "this SELECT aggregates over groups: every column is an aggregate or a key of its GROUP BY",
    "{example}",
)
RELEASED_DISTINCT = RefusalText(
    "sql.released",
    "",
    "released groups differ already: leave DISTINCT out",
    "{example}",
)
RELEASED_WITHOUT_VALUE = RefusalText(
    "sql.released",
    "",
    "list a released number too, not keys alone",
    "{example}",
)

# GROUP BY

GROUPING_TOTALS = RefusalText(
    "sql.group",
    "",
    "GROUP BY takes keys, CUBE, ROLLUP and GROUPING SETS; WITH TOTALS is not one of them",
    "{example}",
)
GROUPING_WITHOUT_SETS = RefusalText(
    "sql.group",
    "",
    "GROUPING names keys of the GROUP BY that CUBE, ROLLUP or GROUPING SETS roll up",
    "{example}",
)
GROUPINGS_UNDER_WINDOWS = RefusalText(
    "sql.group",
    "",
    (
        "windows, QUALIFY and an outer SELECT look at several rows, and the rows of CUBE, ROLLUP "
        "and GROUPING SETS share their noise: a plain GROUP BY has them"
    ),
    "{example}",
)
AGGREGATE_AS_KEY = RefusalText(
    "sql.group",
    "",
    "GROUP BY takes values of single rows, not aggregates",
    "{example}",
)
CONSTANT_AS_KEY = RefusalText(
    "sql.group",
    "",
    "GROUP BY needs a column, not a constant",
    "{example}",
)
GROUP_POSITION = RefusalText(
    "sql.group",
    "",
    "GROUP BY positions go from 1 to {most} here",
    "{example}",
)
COLUMN_NOT_GROUPED = RefusalText(
    "sql.group",
    "",
    "this column is neither a key of GROUP BY nor in an aggregate",
    "{example}",
)
CALENDAR_ARGUMENTS = RefusalText(
    "sql.group",
    "",
    "CALENDAR needs a column, a unit and two dates",
    "{corrected}",
)
CALENDAR_NOT_CONSTANT = RefusalText(
    "sql.group",
    "",
    "the unit and the dates of CALENDAR have to be constants",
    "{example}",
)

# Aggregates

UNKNOWN_AGGREGATE = RefusalText(
    "sql.aggregate",
    "",
    "the supported aggregates are {aggregates}",
    "{example}",
)
MODE = RefusalText(
    "sql.aggregate",
    "",
    "MODE is not supported: ask for the groups and sort them by their counts",
    "SELECT {column}, COUNT(*) AS n FROM {table} GROUP BY {column} ORDER BY n DESC LIMIT 1",
)
AGGREGATE_ARGUMENT = RefusalText(
    "sql.unsupported",
    "",
    "an aggregate with {argument} is not supported",
    "{example}",
)
AGGREGATE_WITHOUT_COLUMN = RefusalText(
    "sql.aggregate",
    "",
    "this aggregate needs a column",
    "{example}",
)
PAIR_ARGUMENTS = RefusalText(
    "sql.aggregate",
    "",
    "{aggregate} needs two columns, and this call has {count}",
    "{corrected}",
)
AGGREGATE_IN_ROW = RefusalText(
    "sql.aggregate",
    "",
    "an aggregate cannot stand here: this is computed for each row",
    "{example}",
)
VALUE_WITHOUT_BOUNDS = RefusalText(
    "sql.bounds",
    "",
    "{value:.80} has no public bounds: one row could move the answer by any amount",
    "{corrected}",
)
CLAMP_ENDS = RefusalText(
    "sql.bounds",
    "",
    "the lower end of CLAMP has to be below the upper end",
    "{corrected}",
)
DISTINCT_OUTSIDE_COUNT = RefusalText(
    "sql.distinct",
    "",
    "DISTINCT only works in COUNT: one unit may hold any number of other values",
    "{corrected}",
)
DISTINCT_COLUMNS = RefusalText(
    "sql.distinct",
    "",
    "COUNT(DISTINCT …) takes all columns of the unit, or one other value",
    "{corrected}",
)
QUANTILES_ARGUMENTS = RefusalText(
    "sql.aggregate",
    "",
    "QUANTILES needs a column and a list of probabilities",
    "{corrected}",
)
QUANTILES_IN_EXPRESSION = RefusalText(
    "sql.aggregate",
    "",
    "a list of quantiles makes columns, and an expression cannot contain it",
    "{example}",
)
TOO_MANY_QUANTILES = RefusalText(
    "sql.aggregate",
    "",
    "an answer has at most {most} columns, and this list has {count}",
    "{example}",
)
HISTOGRAM_ARGUMENTS = RefusalText(
    "sql.aggregate",
    "",
    "{name} needs a column and a list of edges",
    "{corrected}",
)

# Sub-queries

SUBQUERY_NOT_SELECT = RefusalText(
    "sql.unsupported",
    "",
    "a sub-query has to be a SELECT",
    "{example}",
)
SUBQUERY_AS_VALUE = RefusalText(
    "sql.subquery",
    "",
    "a sub-query stands for a value only in WHERE, as one number without GROUP BY; sql() releases "
    "it first, a plan or a batch needs the number: ask for it, then write it as a constant",
    "{example}",
)
SUBQUERY_COMPARED = RefusalText(
    "sql.subquery",
    "",
    "compare with a list of constants: x IN (1, 2, 3)",
    "{example}",
)
SUBQUERY_LIMIT = RefusalText(
    "sql.limit",
    "",
    "LIMIT in a sub-query would pick some people's rows: put it at the end",
    "{example}",
)
SUBQUERY_OFFSET = RefusalText(
    "sql.limit",
    "",
    "OFFSET in a sub-query would pick some people's rows: put it at the end",
    "{example}",
)
SUBQUERY_ORDER = RefusalText(
    "sql.order",
    "",
    "rows of a sub-query have no order: put ORDER BY at the end",
    "{example}",
)
EXISTS_OUTSIDE_WHERE = RefusalText(
    "sql.subquery",
    "",
    "EXISTS works in WHERE, alone or with AND",
    "{example}",
)
EXISTS_AGGREGATE = RefusalText(
    "sql.subquery",
    "",
    "EXISTS with an aggregate is always true: an aggregate of no rows is a row",
    "{example}",
)
IN_COLUMNS = RefusalText(
    "sql.subquery",
    "",
    "IN needs a sub-query with one column",
    "{example}",
)
IN_EXPRESSION = RefusalText(
    "sql.subquery",
    "",
    "IN with protected rows needs a column, not an expression",
    "{example}",
)
NOT_IN_SHARED_VALUES = RefusalText(
    "sql.subquery",
    "",
    "NOT IN with protected rows only works for the unit: units share other values",
    "{example}",
)
PUBLIC_AGGREGATE = RefusalText(
    "sql.ownership",
    "",
    "{table:.60} is public: aggregate it before protect(), at no cost",
    "{example}",
)
DISTINCT_WITHOUT_UNIT = RefusalText(
    "sql.ownership",
    "",
    "the rows of SELECT DISTINCT belong to nobody unless {unit} is among the columns",
    "{example}",
)
DISTINCT_AFTER_GROUP_BY = RefusalText(
    "sql.distinct",
    "",
    "DISTINCT is not needed: GROUP BY gives every row once",
    "{example}",
)
ROW_OF_MANY_UNITS = RefusalText(
    "sql.ownership",
    "",
    "a row about many people belongs to nobody: a sub-query with aggregates needs GROUP BY {unit}",
    "{example}",
)
ROW_OF_ALL_UNITS = RefusalText(
    "sql.ownership",
    "",
    "an aggregate of all rows belongs to nobody: a sub-query with aggregates needs GROUP BY {unit}",
    "{example}",
)
NO_UNIT_TO_GROUP = RefusalText(
    "sql.ownership",
    "",
    "without a unit each row is a different person: there are no rows to group",
    "{corrected}",
)
TOTAL_UNSUPPORTED = RefusalText(
    "sql.aggregate",
    "",
    "a sub-query grouped by the unit takes COUNT, SUM, AVG, MIN and MAX, which do not depend on "
    "the order of rows",
    "{example}",
)

# Expressions on rows

UNKNOWN_FUNCTION = RefusalText(
    "sql.function",
    "",
    "the function {function:.60} is not supported{near}",
    "{example}",
)
CONSTRUCT_UNSUPPORTED = RefusalText(
    "sql.unsupported",
    "",
    "{construct} is not supported",
    "{example}",
)
CONSTRUCT_ARGUMENT = RefusalText(
    "sql.unsupported",
    "",
    "{construct} with {argument} is not supported",
    "{example}",
)
CURRENT_DATE = RefusalText(
    "sql.function",
    "",
    "CURRENT_DATE is today's date in UTC, and takes no argument",
    "{example}",
)
CURRENT_TIME = RefusalText(
    "sql.function",
    "",
    "a question must mean the same at every hour: give the time as a parameter",
    "{example}",
)
RANDOM_VALUE = RefusalText(
    "sql.function",
    "",
    "a random condition has no stable answer",
    "{example}",
)
REGULAR_EXPRESSION = RefusalText(
    "sql.function",
    "",
    "only patterns that LIKE can say are supported: anchors, letters, . and .*, [abc] and |, for "
    "others take long for some rows",
    "{example}",
)
TILDE_MEANS_TWO = RefusalText(
    "sql.function",
    "",
    "~ searches in the text in PostgreSQL and matches all of it in DuckDB: say which",
    "{corrected}",
)
FORMAT_NOT_CONSTANT = RefusalText(
    "sql.function",
    "",
    "the format has to be a constant text, such as '%Y-%m'",
    "{example}",
)
FORMAT_UNSUPPORTED = RefusalText(
    "sql.function",
    "",
    "{format!r:.40} has a code that is not supported; the codes of STRFTIME are {codes}",
    "{example}",
)
GLOB_PATTERN = RefusalText(
    "sql.function",
    "",
    "write patterns with LIKE",
    "{example}",
)
LIKE_ESCAPE = RefusalText(
    "sql.unsupported",
    "",
    "LIKE has no ESCAPE here: CONTAINS and STARTS_WITH take a text as it is",
    "{example}",
)
IN_NOT_CONSTANTS = RefusalText(
    "sql.unsupported",
    "",
    "IN needs a list of constants: compare with columns by =",
    "{corrected}",
)
UNKNOWN_TYPE = RefusalText(
    "sql.type",
    "",
    "CAST takes one of {types}",
    "{corrected}",
)
UNKNOWN_DATE_PART = RefusalText(
    "sql.function",
    "",
    "{part:.40} is not a part of a date or time: the parts are {parts}",
    "{example}",
)
DATE_PART_NOT_CONSTANT = RefusalText(
    "sql.unsupported",
    "",
    "DATE_PART needs a constant text, as in DATE_PART('year', day)",
    "{corrected}",
)
DATE_DIFF_UNIT = RefusalText(
    "sql.function",
    "",
    "DATE_DIFF only counts days",
    "{corrected}",
)
INTERVAL_AMOUNT = RefusalText(
    "sql.unsupported",
    "",
    "an interval has to be a whole number of units, as in INTERVAL 3 DAY",
    "{example}",
)

# Constants and parameters

NUMBER_NOT_CONSTANT = RefusalText(
    "sql.unsupported",
    "{argument} is a number",
    "{argument} has to be a number in the text, or a parameter",
    "{example}",
)
PARAMETERS_TYPE = RefusalText(
    "sql.parameter",
    "",
    "parameters= takes a list, or a dictionary by name",
    "{example}",
)
PARAMETER_FORM = RefusalText(
    "sql.parameter",
    "",
    "a parameter is written ?, $1 or $name",
    "{example}",
)
PARAMETER_WITHOUT_VALUE = RefusalText(
    "sql.parameter",
    "",
    "{parameter} has no value",
    "parameters=[{values}]",
)
NAMED_PARAMETER_WITHOUT_VALUE = RefusalText(
    "sql.parameter",
    "",
    "${name} has no value",
    "parameters={{{name!r}: 18}}",
)
VALUE_WITHOUT_PARAMETER = RefusalText(
    "sql.parameter",
    "",
    "the text has no parameter for {value}",
    "parameters= without {value}",
)
VALUES_WITHOUT_PARAMETERS = RefusalText(
    "sql.parameter",
    "",
    "the text has no parameter for {value}",
    "parameters=None",
)

# Released values: computed columns, HAVING, ORDER BY and LIMIT

VALUE_NOT_RELEASED = RefusalText(
    "sql.released",
    "this is a value of a row",
    "only released values work here: keys, aggregates and their aliases",
    "{example}",
)
OPERATION_UNSUPPORTED = RefusalText(
    "sql.released",
    "",
    "released values only take +, -, *, /, rounding and comparisons",
    "{example}",
)
NUMBER_NEEDED = RefusalText(
    "sql.released",
    "",
    "this has to be a released number",
    "{example}",
)
CONDITION_NEEDED = RefusalText(
    "sql.released",
    "",
    "this has to be a condition on released values",
    "{example}",
)
KEY_IN_EXPRESSION = RefusalText(
    "sql.released",
    "",
    "a key cannot stand here: compute with it in GROUP BY",
    "{example}",
)
KINDS_COMPARED = RefusalText(
    "sql.released",
    "",
    "numbers can only be compared with numbers",
    "{example}",
)
ROUND_DIGITS = RefusalText(
    "sql.released",
    "",
    "ROUND takes -15 to 15 digits, as in ROUND(x, 2)",
    "{example}",
)
MOMENT_NOT_CONSTANT = RefusalText(
    "sql.released",
    "",
    "a date or time has to be a constant",
    "{example}",
)
COLUMN_NOT_NUMBER = RefusalText(
    "sql.released",
    "",
    "a column of the answer has to be a key or a number",
    "{example}",
)
HISTOGRAM_IN_EXPRESSION = RefusalText(
    "sql.released",
    "",
    "a histogram or a cumulative count has many numbers for each group: an expression cannot "
    "contain it",
    "{example}",
)
HAVING_NOT_CONDITION = RefusalText(
    "sql.released",
    "",
    "HAVING needs a condition on released values",
    "{example}",
)
ORDER_BY_HISTOGRAM = RefusalText(
    "sql.released",
    "",
    "a histogram or a cumulative count has many numbers for each group: ORDER BY cannot sort by it",
    "{example}",
)
ORDER_NOT_RELEASED = RefusalText(
    "sql.released",
    "",
    "ORDER BY needs a released value",
    "{example}",
)
ORDER_POSITION = RefusalText(
    "sql.released",
    "",
    "ORDER BY positions go from 1 to {most} here",
    "{example}",
)
ORDER_UNSUPPORTED = RefusalText(
    "sql.unsupported",
    "",
    "this order is not supported",
    "{example}",
)
LIMIT_NOT_WHOLE = RefusalText(
    "sql.limit",
    "",
    "{clause} has to be a whole number from 0 on",
    "{example}",
)
