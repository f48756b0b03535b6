"""Read expressions on the columns of one row, node by node, with the functions of `sql_functions`.

*Closed*    A node may have the arguments of its function's spelling. A node with any other argument
            is refused, so that no part of the text is ever ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from sqlglot import exp

from ..errors import RefusalText, Refused
from ..tables.expr.expressions import Expr
from ..tables.expr.functions_time import UNITS
from ..tables.expr.types import Type
from . import sql_refusals as refusals
from .datetimes import Read
from .sql_constants import Parameters, read_constant
from .sql_functions import SYNTAX, TYPES, function_names, node_key, spelling_of
from .sql_text import Node, SqlText, arguments

REFUSED_NODES: Mapping[type[Node], RefusalText] = {
    exp.Subquery: refusals.SUBQUERY_AS_VALUE,
    exp.Select: refusals.SUBQUERY_AS_VALUE,
    exp.Exists: refusals.EXISTS_OUTSIDE_WHERE,
    exp.Any: refusals.SUBQUERY_COMPARED,
    exp.All: refusals.SUBQUERY_COMPARED,
    exp.Window: refusals.WINDOW,
    exp.CurrentDate: refusals.CURRENT_DATE,
    exp.CurrentTimestamp: refusals.CURRENT_TIME,
    exp.Rand: refusals.RANDOM_VALUE,
    exp.Glob: refusals.GLOB_PATTERN,
    exp.Escape: refusals.LIKE_ESCAPE,
    exp.Star: refusals.STAR_IN_EXPRESSION,
}
"""The nodes that have a refusal of their own."""


class RowReader:
    """Reads expressions on rows. The caller says what a column and an aggregate stand for."""

    def __init__(self, source: SqlText, parameters: Parameters) -> None:
        self.source = source
        self.parameters = parameters

    def read(
        self,
        node: Node,
        column: Callable[[exp.Column], Expr],
        special: Callable[[Node], Expr | None] = lambda _: None,
        check: Callable[[Expr, Node], None] = lambda *_: None,
    ) -> Expr:
        """Read a node as an expression. `special` may replace a node first; `check` sees every part
        of the expression.
        """

        def inner(part: Node) -> Expr:
            expression = self.read(part, column, special, check)
            check(expression, part)
            return expression

        if (special_value := special(node)) is not None:
            return special_value
        if type(node) is exp.Column:  # its subclasses are something else
            return column(node)
        if (literal := read_constant(node, self.parameters)) is not None:
            return literal
        try:
            return self._function(node, inner)
        except (KeyError, IndexError):  # an argument is missing
            raise self.refuse_unsupported(node) from None
        except Refused as refusal:
            raise (
                refusal
                if "\n" in refusal.place or refusal.code.startswith("sql.")
                else self.source.relocate(refusal, node)
            ) from None

    def _function(self, node: Node, read: Read) -> Expr:
        if (key := node_key(node)) in SYNTAX:
            places, build = SYNTAX[key]
            self.check_arguments(node, places)
            if (expression := build(node, read, self)) is not None:
                return expression
        if (spelling := spelling_of(node)) is not None:
            return spelling.read(node, read, self)
        raise self.refuse_unsupported(node)

    def check_arguments(self, node: Node, places: tuple[str, ...]) -> None:
        """Refuse a node with arguments that this package does not read."""
        named = ("this",) if isinstance(node, exp.Anonymous) else ()  # its name is no argument
        more = {*arguments(node)} - {*places, *named}
        if more:
            nested = node.args[min(more)]
            if isinstance(nested, exp.Query):
                raise self.refuse_unsupported(nested)
            raise self.source.refuse(
                refusals.CONSTRUCT_ARGUMENT,
                node,
                construct=type(node).__name__.upper(),
                argument=min(more),
            )

    def refuse_unsupported(self, node: Node) -> Refused:
        """Return the refusal of a node that this package does not read."""
        is_now = isinstance(node, exp.Anonymous) and node.name.lower() == "now"
        if is_now or type(node) in REFUSED_NODES:
            example = self.source.example
            entry = refusals.CURRENT_TIME if is_now else REFUSED_NODES[type(node)]
            return self.source.refuse(entry, node, corrected=example)
        if isinstance(node, exp.Func):
            name = self.source.name_of_call(node)
            close = get_close_matches(name.lower(), function_names(), n=1, cutoff=0.7)
            near = f": the nearest is {close[0].upper()}" if close else ""
            return self.source.refuse(refusals.UNKNOWN_FUNCTION, node, function=name, near=near)
        construct = type(node).__name__.upper()
        return self.source.refuse(refusals.CONSTRUCT_UNSUPPORTED, node, construct=construct)

    def cast_type(self, node: Node) -> Type:
        """Read the type that a CAST names."""
        kind = (
            node.this.name
            if isinstance(node, exp.DataType) and isinstance(node.this, exp.DataType.Type)
            else ""
        )
        if isinstance(node, exp.DataType):
            self.check_arguments(node, ("this", "expressions"))
        if kind == "DECIMAL":
            sizes = [
                str(part.this.this)
                for part in node.expressions
                if isinstance(part, exp.DataTypeParam)
            ] or ["18", "3"]
            name = f"decimal({sizes[0]},{sizes[1] if len(sizes) > 1 else 0})"
        elif node.args.get("expressions"):
            name = ""
        else:
            name = TYPES.get(kind, "")
        try:
            return Type.of(name)
        except Refused:
            type_names = ", ".join(dict.fromkeys((*TYPES, "DECIMAL(18, 2)")))
            raise self.source.refuse(
                refusals.UNKNOWN_TYPE,
                node.parent,
                types=type_names,
                corrected=self._cast_example(node.parent),
            ) from None

    def _cast_example(self, node: Node | None) -> str:
        """Return the text with a CAST to DOUBLE in the place of another one."""
        if not isinstance(node, exp.Cast) or not isinstance(node.this, Node):
            return self.source.example
        value = self.source.words_of(node.this)
        return self.source.replace_text(node, f"CAST({value} AS DOUBLE)")

    def unit(self, node: Node) -> str:
        """Read the unit of an interval or of DATE_TRUNC."""
        unit = node.args.get("unit")
        name = unit.name.lower() if isinstance(unit, exp.Var | exp.Literal) else ""
        return name.removesuffix("s") if name.removesuffix("s") in UNITS else name

    def text(self, node: Node) -> str:
        """Read a constant text, such as the first argument of DATE_PART."""
        if not (isinstance(node, exp.Literal) and node.is_string):
            raise self.source.refuse(
                refusals.DATE_PART_NOT_CONSTANT,
                node,
                corrected=self.source.replace_text(node, "'year'"),
            )
        return str(node.this)
