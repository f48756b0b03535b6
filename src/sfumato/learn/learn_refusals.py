"""The refusals of models. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText, Refused


class NotFitted(Refused, AttributeError):
    """A question to a model before `fit`: `hasattr` says no, as scikit-learn expects."""


COST_MISSING = RefusalText(
    "learn.cost",
    "epsilon, delta, promise",
    "a model says what it costs: epsilon= with delta=, or one promise= (GDP, zCDP or Approx)",
    "epsilon=1, delta=1e-6",
)
DELTA_MISSING = RefusalText(
    "learn.cost",
    "{cost!s:.60}",
    "models are learned with Gaussian noise, which has no ε without a δ above 0",
    "epsilon=1, delta=1e-6",
)
NOT_A_PROTECTED_TABLE = RefusalText(
    "learn.table",
    "fit({kind:.40})",
    "fit takes a protected table of this process with target= and features=, or arrays X and y",
    "model.fit(visits, target='vip', features=['age', 'city'])",
)
TARGET_MISSING = RefusalText(
    "learn.target",
    "target={target!r:.60}",
    "the target is one column of the table, which has {columns:.200}",
    "target={example!r:.60}",
)
FEATURES_MISSING = RefusalText(
    "learn.features",
    "features={features!s:.80}",
    "features are columns of the table, each once, and not the target; it has {columns:.200}",
    "features=[{example!r:.60}]",
)
FEATURE_WITHOUT_BOUNDS = RefusalText(
    "learn.bounds",
    "feature {column!r:.60}, of type {type}",
    "a number needs public bounds, and a category public keys; neither is taken from the data",
    "{rewrite:.120}",
)
BOUNDS_MALFORMED = RefusalText(
    "learn.bounds",
    "bounds of {column!r:.60}: {bounds!s:.60}",
    "bounds are two numbers, the lower one first; edges of cells are three or more that grow",
    "bounds={{{column!r:.60}: (0, 100)}}",
)
NOT_FEATURES = RefusalText(
    "learn.bounds",
    "{argument:.20} of {column!r:.60}",
    "only columns of the model have bounds and keys here: {columns:.200}",
    "{argument:.20}={{{example!r:.60}: {value}}}",
)
NOT_A_NUMBER_COLUMN = RefusalText(
    "learn.features",
    "{column!r:.60}, of type {type}",
    "this model adds up numbers; categories fit an additive model, or are numbers of 0 and 1",
    "sf.learn.AdditiveRegressor(epsilon=1, delta=1e-6)",
)
CLASSES_MISSING = RefusalText(
    "learn.classes",
    "target {column!r:.60}",
    "the classes are public: declare the keys of the target, or list them; they are never taken "
    "from the data",
    "classes=[0, 1]",
)
CLASSES_NOT_TWO = RefusalText(
    "learn.classes",
    "{count} classes of {column!r:.60}",
    "this model tells two classes apart",
    "sf.learn.NaiveBayes(epsilon=1, delta=1e-6), which takes any number of classes",
)
TOO_MANY_CELLS = RefusalText(
    "learn.features",
    "{cells:,} cells",
    "the features have at most {most:,} cells together",
    "fewer features, fewer keys, or edges= of fewer cells",
)
OPTION_OUT_OF_RANGE = RefusalText(
    "learn.option",
    "{name:.30}={value!s:.40}",
    "{name:.30} is {range:.80}",
    "{name:.30}={example}",
)
NOT_FITTED = RefusalText(
    "learn.fitted",
    "{model:.40}",
    "this model was not fitted yet",
    "model.fit(visits, target='vip', features=['age', 'city'])",
    kind=NotFitted,
)
COLUMNS_MISSING = RefusalText(
    "learn.columns",
    "{place:.80}",
    "the model reads the columns {columns:.200}, by these names or, of an array without names, in "
    "this order",
    "a frame with these columns",
)
ARRAYS_DIFFER = RefusalText(
    "learn.arrays",
    "X and y",
    "X has one row and y one value for each person, and columns of numbers, texts or truth values",
    "model.fit(X, y)",
)
UNKNOWN_PARAMETER = RefusalText(
    "learn.parameter",
    "{name!r:.60}",
    "{model:.40} has the parameters {names:.200}",
    "model.set_params(epsilon=1)",
)
STORED_DAMAGED = RefusalText(
    "learn.stored",
    "the stored model",
    "the ledger's copy of this model cannot be read by this version",
    "model.fit(visits, target='vip', features=['age', 'city'], fresh=True)",
)
