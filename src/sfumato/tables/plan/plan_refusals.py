"""The refusals of `tables.plan`: promises that noise cannot keep, and sizes that no engine can
hold. Names in braces are fields.
"""

from __future__ import annotations

from ...errors import RefusalText

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
    shell="--delta 1e-9",
)
GROUP_SIZE_BELOW_ONE = RefusalText(
    "plan.group-size",
    "group_size={group_size}",
    "the assumed number of rows of a group has to be a whole number from 1 on",
    "group_size=1000",
    shell="--group-size 1000",
)

# Several groupings.

GROUPINGS_NEED_PUBLIC_KEYS = RefusalText(
    "plan.groupings",
    "group by {column}",
    "tables that agree need public keys: those of {column} come from the data; keys= in protect() "
    "declares them",
    "keys={{{column!r}: ['a', 'b']}} in protect(), or WHERE {column} IN ('a', 'b')",
)
GROUPINGS_DO_NOT_ADD_UP = RefusalText(
    "plan.groupings",
    "{component}",
    (
        "tables agree for counts, sums and what follows from them: numbers of different people or "
        "values, and quantiles, do not add up over groups"
    ),
    "ask for {component} with one question for each grouping",
)
GROUPINGS_OF_DRAWN_ROWS = RefusalText(
    "plan.groupings",
    "bounding='truncation'",
    "tables agree where all rows of a person count for a part, not where some are drawn",
    "bounding='weights'",
    shell="--bounding weights",
)
GROUPINGS_WITHOUT_NOISE = RefusalText(
    "plan.promise",
    "{promise}",
    "the noise of several groupings is calibrated to ε, (ε, δ), ρ or μ",
    "promise=sf.Approx(1, 1e-6)",
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
    shell="--max-groups 10",
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
    shell="--max-rows 5",
)
