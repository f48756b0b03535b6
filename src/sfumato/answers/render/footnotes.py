"""What is said below an answer: the level of its intervals, what it cost, the rules that were
applied, what was clipped and what may be withheld.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ...accounting.filters import Filter
from ...errors import Refused
from ...exact.numbers import Number, probability
from ...guarantees import GDP, ZCDP, Approx, Guarantee, Pure, Renyi
from ...guarantees.meaning.honest_numbers import figure
from ..intervals import has_interval, together
from ..proportions import clipped, withheld
from .format_digits import plain
from .tabulate import level_text, printable

if TYPE_CHECKING:
    from ..answer import Answer

WORTH_SAYING = 0.01
"""A clipped share above this is told."""

_DELTA = Fraction(1, 10**6)

SYMBOLS: dict[type[Guarantee], tuple[tuple[str, str], ...]] = {
    Pure: (("ε", "epsilon"),),
    Approx: (("ε", "epsilon"), ("δ", "delta")),
    ZCDP: (("ρ", "rho"), ("δ", "delta")),
    GDP: (("μ", "mu"),),
}
"""The numbers of a notion as they are written."""


def notes(answer: Answer, confidence: Number = 0.95) -> list[list[str]]:
    """Lines of remarks. The first one is about the intervals."""
    lines = [
        [_levels(answer, confidence)],
        [*_cost(answer), *_rules(answer)],
        list(map(printable, answer.processing)),
        list(_withheld(answer)),
    ]
    return [line for line in lines if line and line[0]]


def _levels(answer: Answer, confidence: Number) -> str:
    level = probability(confidence, "confidence", zero=False)
    usual = [c for c in answer.columns if "confidence" not in c.numbers and has_interval(answer, c)]
    chosen = [c for c in usual if together(answer, c)]
    said = (
        [
            f"{level_text(level)} intervals for the bounded values"
            + (", each cell" if len(chosen) < len(usual) else "")
        ]
        if usual
        else []
    )
    if chosen:
        whose = (
            f"those of {', '.join(printable(c.name) for c in chosen)}"
            if len(chosen) < len(usual)
            else "they"
        )
        said.append(
            f"{whose} hold for all shown groups at once, because the groups were chosen "
            f"by the same noisy values"
        )
    for column in answer.columns:
        name = printable(column.name)
        if not has_interval(answer, column):
            lost = any(answer.pieces[i].among != 0 for i in column.pieces)
            said.append(
                f"{name} has no interval, because it chose the groups"
                if lost
                else f"{name} was released without an interval"
            )
        elif "confidence" in column.numbers and (
            column.numbers["confidence"] != level or not usual
        ):
            said.append(f"{name} at {level_text(column.numbers['confidence'])}")
    return "; ".join(said)


def _cost(answer: Answer) -> Iterator[str]:
    if answer.recalled:
        yield (
            f"stored answer of {printable(answer.recalled)[:10]}, free; it cost "
            f"{spent(answer.cost, None)} then"
        )
    else:
        yield f"cost {spent(answer.cost, answer.budget)}"
        if answer.left is not None and (numbers := _numbers(answer.left)):
            yield f"{figure(numbers[0][1], 'down', 6)} left"
    if answer.budget is not None and (whole := whole_budget(answer.budget)):
        yield whole


def spent(cost: Guarantee, budget: Guarantee | None) -> str:
    """ε = 0.3 of 1, δ = 1e-9 of 1e-6."""
    limits: dict[str, Fraction] = {}
    if budget is not None and type(budget) in SYMBOLS:
        try:
            cost = Filter(budget).price(cost)
            limits = dict(_numbers(budget))
        except Refused:  # the two have no common currency: each is then told by itself
            limits = {}
    numbers = _numbers(cost)
    if not numbers:
        return str(Guarantee._bind(1 * cost, None, None)) if isinstance(cost, Renyi) else str(cost)
    return ", ".join(
        f"{name} = {_short(value)}" + (f" of {plain(limits[name])}" if name in limits else "")
        for name, value in numbers
    )


def whole_budget(budget: Guarantee) -> str:
    """What a budget in another currency promises as (ε, δ), whatever is asked."""
    if type(budget) not in (ZCDP, GDP, Renyi):
        return ""
    epsilon, delta = as_epsilon(budget)
    return f"the whole budget is ε = {figure(epsilon, 'up', 4)} at δ = {plain(delta)}"


def as_epsilon(guarantee: Guarantee) -> tuple[float, Fraction]:
    """(ε, δ) that follow, at a δ of 10⁻⁶ beside what is given up anyway."""
    lost = sum(
        (
            Fraction(value)
            for name, value in guarantee.parameters.items()
            if name.split(".")[-1] == "delta"
        ),
        Fraction(0),
    )
    return guarantee.epsilon(lost + _DELTA), lost + _DELTA


def _rules(answer: Answer) -> Iterator[str]:
    told = dict(_clipped(answer))
    for rule in answer.rules:
        about = next((name for name in told if rule.startswith(_clipping(name))), None)
        yield printable(rule if about is None else f"{rule} ({told.pop(about)})")
    yield from (printable(f"{_clipping(name)}: {said}") for name, said in told.items())


def _clipped(answer: Answer) -> Iterator[tuple[str, str]]:
    """What was clipped, where it is worth saying."""
    for name, sides in clipped(answer).items():
        said = [
            f"about {s.words} of rows {where}"
            for s, where in zip(sides, ("below", "above"), strict=True)
            if s.value > WORTH_SAYING
        ]
        if said:
            yield name, ", ".join(said)


def _clipping(name: str) -> str:
    """spend [0, 64] → spend clipped to [0, 64]."""
    of, bracket, ends = name.rpartition(" [")
    return f"{of} clipped to [{ends}" if bracket else f"{name} clipped"


def _withheld(answer: Answer) -> Iterator[str]:
    found = withheld(answer)
    if found is not None:
        yield f"small groups may be withheld: about {found.words} of the counted rows are in them"


def _numbers(guarantee: Guarantee) -> list[tuple[str, Fraction]]:
    """The numbers of a guarantee that are not zero, with their letters; the first in any case."""
    named = SYMBOLS.get(type(guarantee), ())
    found = [(letter, Fraction(guarantee.parameters.get(name, 0))) for letter, name in named]
    return [pair for i, pair in enumerate(found) if pair[1] or not i]


def _short(value: Fraction) -> str:
    """An exact number where it is short, else rounded up."""
    exactly = plain(value)
    return figure(value, "up", 6) if exactly.endswith("…") or len(exactly) > 10 else exactly
