"""The texts that an answer prints below its table, as named templates.

*Fields*    Names in braces. The modules that fill them (`footnotes`, `processing`, `top_groups`,
            `merge`, `proportions`) compute the numbers and decide which texts apply.
*Elsewhere* The rules of a release come from its plan (`tables/plan/explain.py`), the labels of
            HAVING and LIMIT from `sql/postprocess.py`.
*Stored*    An answer stores its processing labels. A label about left-out groups begins with
            LEFT_OUT: the reader of stored answers looks for it.
*Claims*    Every text here with a probability or a share is tried by simulation
            (`tests/answers/test_statements.py`).
"""

# Intervals
INTERVALS = "{level} intervals for the bounded values"
EACH_CELL = ", each cell"
ALL_GROUPS = (
    "{whose} hold for all shown groups at once, because the groups were chosen by the same "
    "noisy values"
)
WHOSE_ALL = "they"
WHOSE_SOME = "those of {names}"
OTHER_LEVEL = "{name} at {level}"
NO_INTERVAL = "{name} was released without an interval"
INTERVAL_LOST = "{name} has no interval, because it chose the groups"

# Cost
COST = "cost {cost}"
LEFT = "{left} left"
STORED = "stored answer of {date}: free (first cost {cost})"
BUDGET_AS_EPSILON = "the whole budget is ε = {epsilon} at δ = {delta}"
NUMBER = "{letter} = {value}"
OF_LIMIT = " of {limit}"

# Clipped and withheld rows (a rule of the plan begins as CLIPPED_TO does: the share joins it)
CLIPPED_TO = "{column} clipped to [{ends}"
CLIPPED = "{column} clipped"
CLIPPED_SHARE = "about {share} of rows {side}"
BELOW, ABOVE = "below", "above"
WITHHELD = "small groups may be withheld: about {share} of the counted rows are in them"
UNNAMED = "about {share} of the counted rows are in groups too small to be named"

# Processing
NON_NEGATIVE = "negative counts, and negative sums of non-negative values, are shown as 0"
ROUNDED = "counts are rounded to whole numbers"
AGREEING = (
    "the groups of {name} were adjusted to add up to a total that {origin}, each in proportion to "
    "its noise variance"
)
TOTAL_RELEASED = "was released separately"
TOTAL_PUBLIC = "is public"
MERGED = "the weighted average of {n} releases of the same question"

# Groups that were left out
LEFT_OUT = "shown "
TOP_MANY = "shown are the {count} groups with the largest {name}"
TOP_ONE = "shown is the group with the largest {name}"
SURE_MANY = "with {level} confidence, the {count} largest{among} include at least {sure} of them"
SURE_ONE = "with {level} confidence, it is the largest{among}"
UNSURE_ONE = "another group may be larger"
AMONG_NAMED = " of the groups that were named"

# The table itself
NO_GROUP = "no group is shown"
MORE_ROWS = "… and {more} more rows"
ALL_ROWS = ": to_pandas() has all of them"
