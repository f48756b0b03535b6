"""The refusals of `sensitivity`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# Neighbours, norms, ranges
RELATION_MISSING = RefusalText(
    "guarantee.relation",
    "relation=None",
    "a sensitivity needs a neighbour relation: 'add-remove' or 'replace'",
    "relation='add-remove'",
)
UNKNOWN_NORM = RefusalText(
    "sensitivity.norm",
    "norm={norm}",
    "the norms are 1 (the sum), 2 (the root of the squares) and 'inf' (the largest)",
    "norm=1",
)
VALUE_AND_NORMS = RefusalText(
    "sensitivity.norm",
    "Global(…)",
    "give either one number, for a single value, or norms, for a vector (l2 or l2_squared)",
    "Global(l1=2, l2_squared=2, sup=1, relation='replace')",
)
EMPTY_RANGE = RefusalText(
    "sensitivity.range",
    "[{low}, {high}]",
    "low must be below high",
    "low=0, high=1",
)

# The number of records
COUNT_BELOW_ONE = RefusalText(
    "sensitivity.size",
    "{name}={value}",
    "{name} is a whole number from 1 on",
    "{name}=100",
)
RECORDS_MISSING = RefusalText(
    "sensitivity.size",
    "{statistic}(…)",
    "the sensitivity of a {statistic} depends on the number of records, which must be public",
    "n=1000",
)
TOO_FEW_RECORDS = RefusalText(
    "sensitivity.size",
    "n={records}, ddof={ddof}",
    "a {statistic} needs two records or more, and a whole ddof from 0 to n − 1",
    "n=100, ddof=1",
)
RECORDS_UNDER_ADD_REMOVE = RefusalText(
    "sensitivity.mean",
    "{statistic}(…, relation='add-remove')",
    (
        "under add-remove the number of records is data, and a {statistic} of few records moves "
        "as far as the range; a sum that is divided by a public number has a closed form"
    ),
    "relation='replace', n=1000",
)

# Matrices and finite worlds
RAGGED_MATRIX = RefusalText(
    "sensitivity.matrix",
    "linear(…)",
    "the matrix has one row for each question and one column for each kind of record",
    "linear([[1, 1, 0], [0, 1, 1]], relation='replace')",
)
MATRIX_WITHOUT_EFFECT = RefusalText(
    "sensitivity.matrix",
    "linear(…)",
    "no record changes any answer, so there is nothing to protect",
    "linear([[1, 1, 0], [0, 1, 1]], relation='replace')",
)
WORLD_TOO_SMALL = RefusalText(
    "sensitivity.world",
    "{datasets} datasets",
    "there are no two different datasets to compare",
    "pass two different datasets or more",
)
RESULTS_OF_DIFFERENT_LENGTH = RefusalText(
    "sensitivity.fit",
    "results of {first} and of {second} numbers",
    "a move is measured between results of equal length",
    "return results of one length from the function",
)

# Sampled functions
FIT_NOT_FINITE = RefusalText(
    "sensitivity.fit",
    "fit(dataset)",
    "on drawn records fit returns something else than finite numbers",
    "return a finite number, an array of them or a function from fit",
)
FIT_OF_CHANGING_SHAPE = RefusalText(
    "sensitivity.fit",
    "fit(dataset)",
    "fit returns arrays of different shapes",
    "return arrays of one shape from fit",
)
FIT_EMPTY = RefusalText(
    "sensitivity.fit",
    "fit(dataset)",
    "fit returns an empty array",
    "return one number or more from fit",
)
BATCHED_FIT_OF_OTHER_LENGTH = RefusalText(
    "sensitivity.fit",
    "fit(datasets), batched=True",
    "a batched fit returns one number or array for each dataset",
    "batched=False",
)
FIT_DOES_NOT_MOVE = RefusalText(
    "sensitivity.zero",
    "sample_sensitivity(…)",
    "between {k} of {m} pairs the function does not move: no noise can be scaled to that",
    "sample with a larger k or from another oracle, or give a global sensitivity",
)
FIT_MOVES_TOO_FAR = RefusalText(
    "sensitivity.zero",
    "sample_sensitivity(…)",
    "between some of {m} pairs the function moves by more than a 64-bit float holds",
    "divide the result of fit by a constant",
)
ORACLE_OF_OTHER_SIZE = RefusalText(
    "sensitivity.oracle",
    "oracle({n})",
    "the oracle must return {n} records, as a list, an array or a frame",
    "oracle=lambda n: [random.random() for _ in range(n)]",
)
RECORDS_BELOW_ONE = RefusalText(
    "sensitivity.oracle",
    "n={n}",
    "n, the number of records of a dataset, is a whole number from 1 on",
    "n=500",
)

# Sampling plans
UNKNOWN_PLAN = RefusalText(
    "sensitivity.plan",
    "plan={plan!r:.40}",
    "the plans are 'order' and 'diffpriv'",
    "plan='order'",
)
PLAN_OF_NONE_OR_ALL = RefusalText(
    "sensitivity.plan",
    "m, gamma, k",
    "give one or two of m, gamma and k: the rest follows",
    "gamma=0.2",
)
NOT_A_PAIR_COUNT = RefusalText(
    "sensitivity.plan",
    "{name}={value}",
    "{name} is a whole number from 1 to {most:,}",
    "{name}=500",
)
TOO_FEW_PAIRS = RefusalText(
    "sensitivity.plan",
    "m={m}, gamma={gamma}",
    "for this gamma even the largest of {m} moves is too small",
    "m={enough}",
)
TOO_MANY_PAIRS = RefusalText(
    "sensitivity.plan",
    "gamma={gamma:g}",
    "this gamma takes more than {most:,} pairs",
    "gamma=0.01",
)
K_ABOVE_M = RefusalText(
    "sensitivity.plan",
    "k={k}, m={m}",
    "the k-th smallest of m moves has k from 1 to m, and m is at most {most:,}",
    "m=500, k=439",
)
K_WITHOUT_M = RefusalText(
    "sensitivity.plan",
    "k={k}",
    "the plan of diffpriv takes k together with m",
    "m=500, k=439",
)
GAMMA_BELOW_DIFFPRIV = RefusalText(
    "sensitivity.plan",
    "m={m}, gamma={gamma}",
    "with {m} pairs the plan of diffpriv needs gamma ≥ {least:.4g}",
    "m={enough}",
)
NO_GAMMA_FITS = RefusalText(
    "sensitivity.plan",
    "m={m}, k={k}",
    "no gamma below 1 fits these numbers",
    "m=500, k=439",
)
