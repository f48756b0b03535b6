"""The refusals of `accounting`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

CALIBRATE_MECHANISM_1 = RefusalText(
    "calibrate.mechanism",
    "{m}",
    "a response with a fixed chance of the truth has no noise to scale",
    "RandomizedResponse(categories=['no', 'yes'], epsilon=1)",
)
CALIBRATE_MECHANISM_2 = RefusalText(
    "calibrate.mechanism",
    "{mechanism}",
    "the noise of this mechanism has no single scale",
    "Laplace, Gaussian, RandomizedResponse, or one of these behind sampling",
)
CALIBRATE_PROMISE_1 = RefusalText(
    "calibrate.promise",
    "noise × {factor}",
    "no noise near that of the schedule keeps the promise",
    "a larger δ or ε",
)
CALIBRATE_PROMISE_2 = RefusalText(
    "calibrate.promise",
    "{promise!r:.60}",
    "a schedule is calibrated to Pure or Approx",
    "sf.Approx(1, 1e-6)",
)
CHOOSE_ONE_1 = RefusalText(
    "choose.one",
    "choose_epsilon({demands})",
    "{reason}",
    "choose_epsilon(error=25)",
)
CHOOSE_POSTERIOR_1 = RefusalText(
    "choose.posterior",
    "posterior={q}, prior={p}",
    "{reason}",
    "posterior={text}",
)
COMPOSITION_EMPTY_1 = RefusalText(
    "composition.empty",
    "tight(…)",
    "the ledger holds no charge",
    "ledger.charge(mechanism) first",
)
COMPOSITION_EMPTY_2 = RefusalText(
    "composition.empty",
    "compose([])",
    "nothing was released",
    "compose([(mechanism, 100)])",
)
COMPOSITION_EMPTY_3 = RefusalText(
    "composition.empty",
    "basic([])",
    "nothing was released, so there is nothing to add up",
    "basic([sf.Pure(0.1)]), or 0 * sf.Pure(1)",
)
COMPOSITION_EMPTY_4 = RefusalText(
    "composition.empty",
    "optimal_curve([])",
    "nothing was released",
    "optimal_curve([(sf.Pure(0.1), 30)])",
)
COMPOSITION_SCHEDULE_1 = RefusalText(
    "composition.schedule",
    "calibrate(…)",
    "a schedule holds mechanisms, or pairs (mechanism, count)",
    "[(mechanism, 100)]",
)
COMPOSITION_SCHEDULE_2 = RefusalText(
    "composition.schedule",
    "compose({schedule!r:.60})",
    "a schedule is a list",
    "compose([(mechanism, 100)])",
)
COMPOSITION_SCHEDULE_3 = RefusalText(
    "composition.schedule",
    "{step!r:.60}",
    "a schedule holds mechanisms and guarantees, alone or with a count",
    "[(mechanism, 100)]",
)
COMPOSITION_STEPS_1 = RefusalText(
    "composition.steps",
    "{sum} steps",
    "at most {most} steps are composed optimally",
    "a filter, or sf.ZCDP",
)
EVENTS_UNKNOWN_1 = RefusalText(
    "events.unknown",
    "{name}",
    "sfumato knows no dominating pair for this event",
    "{EVENTS}",
)
EVENTS_UNKNOWN_2 = RefusalText(
    "events.unknown",
    "{type}",
    "only a single release can be sampled",
    "a sampled Gaussian or Laplace event",
)
FILTER_CURRENCY_1 = RefusalText(
    "filter.currency",
    "Filter({budget})",
    (
        "no filter is proven for this currency, so costs that depend on earlier answers cannot "
        "be added up in it"
    ),
    "a budget in one of {currencies}",
)
FILTER_CURRENCY_2 = RefusalText(
    "filter.currency",
    "{share}",
    "a share needs a budget in a single currency",
    "a share in one of {names}",
)
FILTER_EXHAUSTED_1 = RefusalText(
    "filter.exhausted",
    "{cost} of {budget}",
    "it does not fit: {remaining} is left",
    "a smaller cost",
)
GAME_COST_1 = RefusalText(
    "game.cost",
    "Move(…)",
    "the cost of a function cannot be computed, so it must be stated",
    "Move(x0, x1, release, cost=sf.Pure(0.1))",
)
GAME_COST_2 = RefusalText(
    "game.cost",
    "Move(…)",
    "the channel has no finite ε over this pair",
    "Move(x0, x1, channel, cost=sf.Approx(ε, δ))",
)
GAME_NEIGHBOURS_1 = RefusalText(
    "game.neighbours",
    "{x0!r} and {x1!r}",
    "they are more than one step of {relation} apart",
    "two neighbours",
)
GUARANTEE_COUNT_1 = RefusalText(
    "guarantee.count",
    "{name}={value}",
    "a number of releases is a whole number from 1 on",
    "{name}=10",
)
GUARANTEE_DOES_NOT_FOLLOW_1 = RefusalText(
    "guarantee.does-not-follow",
    "delta={delta}",
    "no ε follows: the δ of the steps add up to more",
    "a larger delta, or smaller δ in the steps",
)
GUARANTEE_DOES_NOT_FOLLOW_2 = RefusalText(
    "guarantee.does-not-follow",
    "parallel({costs})",
    "no notion of differential privacy follows from all of them",
    "parts that all promise differential privacy",
)
GUARANTEE_GROUP_1 = RefusalText(
    "guarantee.group",
    "{self}.group({size})",
    "the pair about one unit does not bound the loss of several",
    "a mechanism whose sensitivity covers the group",
)
GUARANTEE_ORDER_1 = RefusalText(
    "guarantee.order",
    "{guarantee} at {wanted_orders}",
    "the guarantee bounds none of these orders",
    "a curve with these orders, or larger ones",
)
GUARANTEE_ORDER_2 = RefusalText(
    "guarantee.order",
    "{cost}",
    "the cost has no bound at some orders of the budget",
    "a cost with bounds at all orders of the budget",
)
GUARANTEE_ORDER_3 = RefusalText(
    "guarantee.order",
    "order={order}",
    "the conversion divides by order − 1",
    "order=2",
)
GUARANTEE_RELATION_1 = RefusalText(
    "guarantee.relation",
    "{type}",
    "Poisson sampling is about add-remove, fixed-size sampling about replace",
    "only one kind of sampling",
)
GUARANTEE_RELATION_2 = RefusalText(
    "guarantee.relation",
    "{cost} in parallel(…, relation={stated_relation!r})",
    "parallel needs this cost under {expected}",
    "the cost with relation={expected!r}",
)
GUARANTEE_SUBSAMPLE_1 = RefusalText(
    "guarantee.subsample",
    "{self}.subsample({q})",
    "only a single release can be sampled",
    "mechanism.subsample(q), then sf.compose",
)
GUARANTEE_UNIT_1 = RefusalText(
    "guarantee.unit",
    "parallel(…)",
    "the parts are about different units, {units}",
    "state all for the same unit",
)
LAW_OUTCOMES_1 = RefusalText(
    "law.outcomes",
    "{p_count} and {q_count}",
    "p and q have different numbers of outcomes",
    "one probability for each outcome, in the same order",
)
LAW_SUM_1 = RefusalText(
    "law.sum",
    "{name} of {law_count} outcomes",
    "exact ratios of fewer than 4000 digits are needed",
    "{name}=[0.5, 0.5]",
)
LOSS_DIRECTION_1 = RefusalText(
    "loss.direction",
    "relation={relation!r}",
    "P and Q are not mirror images, so the relation must say which of them is with the unit",
    "relation='add-remove'",
)
LOSS_DIRECTION_2 = RefusalText(
    "loss.direction",
    "{base!r}",
    "under replace a pair must be symmetric",
    "a mechanism with a symmetric pair, such as Laplace or Gaussian",
)
LOSS_DIRECTION_3 = RefusalText(
    "loss.direction",
    "{self}",
    "under replace every dominating pair must be symmetric",
    "relation='add-remove'",
)
LOSS_NO_PAIR_1 = RefusalText(
    "loss.no-pair",
    "{release!r:.60}",
    "no single pair of laws is the worst that {type} allows",
    "the mechanism itself, or .to(sf.Approx, delta=1e-9)",
)
LOSS_NO_PAIR_2 = RefusalText(
    "loss.no-pair",
    "{mechanism}",
    "{type} promises {promises}, for which no single pair is the worst",
    "a Laplace or Gaussian mechanism, or .to(sf.Approx, delta=1e-9)",
)
LOSS_NUMBER_1 = RefusalText(
    "loss.number",
    "{name}={value}",
    "{name} is a whole number from {least} to 2^53",
    "{name}={least}",
)
LOSS_NUMBER_2 = RefusalText(
    "loss.number",
    "{pair!r:.60}",
    "a Loss is made of dominating pairs",
    "sf.compose([(mechanism, 100)])",
)
LOSS_NUMBER_3 = RefusalText(
    "loss.number",
    "{count} uses",
    "a release is used at most {MOST} times",
    "a smaller count",
)
LOSS_SAMPLED_1 = RefusalText(
    "loss.sampled",
    "how={how!r}",
    "sampling is Poisson or of a fixed size",
    "how='poisson'",
)
LOSS_SAMPLED_2 = RefusalText(
    "loss.sampled",
    "base={type}",
    "the base must be a dominating pair",
    "GaussianPair(Fraction(1))",
)
LOSS_SAMPLED_3 = RefusalText(
    "loss.sampled",
    "{base!r}",
    "sampling twice is sampling once, at the product of the rates",
    "one subsample(q)",
)
NUMBER_RANGE_1 = RefusalText(
    "number.range",
    "epsilon={top}",
    "an ε this large promises nothing",
    "smaller steps, or fewer",
)
PARALLEL_PARTS_1 = RefusalText(
    "parallel.parts",
    "{guarantees_count} parts",
    "every part needs a cost, and an entry in within= if that is used",
    "parallel(a, b, relation='add-remove')",
)
PARALLEL_PARTS_2 = RefusalText(
    "parallel.parts",
    "parts={parts!r}",
    "parts are defined by the unit's value or by row position",
    "parts='value'",
)
PARALLEL_PARTS_3 = RefusalText(
    "parallel.parts",
    "parts='index', relation='add-remove'",
    "adding or removing a row moves later rows into other blocks",
    "parts='value'",
)
PARALLEL_PARTS_4 = RefusalText(
    "parallel.parts",
    "within=…",
    "within= applies only to relation='replace' with parts='value'",
    "leave within= out",
)
PARALLEL_RELATION_1 = RefusalText(
    "parallel.relation",
    "parallel(…)",
    (
        "the largest cost holds only under add-remove: a replaced unit may leave one part and "
        "enter another"
    ),
    "relation='add-remove'",
)
SHUFFLE_CLOSED_1 = RefusalText(
    "shuffle.closed",
    "epsilon={e}, n={n}",
    "the theorem in closed form holds for smaller ε only",
    "the clone pair itself",
)
SHUFFLE_EPSILON_1 = RefusalText(
    "shuffle.epsilon",
    "epsilon={text}",
    "a shuffled report of ε > {FARTHEST} hides nothing that could be computed",
    "epsilon=1",
)
STABILITY_FACTOR_1 = RefusalText(
    "stability.factor",
    "stable({guarantee}, {c})",
    "a stability is a whole number from 0 on, as it bounds a number of records",
    "stable(guarantee, 2)",
)
