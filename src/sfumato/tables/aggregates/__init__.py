"""Every aggregate: one module for each family, with the functions that users call and one record
for each kind. `KINDS` is the only list of kinds; planning, finishing, SQL, the client, the server
and its page read it.
"""

from .averages import MEAN, WEIGHTED_MEAN, mean
from .column_kind import AggregateKind
from .correlations import CORRELATION, corr
from .counts import COUNT, COUNT_DISTINCT, COUNT_UNITS, count, count_distinct, count_if, count_units
from .covariances import COVARIANCE, SAMPLE_COVARIANCE, covar
from .cumulative_counts import CUMULATIVE, cumulative
from .histogram_bins import HISTOGRAM, histogram
from .quantile_points import (
    PERCENTILE,
    QUANTILE,
    max,  # noqa: A004  # read as sf.max
    median,
    min,  # noqa: A004  # read as sf.min
    quantile,
    quantiles,
)
from .regressions import (
    REGRESSION_COUNT,
    REGRESSION_INTERCEPT,
    REGRESSION_MEAN_X,
    REGRESSION_MEAN_Y,
    REGRESSION_R2,
    REGRESSION_SLOPE,
    regr_avgx,
    regr_avgy,
    regr_count,
    regr_intercept,
    regr_r2,
    regr_slope,
)
from .spreads import SAMPLE_STD, SAMPLE_VARIANCE, STD, VARIANCE, std, var
from .sums import RATIO, SUM, ratio, sum  # noqa: A004  # read as sf.sum

KINDS: dict[str, AggregateKind] = {
    kind.name: kind
    for kind in (
        COUNT,
        COUNT_UNITS,
        COUNT_DISTINCT,
        SUM,
        MEAN,
        WEIGHTED_MEAN,
        RATIO,
        VARIANCE,
        STD,
        SAMPLE_VARIANCE,
        SAMPLE_STD,
        COVARIANCE,
        SAMPLE_COVARIANCE,
        CORRELATION,
        REGRESSION_SLOPE,
        REGRESSION_INTERCEPT,
        REGRESSION_R2,
        REGRESSION_COUNT,
        REGRESSION_MEAN_X,
        REGRESSION_MEAN_Y,
        QUANTILE,
        PERCENTILE,
        HISTOGRAM,
        CUMULATIVE,
    )
}
"""Every kind of aggregate, by its name."""

__all__ = [
    "corr",
    "count",
    "count_distinct",
    "count_if",
    "count_units",
    "covar",
    "cumulative",
    "histogram",
    "max",
    "mean",
    "median",
    "min",
    "quantile",
    "quantiles",
    "ratio",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "std",
    "sum",
    "var",
]
