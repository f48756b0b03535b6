"""One scalar function: what it takes, what type it gives, how it is built, between which ends its
value lies. Tables of these are the whole language.

*Total*    `build` gives an Ibis value that no row can make fail: a guard stands inside the
           argument, never around the call, since engines may compute a branch for rows that do not
           take it.
*Types*    `gives` sees types, spans and constants only, never data: the type of an expression is a
           function of the declaration.
*NaN*      `build` gets arguments without NaN, unless the function passes NaN through; its own NaN,
           where it can make one, is a null to whatever comes next.
*Copies*   how often the built value mentions each argument, at most; the size of what is sent to
           the engine is bounded with it beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...errors import Refused
from ...exact import effort
from . import value_ranges
from .constants import Constant
from .engine_values import Value
from .types import CASTS, WORDS, Kind, Span, Type

Group = Literal["arithmetic", "rounding", "mathematics", "logic", "choice", "text", "time", "cast"]


@dataclass(frozen=True, slots=True)
class Argument:
    """What is publicly known of an argument."""

    type: Type
    span: Span | None
    text: str
    fixed: bool = False
    value: Constant = None  # where it is fixed


@dataclass(frozen=True, slots=True)
class Slot:
    """What may stand in one place: kinds, and for constants a test of the value. `words` completes
    "takes …", `example` is the type one would cast to.
    """

    kinds: frozenset[Kind]
    words: str
    example: str = ""
    test: Callable[[Constant], bool] | None = None

    def check(self, argument: Argument, place: Callable[[str], str], name: str) -> None:
        """Refuse what does not belong here. `place` writes the call with another text in this
        place.
        """
        known = argument.type.kind in self.kinds
        if known and (self.test is None or (argument.fixed and self.test(argument.value))):
            return
        here = shorten(place(argument.text))
        if self.test is not None:
            raise Refused(
                "expression.constant",
                here,
                f"{name} takes {self.words}, as a constant",
                shorten(place(self.example)),
            )
        reason = (
            f"{name} takes {self.words}, and {shorten(argument.text, 60)} is {argument.type.words}"
        )
        if argument.type.kind == "null":
            raise Refused(
                "expression.type",
                here,
                reason,
                f"is_null(…), or TRY_CAST(NULL AS {self.example or 'int64'})",
            )
        casts = self.example and Type.of(self.example).kind in CASTS[argument.type.kind]
        raise Refused(
            "expression.type",
            here,
            reason,
            shorten(place(f"TRY_CAST({argument.text} AS {self.example})"))
            if casts
            else f"{name} of {self.words}",
        )


def shorten(text: str, most: int = 200) -> str:
    """For messages."""
    return text if len(text) <= most else text[: most - 1] + "…"


def slot(words: str, *kinds: Kind, example: str = "") -> Slot:
    return Slot(frozenset(kinds), words, example)


def fixed(words: str, test: Callable[[Constant], bool], example: str, *kinds: Kind) -> Slot:
    """A place for a constant."""
    return Slot(frozenset(kinds), words, example, test)


NUMBER = slot("a number", "integer", "decimal", "float", example="float64")
TEXT = slot("a text", "string", example="string")
TRUTH = slot("a truth value", "bool", example="bool")
MOMENT = slot("a date or a timestamp", "date", "timestamp", example="timestamp")
TIME = slot("a timestamp", "timestamp", example="timestamp")
VALUE = slot("a value", *(kind for kind in WORDS if kind != "null"))
ANY = slot("a value", *WORDS)

Gives = Callable[[Sequence[Argument]], Type]
Build = Callable[[Sequence[Value], Sequence[Argument], Type], Value]


def always(known: Type) -> Gives:
    return lambda arguments: known


HEAVY = 9
COSTS: Mapping[Group, int] = {"text": 64, "cast": 16, "time": 8, "mathematics": 8, "logic": 4}
"""What one call takes for one row, where that is not 1: texts may have a thousand letters, casts
read them, comparisons may be of texts, and some engines compute moments in many steps.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One row of the table. `form` is its canonical text where that is not name(arguments): an
    operator between arguments, or a template.
    """

    name: str
    group: Group
    takes: tuple[Slot, ...]
    gives: Gives
    build: Build
    rule: str
    span: value_ranges.Rule = value_ranges.unknown
    form: str = ""
    many: bool = False  # the last place may be repeated
    pairs: bool = False  # the first two may, as CASE has it
    passes_nan: bool = False
    makes_nan: bool = False
    makes_null: bool = False
    skips_null: bool = False  # null only where all arguments are
    never_null: bool = False
    copies: tuple[int, ...] = (1,)  # of each argument; the last of them also of those that follow
    heavy: frozenset[Constant] = frozenset()  # last constants with which it is nine of the first
    costs: Callable[[Constant], int] | None = (
        None  # what it takes for one row, by the last constant, where its group does not tell
    )

    def slots(self, count: int) -> tuple[Slot, ...]:
        """The place of each of so many arguments, or none if there cannot be so many."""
        if self.pairs:
            return self.takes[:2] * (count // 2) + self.takes[2:] if count % 2 and count > 2 else ()
        if self.many and count > len(self.takes):
            return self.takes + self.takes[-1:] * (count - len(self.takes))
        return self.takes if count == len(self.takes) else ()

    def weight(self, weights: Sequence[int], last: Constant) -> int:
        """How large a call is, given how large its arguments are."""
        copies = (HEAVY,) if last in self.heavy else self.copies
        return 1 + sum(copies[min(i, len(copies) - 1)] * weight for i, weight in enumerate(weights))

    def cost(self, costs: Sequence[int], last: Constant) -> int:
        """What a call takes for one row, given what its arguments take. The unit is an operation on
        two numbers.
        """
        copies = (HEAVY,) if last in self.heavy else self.copies
        own = COSTS.get(self.group, 1) if self.costs is None else self.costs(last)
        own += len(costs) if self.many else 0  # of a list each is compared
        return own + sum(copies[min(i, len(copies) - 1)] * cost for i, cost in enumerate(costs))

    def text(self, arguments: Sequence[str]) -> str:
        """Canonical."""
        if self.pairs:
            branches = (
                f"WHEN {arguments[i]} THEN {arguments[i + 1]} "
                for i in range(0, len(arguments) - 1, 2)
            )
            return f"CASE {''.join(branches)}ELSE {arguments[-1]} END"
        if "{" in self.form:
            return self.form.format(
                *arguments, rest=", ".join(arguments[1:]), bare=arguments[-1].strip("'")
            )
        return (
            f" {self.form} ".join(arguments)
            if self.form
            else f"{self.name}({', '.join(arguments)})"
        )

    @property
    def open(self) -> bool:
        """Whether its text needs parentheses beside an operator."""
        return bool(self.form) and (self.form.startswith("{") or not self.form.endswith(")"))

    def resolve(self, arguments: Sequence[Argument]) -> Argument:
        """The type and span of a call; refused where an argument does not fit."""
        effort.check()
        texts = [argument.text for argument in arguments]
        for position, (place, argument) in enumerate(
            zip(self.slots(len(arguments)), arguments, strict=True)
        ):
            place.check(
                argument,
                lambda text, at=position: self.text([*texts[:at], text, *texts[at + 1 :]]),  # type: ignore[misc]
                self.name,
            )
        known = self.gives(arguments)
        ends = (
            self.span(
                [argument.span for argument in arguments],
                [argument.value for argument in arguments],
            )
            if known.limits
            else None
        )
        return Argument(
            Type(
                known.kind,
                known.bits,
                known.precision,
                known.scale,
                known.zone,
                self._nullable(arguments),
            ),
            _both(ends, known.limits),
            self.text(texts),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and stored expressions hold the row of the table, by its name."""
        from .functions import named

        return named, (self.name,)

    def _nullable(self, arguments: Sequence[Argument]) -> bool:
        if self.never_null or self.makes_null:
            return self.makes_null
        return (all if self.skips_null else any)(argument.type.nullable for argument in arguments)


def _both(inner: Span | None, limits: Span | None) -> Span | None:
    if inner is None or limits is None:
        return limits
    return max(inner[0], limits[0]), min(inner[1], limits[1])
