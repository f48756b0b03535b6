"""Write the meaning of a guarantee in plain sentences. Each sentence states one field of the
record, with numbers rounded to the honest side.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..random_dp import RandomDP
from .honest_numbers import figure, percent

if TYPE_CHECKING:
    from .promise_meaning import Meaning

_FEARED = Fraction(1, 100)
_HARDLY = 0.9


def write_sentences(m: Meaning) -> tuple[str, ...]:
    """Return all sentences that follow from the record, one statement each."""
    if isinstance(m.guarantee, RandomDP):
        return tuple(_random(m.guarantee))
    return tuple(
        line
        for part in (_belief, _provided, _guess, _detective, _feared, _average, _again, _verdict)
        for line in part(m)
    )


def _who(m: Meaning) -> str:
    return f"one {m.guarantee.unit}" if m.guarantee.unit else "you"


def _whose(m: Meaning) -> str:
    return f"one {m.guarantee.unit}'s" if m.guarantee.unit else "your"


def _belief(m: Meaning) -> Iterator[str]:
    who = _who(m)
    thought = {
        "replace": f"a certain thing is true of {_whose(m)} data",
        "add-remove": f"{who} {'are' if who == 'you' else 'is'} in the data at all",
        None: f"a certain thing is true of {who}",
    }[m.guarantee.relation]
    before = (
        f"Suppose somebody is {percent(m.prior, 'up', 6)} confident, before the answer, that "
        f"{thought}."
    )
    if m.posterior is not None and m.odds is not None:
        low, high = percent(m.posterior.low, "down"), percent(m.posterior.high, "up")
        yield (
            f"{before} After the answer their confidence is between {low} and {high}, "
            f"whatever the answer is."
        )
        yield (
            f"In other words, no answer multiplies or divides their odds by more than "
            f"{figure(m.odds.high, 'up')}."
        )
        return
    yield (
        f"{before} No limit holds for every single "
        f"answer{', but revealing answers are rare' * bool(m.outside)}."
    )
    for case in dict.fromkeys((*m.outside[:1], *m.outside[-1:])):
        low, high = percent(case.posterior.low, "down"), percent(case.posterior.high, "up")
        yield (
            f"Except with a chance of {percent(case.eta, 'up')}, their confidence is "
            f"between {low} and {high} after the answer: "
            f"their odds are multiplied or divided by at most {figure(case.odds.high, 'up')}."
        )
    lost = _delta(m)
    if lost:
        yield (
            f"With a chance of up to {percent(lost, 'up')} (this is δ) the answer may give "
            f"everything away."
        )


def _delta(m: Meaning) -> Fraction:
    """The probability with which the guarantee promises nothing: the sum of its δ parameters."""
    return sum(
        (value for name, value in m.guarantee.parameters.items() if name.split(".")[-1] == "delta"),
        Fraction(0),
    )


def _provided(m: Meaning) -> Iterator[str]:
    who, unit = _who(m), m.guarantee.unit or "person"
    is_ = "are" if who == "you" else "is"
    yield (
        f"This holds against anyone who knows everybody else's data, and against anyone who "
        f"believes that other people's data say nothing about {who}. "
        "If they do say something, more can be learned: twins who always answer alike count "
        "as two."
    )
    if m.guarantee.relation is None:
        yield (
            f"The neighbour relation is left open here. If neighbours differ in one "
            f"{unit}'s data, this is about what {_whose(m)} data are; "
            f"if they differ in one {unit}'s presence, it is about whether {who} {is_} in the "
            f"data at all, and what {_whose(m)} data are is two steps away."
        )
    elif m.guarantee.relation == "add-remove":
        yield (
            f"Against somebody who knows that {who} {is_} in the data, what {_whose(m)} data are "
            f"is two steps away: see guarantee.under('replace')."
        )


def _guess(m: Meaning) -> Iterator[str]:
    if m.right_guess is not None:
        blind = percent(max(m.prior, 1 - m.prior), "up", 6)
        yield (
            f"If they have to guess, they are right with a chance of at most "
            f"{percent(m.right_guess, 'up')}; without the answer it is {blind}."
        )


def _detective(m: Meaning) -> Iterator[str]:
    first, *others = m.detection
    more = ", ".join(
        f"{percent(d.true_positive, 'up')} at {percent(d.false_positive, 'up')}" for d in others
    )
    yield (
        f"A detective who decides from the answer whether it is true catches at most "
        f"{percent(first.true_positive, 'up')} of the true cases "
        f"at {percent(first.false_positive, 'up')} false alarms, {more}."
    )
    if m.conditional_error is not None:
        errors = percent(m.conditional_error, "down")
        yield (
            f"Waiting for a lucky answer does not help: whatever happens, the two error rates "
            f"still add up to {errors} or more."
        )


def _feared(m: Meaning) -> Iterator[str]:
    otherwise = {
        "replace": f"if {_whose(m)} data were different",
        "add-remove": f"if {_who(m)} were not in the data",
        None: f"without {_whose(m)} true data",
    }[m.guarantee.relation]
    before, after = percent(_FEARED, "up"), percent(m.outcome(_FEARED).high, "up")
    yield (
        f"Something bad that would follow from the answer with a chance of {before} "
        f"{otherwise} has a chance of at most {after}."
    )


def _average(m: Meaning) -> Iterator[str]:
    if m.log_bayes_factor:
        rise = figure(m.log_bayes_factor, "up")
        yield (
            f"On average over answers, the logarithm of the odds on the truth rises by at "
            f"most {rise}; a single answer may say more."
        )


def _again(m: Meaning) -> Iterator[str]:
    attacker = "an attacker who is wrong at most 5 % of the time either way"
    match m.told_apart_after:
        case None:
            yield (
                "The answer depends on nobody's data, or hardly: it may be repeated any number "
                "of times."
            )
        case 1:
            yield f"This single answer already does not exclude {attacker}."
        case 2:
            yield (f"Answers add up. One answer like this still excludes {attacker}; two may not.")
        case k:
            yield (
                f"Answers add up. {_digits(k - 1)} answers like this still exclude "
                f"{attacker}; {_digits(k)} may not."
            )
    match m.averaged_after:
        case None:
            return
        case 1:
            yield "A count published at this ε is the exact count with 95 % certainty."
        case n:
            yield (
                f"If somebody asks for the same count {_digits(n)} times at this ε, the mean of "
                f"the answers, rounded, is the exact count with 95 % certainty."
            )


def _verdict(m: Meaning) -> Iterator[str]:
    if m.advantage is not None and m.advantage >= _HARDLY:
        yield "This is hardly a protection: an attacker may be right nearly always."


def _random(g: RandomDP) -> Iterator[str]:
    yield (
        f"This is no promise to any particular person. It says that {g.guarantee!r} "
        f"holds for most pairs of neighbouring datasets "
        f"that are drawn from a distribution: {g.over}."
    )
    lost = percent(g.gamma, "up")
    yield (
        f"With a chance of up to {lost} a pair that is drawn is not protected at all, and "
        f"real data are not drawn: yours may be such a pair."
    )
    yield "Nothing follows from it about beliefs, attackers or outcomes."


def _digits(number: int) -> str:
    return figure(Fraction(number), "up", 12)
