"""Constants of a text: numbers, texts, dates, and the values that are given for parameters.

*Numbers*     that are public (a quantile's q, bin edges, ends of a clamp, LIMIT) are taken as they
              are written, never through a double.
*Parameters*  `?` takes the values of a list in order, `$1` the first of it, `$name` the value of
              that name. They are constants, never text to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlglot import exp

from ..errors import Refused
from ..exact.numbers import exact
from ..tables.expr import constants
from ..tables.expr.expressions import Expr, literal
from ..tables.expr.types import Type
from .sql_text import Source

Given = Sequence[Any] | Mapping[str, Any] | None


@dataclass(slots=True)
class Parameters:
    """Values, and which of them have been taken."""

    source: Source
    given: Given
    taken: set[int | str] = field(default_factory=set)
    marks: dict[int, int] = field(default_factory=dict)  # of every ?, its number

    @classmethod
    def of(cls, source: Source, given: Given, tree: exp.Expression) -> Parameters:
        """The values for a text's parameters: a list or a dictionary."""
        if given is not None and (
            isinstance(given, str | bytes) or not isinstance(given, Sequence | Mapping)
        ):
            raise source.refuse(
                "sql.parameter",
                None,
                "",
                "values are a list, or a dictionary by name",
                source.example,
            )
        marks = [
            node for node in tree.dfs() if isinstance(node, exp.Placeholder) and node.this is None
        ]
        return cls(source, given, marks={id(node): i for i, node in enumerate(marks)})

    def value(self, node: exp.Placeholder) -> Any:
        """What stands for a parameter."""
        name = node.this
        if (
            node.args.get("kind")
            or node.args.get("jdbc")
            or not (name is None or isinstance(name, str))
        ):
            raise self.source.refuse(
                "sql.parameter",
                node,
                "",
                "a parameter is written ?, $1 or $name",
                self.source.example,
            )
        at: int | str = (
            self.marks[id(node)]
            if name is None
            else int(name) - 1
            if name.isdecimal() and len(name) < 6
            else name
        )
        held = self.given if self.given is not None else ()
        shown = "?" if name is None else f"${name}"
        if isinstance(held, Mapping) != isinstance(at, str) or at not in (
            held if isinstance(held, Mapping) else range(len(held))
        ):
            reason = f"no value is given for {shown}"
            raise self.source.refuse(
                "sql.parameter",
                node,
                "",
                reason,
                "parameters=[…] for ? and $1, parameters={…} for $name",
            )
        self.taken.add(at)
        return held[at]  # type: ignore[index]

    def finish(self) -> None:
        """Refuse what was given and not asked for: it was meant for something."""
        held = self.given if self.given is not None else ()
        left = set(held if isinstance(held, Mapping) else range(len(held))) - self.taken
        if left:
            which = min(left, key=str)
            said = f"value {which + 1}" if isinstance(which, int) else f"${which}"
            reason = f"{said} is given, and the text has no place for it"
            raise self.source.refuse(
                "sql.parameter", None, "", reason, "a value for every parameter, and no other"
            )


def constant(node: exp.Expression, parameters: Parameters) -> Expr | None:
    """A literal as an expression; None where it is something else."""
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
                return literal(plain(parameters.value(node)))
    except Refused as refusal:
        raise refusal if refusal.code.startswith("sql.") else source.moved(refusal, node) from None
    except (ArithmeticError, ValueError):
        raise source.refuse(
            "sql.syntax", node, "", "this number cannot be read", source.example
        ) from None
    return None


def moment(text: str, known: Type, source: Source, node: exp.Expression) -> Expr:
    """DATE '2026-01-31' and the like, read now."""
    try:
        return literal(constants.read(text, known, "a constant"))
    except Refused as refusal:
        raise source.moved(refusal, node) from None


def fraction(node: exp.Expression | None, parameters: Parameters, what: str) -> Fraction:
    """A public number, exactly as it is written."""
    source = parameters.source
    inner = node.unnest() if isinstance(node, exp.Paren) else node  # type: ignore[no-untyped-call]
    sign = 1
    if isinstance(inner, exp.Neg):
        sign, inner = -1, inner.this
    value: Any = None
    if isinstance(inner, exp.Literal) and not inner.is_string:
        value = str(inner.this)
    elif isinstance(inner, exp.Placeholder):
        value = parameters.value(inner)
        value = None if isinstance(value, str | bool) else value
    if value is None:
        reason = f"{what} is public: a number that stands in the text, or a parameter"
        raise source.refuse("sql.unsupported", node, f"{what} is a number", reason, source.example)
    try:
        return sign * exact(value, what)
    except Refused as refusal:
        raise source.moved(refusal, node) from None


def whole(node: exp.Expression | None, parameters: Parameters, what: str) -> int:
    """A number of rows."""
    number = (
        fraction(node, parameters, what)
        if isinstance(node, exp.Literal | exp.Placeholder | exp.Paren)
        else Fraction(-1)
    )
    if number.denominator != 1 or not 0 <= number < 2**63:
        source = parameters.source
        raise source.refuse(
            "sql.limit", node, "", f"{what} is a whole number from 0 on", source.example
        )
    return int(number)


def _number(text: str) -> int | float:
    """As Python reads it: whole numbers are exact, others are doubles, as in sf.col('spend') >
    0.5.
    """
    return int(text) if text.isdecimal() else float(text)


def plain(value: Any) -> Any:
    """A Fraction is no constant of an engine; everything else is checked by the constants
    themselves.
    """
    if isinstance(value, Fraction):
        return float(value) if value.denominator != 1 else int(value)
    return value
