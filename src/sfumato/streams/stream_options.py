"""The keywords of `stream`, written once: names, types, defaults, and a line about each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import TypedDict

from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..tables.query.question_options import ParameterValues

Moment = str | date | datetime


class StreamOptions(TypedDict, total=False):
    """The keywords beside the table, the query, its time and its beginning."""

    every: str
    epsilon: Number | None
    delta: Number | None
    promise: Guarantee | None
    window: int | None
    length: int | None
    first_periods: int | None
    any_periods: int | None
    unit_rows: int | None
    append_only: bool
    wait: int
    budget: Number | Guarantee | None
    parameters: ParameterValues | None
    timeout: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """The values of all keywords of `stream`; those not stated have their defaults."""

    every: str = "day"
    epsilon: Number | None = None
    delta: Number | None = None
    promise: Guarantee | None = None
    window: int | None = None
    length: int | None = None
    first_periods: int | None = None
    any_periods: int | None = None
    unit_rows: int | None = None
    append_only: bool = False
    wait: int = 0
    budget: Number | Guarantee | None = None
    parameters: ParameterValues | None = None
    timeout: float | None = None


DEFAULTS = {field.name: field.default for field in fields(StreamSettings)}

EXPLAINED = {
    "every": "the length of a period: year, quarter, month, week, day or hour",
    "epsilon": "the ε of the whole stream, for ever",
    "delta": "the δ of the whole stream; without it, a thousandth of the budget's δ",
    "promise": "the cost as a Guarantee, in place of epsilon= and delta=: sf.ZCDP(0.01)",
    "window": "serve sums of up to so many periods, and forget what is older; 1: each by itself",
    "length": "the number of periods, if the stream ends",
    "first_periods": "a unit counts in its first so many periods, and is protected for ever",
    "any_periods": "protect what a unit does in any so many consecutive periods",
    "unit_rows": "the rows of a unit that count in one period; without it, max_rows of the table",
    "append_only": "whether rows are only ever added; first_periods= rests on it",
    "wait": "the number of periods to wait for late rows",
    "budget": "with any_periods=: the budget of all streams that protect the same",
    "parameters": "the values of ? or $1 in the text as a list, or of $name as a dictionary",
    "timeout": "the seconds that the engine has for one call",
}
