"""Build the footnotes of an answer: interval level, cost, rules, clipped and withheld rows.

The wording is in `footnote_texts`. Everything printed here is post-processing of released numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ...accounting.filters import Filter
from ...errors import Refused
from ...exact.numbers import Number, probability
from ...guarantees import Guarantee
from ...guarantees.guarantee import curves
from ...guarantees.meaning.honest_numbers import figure
from ..intervals import has_interval, hold_simultaneously
from ..proportions import clipped_shares, withheld_share
from . import footnote_texts as texts
from .format_digits import format_exact
from .tabulate import level_text, printable

if TYPE_CHECKING:
    from ..answer import Answer

WORTH_SAYING = 0.01
"""The least clipped share that gets a footnote."""

_DELTA = Fraction(1, 10**6)


def build_notes(answer: Answer, confidence: Number = 0.95) -> list[list[str]]:
    """Return the footnotes as lines of items. The first line is about the intervals."""
    lines = [
        [_interval_note(answer, confidence)],
        [*_cost_notes(answer), *_rule_notes(answer)],
        list(map(printable, answer.processing)),
        list(_withheld_notes(answer)),
    ]
    return [line for line in lines if line and line[0]]


def _interval_note(answer: Answer, confidence: Number) -> str:
    level = probability(confidence, "confidence", zero=False)
    usual = [c for c in answer.columns if "confidence" not in c.numbers and has_interval(answer, c)]
    chosen = [c for c in usual if hold_simultaneously(answer, c)]
    are_all_chosen = len(chosen) == len(usual)
    parts = []
    if usual:
        each_cell = "" if are_all_chosen else texts.EACH_CELL
        parts.append(texts.INTERVALS.format(level=level_text(level)) + each_cell)
    if chosen:
        names = ", ".join(printable(c.name) for c in chosen)
        whose = texts.WHOSE_ALL if are_all_chosen else texts.WHOSE_SOME.format(names=names)
        parts.append(texts.ALL_GROUPS.format(whose=whose))
    for column in answer.columns:
        name = printable(column.name)
        if not has_interval(answer, column):
            is_lost = any(answer.pieces[i].among != 0 for i in column.pieces)
            text = texts.INTERVAL_LOST if is_lost else texts.NO_INTERVAL
            parts.append(text.format(name=name))
        elif "confidence" in column.numbers and (
            column.numbers["confidence"] != level or not usual
        ):
            own_level = level_text(column.numbers["confidence"])
            parts.append(texts.OTHER_LEVEL.format(name=name, level=own_level))
    return "; ".join(parts)


def _cost_notes(answer: Answer) -> Iterator[str]:
    if answer.recalled:
        date = printable(answer.recalled)[:10]
        yield texts.STORED.format(date=date, cost=cost_text(answer.cost, None))
    else:
        yield texts.COST.format(cost=cost_text(answer.cost, answer.budget))
        if answer.left is not None and (numbers := _numbers(answer.left)):
            yield texts.LEFT.format(left=figure(numbers[0][1], "down", 6))
    if answer.budget is not None and (budget_text := budget_as_epsilon(answer.budget)):
        yield budget_text


def cost_text(cost: Guarantee, budget: Guarantee | None) -> str:
    """Format a cost, with the budget it is part of: ε = 0.3 of 1, δ = 1e-9 of 1e-6."""
    limits: dict[str, Fraction] = {}
    if budget is not None and budget.symbols:
        try:
            cost = Filter(budget).price(cost)
            limits = dict(_numbers(budget))
        except Refused:  # no common currency: print the cost without the budget
            limits = {}
    numbers = _numbers(cost)
    if not numbers:
        is_curve = type(cost) in curves()
        return str(Guarantee._bind(1 * cost, None, None)) if is_curve else str(cost)
    return ", ".join(
        texts.NUMBER.format(letter=letter, value=_short(value))
        + (texts.OF_LIMIT.format(limit=format_exact(limits[letter])) if letter in limits else "")
        for letter, value in numbers
    )


def budget_as_epsilon(budget: Guarantee) -> str:
    """Describe a ρ, μ or Rényi budget as (ε, δ); empty for a budget that has an ε already."""
    if type(budget) not in curves():
        return ""
    epsilon, delta = to_epsilon_delta(budget)
    return texts.BUDGET_AS_EPSILON.format(
        epsilon=figure(epsilon, "up", 4), delta=format_exact(delta)
    )


def to_epsilon_delta(guarantee: Guarantee) -> tuple[float, Fraction]:
    """Convert a guarantee to (ε, δ), with δ = 10⁻⁶ on top of the guarantee's own δ."""
    lost = sum(
        (
            Fraction(value)
            for name, value in guarantee.parameters.items()
            if name.split(".")[-1] == "delta"
        ),
        Fraction(0),
    )
    return guarantee.epsilon(lost + _DELTA), lost + _DELTA


def _rule_notes(answer: Answer) -> Iterator[str]:
    """Yield the rules of the release; a clipping rule gets its clipped share in parentheses."""
    clipping_notes = dict(_clipping_notes(answer))
    for rule in answer.rules:
        about = next((name for name in clipping_notes if _is_rule_about(name, rule)), None)
        yield printable(rule if about is None else f"{rule} ({clipping_notes.pop(about)})")
    yield from (
        printable(f"{_clipping_prefix(name)}: {note}") for name, note in clipping_notes.items()
    )


def _clipping_notes(answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield each clipped column with the shares of rows outside its bounds, if they matter."""
    for name, shares in clipped_shares(answer).items():
        notes = [
            texts.CLIPPED_SHARE.format(share=share.words, side=side)
            for share, side in zip(shares, (texts.BELOW, texts.ABOVE), strict=True)
            if share.value > WORTH_SAYING
        ]
        if notes:
            yield name, ", ".join(notes)


def _clipping_prefix(name: str) -> str:
    """Begin the rule of a clipped column: spend [0, 64] → spend clipped to [0, 64]."""
    column, bracket, ends = name.rpartition(" [")
    if not bracket:
        return texts.CLIPPED.format(column=name)
    return texts.CLIPPED_TO.format(column=column, ends=ends)


def _is_rule_about(name: str, rule: str) -> bool:
    """Whether a rule is about this clipped column alone, and not about a product with it."""
    prefix = _clipping_prefix(name)
    return rule == prefix or rule.startswith(
        (f"{prefix} (", f"{prefix} where ", f"{prefix} before ")
    )


def _withheld_notes(answer: Answer) -> Iterator[str]:
    share = withheld_share(answer)
    if share is not None:
        yield texts.WITHHELD.format(share=share.words)


def _numbers(guarantee: Guarantee) -> list[tuple[str, Fraction]]:
    """Return the letters and nonzero numbers of a guarantee; the first number even if it is 0."""
    lettered = [
        (letter, Fraction(guarantee.parameters.get(name, 0)))
        for name, letter in guarantee.symbols.items()
    ]
    return [pair for i, pair in enumerate(lettered) if pair[1] or not i]


def _short(value: Fraction) -> str:
    """Format a number exactly if that is short, else rounded up."""
    exactly = format_exact(value)
    return figure(value, "up", 6) if exactly.endswith("…") or len(exactly) > 10 else exactly
