"""The stages of a query, each with its legal verbs: rows → groups → query. Public throughout:
nothing is read, nothing is built for an engine yet.

*Facts*     What is known of a column (its type, its bounds, its public keys) belongs to the column
            as it stands: whoever writes it anew loses what was known of it, and gets what follows
            from the expression.
*Curator*   Who plans and releases; passed in by whoever declared the table, never looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from ...errors import Refused
from ...exact.numbers import Number
from ...guarantees import Guarantee
from ..declare.declaration import Declaration, Key, known_keys
from ..expr.column_names import known_names
from ..expr.expressions import Column, Expr, col
from ..expr.types import Type
from .aggregates import Aggregate, percent
from .calendars import Calendar
from .join_steps import Join, Match, On, Union
from .owned_rows import Origin
from .per_unit import PerUnit, Total
from .unit_work import STEP, UNIT_ROWS, check_work, cost_of, spend

MOST_COLUMNS = 256


class Curator(Protocol):
    """Whoever keeps the data and the budget."""

    @property
    def plan(self) -> Callable[..., Any]: ...

    @property
    def release(self) -> Callable[..., Any]: ...

    @property
    def condition(self) -> Callable[[str, Rows], Expr]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A condition that rows have to meet, or a column written anew."""

    expression: Expr
    column: str | None = None

    @property
    def text(self) -> str:
        return (
            f"where {self.expression.text}"
            if self.column is None
            else f"mutate {col(self.column).text} = {self.expression.text}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a protected table that meet some conditions, with columns made of them."""

    declaration: Declaration
    curator: Curator = field(repr=False)
    steps: tuple[Step | PerUnit | Join | Match | Union, ...] = ()
    schema: Mapping[str, Type] = field(default_factory=dict, repr=False)
    ranges: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict, repr=False)
    domains: Mapping[str, tuple[Key, ...]] = field(default_factory=dict, repr=False)
    once: bool = False  # every unit has at most one row
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
        curator: Curator,
        origin: Origin | None = None,
        links: Mapping[str, str] | None = None,
    ) -> Rows:
        """All rows, as declared."""
        rows = cls(
            declaration,
            curator,
            (),
            declaration.schema,
            declaration.ranges,
            declaration.domains,
            origin=origin,
            links=links or {},
        )
        return replace(rows, unit_rows=1) if rows.public else rows

    @property
    def public(self) -> bool:
        """Whether these rows belong to nobody."""
        return self.origin is not None and self.origin.public

    @property
    def dataset(self) -> str:
        """The name of what was protected: the table, or all of them together."""
        name: str = (
            self.declaration
            if self.origin is None or self.origin.whole is None
            else self.origin.whole
        ).name
        return name

    @property
    def declared(self) -> str:
        """What was declared, of all tables, as text."""
        declared: str = (
            self.declaration
            if self.origin is None or self.origin.whole is None
            else self.origin.whole
        ).to_toml()
        return declared

    @property
    def text(self) -> str:
        """Which rows these are, as text."""
        return "\n".join([f"from {self.declaration.name}", *(step.text for step in self.steps)])

    def __getitem__(self, name: str) -> Expr:
        column = col(name)
        column.type(self.schema)  # refuses a name that is not there
        return column

    def where(self, condition: Expr | str) -> Rows:
        """Only the rows for which a condition holds; not those for which it is unknown. A text is
        read as in SQL.
        """
        if isinstance(condition, str):
            condition = self.curator.condition(condition, self)
        if not isinstance(condition, Expr):
            raise Refused(
                "stage.where",
                f"where({type(condition).__name__})",
                "a condition is an expression on columns",
                "where(sf.col('age') >= 18)",
            )
        if condition.type(self.schema).kind != "bool":
            raise Refused(
                "stage.where",
                f"where({condition.text})",
                "a condition is true or false of a row",
                "where(sf.col('age') >= 18)",
            )
        return spend(
            replace(self, steps=(*self.steps, Step(condition))), condition.cost, "where(…)"
        )

    def mutate(self, /, **columns: Expr) -> Rows:
        """New columns, each computed from the same row. The unit stays what it is."""
        rows = self
        for name, expression in columns.items():
            rows = rows._with(name, expression)
        return rows

    def join(
        self, other: Any, /, on: On | None = None, *, how: str = "inner", where: Expr | None = None
    ) -> Rows:
        """The rows of another table beside these: of a public one, or of a protected one on the
        unit or a declared link. `how` is inner, left or cross.

        `on` is a column, several, or for columns here their names there; with `how="left"`, `where`
        is a further condition on two rows that fit.
        """
        from .joins import join

        return join(self, other, on, how, where)

    def semi_join(self, other: Any, /, on: On | None = None, *, where: Expr | None = None) -> Rows:
        """Rows for which the other table has one that fits. None is repeated."""
        from .joins import match

        return match(self, other, on, "semi", where)

    def anti_join(
        self, other: Any, /, on: On | None = None, *, where: Expr | None = None, nulls: bool = False
    ) -> Rows:
        """Rows for which the other table has none that fits. With `nulls`, a null fits everything,
        as NOT IN has it.
        """
        from .joins import match

        return match(self, other, on, "anti", where, nulls=nulls)

    def union(self, other: Any, /, columns: Iterable[str] | None = None) -> Rows:
        """These rows and those of another protected table, with the columns that both have, or
        those that are named.
        """
        from .unions import union

        return union(self, other, columns)

    def group_by(self, /, *keys: str, **public: Iterable[Key] | Calendar) -> Groups:
        """Rows with the same values of these columns together. A list given by name holds the
        public keys of that column; a calendar makes a new column of that name, with its buckets as
        public keys.
        """
        self._protected("group_by(…)")
        made = {name: given for name, given in public.items() if isinstance(given, Calendar)}
        if made:
            for name in made:
                if name in self.schema:
                    raise Refused(
                        "stage.keys",
                        f"group_by({name}=sf.calendar(…))",
                        "a column has this name",
                        f"group_by({name}_of=sf.calendar(…))",
                    )
            rows = self.mutate(**{name: given.expression for name, given in made.items()})
            listed = {
                name: made[name].keys(self.schema) if name in made else given
                for name, given in public.items()
            }
            return rows.group_by(*keys, **listed)
        if not all(isinstance(name, str) for name in keys):
            raise Refused(
                "stage.keys",
                "group_by(…)",
                "keys are columns, by name",
                "mutate(decade=…).group_by('decade')",
            )
        named = list(dict.fromkeys([*keys, *public]))
        domains = {
            name: tuple(self.domains[name])
            if name in self.domains
            else _by_type(self.schema.get(name))
            for name in named
        }
        for name in named:
            column = self[name]
            if name in self.declaration.unit:
                raise Refused(
                    "stage.unit",
                    f"group_by({name!r})",
                    "a group for each unit would be about one person",
                    "group by something people share",
                )
            if name in public:
                domains[name] = known_keys(name, public[name], column.type(self.schema))  # type: ignore[arg-type]
        return Groups(self, tuple(named), tuple(domains[name] for name in named))

    def aggregate(self, /, **aggregates: Aggregate | tuple[Aggregate, ...]) -> Query:
        """One row of answers about all rows."""
        self._protected("aggregate(…)")
        return Groups(self, (), ()).aggregate(**aggregates)

    def per_unit(self, keys: Mapping[str, Expr], totals: Mapping[str, Total]) -> Rows:
        """One row for each unit, and for each value of the keys that it has: the keys and the
        totals are its columns.
        """
        unit = self.declaration.unit
        if not unit:
            raise Refused(
                "stage.unit",
                "per_unit(…)",
                "each row is taken as a different person, who has no other",
                "unit='user_id' in protect(…)",
            )
        names = [*unit, *keys, *totals]
        if len({name.lower() for name in names}) != len(names):
            raise Refused(
                "stage.unit",
                f"per_unit({', '.join([*keys, *totals])})",
                "each column has a name of its own, and not the unit's",
                "other names",
            )
        known_names(names, "per_unit(…)")
        step = PerUnit(unit, tuple(keys.items()), tuple(totals.items()), self.ranges)
        ends = {name: self.ranges.get(name) for name in unit} | {
            name: key.range(self.ranges) for name, key in keys.items()
        }
        ends |= {name: total.range(self.ranges) for name, total in totals.items()}
        domains = {
            name: self.domains[key.name]
            for name, key in keys.items()
            if isinstance(key, Column) and key.name in self.domains
        }
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
            schema=step.schema(self.schema),
            ranges={
                name: pair for name, pair in ends.items() if pair is not None and pair[0] < pair[1]
            },
            domains=domains,
            links={
                name: self.links[key.name]
                for name, key in keys.items()
                if isinstance(key, Column) and key.name in self.links
            },
            once=self.once or not keys,
            unit_rows=self.unit_rows if keys else 1,
        )

    def _protected(self, place: str) -> None:
        if self.public:
            reason = (
                f"{self.declaration.name:.60} is public: it can be read as it is, and has no budget"
            )
            raise Refused(
                "join.public",
                place,
                reason,
                "join it to a protected table: visits.join(cities, on='city')",
            )

    def _with(self, name: str, expression: Expr) -> Rows:
        if not isinstance(expression, Expr):
            raise Refused(
                "stage.mutate",
                f"mutate({name}=…)",
                "a new column is an expression on columns",
                f"mutate({name}=sf.col('age') // 10)",
            )
        if name in self.declaration.unit:
            raise Refused(
                "stage.unit",
                f"mutate({name}=…)",
                "the unit says whose row it is, and cannot be written anew",
                f"mutate({name}_of=…)",
            )
        known_names(
            [*(column for column in self.schema if column != name), name], "mutate(…)"
        )  # to an engine Age and age are one column
        schema = {**self.schema, name: expression.type(self.schema)}
        ranges = {column: ends for column, ends in self.ranges.items() if column != name}
        ends = expression.range(self.ranges)
        if ends is not None and ends[0] < ends[1]:
            ranges[name] = ends
        domains = {column: keys for column, keys in self.domains.items() if column != name}
        if (
            isinstance(expression, Column) and expression.name in self.domains
        ):  # the same column by another name
            domains[name] = self.domains[expression.name]
        links = {column: word for column, word in self.links.items() if column != name}
        if isinstance(expression, Column) and expression.name in self.links:
            links[name] = self.links[expression.name]
        made = replace(
            self,
            steps=(*self.steps, Step(expression, name)),
            schema=schema,
            ranges=ranges,
            domains=domains,
            links=links,
        )
        return spend(made, expression.cost, f"mutate({name:.60}=…)")


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Rows by key. Where all keys are public every group answers, empty ones too; else groups are
    selected privately.
    """

    rows: Rows
    keys: tuple[str, ...]
    domains: tuple[tuple[Key, ...], ...]  # () where the keys of a column are not public

    def aggregate(self, /, **several: Aggregate | tuple[Aggregate, ...]) -> Query:
        """What to ask of every group."""
        aggregates = _named(several)
        if not aggregates or not all(isinstance(a, Aggregate) for a in aggregates.values()):
            raise Refused(
                "stage.aggregate",
                "aggregate(…)",
                "at least one named aggregate is needed",
                "aggregate(n=sf.count())",
            )
        if len(aggregates) + len(self.keys) > MOST_COLUMNS:
            raise Refused(
                "stage.aggregate",
                f"{len(aggregates)} aggregates",
                f"an answer has at most {MOST_COLUMNS} columns",
                "several queries",
            )
        known_names(list(aggregates), "aggregate(…)")
        twice = set(aggregates) & set(self.keys)
        if twice:
            raise Refused(
                "stage.aggregate",
                f"{min(twice)}=…",
                "a key has this name",
                f"{min(twice)}_n=sf.count()",
            )
        query = Query(self.rows, self.keys, self.domains, tuple(aggregates.items()))
        check_work(query.work, "aggregate(…)")
        return query


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """Which exact integers to compute, and what to make of them."""

    rows: Rows
    keys: tuple[str, ...]
    domains: tuple[tuple[Key, ...], ...]
    aggregates: tuple[tuple[str, Aggregate], ...]

    @property
    def public(self) -> bool:
        """Whether all keys are public."""
        return all(self.domains)

    @property
    def work(self) -> int:
        """What the rows of one unit may take, in operations on numbers."""
        return self.rows.work + self.rows.unit_rows * self._cost

    @property
    def row_work(self) -> int:
        """What an ordinary row takes, in operations on numbers."""
        return self.rows.row_work + self.rows.spread * self._cost

    @property
    def _cost(self) -> int:
        return STEP * len(self.keys) + sum(
            STEP + cost_of((one.of, one.by, one.where)) for _, one in self.aggregates
        )

    @property
    def text(self) -> str:
        """The question, as text; equal questions have equal texts."""
        lines = [self.rows.text]
        keys = (
            f"{col(name).text} in {list(keys)!r}" if keys else col(name).text
            for name, keys in zip(self.keys, self.domains, strict=True)
        )
        lines += [f"group by {', '.join(keys)}"] if self.keys else []
        return "\n".join(
            [
                *lines,
                *(f"{col(name).text} = {aggregate.text}" for name, aggregate in self.aggregates),
            ]
        )

    def plan(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        within: Number | Mapping[str, Number] | None = None,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        group_size: int | None = None,
        learn: bool = True,
    ) -> Any:
        """What a release would cost and how exact it would be. Reads no data, costs nothing. With
        `within=`: the least cost that gives that accuracy.
        """
        how: dict[str, Any] = {
            "within": within,
            "confidence": confidence,
            "simultaneous": simultaneous,
            "group_size": group_size,
            "learn": learn,
        }
        return self.rows.curator.plan(self, epsilon=epsilon, delta=delta, promise=promise, **how)

    def release(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        promise: Guarantee | None = None,
        within: Number | Mapping[str, Number] | None = None,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        group_size: int | None = None,
        share: str | None = None,
        fresh: bool = False,
        timeout: float | None = None,
        learn: bool = True,
    ) -> Any:
        """Charge, then answer. The same question again returns the stored answer, free, unless it
        is to be `fresh`.
        """
        how: dict[str, Any] = {
            "within": within,
            "confidence": confidence,
            "simultaneous": simultaneous,
            "group_size": group_size,
            "learn": learn,
        }
        return self.rows.curator.release(
            self,
            epsilon=epsilon,
            delta=delta,
            promise=promise,
            share=share,
            fresh=fresh,
            timeout=timeout,
            **how,
        )


def _named(several: Mapping[str, Aggregate | tuple[Aggregate, ...]]) -> dict[str, Aggregate]:
    """Aggregates by the names of their columns: each of several quantiles has its own."""
    found: dict[str, Aggregate] = {}
    for name, given in several.items():
        parts = (
            {f"{name}_{percent(one.q or Fraction(0))}": one for one in given}
            if isinstance(given, tuple)
            else {name: given}
        )
        for column, one in parts.items():
            if column in found:
                raise Refused(
                    "stage.aggregate",
                    f"{column}=…",
                    "two columns would have this name",
                    f"{column}_too=…",
                )
            found[column] = one
    return found


def _by_type(known: Type | None) -> tuple[Key, ...]:
    """Truth values are public keys by their type."""
    if known is None or known.kind != "bool":
        return ()
    return (False, True, None) if known.nullable else (False, True)
