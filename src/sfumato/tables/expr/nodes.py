"""Expression trees over the columns of one row: columns, constants and calls of the functions in
the table `functions`.

*Total*      `build` returns an Ibis value that no row can make fail. Its result is null or a value
             of its type: never NaN, never a moment outside the years 1 to 9999. Timestamps with a
             zone are built without one, in UTC.
*Public*     Trees are built and checked before any data is read; a refusal names the place.
*Text*       canonical, in the manner of SQL: two trees have the same text if and only if they are
             equal.
*Size*       The size of the statement is bounded: a guard mentions its argument twice, so nested
             guards would grow without end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias

from . import constants
from . import engine_values as ev
from . import expr_refusals as refusals
from .constants import Constant
from .engine_values import Value
from .functions import FUNCTIONS
from .methods import Methods
from .scalar_function import Argument, Function, is_operator, shorten
from .types import BOOL, Span, Type
from .value_sets import TRUTHS, ValueSet, converted, listing

if TYPE_CHECKING:
    import ibis.expr.types as ir

DEPTH = 50
WEIGHT = 4000
ARGUMENTS = 10_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = re.compile(
    "(?i)and|as|between|case|date|decimal|else|end|false|from|ilike|in|inf|infinity|is|like|nan"
    "|not|null|or|then|timestamp|true|try_cast|uuid|when|with"
)

Schema = Mapping[str, Type]
Columns: TypeAlias = "ir.Table | Mapping[str, Value]"  # by the name of a column
Bounds = Mapping[str, Span]


class Facts(Protocol):
    """What is public about the values of columns, and of expressions by their texts."""

    @property
    def types(self) -> Schema: ...

    def narrow(self, text: str, values: ValueSet) -> ValueSet: ...


@dataclass(frozen=True, slots=True)
class _BuiltValue:
    """A value for the engine, with its type and span; a float may still hold NaN where NaN changes
    nothing.
    """

    value: Value
    argument: Argument
    nan: bool = False

    def clean(self) -> Value:
        return ev.without_nan(self.value) if self.nan else self.value

    def parenthesized(self) -> _BuiltValue:
        """Put a truth value into a cast, which acts as parentheses: Ibis writes (NOT a) IS NULL
        without them, and an engine reads NOT (a IS NULL).
        """
        return (
            replace(self, value=ev.cast(self.value, BOOL))
            if self.argument.type.kind == "bool" and not self.argument.is_constant
            else self
        )


class Expr(Methods):
    """An expression. Most operators and methods come from the rows of functions (`Methods`); those
    below take other arguments than their functions.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's scalars leave the operators to us

    weight: int
    cost: int
    depth: int

    def type(self, schema: Schema) -> Type:
        """Derive the type of the value from the types of the columns; refuse arguments of the wrong
        type.
        """
        return self._resolve(schema, {}).type

    def build(self, columns: Columns, schema: Schema) -> Value:
        """Build the Ibis value from the values of the columns."""
        return self._build(columns, schema, {}).parenthesized().clean()

    def raw(self, columns: Columns, schema: Schema) -> Value:
        """Build the Ibis value but leave NaN in it, for callers that test for NaN themselves."""
        return self._build(columns, schema, {}).parenthesized().value

    def range(self, bounds: Bounds) -> Span | None:
        """Return the ends between which the value lies if the columns lie between theirs, or None
        if they are unknown. Ends that move with those of a type are unknown: a sum within the
        limits of all dates would be all noise.
        """
        span = self.widest_range(bounds)
        return span if span == self._span(bounds, stretch=2) else None

    def widest_range(self, bounds: Bounds) -> Span | None:
        """Return such ends, also where they come from a type alone: enough for ranks."""
        span = self._span(bounds)
        return None if span == constants.EMPTY_SPAN else span

    def values(self, facts: Facts) -> ValueSet:
        """Return a set that holds every value of the expression, from facts about its columns and
        about expressions in it.
        """
        return self._values(facts, {})

    @property
    def text(self) -> str:
        raise NotImplementedError

    @property
    def columns(self) -> frozenset[str]:
        """The names of all columns that the expression reads."""
        raise NotImplementedError

    def _resolve(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        raise NotImplementedError

    def _build(self, columns: Columns, schema: Schema, memo: dict[int, _BuiltValue]) -> _BuiltValue:
        raise NotImplementedError

    def _span(self, bounds: Bounds, stretch: int = 1) -> Span | None:
        """Compute the ends; those that come from a type alone lie `stretch` times as far."""
        raise NotImplementedError

    def _values(self, facts: Facts, memo: dict[int, ValueSet]) -> ValueSet:
        raise NotImplementedError

    def _call(self, name: str, *arguments: object) -> Expr:
        return call(name, *arguments)

    def is_in(self, values: Iterable[object]) -> Expr:
        """Test membership. For an empty list the result is false, or null for a null."""
        listed = list(values)
        return call("is_in", self, *listed) if listed else self != self

    def cast(self, to: str | Type) -> Expr:
        """Convert to another type, by its name; null where the value does not fit."""
        return call("cast", self, str((to if isinstance(to, Type) else Type.of(to)).bare))

    def fill_null(self, value: object) -> Expr:
        """Put a value in the place of nulls."""
        return call("coalesce", self, value)

    def __bool__(self) -> NoReturn:
        raise refusals.EXPRESSION_HAS_NO_TRUTH(expression=shorten(self.text))

    def __repr__(self) -> str:
        return self.text

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            if name not in ACCESSORS:
                kind = type(self).__name__
                raise AttributeError(f"{kind!r} object has no attribute {name!r}")
            group, example = ACCESSORS[name]
            methods = [f".{row.name}" for row in FUNCTIONS.values() if row.group == group]
            raise refusals.NO_ACCESSOR(
                expression=shorten(self.text),
                name=name,
                methods=", ".join(method for method in methods if hasattr(Methods, method[1:])),
                column=min(self.columns, default="day"),
                example=example,
            )


ACCESSORS = {"dt": ("time", "month()"), "str": ("text", "lower()")}
"""A name in other libraries for the methods of a kind → the group of these functions, and one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ColumnRef(Expr):
    """A reference to a column by its name."""

    name: str
    weight = 1
    cost = 0
    depth = 1

    @property
    def text(self) -> str:
        plain = _NAME.fullmatch(self.name) and not _RESERVED.fullmatch(self.name)
        return self.name if plain else '"' + self.name.replace('"', '""') + '"'

    @property
    def columns(self) -> frozenset[str]:
        return frozenset([self.name])

    def _resolve(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        if self.name not in schema:
            near = get_close_matches(self.name, schema, n=3, cutoff=0.5) or list(schema)[:6]
            names = [ColumnRef(name).text for name in near]
            raise refusals.UNKNOWN_COLUMN(
                column=shorten(self.text),
                names=shorten(", ".join(names)),
                nearest=next(iter(names), ""),
            )
        return Argument(schema[self.name], schema[self.name].limits, self.text)

    def _build(self, columns: Columns, schema: Schema, memo: dict[int, _BuiltValue]) -> _BuiltValue:
        argument = self._resolve(schema, {})
        value = ev.normalize(columns[self.name], argument.type, self.text)
        return _BuiltValue(value, argument, argument.type.kind == "float")

    def _span(self, bounds: Bounds, stretch: int = 1) -> Span | None:
        return bounds.get(self.name)

    def _values(self, facts: Facts, memo: dict[int, ValueSet]) -> ValueSet:
        kind = facts.types[self.name]
        return facts.narrow(
            self.text,
            ValueSet(
                TRUTHS if kind.kind == "bool" else None,
                null=kind.nullable or kind.kind == "float",
                is_written=kind.kind == "bool",
            ),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expr):
    """A constant."""

    value: Constant
    weight = 0
    cost = 0
    depth = 1

    @property
    def text(self) -> str:
        return constants.text(self.value)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset()

    def _resolve(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        return Argument(constants.type_of(self.value), self._span({}), self.text, True, self.value)

    def _build(self, columns: Columns, schema: Schema, memo: dict[int, _BuiltValue]) -> _BuiltValue:
        argument = self._resolve(schema, {})
        return _BuiltValue(ev.constant(self.value, argument.type), argument)

    def _span(self, bounds: Bounds, stretch: int = 1) -> Span | None:
        return constants.span(self.value)

    def _values(self, facts: Facts, memo: dict[int, ValueSet]) -> ValueSet:
        if self.value is None:
            return listing(null=True)
        return listing(converted(self.value, constants.type_of(self.value)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FunctionCall(Expr):
    """A call of a function of the table with its arguments."""

    function: Function
    arguments: tuple[Expr, ...]
    weight: int
    cost: int
    depth: int

    @property
    def text(self) -> str:
        form = self.function.text_form
        plain = [argument.text for argument in self.arguments]
        bracketed = [
            f"({text})"
            if isinstance(argument, FunctionCall) and is_operator(argument.function.text_form)
            else text
            for argument, text in zip(self.arguments, plain, strict=True)
        ]
        return self.function.write(form, plain, bracketed)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset().union(*(argument.columns for argument in self.arguments))

    def _resolve(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        if id(self) not in memo:
            memo[id(self)] = self.function.resolve(
                [argument._resolve(schema, memo) for argument in self.arguments]
            )
        return memo[id(self)]

    def _build(self, columns: Columns, schema: Schema, memo: dict[int, _BuiltValue]) -> _BuiltValue:
        if id(self) not in memo:
            operands = [argument._build(columns, schema, memo) for argument in self.arguments]
            if self.function.name not in ("and", "or", "not"):
                operands = [
                    operand.parenthesized() if isinstance(argument, FunctionCall) else operand
                    for operand, argument in zip(operands, self.arguments, strict=True)
                ]
            arguments = [operand.argument for operand in operands]
            result = self.function.resolve(arguments)
            values = [
                operand.value if self.function.passes_nan else operand.clean()
                for operand in operands
            ]
            # integers are finite
            makes_nan = self.function.makes_nan and any(
                argument.type.kind != "integer" for argument in arguments
            )
            passes_nan = self.function.passes_nan and any(operand.nan for operand in operands)
            memo[id(self)] = _BuiltValue(
                self.function.build(values, arguments, result.type.bare),
                result,
                result.type.kind == "float" and (makes_nan or passes_nan),
            )
        return memo[id(self)]

    def _span(self, bounds: Bounds, stretch: int = 1) -> Span | None:
        fixed = [
            argument.value if isinstance(argument, Literal) else None for argument in self.arguments
        ]
        ends = self.function.span(
            [argument._span(bounds, stretch) for argument in self.arguments], fixed
        )
        if ends is None or not self.function.by_type:
            return ends
        return ends[0] * stretch, ends[1] * stretch

    def _values(self, facts: Facts, memo: dict[int, ValueSet]) -> ValueSet:
        if id(self) not in memo:
            arguments = [argument._resolve(facts.types, {}) for argument in self.arguments]
            values = self.function.value_set(
                [argument._values(facts, memo) for argument in self.arguments],
                arguments,
                self._resolve(facts.types, {}).type,
            )
            memo[id(self)] = facts.narrow(self.text, values)
        return memo[id(self)]


def literal(value: object) -> Expr:
    """Turn a value into a constant; return an expression unchanged."""
    return value if isinstance(value, Expr) else Literal(constants.as_constant(value))


def call(name: str, *arguments: object) -> Expr:
    """Call a function of the table; arguments that are not expressions become constants. Nested
    AND, OR and || become one call, so that long chains stay shallow.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        near = get_close_matches(str(name), FUNCTIONS, n=3, cutoff=0.0)
        raise refusals.UNKNOWN_FUNCTION(name=name, names=", ".join(near), nearest=near[0])
    operands = [literal(argument) for argument in arguments]
    if function.is_chain:
        operands = [part for operand in operands for part in _flatten(operand, function)]
    last = operands[-1].value if operands and isinstance(operands[-1], Literal) else None
    weight = function.weight([operand.weight for operand in operands], last)
    depth = 1 + max((operand.depth for operand in operands), default=0)
    if weight > WEIGHT or depth > DEPTH or len(operands) > ARGUMENTS:
        raise refusals.EXPRESSION_TOO_LARGE(name=name)
    if not function.slots(len(operands)):
        if function.pairs:
            raise refusals.CASE_WITHOUT_PAIRS(
                name=name, count=len(operands), example=function.example
            )
        expected = ", ".join(slot.words for slot in function.takes)
        raise refusals.WRONG_NUMBER_OF_ARGUMENTS(
            name=name,
            count=len(operands),
            expected=f"{expected} and more" if function.many else expected,
            example=function.example,
        )
    cost = function.cost([operand.cost for operand in operands], last)
    return FunctionCall(function, tuple(operands), weight, cost, depth)


def _flatten(operand: Expr, function: Function) -> tuple[Expr, ...]:
    """Return the arguments of a call of the same function, or the operand itself."""
    if isinstance(operand, FunctionCall) and operand.function is function:
        return operand.arguments
    return (operand,)
