"""The keywords of a question, written once: names, types, defaults, and a line about each.

*Options*    A TypedDict lists the keywords that a method takes as `**options`.
*Settings*   The method reads them as `QuestionSettings(**options)`, which holds the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypedDict

from ...errors import F
from ...exact.numbers import Number
from ...guarantees import Guarantee
from ...keywords import takes

Within = Number | Mapping[str, Number]
"""An accuracy: of the only column, or by column."""
ParameterValues = Sequence[object] | Mapping[str, object]
"""The values of the parameters of a SELECT: in order, or by name."""


class CostOptions(TypedDict, total=False):
    """What an answer may cost: `epsilon` with or without `delta`, or a `promise`."""

    epsilon: Number | None
    delta: Number | None
    promise: Guarantee | None


class PlanOptions(CostOptions, total=False):
    """The keywords of a plan: its cost, or the accuracy to reach."""

    within: Within | None
    confidence: Number
    simultaneous: bool
    group_size: int | None
    learn: bool
    learn_for: str


class ChargeOptions(TypedDict, total=False):
    """Who pays, and how the engine runs."""

    share: str | None
    fresh: bool
    timeout: float | None


class ReleaseOptions(PlanOptions, ChargeOptions, total=False):
    """The keywords of a release."""


class BatchPlanOptions(CostOptions, total=False):
    """The keywords of a plan of several questions, which have one cost together."""

    group_size: int | None
    learn: bool
    learn_for: str


class BatchReleaseOptions(BatchPlanOptions, ChargeOptions, total=False):
    """The keywords of a release of several questions."""


class LearnOptions(CostOptions, ChargeOptions, total=False):
    """The keywords of learning."""

    learn_for: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSettings:
    """The values of all keywords of a question; those not stated have their defaults."""

    epsilon: Number | None = None
    delta: Number | None = None
    promise: Guarantee | None = None
    within: Within | None = None
    confidence: Number = 0.95
    simultaneous: bool = False
    group_size: int | None = None
    learn: bool = True
    learn_for: str = "question"
    share: str | None = None
    fresh: bool = False
    timeout: float | None = None


DEFAULTS = {field.name: field.default for field in fields(QuestionSettings)}

EXPLAINED = {
    "parameters": "the values of ? or $1 in the text as a list, or of $name as a dictionary",
    "epsilon": "the ε that this may cost",
    "delta": "the δ that this may cost; without it, a thousandth of the budget's δ",
    "promise": "the cost as a Guarantee, in place of epsilon= and delta=: sf.ZCDP(0.01)",
    "within": "the accuracy to reach at the least cost, in place of a cost: 25 or {'n': 25}",
    "confidence": "the probability that a number is within=",
    "simultaneous": "whether all groups of a column are within= together, with that probability",
    "group_size": "the rows per group to assume: the error of a mean or a ratio depends on it",
    "learn": "whether to learn missing bounds and limits first, for an extra sixth of the cost",
    "learn_for": "what learned limits are best for: the 'question', or small 'groups' of the table",
    "share": "the share of the budget that pays",
    "fresh": "whether to pay for a new answer, where the same question has a stored one",
    "timeout": "the seconds that the engine has; the charge stays if it needs more",
    "columns": "the columns whose bounds to learn; without it, all that lack bounds",
    "groups": "the columns by which to learn the number of groups per unit",
}
"""Keyword → what it means, for `help()`."""


def asks(options: type) -> Callable[[F], F]:
    """Let a method take these options: see `keywords.takes`."""
    return takes(options, DEFAULTS, EXPLAINED)
