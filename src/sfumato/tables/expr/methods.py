"""The functions of the table as methods and operators of expressions, derived from its rows.
`methods.pyi` has the same list for type checkers and editors; docs/reference.py writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import TYPE_CHECKING, ClassVar

from .functions import FUNCTIONS
from .scalar_function import Function, Slot

if TYPE_CHECKING:
    from .nodes import Expr

PREFIXES = {"-": "neg", "~": "invert"}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod"}
REFLECTED = ARITHMETIC | {"**": "pow", "&": "and", "|": "or", "^": "xor"}
"""Python's names of its signs. For a comparison Python needs no reflected method."""


class Methods:
    """Methods and operators of expressions; an argument is an expression or a constant. `==` builds
    an expression, so expressions are not hashable.
    """

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # not hashable, as lists

    def _call(self, name: str, *arguments: object) -> Expr:
        raise NotImplementedError


def methods_of(function: Function) -> Iterator[tuple[str, Callable[..., Expr]]]:
    """Yield the method of a function if its row names the parameters, and its operators."""
    name, names = function.name, function.parameters.split(", ") if function.parameters else []
    if len(names) == len(function.takes) - 1 and name.isidentifier() and not iskeyword(name):
        yield name, _method(function, names)
    for sign in function.operator.split():
        if sign.isalpha():  # Python's abs and round
            yield f"__{sign}__", _method(function, names)
        elif len(function.takes) == 1:
            yield f"__{PREFIXES[sign]}__", _method(function, names)
        else:
            yield f"__{COMPARISONS.get(sign) or REFLECTED[sign]}__", _operator(name)
            if sign in REFLECTED:
                yield f"__r{REFLECTED[sign]}__", _operator(name, reflected=True)


def _method(function: Function, names: list[str]) -> Callable[..., Expr]:
    place = function.self_place
    slots = [*function.takes[:place], *function.takes[place + 1 :]]
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for number, (name, slot) in enumerate(zip(names, slots, strict=True), 1):
        is_last = number == len(slots)
        parameters.append(
            Parameter(
                name,
                Parameter.VAR_POSITIONAL
                if function.many and is_last
                else Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if function.last is None or not is_last else function.last,
                annotation=_annotation(slot),
            )
        )
    signature = Signature(parameters, return_annotation="Expr")

    def method(*values: object, **named: object) -> Expr:
        bound = signature.bind(*values, **named)
        bound.apply_defaults()
        expression, *arguments = bound.args
        return expression._call(function.name, *arguments[:place], expression, *arguments[place:])

    method.__signature__ = signature
    method.__name__, method.__doc__ = function.name, function.rule
    return method


def _annotation(slot: Slot) -> type:
    """Return the Python type of an argument: that of a constant, or any."""
    types = {frozenset({"integer"}): int, frozenset({"string"}): str}
    return types.get(slot.kinds, object) if slot.test else object


def _operator(name: str, *, reflected: bool = False) -> Callable[..., Expr]:
    def method(self: Methods, operand: object) -> Expr:
        return self._call(name, *((operand, self) if reflected else (self, operand)))

    return method


for _name, _function in (pair for row in FUNCTIONS.values() for pair in methods_of(row)):
    setattr(Methods, _name, _function)
