"""The refusals of `functions`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# The function to release

NOT_A_FUNCTION = RefusalText(
    "privatize.function",
    "privatize({f!r:.40}, …)",
    "the first argument must be a function of the data",
    "sf.privatize(np.mean, data, sensitivity=0.01, epsilon=1)",
)
NOT_THE_STATISTIC = RefusalText(
    "privatize.function",
    "privatize({f!r:.40}, …)",
    "{sensitivity} is for the {statistic}, which its mechanism computes itself",
    "sf.privatize({statistic!r}, data, sensitivity=sensitivity, promise={example})",
)
FIT_IS_NO_FUNCTION = RefusalText(
    "bernstein.fit",
    "fit={kind}",
    "a fit is called on data and returns a function of points",
    "sf.Bernstein(sf.fits.KernelDensity(0.1, records=500))",
)

# The promise

PROMISE_NOT_STATED_ONCE = RefusalText(
    "privatize.promise",
    "{call}",
    "state epsilon, epsilon and delta, or promise",
    "epsilon=1",
)
NOTION_WITHOUT_NOISE = RefusalText(
    "privatize.promise",
    "promise={promise!r:.60}",
    "noise is calibrated for {notions}",
    "promise=sf.Pure(1)",
)
NOT_THE_NOTION_OF_MECHANISM = RefusalText(
    "privatize.promise",
    "promise={promise!r:.60}",
    "the mechanism of {sensitivity} promises {notion}",
    "promise={example}",
)
DIFFERENT_RELATIONS = RefusalText(
    "guarantee.relation",
    "relation={relation!r}",
    "the sensitivity, the promise and relation= are about different relations, {relations}",
    "relation={stated!r}",
)
MECHANISM_NEEDS_REPLACE = RefusalText(
    "guarantee.relation",
    "relation={relation!r}",
    "{sensitivity} is about replace: the number of values is public",
    "relation='replace'",
)

# The sensitivity

SENSITIVITY_MISSING = RefusalText(
    "sensitivity.missing",
    "sensitivity={sensitivity}",
    "noise is scaled to how far the function can move between neighbours: state it",
    "sensitivity=1",
)
SENSITIVITY_IS_LOCAL = RefusalText(
    "sensitivity.local",
    "sensitivity={sensitivity}",
    (
        "a local sensitivity is about one dataset, and noise scaled to it gives that dataset "
        "away: where it is 0 the exact answer comes out"
    ),
    "sf.smooth_sensitivity('median', data, low=0, high=1, epsilon=1, delta=1e-6)",
)
SENSITIVITY_PER_DISTANCE = RefusalText(
    "sensitivity.metric",
    "sensitivity={sensitivity}",
    "a Lipschitz constant is per unit of distance: state the distance of neighbours",
    "sensitivity=lipschitz.within(1)",
)
SENSITIVITY_OF_A_FIT = RefusalText(
    "sensitivity.function",
    "sensitivity={sensitivity}",
    "the fit returns functions, which are released by their values on a lattice",
    "sf.Bernstein(fit, degree=25, sensitivity=sensitivity)",
)
SMOOTH_HAS_ITS_MECHANISM = RefusalText(
    "sensitivity.mechanism",
    "sensitivity={sensitivity}",
    "a Smooth sensitivity has its own mechanism, for the statistic that it names",
    "sf.privatize('median', data, sensitivity=sensitivity, epsilon=1, delta=1e-6)",
)
INVERSE_HAS_ITS_MECHANISM = RefusalText(
    "sensitivity.mechanism",
    "sensitivity={sensitivity}",
    "an Inverse sensitivity has its own mechanism, for the statistic that it names",
    "sf.privatize('median', data, sensitivity=sensitivity, epsilon=1)",
)
UNKNOWN_NORM = RefusalText(
    "sensitivity.norm",
    "norm={norm!r:.40}",
    "moves are measured by their sum, the root of their squares, or the largest",
    "norm='best'",
)
NORM_WITHOUT_BOUND = RefusalText(
    "sensitivity.norm",
    "norm={norm}",
    "the sensitivity is not known in this norm",
    "norm='best'",
)
SAMPLED_SENSITIVITY_CHARGED = RefusalText(
    "sensitivity.sampled",
    "{call}",
    (
        "a sampled sensitivity promises RandomDP, for most pairs of neighbours only: no ledger "
        "accepts it. Publish γ next to the value"
    ),
    "ledger=None",
)
SAMPLED_FOR_ANOTHER_FIT = RefusalText(
    "bernstein.fit",
    "sensitivity=sample_sensitivity(…)",
    "the sensitivity is sampled for another fit than the released one",
    "sf.Bernstein(sensitivity.fit, sensitivity=sensitivity)",
)
SAMPLED_AT_ANOTHER_SIZE = RefusalText(
    "privatize.shape",
    "sensitivity={sensitivity}",
    "it was sampled for {sampled} values, but there are {values}",
    "size={sampled}",
)
SAMPLED_ON_ANOTHER_LATTICE = RefusalText(
    "bernstein.lattice",
    "a sensitivity sampled at {sampled} values",
    "this lattice has {points} points",
    "sensitivity=sf.sample_sensitivity(fit, oracle=oracle, n=500, gamma=0.2)",
)
SAMPLED_BETWEEN_OTHER_SIZES = RefusalText(
    "sensitivity.size",
    "data of {records:,} records",
    "the sensitivity was sampled between datasets of {sampled:,} records",
    "sensitivity=sf.sample_sensitivity(fit, oracle=oracle, n={records}, gamma=0.2)",
)
DATA_WITHOUT_LENGTH = RefusalText(
    "sensitivity.size",
    "data of no known number of records",
    "the sensitivity was sampled between datasets of {sampled:,} records",
    "list(data)",
)
ROUNDING_TOO_LARGE = RefusalText(
    "privatize.slack",
    "rounding of {rounding:.3g} against a sensitivity of {sensitivity:.3g}",
    (
        "doubles round values this far from 0, or this many, by more than 1/32 of what one "
        "record moves: subtract the lower end of the range first, state n= for a sum, or accept "
        "more noise by slack="
    ),
    "slack={slack}",
)

# The values and their form

SIZE_AND_SHAPE = RefusalText(
    "privatize.shape",
    "size={size}, shape={shape}",
    "state size or shape, not both",
    "shape={shape}",
)
LABELS_NOT_DISTINCT = RefusalText(
    "privatize.shape",
    "labels={labels!r:.40}",
    "labels are distinct public names, and replace size and shape",
    "labels=['yes', 'no']",
)
RECORDS_OF_SEVERAL_VALUES = RefusalText(
    "privatize.shape",
    "{data}",
    "a record must be a single value",
    "np.asarray(data)[:, 0]",
)
VALUE_BOUNDS_NOT_ASCENDING = RefusalText(
    "privatize.bounds",
    "bounds={bounds}",
    "bounds are two numbers, the lower first",
    "bounds=(0, 1)",
)
ERROR_DEPENDS_ON_DATA = RefusalText(
    "released.error",
    "error of {mechanism}",
    "its error depends on the data, so there is none to publish",
    "released.mechanism",
)

# The lattice and the polynomial

DEGREE_OUT_OF_RANGE = RefusalText(
    "bernstein.degree",
    "degree={degree!r:.60}",
    "the degree is a whole number from 1 to {most}",
    "degree=25",
)
ITERATIONS_OUT_OF_RANGE = RefusalText(
    "bernstein.iterations",
    "iterations={iterations!r:.60}",
    "the operator is iterated from 1 to 100 times",
    "iterations=2",
)
DIMENSIONS_OUT_OF_RANGE = RefusalText(
    "bernstein.lattice",
    "dimensions={dimensions!r:.60}",
    "dimensions is a whole number from 1 to 20",
    "dimensions=2",
)
BOUNDS_NOT_ASCENDING = RefusalText(
    "bernstein.bounds",
    "bounds={bounds!r:.60}",
    "bounds are public: a lower and a higher end for each dimension",
    "bounds=(0, 1)",
)
BOUNDS_NOT_ONE_EACH = RefusalText(
    "bernstein.bounds",
    "{pairs} pairs of bounds for {dimensions} dimensions",
    "each dimension needs a pair of bounds",
    "bounds=[(0, 1)] * {dimensions}",
)
LATTICE_WITHOUT_DIMENSION = RefusalText(
    "bernstein.lattice",
    "degree={degree} in 0 dimensions",
    "a lattice has at least one dimension",
    "bounds=[(0, 1)]",
)
LATTICE_TOO_LARGE = RefusalText(
    "bernstein.lattice",
    "degree={degree} in {dimensions} dimensions",
    "a lattice has at most {most:,} points",
    "degree={fitting}",
)
SMOOTHNESS_NOT_STATED_ONCE = RefusalText(
    "bernstein.smoothness",
    "approximation(…)",
    "state the smoothness as hoelder= or as smooth=, not both",
    "approximation(smooth=(2, 10))",
)
EXPONENT_OUT_OF_RANGE = RefusalText(
    "bernstein.smoothness",
    "exponent={exponent}",
    "a Hölder exponent lies above 0 and is at most 1, for a Lipschitz function",
    "exponent=1",
)
DERIVATIVES_BELOW_ONE = RefusalText(
    "bernstein.smoothness",
    "order={order!r:.40}",
    "the number of derivatives is a whole number from 1 on",
    "order=2",
)

# Released curves

CURVE_PARTS_DISAGREE = RefusalText(
    "curve.parts",
    "Curve(…)",
    (
        "a curve needs a lattice, a finite number for each of its points, a number of "
        "iterations, its noise and its promise"
    ),
    "sf.Bernstein(fit).release(data, epsilon=1)",
)
POINTS_ARE_NO_NUMBERS = RefusalText(
    "curve.points",
    "points of {dtype}",
    "a curve is evaluated at numbers",
    "np.linspace(0, 1, 101)",
)
POINTS_OF_ANOTHER_DIMENSION = RefusalText(
    "curve.points",
    "points of shape {shape}",
    "a point has {dimensions} coordinates",
    "np.reshape(points, (-1, {dimensions}))",
)
POINTS_OUTSIDE_BOX = RefusalText(
    "curve.points",
    "points",
    "the curve is defined on {box} only",
    "np.clip(points, {low}, {high})",
)
NOT_A_STORED_CURVE = RefusalText(
    "curve.stored",
    "{content!r:.60}",
    "this is not a stored curve",
    "sf.Curve.from_json(curve.to_json())",
)

# Fits

RECORDS_ARE_NO_NUMBERS = RefusalText(
    "fit.inputs",
    "{data}",
    "records are numbers",
    "np.reshape(data, -1)",
)
RECORDS_ARE_NO_ROWS = RefusalText(
    "fit.inputs",
    "{data}",
    "records are rows of {columns} numbers",
    "np.reshape(data, (-1, {columns}))",
)
FIT_OF_ANOTHER_DIMENSION = RefusalText(
    "fit.inputs",
    "a lattice in {lattice} dimensions",
    "the fit has {fit} dimensions",
    "dimensions={fit}",
)
RECORD_COUNT_OUT_OF_RANGE = RefusalText(
    "fit.records",
    "records={records!r:.60}",
    "the number of records is public: a whole number from 1 to 2^30",
    "records=500",
)
RECORD_COUNT_MISSING = RefusalText(
    "fit.records",
    "{fit}(…)",
    "the sensitivity depends on the number of records, which must be public",
    "records=500",
)
FIT_NEEDS_REPLACE = RefusalText(
    "fit.relation",
    "{fit} under {relation}",
    "it divides by the number of records, which under add-remove is not public",
    "relation='replace'",
)
VALUES_WITHOUT_BOUNDS = RefusalText(
    "fit.values",
    "PriestleyChao(…)",
    "without public bounds on y a neighbour can move the curve by any amount",
    "values=(-1, 1)",
)
UNKNOWN_DENOISING = RefusalText(
    "denoise.method",
    "method={method!r}",
    "a release is denoised by one of {methods}",
    "method='james-stein'",
)
TOO_FEW_TO_DENOISE = RefusalText(
    "denoise.size",
    "{size} numbers, a guess of shape {guess}",
    "denoising gains from three numbers on; the guess is a number, or one for each of them",
    "denoise([3.0, 4.0, 0.0], sigma=1, towards=0)",
)
