"""The refusals of `tables.aggregates`: aggregates without bounds, of values that are no numbers, or
with wrong arguments. Names in braces are fields.
"""

from __future__ import annotations

from ...errors import RefusalText

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
    sql="CLAMP(TRY_CAST({of} AS DOUBLE), 0, 100)",
    shell="--types {column}=float",
)
TEXT_EXPRESSION_NOT_SUMMABLE = RefusalText(
    "aggregate.type",
    "{of}",
    "{of} is a text, and texts have no bounds: if they are numbers, cast them",
    "{python}.cast('float').clip(0, 100)",
    sql="CLAMP(TRY_CAST({of} AS DOUBLE), 0, 100)",
)
VALUE_NOT_SUMMABLE = RefusalText(
    "aggregate.type",
    "{of}",
    "{of} is of type {type}, which has no bounds, so it cannot be summed",
    "sf.count({python})",
    sql="CLAMP(DATE_DIFF('day', DATE '1970-01-01', {of}), 0, 40000)",
)
PAIR_OF_ONE_COLUMN = RefusalText(
    "aggregate.pair",
    "{of}, {of}",
    "the correlation of {of} with itself is 1, and its covariance is its variance",
    "sf.var({python})",
)
HISTOGRAM_OF_TEXT = RefusalText(
    "aggregate.type",
    "{of}",
    "a histogram needs numbers, and {of} is a text: if its texts are numbers, cast them",
    "{python}.cast('float')",
    sql="TRY_CAST({of} AS DOUBLE)",
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
    sql="CLIP({by}, 0, 5)",
)
QUANTILE_TOO_FINE = RefusalText(
    "aggregate.quantile",
    "q={q}",
    "q is a fraction with a denominator of at most {most:,}",
    "q=0.999",
)
PROBABILITIES_MISSING_OR_TWICE = RefusalText(
    "aggregate.quantile",
    "{count} probabilities",
    "quantiles needs one or more probabilities, each once",
    "[0.25, 0.5, 0.75]",
)
EDGES_NOT_INCREASING = RefusalText(
    "aggregate.edges",
    "{count} edges",
    "edges are 2 to {most} numbers, each above the one before",
    "edges=range(0, 121, 10)",
)
