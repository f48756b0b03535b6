"""The refusals of `guarantees`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# Numbers

EPSILON_NEGATIVE = RefusalText(
    "number.negative",
    "epsilon={epsilon}",
    "epsilon is zero or more",
    "epsilon=1",
    shell="--epsilon 1",
)
EPSILON_TOO_LARGE = RefusalText(
    "number.range",
    "epsilon={epsilon}",
    "epsilon is too large for a double",
    "epsilon=1",
    shell="--epsilon 1",
)
EPSILON_PROMISES_NOTHING = RefusalText(
    "number.range",
    "epsilon={epsilon!s:.60}",
    "an ε this large promises nothing",
    "epsilon=1",
    shell="--epsilon 1",
)
EPSILON_TOO_SMALL_TO_AVERAGE = RefusalText(
    "number.range",
    "epsilon={epsilon}",
    "below ε = 0.000001 the number of answers is too large to compute",
    "epsilon=0.01",
)
CONVERTED_NUMBER_TOO_LARGE = RefusalText(
    "number.range",
    "a converted guarantee",
    "its parameter is too large for a double",
    "convert a guarantee with smaller parameters",
)
MEANING_TOO_LARGE = RefusalText(
    "number.range",
    "{guarantee}.meaning(…)",
    "this promise is so weak that the odds of an attacker are too large to compute",
    "sf.Pure(1).meaning()",
)

# What a guarantee is about: relation, unit, number of units

UNKNOWN_RELATION = RefusalText(
    "guarantee.relation",
    "relation={relation!r}",
    "neighbours differ by adding or removing a unit, or by replacing one",
    "relation='add-remove'",
    shell="--relation add-remove",
)
RELATION_NOT_STATED = RefusalText(
    "guarantee.relation",
    "{guarantee}.under({relation!r})",
    "the guarantee does not state its own relation",
    "relation='add-remove'",
)
REPLACE_UNDER_ADD_REMOVE = RefusalText(
    "guarantee.relation",
    "{guarantee}.under({relation!r})",
    "a promise under replace says nothing about datasets of different size",
    "relation='add-remove'",
)
SUBSAMPLE_UNDER_REPLACE = RefusalText(
    "guarantee.relation",
    "{guarantee}.subsample({rate})",
    "Poisson sampling amplifies promises under add-remove only",
    "relation='add-remove'",
)
DIFFERENT_RELATIONS = RefusalText(
    "guarantee.relation",
    "{a} and {b}",
    (
        "one is about relation {first!r}, the other about {second!r}: another label alone would "
        "promise too much"
    ),
    "calibrate both for the same relation",
)
UNIT_IS_NO_NAME = RefusalText(
    "guarantee.unit",
    "unit={unit!r}",
    "the unit is the name of what is protected",
    "unit='patient'",
)
DIFFERENT_UNITS = RefusalText(
    "guarantee.unit",
    "{a} and {b}",
    (
        "one is about unit {first!r}, the other about {second!r}: another label alone would "
        "promise too much"
    ),
    "calibrate both for the same unit",
)
UNITS_BELOW_ONE = RefusalText(
    "guarantee.units",
    "n={n}",
    "a δ is judged for a declared number of units, one or more",
    "n=10_000",
)

# Composition and groups

COUNT_NEGATIVE = RefusalText(
    "guarantee.count",
    "{count} * {guarantee}",
    "a release happens zero or more times",
    "1 * {guarantee}",
)
DELTAS_REACH_ONE = RefusalText(
    "guarantee.no-promise",
    "{sum}",
    "the δ add up to 1 or more, so nothing is promised",
    "use a smaller δ, or fewer releases",
)
GROUP_BELOW_ONE = RefusalText(
    "guarantee.group",
    "group({size})",
    "the size of a group is a whole number from 1 on",
    "group(2)",
)
COPIES_BELOW_ONE = RefusalText(
    "guarantee.group",
    "copies={copies}",
    "the number of people who share the bit is a whole number from 1 on",
    "copies=10",
)
RENYI_GROUP_WITH_DELTA = RefusalText(
    "guarantee.group",
    "{guarantee}.group({size})",
    "the group theorem of Rényi DP needs δ = 0",
    ".to(sf.Approx, delta=1e-6).group(2)",
)
RENYI_GROUP_ORDERS_TOO_SMALL = RefusalText(
    "guarantee.group",
    "{guarantee}.group({size})",
    "a group of {size} needs a bound at order {order} or above, and the largest is {largest}",
    "state the curve at order {order} or above",
)
ZCDP_GROUP_WITH_DELTA = RefusalText(
    "guarantee.group",
    "{guarantee}.group({size})",
    "no group theorem is known for zCDP with a δ",
    ".to(sf.Approx, delta=1e-6).group(2)",
)
NOTION_NOT_AMPLIFIED = RefusalText(
    "guarantee.subsample",
    "{guarantee}.subsample({rate})",
    "no theorem says that sampling amplifies {notion}",
    ".to(sf.Approx, delta=1e-6).subsample({rate})",
)

# Conversions

DELTA_FOR_ANOTHER_NOTION = RefusalText(
    "guarantee.delta",
    "{guarantee}.to({notion}, delta={delta})",
    "only Approx takes a δ",
    ".to(sf.{notion})",
)
NOTION_DOES_NOT_FOLLOW = RefusalText(
    "guarantee.does-not-follow",
    "{guarantee}.to({notion})",
    "{notion} does not follow from {given}",
    ".to(sf.Approx, delta=1e-6)",
)
DELTA_TOO_SMALL = RefusalText(
    "guarantee.does-not-follow",
    "{guarantee}.to(Approx, delta={delta})",
    "no finite ε follows at so small a δ",
    ".to(sf.Approx, delta=1e-6)",
)
ETA_TOO_SMALL = RefusalText(
    "guarantee.does-not-follow",
    "epsilon_outside({guarantee}, eta={eta})",
    "with a probability of up to {delta:.3g} the loss may be infinite",
    "eta={larger:.3g}",
)
SHARE_IN_SEVERAL_NOTIONS = RefusalText(
    "filter.currency",
    "{share}",
    "a share is stated in one of {notions}",
    "sf.ZCDP(0.5)",
)

# Rényi orders

ORDER_OUT_OF_RANGE = RefusalText(
    "guarantee.order",
    "order={order}",
    "an order of Rényi divergence is 1, or a number from 1 + 2^-40 to 2^40",
    "order=2",
)
NO_ORDER_ABOVE_ONE = RefusalText(
    "guarantee.order",
    "Renyi({{…}})",
    "a curve has one or more orders, all above 1",
    "sf.Renyi({{2: 0.1, 8: 0.5}})",
)
TOO_MANY_ORDERS = RefusalText(
    "guarantee.order",
    "{count} orders",
    "a curve has at most {most} orders",
    "sf.Renyi({{2: 0.1, 8: 0.5}})",
)
NO_COMMON_ORDER = RefusalText(
    "guarantee.order",
    "{a} + {b}",
    "the two curves have no order in common",
    "sf.Renyi({{2: 0.1, 8: 0.5}}) + sf.Renyi({{2: 0.3, 8: 1}})",
)
NO_ORDER_BOUNDED = RefusalText(
    "guarantee.order",
    "{guarantee} at {orders}",
    "the guarantee bounds none of these orders",
    "state a curve with these orders, or larger ones",
)
COST_WITHOUT_BOUND_AT_ORDERS = RefusalText(
    "guarantee.order",
    "{cost}",
    "the cost has no bound at some orders of the budget",
    "state the cost at all orders of the budget",
)

# Random differential privacy

RANDOM_DP_WITHOUT_GUARANTEE = RefusalText(
    "guarantee.random",
    "RandomDP({guarantee!r:.60}, …)",
    "it wraps a guarantee such as Pure or Approx",
    "sf.RandomDP(sf.Pure(1), gamma=0.05, over='uniform records')",
)
RANDOM_DP_IS_NOT_DP = RefusalText(
    "guarantee.random",
    "{guarantee}.{call}",
    "random DP is not differential privacy: it fails for a share {gamma} of the pairs",
    ".guarantee.{call}",
)
RANDOM_DP_PLUS_DP = RefusalText(
    "guarantee.random",
    "{a} + {b}",
    "random DP does not add to differential privacy: it holds for most pairs only",
    "report the two separately",
)
DIFFERENT_DISTRIBUTIONS = RefusalText(
    "guarantee.random",
    "{a} + {b}",
    "one holds for most pairs drawn from {first!r}, the other for most drawn from {second!r}",
    "over={first!r}",
)

# Stored guarantees

NOT_A_STORED_GUARANTEE = RefusalText(
    "guarantee.stored",
    "{stored!r:.60}",
    "this is not a stored guarantee",
    "Guarantee.from_json(guarantee.to_json())",
)
UNKNOWN_STORED_VERSION = RefusalText(
    "guarantee.stored",
    "{stored!r:.60}",
    "this sfumato reads version {known}, and the record has version {version}",
    "pip install --upgrade sfumato",
)
STORED_GUARANTEE_ALTERED = RefusalText(
    "guarantee.stored",
    "{stored!r:.60}",
    "the record lacks a field, or has one that sfumato does not write",
    "Guarantee.from_json(guarantee.to_json())",
)
NOT_JSON = RefusalText(
    "guarantee.stored",
    "{content!r:.60}",
    "this is not JSON",
    "Guarantee.from_json(guarantee.to_json())",
)

# Neighbour relations

UNEQUAL_NUMBERS_OF_ROWS = RefusalText(
    "relation.length",
    "{first} rows and {second} rows",
    "rows are compared one by one, so both datasets need equally many",
    "AddRemove().distance(x, y)",
)
HISTOGRAM_CELLS_DIFFER = RefusalText(
    "relation.length",
    "two histograms",
    "their cells do not correspond",
    "l1_distance(to_histogram(x, domain), to_histogram(y, domain))",
)
RECORD_COUNT_NOT_WHOLE = RefusalText(
    "relation.count",
    "{record!r}: {count!r}",
    "a record occurs zero or more times",
    "{record!r}: 1",
)
DOMAIN_REPEATS_A_VALUE = RefusalText(
    "relation.domain",
    "a domain of {count} values",
    "the domain lists a value twice",
    "domain=tuple(dict.fromkeys(domain))",
)
RECORD_OUTSIDE_DOMAIN = RefusalText(
    "relation.domain",
    "a record outside the domain",
    "neighbours are enumerated over all values that a record can have",
    "list every possible value in the domain",
)
NO_PAIR_UNDER_REPLACE = RefusalText(
    "relation.vacuous",
    "{count} values, size={size}",
    "there is no pair of different neighbours: replacing needs a row and another value for it",
    "pairs(domain=(0, 1), size=2)",
)
NO_PAIR_UNDER_ADD_REMOVE = RefusalText(
    "relation.vacuous",
    "{count} values, size={size}",
    "there is no pair of different neighbours: adding needs a record and room for it",
    "pairs(domain=(0, 1), size=2)",
)

# Finite laws

LAW_EMPTY = RefusalText(
    "law.empty",
    "{law}",
    "a law needs at least one outcome",
    "{law}=[1]",
)
PROBABILITY_NEGATIVE = RefusalText(
    "law.negative",
    "{law}: {probability}",
    "a probability is zero or more",
    "{law}=[0.5, 0.5]",
)
LAW_SUM_NOT_ONE = RefusalText(
    "law.sum",
    "{law}, of sum {total}",
    "the probabilities of a law sum to 1",
    "divide every probability by {total}",
)
LAW_SUM_ZERO = RefusalText(
    "law.sum",
    "{law}, of sum 0",
    "the probabilities of a law sum to 1",
    "{law}=[0.5, 0.5]",
)
OUTCOMES_DIFFER = RefusalText(
    "law.outcomes",
    "{law}",
    "its outcomes are not those of the other law",
    "give every outcome its probability, 0 where it has none",
)
ONE_LAW_WITHOUT_NAMES = RefusalText(
    "law.outcomes",
    "P and Q",
    "one law names its outcomes and the other does not",
    "state both as lists, or both as mappings",
)
NUMBERS_OF_OUTCOMES_DIFFER = RefusalText(
    "law.outcomes",
    "{law}: {found} probabilities for {outcomes} outcomes",
    "a law has one probability for each outcome, in one order",
    "give every outcome its probability, 0 where it has none",
)

# Channels

NO_ROWS = RefusalText(
    "channel.labels",
    "no rows",
    "a channel has at least one input",
    "Channel([[0.75, 0.25], [0.25, 0.75]])",
)
LABELS_NOT_ONE_EACH = RefusalText(
    "channel.labels",
    "{found} {what} for {count}",
    "each of the {what} needs one name, different from the others",
    "{what}=range({count})",
)
UNKNOWN_LABEL = RefusalText(
    "channel.labels",
    "{what} {label!r}",
    "the channel has no such {what}; its first are {names}",
    "{known!r}",
)
RESPONSE_NEEDS_EPSILON_OR_ODDS = RefusalText(
    "channel.response",
    "randomized_response(epsilon={epsilon}, odds={odds})",
    "the channel follows from exactly one of epsilon and odds",
    "Channel.randomized_response(epsilon=1)",
)
RESPONSE_NEEDS_TWO_ANSWERS = RefusalText(
    "channel.response",
    "randomized_response with {count} answers",
    "randomized response has two answers or more",
    "Channel.randomized_response(epsilon=1, k=2)",
)
OUTPUTS_ARE_NOT_INPUTS = RefusalText(
    "channel.compose",
    "compose",
    "the inputs of the second channel are not the outputs of the first",
    "Channel(rows, inputs=first.outputs)",
)
INPUTS_DIFFER = RefusalText(
    "channel.compose",
    "product",
    "the two channels have different inputs",
    "Channel(rows, inputs=first.inputs)",
)
NO_PAIR_OF_INPUTS = RefusalText(
    "channel.pairs",
    "pairs",
    "there is no pair of different inputs, so the promise would be empty",
    "pairs=REPLACE.pairs(domain=(0, 1), size=2)",
)
DELTA_AT_EACH_ANSWER = RefusalText(
    "channel.pointwise",
    "delta={delta}",
    "a δ allowed at each answer adds up over all answers: the check would prove nothing",
    "channel.delta(epsilon) <= delta",
)
ANSWER_IMPOSSIBLE = RefusalText(
    "channel.impossible",
    "y={answer!r}",
    "the answer has probability 0 under this prior, so nothing follows from it",
    "y={possible!r}",
)

# Divergences

UNKNOWN_DIVERGENCE = RefusalText(
    "divergence.name",
    "f={name!r}",
    "the divergences with a name are {known}",
    "f='tv'",
)
FUNCTION_IS_ROUNDED = RefusalText(
    "divergence.function",
    "f returned {value!r}",
    "a rounded number cannot be rounded outward: f returns an exact number or a ball",
    "f=lambda t: (t - 1) ** 2",
)
FUNCTION_NOT_ZERO_AT_ONE = RefusalText(
    "divergence.function",
    "f(1) = {at_one}",
    "equal laws have divergence 0, so f(1) must be 0",
    "lambda t: f(t) - f(1)",
)
SLOPE_MISSING = RefusalText(
    "divergence.slope",
    "slope=None",
    "P has mass where Q has none, and the limit of f(t)/t decides what that mass counts",
    "slope=math.inf",
)
CELLS_ARE_NO_PARTITION = RefusalText(
    "divergence.cells",
    "{count} cells",
    "they do not hold every outcome exactly once",
    "quantise([0.5, 0.25, 0.25], cells=[[0], [1, 2]])",
)
ORDER_NOT_ABOVE_ONE = RefusalText(
    "divergence.order",
    "{name}={number}",
    "the inequality needs {name} above 1",
    "{name}=2",
)
COVARIANCE_SIZE = RefusalText(
    "divergence.covariance",
    "{rows} rows for {means} means",
    "a covariance has a row and a column for each mean",
    "gaussian_renyi(2, [1, 0], [[2, 0.5], [0.5, 1]])",
)
COVARIANCE_NOT_POSITIVE_DEFINITE = RefusalText(
    "divergence.covariance",
    "covariance",
    "it is not symmetric and positive definite",
    "covariance=[[2, 0.5], [0.5, 1]]",
)
NO_NUMBERS_THAT_ADD_UP = RefusalText(
    "filter.currency",
    "{guarantee!s:.200}.vector",
    "{kind} is a curve: no list of numbers adds up to it over releases",
    "guarantee.to(sf.Approx, delta=1e-6).vector",
)
