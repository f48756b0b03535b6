"""The refusals of `mechanisms`. Names in braces are fields."""

from __future__ import annotations

from ...errors import RefusalText

ACCURACY_COUNT_1 = RefusalText(
    "accuracy.count",
    "best={best}",
    "there are no more best candidates than candidates",
    "best=1",
)
ACCURACY_COUNT_2 = RefusalText(
    "accuracy.count",
    "{name}={value}",
    "this is a whole number from 1 on",
    "{name}=10",
)
CATEGORIES_NAMES_1 = RefusalText(
    "categories.names",
    "{categories_count} categories",
    "categories are at least {least}, each named once, and equal to itself (NaN is not)",
    "categories=['yes', 'no']",
)
CATEGORIES_NAMES_2 = RefusalText(
    "categories.names",
    "categories",
    "a category that cannot be hashed cannot be looked up",
    "categories=['yes', 'no']",
)
GIBBS_EPSILON_1 = RefusalText(
    "gibbs.epsilon",
    "epsilon={epsilon}",
    "the formula for β is proved for ε ≤ 1, and fails beyond",
    "epsilon=1",
)
GIBBS_LOSSES_1 = RefusalText(
    "gibbs.losses",
    "a record's losses",
    "{reason}",
    "{rewrite}",
)
GUARANTEE_RELATION_1 = RefusalText(
    "guarantee.relation",
    "{base}.subsample(…)",
    "{reason}",
    "relation={relation!r}",
)
HIERARCHY_AXIS_1 = RefusalText(
    "hierarchy.axis",
    "{axes_count} axes",
    "a hierarchy is over two or more cells of one column",
    "edges=range(0, 1025)",
)
HIERARCHY_BRANCHING_1 = RefusalText(
    "hierarchy.branching",
    "branching={branching}",
    "a block has from two children up to all cells",
    "branching=16",
)
HIERARCHY_RANGE_1 = RefusalText(
    "hierarchy.range",
    "range({start}, {stop})",
    "a range is of one or more of the {cells} cells",
    "range(0, 1)",
)
HIERARCHY_RANGE_2 = RefusalText(
    "hierarchy.range",
    "between({low}, {high})",
    "ranges end at edges",
    "between two of the edges",
)
HISTOGRAM_AXES_1 = RefusalText(
    "histogram.axes",
    "Histogram({named})",
    "give exactly one of edges, categories, axes",
    "edges=range(0, 101, 10)",
)
HISTOGRAM_AXES_2 = RefusalText(
    "histogram.axes",
    "axes",
    "an axis is Edges or Labels",
    "axes=[Edges(range(0, 101, 10)), Labels(['yes', 'no'])]",
)
HISTOGRAM_AXES_3 = RefusalText(
    "histogram.axes",
    "axes",
    "there are more than 2^24 cells, nearly all of them empty",
    "coarser bins, or fewer columns",
)
HISTOGRAM_AXES_4 = RefusalText(
    "histogram.axes",
    "edges",
    "the histogram has several axes, or categories",
    "histogram.axes",
)
HISTOGRAM_COLUMNS_1 = RefusalText(
    "histogram.columns",
    "{columns_count} columns",
    "the record has {axes_count} axes",
    "one column for each axis",
)
HISTOGRAM_COLUMNS_2 = RefusalText(
    "histogram.columns",
    "columns of different length",
    "every row has a value in each column",
    "columns of equal length",
)
HISTOGRAM_EDGES_1 = RefusalText(
    "histogram.edges",
    "{edges_count} edges",
    "edges are two or more finite numbers, each larger than the one before",
    "edges=range(0, 101, 10)",
)
HISTOGRAM_OUTSIDE_1 = RefusalText(
    "histogram.outside",
    "outside={outside!r}",
    "values outside the range are clipped or dropped",
    "outside='clip'",
)
HISTOGRAM_POWER_1 = RefusalText(
    "histogram.power",
    "power={powers}",
    "a whole power from 0 to 64 for each axis",
    "moment(2) or moment((1, 1))",
)
HISTOGRAM_POWER_2 = RefusalText(
    "histogram.power",
    "power={powers}",
    "categories have no powers",
    "power 0 for that axis",
)
HISTOGRAM_PROCESSED_1 = RefusalText(
    "histogram.processed",
    "moment",
    "processed counts are biased: their error is not known",
    "moment of the histogram as released",
)
HISTOGRAM_ROWS_1 = RefusalText(
    "histogram.rows",
    "rows={rows}",
    "a number of rows is a whole number from 0 on",
    "rows=1000",
)
HISTOGRAM_ROWS_2 = RefusalText(
    "histogram.rows",
    "rows={rows}",
    "a number of rows is a whole number from 1 on",
    "rows=1000",
)
KEYS_COUNT_1 = RefusalText(
    "keys.count",
    "{name}={value}",
    "this is a whole number from 1 to {most}",
    "{name}=1",
)
KEYS_SIGMA_1 = RefusalText(
    "keys.sigma",
    "sigma={sigma}",
    "at this σ the counts alone lose more than δ",
    "sigma={value:.9g}",
)
MEAN_RANGE_1 = RefusalText(
    "mean.range",
    "low={low}, high={high}",
    "the range is empty, so there is nothing to learn",
    "low=0, high=100",
)
MEAN_RANGE_2 = RefusalText(
    "mean.range",
    "grid={grid}",
    "the whole range is one step of the grid",
    "a finer grid",
)
MEAN_ROWS_1 = RefusalText(
    "mean.rows",
    "rows={rows}, relation={relation!r}",
    "the number of rows is public under replace, and secret under add-remove",
    "relation='replace', rows=1000 or relation='add-remove'",
)
MEAN_ROWS_2 = RefusalText(
    "mean.rows",
    "error()",
    "the number of rows is secret, and the error depends on it",
    "error(0.95, rows=1000)",
)
MEAN_ROWS_3 = RefusalText(
    "mean.rows",
    "variance",
    "the number of rows is secret, and the variance depends on it",
    "error(0.95, rows=1000)",
)
MECHANISM_BOUND_1 = RefusalText(
    "mechanism.bound",
    "{place}",
    "a bound on the local sensitivity has to be proposed",
    "bound=0.5",
)
MECHANISM_BOUND_2 = RefusalText(
    "mechanism.bound",
    "bound={bound}",
    "the bound is finer than the grid",
    "a larger bound, or a finer grid",
)
MECHANISM_CALIBRATION_1 = RefusalText(
    "mechanism.calibration",
    "Combined(…)",
    "epsilon and delta go together",
    "Combined(parts, epsilon=1, delta=1e-6)",
)
MECHANISM_CALIBRATION_2 = RefusalText(
    "mechanism.calibration",
    "Combined(…, epsilon=…)",
    "{reason}",
    "Combined(parts)",
)
MECHANISM_CALIBRATION_3 = RefusalText(
    "mechanism.calibration",
    "{point}",
    "{reason}",
    "noise that is calibrated to the sum of the parts",
)
MECHANISM_CALIBRATION_4 = RefusalText(
    "mechanism.calibration",
    "Gaussian(…)",
    "epsilon and delta go together",
    "Gaussian(sensitivity=1, epsilon=1, delta=1e-6)",
)
MECHANISM_CALIBRATION_5 = RefusalText(
    "mechanism.calibration",
    "Histogram(error=…, delta=…)",
    "the noise follows from the error alone",
    "leave delta out",
)
MECHANISM_CALIBRATION_6 = RefusalText(
    "mechanism.calibration",
    "PrefixSums(…)",
    "epsilon and delta go together",
    "{example}",
)
MECHANISM_CALIBRATION_7 = RefusalText(
    "mechanism.calibration",
    "RandomizedResponse(…)",
    "error and reports go together",
    "error=0.01, reports=1_000_000",
)
MECHANISM_CALIBRATION_8 = RefusalText(
    "mechanism.calibration",
    "{place}({chosen})",
    "give exactly one of {names}",
    "{example}",
)
MECHANISM_CALIBRATION_9 = RefusalText(
    "mechanism.calibration",
    "error={error}",
    "the grid is coarser than the tolerated error",
    "grid={tolerated}",
)
MECHANISM_CALIBRATION_10 = RefusalText(
    "mechanism.calibration",
    "epsilon={epsilon}",
    "the noise would depend on the data by less than can be computed",
    "a larger epsilon",
)
MECHANISM_CLASSICAL_1 = RefusalText(
    "mechanism.classical",
    "epsilon={epsilon}",
    "the classical formula is proved for ε < 1 only",
    "Gaussian(sensitivity=1, epsilon=1, delta=1e-6)",
)
MECHANISM_GRID_1 = RefusalText(
    "mechanism.grid",
    "sensitivity={value}",
    "integers move by whole numbers; floats need a public grid",
    "grid={sensitivity}",
)
MECHANISM_GRID_2 = RefusalText(
    "mechanism.grid",
    "{type}(…).perturb(float)",
    "floats need a public grid, fixed before the data are read",
    "grid={sensitivity}",
)
MECHANISM_PARTS_1 = RefusalText(
    "mechanism.parts",
    "Combined(…)",
    "the parts are one mechanism or more",
    "Combined([Laplace(sensitivity=1, epsilon=1)])",
)
MECHANISM_PARTS_2 = RefusalText(
    "mechanism.parts",
    "Combined(…)",
    "the parts have no notion in common in which all of them promise something",
    "mechanisms with a common notion",
)
MECHANISM_RELATION_1 = RefusalText(
    "mechanism.relation",
    "{place}",
    "{reason}",
    "relation='add-remove' or relation='replace'",
)
MECHANISM_SAMPLING_1 = RefusalText(
    "mechanism.sampling",
    "{self}.subsample(…)",
    "give q, or both size and of",
    "subsample(0.01), or subsample(size=100, of=10_000)",
)
MECHANISM_SAMPLING_2 = RefusalText(
    "mechanism.sampling",
    "size={size}, of={of}",
    "a sample has at least one and at most all of the units",
    "subsample(size=100, of=10_000)",
)
MECHANISM_SAMPLING_3 = RefusalText(
    "mechanism.sampling",
    "how={how!r}",
    "units are sampled independently, or a fixed number of them",
    "how='poisson' or how='fixed'",
)
MECHANISM_SAMPLING_4 = RefusalText(
    "mechanism.sampling",
    "{base}",
    "the mechanism is sampled already: sample once, at the product of the rates",
    "one subsample(q)",
)
MECHANISM_SAMPLING_5 = RefusalText(
    "mechanism.sampling",
    "{base}.subsample(…)",
    "{reason}",
    "subsample(size=100, of=10_000), under replace",
)
MECHANISM_SIZE_1 = RefusalText(
    "mechanism.size",
    "delta({epsilon})",
    "a neighbour may move several numbers; the exact curve is for one number",
    "size=1, or promise.delta(epsilon)",
)
MECHANISM_SIZE_2 = RefusalText(
    "mechanism.size",
    "{size} rows",
    "the record says {rows}, in public",
    "rows={size}",
)
MECHANISM_SIZE_3 = RefusalText(
    "mechanism.size",
    "perturb of {stream_count} values",
    "the record says {length}",
    "PrefixSums(length={stream_count}, epsilon=1, delta=1e-6)",
)
MECHANISM_SIZE_4 = RefusalText(
    "mechanism.size",
    "size={value}",
    "the number of coordinates is a whole number from 1 on",
    "size=10",
)
MECHANISM_SIZE_5 = RefusalText(
    "mechanism.size",
    "perturb of {size} values",
    "the record says {expected}: {reason}",
    "size={size}",
)
MECHANISM_SIZE_6 = RefusalText(
    "mechanism.size",
    "perturb of {size} values",
    (
        "in several numbers a neighbour may cross a step of the staircase in each: ε would be "
        "lost per number"
    ),
    "Laplace(sensitivity=1, epsilon=1)",
)
MECHANISM_STORED_1 = RefusalText(
    "mechanism.stored",
    "{stored!r:.60}",
    "this is not the record of a mechanism",
    "the record that a release stored",
)
QUANTILE_GROUPS_1 = RefusalText(
    "quantile.groups",
    "count={count!s:.60}",
    "the number of groups is a whole number from 1 on, and 1 for a record of one group",
    "perturb_each(groups, points, weights, count=10), for a record with groups=True",
)
QUANTILE_Q_1 = RefusalText(
    "quantile.q",
    "q={q}",
    "the scores of so long a fraction would not fit 64-bit integers",
    "q=0.5 or q='1/3'",
)
QUANTILE_Q_2 = RefusalText(
    "quantile.q",
    "q={q}",
    "the distances of so long a fraction would not fit 64-bit integers",
    "q=0.5 or q='1/3'",
)
QUANTILE_RELATION_1 = RefusalText(
    "quantile.relation",
    "relation=None",
    "the score moves differently when a value is added or replaced",
    "relation='add-remove'",
)
QUANTILE_RELATION_2 = RefusalText(
    "quantile.relation",
    "relation=None",
    "the distance moves differently when a unit is added or replaced",
    "relation='add-remove'",
)
QUANTILE_WEIGHT_1 = RefusalText(
    "quantile.weight",
    "{name}={value!s:.60}",
    "weights are whole numbers, here from {least} to 2^61",
    "{name}={least_2}",
)
RANGE_ENDS_1 = RefusalText(
    "range.ends",
    "low={low}, high={high}",
    "the public range is empty",
    "low=0, high=1",
)
RANGE_ENDS_2 = RefusalText(
    "range.ends",
    "{place}",
    "an order statistic needs public ends",
    "low=0, high=1",
)
RANGE_GRID_1 = RefusalText(
    "range.grid",
    "low={low}, high={high}, grid={grid}",
    "no points, or too many, of the grid lie in the range",
    "a grid that fits the range",
)
RESPONSE_ERROR_1 = RefusalText(
    "response.error",
    "error={error}",
    "with so few reports the error is larger even if all are true",
    "more reports, or a larger error",
)
RESPONSE_INTERVAL_1 = RefusalText(
    "response.interval",
    "method={method!r}",
    "there is no such interval",
    "one of {METHODS}",
)
RESPONSE_KEEP_1 = RefusalText(
    "response.keep",
    "keep={keep}",
    "every report would be as likely as every other, and say nothing",
    "keep=0.75",
)
RESPONSE_RELATION_1 = RefusalText(
    "response.relation",
    "relation='add-remove'",
    "the collector sees the number of reports, so a row can only be replaced",
    "relation='replace'",
)
RESPONSE_REPORTS_1 = RefusalText(
    "response.reports",
    "{name}={value}",
    "this is a whole number from 1 on",
    "{name}=1000",
)
RESPONSE_REPORTS_2 = RefusalText(
    "response.reports",
    "estimate([])",
    "there is no report to estimate from",
    "estimate(m.perturb(values))",
)
SELECTION_CANDIDATES_1 = RefusalText(
    "selection.candidates",
    "{candidates_count} candidates",
    "candidates are one or more, each named once",
    "candidates=['a', 'b']",
)
SELECTION_COUNT_1 = RefusalText(
    "selection.count",
    "count={value}",
    "the number of candidates is a whole number from 1 on",
    "count=10",
)
SELECTION_GRID_1 = RefusalText(
    "selection.grid",
    "scores that are not whole numbers",
    "the noise lives on the integers",
    "grid=2**-20",
)
SELECTION_GRID_2 = RefusalText(
    "selection.grid",
    "{type}(…) with scores as floats",
    "differences of floats are not exact: floats need a public grid",
    "grid=2**-20, or scores as Fractions",
)
SELECTION_K_1 = RefusalText(
    "selection.k",
    "k={k}",
    "k is a whole number from 1 on",
    "k=1",
)
SELECTION_K_2 = RefusalText(
    "selection.k",
    "k={k}",
    "k is a whole number from 1 to the number of candidates",
    "k=3",
)
SELECTION_PRIOR_1 = RefusalText(
    "selection.prior",
    "{scores_count} scores",
    "the prior has {prior_count} weights",
    "one score for each weight",
)
SELECTION_PRIOR_2 = RefusalText(
    "selection.prior",
    "{prior_count} weights",
    "the record names {candidates_count} candidates",
    "one weight for each candidate",
)
SELECTION_SCORES_1 = RefusalText(
    "selection.scores",
    "scores={type}",
    "one score for each candidate is needed, in their order",
    "choose([3, 1, 0])",
)
SELECTION_SCORES_2 = RefusalText(
    "selection.scores",
    "scores that are not numbers",
    "one score for each candidate is needed",
    "choose([3, 1, 0])",
)
SELECTION_SCORES_3 = RefusalText(
    "selection.scores",
    "scores of shape {shape}",
    "one score for each candidate is needed",
    "choose([3, 1, 0])",
)
SELECTION_SCORES_4 = RefusalText(
    "selection.scores",
    "{values_count} scores",
    "the record names {candidates_count} candidates",
    "one score for each candidate",
)
SELECTION_SCORES_5 = RefusalText(
    "selection.scores",
    "scores of type {dtype}",
    "scores are finite exact numbers",
    "ints, Fractions, or floats with grid=",
)
SELECTION_SCORES_6 = RefusalText(
    "selection.scores",
    "{left_count} scores",
    "k={k} needs as many candidates, with one score each",
    "one score for each candidate",
)
SELECTION_WORLD_1 = RefusalText(
    "selection.world",
    "{world_count} datasets",
    "no two different datasets of this world are neighbours",
    "a larger world",
)
STATISTIC_CATEGORIES_1 = RefusalText(
    "statistic.categories",
    "{place}",
    "the categories are public and each is named once",
    "categories=['a', 'b']",
)
STATISTIC_UNKNOWN_1 = RefusalText(
    "statistic.unknown",
    "{statistic!r:.60}",
    "this statistic's distance to a change has no closed form here",
    "one of {names}",
)
STREAM_COPY_1 = RefusalText(
    "stream.copy",
    "copy or pickle of a stream",
    "it holds data, and two copies would answer twice",
    "one stream, passed around",
)
STREAM_LENGTH_1 = RefusalText(
    "stream.length",
    "length={value}",
    "a stream has from 1 to {LONGEST} values",
    "length=365",
)
STREAM_LENGTH_2 = RefusalText(
    "stream.length",
    "length={length}",
    "there are from 1 to 2^20 values",
    "length=365",
)
STREAM_OVER_1 = RefusalText(
    "stream.over",
    "add(…)",
    "the stream already has its {length} values",
    "a longer length, or a new stream at its price",
)
STREAM_STRATEGY_1 = RefusalText(
    "stream.strategy",
    "noise={noise!r}, query={query!r}",
    "noise is gaussian or laplace, a query a prefix or a range",
    'query="prefix"',
)
THRESHOLD_COPY_1 = RefusalText(
    "threshold.copy",
    "copy or pickle of a session",
    "two copies would answer twice for one price",
    "one session, passed around",
)
THRESHOLD_COUNT_1 = RefusalText(
    "threshold.count",
    "{name}={value}",
    "this is a whole number from 1 on",
    "{name}=1",
)
THRESHOLD_OVER_1 = RefusalText(
    "threshold.over",
    "ask(…)",
    "the session has given all answers of yes that were paid for",
    "m.start(threshold), at its price",
)
VALUE_CATEGORY_1 = RefusalText(
    "value.category",
    "a value",
    "a value is none of the public categories; the message does not name it",
    "name a category for all others, and replace them by it beforehand",
)
VALUE_NOT_FINITE_1 = RefusalText(
    "value.not-finite",
    "perturb(NaN or infinity)",
    "this is not a number on the grid",
    "replace it by a fixed value and clip first",
)
VALUE_NOT_FINITE_2 = RefusalText(
    "value.not-finite",
    "an array with NaN or infinity",
    "these are not numbers on the grid",
    "replace them by a fixed value and clip first",
)
VALUE_TYPE_1 = RefusalText(
    "value.type",
    "{name} of type {type}",
    "thresholds and values are integers",
    "int(value)",
)
VALUE_TYPE_2 = RefusalText(
    "value.type",
    "a count of type {type}",
    "votes are counted in integers",
    "int(count)",
)
VALUE_TYPE_3 = RefusalText(
    "value.type",
    "counts of type {dtype}",
    "votes are counted in 64-bit integers",
    "an array of int64",
)
VALUE_TYPE_4 = RefusalText(
    "value.type",
    "perturb({type})",
    "a stream is a row of integers",
    "an array of int64",
)
VALUE_TYPE_5 = RefusalText(
    "value.type",
    "add({type})",
    "a stream is a row of integers",
    "int(value)",
)
VALUE_TYPE_6 = RefusalText(
    "value.type",
    "perturb({name})",
    "noise is added to integers and floats",
    "perturb(int(value)), or an array without a mask",
)
VALUE_TYPE_7 = RefusalText(
    "value.type",
    "perturb({dtype})",
    "noise is added to integers and floats",
    "perturb(int(value))",
)
VALUE_TYPE_8 = RefusalText(
    "value.type",
    "perturb(data)",
    "a column of numbers is needed",
    "a list or an array of numbers, in one dimension",
)
VALUE_TYPE_9 = RefusalText(
    "value.type",
    "an array of {dtype}",
    "noise is added to integers and floats",
    "an array of int64 or float64",
)
VALUE_TYPE_10 = RefusalText(
    "value.type",
    "perturb(list)",
    "noise is added to integers and floats",
    "a list of numbers, or an array of int64 or float64",
)
VALUE_TYPE_11 = RefusalText(
    "value.type",
    "rows of different length",
    "each point has a group and a weight",
    "columns of the same length",
)
VALUE_TYPE_12 = RefusalText(
    "value.type",
    "a column of {dtype}",
    "points and weights are whole numbers, in one dimension",
    "an array of int64",
)
