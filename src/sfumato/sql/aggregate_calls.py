"""Aggregates in SQL's spelling: those that are released, and the totals of one unit's rows, which a
sub-query may have.

*Bounds*     `SUM(CLAMP(x, 0, 100))` is the sum with these bounds: values outside count as the
             nearer end, and the answer says how many did.
*Spread*     VARIANCE, VAR and STDDEV in all their spellings are those of the rows themselves, not
             an estimate for a larger population.
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
from ..tables.expr.expressions import Expr, Literal
from ..tables.plan.components import PIECES
from ..tables.query import aggregates as ag
from ..tables.query.aggregates import Aggregate
from ..tables.query.stages import MOST_COLUMNS
from .row_expressions import Scalars
from .scope import Scope, quoted
from .sql_constants import fraction
from .sql_text import Node, arguments

Of = tuple[Expr, Fraction | None, Fraction | None]
Make = Callable[[Node, "Reader"], Aggregate]


class Reader:
    """Reads the aggregates of one SELECT."""

    def __init__(self, scope: Scope, scalars: Scalars) -> None:
        self.scope = scope
        self.scalars = scalars
        self.source = scalars.source

    def aggregate(self, node: Node) -> Aggregate:
        """An aggregate that is released."""
        if isinstance(node, exp.Filter):
            self.closed(node, "this", "expression")
            made = self.aggregate(node.this).filter(
                self.scope.read(node.expression.this, self.scalars)
            )
        elif isinstance(node, exp.WithinGroup):
            made = self._within(node)
        else:
            name = str(node.this).lower() if isinstance(node, exp.Anonymous) else ""
            make = NAMED.get(name) if name else RELEASED.get(type(node))
            if make is None:
                raise self.unknown(node)
            made = make(node, self)
        self._checked(made, node)
        return made

    def closed(self, node: Node, *places: str) -> None:
        more = set(arguments(node)) - {*places, "big_int"}
        if more:
            raise self.source.refuse(
                "sql.unsupported",
                node,
                "",
                f"an aggregate with {min(more)} is not on the list",
                self.source.example,
            )

    def value(self, node: Node | None) -> Expr:
        """What is aggregated."""
        if not isinstance(node, Node) or isinstance(node, exp.Star):
            raise self.source.refuse(
                "sql.aggregate", node, "", "this aggregate is of a column", self.source.example
            )
        if isinstance(node, exp.Distinct):
            reason = (
                "only units can be counted without repetition: of other values, one unit may "
                "hold any number"
            )
            unit = ", ".join(self.scope.rows.declaration.unit) or "…"
            raise self.source.refuse(
                "sql.distinct",
                node,
                "",
                reason,
                f"COUNT(DISTINCT {unit}), or the aggregate without DISTINCT",
            )
        return self.scope.read(node, self.scalars)

    def clamped(self, node: Node | None) -> Of:
        """What is aggregated, and between which ends, where CLAMP tells."""
        inner = node.unnest() if isinstance(node, exp.Paren) else node  # type: ignore[no-untyped-call]
        if (
            isinstance(inner, exp.Anonymous)
            and str(inner.this).lower() == "clamp"
            and len(inner.expressions) == 3
        ):
            low, high = (
                fraction(end, self.scalars.parameters, "an end") for end in inner.expressions[1:]
            )
            if not low < high:
                raise self.source.refuse(
                    "sql.bounds",
                    inner,
                    "",
                    "the lower end lies below the upper one",
                    "CLAMP(x, 0, 100)",
                )
            return self.value(inner.expressions[0]), low, high
        return self.value(node), None, None

    def quantile(
        self, of: Node | None, part: Node | None, node: Node, *, descending: bool = False
    ) -> Aggregate:
        """With one probability, a quantile; with a list of one, one of several that are released
        together.
        """
        value, low, high = self.clamped(of)
        several = isinstance(part, exp.Array)
        if isinstance(part, exp.Array) and (
            len(part.expressions) != 1 or set(arguments(part)) - {"expressions"}
        ):
            raise self.source.refuse(
                "sql.aggregate",
                node,
                "",
                "several quantiles are columns of their own, with nothing around them",
                self.source.example,
            )
        q = self.part(part.expressions[0] if isinstance(part, exp.Array) else part)
        q = 1 - q if descending else q
        try:
            if several:
                return ag.quantiles(value, [q], low=low, high=high)[0]
            return ag.quantile(value, q, low=low, high=high)
        except Refused as refusal:
            raise self.source.moved(refusal, node) from None

    def part(self, node: Node | None) -> Fraction:
        return fraction(node, self.scalars.parameters, "q")

    def unknown(self, node: Node) -> Refused:
        if isinstance(node, exp.Mode) and isinstance(node.this, Node):
            of = self.source.words_of(node.this)
            rewrite = (
                f"SELECT {of}, COUNT(*) AS n FROM {quoted(self.scope.rows.declaration.name)} "
                f"GROUP BY {of} ORDER BY n DESC LIMIT 1"
            )
            return self.source.refuse(
                "sql.aggregate",
                node,
                "",
                "the most frequent value is a group: the first of all, by their counts",
                rewrite,
            )
        reason = (
            "released are COUNT, SUM, AVG, MIN, MAX, MEDIAN, QUANTILE, QUANTILES, VARIANCE, "
            "STDDEV, HISTOGRAM, RATIO, WEIGHTED_AVG and COUNT(DISTINCT x)"
        )
        return self.source.refuse("sql.aggregate", node, "", reason, self.source.example)

    def _within(self, node: exp.WithinGroup) -> Aggregate:
        """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)."""
        inner, order = node.this, node.expression
        self.closed(node, "this", "expression")
        plain = (
            isinstance(inner, exp.PercentileCont | exp.PercentileDisc)
            and isinstance(order, exp.Order)
            and len(order.expressions) == 1
        )
        if not plain or inner.args.get("expression") is not None:
            raise self.unknown(node)
        ordered = order.expressions[0]
        if set(arguments(ordered)) - {"this", "desc"}:
            raise self.source.refuse(
                "sql.unsupported", ordered, "", "this order is not on the list", self.source.example
            )
        return self.quantile(
            ordered.this, inner.this, node, descending=bool(ordered.args.get("desc"))
        )

    def _checked(self, made: Aggregate, node: Node) -> None:
        """What lacks bounds, or has no number, is refused here, where its place is known."""
        try:
            PIECES[made.kind](made, self.scope.rows)
        except Refused as refusal:
            unknown = (
                made.low is None
                and made.of is not None
                and made.of.range(self.scope.rows.ranges) is None
            )
            raise (
                self._bounds(made, node)
                if refusal.code == "aggregate.bounds" and unknown
                else self.source.moved(refusal, node)
            ) from None

    def _bounds(self, made: Aggregate, node: Node) -> Refused:
        inner = node.this if isinstance(node, exp.Filter) else node
        of = inner.expressions[0] if isinstance(inner, exp.Anonymous) else inner.this
        if isinstance(inner, exp.WithinGroup):
            of = inner.expression.expressions[0].this
        words = self.source.words_of(of)
        assert made.of is not None
        reason = (
            f"without public bounds of {made.of.text:.80} one row could move the answer by "
            f"any amount"
        )
        return self.source.refuse(
            "sql.bounds", node, "", reason, self.source.replaced(of, f"CLAMP({words}, 0, 100)")
        )


def _count(node: exp.Count, reader: Reader) -> Aggregate:
    reader.closed(node, "this")
    inner = node.this
    if inner is None or isinstance(inner, exp.Star):
        if isinstance(inner, exp.Star) and list(arguments(inner)):
            raise reader.scalars.unsupported(inner)
        return ag.count()
    if isinstance(inner, exp.Distinct):
        return _distinct(inner, reader)
    value = reader.value(inner)
    return ag.count() if isinstance(value, Literal) and value.value is not None else ag.count(value)


def _distinct(node: exp.Distinct, reader: Reader) -> Aggregate:
    unit = reader.scope.rows.declaration.unit
    given = [
        part
        for item in node.expressions
        for part in (item.expressions if isinstance(item, exp.Tuple) else [item])
    ]
    named = [reader.scope.read(part, reader.scalars) for part in given]
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
        reason = (
            "what is counted without repetition is the unit, all of its columns together, or "
            "one other value"
        )
        rewrite = reader.source.replaced(
            node.parent or node, f"COUNT(DISTINCT {', '.join(unit)})" if unit else "COUNT(*)"
        )
        raise reader.source.refuse("sql.distinct", node, "", reason, rewrite)
    return ag.count_units()


def _count_if(node: exp.CountIf, reader: Reader) -> Aggregate:
    reader.closed(node, "this")
    return ag.count_if(reader.value(node.this))


def _one(make: Callable[..., Aggregate]) -> Make:
    def build(node: Node, reader: Reader) -> Aggregate:
        reader.closed(node, "this")
        value, low, high = reader.clamped(node.this)
        return make(value, low=low, high=high)

    return build


def _named(make: Callable[..., Aggregate]) -> Make:
    def build(node: Node, reader: Reader) -> Aggregate:
        if len(node.expressions) != 1:
            raise reader.unknown(node)
        value, low, high = reader.clamped(node.expressions[0])
        return make(value, low=low, high=high)

    return build


def _two(make: Callable[..., Aggregate]) -> Make:
    """Of two columns, the first with its bounds."""

    def build(node: Node, reader: Reader) -> Aggregate:
        if len(node.expressions) != 2:
            raise reader.unknown(node)
        value, low, high = reader.clamped(node.expressions[0])
        return make(value, reader.value(node.expressions[1]), low=low, high=high)

    return build


def _quantiles(node: Node, reader: Reader) -> Aggregate:
    if len(node.expressions) != 2 or not isinstance(node.expressions[1], exp.Array):
        of = reader.source.words_of(node.expressions[0]) if node.expressions else "age"
        raise reader.source.refuse(
            "sql.aggregate",
            node,
            "",
            "several quantiles have a list of probabilities",
            f"QUANTILES({of}, [0.25, 0.5, 0.75])",
        )
    return reader.quantile(node.expressions[0], node.expressions[1], node)


def each_quantile(node: Node, scalars: Scalars) -> list[tuple[Node, str]]:
    """Of several quantiles, each as a node of its own, and what its column is called after; nothing
    of other nodes.
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
        reason = f"{len(parts)} quantiles; an answer has at most {MOST_COLUMNS} columns"
        raise scalars.source.refuse("sql.aggregate", node, "", reason, scalars.source.example)
    place = next(i for i, array in enumerate(node.find_all(exp.Array)) if array is listed)
    found = []
    listed.set("expressions", [])  # a copy for each quantile has its own number, not the whole list
    try:
        for part in parts:
            effort.check()
            own = node.copy()
            array = next(array for i, array in enumerate(own.find_all(exp.Array)) if i == place)
            array.set("expressions", [part.copy()])
            found.append((own, ag.percent(fraction(part, scalars.parameters, "q"))))
    finally:
        listed.set("expressions", parts)
    return found


