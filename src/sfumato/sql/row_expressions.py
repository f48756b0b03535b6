"""Read expressions on the columns of one row, node by node, against the table in `sql_functions`.

*Closed*    The table names the arguments that each node may have. A node with any other argument is
            refused, so that no part of the text is ever ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Expr
from ..tables.expr.types import Type
from .datetimes import Read
from .sql_constants import Parameters, read_constant
from .sql_functions import FLAGS, FUNCTION_NAMES, FUNCTION_NODES, TYPES
from .sql_text import Node, SqlText, arguments

_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")

REFUSED_NODES: Mapping[type[Node], tuple[str, str]] = {
    exp.Subquery: ("sql.subquery", "a sub-query cannot stand for a value: use a constant"),
    exp.Select: ("sql.subquery", "a sub-query cannot stand for a value: use a constant"),
    exp.Exists: ("sql.subquery", "EXISTS works in WHERE, alone or with AND"),
    exp.Any: ("sql.subquery", "compare with a list of constants: x IN (1, 2, 3)"),
    exp.All: ("sql.subquery", "compare with a list of constants: x IN (1, 2, 3)"),
    exp.Window: ("sql.window", "a window function reveals single rows"),
    exp.CurrentDate: (
        "sql.function",
        "a question must mean the same every day: give the date as a parameter",
    ),
    exp.CurrentTimestamp: (
        "sql.function",
        "a question must mean the same at every hour: give the time as a parameter",
    ),
    exp.Rand: ("sql.function", "a random condition has no stable answer"),
    exp.SimilarTo: ("sql.function", "some patterns take long for some rows: use LIKE"),
    exp.RegexpLike: ("sql.function", "some patterns take long for some rows: use LIKE"),
    exp.RegexpFullMatch: ("sql.function", "some patterns take long for some rows: use LIKE"),
    exp.Glob: ("sql.function", "patterns are written with LIKE"),
    exp.Escape: (
        "sql.unsupported",
        "LIKE has no ESCAPE here: CONTAINS and STARTS_WITH take a text as it is",
    ),
    exp.Star: ("sql.star", "name the columns one by one"),
}
"""The nodes that have a refusal of their own: code and reason."""


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
            if isinstance(node, exp.Anonymous):
                return self._named(node, inner)
            row = FUNCTION_NODES.get(type(node))
            if row is None:
                raise self.refuse_unsupported(node)
            self.check_arguments(node, row[0])
            return row[1](node, inner, self)
        except (KeyError, IndexError):  # an argument is missing
            raise self.refuse_unsupported(node) from None
        except Refused as refusal:
            raise (
                refusal
                if "\n" in refusal.place or refusal.code.startswith("sql.")
                else self.source.relocate(refusal, node)
            ) from None

    def _named(self, node: exp.Anonymous, read: Read) -> Expr:
        name = str(node.this).lower() if isinstance(node.this, str) else ""
        build = FUNCTION_NAMES.get(name)
        self.check_arguments(node, ("this", "expressions"))
        if build is None or (name == "date_part" and len(node.expressions) != 2):
            raise self.refuse_unsupported(node)
        return build(list(node.expressions), read, node, self)

    def check_arguments(self, node: Node, places: tuple[str, ...]) -> None:
        """Refuse a node with arguments that this package does not read."""
        more = set(arguments(node)) - set(places) - FLAGS.get(type(node), frozenset())
        if more:
            nested = node.args[min(more)]
            if isinstance(nested, exp.Query):
                raise self.refuse_unsupported(nested)
            raise self.source.refuse(
                "sql.unsupported",
                node,
                "",
                f"{type(node).__name__.upper()} with {min(more)} is not supported",
                self.source.example,
            )

    def refuse_unsupported(self, node: Node, rewrite: str = "") -> Refused:
        code, reason = REFUSED_NODES.get(type(node), ("", ""))
        if code:
            return self.source.refuse(code, node, "", reason, rewrite or self.source.example)
        if isinstance(node, exp.Func):
            name = str(node.this) if isinstance(node, exp.Anonymous) else type(node).__name__
            reason = f"the function {name.lower():.60} is not supported"
            return self.source.refuse(
                "sql.function", node, "", reason, rewrite or self.source.example
            )
        reason = f"{type(node).__name__.upper()} is not supported"
        return self.source.refuse(
            "sql.unsupported", node, "", reason, rewrite or self.source.example
        )

    def cast_type(self, node: Node) -> Type:
        """Read the type that a CAST names."""
        kind = (
            node.this.name
            if isinstance(node, exp.DataType) and isinstance(node.this, exp.DataType.Type)
            else ""
        )
        if isinstance(node, exp.DataType):
            self.check_arguments(node, ())
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
                "sql.type",
                node.parent,
                "",
                f"CAST takes one of {type_names}",
                self._cast_example(node.parent),
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
        return name.removesuffix("s") if name.removesuffix("s") in _UNITS else name

    def text(self, node: Node) -> str:
        """Read a constant text, such as the first argument of DATE_PART."""
        if not (isinstance(node, exp.Literal) and node.is_string):
            raise self.source.refuse(
                "sql.unsupported",
                node,
                "",
                "DATE_PART needs a constant text, as in DATE_PART('year', day)",
                self.source.replace_text(node, "'year'"),
            )
        return str(node.this)
