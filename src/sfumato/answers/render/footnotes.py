"""Build the three lines below an answer: what intervals cover, the cost, and what was done.

*Lines*     What limits left out, where 0 is excluded, and what ± covers; the cost; limits that are
            mere defaults, processing, and where all rules are. `explain_answer` prints all rules.
*Wording*   is in `footnote_texts`. Everything printed is post-processing of released numbers.
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
from ...guarantees.meaning.literature import WITH_DELTA
from ...tables.declare.learned_limits import DEFAULT
from ...tables.plan.explain_groups import NO_GROUP, SHOWN_FROM
from ..intervals import has_interval, hold_simultaneously
from ..left_out import left_out_notes
from . import footnote_texts as texts
from .format_digits import format_exact
from .tabulate import level_text, printable

if TYPE_CHECKING:
    from ..answer import Answer

_DELTA = Fraction(1, 10**6)


def build_notes(
    answer: Answer, confidence: Number = 0.95, hint: str = "", *, says_left_out: bool = True
) -> list[list[str]]:
    """Return the footnotes as lines of items. `hint` names the place that tells all rules."""
    lines = [
        [*(left_out_notes(answer) if says_left_out else ()), interval_note(answer, confidence)],
        list(cost_notes(answer)),
        [
            *(printable(rule) for rule in answer.rules if _is_printed(rule)),
            *map(printable, answer.processing),
            *_rules_hint(answer, hint),
        ],
    ]
    return [[item for item in line if item] for line in lines if any(line)]


def interval_note(answer: Answer, confidence: Number = 0.95) -> str:
    """Say what the intervals cover, and at which level."""
    level = probability(confidence, "confidence", zero=False)
    usual = [c for c in answer.columns if "confidence" not in c.numbers and has_interval(answer, c)]
    chosen = [c for c in usual if hold_simultaneously(answer, c)]
    are_all_chosen = len(chosen) == len(usual)
    levels = [] if are_all_chosen else [texts.EACH_CELL.format(level=level_text(level))]
    apart = []
    for column in answer.columns:
        name = printable(column.name)
        if not has_interval(answer, column):
            is_lost = any(answer.pieces[i].among != 0 for i in (*column.pieces, *column.sources))
            apart.append((texts.INTERVAL_LOST if is_lost else texts.NO_INTERVAL).format(name=name))
        elif "confidence" in column.numbers and (
            column.numbers["confidence"] != level or not usual
        ):
            own_level = level_text(column.numbers["confidence"])
            levels.append(texts.OTHER_LEVEL.format(name=name, level=own_level))
    limits = texts.LIMITS_APART if _has_limits(answer) else ""
    parts = [texts.INTERVALS.format(apart=limits, levels="; ".join(levels))] if levels else []
    if chosen:
        names = ", ".join(printable(c.name) for c in chosen)
        whose = (texts.WHOSE_SOME if levels else texts.WHOSE_ALL).format(names=names, apart=limits)
        parts.append(texts.ALL_GROUPS.format(whose=whose, level=level_text(level)))
    return "; ".join([*parts, *apart])


def _is_printed(rule: str) -> bool:
    """Tell whether a rule is printed below the table: one about a limit that is a mere default,
    about the size that a group needs, or about a δ that is too large.
    """
    return DEFAULT in rule or rule.startswith((SHOWN_FROM, NO_GROUP, WITH_DELTA))


def _has_limits(answer: Answer) -> bool:
    """Tell whether a limit may have left something out. An answer that did not record how units
    were bounded may have limits.
    """
    unlimited = answer.weighing is not None and answer.weighing.rule == "row"
    return not unlimited or any("clipped" in rule for rule in answer.rules)


def _rules_hint(answer: Answer, hint: str) -> Iterator[str]:
    count = len(answer.rules)
    if count and hint:
        yield (texts.ALL_RULES if count > 1 else texts.ONE_RULE).format(where=hint, count=count)


def cost_notes(answer: Answer) -> Iterator[str]:
    """Yield what the answer cost, what is left, and what else was spent for it."""
    if answer.recalled:
        date = printable(answer.recalled)[:10]
        yield texts.STORED.format(date=date, cost=cost_text(answer.cost, None))
    else:
        yield texts.COST.format(cost=cost_text(answer.cost, answer.budget))
        if answer.left is not None and (numbers := _numbers(answer.left)):
            yield texts.LEFT.format(left=figure(numbers[0][1], "down", 6))
    yield from (printable(rule) for rule in answer.rules if is_cost(rule))
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


def is_cost(rule: str) -> bool:
    """Tell whether a rule is about what was spent, as the cost is."""
    return texts.SPENT in rule or texts.SPENT_BEFORE in rule or rule.endswith(texts.BATCH_COST)


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
