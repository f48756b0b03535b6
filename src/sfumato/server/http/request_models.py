"""The request model: a question is one JSON object, validated before anything else.

Numbers may be strings, and stay exact: "1/3" is a third. Unknown fields are refused.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, NotRequired, TypedDict

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

from ...guarantees import Guarantee
from ...guarantees.stored_guarantee import restore
from .. import server_refusals as refusals
from .problems import Problem, ProblemError

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


def _as_integer(value: object) -> object:
    """Return 7.0 as 7: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


JsonScalar = str | int | float | bool | None


class PlanArguments(TypedDict):
    """The keyword arguments of `plan` and `sql` that a question gives."""

    epsilon: str | int | float | None
    delta: str | int | float | None
    within: str | int | float | dict[str, str | int | float] | None
    group_size: int | None
    parameters: list[JsonScalar] | dict[str, JsonScalar] | None
    confidence: str | int | float
    promise: NotRequired[Guarantee]


class PromiseRecord(BaseModel):
    """A guarantee, as the library stores it."""

    model_config = ConfigDict(extra="forbid")
    sfumato: Literal["guarantee"] = "guarantee"
    version: Literal[1] = 1
    notion: Literal["Pure", "Approx", "ZCDP", "GDP", "Renyi"]
    epsilon: Written | None = None
    delta: Written | None = None
    rho: Written | None = None
    mu_squared: Written | None = None
    curve: (
        Annotated[
            dict[Written, Written],
            Field(min_length=1, max_length=256, json_schema_extra={"additionalProperties": False}),
        ]
        | None
    ) = None
    relation: Literal["add-remove", "replace"] | None = None
    unit: Name | None = None


class Question(BaseModel):
    """A SELECT, and one of: epsilon, within, promise."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "oneOf": [
                {"required": ["epsilon"]},
                {"required": ["within"]},
                {"required": ["promise"]},
            ]
        },
    )
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
        Annotated[int, Field(strict=True, ge=1, le=10**12), BeforeValidator(_as_integer)] | None
    ) = None
    parameters: (
        Annotated[list[Scalar], Field(max_length=100)]
        | Annotated[dict[Name, Scalar], Field(max_length=100)]
        | None
    ) = None

    @model_validator(mode="before")
    @classmethod
    def _check_exactly_one(cls, fields: object) -> object:
        """Check that exactly one of epsilon, within and promise is present, and that no field is
        null.
        """
        if isinstance(fields, dict):
            if sum(name in fields for name in ("epsilon", "within", "promise")) != 1:
                raise ValueError("one of epsilon, within and promise")
            if None in (
                fields.get(name, ...)
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
        return fields

    def plan_arguments(self) -> PlanArguments:
        """Return the keyword arguments for `plan` and `sql` of a protected table."""
        arguments: PlanArguments = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "within": self.within,
            "group_size": self.group_size,
            "parameters": self.parameters,
            "confidence": 0.95 if self.confidence is None else self.confidence,
        }
        if self.promise is not None:
            try:
                arguments["promise"] = restore(
                    {
                        "sfumato": "guarantee",
                        "version": 1,
                        **self.promise.model_dump(exclude_none=True),
                    }
                )
            except (KeyError, TypeError):
                raise refusals.PROMISE_INCOMPLETE() from None
        return arguments

    def as_sent(self) -> dict[str, object]:
        """Return the fields that the client sent."""
        return self.model_dump(exclude_unset=True)

    def canonical(self) -> bytes:
        """Return the same bytes for the same question, whatever its JSON layout."""
        return json.dumps(self.as_sent(), sort_keys=True, ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )


def read(body: bytes) -> Question:
    """Read a question from a body; else raise a problem that names the field."""
    if body.count(b"[") + body.count(b"{") > MOST_DEPTH and _depth(body) > MOST_DEPTH:
        raise ProblemError(Problem.of(refusals.BODY_TOO_DEEP(most=MOST_DEPTH)))
    try:
        text = body.decode("utf-8")
        question = Question.model_validate_json(text)
        if "\\u" in text:
            question.canonical().decode("utf-8")  # half of a surrogate pair is no text
    except UnicodeDecodeError:
        raise ProblemError(Problem.of(refusals.BODY_NOT_UTF8())) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][:3])[:80] or "the body"
        refusal = refusals.FIELD_WRONG(field=place, fault=str(first["msg"])[:200])
        raise ProblemError(Problem.of(refusal)) from None
    return question


def _depth(body: bytes) -> int:
    """Return the nesting depth, outside of strings."""
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
