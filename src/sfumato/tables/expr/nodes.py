"""What is computed from the columns of one row: a tree of columns, constants and calls of the
functions in the table; nothing else exists.

*Total*      `build` gives an Ibis value that no row can make fail, and that is null or a value of
             its type: no NaN, no moment outside the years 1 to 9999. Timestamps with a zone are
             built without one, in UTC.
*Public*     everything here is made before any data is read; a refusal says what is wrong, and
             where.
*Text*       canonical, in the manner of SQL: two trees have the same text if and only if they are
             equal.
*Size*       what is sent to the engine is bounded: a guard mentions its argument twice, and nested
             guards would grow without end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NoReturn

from ...errors import Refused
from . import constants
from . import engine_values as ev
from .constants import Constant
from .engine_values import Value
from .functions import FUNCTIONS
from .methods import Methods
from .scalar_function import Argument, Function, shorten
from .types import BOOL, Span, Type

DEPTH = 50
WEIGHT = 4000
ARGUMENTS = 10_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = re.compile(
    "(?i)and|as|between|case|date|decimal|else|end|false|from|ilike|in|inf|infinity|is|like|nan|not|null|or|then|timestamp|true|try_cast|uuid|when|with"
)

Schema = Mapping[str, Type]
Columns = (
    Any  # whatever gives an engine's value for the name of a column: a table does, and a mapping
)
Bounds = Mapping[str, Span]


@dataclass(frozen=True, slots=True)
class _Built:
    """A value on its way to the engine, and what is known of it; floats may still hold NaN where
    that changes nothing.
    """

    value: Value
    known: Argument
    nan: bool = False

    def clean(self) -> Value:
        return ev.without_nan(self.value) if self.nan else self.value

    def apart(self) -> _Built:
        """A truth value inside a cast, which does nothing but stand as parentheses: Ibis writes
        (NOT a) IS NULL without them, and an engine reads another.
        """
        return (
            replace(self, value=ev.cast(self.value, BOOL))
            if self.known.type.kind == "bool" and not self.known.fixed
            else self
        )


class Expr(Methods):
    """What every expression can do; its operators and methods are those of `Methods`."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's scalars leave the operators to us

    weight: int
    cost: int
    depth: int

    def type(self, schema: Schema) -> Type:
        """The type of the value, from the types of the columns; refused where something does not
        fit.
        """
        return self._known(schema, {}).type

    def build(self, columns: Columns, schema: Schema) -> Value:
        """The Ibis value, from those of the columns."""
        return self._built(columns, schema, {}).apart().clean()

    def raw(self, columns: Columns, schema: Schema) -> Value:
        """The same, with NaN as it is: for those who look for it themselves."""
        return self._built(columns, schema, {}).apart().value

    def range(self, bounds: Bounds) -> Span | None:
        """Between which ends the value lies if the columns lie between theirs; None where that is
        not known.
        """
        found = self._span(bounds)
        return None if found is None or found == constants.NOTHING else found

    @property
    def text(self) -> str:
        raise NotImplementedError

    @property
    def columns(self) -> frozenset[str]:
        """The names of all columns that are read."""
        raise NotImplementedError

    def _known(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        raise NotImplementedError

    def _built(self, columns: Columns, schema: Schema, memo: dict[int, _Built]) -> _Built:
        raise NotImplementedError

    def _span(self, bounds: Bounds) -> Span | None:
        raise NotImplementedError

    def _call(self, name: str, *arguments: Any) -> Expr:
        return call(name, *arguments)

    def __bool__(self) -> NoReturn:
        reason = (
            "whether it is true differs from row to row, so `and`, `or`, `not`, `if` and "
            "chains like a < b < c cannot be used"
        )
        raise Refused(
            "expression.bool",
            shorten(self.text),
            reason,
            "& | ~, with parentheses around each side: (a > 1) & (b < 2); x.between(1, 2)",
        )

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(Expr):
    """A column, by name."""

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

    def _known(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        if self.name not in schema:
            near = get_close_matches(self.name, schema, n=3, cutoff=0.5) or list(schema)[:6]
            raise Refused(
                "expression.column",
                shorten(self.text),
                "there is no such column",
                shorten(" or ".join(Column(name).text for name in near)) or "a table with columns",
            )
        return Argument(schema[self.name], schema[self.name].limits, self.text)

    def _built(self, columns: Columns, schema: Schema, memo: dict[int, _Built]) -> _Built:
        known = self._known(schema, {})
        return _Built(
            ev.present(columns[self.name], known.type, self.text), known, known.type.kind == "float"
        )

    def _span(self, bounds: Bounds) -> Span | None:
        return bounds.get(self.name)


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

    def _known(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        return Argument(constants.type_of(self.value), self._span({}), self.text, True, self.value)

    def _built(self, columns: Columns, schema: Schema, memo: dict[int, _Built]) -> _Built:
        known = self._known(schema, {})
        return _Built(ev.constant(self.value, known.type), known)

    def _span(self, bounds: Bounds) -> Span | None:
        return constants.span(self.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expr):
    """A function of the table, and its arguments."""

    function: Function
    arguments: tuple[Expr, ...]
    weight: int
    cost: int
    depth: int

    @property
    def text(self) -> str:
        wrap = self.function.open and not self.function.pairs
        return self.function.text(
            [
                f"({a.text})" if wrap and isinstance(a, Call) and a.function.open else a.text
                for a in self.arguments
            ]
        )

    @property
    def columns(self) -> frozenset[str]:
        return frozenset().union(*(argument.columns for argument in self.arguments))

    def _known(self, schema: Schema, memo: dict[int, Argument]) -> Argument:
        if id(self) not in memo:
            memo[id(self)] = self.function.resolve(
                [argument._known(schema, memo) for argument in self.arguments]
            )
        return memo[id(self)]

    def _built(self, columns: Columns, schema: Schema, memo: dict[int, _Built]) -> _Built:
        if id(self) not in memo:
            built = [argument._built(columns, schema, memo) for argument in self.arguments]
            if self.function.name not in ("and", "or", "not"):
                built = [
                    one.apart() if isinstance(argument, Call) else one
                    for one, argument in zip(built, self.arguments, strict=True)
                ]
            known = self.function.resolve([one.known for one in built])
            values = [one.value if self.function.passes_nan else one.clean() for one in built]
            made = self.function.makes_nan and any(
                one.known.type.kind != "integer" for one in built
            )  # integers are finite
            nan = known.type.kind == "float" and (
                made or (self.function.passes_nan and any(one.nan for one in built))
            )
            memo[id(self)] = _Built(
                self.function.build(values, [one.known for one in built], known.type.bare),
                known,
                nan,
            )
        return memo[id(self)]

    def _span(self, bounds: Bounds) -> Span | None:
        fixed = [
            argument.value if isinstance(argument, Literal) else None for argument in self.arguments
        ]
        return self.function.span([argument._span(bounds) for argument in self.arguments], fixed)


def literal(value: Any) -> Expr:
    """A constant; an expression stays what it is."""
    return value if isinstance(value, Expr) else Literal(constants.constant(value))


def call(name: str, *arguments: Any) -> Expr:
    """A function of the table; what is no expression is a constant. AND, OR and || of themselves
    are one call, so that long chains stay low.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        near = get_close_matches(str(name), FUNCTIONS, n=3, cutoff=0.5)
        raise Refused(
            "expression.function",
            f"{name!s:.60}(…)",
            "there is no such function",
            " or ".join(near) or "one of those on the page of expressions",
        )
    given = [literal(argument) for argument in arguments]
    if function.name in ("and", "or", "concat"):
        given = [
            part
            for one in given
            for part in (
                one.arguments if isinstance(one, Call) and one.function is function else (one,)
            )
        ]
    last = given[-1].value if given and isinstance(given[-1], Literal) else None
    weight, depth = (
        function.weight([one.weight for one in given], last),
        1 + max((one.depth for one in given), default=0),
    )
    if weight > WEIGHT or depth > DEPTH or len(given) > ARGUMENTS:
        raise Refused(
            "expression.size",
            f"{name}(…)",
            "the expression is too large for an engine to plan quickly",
            "several columns, one made from the other: mutate(…)",
        )
    if not function.slots(len(given)):
        wanted = (
            "a condition and a value, any number of times, and a last value"
            if function.pairs
            else ", ".join(place.words for place in function.takes)
        )
        count = " and more" if function.many else ""
        raise Refused(
            "expression.function",
            f"{name}(…) with {len(given)} arguments",
            f"{name} takes {wanted}{count}",
            f"{len(function.takes)} arguments",
        )
    return Call(
        function, tuple(given), weight, function.cost([one.cost for one in given], last), depth
    )
