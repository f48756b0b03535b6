"""The record of a scalar function: its argument slots, its result type, its Ibis form and the span
of its values. A table of such records (`functions`) is the whole expression language.

*Total*    `build` returns an Ibis value that no row can make fail. A guard stands inside the
           argument, never around the call: engines may compute a branch for rows that do not take
           it.
*Types*    `gives` sees types, spans and constants, never data: the type of an expression is a
           function of the declaration.
*NaN*      `build` gets arguments without NaN, unless the function passes NaN through. A NaN that
           the function produces becomes null for the next function.
*Values*   `values` maps sets of values of the arguments to one of the result: the public groups of
           GROUP BY follow from it. It is computed in Python, so only where all engines agree.
*Copies*   how often the built value mentions each argument, at most; this bounds the size of the
           statement before it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypedDict

from ...exact import effort
from . import expr_refusals as refusals
from . import value_ranges
from .constants import Constant
from .engine_values import Value
from .types import CASTS, WORDS, Kind, Span, Type
from .value_sets import TRUTHS, ValueRule, ValueSet, by_span

Group = Literal["arithmetic", "rounding", "mathematics", "logic", "choice", "text", "time", "cast"]


@dataclass(frozen=True, slots=True)
class Argument:
    """The public facts about an argument: its type, span and text, and its value if constant."""

    type: Type
    span: Span | None
    text: str
    is_constant: bool = False
    value: Constant = None  # of a constant


@dataclass(frozen=True, slots=True)
class Slot:
    """The kinds of value that one argument may have, and for a constant a test of its value.
    `words` completes "takes …"; `example` is the type to cast to.
    """

    kinds: frozenset[Kind]
    words: str
    example: str = ""
    test: Callable[[Constant], bool] | None = None

    def check(self, argument: Argument, place: Callable[[str], str], name: str) -> None:
        """Refuse an argument that does not fit. `place` writes the call with another text for this
        argument.
        """
        kind_fits = argument.type.kind in self.kinds
        if kind_fits and (
            self.test is None or (argument.is_constant and self.test(argument.value))
        ):
            return
        fields = {
            "call": shorten(place(argument.text)),
            "function": name,
            "expected": self.words,
        }
        if self.test is not None:
            raise refusals.CONSTANT_NEEDED(**fields, example=shorten(place(self.example)))
        if argument.type.kind == "null":
            raise refusals.ARGUMENT_IS_BARE_NULL(**fields, type=self.example or "int64")
        fields |= {"argument": shorten(argument.text, 60), "words": argument.type.words}
        if self.example and Type.of(self.example).kind in CASTS[argument.type.kind]:
            cast = place(f"TRY_CAST({argument.text} AS {self.example})")
            raise refusals.ARGUMENT_OF_WRONG_TYPE(**fields, call_with_cast=shorten(cast))
        raise refusals.ARGUMENT_WITHOUT_CAST(**fields)


def shorten(text: str, most: int = 200) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= most else text[: most - 1] + "…"


def slot(words: str, *kinds: Kind, example: str = "") -> Slot:
    return Slot(frozenset(kinds), words, example)


def constant_slot(words: str, test: Callable[[Constant], bool], example: str, *kinds: Kind) -> Slot:
    """Describe a slot for a constant."""
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
Preimage = Callable[[ValueSet, Sequence[Argument]], tuple[int, ValueSet] | None]
"""The place of an argument and a set that holds its values where the result is in a given set."""


def is_operator(form: str) -> bool:
    """Whether a text of this form needs brackets beside an operator."""
    return form.startswith("{") or not form.endswith(")")


def always(kind: Type) -> Gives:
    return lambda arguments: kind


HEAVY = 9
COSTS: Mapping[Group, int] = {"text": 64, "cast": 16, "time": 8, "mathematics": 8, "logic": 4}
"""The cost of one call for one row, where it is not 1: texts may have a thousand letters, casts
read them, comparisons may compare texts, and some engines compute moments in many steps.
"""


class Traits(TypedDict, total=False):
    """The fields of a function that have defaults."""

    span: value_ranges.Rule
    by_type: bool
    values: ValueRule | None
    preimage: Preimage | None
    form: str
    many: bool
    pairs: bool
    passes_nan: bool
    makes_nan: bool
    makes_null: bool
    skips_null: bool
    never_null: bool
    copies: tuple[int, ...]
    heavy: frozenset[Constant]
    costs: Callable[[Constant], int] | None
    sql: tuple[str, ...]
    parameters: str
    operator: str
    last: Constant


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One row of the function table: all that the package knows of a function. Methods of
    expressions, the reader and the writer of SQL and the reference come from these rows.

    `form` is the canonical text where that is not name(arguments): an operator between arguments,
    or a template. `sql` has the spellings in SQL where they differ from that text: the client
    writes the first, the reader reads all of them.
    """

    name: str
    group: Group
    takes: tuple[Slot, ...]
    gives: Gives
    build: Build
    rule: str
    span: value_ranges.Rule = value_ranges.unknown
    by_type: bool = False  # the ends of its span are those of a type: no bounds of a column
    values: ValueRule | None = None  # None: two truth values, or integers between the span's ends
    preimage: Preimage | None = None  # the set of the last argument, from one of the result
    form: str = ""
    many: bool = False  # the last place may be repeated
    pairs: bool = False  # the first two may be repeated, as in CASE
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
    sql: tuple[str, ...] = ()
    parameters: str = ""  # the names of the arguments of its method, after the value itself
    operator: str = ""  # Python's signs for it; `python_text` writes the first
    last: Constant = None  # the last argument of calls that leave it out

    def slots(self, count: int) -> tuple[Slot, ...]:
        """Return the slot of each of `count` arguments, or () if there cannot be so many."""
        if self.pairs:
            return self.takes[:2] * (count // 2) + self.takes[2:] if count % 2 and count > 2 else ()
        if self.many and count > len(self.takes):
            return self.takes + self.takes[-1:] * (count - len(self.takes))
        return self.takes if count == len(self.takes) else ()

    def weight(self, weights: Sequence[int], last: Constant) -> int:
        """Return the size of a call from the sizes of its arguments."""
        copies = (HEAVY,) if last in self.heavy else self.copies
        return 1 + sum(copies[min(i, len(copies) - 1)] * weight for i, weight in enumerate(weights))

    def cost(self, costs: Sequence[int], last: Constant) -> int:
        """Return the cost of a call for one row from the costs of its arguments. The unit is an
        operation on two numbers.
        """
        copies = (HEAVY,) if last in self.heavy else self.copies
        cost_of_call = COSTS.get(self.group, 1) if self.costs is None else self.costs(last)
        cost_of_call += len(costs) if self.many else 0  # of a list each is compared
        return cost_of_call + sum(
            copies[min(i, len(copies) - 1)] * cost for i, cost in enumerate(costs)
        )

    @property
    def self_place(self) -> int:
        """The place of the value whose method the function is: the first that is no constant."""
        return next(place for place, slot in enumerate(self.takes) if slot.test is None)

    @property
    def is_chain(self) -> bool:
        """Whether a call is written as a chain of any length, such as a AND b AND c."""
        return self.many and bool(self.form) and "{" not in self.form

    @property
    def text_form(self) -> str:
        """The form of the canonical text."""
        return self.form or f"{self.name}({{all}})"

    @property
    def sql_forms(self) -> tuple[str, ...]:
        """The forms of the function in SQL."""
        return self.sql or (self.form or f"{self.name.upper()}({{all}})",)

    def write(self, form: str, plain: Sequence[str], bracketed: Sequence[str]) -> str:
        """Write a call in a form, from the texts of its arguments; `bracketed` has brackets around
        operators.
        """
        if self.pairs:
            branches = (
                f"WHEN {plain[i]} THEN {plain[i + 1]} " for i in range(0, len(plain) - 1, 2)
            )
            return f"CASE {''.join(branches)}ELSE {plain[-1]} END"
        if "{" not in form:
            return f" {form} ".join(bracketed)
        texts = bracketed if is_operator(form) else plain
        bare = plain[-1].strip("'")
        return form.format(*texts, all=", ".join(plain), rest=", ".join(plain[1:]), bare=bare)

    def text(self, arguments: Sequence[str]) -> str:
        """Write a call as canonical text."""
        return self.write(self.text_form, arguments, arguments)

    @property
    def example(self) -> str:
        """A call of the function with columns a, b, … and with constants that it takes."""
        texts: list[str] = []
        for slot, name in zip(self.takes, "abc", strict=False):
            text = slot.example if slot.test else name
            texts.append("100" if text == "0" and text in texts else text)  # two ends differ
        return self.text(texts)

    def _text_with(self, texts: Sequence[str], position: int, text: str) -> str:
        """Write the call with another text in one place."""
        return self.text([*texts[:position], text, *texts[position + 1 :]])

    def resolve(self, arguments: Sequence[Argument]) -> Argument:
        """Derive the type and span of a call; refuse an argument that does not fit."""
        effort.check()
        texts = [argument.text for argument in arguments]
        for position, (place, argument) in enumerate(
            zip(self.slots(len(arguments)), arguments, strict=True)
        ):
            place.check(argument, partial(self._text_with, texts, position), self.name)
        result = self.gives(arguments)
        ends = (
            self.span(
                [argument.span for argument in arguments],
                [argument.value for argument in arguments],
            )
            if result.limits
            else None
        )
        return Argument(
            Type(
                result.kind,
                result.bits,
                result.precision,
                result.scale,
                result.zone,
                self._nullable(arguments),
            ),
            _intersect(ends, result.limits),
            self.text(texts),
        )

    def value_set(
        self, sets: Sequence[ValueSet], arguments: Sequence[Argument], result: Type
    ) -> ValueSet:
        """Return a set that holds every value of a call, from the sets of its arguments."""
        null = result.nullable and self._may_be_null([each.null for each in sets])
        rule = self.values or (by_span(self.span) if result.kind == "integer" else None)
        values = None if rule is None else rule(sets, arguments, result, null)
        if values is None:
            values = (
                ValueSet(TRUTHS, null=null, is_written=True)
                if result.kind == "bool"
                else ValueSet(null=null or result.kind == "float")
            )
        # the owner may state keys without null, and rows may be null
        is_stated = not self.pairs and any(each.stated for each in sets)
        may_be_null = result.nullable and not self.never_null
        return (
            replace(values, null=values.null or may_be_null)
            if is_stated and not values.stated
            else values
        )

    def __reduce__(self) -> tuple[Callable[[str], Function], tuple[str]]:
        """Pickle and copy a function by its name, so that copies share the row of the table."""
        from .functions import function_named

        return function_named, (self.name,)

    def _nullable(self, arguments: Sequence[Argument]) -> bool:
        return self._may_be_null([argument.type.nullable for argument in arguments])

    def _may_be_null(self, nulls: Sequence[bool]) -> bool:
        """Tell whether the result may be null, from whether each argument may be."""
        if self.never_null or self.makes_null:
            return self.makes_null
        return (all if self.skips_null else any)(nulls)


def _intersect(inner: Span | None, limits: Span | None) -> Span | None:
    if inner is None or limits is None:
        return limits
    return max(inner[0], limits[0]), min(inner[1], limits[1])