def _quantile(place: str) -> Make:
    def build(node: Node, reader: Reader) -> Aggregate:
        reader.closed(node, "this", place)
        if node.args.get(place) is None:
            raise reader.unknown(node)
        return reader.quantile(node.this, node.args[place], node)

    return build


def _median(node: Node, reader: Reader) -> Aggregate:
    reader.closed(node, "this")
    return reader.quantile(node.this, exp.Literal.number("0.5"), node)


def _histogram(node: Node, reader: Reader) -> Aggregate:
    given = node.expressions
    if (
        len(given) != 2
        or not isinstance(given[1], exp.Array)
        or set(arguments(given[1])) - {"expressions"}
    ):
        reason = "a histogram has public edges"
        of = reader.source.words_of(given[0]) if given else "age"
        raise reader.source.refuse(
            "sql.aggregate",
            node,
            "",
            reason,
            reader.source.replaced(node, f"HISTOGRAM({of}, [0, 10, 20, 50])"),
        )
    edges = [fraction(edge, reader.scalars.parameters, "an edge") for edge in given[1].expressions]
    try:
        return ag.histogram(reader.value(given[0]), edges=edges)
    except Refused as refusal:
        raise (
            reader.source.moved(refusal, node) if not refusal.code.startswith("sql.") else refusal
        ) from None


