"""The refusals of `sensitivity`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

GUARANTEE_RELATION_1 = RefusalText(
    "guarantee.relation",
    "relation=None",
    "a sensitivity needs a neighbour relation",
    "relation='add-remove' or relation='replace'",
)
SENSITIVITY_FIT_1 = RefusalText(
    "sensitivity.fit",
    "results of {a_count} and of {b_count} numbers",
    "a move is measured between results of one length",
    "a function whose result has one length",
)
SENSITIVITY_FIT_2 = RefusalText(
    "sensitivity.fit",
    "fit(dataset)",
    "on drawn records fit returns no finite numbers",
    "a fit that returns a number, an array or a function",
)
SENSITIVITY_FIT_3 = RefusalText(
    "sensitivity.fit",
    "fit(dataset)",
    "fit returns arrays of different shapes",
    "a fit whose result has one shape",
)
SENSITIVITY_FIT_4 = RefusalText(
    "sensitivity.fit",
    "fit(dataset)",
    "fit returns an empty array",
    "a fit that returns numbers",
)
SENSITIVITY_FIT_5 = RefusalText(
    "sensitivity.fit",
    "fit, batched",
    "fit must return one number or array for each dataset",
    "batched=False",
)
SENSITIVITY_MATRIX_1 = RefusalText(
    "sensitivity.matrix",
    "linear(…)",
    "the matrix needs a row per question and a column per kind of record",
    "linear([[1, 1, 0], [0, 1, 1]], relation='replace')",
)
SENSITIVITY_MATRIX_2 = RefusalText(
    "sensitivity.matrix",
    "linear(…)",
    "no record changes any answer: there is nothing to protect",
    "a matrix with different columns",
)
SENSITIVITY_MEAN_1 = RefusalText(
    "sensitivity.mean",
    "{name}(…, relation='add-remove')",
    (
        "under add-remove the number of records is data, and a {name} of few records moves as "
        "far as the range: there is no closed form with n"
    ),
    "relation='replace', n=1000; or sum(low, high, relation='add-remove') / 1000",
)
SENSITIVITY_NORM_1 = RefusalText(
    "sensitivity.norm",
    "norm={norm}",
    "moves are measured by their sum, the root of their squares, or the largest",
    "norm=1, 2 or 'inf'",
)
SENSITIVITY_NORM_2 = RefusalText(
    "sensitivity.norm",
    "Global(…)",
    "state one number for a single value, or the norms of a vector's move",
    "Global('1/100', relation='replace'), or Global(l1=2, l2_squared=2, sup=1)",
)
SENSITIVITY_ORACLE_1 = RefusalText(
    "sensitivity.oracle",
    "oracle({n})",
    "the oracle must return {n} records, as a list, an array or a frame",
    "an oracle whose oracle(n) has n rows",
)
SENSITIVITY_ORACLE_2 = RefusalText(
    "sensitivity.oracle",
    "n={n}",
    "n is the number of records of the dataset, from 1 on",
    "n=500",
)
SENSITIVITY_PLAN_1 = RefusalText(
    "sensitivity.plan",
    "plan={kind!r:.40}",
    "a plan is 'order' or 'diffpriv'",
    "plan='order' or plan='diffpriv'",
)
SENSITIVITY_PLAN_2 = RefusalText(
    "sensitivity.plan",
    "m, gamma, k",
    "state one or two of them: the rest follows",
    "gamma=0.2, or m=500, gamma=0.2",
)
SENSITIVITY_PLAN_3 = RefusalText(
    "sensitivity.plan",
    "m={pairs}, gamma={gamma}",
    "for this gamma even the largest of {pairs} moves is too small",
    "m={value}",
)
SENSITIVITY_PLAN_4 = RefusalText(
    "sensitivity.plan",
    "k={k}",
    "diffpriv's plan takes k together with m",
    "m=500, k=439",
)
SENSITIVITY_PLAN_5 = RefusalText(
    "sensitivity.plan",
    "m={pairs}, gamma={gamma}",
    "diffpriv's plan needs γ ≥ {least:.4g}",
    "a larger m, or plan='order'",
)
SENSITIVITY_PLAN_6 = RefusalText(
    "sensitivity.plan",
    "gamma={gamma:g}",
    "this takes more than {MOST:,} pairs",
    "gamma=0.01, or m=500",
)
SENSITIVITY_PLAN_7 = RefusalText(
    "sensitivity.plan",
    "{name}={number}",
    "{name} is a whole number from 1 to {MOST:,}",
    "{name}=500",
)
SENSITIVITY_PLAN_8 = RefusalText(
    "sensitivity.plan",
    "k={k}, m={pairs}",
    "the k-th smallest of m moves has k from 1 to m",
    "a smaller k, or a larger gamma",
)
SENSITIVITY_PLAN_9 = RefusalText(
    "sensitivity.plan",
    "m={pairs}, k={k}",
    "no γ below 1 fits these numbers",
    "a larger k, or a larger m",
)
SENSITIVITY_RANGE_1 = RefusalText(
    "sensitivity.range",
    "[{a}, {b}]",
    "a public range has two different ends, the lower first",
    "low=0, high=1",
)
SENSITIVITY_SIZE_1 = RefusalText(
    "sensitivity.size",
    "n={size}, ddof={ddof}",
    "a {name} is of two records or more, and divides by n − ddof > 0",
    "n=100, ddof=1",
)
SENSITIVITY_SIZE_2 = RefusalText(
    "sensitivity.size",
    "{name}(…)",
    "the sensitivity of a {name} depends on the number of records, which must be public",
    "n=1000",
)
SENSITIVITY_SIZE_3 = RefusalText(
    "sensitivity.size",
    "{name}={number}",
    "{name} is a whole number from 1 on",
    "{name}=100",
)
SENSITIVITY_WORLD_1 = RefusalText(
    "sensitivity.world",
    "{world_count} datasets",
    "the world has no two different datasets to compare",
    "a larger world",
)
SENSITIVITY_ZERO_1 = RefusalText(
    "sensitivity.zero",
    "sample_sensitivity(…)",
    (
        "between {k} of {m} pairs the function does not move, or moves by more than a double "
        "holds: no noise can be scaled to that"
    ),
    "a larger k, another oracle, or a global sensitivity",
)
