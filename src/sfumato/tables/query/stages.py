"""The stages of a query, each with its methods: Rows → Groups → Query.

All of it is public: these classes read no data and build nothing for an engine.

*Facts*     The type, bounds and public keys of a column belong to the column as it stands: a step
            that overwrites the column replaces them by what follows from the new expression.
*Curator*   plans and releases queries; the session passes it in when it declares the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol, Unpack

from ...errors import trim_methods
from ...templates.summary import Summarized, Summary
from ..declare.declaration import Declaration, Key, check_keys
from ..declare.describe_columns import HEADS, describe_columns
from ..expr.column_names import check_names
from ..expr.expressions import ColumnRef, Expr, col, literal, python_text
from ..expr.types import INT64, Type
from ..expr.value_ranges import TRUTH
from ..expr.value_sets import ValueSet
from . import query_refusals as refusals
from .aggregate import Aggregate, percent
from .calendars import Calendar
from .column_facts import ColumnFacts
from .foreign_names import NamedByOthers
from .group_keys import Combination, combinations, public_keys
from .groupings import Groupings, GroupingSet, combine_groupings
from .join_steps import Join, Match, On, Union
from .owned_rows import Origin
from .per_unit import PerUnit, Total
from .question_options import PlanOptions, ReleaseOptions, asks
from .synthesis_options import SynthesisRelease, SyntheticRows, synthesizes
from .unit_windows import SORT, UnitOrder, UnitWindow, WindowOp
from .unit_work import STEP, UNIT_ROWS, check_work, cost_of, spend

MOST_COLUMNS = 256


class QueryCurator(Protocol):
    """Plans and releases queries: the owner of the data and the budget."""

    @property
    def plan(self) -> Callable[..., Any]: ...

    @property
    def release(self) -> Callable[..., Any]: ...

    @property
    def condition(self) -> Callable[[str, Rows], Expr]: ...


@dataclass(frozen=True, slots=True, eq=False)
class RowStep:
    """A condition that rows have to meet, or a new value of a column."""

    expression: Expr
    column: str | None = None

    @property
    def text(self) -> str:
        return (
            f"where {self.expression.text}"
            if self.column is None
            else f"mutate {col(self.column).text} = {self.expression.text}"
        )


Step = RowStep | PerUnit | UnitWindow | Join | Match | Union
"""A step of a query, from rows to rows."""


@trim_methods
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows(NamedByOthers, Summarized):
    """The rows of a protected table after some steps: conditions, new columns, joins, unions."""

    declaration: Declaration
    curator: QueryCurator = field(repr=False)
    steps: tuple[Step, ...] = ()
    schema: Mapping[str, Type] = field(default_factory=dict, repr=False)
    ranges: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict, repr=False)
    facts: ColumnFacts = field(default_factory=lambda: ColumnFacts({}), repr=False)
    once: bool = False  # every unit has at most one row
    numbers: frozenset[str] = frozenset()  # columns of which each value occurs once in a unit
    most: int = 0  # no unit has more rows, by conditions on its numbers; 0 if nothing is known
    origin: Origin | None = field(default=None, repr=False)
    links: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # columns that may be joined on: those with the same word
    fans: bool = False  # a row of the table may have become several
    # what the rows of one unit may have become, of public rows a single row: `unit_work`
    unit_rows: int = UNIT_ROWS
    work: int = 0  # what all steps so far may take for them
    spread: int = 1  # what one row may have become by joins with public tables
    row_work: int = (
        0  # what all steps so far take for one row, where protected tables do not multiply it
    )

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        curator: QueryCurator,
        origin: Origin | None = None,
        links: Mapping[str, str] | None = None,
    ) -> Rows:
        """Return all rows of a table, as declared."""
        rows = cls(
            declaration,
            curator,
            (),
            declaration.schema,
            {**_truth_ranges(declaration.schema), **declaration.ranges},
            ColumnFacts.of(declaration),
            origin=origin,
            links=links or {},
        )
        return replace(rows, unit_rows=1) if rows.public else rows

    @property
    def public(self) -> bool:
        """Tell whether these rows are public and belong to nobody."""
        return self.origin is not None and self.origin.public

    @property
    def dataset(self) -> str:
        """Return the name of the dataset: that of the table, or of the database."""
        name: str = (
            self.declaration
            if self.origin is None or self.origin.database is None
            else self.origin.database
        ).name
        return name

    @property
    def declared(self) -> str:
        """Return the declaration of the table, or of the database, as text."""
        declared: str = (
            self.declaration
            if self.origin is None or self.origin.database is None
            else self.origin.database
        ).to_toml()
        return declared

    @property
    def text(self) -> str:
        """Return the table and the steps as text."""
        return "\n".join([f"from {self.declaration.name}", *(step.text for step in self.steps)])

    def public_keys(self, name: str) -> tuple[Key, ...]:
        """Return the public keys of a column; () if it has none, or is not there."""
        return self.facts.keys(col(name), self.schema[name]) if name in self.schema else ()

    def __getitem__(self, name: str) -> Expr:
        column = col(name)
        column.type(self.schema)  # refuses a name that is not there
        return column

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema)

    def describe(self) -> Summary:
        """Return the steps, and the types, bounds and public keys of the columns. It reads no data
        and costs nothing.
        """
        return self._summary()

    def _summary(self) -> Summary:
        unit, learned = self.declaration.unit, self.declaration.learned
        domains = {
            name: self.public_keys(name)
            for name, kind in self.schema.items()
            if kind.kind != "bool"  # their keys follow from the type
        }
        return Summary(
            title=self.text.replace("\n", " · "),
            heads=HEADS,
            rows=describe_columns(self.schema, self.ranges, domains, unit, learned),
        )

    def where(self, condition: Expr | str) -> Rows:
        """Keep the rows that meet a condition; not those for which it is null. A text is read as in
        SQL.
        """
        if isinstance(condition, str):
            condition = self.curator.condition(condition, self)
        if not isinstance(condition, Expr):
            raise refusals.CONDITION_NOT_EXPRESSION(type=type(condition).__name__)
        if condition.type(self.schema).kind != "bool":
            raise refusals.CONDITION_NOT_TRUE_OR_FALSE(condition=condition.text)
        facts = self.facts.where(condition)
        counts = [count for name in self.numbers if (count := _count_values(facts, name))]
        most = min(counts, default=0)
        return spend(
            replace(
                self,
                declaration=self.declaration.with_most_rows(most) if most else self.declaration,
                steps=(*self.steps, RowStep(condition)),
                facts=facts,
                once=self.once or most == 1,
                most=most,
            ),
            condition.cost,
            "where(…)",
        )

    filter = where

    def mutate(self, /, **columns: Expr) -> Rows:
        """Add columns, each computed from the same row. The unit cannot be changed."""
        rows = self
        for name, expression in columns.items():
            rows = rows._with(name, expression)
        return rows

    def join(
        self,
        right: object,
        /,
        on: On | None = None,
        *,
        how: str = "inner",
        where: Expr | None = None,
    ) -> Rows:
        """Join the rows of another table: of a public one, or of a protected one on the unit or a
        declared link. `how` is inner, left or cross.

        `on` is a column, several columns, or a dictionary from columns here to columns of the other
        table; with `how="left"`, `where` is a further condition on two rows that match.
        """
        from .joins import join

        return join(self, right, on, how, where)

    def semi_join(
        self, right: object, /, on: On | None = None, *, where: Expr | None = None
    ) -> Rows:
        """Keep the rows that match a row of the other table. No row is repeated."""
        from .joins import match_rows

        return match_rows(self, right, on, "semi", where)

    def anti_join(
        self,
        right: object,
        /,
        on: On | None = None,
        *,
        where: Expr | None = None,
        nulls: bool = False,
    ) -> Rows:
        """Keep the rows that match no row of the other table. With `nulls`, a null matches
        everything, as in NOT IN.
        """
        from .joins import match_rows

        return match_rows(self, right, on, "anti", where, nulls=nulls)

    def union(self, right: object, /, columns: Iterable[str] | None = None) -> Rows:
        """Add the rows of another protected table, with the columns that both have, or with the
        named ones.
        """
        from .unions import union

        return union(self, right, columns)

    def group_by(
        self, /, *keys: str | Groupings, **public: Iterable[Key] | Calendar | Expr
    ) -> Groups:
        """Group rows with the same values of these columns. `city=["Roma", "Bari"]` lists the
        public keys of a column; an expression adds a column of that name, and so does a calendar,
        with its buckets as public keys. `sf.cube`, `sf.rollup` and `sf.grouping_sets` ask for
        several groupings whose tables agree.
        """
        self._protected("group_by(…)")
        expressions = {name: key for name, key in public.items() if isinstance(key, Expr)}
        if expressions:
            for name, expression in expressions.items():
                if name in self.schema:
                    raise refusals.KEY_HIDES_COLUMN(column=name, expression=python_text(expression))
            lists = {name: key for name, key in public.items() if not isinstance(key, Expr)}
            return self.mutate(**expressions).group_by(*keys, *expressions, **lists)
        calendars = {
            name: public_keys
            for name, public_keys in public.items()
            if isinstance(public_keys, Calendar)
        }
        if calendars:
            for name in calendars:
                if name in self.schema:
                    raise refusals.CALENDAR_HIDES_COLUMN(column=name, calendar=calendars[name].text)
            rows = self.mutate(
                **{name: public_keys.expression for name, public_keys in calendars.items()}
            )
            listed = {
                name: calendars[name].keys(self.schema) if name in calendars else public_keys
                for name, public_keys in public.items()
            }
            return rows.group_by(*keys, **listed)
        if not all(isinstance(name, str | Groupings) for name in keys):
            raise refusals.KEY_NOT_A_NAME()
        listed_names = (
            name for key in keys for name in (key.names if isinstance(key, Groupings) else (key,))
        )
        named = list(dict.fromkeys([*listed_names, *public]))
        for name in named:
            self[name]  # refuses a name that is not there
            if name in self.declaration.unit:
                raise refusals.KEY_IS_UNIT(column=name)
        listed_keys = {
            name: check_keys(name, keys_of_column, self.schema[name])
            for name, keys_of_column in public.items()
            if not isinstance(keys_of_column, Calendar | Expr)  # these returned above
        }
        domains = public_keys(self.facts, named, self.schema, listed_keys)
        for each in combinations(self.facts, tuple(named), domains):
            if not each.paths:
                raise refusals.PLACES_APART(columns=", ".join(named[i] for i in each.places))
        return Groups(self, tuple(named), domains, combine_groupings(keys, public, named))

    def aggregate(
        self, /, *unnamed: Aggregate, **aggregates: Aggregate | tuple[Aggregate, ...]
    ) -> Query:
        """Aggregate all rows to one row of answers. An aggregate without a name is called after
        its column: mean_spend.
        """
        self._protected("aggregate(…)")
        return Groups(self, (), ()).aggregate(*unnamed, **aggregates)

    agg = aggregate

    def count(self) -> Query:
        """Count the rows: the query of one column n, to plan and to release."""
        self._protected("count()")
        return Groups(self, (), ()).count()

    @synthesizes(SynthesisRelease)
    def synthesize(self, **options: Unpack[SynthesisRelease]) -> SyntheticRows:
        """Make a table of invented rows whose counts are near those of these rows, with a
        certificate of their error: `sf.synthesize` of them.
        """
        # a layer above this one, at first use
        return import_module("sfumato.synth").synthesize(self, **options)

    def per_unit(self, keys: Mapping[str, Expr], totals: Mapping[str, Total]) -> Rows:
        """Aggregate the rows of each unit to one row for each value of the keys. The unit, the keys
        and the totals are its columns.
        """
        unit = self.declaration.unit
        if not unit:
            raise refusals.TOTALS_WITHOUT_UNIT()
        names = [*unit, *keys, *totals]
        if len({name.lower() for name in names}) != len(names):
            raise refusals.TOTAL_NAMES_TWICE(
                columns=", ".join([*keys, *totals]), unit=", ".join(unit)
            )
        check_names(names, "per_unit(…)")
        step = PerUnit(unit, tuple(keys.items()), tuple(totals.items()), self.ranges)
        ends = {name: self.ranges.get(name) for name in unit} | {
            name: key.range(self.ranges) for name, key in keys.items()
        }
        ends |= {name: total.range(self.ranges) for name, total in totals.items()}
        schema = step.schema(self.schema)
        is_single = self.once or all(self.facts.is_fixed(key) for key in keys.values())
        fixed = {name for name, key in keys.items() if self.facts.is_fixed(key)}
        facts = ColumnFacts(schema, fixed=frozenset(schema if is_single else {*unit, *fixed}))
        spent = spend(
            self,
            cost_of(
                [
                    *keys.values(),
                    *(part for total in totals.values() for part in (total.of, total.where)),
                ]
            ),
            "per_unit(…)",
        )
        return replace(
            spent,
            steps=(*self.steps, step),
            schema=schema,
            ranges={
                name: pair for name, pair in ends.items() if pair is not None and pair[0] < pair[1]
            },
            facts=facts.about({name: self.facts.values(key) for name, key in keys.items()}),
            links={
                name: self.links[key.name]
                for name, key in keys.items()
                if isinstance(key, ColumnRef) and key.name in self.links
            },
            once=self.once or not keys,
            numbers=frozenset(),
            most=0,
            unit_rows=self.unit_rows if keys else 1,
        )

    def number_rows(
        self,
        column: str,
        by: str | Expr | Iterable[str | Expr],
        *,
        descending: bool = False,
        within: str | Expr | Iterable[str | Expr] = (),
    ) -> Rows:
        """Add a column that numbers the rows of each unit from 1 on, in the order of some columns;
        with `within`, apart for each value of these columns. `where(rows["k"] == 1)` then keeps
        the first row of each unit, and a unit counts once.
        """
        order = UnitOrder.of(by, descending=descending, within=within)
        return self.look_along(column, "row_number", order)

    def look_along(
        self, column: str, op: WindowOp, order: UnitOrder, of: Expr | None = None
    ) -> Rows:
        """Add a column that looks along the rows of each unit: the number of a row, or a value of
        the row before or after it.
        """
        unit = self.declaration.unit
        if not unit:
            raise refusals.ORDER_WITHOUT_UNIT()
        if not order.by:
            raise refusals.ORDER_MISSING(column=column)
        check_names([*self.schema, column], "number_rows(…)")
        step = UnitWindow(column, op, unit, order, of)
        schema, ends = step.schema(self.schema), step.range(self.ranges)
        is_number = op == "row_number"
        facts = replace(self.facts, types={**self.facts.types, column: schema[column]})
        if is_number:
            facts = facts.about({column: ValueSet(low=Fraction(1), null=False)})
        rows = replace(
            self,
            steps=(*self.steps, step),
            schema=schema,
            ranges=self.ranges if ends is None else {**self.ranges, column: ends},
            facts=facts,
            numbers=self.numbers | ({column} if is_number and not order.within else set()),
        )
        return spend(rows, cost_of(step.expressions) + SORT * STEP, f"number_rows({column:.60})")

    def _protected(self, place: str) -> None:
        if self.public:
            raise refusals.QUESTION_ABOUT_PUBLIC_TABLE(place=place, table=self.declaration.name)

    def _with(self, name: str, expression: Expr) -> Rows:
        if not isinstance(expression, Expr):
            raise refusals.NEW_COLUMN_NOT_EXPRESSION(column=name)
        if name in self.declaration.unit:
            raise refusals.UNIT_OVERWRITTEN(column=name)
        check_names(
            [*(column for column in self.schema if column != name), name], "mutate(…)"
        )  # to an engine Age and age are one column
        schema = {**self.schema, name: expression.type(self.schema)}
        ranges = {column: ends for column, ends in self.ranges.items() if column != name}
        ends = expression.range(self.ranges)
        if ends is not None and ends[0] < ends[1]:
            ranges[name] = ends
        links = {column: word for column, word in self.links.items() if column != name}
        if isinstance(expression, ColumnRef) and expression.name in self.links:
            links[name] = self.links[expression.name]
        rows = replace(
            self,
            steps=(*self.steps, RowStep(expression, name)),
            schema=schema,
            ranges=ranges,
            facts=self.facts.define(name, expression),
            links=links,
            numbers=self.numbers - {name},
        )
        return spend(rows, expression.cost, f"mutate({name:.60}=…)")


@trim_methods
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Groups(NamedByOthers):
    """Rows grouped by keys. If all keys are public, every group has an answer, empty ones too; else
    groups are selected privately.
    """

    rows: Rows
    keys: tuple[str, ...]
    domains: tuple[tuple[Key, ...], ...]  # () where the keys of a column are not public
    sets: tuple[GroupingSet, ...] = ()  # several groupings by some of the keys; () for one by all

    def aggregate(
        self, /, *unnamed: Aggregate, **several: Aggregate | tuple[Aggregate, ...]
    ) -> Query:
        """Aggregate every group. An aggregate without a name is called after its column."""
        aggregates = _name_columns(
            [*((_name_of(each), each) for each in unnamed), *several.items()]
        )
        if not aggregates or not all(isinstance(a, Aggregate) for a in aggregates.values()):
            raise refusals.AGGREGATE_MISSING()
        if len(aggregates) + len(self.keys) > MOST_COLUMNS:
            raise refusals.TOO_MANY_COLUMNS(count=len(aggregates), most=MOST_COLUMNS)
        check_names(list(aggregates), "aggregate(…)")
        twice = set(aggregates) & set(self.keys)
        if twice:
            raise refusals.AGGREGATE_NAMED_LIKE_KEY(column=min(twice))
        query = Query(self.rows, self.keys, self.domains, tuple(aggregates.items()), self.sets)
        check_work(query.work, "aggregate(…)")
        return query

    agg = aggregate

    def count(self) -> Query:
        """Count the rows of each group: the query of the keys and a column n."""
        return self.aggregate(n=Aggregate("count"))

    def __repr__(self) -> str:
        return f"{self.rows.text}\ngroup by {', '.join(self.keys)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Query:
    """Aggregates of groups of rows, to plan and to release."""

    rows: Rows
    keys: tuple[str, ...]
    domains: tuple[tuple[Key, ...], ...]
    aggregates: tuple[tuple[str, Aggregate], ...]
    sets: tuple[GroupingSet, ...] = ()  # several groupings by some of the keys; () for one by all
    fair: bool = False  # of several groupings: no table has a larger error than by itself
    is_crossed: bool = False  # one of several groupings: all combinations of keys are groups

    @property
    def public(self) -> bool:
        """Tell whether all keys are public."""
        return all(self.domains)

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """Return which public keys go together, where hierarchies say so. Tables that agree with
        each other have all combinations.
        """
        if self.sets or self.is_crossed:
            return ()
        return combinations(self.rows.facts, self.keys, self.domains)

    def implied(self, name: str) -> ValueSet | None:
        """Return the set from which the public keys of a column follow; None where the keys are
        declared, or listed in the question, or private.
        """
        rows, keys = self.rows, self.domains[self.keys.index(name)]
        values = rows.facts.values(col(name))
        is_declared = bool(values.stated) and values.is_written
        return None if is_declared or keys != rows.public_keys(name) else values

    @property
    def work(self) -> int:
        """Return the most operations that the rows of one unit may cost."""
        return self.rows.work + self.rows.unit_rows * self._cost

    @property
    def row_work(self) -> int:
        """Return the operations that an ordinary row costs."""
        return self.rows.row_work + self.rows.spread * self._cost

    @property
    def _cost(self) -> int:
        return STEP * len(self.keys) + sum(
            STEP + cost_of((aggregate.of, aggregate.by, aggregate.where))
            for _, aggregate in self.aggregates
        )

    @property
    def text(self) -> str:
        """Return the query as text; equal queries have equal texts."""
        lines = [self.rows.text]
        keys = (
            f"{col(name).text} in [{', '.join(map(_key_text, keys))}]" if keys else col(name).text
            for name, keys in zip(self.keys, self.domains, strict=True)
        )
        lines += [f"group by {', '.join(keys)}"] if self.keys else []
        agree = "as, none worse than by itself," if self.fair else "as"
        lines += [f"{agree} {', '.join(map(self.set_text, self.sets))}"] if self.sets else []
        return "\n".join(
            [
                *lines,
                *(f"{col(name).text} = {aggregate.text}" for name, aggregate in self.aggregates),
            ]
        )

    def set_text(self, places: GroupingSet) -> str:
        """Return the keys of one grouping as text."""
        return f"({', '.join(col(self.keys[place]).text for place in places)})"

    def __repr__(self) -> str:
        return self.text

    @asks(PlanOptions)
    def plan(self, **options: Unpack[PlanOptions]) -> Any:
        """Plan a release: its cost and its errors. Reads no data and costs nothing. With `within=`
        it finds the least cost that gives that accuracy.
        """
        return self.rows.curator.plan(self, **options)

    @asks(ReleaseOptions)
    def release(self, **options: Unpack[ReleaseOptions]) -> Any:
        """Charge the budget, then answer. The same query again returns the stored answer for free,
        unless `fresh=True`.
        """
        return self.rows.curator.release(self, **options)


def _count_values(facts: ColumnFacts, name: str) -> int:
    """Count the values that a column of whole numbers may have by what the question says; 0 where
    it does not tell.
    """
    values = facts.values(col(name))
    listed = None if values.stated or values.null else values.listed(INT64)
    return 0 if listed is None else max(1, len(listed))


def _key_text(key: Key) -> str:
    """Write a public key: dates and timestamps as SQL does."""
    return literal(key).text if isinstance(key, date) else repr(key)


def _name_of(aggregate: object) -> str:
    """Return the name of a column that the caller did not name: n, mean_spend, median_age."""
    if isinstance(aggregate, Aggregate):
        kind = "median" if aggregate.q == Fraction(1, 2) else aggregate.kind
        if aggregate.of is None and aggregate.kind == "count":
            return "n"
        if isinstance(aggregate.of, ColumnRef):
            return f"{kind}_{aggregate.of.name}"
    raise refusals.AGGREGATE_UNNAMED()


def _name_columns(
    several: Iterable[tuple[str, Aggregate | tuple[Aggregate, ...]]],
) -> dict[str, Aggregate]:
    """Return aggregates by the names of their columns: one column for each of several quantiles."""
    aggregates: dict[str, Aggregate] = {}
    for name, value in several:
        parts = (
            {f"{name}_{percent(aggregate.q or Fraction(0))}": aggregate for aggregate in value}
            if isinstance(value, tuple)
            else {name: value}
        )
        for column, aggregate in parts.items():
            if column in aggregates:
                raise refusals.AGGREGATE_NAMED_TWICE(column=column)
            aggregates[column] = aggregate
    return aggregates


def _truth_ranges(schema: Mapping[str, Type]) -> dict[str, tuple[Fraction, Fraction]]:
    """Return the bounds that truth values have as numbers."""
    return {name: TRUTH for name, column in schema.items() if column.kind == "bool"}
