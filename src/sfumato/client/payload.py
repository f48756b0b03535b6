"""What is asked of a server: a SELECT and one of epsilon, within, promise, as JSON. Numbers go as
text, so that a third stays a third.

*Not here*  Some arguments of a protected table have no place in a question over the wire; each is
            refused with the reason, unless it has its usual value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypedDict

from ..errors import Refused
from ..exact.numbers import Number, exact, positive, probability
from ..guarantees import Guarantee
from ..guarantees.stored_guarantee import record


class How(TypedDict, total=False):
    """What is said of a question beside its text, by the names that a protected table has for
    it.
    """

    epsilon: Number | None
    delta: Number | None
    promise: Guarantee | None
    within: Number | Mapping[str, Number] | None
    confidence: Number
    group_size: int | None
    parameters: Sequence[Any] | Mapping[str, Any] | None
    simultaneous: bool
    share: str | None
    fresh: bool
    learn: bool


ELSEWHERE: Mapping[str, tuple[Any, str, str]] = {
    "share": (
        None,
        "whose part of the budget pays is said by the token",
        "a token of another name",
    ),
    "fresh": (
        False,
        "a server gives the stored answer to the same question, at no cost to the dataset",
        "another epsilon, which is another question",
    ),
    "simultaneous": (False, "a server promises each cell by itself", "a higher confidence="),
    "learn": (
        True,
        "a server learns what the question lacks",
        "bounds and limits that the owner declares",
    ),
}
"""Arguments that a server does not take: the usual value, why not, and what to do instead."""


def question(
    sql: str,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    promise: Guarantee | None = None,
    within: Number | Mapping[str, Number] | None = None,
    confidence: Number = 0.95,
    group_size: int | None = None,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """A question as the server takes it; refused here is what it would not take, or what would
    change on the way.
    """
    for name, given in others.items():
        if name not in ELSEWHERE:
            raise TypeError(f"a question has no argument {name!r}")
        usual, reason, rewrite = ELSEWHERE[name]
        if given is not usual:
            raise Refused("client.option", f"{name}={given!s:.40}", reason, rewrite)
    said = [
        name
        for name, given in (("epsilon", epsilon), ("within", within), ("promise", promise))
        if given is not None
    ]
    if len(said) != 1:
        place = ", ".join(f"{name}=…" for name in said) or "no promise"
        raise Refused(
            "plan.promise",
            place,
            "a question says its cost or its accuracy, in one way",
            "epsilon=0.1, or within=25, or promise=sf.Pure(0.5)",
        )
    found: dict[str, Any] = {"sql": sql}
    if epsilon is not None:
        found["epsilon"] = str(positive(epsilon, "epsilon"))
    if delta is not None:
        found["delta"] = str(probability(delta, "delta"))
    if within is not None:
        found["within"] = (
            {name: str(positive(one, "within")) for name, one in within.items()}
            if isinstance(within, Mapping)
            else str(positive(within, "within"))
        )
    if promise is not None:
        if not isinstance(promise, Guarantee):
            raise Refused(
                "plan.promise",
                f"promise={type(promise).__name__}",
                "a promise is a Guarantee",
                "promise=sf.Pure(0.5), or epsilon=0.5",
            )
        found["promise"] = record(promise)
    if exact(confidence, "confidence") != Fraction(19, 20):
        found["confidence"] = str(probability(confidence, "confidence", zero=False))
    if group_size is not None:
        found["group_size"] = group_size
    if parameters is not None:
        named = isinstance(parameters, Mapping)
        found["parameters"] = (
            {name: _scalar(one) for name, one in parameters.items()}  # type: ignore[union-attr]
            if named
            else [_scalar(one) for one in parameters]
        )
    return found


def _scalar(value: Any) -> Any:
    """A parameter as JSON has it; what JSON would change is refused."""
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
    reason = (
        "a parameter goes to a server as JSON: a text, a whole number of 64 bits, a finite "
        "float, a truth value or None"
    )
    raise Refused(
        "client.option",
        f"parameters: {type(plain).__name__}",
        reason,
        "a date as text beside a column of dates: day >= $1",
    )
