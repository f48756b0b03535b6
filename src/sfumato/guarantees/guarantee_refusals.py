"""The refusals of `guarantees`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

CHANNEL_COMPOSE_1 = RefusalText(
    "channel.compose",
    "compose",
    "the inputs of the second channel are not the outputs of the first",
    "Channel(rows, inputs=first.outputs)",
)
CHANNEL_COMPOSE_2 = RefusalText(
    "channel.compose",
    "product",
    "the two channels have different inputs",
    "Channel(rows, inputs=first.inputs)",
)
CHANNEL_IMPOSSIBLE_1 = RefusalText(
    "channel.impossible",
    "y={y!r}",
    "the answer cannot occur under this prior",
    "an answer of positive probability",
)
CHANNEL_LABELS_1 = RefusalText(
    "channel.labels",
    "{labels_count} {what} for {count}",
    "each of the {what} needs one name, different from the others",
    "{what}=range({count})",
)
CHANNEL_LABELS_2 = RefusalText(
    "channel.labels",
    "{what} {label!r}",
    "the channel has no such {what}",
    "one of {names}",
)
CHANNEL_LABELS_3 = RefusalText(
    "channel.labels",
    "no rows",
    "a channel has at least one input",
    "Channel([[0.75, 0.25], [0.25, 0.75]])",
)
CHANNEL_PAIRS_1 = RefusalText(
    "channel.pairs",
    "pairs",
    "there is no pair of different inputs, so the promise would be empty",
    "pairs=REPLACE.pairs(domain=(0, 1), size=2)",
)
CHANNEL_POINTWISE_1 = RefusalText(
    "channel.pointwise",
    "delta={delta}",
    (
        "a δ allowed at each answer adds up over the answers of an event: the check would prove "
        "nothing"
    ),
    "channel.delta(epsilon) <= delta",
)
CHANNEL_RESPONSE_1 = RefusalText(
    "channel.response",
    "randomized_response",
    "the channel follows from exactly one of epsilon and odds, and has two answers or more",
    "epsilon=1 or odds=3",
)
DIVERGENCE_CELLS_1 = RefusalText(
    "divergence.cells",
    "{partition_count} cells",
    "they do not hold every outcome exactly once",
    "cells=[[0], [1, 2]] for three outcomes",
)
DIVERGENCE_COVARIANCE_1 = RefusalText(
    "divergence.covariance",
    "{sigma_count} rows for {d_count} means",
    "a covariance has a row and a column for each mean",
    "covariance=[[1]]",
)
DIVERGENCE_COVARIANCE_2 = RefusalText(
    "divergence.covariance",
    "covariance",
    "it is not symmetric and positive definite",
    "covariance=[[2, 0.5], [0.5, 1]]",
)
DIVERGENCE_FUNCTION_1 = RefusalText(
    "divergence.function",
    "f returned {value!r}",
    "a rounded number cannot be rounded outward: f returns an exact number or a ball",
    "lambda t: (t - 1) ** 2, or with sfumato.exact.balls.ball(t)",
)
DIVERGENCE_FUNCTION_2 = RefusalText(
    "divergence.function",
    "f(1) = {at_one}",
    "equal laws have divergence 0, so f(1) must be 0",
    "lambda t: f(t) - f(1)",
)
DIVERGENCE_NAME_1 = RefusalText(
    "divergence.name",
    "f={f!r}",
    "the names known are {NAMED}",
    "f='tv', or a function",
)
DIVERGENCE_ORDER_1 = RefusalText(
    "divergence.order",
    "{name}={number}",
    "the inequality needs {name} above 1",
    "{name}=2",
)
DIVERGENCE_ORDER_2 = RefusalText(
    "divergence.order",
    "order=1",
    "the inequality needs an order above 1",
    "order=2",
)
DIVERGENCE_SLOPE_1 = RefusalText(
    "divergence.slope",
    "slope=None",
    "P has mass where Q has none, and how f grows decides what it counts",
    "slope=lim f(t)/t, or slope=math.inf",
)
GUARANTEE_COUNT_1 = RefusalText(
    "guarantee.count",
    "{count} * {self}",
    "a release happens zero or more times",
    "1 * {self}",
)
GUARANTEE_DELTA_1 = RefusalText(
    "guarantee.delta",
    "{place}",
    "only Approx takes a δ",
    ".to({name})",
)
GUARANTEE_DOES_NOT_FOLLOW_1 = RefusalText(
    "guarantee.does-not-follow",
    "{guarantee}.to({name})",
    "{name} does not follow from {type}",
    ".to(sf.Approx, delta=1e-6)",
)
GUARANTEE_DOES_NOT_FOLLOW_2 = RefusalText(
    "guarantee.does-not-follow",
    "{place}",
    "no ε follows at so small a δ",
    ".to(sf.Approx, delta=1e-6)",
)
GUARANTEE_DOES_NOT_FOLLOW_3 = RefusalText(
    "guarantee.does-not-follow",
    "outside({guarantee}, {n})",
    "with a probability of that size the loss may be infinite",
    "a probability above {delta:.3g}",
)
GUARANTEE_GROUP_1 = RefusalText(
    "guarantee.group",
    "group({size})",
    "a group has one or more members",
    "group(2)",
)
GUARANTEE_GROUP_2 = RefusalText(
    "guarantee.group",
    "copies={copies}",
    "a group has one or more members",
    "copies=10",
)
GUARANTEE_GROUP_3 = RefusalText(
    "guarantee.group",
    "{self}.group({size})",
    "the theorem needs δ = 0 and orders of twice the group's size",
    "larger orders, or another notion",
)
GUARANTEE_GROUP_4 = RefusalText(
    "guarantee.group",
    "{self}.group({size})",
    "no group theorem is known for zCDP outside an event",
    ".to(sf.Approx, delta=1e-6).group(2)",
)
GUARANTEE_NO_PROMISE_1 = RefusalText(
    "guarantee.no-promise",
    "{place}",
    "nothing is promised: the δ come to 1 or more",
    "smaller δ, or fewer releases",
)
GUARANTEE_ORDER_1 = RefusalText(
    "guarantee.order",
    "order={order}",
    "orders of Rényi divergence lie between 1 and 2^40, not within 2^-40 of 1",
    "order=2",
)
GUARANTEE_ORDER_2 = RefusalText(
    "guarantee.order",
    "Renyi({{…}})",
    "a curve has one or more orders, all above 1",
    "Renyi({{2: 0.1, 8: 0.5}})",
)
GUARANTEE_ORDER_3 = RefusalText(
    "guarantee.order",
    "{points_count} orders",
    "a curve has at most {MOST}",
    "fewer orders",
)
GUARANTEE_ORDER_4 = RefusalText(
    "guarantee.order",
    "{self} + {addend}",
    "the two curves have no order in common",
    "curves on the same orders",
)
GUARANTEE_RANDOM_1 = RefusalText(
    "guarantee.random",
    "{a} + {b}",
    "random DP does not add to differential privacy: it holds for most pairs only",
    "keep the two apart",
)
GUARANTEE_RANDOM_2 = RefusalText(
    "guarantee.random",
    "{self}.{call}",
    "random DP is not differential privacy: it holds for most pairs only",
    ".guarantee, with its γ beside it",
)
GUARANTEE_RANDOM_3 = RefusalText(
    "guarantee.random",
    "RandomDP(…)",
    "it wraps a guarantee such as Pure or Approx",
    "RandomDP(sf.Pure(1), gamma=0.05, over='uniform records')",
)
GUARANTEE_RANDOM_4 = RefusalText(
    "guarantee.random",
    "{self} + {addend}",
    "the two hold over different distributions",
    "state both over the same one",
)
GUARANTEE_RELATION_1 = RefusalText(
    "guarantee.relation",
    "relation={value!r}",
    "neighbours differ by adding or removing a unit, or by replacing one",
    "relation='add-remove'",
)
GUARANTEE_RELATION_2 = RefusalText(
    "guarantee.relation",
    "{place}",
    "the guarantee does not state its relation",
    "relation='add-remove'",
)
GUARANTEE_RELATION_3 = RefusalText(
    "guarantee.relation",
    "{place}",
    "replace says nothing about datasets of different size",
    "state the cost under add-remove",
)
GUARANTEE_RELATION_4 = RefusalText(
    "guarantee.relation",
    "{self}.subsample({q})",
    "Poisson sampling is about add-remove",
    "relation='add-remove'",
)
GUARANTEE_STORED_1 = RefusalText(
    "guarantee.stored",
    "{place}",
    "this is not a stored guarantee",
    "the text of Guarantee.to_json()",
)
GUARANTEE_STORED_2 = RefusalText(
    "guarantee.stored",
    "{place}",
    "version {get} is not known here",
    "version {VERSION}, or a newer sfumato",
)
GUARANTEE_STORED_3 = RefusalText(
    "guarantee.stored",
    "{place}",
    "the record is incomplete, or not one that this library writes",
    "the text of Guarantee.to_json()",
)
GUARANTEE_STORED_4 = RefusalText(
    "guarantee.stored",
    "{content!r:.60}",
    "this is not JSON",
    "the text of Guarantee.to_json()",
)
GUARANTEE_SUBSAMPLE_1 = RefusalText(
    "guarantee.subsample",
    "{self}.subsample({q})",
    "{type} is not amplified by sampling",
    "Pure, Approx or GDP, before converting",
)
GUARANTEE_UNIT_1 = RefusalText(
    "guarantee.unit",
    "unit={value!r}",
    "the unit is the name of what is protected",
    "unit='patient'",
)
GUARANTEE_UNITS_1 = RefusalText(
    "guarantee.units",
    "n={n}",
    "a δ is judged for a declared number of units, one or more",
    "n=10_000",
)
LAW_EMPTY_1 = RefusalText(
    "law.empty",
    "{name}",
    "a law needs at least one outcome",
    "{name}=[1]",
)
LAW_NEGATIVE_1 = RefusalText(
    "law.negative",
    "{name}: {negative}",
    "a probability is zero or more",
    "{name}=[0.5, 0.5]",
)
LAW_OUTCOMES_1 = RefusalText(
    "law.outcomes",
    "{name}",
    "the outcomes are not the same",
    "give every outcome its probability, 0 where it has none",
)
LAW_OUTCOMES_2 = RefusalText(
    "law.outcomes",
    "P and Q",
    "one law names its outcomes and the other does not",
    "two lists, or two mappings",
)
LAW_OUTCOMES_3 = RefusalText(
    "law.outcomes",
    "{name}: {numbers_count} for {outcomes_count}",
    "the outcomes are not the same",
    "one probability for each outcome, in one order",
)
LAW_SUM_1 = RefusalText(
    "law.sum",
    "{name}, of sum {total}",
    "the probabilities of a law sum to 1",
    "{rewrite}",
)
NUMBER_NEGATIVE_1 = RefusalText(
    "number.negative",
    "epsilon={epsilon}",
    "epsilon is zero or more",
    "epsilon=1",
)
NUMBER_RANGE_1 = RefusalText(
    "number.range",
    "a derived number",
    "the number is too large for a double",
    "less extreme parameters",
)
NUMBER_RANGE_2 = RefusalText(
    "number.range",
    "epsilon={exponent}",
    "so large an ε promises nothing",
    "epsilon=1",
)
NUMBER_RANGE_3 = RefusalText(
    "number.range",
    "epsilon={epsilon!s:.60}",
    "so large an ε promises nothing",
    "epsilon=1",
)
NUMBER_RANGE_4 = RefusalText(
    "number.range",
    "epsilon={epsilon}",
    "epsilon is too large for a double",
    "epsilon=1",
)
NUMBER_RANGE_5 = RefusalText(
    "number.range",
    "{self}.meaning(…)",
    "numbers this large mean nothing to anyone",
    "a promise one would make",
)
NUMBER_RANGE_6 = RefusalText(
    "number.range",
    "epsilon={text}",
    "the number of answers is too large to compute",
    "epsilon=0.01",
)
RELATION_COUNT_1 = RefusalText(
    "relation.count",
    "{wrong!r}: {counts!r}",
    "a record occurs zero or more times",
    "{wrong!r}: 1",
)
RELATION_DOMAIN_1 = RefusalText(
    "relation.domain",
    "{values_count} values",
    "a value is listed twice",
    "each value once",
)
RELATION_DOMAIN_2 = RefusalText(
    "relation.domain",
    "a record outside the domain",
    "neighbours are enumerated over all values a record can have",
    "list every possible value",
)
RELATION_LENGTH_1 = RefusalText(
    "relation.length",
    "{x_count} rows and {y_count} rows",
    "rows are compared one by one, and the two datasets have different lengths",
    "AddRemove().distance(x, y), which lets the size vary",
)
RELATION_LENGTH_2 = RefusalText(
    "relation.length",
    "two histograms",
    "their cells do not correspond",
    "two lists of equally many counts, or two mappings",
)
RELATION_VACUOUS_1 = RefusalText(
    "relation.vacuous",
    "{domain_count} values, size={size}",
    "there is no pair of different neighbours: {reason}",
    "{rewrite}",
)
