"""The refusals of `accounting`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# Schedules and composition

NOTHING_RELEASED = RefusalText(
    "composition.empty",
    "{function}([])",
    "nothing was released, so there is nothing to add up",
    "{function}([sf.Pure(0.1)])",
)
LEDGER_WITHOUT_CHARGES = RefusalText(
    "composition.empty",
    "tight(…)",
    "the ledger holds no charge",
    "ledger.charge(sf.Pure(0.1), memo='a count')",
)
SCHEDULE_IS_NO_LIST = RefusalText(
    "composition.schedule",
    "compose({schedule!r:.60})",
    "a schedule is a list of releases",
    "compose([(sf.Pure(0.1), 100)])",
)
STEP_IS_NO_RELEASE = RefusalText(
    "composition.schedule",
    "{step!r:.60}",
    "a schedule holds mechanisms and guarantees, alone or with a count",
    "compose([(sf.Pure(0.1), 100)])",
)
STEP_IS_NO_MECHANISM = RefusalText(
    "composition.schedule",
    "calibrate(…)",
    "a schedule to calibrate holds mechanisms, alone or with a count",
    "[(sf.mechanisms.Laplace(sensitivity=1, epsilon=0.1), 100)]",
)
TOO_MANY_STEPS = RefusalText(
    "composition.steps",
    "{count} steps",
    "at most {most} steps are composed optimally",
    "sf.compose(steps)",
)
COUNT_BELOW_ONE = RefusalText(
    "guarantee.count",
    "{name}={value}",
    "a number of releases is a whole number from 1 on",
    "{name}=10",
)
EPSILON_SUM_TOO_LARGE = RefusalText(
    "number.range",
    "epsilon={total}",
    "the ε of the steps add up to more than {most:,}, which promises nothing",
    "use fewer steps, or a smaller ε in each",
)
DELTA_BELOW_THAT_OF_STEPS = RefusalText(
    "guarantee.does-not-follow",
    "delta={delta}",
    "no ε follows: the δ of the steps add up to more",
    "use a larger delta, or smaller δ in the steps",
)
STABILITY_NOT_WHOLE = RefusalText(
    "stability.factor",
    "stable({guarantee}, {factor})",
    "a stability is a whole number from 0 on, as it bounds a number of records",
    "stable({guarantee}, 2)",
)

# Parallel composition

PARALLEL_WITHOUT_RELATION = RefusalText(
    "parallel.relation",
    "parallel(…)",
    (
        "the largest cost holds only under add-remove: a replaced unit may leave one part and "
        "enter another"
    ),
    "relation='add-remove'",
)
NO_PARTS = RefusalText(
    "parallel.parts",
    "parallel()",
    "there is no part, so there is no cost",
    "sf.parallel(sf.Pure(0.1), sf.Pure(0.2), relation='add-remove')",
)
WITHIN_NOT_ONE_EACH = RefusalText(
    "parallel.parts",
    "{entries} entries in within= for {parts} parts",
    "within= has one entry for each part, None where the cost is not known",
    "within=[None] * {parts}",
)
UNKNOWN_PARTS = RefusalText(
    "parallel.parts",
    "parts={parts!r}",
    "parts are defined by the unit's value or by row position",
    "parts='value'",
)
BLOCKS_UNDER_ADD_REMOVE = RefusalText(
    "parallel.parts",
    "parts='index', relation='add-remove'",
    "adding or removing a row moves later rows into other blocks",
    "parts='value'",
)
WITHIN_NOT_APPLICABLE = RefusalText(
    "parallel.parts",
    "within=…",
    "within= applies only to relation='replace' with parts='value'",
    "within=None",
)
COST_UNDER_ANOTHER_RELATION = RefusalText(
    "guarantee.relation",
    "{cost} in parallel(…, relation={relation!r})",
    "parallel needs this cost under {expected}",
    "relation={expected!r}",
)
PARTS_ABOUT_DIFFERENT_UNITS = RefusalText(
    "guarantee.unit",
    "parallel(…)",
    "the parts are about different units, {units}",
    "unit={first!r}",
)
NO_COMMON_NOTION = RefusalText(
    "guarantee.does-not-follow",
    "parallel({costs})",
    "no notion of differential privacy follows from all of them",
    "sf.parallel(sf.Pure(0.1), sf.Pure(0.2), relation='add-remove')",
)

# Filters

NO_FILTER_FOR_NOTION = RefusalText(
    "filter.currency",
    "Filter({budget})",
    (
        "a filter adds up costs that depend on earlier answers, and is proven only for budgets "
        "in {notions}"
    ),
    "sf.accounting.Filter(sf.ZCDP(0.5))",
)
COST_DOES_NOT_FIT = RefusalText(
    "filter.exhausted",
    "{cost} of {budget}",
    "it does not fit: {remaining} is left",
    "spend at most {remaining}",
)

# Rényi orders

ORDER_IS_ONE = RefusalText(
    "guarantee.order",
    "order={order}",
    "the conversion divides by order − 1",
    "order=2",
)

# The choice of ε, and of noise for a schedule

STUDY_UNAFFORDABLE = RefusalText(
    "choose.study",
    "choose_study(error={error}, loss={loss}, budget={budget})",
    "at no number of people does the budget pay for the ε that the error asks for",
    "a larger error=, or a larger budget=",
)
UNITS_OR_COUNTS_BELOW_ONE = RefusalText(
    "choose.units",
    "units={units}, counts={counts}",
    "the number of units and of counts are whole numbers of at least 1",
    "units=20_000, counts=1",
)
ADVANTAGE_BELOW_DELTA = RefusalText(
    "choose.units",
    "advantage={advantage}, δ = {delta}",
    "δ alone gives an attacker more than this advantage",
    "a larger advantage=, or smaller leaks=",
)
NOT_ONE_DEMAND = RefusalText(
    "choose.one",
    "choose_epsilon({demands})",
    "ε follows from exactly one of error, advantage and posterior",
    "choose_epsilon(error=25)",
)
POSTERIOR_NOT_ABOVE_PRIOR = RefusalText(
    "choose.posterior",
    "posterior={posterior}, prior={prior}",
    "the prior belief is already {prior}: the posterior must be larger",
    "posterior={larger}",
)
SCHEDULE_WITHOUT_NOISE = RefusalText(
    "calibrate.promise",
    "{promise!r:.60}",
    "a schedule is calibrated to {notions}",
    "sf.Approx(1, 1e-6)",
)
NO_NOISE_KEEPS_PROMISE = RefusalText(
    "calibrate.promise",
    "noise × {factor}",
    "no noise near that of the schedule keeps the promise",
    "promise a larger ε or δ",
)

# Dominating pairs and their laws

NOTION_WITHOUT_PAIR = RefusalText(
    "loss.no-pair",
    "{guarantee!r:.60}",
    "no single pair of laws is the worst that {notion} allows: pass the mechanism, or convert",
    ".to(sf.Approx, delta=1e-9)",
)
MECHANISM_WITHOUT_PAIR = RefusalText(
    "loss.no-pair",
    "{mechanism}",
    "{kind} promises {notions}, for which no single pair is the worst",
    "mechanism.promise.to(sf.Approx, delta=1e-9)",
)
PART_IS_NO_PAIR = RefusalText(
    "loss.number",
    "{part!r:.60}",
    "a Loss is made of dominating pairs",
    "sf.compose([(sf.Pure(0.1), 100)])",
)
PAIR_NUMBER_NOT_WHOLE = RefusalText(
    "loss.number",
    "{name}={value}",
    "{name} is a whole number from {least} to 2^53",
    "{name}={least}",
)
TOO_MANY_USES = RefusalText(
    "loss.number",
    "{count} uses",
    "the number of uses is a whole number from 0 to {most}",
    "1_000_000",
)
LAW_NOT_EXACT = RefusalText(
    "law.sum",
    "{law} of {outcomes} outcomes",
    "its probabilities are exact ratios of fewer than 4000 digits, of sum 1",
    "{law}=(Fraction(1, 2), Fraction(1, 2))",
)
LAWS_OF_DIFFERENT_LENGTH = RefusalText(
    "law.outcomes",
    "{first} and {second} probabilities",
    "p and q have one probability for each outcome, in the same order",
    "give every outcome its probability, 0 where it has none",
)
LAWS_NOT_MIRRORED = RefusalText(
    "loss.direction",
    "relation={relation!r}",
    "P and Q are not mirror images, so the relation must say which of them is with the unit",
    "relation='add-remove'",
)
REPLACE_NEEDS_SYMMETRIC_PAIRS = RefusalText(
    "loss.direction",
    "{loss}",
    "under replace every dominating pair must be symmetric",
    "relation='add-remove'",
)
PAIR_WITHOUT_GROUP = RefusalText(
    "guarantee.group",
    "{pair}.group({size})",
    "the pair about one unit does not bound the loss of several",
    "use a mechanism whose sensitivity covers {size} units",
)

# Sampling

UNKNOWN_SAMPLING = RefusalText(
    "loss.sampled",
    "how={how!r}",
    "sampling is Poisson or of a fixed size",
    "how='poisson'",
)
BASE_IS_NO_PAIR = RefusalText(
    "loss.sampled",
    "base={kind}",
    "the base must be a dominating pair",
    "base=GaussianPair(Fraction(1))",
)
SAMPLED_TWICE = RefusalText(
    "loss.sampled",
    "{base!r}",
    "sampling twice is sampling once, at the product of the rates",
    "SampledPair(base.base, base.rate * rate)",
)
FIXED_SAMPLE_NEEDS_SYMMETRIC_PAIR = RefusalText(
    "loss.direction",
    "{base!r}",
    "a sample of fixed size is about replace, under which a pair must be symmetric",
    "how='poisson'",
)
SEVERAL_RELEASES_SAMPLED = RefusalText(
    "guarantee.subsample",
    "{guarantee}.subsample({rate})",
    "only a single release can be sampled",
    "sf.compose([(sf.Pure(0.1).subsample({rate}), 100)])",
)
TWO_KINDS_OF_SAMPLING = RefusalText(
    "guarantee.relation",
    "{event}",
    "Poisson sampling is about add-remove, fixed-size sampling about replace",
    "use one kind of sampling in all events",
)

# Events of dp-accounting

UNKNOWN_EVENT = RefusalText(
    "events.unknown",
    "{event}",
    "sfumato knows no dominating pair for this event; it knows {known}",
    "GaussianDpEvent(noise_multiplier=1.0)",
)
SEVERAL_EVENTS_SAMPLED = RefusalText(
    "events.unknown",
    "{event}",
    "only a single release can be sampled",
    "PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0))",
)

# Shuffling

REPORT_EPSILON_TOO_LARGE = RefusalText(
    "shuffle.epsilon",
    "epsilon={epsilon}",
    "a shuffled report of ε > {most} hides nothing that could be computed",
    "epsilon=1",
)
EPSILON_ABOVE_CLOSED_FORM = RefusalText(
    "shuffle.closed",
    "epsilon={epsilon}, n={n}",
    "the theorem in closed form holds up to ε = {most:.3g}",
    "sf.shuffle(local=sf.Pure({epsilon}), n={n})",
)

# The game of an adversary

NOT_NEIGHBOURS = RefusalText(
    "game.neighbours",
    "{x0!r} and {x1!r}",
    "they are more than one step of {relation} apart",
    "choose two neighbours",
)
MOVE_WITHOUT_COST = RefusalText(
    "game.cost",
    "Move(…)",
    "the cost of a function cannot be computed, so it must be stated",
    "Move(x0, x1, release, cost=sf.Pure(0.1))",
)
MOVE_OF_INFINITE_COST = RefusalText(
    "game.cost",
    "Move(…)",
    "the channel has no finite ε over this pair",
    "Move(x0, x1, channel, cost=sf.Approx(1, 1e-6))",
)
