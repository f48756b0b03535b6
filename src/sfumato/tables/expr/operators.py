"""Python's operators on expressions; each calls the function of the same name in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .nodes import Expr


class Operators:
    """Operators of expressions; `operand` is an expression or a constant. `==` builds an
    expression, so expressions are not hashable.
    """

    __slots__ = ()
    __hash__: ClassVar[None]  # type: ignore[assignment]  # not hashable, as lists

    def _call(self, name: str, *arguments: object) -> Expr:
        raise NotImplementedError

    def __eq__(self, operand: object) -> Expr:  # type: ignore[override]  # builds an expression
        return self._call("=", self, operand)

    def __ne__(self, operand: object) -> Expr:  # type: ignore[override]  # builds an expression
        return self._call("<>", self, operand)

    def __lt__(self, operand: object) -> Expr:
        return self._call("<", self, operand)

    def __le__(self, operand: object) -> Expr:
        return self._call("<=", self, operand)

    def __gt__(self, operand: object) -> Expr:
        return self._call(">", self, operand)

    def __ge__(self, operand: object) -> Expr:
        return self._call(">=", self, operand)

    def __add__(self, operand: object) -> Expr:
        return self._call("+", self, operand)

    def __radd__(self, operand: object) -> Expr:
        return self._call("+", operand, self)

    def __sub__(self, operand: object) -> Expr:
        return self._call("-", self, operand)

    def __rsub__(self, operand: object) -> Expr:
        return self._call("-", operand, self)

    def __mul__(self, operand: object) -> Expr:
        return self._call("*", self, operand)

    def __rmul__(self, operand: object) -> Expr:
        return self._call("*", operand, self)

    def __truediv__(self, operand: object) -> Expr:
        return self._call("/", self, operand)

    def __rtruediv__(self, operand: object) -> Expr:
        return self._call("/", operand, self)

    def __floordiv__(self, operand: object) -> Expr:
        return self._call("//", self, operand)

    def __rfloordiv__(self, operand: object) -> Expr:
        return self._call("//", operand, self)

    def __mod__(self, operand: object) -> Expr:
        return self._call("%", self, operand)

    def __rmod__(self, operand: object) -> Expr:
        return self._call("%", operand, self)

    def __pow__(self, operand: object) -> Expr:
        return self._call("power", self, operand)

    def __rpow__(self, operand: object) -> Expr:
        return self._call("power", operand, self)

    def __and__(self, operand: object) -> Expr:
        return self._call("and", self, operand)

    def __rand__(self, operand: object) -> Expr:
        return self._call("and", operand, self)

    def __or__(self, operand: object) -> Expr:
        return self._call("or", self, operand)

    def __ror__(self, operand: object) -> Expr:
        return self._call("or", operand, self)

    def __xor__(self, operand: object) -> Expr:
        return self._call("<>", self, operand)

    def __rxor__(self, operand: object) -> Expr:
        return self._call("<>", operand, self)

    def __neg__(self) -> Expr:
        return self._call("negate", self)

    def __invert__(self) -> Expr:
        return self._call("not", self)

    def __abs__(self) -> Expr:
        return self._call("abs", self)

    def __round__(self, digits: int = 0) -> Expr:
        return self._call("round", self, digits)
