"""The keywords of synthetic tables, written once: names, types, defaults, a line about each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from ...errors import F
from ...exact.numbers import Number
from ...guarantees import Guarantee
from ...keywords import takes
from .question_options import EXPLAINED as EXPLAINED_QUESTIONS
from .question_options import ChargeOptions, CostOptions

Bins = int | Sequence[Number] | Sequence[date]
"""How many spans a column has, or their edges."""
SyntheticRows = Any  # a sfumato.synth.SyntheticTable, of a layer above this one


class SynthesisOptions(CostOptions, total=False):
    """What is synthesized, at which cost."""

    rows: int | None
    columns: Iterable[str] | None
    bins: Mapping[str, Bins] | None
    impossible: Iterable[Mapping[str, object]]


class SynthesisRelease(SynthesisOptions, ChargeOptions, total=False):
    """The keywords of a release, with who pays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisSettings:
    """The values of all keywords; those not stated have their defaults."""

    epsilon: Number | None = None
    delta: Number | None = None
    promise: Guarantee | None = None
    rows: int | None = None
    columns: Iterable[str] | None = None
    bins: Mapping[str, Bins] | None = None
    impossible: Iterable[Mapping[str, object]] = ()
    share: str | None = None
    fresh: bool = False
    timeout: float | None = None


DEFAULTS = {field.name: field.default for field in fields(SynthesisSettings)}

EXPLAINED = {
    "table": "a protected table, or rows of it that meet conditions",
    "epsilon": EXPLAINED_QUESTIONS["epsilon"],
    "delta": EXPLAINED_QUESTIONS["delta"],
    "promise": EXPLAINED_QUESTIONS["promise"],
    "rows": "the number of synthetic rows; without it, a noisy count of the data",
    "columns": "the columns; without it, all but those that name the unit",
    "bins": "the spans of numbers and dates: {'age': 20}, or edges {'age': [0, 18, 65, 120]}",
    "impossible": "combinations that cannot occur: [{'age': '0-17', 'vote': True}]",
    "share": EXPLAINED_QUESTIONS["share"],
    "fresh": "whether to pay for a new table, where the same one is stored",
    "timeout": EXPLAINED_QUESTIONS["timeout"],
}
"""Keyword → what it means, for `help()`."""


def synthesizes(options: type) -> Callable[[F], F]:
    """Let a function take these options: see `keywords.takes`."""
    return takes(options, DEFAULTS, EXPLAINED)
