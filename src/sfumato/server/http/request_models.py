"""A question as it comes over the wire: one JSON object, checked before anything else is done with
it.

Numbers may be strings, and stay exact: "1/3" is a third. What is not named here is refused.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from ...errors import Refused
from ...guarantees.stored_guarantee import restore
from .problems import Problem, Stopped

MOST_TEXT = 10_000
MOST_DEPTH = 16
Written = Annotated[
    str,
    Field(
        strict=True,
        pattern=r"^[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?(/[1-9][0-9]{0,29})?$",
    ),
]
Positive = Annotated[float, Field(strict=True, gt=0, lt=1e15, allow_inf_nan=False)]
Amount = Positive | Written
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Scalar = StrictStr | StrictInt | Finite | StrictBool | None
Name = Annotated[str, Field(strict=True, min_length=1, max_length=200)]


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 7.0 is a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class PromiseRecord(BaseModel):
    """A guarantee, as the library stores it."""

    model_config = ConfigDict(extra="forbid")
    sfumato: Literal["guarantee"] = "guarantee"
    version: Literal[1] = 1
    notion: Literal["Pure", "Approx", "ZCDP", "GDP"]
    epsilon: Written | None = None
    delta: Written | None = None
    rho: Written | None = None
    mu_squared: Written | None = None
    relation: Literal["add-remove", "replace"] | None = None
    unit: Name | None = None


class Question(BaseModel):
    """A SELECT, and one of: epsilon, within, promise."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"oneOf": [{"required": ["epsilon"]}, {"required": ["within"]}, {"required": ["promise"]}]}
    )  # fmt: skip
    sql: Annotated[str, Field(strict=True, min_length=1, max_length=MOST_TEXT)]
    epsilon: Amount | None = None
    delta: (
        Annotated[float, Field(strict=True, ge=0, lt=1, allow_inf_nan=False)] | Written | None
    ) = None
    within: Amount | Annotated[dict[Name, Amount], Field(min_length=1, max_length=100)] | None = (
        None
    )
    promise: PromiseRecord | None = None
    confidence: (
        Annotated[float, Field(strict=True, gt=0, lt=1, allow_inf_nan=False)] | Written | None
    ) = None
    group_size: (
        Annotated[int, Field(strict=True, ge=1, le=10**12), BeforeValidator(_whole)] | None
    ) = None
    parameters: (
        Annotated[list[Scalar], Field(max_length=100)]
        | Annotated[dict[Name, Scalar], Field(max_length=100)]
        | None
    ) = None

    @model_validator(mode="before")
    @classmethod
    def _one(cls, said: Any) -> Any:
        """Names with null are not the same as names left out: one of three is said, and is not
        null.
        """
        if isinstance(said, dict):
            if sum(name in said for name in ("epsilon", "within", "promise")) != 1:
                raise ValueError("one of epsilon, within and promise")
            if None in (
                said.get(name, ...)
                for name in (
                    "epsilon",
                    "within",
                    "promise",
                    "delta",
                    "confidence",
                    "group_size",
                    "parameters",
                )
            ):
                raise ValueError("what is not said is left out, not null")
        return said

    def how(self) -> dict[str, Any]:
        """What `plan` and `sql` of a protected table are told beside the text."""
        given: dict[str, Any] = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "within": self.within,
            "group_size": self.group_size,
        }
        given |= {
            "parameters": self.parameters,
            "confidence": 0.95 if self.confidence is None else self.confidence,
        }
        if self.promise is not None:
            try:
                given["promise"] = restore(
                    {
                        "sfumato": "guarantee",
                        "version": 1,
                        **self.promise.model_dump(exclude_none=True),
                    }
                )
            except (KeyError, TypeError):
                raise Refused(
                    "plan.promise",
                    "promise",
                    "a notion comes with its own numbers",
                    '{"notion": "Pure", "epsilon": "0.5"}',
                ) from None
        return given

    def said(self) -> dict[str, Any]:
        """What was said, as it was said."""
        return self.model_dump(exclude_unset=True)

    def canonical(self) -> bytes:
        """The same question as the same bytes, however it was laid out."""
        return json.dumps(self.said(), sort_keys=True, ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )


def read(body: bytes) -> Question:
    """The question in a body, or a problem that names the field."""
    if body.count(b"[") + body.count(b"{") > MOST_DEPTH and _depth(body) > MOST_DEPTH:
        raise Stopped(_wrong("the body", f"it is nested deeper than {MOST_DEPTH}"))
    try:
        text = body.decode("utf-8")
        found = Question.model_validate_json(text)
        if "\\u" in text:
            found.canonical().decode("utf-8")  # half of a surrogate pair is no text
    except UnicodeDecodeError:
        raise Stopped(_wrong("the body", "it is not UTF-8")) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][:3])[:80] or "the body"
        raise Stopped(_wrong(place, str(first["msg"])[:200])) from None
    return found


def _depth(body: bytes) -> int:
    """How deep it is nested, outside of its strings."""
    depth = deepest = 0
    inside = escaped = False
    for byte in body:
        if inside:
            inside, escaped = byte != 34 or escaped, byte == 92 and not escaped
        elif byte == 34:
            inside = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _wrong(place: str, reason: str) -> Problem:
    return Problem(
        "server.body",
        place,
        reason,
        '{"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}',
    )
