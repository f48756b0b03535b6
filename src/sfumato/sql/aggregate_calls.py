"""Read aggregate calls: SUM, AVG, QUANTILE and the others that an answer may release. Each
kind in `tables.aggregates` lists its calls with the shape of their arguments; here is a reader of
each shape.

*Bounds*     `SUM(CLAMP(x, 0, 100))` is the sum with these bounds: values outside count as the
             nearer end, and the answer says how many did.
*Spread*     VAR_POP, STDDEV_POP and COVAR_POP are those of the rows themselves. VARIANCE, STDDEV
             and all that end in SAMP estimate a population, as in PostgreSQL and DuckDB.
*Quantile*   MEDIAN, QUANTILE, QUANTILE_CONT, PERCENTILE_CONT … WITHIN GROUP: all are a point of a
             public grid below which a part q of the rows lies. With a list of probabilities, and as
             QUANTILES, they are read from one noisy count of all values, and each is a column.
*Extremes*   MIN and MAX are quantiles, too, and labelled so: some rows lie beyond them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from sqlglot import exp

from ..errors import Refused
from ..exact import effort
from ..tables import aggregates as ag
from ..tables.aggregates import KINDS
from ..tables.aggregates.column_kind import Shape, SqlCall
from ..tables.expr.expressions import Expr, Literal
from ..tables.query.aggregate import Aggregate, percent
from ..tables.query.stages import MOST_COLUMNS
from . import sql_refusals as refusals
from .row_expressions import RowReader
from .scope import Scope, find_call, quoted
from .sql_constants import read_fraction
from .sql_text import Node, arguments, without_brackets

Of = tuple[Expr, Fraction | None, Fraction | None]


class AggregateReader:
    """Reads the aggregate calls of one SELECT."""

    def __init__(self, scope: Scope, scalars: RowReader) -> None:
        self.scope = scope
        self.scalars = scalars
        self.source = scalars.source

    def aggregate(self, node: Node) -> Aggregate:
        """Read an aggregate that the answer releases."""
        if isinstance(node, exp.Filter):
            self.check_arguments(node, "this", "expression")
            aggregate = self.aggregate(node.this).filter(
                self.scope.read(node.expression.this, self.scalars)
            )
        elif isinstance(node, exp.WithinGroup):
            aggregate = self._read_within_group(node)
        else:
            call = find_call(node)
            if call is None or call.shape is None:
                raise self.refuse_unknown(node)
            aggregate = READERS[call.shape](node, self, call)
        self._check_components(aggregate, node)
        return aggregate

    def check_arguments(self, node: Node, *places: str) -> None:
        more = set(arguments(node)) - {*places, "big_int"}
        if more:
            raise self.source.refuse(refusals.AGGREGATE_ARGUMENT, node, argument=min(more))

    def value(self, node: Node | None) -> Expr:
        """Read the expression that an aggregate is of."""
        if not isinstance(node, Node) or isinstance(node, exp.Star):
            raise self.source.refuse(refusals.AGGREGATE_WITHOUT_COLUMN, node)
        if isinstance(node, exp.Distinct):
            call = node.parent or node
            name = self.source.words_of(call).partition("(")[0]
            listed = ", ".join(self.source.words_of(part) for part in node.expressions)
            rewrite = self.source.replace_text(call, f"{name}({listed})")
            raise self.source.refuse(refusals.DISTINCT_OUTSIDE_COUNT, node, corrected=rewrite)
        return self.scope.read(node, self.scalars)

    def read_clamped(self, node: Node | None) -> Of:
        """Read the expression that an aggregate is of, and the bounds of its CLAMP, if any."""
        inner = without_brackets(node)
        if (
            isinstance(inner, exp.Anonymous)
            and str(inner.this).lower() == "clamp"
            and len(inner.expressions) == 3
        ):
            low, high = (
                read_fraction(end, self.scalars.parameters, "an end")
                for end in inner.expressions[1:]
            )
            if not low < high:
                raise self.source.refuse(
                    refusals.CLAMP_ENDS,
                    inner,
                    corrected=self.source.replace_text(
                        inner, f"CLAMP({self.source.words_of(inner.expressions[0])}, 0, 100)"
                    ),
                )
            return self.value(inner.expressions[0]), low, high
        return self.value(node), None, None

    def quantile(
        self, of: Node | None, part: Node | None, node: Node, *, descending: bool = False
    ) -> Aggregate:
        """Read a quantile: with one probability alone, with a list of one probability as one of
        several that share their cost.
        """
        value, low, high = self.read_clamped(of)
        several = isinstance(part, exp.Array)
        if isinstance(part, exp.Array) and (
            len(part.expressions) != 1 or set(arguments(part)) - {"expressions"}
        ):
            raise self.source.refuse(refusals.QUANTILES_IN_EXPRESSION, node)
        stated = part.expressions[0] if isinstance(part, exp.Array) else part
        q = self.part(stated)
        if not 0 <= q <= 1:
            within = q / 100 if 1 < q < 100 else Fraction(1, 2)
            assert isinstance(stated, exp.Expression)  # a number was read from it
            fixed = self.source.replace_text(stated, f"{float(within):g}")
            raise self.source.refuse(refusals.QUANTILE_OF_ALL, node, corrected=fixed)
        q = 1 - q if descending else q
        try:
            if several:
                return ag.quantiles(value, [q], low=low, high=high)[0]
            return ag.quantile(value, q, low=low, high=high)
        except Refused as refusal:
            raise self.source.relocate(refusal, node) from None

    def part(self, node: Node | None) -> Fraction:
        return read_fraction(node, self.scalars.parameters, "q")

    def refuse_unknown(self, node: Node) -> Refused:
        if isinstance(node, exp.Mode) and isinstance(node.this, Node):
            of = self.source.words_of(node.this)
            return self.source.refuse(
                refusals.MODE, node, column=of, table=quoted(self.scope.rows.declaration.name)
            )
        *first, last = (call.text for kind in KINDS.values() for call in kind.calls)
        listed = f"{', '.join(first)} and {last}"
        return self.source.refuse(refusals.UNKNOWN_AGGREGATE, node, aggregates=listed)

    def _read_within_group(self, node: exp.WithinGroup) -> Aggregate:
        """Read PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)."""
        inner, order = node.this, node.expression
        self.check_arguments(node, "this", "expression")
        plain = (
            isinstance(inner, exp.PercentileCont | exp.PercentileDisc)
            and isinstance(order, exp.Order)
            and len(order.expressions) == 1
        )
        if not plain or inner.args.get("expression") is not None:
            raise self.refuse_unknown(node)
        ordered = order.expressions[0]
        if set(arguments(ordered)) - {"this", "desc"}:
            raise self.source.refuse(refusals.ORDER_UNSUPPORTED, ordered)
        return self.quantile(
            ordered.this, inner.this, node, descending=bool(ordered.args.get("desc"))
        )

    def _check_components(self, aggregate: Aggregate, node: Node) -> None:
        """Refuse an aggregate without bounds or without a number, at its place in the text."""
        try:
            KINDS[aggregate.kind].components(aggregate, self.scope.rows)
        except Refused as refusal:
            ranges = self.scope.rows.ranges
            columns = (None if aggregate.low is not None else aggregate.of, aggregate.by)
            unknown = [
                place
                for place, column in enumerate(columns)
                if column is not None
                and column.range(ranges) is None
                and refusal.reason.startswith(f"{column.text} has no public bounds")
            ]
            raise (
                self._refuse_bounds(aggregate, node, unknown[0])
                if refusal.code == "aggregate.bounds" and unknown
                else self.source.relocate(refusal, node, self._sql_rewrite(refusal, node))
            ) from None

    def _sql_rewrite(self, refusal: Refused, node: Node) -> str | None:
        """Return the text with the SQL form of a refusal in the place of the argument that it is
        about; None if the refusal has no such form.
        """
        form = refusal.forms.get("sql")
        if form is None:
            return None
        inner = node.this if isinstance(node, exp.Filter) else node
        argument = _second_argument(inner) if "{by}" in form else _first_argument(inner)
        words = self.source.words_of(argument)
        return self.source.replace_text(argument, form.format(of=words, by=words))

    def _refuse_bounds(self, aggregate: Aggregate, node: Node, place: int) -> Refused:
        inner = node.this if isinstance(node, exp.Filter) else node
        value = aggregate.by if place else aggregate.of
        of = _second_argument(inner) if place else _first_argument(inner)
        assert value is not None
        return self.source.refuse(
            refusals.VALUE_WITHOUT_BOUNDS,
            node,
            value=value.text,
            corrected=self.source.replace_text(of, f"CLAMP({self.source.words_of(of)}, 0, 100)"),
        )


def _first_argument(node: Node) -> Node:
    """Return the expression that an aggregate is about."""
    argument: Node = (
        node.expression.expressions[0].this
        if isinstance(node, exp.WithinGroup)
        else node.expressions[0]
        if isinstance(node, exp.Anonymous)
        else node.this
    )
    return argument


def _second_argument(node: Node) -> Node:
    """Return the second column of a pair."""
    argument: Node = node.expressions[1]
    return argument


def _count(node: Node, reader: AggregateReader, _: SqlCall) -> Aggregate:
    reader.check_arguments(node, "this")
    inner = node.this
    if inner is None or isinstance(inner, exp.Star):
        if isinstance(inner, exp.Star) and list(arguments(inner)):
            raise reader.scalars.refuse_unsupported(inner)
        return ag.count()
    if isinstance(inner, exp.Distinct):
        return _distinct(inner, reader)
    value = reader.value(inner)
    return ag.count() if isinstance(value, Literal) and value.value is not None else ag.count(value)


def _distinct(node: exp.Distinct, reader: AggregateReader) -> Aggregate:
    unit = reader.scope.rows.declaration.unit
    operands = [
        part
        for item in node.expressions
        for part in (item.expressions if isinstance(item, exp.Tuple) else [item])
    ]
    named = [reader.scope.read(part, reader.scalars) for part in operands]
    units = {expression.text for expression in named if reader.scope.unit(expression)}
    if (
        not set(arguments(node)) - {"expressions"}
        and len(named) == 1
        and named[0].columns
        and not named[0].columns & set(unit)
    ):
        return ag.count_distinct(named[0])
    if (
        set(arguments(node)) - {"expressions"}
        or not unit
        or len(units) < len(unit)
        or len(named) != len(unit)
    ):
        counted = f"COUNT(DISTINCT {', '.join(unit)})" if unit else "COUNT(*)"
        rewrite = (
            reader.source.example
            if 0 < len(units) < len(named)
            else reader.source.replace_text(node.parent or node, counted)
        )
        raise reader.source.refuse(refusals.DISTINCT_COLUMNS, node, corrected=rewrite)
    return ag.count_units()


def _count_if(node: Node, reader: AggregateReader, call: SqlCall) -> Aggregate:
    return call(reader.value(_operand(node, reader)))


def _column(node: Node, reader: AggregateReader, call: SqlCall) -> Aggregate:
    """Read an aggregate of a column, with its bounds."""
    value, low, high = reader.read_clamped(_operand(node, reader))
    return call(value, low=low, high=high)


def _pair(node: Node, reader: AggregateReader, call: SqlCall) -> Aggregate:
    """Read an aggregate of two columns, the first with its bounds."""
    for part in node.expressions:
        if isinstance(part, exp.Distinct):  # which holds all columns
            reader.value(part)
    if len(node.expressions) != 2:
        raise _refuse_pair(node, reader, call)
    first, second = node.expressions
    value, low, high = reader.read_clamped(first)
    return call(value, reader.value(second), low=low, high=high)


def _refuse_pair(node: Node, reader: AggregateReader, call: SqlCall) -> Refused:
    """Build the refusal of one column, or of three. The rewrite leaves out those beyond the second,
    and adds bounded columns of the table.
    """
    rows = reader.scope.rows
    named = [part for part in node.expressions if not isinstance(part, exp.Star)]
    columns = [reader.source.words_of(part) for part in named[:2]]
    bounded = [
        quoted(name)
        for name, column in reader.scope.names.items()
        if column.range(rows.ranges) is not None and not column.columns & set(rows.declaration.unit)
    ]
    fresh = [name for name in bounded if name not in columns]
    columns += [*fresh, *bounded][: 2 - len(columns)]
    corrected = (
        reader.source.replace_text(node, f"{call.text}({', '.join(columns)})")
        if len(columns) == 2
        else reader.source.example
    )
    return reader.source.refuse(
        refusals.PAIR_ARGUMENTS,
        node,
        aggregate=call.text,
        count=len(node.expressions),
        corrected=corrected,
    )


def _operand(node: Node, reader: AggregateReader) -> Node | None:
    """Return the one operand of a call; refuse a call with more or fewer."""
    if not isinstance(node, exp.Anonymous):
        reader.check_arguments(node, "this")
        return node.args.get("this")
    if len(node.expressions) != 1:
        raise reader.refuse_unknown(node)
    operand: Node = node.expressions[0]
    return operand


def _quantiles(node: Node, reader: AggregateReader, _: SqlCall) -> Aggregate:
    if len(node.expressions) != 2 or not isinstance(node.expressions[1], exp.Array):
        of = reader.source.words_of(node.expressions[0]) if node.expressions else "age"
        raise reader.source.refuse(
            refusals.QUANTILES_ARGUMENTS,
            node,
            corrected=reader.source.replace_text(node, f"QUANTILES({of}, [0.25, 0.5, 0.75])"),
        )
    return reader.quantile(node.expressions[0], node.expressions[1], node)


def split_quantiles(node: Node, scalars: RowReader) -> list[tuple[Node, str]]:
    """Split a list of quantiles: return a node for each, and the suffix of its column's name; []
    for other nodes.
    """
    inner = node.this if isinstance(node, exp.Filter) else node
    inner = inner.this if isinstance(inner, exp.WithinGroup) else inner
    quantile = isinstance(
        inner, exp.Quantile | exp.PercentileCont | exp.PercentileDisc | exp.ApproxQuantile
    )
    if not quantile and not (
        isinstance(inner, exp.Anonymous) and str(inner.this).lower() == "quantiles"
    ):
        return []
    listed = next((part for part in inner.iter_expressions() if isinstance(part, exp.Array)), None)
    if listed is None or set(arguments(listed)) - {"expressions"}:
        return []
    parts = listed.expressions
    if len(parts) > MOST_COLUMNS:
        raise scalars.source.refuse(
            refusals.TOO_MANY_QUANTILES, node, most=MOST_COLUMNS, count=len(parts)
        )
    place = next(i for i, array in enumerate(node.find_all(exp.Array)) if array is listed)
    quantiles = []
    listed.set("expressions", [])  # a copy for each quantile has its own number, not the whole list
    try:
        for part in parts:
            effort.check()
            copy = node.copy()
            array = next(array for i, array in enumerate(copy.find_all(exp.Array)) if i == place)
            array.set("expressions", [part.copy()])
            quantiles.append((copy, percent(read_fraction(part, scalars.parameters, "q"))))
    finally:
        listed.set("expressions", parts)
    return quantiles


def _quantile(node: Node, reader: AggregateReader, _: SqlCall) -> Aggregate:
    place = "quantile" if "quantile" in node.arg_types else "expression"
    reader.check_arguments(node, "this", place)
    if node.args.get(place) is None:
        raise reader.refuse_unknown(node)
    return reader.quantile(node.this, node.args[place], node)


def _median(node: Node, reader: AggregateReader, _: SqlCall) -> Aggregate:
    reader.check_arguments(node, "this")
    return reader.quantile(node.this, exp.Literal.number("0.5"), node)


def _bins(node: Node, reader: AggregateReader, call: SqlCall) -> Aggregate:
    operands = node.expressions
    if (
        len(operands) != 2
        or not isinstance(operands[1], exp.Array)
        or set(arguments(operands[1])) - {"expressions"}
    ):
        of = reader.source.words_of(operands[0]) if operands else "age"
        raise reader.source.refuse(
            refusals.HISTOGRAM_ARGUMENTS,
            node,
            name=call.text,
            corrected=reader.source.replace_text(node, f"{call.text}({of}, [0, 10, 20, 50])"),
        )
    edges = [
        read_fraction(edge, reader.scalars.parameters, "an edge")
        for edge in operands[1].expressions
    ]
    try:
        return call(reader.value(operands[0]), edges=edges)
    except Refused as refusal:
        raise (
            reader.source.relocate(refusal, node)
            if not refusal.code.startswith("sql.")
            else refusal
        ) from None


Reader = Callable[[Node, AggregateReader, SqlCall], Aggregate]
READERS: Mapping[Shape, Reader] = {
    "count": _count,
    "condition": _count_if,
    "column": _column,
    "pair": _pair,
    "quantile": _quantile,
    "median": _median,
    "quantiles": _quantiles,
    "bins": _bins,
}
"""How to read the arguments of each shape."""
