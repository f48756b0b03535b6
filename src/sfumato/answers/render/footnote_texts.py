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
INTERVALS = "± covers the noise{apart} ({levels})"
EACH_CELL = "{level}, each cell"
OTHER_LEVEL = "{name} at {level}"
LIMITS_APART = ", not what the limits left out"
ALL_GROUPS = (
    "{whose} for all shown groups at once ({level}), because the same noisy values chose them"
)
WHOSE_ALL = "± covers the noise{apart}; it holds"
WHOSE_SOME = "for {names} it holds"
NO_INTERVAL = "{name} was released without an interval"
INTERVAL_LOST = "{name} has no interval, because it chose the groups"

# Cost
COST = "cost {cost}"
LEFT = "{left} left"
STORED = "stored answer of {date}: free (first cost {cost})"
BUDGET_AS_EPSILON = "the whole budget is ε = {epsilon} at δ = {delta}"
NUMBER = "{letter} = {value}"
OF_LIMIT = " of {limit}"
SPENT = " more was spent to find limits: "
SPENT_BEFORE = " more was spent to answer first: "
BATCH_COST = ": the cost is that of all"

# What the limits left out
CLIPPED = "about {share} of rows lie {side} the bounds of {name}"
BELOW, ABOVE = "below", "above"
WITHHELD = "about {share} of rows are in groups too small to be shown"
ALL_WITHHELD = "all rows are in groups too small to be shown"
CLIPPED_AT_MOST = "at most {most} of rows lie {side} the bounds of {name}"
WITHHELD_AT_MOST = "at most {most} of rows are in groups too small to be shown"
TOGETHER = "these shares hold together with {level} confidence"
UNNAMED = "about {share} of the counted rows are in groups too small to be named"
ALL_UNNAMED = "all counted rows are in groups too small to be named"

# All rules
ALL_RULES = "{where} tells the {count} rules"
ONE_RULE = "{where} tells the rule"
RULES_BELOW = "All rules"

# Processing
NON_NEGATIVE = "negative counts, and negative sums of non-negative values, are shown as 0"
ROUNDED = "counts are rounded to whole numbers"
WHOLE_TOGETHER = (
    "counts are shown as whole numbers that add up from table to table; the estimates before "
    "rounding are unbiased"
)
CONSISTENT = (
    "counts are shown as whole numbers from 0 on that add up from table to table, by constrained "
    "least squares: where they are small they are too large on average, and ± is that of the "
    "unbiased estimates"
)
RISING = (
    "cumulative counts are the nearest that never fall and are not below 0; the unbiased ones may "
    "fall"
)
AGREEING = (
    "the groups of {name} and {origin} were reconciled by least squares, weighted by the inverse "
    "variances"
)
TOTAL_RELEASED = "totals that were released separately (all groups together are now {total})"
TOTAL_PUBLIC = "a public total"
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
ROLLED_UP = "(all)"
NO_GROUP = "no group is shown"
MORE_ROWS = "… and {more} more rows"
ALL_ROWS = ": to_pandas() has all of them"

GROUPS_WITH = "shown are groups with {condition}"
WINDOW_NAMED = "windows and shares are of the groups that are shown, without withheld ones"
OVER_SHOWN = "aggregates are of the released groups"
OVER_NAMED = "aggregates are of the groups that are shown, without withheld ones"
