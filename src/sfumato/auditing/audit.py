"""`sf.audit`: a proven lower bound on what something gives away, beside what it claims.

*Steps*     Draw outputs at two neighbouring inputs; find an event that tells them apart; bound its
            chance at one from below and at the other from above (Clopper & Pearson 1934); what
            follows for ε or μ is true but for a chance of 1 − confidence (Ding et al. 2018;
            Jagielski, Ullman & Oprea 2020).
*Events*    Where the law is known, one event by the likelihood ratio, chosen without any draw: all
            draws count. Beside it, or alone, one that is learned on one half of the draws, the
            first 200 000 at most, and counted on the others (Bichsel, Steffen, Bogunovic & Vechev
            2021).
*Split*     α = 1 − confidence is shared equally by the events that are counted, one or two, and by
            the two limits of each. The direction is chosen with the event.
*Pairs*     Where no pair is given one is searched for, on draws of its own.
*Exact*     Where both laws are finite: the bound by arithmetic, with no draw at all. It is about
            the law that is stated, which draws may not follow.
*Proof*     docs/proofs/audit.md
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ..errors import Refused
from ..guarantees import GDP, Guarantee
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.mechanism import Mechanism
from .audit_result import Audit
from .bounds import breaks, deciding_delta, delta_of, epsilon_bound, is_number, mu_bound
from .canonical_outputs import Outputs, of_both
from .law_pair import Known
from .neighbour_pairs import neighbours, search
from .output_events import Counted, counted, learned
from .runners import Runner, draw_both, known_law, runner_of

CONFIDENCE = 0.999999
SAMPLES = 100_000
LEAST = 40
LEARNING = 200_000
"""Draws at each input that an event is learned on: half of all up to this many, of very many a
quarter.
"""


def audit(
    what: Any,
    x: Any = None,
    y: Any = None,
    *,
    claim: Guarantee | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    delta: float | None = None,
    exact: bool | None = None,
    records: Any = None,
) -> Audit:
    """A lower bound on the ε (at δ), or on the μ, of a mechanism, a local oracle, a question to
    tables, or any function of one input.

    `x` and `y` are neighbours in the sense of the claim; without them a bad pair is searched for,
    among inputs whose records are in `records`. A mechanism's claim is its promise. `samples` draws
    are made at each input. With `exact` the laws themselves are compared: of a mechanism whose law
    is known, of a `Channel`, or of a function that gives a law, outcome → probability. `None` is no
    input: it stands for one that is searched for.
    """
    given = _number_of_draws(samples) if not exact else samples
    runner = runner_of(what)
    promised = claim if claim is not None else runner.claim
    if not isinstance(promised, Guarantee):
        reason = (
            "what is promised is not known, and cannot be refuted"
            if promised is None
            else f"a claim is a guarantee, and {promised!r:.40} is none"
        )
        raise Refused("audit.claim", _name(what), reason, "claim=sf.Pure(1)")
    if not is_number(confidence) or not 0 < confidence < 1:
        raise Refused(
            "audit.confidence",
            f"confidence={confidence!r:.40}",
            "a confidence is a number between 0 and 1",
            "confidence=0.999999",
        )
    at = delta_of(promised, delta)
    if x is None and y is not None:
        raise Refused(
            "audit.pair",
            "audit(…, y=…)",
            "an input beside which another is searched for is called x",
            "sf.audit(what, x), or sf.audit(what, x, y)",
        )
    if (
        y is not None
        and claim is None
        and isinstance(runner.of, Additive)
        and not neighbours(runner.of, x, y)
    ):
        reason = "the inputs differ by more than the sensitivity, and nothing is promised of such"
        raise Refused(
            "audit.pair",
            _name(runner.of),
            reason,
            "inputs that differ by the sensitivity at most, or claim= for these inputs",
        )
    pair = (
        (x, y)
        if y is not None
        else search(
            runner,
            promised,
            deciding_delta(promised, at),
            x,
            records,
            samples=given,
            exact=bool(exact),
        )
    )
    if exact:
        return _by_arithmetic(runner, promised, pair, at)
    return _by_sampling(runner, promised, pair, at, given, float(confidence))


def _number_of_draws(samples: Any) -> int:
    if isinstance(samples, bool) or not isinstance(samples, Integral) or samples < LEAST:
        raise Refused(
            "audit.samples",
            f"samples={samples!r:.40}",
            f"a whole number of draws is made at each input, at least {LEAST}",
            "samples=100_000",
        )
    return int(samples)


def _by_arithmetic(runner: Runner, claim: Guarantee, pair: tuple[Any, Any], delta: float) -> Audit:
    known = known_law(runner, pair, exact=True)
    if known is None:
        raise Refused(
            "audit.exact",
            _name(runner.of),
            "its law at these inputs is not known, or not finite",
            "exact=False, which draws outputs",
        )
    epsilon, _ = known.epsilon(delta)
    mu = known.mu() if isinstance(claim, GDP) else None
    worst = known.against(claim, delta)
    return Audit(
        what=_name(runner.of), pair=pair, claim=claim, delta=delta, epsilon_lower=epsilon, mu_lower=mu,
        verdict="violated" if worst.broken else "holds", event=worst.event.words, limits=(worst.low, worst.high),
        direction=worst.event.direction, samples=0, confidence=1.0, exact=True, known_neighbours=_checked(runner, pair),
    )  # fmt: skip


def _by_sampling(
    runner: Runner,
    claim: Guarantee,
    pair: tuple[Any, Any],
    delta: float,
    samples: int,
    confidence: float,
) -> Audit:
    known = known_law(runner, pair)
    drawn = of_both(*draw_both(runner, *pair, samples))
    found = count(claim, deciding_delta(claim, delta), known, *drawn, 1 - confidence)
    bounds = [epsilon_bound(one.low, one.high, delta) for one in found]
    gaussian = [mu_bound(one.low, one.high) for one in found] if isinstance(claim, GDP) else None
    broken = [breaks(claim, one.low, one.high) for one in found]
    best = max(range(len(found)), key=lambda i: (broken[i], gaussian[i] if gaussian else bounds[i]))
    told = found[best]
    return Audit(
        what=_name(runner.of), pair=pair, claim=claim, delta=delta, epsilon_lower=bounds[best], mu_lower=gaussian[best] if gaussian else None,
        verdict="violated" if any(broken) else "holds", event=told.event.words, direction=told.event.direction, samples=samples, confidence=confidence,
        exact=False, tried=len(found), seen=told.seen, counted=told.trials, limits=(told.low, told.high),
        known_neighbours=_checked(runner, pair),
    )  # fmt: skip


def count(
    claim: Guarantee, delta: float, known: Known | None, x: Outputs, y: Outputs, alpha: float
) -> list[Counted]:
    """The events that are counted, with limits that are all true at once but for a chance of
    `alpha`.
    """
    events = 1 if known is None else 2
    each, kept = alpha / events, min(len(x) // 2, max(LEARNING, len(x) // 4))
    held_out = x.part(0, kept), y.part(0, kept)
    counting = x.part(kept, len(x)), y.part(kept, len(y))
    event = learned(*held_out, claim, delta, counting=len(x) - kept, alpha=each)
    found = [counted(event, *counting, each)]
    if known is not None:
        found.append(counted(known.best(claim, delta, samples=len(x), alpha=each)[1], x, y, each))
    return found


def _checked(runner: Runner, pair: tuple[Any, Any]) -> bool:
    return isinstance(runner.of, Additive) and neighbours(runner.of, *pair)


def _name(what: Any) -> str:
    if isinstance(what, Mechanism):
        return repr(what)
    return str(getattr(what, "__name__", None) or type(what).__name__)
