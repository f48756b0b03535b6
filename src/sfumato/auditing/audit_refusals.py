"""The refusals of `auditing`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# What is audited, and the claim about it

NOT_AUDITABLE = RefusalText(
    "audit.what",
    "{type}",
    (
        "an audit takes a mechanism, a local oracle, a channel, a query to tables, or a "
        "function of one input"
    ),
    "sf.audit(function, x, y, claim=sf.Pure(1))",
)
NO_CLAIM = RefusalText(
    "audit.claim",
    "{what}",
    "the audit needs a claim to test, and this has no promise of its own",
    "claim=sf.Pure(1)",
)
CLAIM_NOT_A_GUARANTEE = RefusalText(
    "audit.claim",
    "{what}",
    "a claim is a guarantee, and {claim!r:.40} is none",
    "claim=sf.Pure(1)",
)
QUERY_WITHOUT_PROMISE = RefusalText(
    "audit.claim",
    "query(…)",
    "the audit needs the promise of one answer: exactly one of epsilon= and promise=",
    "query('SELECT COUNT(*) AS n FROM visits', epsilon=1, name='visits')",
)
QUERY_WITH_BUDGET = RefusalText(
    "audit.declared",
    "query(…, budget=…)",
    "the audit gives every table a budget of its own",
    "query('SELECT COUNT(*) AS n FROM visits', epsilon=1, name='visits')",
)
QUERY_WITH_LEDGER = RefusalText(
    "audit.declared",
    "query(…, ledger=…)",
    "a ledger would return its stored answer, and all draws would be the same",
    "query('SELECT COUNT(*) AS n FROM visits', epsilon=1, name='visits')",
)
UNKNOWN_DECLARATION = RefusalText(
    "audit.declared",
    "query(…, {name}=…)",
    "sf.protect has no such argument; it has {names}",
    "query('SELECT COUNT(*) AS n FROM visits', epsilon=1, name='visits')",
)
OUTPUTS_OF_WRONG_NUMBER = RefusalText(
    "audit.many",
    "many(function)",
    "function(x, {count}) must return {count} outputs, as an array or a list",
    "many(lambda x, n: [f(x) for _ in range(n)])",
)
UNKNOWN_MECHANISM = RefusalText(
    "audit.mechanism",
    "{name}",
    "the catalogue has no mechanism of this name; it has {names}",
    "{nearest}",
)

# The pair of inputs and their laws

Y_WITHOUT_X = RefusalText(
    "audit.pair",
    "audit(…, y=…)",
    "y is given without x",
    "sf.audit(what, x, y)",
)
NOT_NEIGHBOURS = RefusalText(
    "audit.pair",
    "{what}",
    "x and y differ by more than the sensitivity, so the promise is not about them",
    "sf.audit(what, 0, {sensitivity:g})",
)
NO_PAIR_OF_TYPE = RefusalText(
    "audit.pair",
    "audit({type}, …)",
    "the audit knows no pair of neighbouring inputs for this type",
    "sf.audit(what, x, y)",
)
NO_NEIGHBOUR_OF_X = RefusalText(
    "audit.pair",
    "audit({type}, …)",
    "the audit knows no neighbour of this x",
    "sf.audit(what, x, y)",
)
LAW_UNKNOWN = RefusalText(
    "audit.exact",
    "{what}",
    "its law at these inputs is not known, or not finite",
    "exact=False",
)
EXPECTATION_WITHOUT_LAW = RefusalText(
    "audit.exact",
    "{type}",
    "it has no claim, or its law at these inputs is not known or not finite",
    "best_expected(mechanisms.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=100_000)",
)

# Numbers

TOO_FEW_SAMPLES = RefusalText(
    "audit.samples",
    "samples={samples!r:.40}",
    "samples is the number of draws at each input: a whole number, at least {least}",
    "samples=100_000",
)
CONFIDENCE_OUT_OF_RANGE = RefusalText(
    "audit.confidence",
    "confidence={confidence!r:.40}",
    "a confidence is a number between 0 and 1",
    "confidence=0.999999",
)
DELTA_OUT_OF_RANGE = RefusalText(
    "audit.delta",
    "delta={delta!r:.40}",
    "a δ lies between 0 and 1",
    "delta=1e-6",
)
EPSILON_OUT_OF_RANGE = RefusalText(
    "audit.epsilon",
    "epsilon={epsilon:g}",
    "no chosen mechanism can be built at this ε; the largest is {most:g}",
    "epsilon={most:g}",
)
COUNTS_OUT_OF_RANGE = RefusalText(
    "audit.counts",
    "{hits} of {trials} at alpha={alpha}",
    "hits lie between 0 and trials, trials are 1 or more, and alpha lies between 0 and 1",
    "lower_limit(hits=5, trials=100, alpha=1e-6)",
)
