"""The refusals of `auditing`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

AUDIT_CLAIM_1 = RefusalText(
    "audit.claim",
    "{what}",
    "{reason}",
    "claim=sf.Pure(1)",
)
AUDIT_CLAIM_2 = RefusalText(
    "audit.claim",
    "query(…)",
    "the promise of one answer is needed, by exactly one of epsilon= and promise=",
    "query('SELECT COUNT(*) AS n FROM visits', epsilon=1, name='visits')",
)
AUDIT_CONFIDENCE_1 = RefusalText(
    "audit.confidence",
    "confidence={confidence!r:.40}",
    "a confidence is a number between 0 and 1",
    "confidence=0.999999",
)
AUDIT_COUNTS_1 = RefusalText(
    "audit.counts",
    "{hits} of {trials} at alpha={alpha}",
    "hits lie between 0 and trials, trials are 1 or more, and alpha between 0 and 1",
    "lower_limit(hits=5, trials=100, alpha=1e-6)",
)
AUDIT_DECLARED_1 = RefusalText(
    "audit.declared",
    "query(…, {name}=…)",
    "{reason}",
    "{names}",
)
AUDIT_DELTA_1 = RefusalText(
    "audit.delta",
    "delta={delta!r:.40}",
    "a δ lies between 0 and 1",
    "delta=1e-6",
)
AUDIT_EPSILON_1 = RefusalText(
    "audit.epsilon",
    "epsilon={e:g}",
    "no chosen mechanism can be built at this ε",
    "0 < epsilon ≤ {most:g}",
)
AUDIT_EXACT_1 = RefusalText(
    "audit.exact",
    "{of}",
    "its law at these inputs is not known, or not finite",
    "exact=False",
)
AUDIT_EXACT_2 = RefusalText(
    "audit.exact",
    "{type}",
    "its law at these inputs is not known, or not finite",
    "best_expected(mechanisms.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=100_000)",
)
AUDIT_MANY_1 = RefusalText(
    "audit.many",
    "many(function)",
    "function(x, {n}) must return {n} outputs, as an array or a list",
    "many(lambda x, n: [f(x) for _ in range(n)])",
)
AUDIT_MECHANISM_1 = RefusalText(
    "audit.mechanism",
    "{name}",
    "the catalogue has no mechanism of this name",
    "{names}",
)
AUDIT_PAIR_1 = RefusalText(
    "audit.pair",
    "audit(…, y=…)",
    "y is given without x",
    "sf.audit(what, x, y)",
)
AUDIT_PAIR_2 = RefusalText(
    "audit.pair",
    "{of}",
    "{reason}",
    "sf.audit(what, 0, {sensitivity:g})",
)
AUDIT_PAIR_3 = RefusalText(
    "audit.pair",
    "audit({type}, …)",
    "{reason}",
    "sf.audit(what, x, y)",
)
AUDIT_SAMPLES_1 = RefusalText(
    "audit.samples",
    "samples={samples!r:.40}",
    "samples is the number of draws at each input: a whole number, at least {LEAST}",
    "samples=100_000",
)
AUDIT_WHAT_1 = RefusalText(
    "audit.what",
    "{type}",
    (
        "an audit takes a mechanism, a local oracle, a channel, a query to tables, or a "
        "function of one input"
    ),
    "sf.audit(function, x, y, claim=sf.Pure(1))",
)
