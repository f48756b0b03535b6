"""Reads what is computed from the columns of one row, node by node, against the list in
`functions`. What is not in it is refused.

*Closed*    A node is taken apart by the arguments that its row of the list names. An argument that
            says something and is not named there is refused, so that nothing of the text is ever
            passed over in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from ..errors import Refused
from ..tables.expr.expressions import Expr
from ..tables.expr.types import Type
from .datetimes import Read
from .sql_constants import Parameters, constant
from .sql_functions import FLAGS, NAMED, TABLE, TYPES
from .sql_text import Node, Source, arguments

_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")

TEACH: Mapping[type[Node], tuple[str, str]] = {
    exp.Subquery: (
        "sql.subquery",
        "a value taken from rows is no constant: a question sees one row at a time",
    ),
    exp.Select: (
        "sql.subquery",
        "a value taken from rows is no constant: a question sees one row at a time",
    ),
    exp.Exists: ("sql.subquery", "whether some row exists is about a person"),
    exp.Any: ("sql.subquery", "what a value is compared with is a list of constants"),
    exp.All: ("sql.subquery", "what a value is compared with is a list of constants"),
    exp.Window: ("sql.window", "a rank, or a sum up to a row, tells of rows one by one"),
    exp.CurrentDate: (
        "sql.function",
        "the same question means the same every day: give the date as a parameter",
    ),
    exp.CurrentTimestamp: (
        "sql.function",
        "the same question means the same at every hour: give the time as a parameter",
    ),
    exp.Rand: ("sql.function", "chance has no place in a condition"),
    exp.SimilarTo: ("sql.function", "patterns that could take long for some rows are not matched"),
    exp.RegexpLike: (
        "sql.function",
        "patterns that could take long for some rows are not matched: LIKE is",
    ),
    exp.RegexpFullMatch: (
        "sql.function",
        "patterns that could take long for some rows are not matched: LIKE is",
    ),
    exp.Glob: ("sql.function", "patterns are written with LIKE"),
    exp.Escape: (
        "sql.unsupported",
        "LIKE has no escape here: CONTAINS and STARTS_WITH take a text as it is",
    ),
    exp.Star: ("sql.star", "columns are named one by one"),
}
"""What is refused with a reason of its own."""


class Scalars:
    """Reads expressions on rows. What a column is, and what an aggregate, is told by whoever
    asks.
    """

    def __init__(self, source: Source, parameters: Parameters) -> None:
        self.source = source
        self.parameters = parameters

    def read(
        self,
        node: Node,
        column: Callable[[exp.Column], Expr],
        special: Callable[[Node], Expr | None] = lambda _: None,
        check: Callable[[Expr, Node], None] = lambda *_: None,
    ) -> Expr:
        """The expression of a node. `special` may take a node before anything else does; `check`
        sees every part that was made.
        """

        def inner(part: Node) -> Expr:
            made = self.read(part, column, special, check)
            check(made, part)
            return made

        if (found := special(node)) is not None:
            return found
        if type(node) is exp.Column:  # its subclasses are something else
            return column(node)
        if (made := constant(node, self.parameters)) is not None:
            return made
        try:
            if isinstance(node, exp.Anonymous):
                return self._named(node, inner)
            row = TABLE.get(type(node))
            if row is None:
                raise self.unsupported(node)
            self.closed(node, row[0])
            return row[1](node, inner, self)
        except (KeyError, IndexError):  # an argument is missing
            raise self.unsupported(node) from None
        except Refused as refusal:
            raise (
                refusal
                if "\n" in refusal.place or refusal.code.startswith("sql.")
                else self.source.moved(refusal, node)
            ) from None

    def _named(self, node: exp.Anonymous, read: Read) -> Expr:
        name = str(node.this).lower() if isinstance(node.this, str) else ""
        build = NAMED.get(name)
        self.closed(node, ("this", "expressions"))
        if build is None or (name == "date_part" and len(node.expressions) != 2):
            raise self.unsupported(node)
        return build(list(node.expressions), read, node, self)

    def closed(self, node: Node, places: tuple[str, ...]) -> None:
        """Refuse a node that says more than is read of it."""
        more = set(arguments(node)) - set(places) - FLAGS.get(type(node), frozenset())
        if more:
            nested = node.args[min(more)]
            if isinstance(nested, exp.Query):
                raise self.unsupported(nested)
            raise self.source.refuse(
                "sql.unsupported",
                node,
                "",
                f"{type(node).__name__.upper()} with {min(more)} is not on the list",
                self.source.example,
            )

    def unsupported(self, node: Node, rewrite: str = "") -> Refused:
        code, reason = TEACH.get(type(node), ("", ""))
        if code:
            return self.source.refuse(code, node, "", reason, rewrite or self.source.example)
        if isinstance(node, exp.Func):
            name = str(node.this) if isinstance(node, exp.Anonymous) else type(node).__name__
            reason = (
                f"{name.lower():.60} is not on the list of functions, each of which is "
                f"tested never to fail"
            )
            return self.source.refuse("sql.function", node, "", reason, self.source.example)
        reason = f"{type(node).__name__.upper()} is not on the list of what can be asked"
        return self.source.refuse(
            "sql.unsupported", node, "", reason, rewrite or self.source.example
        )

    def known_type(self, node: Node) -> Type:
        """The type that a CAST names."""
        kind = (
            node.this.name
            if isinstance(node, exp.DataType) and isinstance(node.this, exp.DataType.Type)
            else ""
        )
        if isinstance(node, exp.DataType):
            self.closed(node, ())
        if kind == "DECIMAL":
            given = [
                str(part.this.this)
                for part in node.expressions
                if isinstance(part, exp.DataTypeParam)
            ] or ["18", "3"]
            name = f"decimal({given[0]},{given[1] if len(given) > 1 else 0})"
        elif node.args.get("expressions"):
            name = ""
        else:
            name = TYPES.get(kind, "")
        try:
            return Type.of(name)
        except Refused:
            known = ", ".join(dict.fromkeys((*TYPES, "DECIMAL(18, 2)")))
            raise self.source.refuse(
                "sql.type",
                node.parent,
                "",
                "no column has this type",
                f"CAST(… AS …) with one of {known}",
            ) from None

    def unit(self, node: Node) -> str:
        """The unit of an interval or of DATE_TRUNC."""
        unit = node.args.get("unit")
        name = unit.name.lower() if isinstance(unit, exp.Var | exp.Literal) else ""
        return name.removesuffix("s") if name.removesuffix("s") in _UNITS else name

    def text(self, node: Node) -> str:
        """A constant text, as DATE_PART has it."""
        if not (isinstance(node, exp.Literal) and node.is_string):
            raise self.source.refuse(
                "sql.unsupported",
                node,
                "",
                "the part of a moment is a constant text",
                "DATE_PART('year', day)",
            )
        return str(node.this)
