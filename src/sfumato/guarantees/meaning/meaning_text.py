"""A meaning in plain words. Each sentence is one statement of the record, with numbers rounded to
the honest side.
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


def tell(m: Meaning) -> tuple[str, ...]:
    """All that there is to say, one statement after the other."""
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
        f"Suppose that, before the answer, somebody thinks that {thought}, with a confidence "
        f"of {percent(m.prior, 'up', 6)}."
    )
    if m.posterior is not None and m.odds is not None:
        low, high = percent(m.posterior.low, "down"), percent(m.posterior.high, "up")
        yield (
            f"{before} After it they think so with a confidence between {low} and {high}, "
            f"whatever the answer is."
        )
        yield (
            f"In other words, no answer multiplies or divides their odds by more than "
            f"{figure(m.odds.high, 'up')}."
        )
        return
    yield (
        f"{before} No limit holds for every single "
        f"answer{', but answers that tell much are rare' * bool(m.outside)}."
    )
    for case in dict.fromkeys((*m.outside[:1], *m.outside[-1:])):
        low, high = percent(case.posterior.low, "down"), percent(case.posterior.high, "up")
        yield (
            f"Except with a chance of {percent(case.eta, 'up')}, their confidence is "
            f"between {low} and {high} after it: "
            f"their odds are multiplied or divided by at most {figure(case.odds.high, 'up')}."
        )
    lost = _delta(m)
    if lost:
        yield (
            f"With a chance of up to {percent(lost, 'up')} (this is δ) the answer may give "
            f"everything away."
        )


def _delta(m: Meaning) -> Fraction:
    """The probability of which nothing is promised; exact where it is a parameter."""
    return sum(
        (value for name, value in m.guarantee.parameters.items() if name.split(".")[-1] == "delta"),
        Fraction(0),
    )


def _provided(m: Meaning) -> Iterator[str]:
    who, one = _who(m), m.guarantee.unit or "person"
    yield (
        f"This holds for whoever knows everybody else's data, and for whoever thinks "
        f"that the others' data say nothing about {who}. "
        "Where they do, more may be learned through them: twins who always answer alike "
        "count as two."
    )
    if m.guarantee.relation is None:
        yield (
            f"Which datasets are neighbours is left open here. If they differ in one "
            f"{one}'s data, this is about what {_whose(m)} data are; "
            f"if they differ in one {one}'s presence, it is about whether {who} "
            f"{'are' if who == 'you' else 'is'} in the data at all, "
            f"and what {_whose(m)} data are is two steps away."
        )
    elif m.guarantee.relation == "add-remove":
        yield (
            f"What {_whose(m)} data are, to somebody who knows that they are there, is two "
            f"steps away: see guarantee.under('replace')."
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
        f"A detective who tells from the answer whether it is so catches at most "
        f"{percent(first.true_positive, 'up')} of the true cases "
        f"at {percent(first.false_positive, 'up')} false alarms, {more}."
    )
    if m.conditional_error is not None:
        errors = percent(m.conditional_error, "down")
        yield (
            f"Waiting for a lucky answer does not help: whatever happens, the two chances of "
            f"error still come to {errors} or more."
        )


def _feared(m: Meaning) -> Iterator[str]:
    otherwise = {
        "replace": f"had {_whose(m)} data been otherwise",
        "add-remove": f"had {_who(m)} not been in the data",
        None: f"without {_whose(m)} true data",
    }[m.guarantee.relation]
    before, after = percent(_FEARED, "up"), percent(m.outcome(_FEARED).high, "up")
    yield (
        f"Something bad that would follow from the answer with a chance of {before} "
        f"{otherwise} follows with a chance of at most {after}."
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
                "The answer hardly depends on anybody's data, or not at all: it may be given "
                "as often as one likes."
            )
        case 1:
            yield f"Already this one answer does not exclude {attacker}."
        case 2:
            yield (
                f"Answers add up. One answer like this still excludes {attacker}; from two "
                f"on that is not sure."
            )
        case k:
            yield (
                f"Answers add up. {_whole(k - 1)} answers like this still exclude "
                f"{attacker}; from {_whole(k)} on that is not sure."
            )
    match m.averaged_after:
        case None:
            return
        case 1:
            yield "A count that is published at this ε is the exact count with 95 % certainty."
        case n:
            told = (
                f"then the mean of {_whole(n)} answers, rounded, is the exact count with 95 "
                f"% certainty."
            )
            yield f"If a count is asked for again and again, each time at this ε, {told}"


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
    yield "So nothing can be said here about beliefs, attackers or outcomes."


def _whole(number: int) -> str:
    return figure(Fraction(number), "up", 12)