RELEASED: Mapping[type[Node], Make] = {
    exp.Count: _count,  # type: ignore[dict-item]
    exp.CountIf: _count_if,  # type: ignore[dict-item]
    exp.Sum: _one(ag.sum),
    exp.Avg: _one(ag.mean),
    exp.Min: _one(ag.min),
    exp.Max: _one(ag.max),
    exp.Median: _median,
    exp.Quantile: _quantile("quantile"),
    exp.ApproxQuantile: _quantile("quantile"),
    exp.PercentileCont: _quantile("expression"),
    exp.PercentileDisc: _quantile("expression"),
    exp.Variance: _one(ag.var),
    exp.VariancePop: _one(ag.var),
    exp.Stddev: _one(ag.std),
    exp.StddevPop: _one(ag.std),
    exp.StddevSamp: _one(ag.std),
}
"""Aggregates that are released."""

_weighted = _two(lambda of, weight, **ends: ag.mean(of, weight=weight, **ends))

NAMED: Mapping[str, Make] = {
    "mean": _named(ag.mean),
    "var": _named(ag.var),
    "histogram": _histogram,
    "quantiles": _quantiles,
    "ratio": _two(ag.ratio),
    "weighted_avg": _weighted,
    "wavg": _weighted,
    "avg_weighted": _weighted,
}
"""Those that sqlglot has no class for."""
