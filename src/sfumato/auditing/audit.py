"""`sf.audit`: prove a lower bound on the privacy loss and compare it with the claim.

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

from collections.abc import Iterable
from numbers import Integral

from ..guarantees import GDP, Guarantee
from ..mechanisms.shared.additive import Additive
from ..mechanisms.shared.mechanism import Mechanism
from . import audit_refusals as refusals
from .audit_result import Audit
from .bounds import breaks, deciding_delta, delta_of, epsilon_bound, is_number, mu_bound
from .canonical_outputs import Input, Outputs, Pair, read_both_outputs
from .law_pair import LawPair
from .neighbour_pairs import find_pair
from .output_events import CountedEvent, count_event, learn_event
from .runners import Runner, draw_both, law_pair_of, runner_of

CONFIDENCE = 0.999999
SAMPLES = 100_000
LEAST = 40
LEARNING = 200_000
"""Draws at each input that an event is learned on: half of all up to this many, of very many a
quarter.
"""


def audit(
    what: object,
    x: Input = None,
    y: Input = None,
    *,
    claim: Guarantee | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    delta: float | None = None,
    exact: bool | None = None,
    records: Iterable[Input] | None = None,
) -> Audit:
    """Prove a lower bound on the ε (at δ), or on the μ, of a mechanism, a local oracle, a query to
    tables, or any function of one input.

    `x` and `y` are neighbours under the claim's relation. Without them the audit searches for a bad
    pair, among inputs whose records are in `records`. A mechanism's claim is its promise. The audit
    makes `samples` draws at each input. With `exact` it compares the laws themselves: those of a
    mechanism with a known law, of a `Channel`, or of a function that returns a law, outcome →
    probability. `None` is not an input: the audit searches for one.

    >>> sf.audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1).verdict
    'holds'
    """
    draws = _number_of_draws(samples) if not exact else samples
    runner = runner_of(what)
    promised = claim if claim is not None else runner.claim
    if not isinstance(promised, Guarantee):
        if promised is None:
            raise refusals.NO_CLAIM(what=_name(what))
        raise refusals.CLAIM_NOT_A_GUARANTEE(what=_name(what), claim=promised)
    if not is_number(confidence) or not 0 < confidence < 1:
        raise refusals.CONFIDENCE_OUT_OF_RANGE(confidence=confidence)
    at = delta_of(promised, delta)
    if x is None and y is not None:
        raise refusals.Y_WITHOUT_X()
    if (
        y is not None
        and claim is None
        and isinstance(runner.of, Additive)
        and not runner.of.are_neighbours(x, y)
    ):
        raise refusals.NOT_NEIGHBOURS(
            what=_name(runner.of), sensitivity=float(runner.of.sensitivity)
        )
    pair = (
        (x, y)
        if y is not None
        else find_pair(
            runner,
            promised,
            deciding_delta(promised, at),
            x,
            records,
            samples=draws,
            exact=bool(exact),
        )
    )
    if exact:
        return _by_arithmetic(runner, promised, pair, at)
    return _by_sampling(runner, promised, pair, at, draws, float(confidence))


def _number_of_draws(samples: object) -> int:
    if isinstance(samples, bool) or not isinstance(samples, Integral) or samples < LEAST:
        raise refusals.TOO_FEW_SAMPLES(samples=samples, least=LEAST)
    return int(samples)


def _by_arithmetic(runner: Runner, claim: Guarantee, pair: Pair, delta: float) -> Audit:
    laws = law_pair_of(runner, pair, exact=True)
    if laws is None:
        raise refusals.LAW_UNKNOWN(what=_name(runner.of))
    epsilon, _ = laws.epsilon(delta)
    mu = laws.mu() if isinstance(claim, GDP) else None
    worst = laws.strongest_event(claim, delta)
    return Audit(
        what=_name(runner.of),
        pair=pair,
        claim=claim,
        delta=delta,
        epsilon_lower=epsilon,
        mu_lower=mu,
        verdict="violated" if worst.broken else "holds",
        event=worst.event.words,
        limits=(worst.low, worst.high),
        direction=worst.event.direction,
        samples=0,
        confidence=1.0,
        exact=True,
        known_neighbours=_are_checked_neighbours(runner, pair),
    )


def _by_sampling(
    runner: Runner, claim: Guarantee, pair: Pair, delta: float, samples: int, confidence: float
) -> Audit:
    laws = law_pair_of(runner, pair)
    drawn = read_both_outputs(*draw_both(runner, *pair, samples))
    events = count_events(claim, deciding_delta(claim, delta), laws, *drawn, 1 - confidence)
    bounds = [epsilon_bound(event.low, event.high, delta) for event in events]
    gaussian = (
        [mu_bound(event.low, event.high) for event in events] if isinstance(claim, GDP) else None
    )
    broken = [breaks(claim, event.low, event.high) for event in events]
    best = max(
        range(len(events)), key=lambda i: (broken[i], gaussian[i] if gaussian else bounds[i])
    )
    shown = events[best]
    return Audit(
        what=_name(runner.of),
        pair=pair,
        claim=claim,
        delta=delta,
        epsilon_lower=bounds[best],
        mu_lower=gaussian[best] if gaussian else None,
        verdict="violated" if any(broken) else "holds",
        event=shown.event.words,
        direction=shown.event.direction,
        samples=samples,
        confidence=confidence,
        exact=False,
        tried=len(events),
        hits=shown.hits,
        trials=shown.trials,
        limits=(shown.low, shown.high),
        known_neighbours=_are_checked_neighbours(runner, pair),
    )


def count_events(
    claim: Guarantee, delta: float, laws: LawPair | None, x: Outputs, y: Outputs, alpha: float
) -> list[CountedEvent]:
    """Count one or two events on the draws; all limits together are wrong with probability at most
    `alpha`.
    """
    share = 1 if laws is None else 2
    each, learning = alpha / share, min(len(x) // 2, max(LEARNING, len(x) // 4))
    held_out = x.part(0, learning), y.part(0, learning)
    counting = x.part(learning, len(x)), y.part(learning, len(y))
    event = learn_event(*held_out, claim, delta, counting=len(x) - learning, alpha=each)
    events = [count_event(event, *counting, each)]
    if laws is not None:
        events.append(
            count_event(laws.best_event(claim, delta, samples=len(x), alpha=each)[1], x, y, each)
        )
    return events


def _are_checked_neighbours(runner: Runner, pair: Pair) -> bool:
    return isinstance(runner.of, Additive) and runner.of.are_neighbours(*pair)


def _name(what: object) -> str:
    if isinstance(what, Mechanism):
        return repr(what)
    return str(getattr(what, "__name__", None) or type(what).__name__)
