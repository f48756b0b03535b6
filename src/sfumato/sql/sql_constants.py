"""Read the constants of a text: numbers, texts, dates, and the values of parameters.

*Numbers*     that are public (a quantile's q, bin edges, ends of a clamp, LIMIT) are read exactly
              as written, never through a double.
*Parameters*  `?` takes the values of a list in order, `$1` its first value, `$name` the value of
              that name. They are constants, never SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from sqlglot import exp

from ..errors import Refused
from ..exact.numbers import Number, exact
from ..tables.expr import constants
from ..tables.expr.expressions import Expr, literal
from ..tables.expr.types import Type
from ..tables.query.question_options import ParameterValues
from . import sql_refusals as refusals
from .sql_text import SqlText, without_brackets


@dataclass(slots=True)
class Parameters:
    """The values of parameters, and which of them the text uses."""

    source: SqlText
    values: ParameterValues | None
    used: set[int | str] = field(default_factory=set)
    marks: dict[int, int] = field(default_factory=dict)  # of every ?, its number

    @classmethod
    def of(
        cls, source: SqlText, values: ParameterValues | None, tree: exp.Expression
    ) -> Parameters:
        """Check the values of a text's parameters: a list or a dictionary."""
        if values is not None and (
            isinstance(values, str | bytes) or not isinstance(values, Sequence | Mapping)
        ):
            raise source.refuse(refusals.PARAMETERS_TYPE, None)
        marks = [
            node for node in tree.dfs() if isinstance(node, exp.Placeholder) and node.this is None
        ]
        return cls(source, values, marks={id(node): i for i, node in enumerate(marks)})

    def value(self, node: exp.Placeholder) -> object:
        """Return the value of a parameter."""
        name = node.this
        if (
            node.args.get("kind")
            or node.args.get("jdbc")
            or not (name is None or isinstance(name, str))
        ):
            raise self.source.refuse(refusals.PARAMETER_FORM, node)
        at: int | str = (
            self.marks[id(node)]
            if name is None
            else int(name) - 1
            if name.isdecimal() and len(name) < 6
            else name
        )
        held = self.values if self.values is not None else ()
        if isinstance(held, Mapping) and isinstance(at, str) and at in held:
            self.used.add(at)
            return held[at]
        if not isinstance(held, Mapping) and isinstance(at, int) and 0 <= at < len(held):
            self.used.add(at)
            return held[at]
        shown = "?" if name is None else f"${name}"
        if isinstance(at, str):
            raise self.source.refuse(refusals.NAMED_PARAMETER_WITHOUT_VALUE, node, name=name)
        count = len(self.marks) if name is None else at + 1
        values = ", ".join(["18"] * min(count, 20))
        raise self.source.refuse(
            refusals.PARAMETER_WITHOUT_VALUE, node, parameter=shown, values=values
        )

    def finish(self) -> None:
        """Refuse values that no parameter uses: they are probably a mistake."""
        held = self.values if self.values is not None else ()
        left = set(held if isinstance(held, Mapping) else range(len(held))) - self.used
        if left:
            which = min(left, key=str)
            label = f"value {which + 1}" if isinstance(which, int) else f"${which}"
            entry = (
                refusals.VALUE_WITHOUT_PARAMETER
                if self.used
                else refusals.VALUES_WITHOUT_PARAMETERS
            )
            raise self.source.refuse(entry, None, value=label)


def read_constant(node: exp.Expression, parameters: Parameters) -> Expr | None:
    """Read a constant as an expression; None for other nodes."""
    source = parameters.source
    try:
        match node:
            case exp.Null():
                return literal(None)
            case exp.Boolean():
                return literal(bool(node.this))
            case exp.RawString():  # $$text$$
                return literal(str(node.this))
            case exp.Literal() if node.is_string:
                return literal(str(node.this))
            case exp.Literal():
                return literal(_number(str(node.this)))
            case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
                return literal(-_number(str(node.this.this)))
            case exp.Placeholder():
                return literal(engine_constant(parameters.value(node)))
    except Refused as refusal:
        raise (
            refusal if refusal.code.startswith("sql.") else source.relocate(refusal, node)
        ) from None
    except (ArithmeticError, ValueError):
        raise source.refuse(refusals.UNREADABLE_NUMBER, node) from None
    return None


def read_moment(text: str, target: Type, source: SqlText, node: exp.Expression) -> Expr:
    """Read a constant such as DATE '2026-01-31'."""
    try:
        return literal(constants.parse_text(text, target, "a constant"))
    except Refused as refusal:
        raise source.relocate(refusal, node) from None


def read_fraction(node: exp.Expression | None, parameters: Parameters, what: str) -> Fraction:
    """Read a public number exactly as written."""
    source = parameters.source
    inner = without_brackets(node)
    sign = 1
    if isinstance(inner, exp.Neg):
        sign, inner = -1, inner.this
    value: object = None
    if isinstance(inner, exp.Literal) and not inner.is_string:
        value = str(inner.this)
    elif isinstance(inner, exp.Placeholder):
        value = parameters.value(inner)
        value = None if isinstance(value, str | bool) else value
    if value is None:
        raise source.refuse(refusals.NUMBER_NOT_CONSTANT, node, argument=what)
    try:
        return sign * exact(cast("Number", value), what)  # `exact` refuses what is no number
    except Refused as refusal:
        raise source.relocate(refusal, node) from None


def read_count(node: exp.Expression | None, parameters: Parameters, what: str) -> int:
    """Read a whole number from 0 on, for LIMIT and OFFSET."""
    number = (
        read_fraction(node, parameters, what)
        if isinstance(node, exp.Literal | exp.Placeholder | exp.Paren)
        else Fraction(-1)
    )
    if number.denominator != 1 or not 0 <= number < 2**63:
        source = parameters.source
        raise source.refuse(refusals.LIMIT_NOT_WHOLE, node, clause=what)
    return int(number)


def _number(text: str) -> int | float:
    """Read a number as Python does: integers are exact, others are doubles, as in
    sf.col('spend') > 0.5.
    """
    return int(text) if text.isdecimal() else float(text)


def engine_constant(value: object) -> object:
    """Convert a Fraction, which no engine knows, to a number; return other values as they are."""
    if isinstance(value, Fraction):
        return float(value) if value.denominator != 1 else int(value)
    return value
