"""Python's operators on expressions. Names and rules are those of the table of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .nodes import Expr


class Operators:
    """`other` is an expression or a constant. Since `==` makes an expression, an expression is no
    key of a dictionary.
    """

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def _call(self, name: str, *arguments: Any) -> Expr:
        raise NotImplementedError

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return self._call("=", self, other)

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return self._call("<>", self, other)

    def __lt__(self, other: Any) -> Expr:
        return self._call("<", self, other)

    def __le__(self, other: Any) -> Expr:
        return self._call("<=", self, other)

    def __gt__(self, other: Any) -> Expr:
        return self._call(">", self, other)

    def __ge__(self, other: Any) -> Expr:
        return self._call(">=", self, other)

    def __add__(self, other: Any) -> Expr:
        return self._call("+", self, other)

    def __radd__(self, other: Any) -> Expr:
        return self._call("+", other, self)

    def __sub__(self, other: Any) -> Expr:
        return self._call("-", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return self._call("-", other, self)

    def __mul__(self, other: Any) -> Expr:
        return self._call("*", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return self._call("*", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return self._call("/", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return self._call("/", other, self)

    def __floordiv__(self, other: Any) -> Expr:
        return self._call("//", self, other)

    def __rfloordiv__(self, other: Any) -> Expr:
        return self._call("//", other, self)

    def __mod__(self, other: Any) -> Expr:
        return self._call("%", self, other)

    def __rmod__(self, other: Any) -> Expr:
        return self._call("%", other, self)

    def __pow__(self, other: Any) -> Expr:
        return self._call("power", self, other)

    def __rpow__(self, other: Any) -> Expr:
        return self._call("power", other, self)

    def __and__(self, other: Any) -> Expr:
        return self._call("and", self, other)

    def __rand__(self, other: Any) -> Expr:
        return self._call("and", other, self)

    def __or__(self, other: Any) -> Expr:
        return self._call("or", self, other)

    def __ror__(self, other: Any) -> Expr:
        return self._call("or", other, self)

    def __xor__(self, other: Any) -> Expr:
        return self._call("<>", self, other)

    def __rxor__(self, other: Any) -> Expr:
        return self._call("<>", other, self)

    def __neg__(self) -> Expr:
        return self._call("negate", self)

    def __invert__(self) -> Expr:
        return self._call("not", self)

    def __abs__(self) -> Expr:
        return self._call("abs", self)

    def __round__(self, digits: int = 0) -> Expr:
        return self._call("round", self, digits)
