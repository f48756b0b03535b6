"""Build the JSON of a question to a server: a SELECT and one of epsilon, within, promise. Numbers
are sent as text, so that 1/3 stays exact.

*Not here*  A server does not take some arguments of a protected table; each is refused with the
            reason, unless it has its default value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Unpack

from ..errors import RefusalText
from ..exact.numbers import exact, positive, probability
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record
from ..tables.query.question_options import ParameterValues, PlanOptions, QuestionSettings, asks
from . import client_refusals as refusals


class QuestionOptions(PlanOptions, total=False):
    """The keywords of a question to a server: those that a protected table takes."""

    share: str | None
    fresh: bool


NOT_ACCEPTED: Mapping[str, tuple[object, RefusalText]] = {
    "share": (None, refusals.SHARE_NOT_TAKEN),
    "fresh": (False, refusals.FRESH_NOT_TAKEN),
    "simultaneous": (False, refusals.SIMULTANEOUS_NOT_TAKEN),
    "learn": (True, refusals.LEARN_NOT_TAKEN),
    "learn_for": ("question", refusals.LEARN_FOR_NOT_TAKEN),
}
"""Arguments that a server does not take: the default value, and the refusal of any other."""


@asks(QuestionOptions)
def build_payload(
    sql: str,
    *,
    parameters: ParameterValues | None = None,
    **options: Unpack[QuestionOptions],
) -> dict[str, object]:
    """Build a question as the server takes it. Refuse arguments that the server would not take and
    values that JSON would change.
    """
    settings = QuestionSettings(**options)
    for name, (usual, refusal) in NOT_ACCEPTED.items():
        if (value := getattr(settings, name)) is not usual:
            raise refusal(value=value)
    epsilon, delta, promise = settings.epsilon, settings.delta, settings.promise
    within, confidence, group_size = settings.within, settings.confidence, settings.group_size
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
