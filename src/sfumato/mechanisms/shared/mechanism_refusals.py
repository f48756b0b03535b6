"""The refusals of `mechanisms`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

# How the noise is set: epsilon, delta, error
NOT_EXACTLY_ONE_PARAMETER = RefusalText(
    "mechanism.calibration",
    "{mechanism}({given})",
    "give exactly one of {parameters}",
    "{example}",
)
EPSILON_AND_DELTA_APART = RefusalText(
    "mechanism.calibration",
    "{mechanism}(…)",
    "epsilon and delta go together: give both or neither",
    "{example}",
)
ERROR_AND_REPORTS_APART = RefusalText(
    "mechanism.calibration",
    "RandomizedResponse(…)",
    "error and reports go together: give both or neither",
    "error=0.01, reports=1_000_000",
)
DELTA_WITH_ERROR = RefusalText(
    "mechanism.calibration",
    "Histogram(error=…, delta=…)",
    "the noise follows from the error alone, so delta has no use",
    "Histogram(edges=range(0, 101, 10), error=10, relation='replace')",
)
GRID_COARSER_THAN_ERROR = RefusalText(
    "mechanism.calibration",
    "error={error}",
    "the grid is coarser than this error",
    "grid={finer}",
)
EPSILON_TOO_SMALL = RefusalText(
    "mechanism.calibration",
    "epsilon={epsilon}",
    "at this epsilon the noise would depend on the data by less than can be computed",
    "epsilon=1",
)
EPSILON_FROM_ONE = RefusalText(
    "mechanism.classical",
    "epsilon={epsilon}",
    "the classical formula is proved for ε < 1 only",
    "Gaussian(sensitivity=1, epsilon=1, delta=1e-6)",
)
EPSILON_ABOVE_ONE = RefusalText(
    "gibbs.epsilon",
    "epsilon={epsilon}",
    "the formula for β is proved for ε ≤ 1, and fails above",
    "epsilon=1",
)

# Several mechanisms as one
NO_PARTS = RefusalText(
    "mechanism.parts",
    "Combined(…)",
    "the parts are one mechanism or more",
    "Combined([Laplace(sensitivity=1, epsilon=1)])",
)
NO_COMMON_NOTION = RefusalText(
    "mechanism.parts",
    "Combined(…)",
    "there is no notion in which every part promises something",
    "Combined([Laplace(sensitivity=1, epsilon=1), Gaussian(sensitivity=1, rho=0.1)])",
)
EPSILON_WITHOUT_USE = RefusalText(
    "mechanism.calibration",
    "Combined(…, epsilon=…)",
    "every part has its own ε, so no part needs epsilon and delta",
    "Combined(parts)",
)
EPSILON_BELOW_SUM = RefusalText(
    "mechanism.calibration",
    "{point}",
    "the parts with Gaussian noise together lose more than this",
    "Combined(parts)",
)

# Neighbours
HISTOGRAM_WITHOUT_RELATION = RefusalText(
    "mechanism.relation",
    "Histogram(…)",
    "give a relation: one person moves one count under add-remove, two under replace",
    "relation='replace'",
)
HIERARCHY_WITHOUT_RELATION = RefusalText(
    "mechanism.relation",
    "Hierarchy(…)",
    "give a relation: one person moves one count of a level under add-remove, two under replace",
    "relation='replace'",
)
MEAN_WITHOUT_RELATION = RefusalText(
    "mechanism.relation",
    "Mean(…)",
    "give a relation: the number of rows is secret under add-remove, public under replace",
    "relation='add-remove'",
)
QUANTILE_WITHOUT_RELATION = RefusalText(
    "quantile.relation",
    "relation=None",
    "the score moves differently when a value is added (add-remove) or replaced (replace)",
    "relation='add-remove'",
)
WEIGHTED_QUANTILE_WITHOUT_RELATION = RefusalText(
    "quantile.relation",
    "relation=None",
    "the distance moves differently when a unit is added (add-remove) or replaced (replace)",
    "relation='add-remove'",
)
ADD_REMOVE_OF_REPORTS = RefusalText(
    "response.relation",
    "relation='add-remove'",
    "the collector sees the number of reports, so a row can only be replaced",
    "relation='replace'",
)

# Samples of the units
RATE_OR_SIZE_MISSING = RefusalText(
    "mechanism.sampling",
    "{mechanism}.subsample(…)",
    "give either q, or both size and of",
    "subsample(0.01)",
)
SAMPLE_OUT_OF_RANGE = RefusalText(
    "mechanism.sampling",
    "size={size}, of={of}",
    "a sample has at least one and at most all of the units",
    "subsample(size=100, of=10_000)",
)
UNKNOWN_SAMPLING = RefusalText(
    "mechanism.sampling",
    "how={how!r}",
    "units are sampled independently ('poisson'), or a fixed number of them ('fixed')",
    "how='poisson'",
)
SAMPLED_TWICE = RefusalText(
    "mechanism.sampling",
    "{mechanism}",
    "the mechanism is sampled already: sample once, at the product of the rates",
    "subsample(0.01)",
)
REPORTS_SAMPLED = RefusalText(
    "mechanism.sampling",
    "{mechanism}.subsample(…)",
    "a report exists only if its row does, so the reports reveal who was sampled",
    "subsample(size=100, of=10_000)",
)
POISSON_UNDER_REPLACE = RefusalText(
    "guarantee.relation",
    "{mechanism}.subsample(…)",
    "Poisson sampling is about add-remove, the mechanism about replace",
    "relation='add-remove'",
)
FIXED_SIZE_UNDER_ADD_REMOVE = RefusalText(
    "guarantee.relation",
    "{mechanism}.subsample(…)",
    "a sample of a fixed size is about replace, the mechanism about add-remove",
    "relation='replace'",
)

# Grids and ranges
SENSITIVITY_BELOW_ONE = RefusalText(
    "mechanism.grid",
    "sensitivity={sensitivity}",
    "integers move by 1 or more; floats need a public grid",
    "grid={grid}",
)
FLOATS_WITHOUT_GRID = RefusalText(
    "mechanism.grid",
    "{mechanism}(…).perturb(float)",
    "floats need a public grid, fixed before the data are read",
    "grid={grid}",
)
EMPTY_RANGE = RefusalText(
    "range.ends",
    "low={low}, high={high}",
    "the public range is empty: low must be below high",
    "low=0, high=1",
)
ENDS_MISSING = RefusalText(
    "range.ends",
    "{mechanism}",
    "an order statistic needs public ends: low and high",
    "low=0, high=1",
)
GRID_WITHOUT_POINTS = RefusalText(
    "range.grid",
    "low={low}, high={high}, grid={grid}",
    "no point of the grid lies in the range",
    "grid=2**{exponent}",
)
GRID_TOO_FINE = RefusalText(
    "range.grid",
    "low={low}, high={high}, grid={grid}",
    "the ends of the range lie 2^61 grid steps or more from zero",
    "grid=2**{exponent}",
)
BOUND_MISSING = RefusalText(
    "mechanism.bound",
    "{mechanism}",
    "propose a bound on the local sensitivity",
    "bound=0.5",
)
BOUND_FINER_THAN_GRID = RefusalText(
    "mechanism.bound",
    "bound={bound}",
    "the bound is finer than the grid",
    "bound=2**{exponent}",
)

# The number of values
NOT_A_SIZE = RefusalText(
    "mechanism.size",
    "{name}={value}",
    "{name} is a whole number from 1 to 2^40",
    "{name}=10",
)
UNEXPECTED_SIZE = RefusalText(
    "mechanism.size",
    "perturb of {values} values",
    (
        "the mechanism has size={size}: rounding to the grid moves every value, so the number of "
        "values must be public"
    ),
    "size={values}",
)
STAIRCASE_OF_SEVERAL_VALUES = RefusalText(
    "mechanism.size",
    "perturb of {values} values",
    (
        "a neighbour may cross a step of the staircase in each of several values: ε would be "
        "lost for each value"
    ),
    "Laplace(sensitivity=1, epsilon=1)",
)
CURVE_OF_SEVERAL_VALUES = RefusalText(
    "mechanism.size",
    "delta({epsilon})",
    "a neighbour may move several values; the exact curve is for one value",
    "promise.delta({epsilon})",
)
UNEXPECTED_ROWS = RefusalText(
    "mechanism.size",
    "{rows} rows",
    "the mechanism states a public number of rows: {expected}",
    "rows={rows}",
)
UNEXPECTED_LENGTH = RefusalText(
    "mechanism.size",
    "perturb of {values} values",
    "the mechanism has length={length}",
    "PrefixSums(length={values}, epsilon=1, delta=1e-6)",
)

# Types of values
NEITHER_INTEGER_NOR_FLOAT = RefusalText(
    "value.type",
    "perturb({type})",
    "noise is added to integers and floats",
    "perturb(int(value))",
)
MASKED_VALUES = RefusalText(
    "value.type",
    "perturb(MaskedArray)",
    "a masked array has values that are no numbers",
    "perturb(values.filled(0))",
)
ARRAY_OF_OTHER_TYPE = RefusalText(
    "value.type",
    "an array of {type}",
    "noise is added to integers and floats of at most 64 bits",
    "np.asarray(values, dtype=np.float64)",
)
LIST_OF_OTHER_TYPE = RefusalText(
    "value.type",
    "perturb(list)",
    "noise is added to integers and floats, and the list has other values",
    "np.asarray(values, dtype=np.float64)",
)
NOT_A_COLUMN = RefusalText(
    "value.type",
    "perturb(data)",
    "the data are a column of numbers, in one dimension",
    "np.asarray(values, dtype=np.float64)",
)
NOT_FINITE = RefusalText(
    "value.not-finite",
    "perturb(NaN or infinity)",
    "NaN and infinity are not on the grid: replace them by fixed numbers first",
    "np.nan_to_num(values, nan=0, posinf=100, neginf=0)",
)
NOT_AN_INTEGER = RefusalText(
    "value.type",
    "{name} of type {type}",
    "the {name} must be an integer",
    "int({name})",
)
VOTES_NOT_INTEGERS = RefusalText(
    "value.type",
    "counts of type {type}",
    "votes are counted in 64-bit integers",
    "np.asarray(counts, dtype=np.int64)",
)
NOT_A_ROW_OF_INTEGERS = RefusalText(
    "value.type",
    "{name} of type {type}",
    "the {name} must be integers, in one dimension",
    "np.asarray({name}, dtype=np.int64)",
)
ROWS_OF_DIFFERENT_LENGTH = RefusalText(
    "value.type",
    "groups, points and weights of different length",
    "each point has a group and a weight",
    "pass three columns of equal length",
)

# Categories
CATEGORIES_NOT_DISTINCT = RefusalText(
    "categories.names",
    "{categories} categories",
    "there are {least} to 2^24 categories, each named once and equal to itself (NaN is not)",
    "categories=['yes', 'no']",
)
CATEGORY_NOT_HASHABLE = RefusalText(
    "categories.names",
    "categories",
    "a category that cannot be hashed cannot be looked up",
    "categories=['yes', 'no']",
)
MODE_WITHOUT_CATEGORIES = RefusalText(
    "statistic.categories",
    "{mechanism}",
    "the mode needs public categories, each named once",
    "categories=['a', 'b']",
)
NOT_A_CATEGORY = RefusalText(
    "value.category",
    "a value",
    "a value is none of the public categories; the message does not name it",
    "add a category for all other values, and replace them by it first",
)

# Histograms
NOT_EXACTLY_ONE_AXIS_KIND = RefusalText(
    "histogram.axes",
    "Histogram({given})",
    "give exactly one of edges, categories, axes",
    "edges=range(0, 101, 10)",
)
NOT_AN_AXIS = RefusalText(
    "histogram.axes",
    "axes",
    "an axis is Edges or Labels",
    "axes=[Edges(range(0, 101, 10)), Labels(['yes', 'no'])]",
)
TOO_MANY_CELLS = RefusalText(
    "histogram.axes",
    "{cells:,} cells",
    "there may be 2^24 cells; of more, nearly all would be empty",
    "edges=range(0, 101, 10)",
)
EDGES_OF_OTHER_AXES = RefusalText(
    "histogram.axes",
    "edges",
    "the histogram has several axes, or categories",
    "histogram.axes",
)
EDGES_NOT_RISING = RefusalText(
    "histogram.edges",
    "{edges} edges",
    "edges are two or more finite numbers, each larger than the one before",
    "edges=range(0, 101, 10)",
)
UNKNOWN_OUTSIDE = RefusalText(
    "histogram.outside",
    "outside={outside!r}",
    "values outside the range are clipped ('clip') or not counted ('drop')",
    "outside='clip'",
)
UNEXPECTED_COLUMNS = RefusalText(
    "histogram.columns",
    "{columns} columns",
    "the histogram has {axes} axes, and each takes one column",
    "pass {axes} columns",
)
COLUMNS_OF_DIFFERENT_LENGTH = RefusalText(
    "histogram.columns",
    "columns of different length",
    "every row has a value in each column",
    "pass columns of equal length",
)
NOT_A_POWER = RefusalText(
    "histogram.power",
    "power={powers}",
    "a moment takes a whole power from 0 to 64 for each axis",
    "moment({example})",
)
POWER_OF_CATEGORIES = RefusalText(
    "histogram.power",
    "power={powers}",
    "categories have no powers: theirs is 0",
    "moment({example})",
)
MOMENT_OF_PROCESSED_COUNTS = RefusalText(
    "histogram.processed",
    "moment",
    "processed counts are biased: the error of a moment is not known",
    "call moment before nonnegative and summing_to",
)
ROWS_BELOW_ZERO = RefusalText(
    "histogram.rows",
    "rows={rows}",
    "rows is a whole number from 0 to {most}",
    "rows=1000",
)
ROWS_BELOW_ONE = RefusalText(
    "histogram.rows",
    "rows={rows}",
    "rows is a whole number from 1 on",
    "rows=1000",
)

# Hierarchies
HIERARCHY_OF_SEVERAL_AXES = RefusalText(
    "hierarchy.axis",
    "{axes} axes",
    "a hierarchy is over the cells of one column",
    "edges=range(0, 1025)",
)
HIERARCHY_OF_ONE_CELL = RefusalText(
    "hierarchy.axis",
    "1 cell",
    "a hierarchy is over two cells or more",
    "edges=range(0, 1025)",
)
BRANCHING_OUT_OF_RANGE = RefusalText(
    "hierarchy.branching",
    "branching={branching}",
    "a block has from 2 to {cells} children",
    "branching=2",
)
RANGE_OUTSIDE_CELLS = RefusalText(
    "hierarchy.range",
    "range({start}, {stop})",
    "a range holds one or more of the {cells} cells",
    "range(0, {cells})",
)
BETWEEN_OTHER_NUMBERS = RefusalText(
    "hierarchy.range",
    "between({low}, {high})",
    "both ends must be edges of the hierarchy",
    "between({first}, {last})",
)
BETWEEN_CATEGORIES = RefusalText(
    "hierarchy.range",
    "between({low}, {high})",
    "the hierarchy has categories and no edges",
    "range(0, {cells})",
)

# Means
EMPTY_MEAN_RANGE = RefusalText(
    "mean.range",
    "low={low}, high={high}",
    "the public range is empty: low must be below high",
    "low=0, high=100",
)
GRID_COARSER_THAN_RANGE = RefusalText(
    "mean.range",
    "grid={grid}",
    "the whole range is less than one step of the grid",
    "grid={finer}",
)
REPLACE_WITHOUT_ROWS = RefusalText(
    "mean.rows",
    "Mean(relation='replace')",
    "under replace the number of rows is public: give it",
    "relation='replace', rows=1000",
)
ADD_REMOVE_WITH_ROWS = RefusalText(
    "mean.rows",
    "rows={rows}, relation='add-remove'",
    "under add-remove the number of rows is secret: it cannot be given",
    "relation='replace', rows={rows}",
)
ERROR_WITHOUT_ROWS = RefusalText(
    "mean.rows",
    "error()",
    "the number of rows is secret, and the error depends on it: give a guess",
    "error(0.95, rows=1000)",
)
VARIANCE_WITHOUT_ROWS = RefusalText(
    "mean.rows",
    "variance",
    "the number of rows is secret, and the variance depends on it",
    "error(0.95, rows=1000)",
)

# Quantiles and other statistics
UNKNOWN_STATISTIC = RefusalText(
    "statistic.unknown",
    "{statistic!r:.60}",
    "the statistics here are {statistics}",
    "{example!r}",
)
Q_TOO_LONG = RefusalText(
    "quantile.q",
    "q={q}",
    "the denominator of q is above 2^20: ranks would not fit 64-bit integers",
    "q='{shorter}'",
)
GROUPS_BELOW_ONE = RefusalText(
    "quantile.groups",
    "count={count!s:.60}",
    "the number of groups is a whole number from 1 on",
    "count=1",
)
SEVERAL_GROUPS = RefusalText(
    "quantile.groups",
    "count={count!s:.60}",
    "the mechanism was made with groups=False, for one group",
    "groups=True",
)
WEIGHT_OUT_OF_RANGE = RefusalText(
    "quantile.weight",
    "{name}={value!s:.60}",
    "{name} is a whole number from {least} to 2^61",
    "{name}=1",
)

# Choices among candidates
CANDIDATES_NOT_DISTINCT = RefusalText(
    "selection.candidates",
    "{candidates} candidates",
    "there is one candidate or more, each named once",
    "candidates=['a', 'b']",
)
COUNT_BELOW_ONE = RefusalText(
    "selection.count",
    "{name}={value}",
    "{name} is a whole number from 1 on",
    "{name}=10",
)
K_BELOW_ONE = RefusalText(
    "selection.k",
    "k={k}",
    "k is a whole number from 1 on",
    "k=1",
)
K_OUT_OF_RANGE = RefusalText(
    "selection.k",
    "k={k}",
    "k is a whole number from 1 to the number of candidates",
    "k=1",
)
PRIOR_UNLIKE_CANDIDATES = RefusalText(
    "selection.prior",
    "{weights} weights",
    "the mechanism names {candidates} candidates, and each has one weight",
    "prior=[1] * {candidates}",
)
SCORES_UNLIKE_PRIOR = RefusalText(
    "selection.prior",
    "{scores} scores",
    "the prior has {weights} weights, and each candidate has one weight and one score",
    "pass {weights} scores",
)
SCORES_UNLIKE_CANDIDATES = RefusalText(
    "selection.scores",
    "{scores} scores",
    "the mechanism names {candidates} candidates, and each has one score",
    "pass {candidates} scores",
)
FEWER_SCORES_THAN_K = RefusalText(
    "selection.scores",
    "{scores} scores",
    "k={k} candidates are chosen, and each has one score",
    "k={scores}",
)
SCORES_WITHOUT_ORDER = RefusalText(
    "selection.scores",
    "scores={type}",
    "scores are a list or an array, in the order of the candidates",
    "choose([3, 1, 0])",
)
SCORES_NOT_NUMBERS = RefusalText(
    "selection.scores",
    "scores that are not numbers",
    "each candidate has one number as its score",
    "choose([3, 1, 0])",
)
SCORES_OF_OTHER_SHAPE = RefusalText(
    "selection.scores",
    "scores of shape {shape}",
    "scores are one number or more, in one dimension",
    "choose([3, 1, 0])",
)
SCORES_NOT_EXACT = RefusalText(
    "selection.scores",
    "scores of type {type}",
    "scores are finite: ints, Fractions, Decimals, or floats on a grid",
    "choose([3, 1, 0])",
)
SCORES_NOT_WHOLE = RefusalText(
    "selection.grid",
    "scores that are not whole numbers",
    "the noise is on the integers: other scores need a public grid",
    "grid=2**-20",
)
FLOAT_SCORES_WITHOUT_GRID = RefusalText(
    "selection.grid",
    "{mechanism}(…) with scores as floats",
    "differences of floats are not exact: floats need a public grid",
    "grid=2**-20",
)
WORLD_WITHOUT_NEIGHBOURS = RefusalText(
    "selection.world",
    "{datasets} datasets",
    "no two different datasets are neighbours",
    "pass datasets that are neighbours",
)
LOSSES_NOT_CONVEX = RefusalText(
    "gibbs.losses",
    "a record's losses",
    "the loss of each record is convex, L-Lipschitz, and an exact number at every point",
    "choose([[abs(point - x) for point in m.points] for x in values])",
)

# Keys
KEY_COUNT_OUT_OF_RANGE = RefusalText(
    "keys.count",
    "{name}={value}",
    "{name} is a whole number from 1 to {most}",
    "{name}=1",
)
NOT_THE_NOISE_OF_COUNTS = RefusalText(
    "keys.noise",
    "noise={value}",
    "the noise of counts is Laplace or Gaussian, without a grid or a size: counts are integers",
    "noise=Laplace(sensitivity=1, epsilon=1)",
)
NOISE_BELOW_COUNTS = RefusalText(
    "keys.sensitivity",
    "noise={noise}(sensitivity={sensitivity}, …)",
    "a unit may add {amount} to {where}: the noise has to cover that",
    "sensitivity={amount}",
)
RAMP_NO_POWER_OF_TWO = RefusalText(
    "keys.ramp",
    "ramp={value}",
    "ramp is a power of two from 1 to 2^61",
    "ramp=16",
)
SIGMA_TOO_SMALL = RefusalText(
    "keys.sigma",
    "sigma={sigma}",
    "at this σ the counts alone lose more than δ",
    "sigma={least:.9g}",
)

# Randomized reports
NOT_A_REPORT_COUNT = RefusalText(
    "response.reports",
    "{name}={value}",
    "{name} is a whole number from 1 to 2^60",
    "{name}=1000",
)
NO_REPORTS = RefusalText(
    "response.reports",
    "estimate([])",
    "there is no report to estimate from",
    "estimate(m.perturb(values))",
)
TOO_FEW_REPORTS = RefusalText(
    "response.error",
    "error={error}",
    "with so few reports the error is larger even if all of them are true",
    "reports={enough}",
)
KEEP_SAYS_NOTHING = RefusalText(
    "response.keep",
    "keep={keep}",
    "every category would be reported equally often, and a report would say nothing",
    "keep=0.75",
)
UNKNOWN_INTERVAL = RefusalText(
    "response.interval",
    "method={method!r}",
    "the methods are {methods}",
    "method='exact'",
)

# Streams and sessions
STREAM_LENGTH_OUT_OF_RANGE = RefusalText(
    "stream.length",
    "length={length}",
    "length is a whole number from 1 to {most:,}",
    "length=365",
)
UNKNOWN_STRATEGY = RefusalText(
    "stream.strategy",
    "noise={noise!r}, query={query!r}",
    "noise is 'gaussian' or 'laplace', query is 'prefix' or 'range'",
    "noise='gaussian', query='prefix'",
)
STREAM_FULL = RefusalText(
    "stream.over",
    "add(…)",
    "the stream has all of its {length} values; another stream costs the promise again",
    "m.start()",
)
PERIODS_OUT_OF_RANGE = RefusalText(
    "stream.periods",
    "{name}={value}",
    "{name} is a whole number of periods from 1 to {most:,}",
    "{name}=7",
)
LENGTH_AND_WINDOW = RefusalText(
    "stream.shape",
    "length={length}, window={window}",
    "length is the last period of sums since the beginning; windows have no last period",
    "window={window}",
)
NO_NEW_PERIOD = RefusalText(
    "stream.no-period",
    "perturb(…, after={after})",
    "the sums end with period {last}, and all periods up to {after} are measured",
    "m.perturb(sums, after=0)",
)
STREAM_COPIED = RefusalText(
    "stream.copy",
    "copy or pickle of a stream",
    "a stream holds data, and two copies would answer twice; another costs the promise again",
    "m.start()",
)
SESSION_OVER = RefusalText(
    "threshold.over",
    "ask(…)",
    "the session has given all answers of yes that were paid for; another costs ε again",
    "m.start(threshold)",
)
SESSION_COPIED = RefusalText(
    "threshold.copy",
    "copy or pickle of a session",
    "two copies would answer twice for one price; another session costs ε again",
    "m.start(threshold)",
)
QUERY_COUNT_OUT_OF_RANGE = RefusalText(
    "threshold.count",
    "{name}={value}",
    "{name} is a whole number from 1 to 2^40",
    "{name}=1",
)

# Textbook error formulas
NOT_A_COUNT = RefusalText(
    "accuracy.count",
    "{name}={value}",
    "{name} is a whole number from 1 to 2^40",
    "{name}=10",
)
MORE_BEST_THAN_CANDIDATES = RefusalText(
    "accuracy.count",
    "best={best}",
    "of {candidates} candidates at most {candidates} are best",
    "best=1",
)

# Stored mechanisms
NOT_A_MECHANISM_RECORD = RefusalText(
    "mechanism.stored",
    "{stored!r:.60}",
    "this is not the record of a mechanism",
    "record(mechanism)",
)

# Noise of a schedule that is scaled

RESPONSE_WITHOUT_EPSILON = RefusalText(
    "calibrate.mechanism",
    "{mechanism}",
    "a response with a fixed chance of the truth has no noise to scale",
    "sf.mechanisms.RandomizedResponse(categories=['no', 'yes'], epsilon=1)",
)
NOISE_WITHOUT_SCALE = RefusalText(
    "calibrate.mechanism",
    "{mechanism}",
    "the noise of this mechanism has no single scale; calibrate scales {scalable}",
    "sf.mechanisms.Laplace(sensitivity=1, epsilon=1)",
)
LINEAR_QUERIES_WITHOUT_RELATION = RefusalText(
    "mechanism.relation",
    "LinearQueries(…)",
    "give a relation: one person moves one cell under add-remove, two under replace",
    "relation='add-remove'",
)
LINEAR_SENSITIVITY_NOT_WHOLE = RefusalText(
    "linear.sensitivity",
    "sensitivity={sensitivity}",
    "a person changes the counts of the cells by whole numbers: give the most that they sum to",
    "sensitivity=1",
)
QUERIES_NOT_A_MATRIX = RefusalText(
    "linear.queries",
    "matrix(…)",
    "a workload is a list of queries, each a list of numbers, all of the same length",
    "mech.matrix([[1, 1, 0], [0, 1, 1]])",
)
QUERIES_TOO_FINE = RefusalText(
    "linear.queries",
    "matrix(…)",
    "over their common denominator the queries have numbers of {most} and more",
    "mech.matrix([[1, '1/2', 0], [0, '1/2', 1]])",
)
AXIS_CELLS_OUT_OF_RANGE = RefusalText(
    "linear.cells",
    "{cells} cells",
    "an axis has a whole number of cells, from 1 to {most}",
    "mech.prefixes(100)",
)
WORKLOADS_OF_DIFFERENT_SHAPE = RefusalText(
    "linear.shape",
    "cells {first} and {second}",
    "workloads that are asked together are over the same cells",
    "mech.prefixes(100) + mech.identity(100)",
)
TOO_MANY_WORKLOADS = RefusalText(
    "linear.terms",
    "more than {terms} terms",
    "a workload has at most {terms} terms: write several as the rows of one matrix",
    "mech.matrix([[1, 1, 0], [0, 1, 1]])",
)
MORE_THAN_TWO_AXES = RefusalText(
    "linear.axes",
    "{axes} axes",
    "a workload is over the cells of one or two axes",
    "mech.rectangles(32, 32)",
)
COUNTS_OF_OTHER_SHAPE = RefusalText(
    "linear.counts",
    "counts of shape {given}",
    "give the whole-number counts of all cells, of shape {shape}",
    "np.zeros({shape}, dtype=int)",
)
NO_SUCH_TERM = RefusalText(
    "linear.term",
    "term={term}",
    "the workload has {terms} terms, counted from 0",
    "term=0",
)
TOO_MANY_ANSWERS = RefusalText(
    "linear.answers",
    "{queries} queries",
    "at most {most} answers are written out: ask for those that you need",
    "answer(slice(10, 20))",
)
QUERY_OF_OTHER_SHAPE = RefusalText(
    "linear.query",
    "{given}",
    "a query is a number for each cell, of shape {shape}, or a slice of cells for each axis",
    "slice(0, 1)",
)
QUERY_OUTSIDE_WORKLOAD = RefusalText(
    "linear.query",
    "a query of other cells",
    "the strategy measures what {workload} needs, and this query does not follow from it: add it "
    "to the workload",
    "mech.matrix([[1, 1, 0], [0, 1, 1]]) + mech.identity(3)",
)
RISING_OF_TWO_AXES = RefusalText(
    "linear.axes",
    "rising()",
    "cumulative counts are along one axis",
    "LinearQueries(mech.prefixes(100), epsilon=1, relation='add-remove')",
)
