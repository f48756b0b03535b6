"""The refusals of `tables.plan`: aggregates that have no noise, and promises that noise cannot
keep. Names in braces are fields.
"""

from __future__ import annotations

from ...errors import RefusalText

# Aggregates.

BOUNDS_UNKNOWN = RefusalText(
    "aggregate.bounds",
    "{aggregate}",
    "{of} has no public bounds: one row could move the answer by any amount",
    "low=0, high=100",
)
TEXT_NOT_SUMMABLE = RefusalText(
    "aggregate.type",
    "{of}",
    "{of} is a text, and texts have no bounds: if they are numbers, say so in protect()",
    "types={{{column!r}: 'float'}}",
)
TEXT_EXPRESSION_NOT_SUMMABLE = RefusalText(
    "aggregate.type",
    "{of}",
    "{of} is a text, and texts have no bounds: if they are numbers, cast them",
    "{python}.cast('float').clip(0, 100)",
)
VALUE_NOT_SUMMABLE = RefusalText(
    "aggregate.type",
    "{of}",
    "{of} is of type {type}, which has no bounds, so it cannot be summed",
    "sf.count({python})",
)
HISTOGRAM_OF_TEXT = RefusalText(
    "aggregate.type",
    "{of}",
    "a histogram needs numbers, and {of} is a text: if its texts are numbers, cast them",
    "{python}.cast('float')",
)
HISTOGRAM_OF_NO_NUMBER = RefusalText(
    "aggregate.type",
    "{of}",
    "a histogram needs numbers, and {of} is of type {type}",
    "{grouped}.aggregate(n=sf.count())",
)
CONDITION_NOT_TRUE_OR_FALSE = RefusalText(
    "aggregate.where",
    "{aggregate}",
    "a condition is true or false of a row",
    "count_if(sf.col('age') >= 18)",
)
UNITS_WITH_CONDITION = RefusalText(
    "aggregate.units",
    "{aggregate}",
    "count_units counts the units of all rows of the query, without a condition of its own",
    "where({condition!r}).aggregate(n=sf.count_units())",
)
DISTINCT_UNITS = RefusalText(
    "aggregate.units",
    "{aggregate}",
    "count_units counts each unit once, with less noise",
    "sf.count_units()",
)
WEIGHT_BELOW_ZERO = RefusalText(
    "aggregate.weight",
    "{aggregate}",
    "the lower bound of the weight {weight} is below 0",
    "weight={python}.clip(0, 5)",
)

# The promise and the noise.

NOTION_WITHOUT_NOISE = RefusalText(
    "plan.promise",
    "{promise}",
    "noise is calibrated to one of {notions}",
    "promise=sf.Approx(1, 1e-6)",
)
KEYS_WITHOUT_DELTA = RefusalText(
    "plan.keys",
    "{promise}",
    (
        "the keys of {column} come from the data: naming them needs a δ above 0, or keys= in "
        "protect()"
    ),
    "delta=1e-9",
)
GROUP_SIZE_BELOW_ONE = RefusalText(
    "plan.group-size",
    "group_size={group_size}",
    "the assumed number of rows of a group has to be a whole number from 1 on",
    "group_size=1000",
)

# Sizes.

UNIT_IN_TOO_MANY_GROUPS = RefusalText(
    "plan.groups",
    "max_groups",
    (
        "a unit may count in {groups:,} groups, and private selection handles at most {most:,}: "
        "declare fewer in protect()"
    ),
    "max_groups=10",
)
TOO_MANY_CELLS = RefusalText(
    "plan.groups",
    "{cells} numbers in a column",
    "a column has at most {most:,} numbers, over all groups and bins",
    "list fewer public keys, or fewer bins",
)
NOISE_TOO_LARGE = RefusalText(
    "plan.range",
    "{component}",
    "with values this far from 0, the noise could overflow 126-bit integers",
    "narrow the bounds, or raise epsilon",
)
SUMS_TOO_LARGE = RefusalText(
    "plan.range",
    "{component}",
    "with values this far from 0, or this many rows, sums could overflow 126-bit integers",
    "narrow the bounds, declare a smaller table_rows= in protect(), or ask for a mean",
)
MAX_ROWS_MISSING = RefusalText(
    "table.max-rows",
    "protect({table!r}, …)",
    "without max_rows in protect() one {unit} could have any number of rows",
    "max_rows=5",
)
