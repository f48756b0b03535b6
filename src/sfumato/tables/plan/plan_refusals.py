"""The refusals of `tables.plan`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

AGGREGATE_BOUNDS_1 = RefusalText(
    "aggregate.bounds",
    "{text}",
    "{place} has no public bounds: one row could move the answer by any amount",
    "low=0, high=100 here, or bounds={{{place!r}: (0, 100)}} in protect()",
)
AGGREGATE_TYPE_1 = RefusalText(
    "aggregate.type",
    "{text}",
    "a histogram needs numbers, and {text} is of type {column_type}",
    "{rewrite}",
)
AGGREGATE_UNITS_1 = RefusalText(
    "aggregate.units",
    "{text}",
    "count_units counts the units of all rows of the query, without a condition of its own",
    "where({text_2!r}).aggregate(n=sf.count_units())",
)
AGGREGATE_UNITS_2 = RefusalText(
    "aggregate.units",
    "{text}",
    "count_units counts each unit once, with less noise",
    "sf.count_units()",
)
AGGREGATE_WEIGHT_1 = RefusalText(
    "aggregate.weight",
    "{text}",
    "the lower bound of the weight {text_2} is below 0",
    "weight=sf.col({text_2!r}).clip(0, 5)",
)
AGGREGATE_WHERE_1 = RefusalText(
    "aggregate.where",
    "{text}",
    "a condition is true or false of a row",
    "count_if(sf.col('age') >= 18)",
)
PLAN_GROUP_SIZE_1 = RefusalText(
    "plan.group-size",
    "group_size={group_size}",
    "the assumed number of rows of a group has to be a whole number from 1 on",
    "group_size=1000",
)
PLAN_GROUPS_1 = RefusalText(
    "plan.groups",
    "max_groups",
    "a unit may count in {groups} groups, and private selection handles at most {MOST_GROUPS}",
    "max_groups=10 in protect()",
)
PLAN_GROUPS_2 = RefusalText(
    "plan.groups",
    "{cells} numbers in a column",
    "a column has at most {MOST_CELLS} numbers, over all groups and bins",
    "fewer public keys, or fewer bins",
)
PLAN_KEYS_1 = RefusalText(
    "plan.keys",
    "{promise}",
    "the keys of {keys} come from the data: naming them needs a δ above 0",
    "delta=1e-9, or public keys of {keys} as keys= in protect()",
)
PLAN_PROMISE_1 = RefusalText(
    "plan.promise",
    "{promise}",
    "noise is calibrated to one of {kinds}",
    "promise=sf.Approx(1, 1e-6)",
)
PLAN_RANGE_1 = RefusalText(
    "plan.range",
    "{name}",
    "values this far from 0, or this many rows: {what} could overflow 126-bit integers",
    (
        "narrower bounds, a smaller table_rows= in protect(), a larger epsilon, or a mean in "
        "the place of a sum"
    ),
)
TABLE_MAX_ROWS_1 = RefusalText(
    "table.max-rows",
    "protect({name!r}, …)",
    "without max_rows one {unit_name} could have any number of rows",
    "max_rows=5 in protect()",
)
