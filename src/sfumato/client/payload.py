"""Build the JSON of a question to a server: a SELECT and one of epsilon, within, promise. Numbers
are sent as text, so that 1/3 stays exact.

*Not here*  A server does not take some arguments of a protected table; each is refused with the
            reason, unless it has its default value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypedDict

from ..errors import RefusalText
from ..exact.numbers import Number, exact, positive, probability
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record
from . import client_refusals as refusals

Parameters = Sequence[object] | Mapping[str, object]


class QuestionOptions(TypedDict, total=False):
    """The options of a question, with the names that a protected table uses."""

    epsilon: Number | None
    delta: Number | None
    promise: Guarantee | None
    within: Number | Mapping[str, Number] | None
    confidence: Number
    group_size: int | None
    parameters: Parameters | None
    simultaneous: bool
    share: str | None
    fresh: bool
    learn: bool


NOT_ACCEPTED: Mapping[str, tuple[object, RefusalText]] = {
    "share": (None, refusals.SHARE_NOT_TAKEN),
    "fresh": (False, refusals.FRESH_NOT_TAKEN),
    "simultaneous": (False, refusals.SIMULTANEOUS_NOT_TAKEN),
    "learn": (True, refusals.LEARN_NOT_TAKEN),
}
"""Arguments that a server does not take: the default value, and the refusal of any other."""


def build_payload(
    sql: str,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    promise: Guarantee | None = None,
    within: Number | Mapping[str, Number] | None = None,
    confidence: Number = 0.95,
    group_size: int | None = None,
    parameters: Parameters | None = None,
    **others: object,
) -> dict[str, object]:
    """Build a question as the server takes it. Refuse arguments that the server would not take and
    values that JSON would change.
    """
    for name, value in others.items():
        if name not in NOT_ACCEPTED:
            raise TypeError(f"a question has no argument {name!r}")
        usual, refusal = NOT_ACCEPTED[name]
        if value is not usual:
            raise refusal(value=value)
    stated = [
        name
        for name, value in (("epsilon", epsilon), ("within", within), ("promise", promise))
        if value is not None
    ]
    if len(stated) != 1:
        raise refusals.PROMISE_NOT_ONE(
            stated=", ".join(f"{name}=…" for name in stated) or "no promise"
        )
    payload: dict[str, object] = {"sql": sql}
    if epsilon is not None:
        payload["epsilon"] = str(positive(epsilon, "epsilon"))
    if delta is not None:
        payload["delta"] = str(probability(delta, "delta"))
    if within is not None:
        payload["within"] = (
            {name: str(positive(width, "within")) for name, width in within.items()}
            if isinstance(within, Mapping)
            else str(positive(within, "within"))
        )
    if promise is not None:
        if not isinstance(promise, Guarantee):
            raise refusals.PROMISE_NOT_GUARANTEE(type=type(promise).__name__)
        payload["promise"] = record(promise)
    if exact(confidence, "confidence") != Fraction(19, 20):
        payload["confidence"] = str(probability(confidence, "confidence", zero=False))
    if group_size is not None:
        payload["group_size"] = group_size
    if parameters is not None:
        payload["parameters"] = (
            {name: _scalar(value) for name, value in parameters.items()}
            if isinstance(parameters, Mapping)
            else [_scalar(value) for value in parameters]
        )
    return payload


def _scalar(value: object) -> str | int | float | None:
    """Return a parameter as a JSON scalar; refuse a value that JSON would change."""
    plain = (
        value.item()
        if hasattr(value, "dtype")
        and hasattr(value, "item")
        and getattr(value, "shape", None) == ()
        else value
    )
    if (
        isinstance(plain, bool | str)
        or plain is None
        or (isinstance(plain, int) and abs(plain) < 2**63)
        or (isinstance(plain, float) and math.isfinite(plain))
    ):
        return plain
    raise refusals.PARAMETER_NOT_JSON(type=type(plain).__name__)
