"""The refusals of `functions`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

BERNSTEIN_BOUNDS_1 = RefusalText(
    "bernstein.bounds",
    "bounds={pair!r:.60}",
    "bounds are public: a lower and a higher end for each dimension",
    "bounds=(0, 1)",
)
BERNSTEIN_BOUNDS_2 = RefusalText(
    "bernstein.bounds",
    "{intervals_count} pairs of bounds",
    "dimensions={dimensions}",
    "a pair of bounds for each dimension",
)
BERNSTEIN_DEGREE_1 = RefusalText(
    "bernstein.degree",
    "degree={degree!r:.60}",
    "the degree is a whole number from 1 to {LARGEST_DEGREE}",
    "degree=25",
)
BERNSTEIN_FIT_1 = RefusalText(
    "bernstein.fit",
    "fit={type}",
    "a fit is called on data and returns a function of points",
    "Bernstein(KernelDensity(0.1))",
)
BERNSTEIN_FIT_2 = RefusalText(
    "bernstein.fit",
    "sensitivity=sample_sensitivity(…)",
    "the sensitivity is sampled for another fit than the released one",
    "the same fit in both",
)
BERNSTEIN_ITERATIONS_1 = RefusalText(
    "bernstein.iterations",
    "iterations={iterations!r:.60}",
    "the operator is iterated from 1 to 100 times",
    "iterations=2",
)
BERNSTEIN_LATTICE_1 = RefusalText(
    "bernstein.lattice",
    "a sensitivity sampled at {size} values",
    "this lattice has {size_2} points",
    "sensitivity=sf.sample_sensitivity(fit, oracle=oracle, n=500, gamma=0.2)",
)
BERNSTEIN_LATTICE_2 = RefusalText(
    "bernstein.lattice",
    "dimensions={dimensions!r:.60}",
    "dimensions is a whole number from 1 to 20",
    "dimensions=2",
)
BERNSTEIN_LATTICE_3 = RefusalText(
    "bernstein.lattice",
    "degree={degree} in {bounds_count} dimensions",
    "a lattice has at least one dimension and at most {LARGEST:,} points",
    "a smaller degree",
)
BERNSTEIN_SMOOTHNESS_1 = RefusalText(
    "bernstein.smoothness",
    "approximation(…)",
    "state the smoothness as hoelder= or as smooth=, not both",
    "approximation(smooth=(2, 10))",
)
BERNSTEIN_SMOOTHNESS_2 = RefusalText(
    "bernstein.smoothness",
    "exponent={exponent}",
    "Hölder exponents lie above 0 and up to 1",
    "exponent=1, for a Lipschitz function",
)
BERNSTEIN_SMOOTHNESS_3 = RefusalText(
    "bernstein.smoothness",
    "order={order!r:.40}",
    "the number of derivatives is a whole number from 1 on",
    "order=2",
)
CURVE_PARTS_1 = RefusalText(
    "curve.parts",
    "Curve(…)",
    "{reason}",
    "sf.Bernstein(fit).release(data, epsilon=1)",
)
CURVE_POINTS_1 = RefusalText(
    "curve.points",
    "points of {dtype}",
    "a curve is evaluated at numbers",
    "np.linspace(0, 1, 101)",
)
CURVE_POINTS_2 = RefusalText(
    "curve.points",
    "points of shape {shape}",
    "a point has {bounds_count} coordinates",
    "shape (n, {bounds_count})",
)
CURVE_POINTS_3 = RefusalText(
    "curve.points",
    "points",
    "the curve is defined on {box} only",
    "points of {box}",
)
CURVE_STORED_1 = RefusalText(
    "curve.stored",
    "{content!r:.60}",
    "this is not a stored curve",
    "the text of Curve.to_json()",
)
FIT_INPUTS_1 = RefusalText(
    "fit.inputs",
    "{place}",
    "{reason}",
    "{rewrite}",
)
FIT_INPUTS_2 = RefusalText(
    "fit.inputs",
    "a lattice in {dimensions} dimensions",
    "the fit has {box_count} dimensions",
    "bounds= and inputs= with as many pairs",
)
FIT_RECORDS_1 = RefusalText(
    "fit.records",
    "records={records!r:.60}",
    "the number of records is public: a whole number from 1 on",
    "records=500",
)
FIT_RECORDS_2 = RefusalText(
    "fit.records",
    "{name}(…)",
    "the sensitivity depends on the number of records, which must be public",
    "records=500",
)
FIT_RELATION_1 = RefusalText(
    "fit.relation",
    "{name} under {relation}",
    "it divides by the number of records, which under add-remove is not public",
    "relation='replace'",
)
FIT_VALUES_1 = RefusalText(
    "fit.values",
    "PriestleyChao(…)",
    "without public bounds on y a neighbour can move the curve by any amount",
    "values=(-1, 1), or a sampled sensitivity",
)
GUARANTEE_RELATION_1 = RefusalText(
    "guarantee.relation",
    "relation={relation!r}",
    "the sensitivity is about {stated}, the promise about another relation",
    "relation={stated!r}",
)
GUARANTEE_RELATION_2 = RefusalText(
    "guarantee.relation",
    "relation={relation!r}",
    "{name} is about replace: the number of values is public",
    "relation='replace'",
)
PRIVATIZE_BOUNDS_1 = RefusalText(
    "privatize.bounds",
    "bounds={bounds}",
    "bounds are two numbers, the lower first",
    "bounds=(0, 1)",
)
PRIVATIZE_FUNCTION_1 = RefusalText(
    "privatize.function",
    "privatize({f!r:.40}, …)",
    "the first argument must be a function of the data",
    "privatize(np.mean, data, sensitivity=0.01, epsilon=1)",
)
PRIVATIZE_FUNCTION_2 = RefusalText(
    "privatize.function",
    "privatize({f!r:.40}, …)",
    "{name} is for the {statistic}, which its mechanism computes itself",
    "privatize({statistic!r}, data, sensitivity=sensitivity, {promise})",
)
PRIVATIZE_PROMISE_1 = RefusalText(
    "privatize.promise",
    "{place}",
    "state epsilon, epsilon and delta, or promise",
    "epsilon=1, or promise=sf.Approx(1, 1e-6)",
)
PRIVATIZE_PROMISE_2 = RefusalText(
    "privatize.promise",
    "promise={promise!r:.60}",
    "noise is calibrated for Pure, Approx, ZCDP and GDP",
    "promise=sf.Pure(1)",
)
PRIVATIZE_PROMISE_3 = RefusalText(
    "privatize.promise",
    "promise={promise!r:.80}",
    "noise is calibrated for Pure, Approx, ZCDP and GDP",
    "promise=sf.Pure(1), or epsilon=1",
)
PRIVATIZE_PROMISE_4 = RefusalText(
    "privatize.promise",
    "promise={target!r:.60}",
    "the mechanism of {name} promises {name_2}",
    "{rewrite}",
)
PRIVATIZE_SHAPE_1 = RefusalText(
    "privatize.shape",
    "sensitivity={moves}",
    "it was sampled for {size} values, but there are {size_2}",
    "size={size}, or a fit that returns {size_2} values",
)
PRIVATIZE_SHAPE_2 = RefusalText(
    "privatize.shape",
    "size={size}, shape={shape}",
    "state size or shape, not both",
    "shape={shape}",
)
PRIVATIZE_SHAPE_3 = RefusalText(
    "privatize.shape",
    "labels={labels!r:.40}",
    "labels are distinct public names, and replace size and shape",
    "labels=['yes', 'no']",
)
PRIVATIZE_SHAPE_4 = RefusalText(
    "privatize.shape",
    "{place}",
    "a record must be a single value",
    "one column",
)
PRIVATIZE_SLACK_1 = RefusalText(
    "privatize.slack",
    "{place}",
    (
        "doubles round values this far from 0, or this many, by more than 1/32 of what one "
        "record moves"
    ),
    (
        "subtract the lower end of the range first; or state n= for a sum, or slack=, the "
        "rounding error of your function"
    ),
)
RELEASED_ERROR_1 = RefusalText(
    "released.error",
    "error of {name}",
    "its error depends on the data, so there is none to publish",
    "released.mechanism",
)
SENSITIVITY_NORM_1 = RefusalText(
    "sensitivity.norm",
    "norm={norm}",
    "the sensitivity is not known in this norm",
    "norm='best'",
)
SENSITIVITY_NORM_2 = RefusalText(
    "sensitivity.norm",
    "norm={norm!r:.40}",
    "moves are measured by their sum, the root of their squares, or the largest",
    "norm='best'",
)
SENSITIVITY_SAMPLED_1 = RefusalText(
    "sensitivity.sampled",
    "release(…, ledger=…)",
    "a sampled sensitivity promises RandomDP, for most pairs only: no ledger accepts it",
    "a global sensitivity, or a fit that has its own",
)
SENSITIVITY_SAMPLED_2 = RefusalText(
    "sensitivity.sampled",
    "ledger, {promise}",
    (
        "a sampled sensitivity promises something for most pairs of neighbours only, which is "
        "no differential privacy: no ledger accepts it"
    ),
    "a Global sensitivity; or no ledger, with γ published next to the value",
)
SENSITIVITY_SIZE_1 = RefusalText(
    "sensitivity.size",
    "data of {here}",
    "the sensitivity was sampled between datasets of {n:,} records",
    "{rewrite}",
)
