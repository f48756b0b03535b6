"""Each function of the table as a method of expressions. The rules are those of the table; see
docs/reference/expressions.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .operators import Operators
from .types import Type

if TYPE_CHECKING:
    from .nodes import Expr


class Methods(Operators):
    """Methods of expressions; an argument is an expression or a constant."""

    __slots__ = ()

    def round(self, digits: int = 0) -> Expr:
        return self._call("round", self, digits)

    def clip(self, low: object, high: object) -> Expr:
        return self._call("clip", self, low, high)

    def between(self, low: object, high: object) -> Expr:
        return self._call("between", self, low, high)

    def is_in(self, values: Iterable[object]) -> Expr:
        """Test membership. For an empty list the result is false, or null for a null."""
        listed = list(values)
        return self._call("is_in", self, *listed) if listed else self._call("<>", self, self)

    def fill_null(self, value: object) -> Expr:
        return self._call("coalesce", self, value)

    def coalesce(self, *others: object) -> Expr:
        return self._call("coalesce", self, *others)

    def least(self, *others: object) -> Expr:
        return self._call("least", self, *others)

    def greatest(self, *others: object) -> Expr:
        return self._call("greatest", self, *others)

    def concat(self, *others: object) -> Expr:
        return self._call("concat", self, *others)

    def cast(self, to: str | Type) -> Expr:
        return self._call("cast", self, str((to if isinstance(to, Type) else Type.of(to)).bare))

    def substr(self, start: int, length: int) -> Expr:
        return self._call("substr", self, start, length)

    def replace(self, old: str, new: str) -> Expr:
        return self._call("replace", self, old, new)

    def split_part(self, separator: str, number: int) -> Expr:
        return self._call("split_part", self, separator, number)

    def date_trunc(self, unit: str) -> Expr:
        return self._call("date_trunc", unit, self)

    def date_add(self, amount: int, unit: str) -> Expr:
        return self._call("date_add", self, amount, unit)

    def sign(self) -> Expr:
        return self._call("sign", self)

    def floor(self) -> Expr:
        return self._call("floor", self)

    def ceil(self) -> Expr:
        return self._call("ceil", self)

    def trunc(self) -> Expr:
        return self._call("trunc", self)

    def sqrt(self) -> Expr:
        return self._call("sqrt", self)

    def exp(self) -> Expr:
        return self._call("exp", self)

    def ln(self) -> Expr:
        return self._call("ln", self)

    def log10(self) -> Expr:
        return self._call("log10", self)

    def log2(self) -> Expr:
        return self._call("log2", self)

    def sin(self) -> Expr:
        return self._call("sin", self)

    def cos(self) -> Expr:
        return self._call("cos", self)

    def tan(self) -> Expr:
        return self._call("tan", self)

    def asin(self) -> Expr:
        return self._call("asin", self)

    def acos(self) -> Expr:
        return self._call("acos", self)

    def atan(self) -> Expr:
        return self._call("atan", self)

    def degrees(self) -> Expr:
        return self._call("degrees", self)

    def radians(self) -> Expr:
        return self._call("radians", self)

    def is_finite(self) -> Expr:
        return self._call("is_finite", self)

    def is_null(self) -> Expr:
        return self._call("is_null", self)

    def not_null(self) -> Expr:
        return self._call("not_null", self)

    def lower(self) -> Expr:
        return self._call("lower", self)

    def upper(self) -> Expr:
        return self._call("upper", self)

    def trim(self) -> Expr:
        return self._call("trim", self)

    def ltrim(self) -> Expr:
        return self._call("ltrim", self)

    def rtrim(self) -> Expr:
        return self._call("rtrim", self)

    def length(self) -> Expr:
        return self._call("length", self)

    def year(self) -> Expr:
        return self._call("year", self)

    def quarter(self) -> Expr:
        return self._call("quarter", self)

    def month(self) -> Expr:
        return self._call("month", self)

    def week(self) -> Expr:
        return self._call("week", self)

    def day(self) -> Expr:
        return self._call("day", self)

    def day_of_week(self) -> Expr:
        return self._call("day_of_week", self)

    def day_of_year(self) -> Expr:
        return self._call("day_of_year", self)

    def hour(self) -> Expr:
        return self._call("hour", self)

    def minute(self) -> Expr:
        return self._call("minute", self)

    def second(self) -> Expr:
        return self._call("second", self)

    def epoch(self) -> Expr:
        return self._call("epoch", self)

    def abs(self) -> Expr:
        return self._call("abs", self)

    def div(self, divisor: object) -> Expr:
        return self._call("div", self, divisor)

    def mod(self, divisor: object) -> Expr:
        return self._call("mod", self, divisor)

    def power(self, exponent: object) -> Expr:
        return self._call("power", self, exponent)

    def atan2(self, x: object) -> Expr:
        return self._call("atan2", self, x)

    def nullif(self, value: object) -> Expr:
        return self._call("nullif", self, value)

    def identical(self, value: object) -> Expr:
        return self._call("identical", self, value)

    def days_between(self, earlier: object) -> Expr:
        return self._call("days_between", self, earlier)

    def left(self, length: object) -> Expr:
        return self._call("left", self, length)

    def right(self, length: object) -> Expr:
        return self._call("right", self, length)

    def contains(self, part: object) -> Expr:
        return self._call("contains", self, part)

    def starts_with(self, part: object) -> Expr:
        return self._call("starts_with", self, part)

    def ends_with(self, part: object) -> Expr:
        return self._call("ends_with", self, part)

    def position(self, part: object) -> Expr:
        return self._call("position", self, part)

    def like(self, pattern: object) -> Expr:
        return self._call("like", self, pattern)

    def ilike(self, pattern: object) -> Expr:
        return self._call("ilike", self, pattern)
