"""Partition a table into disjoint parts, each with a budget of its own, for the cost of one.

*Parts*     A rule that looks at the unit alone says which part it is in: an expression of the
            unit's own columns, or of any columns where each row is a person. So every unit is in
            one part at most. A unit with rows in several parts would be in all of them, and its
            costs would add up: refused.
*Cost*      The table is charged the budget of a part once, durably, before any part can be asked.
            Each part has an account in the same book, with that budget in the same currency.
*Promise*   Take two datasets that differ in one unit, of part p. Answers about other parts have the
            same law on both, whatever was asked before. The charges that concern p are those of the
            table and of p's account; the filter of p's account keeps the latter within its budget,
            for which the table has paid. So the total of all charges that concern p, however they
            were chosen, never exceeds the budget of the table: one filter, whose other charges are
            0. A crash between charge and accounts loses budget, never privacy.
*Again*     The same partition is open already: it is charged once, and its accounts go on.
*Relation*  Add-remove. A unit that is replaced may leave one part and enter another.
*Proof*     docs/proofs/partition.md
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Protocol, TypeVar

from ...accounting.filters import Filter
from ...guarantees import Guarantee
from ...tables.expr.constants import Constant
from ...tables.expr.expressions import Expr, col
from ...tables.expr.value_sets import converted
from ...tables.query.stages import Rows
from .. import session_refusals as refusals
from ..table_state import TableState

if TYPE_CHECKING:
    from ...ledger import Ledger
    from ...tables.declare.declaration import Declaration
    from ...tables.plan.missing_limits import Declared

MOST_PARTS = 256


@dataclass(slots=True, eq=False)
class PartState(TableState):
    """The state of a table whose rows meet a condition."""

    condition: Expr | None = None

    def rows_of(self, declared: Declared) -> Mapping[str, Rows]:
        """Build the rows of the part from these declarations."""
        # `super()` needs the class that slots made anew
        every = TableState.rows_of(self, declared)
        return {name: self._restrict(rows) for name, rows in every.items()}

    def with_version(self, version: str, table: str, column: str) -> PartState:
        """Return a state of the same part, whose data have another version."""
        unrestricted = TableState.with_version(self, version, table, column)
        state = PartState(unrestricted.original, self.ledger, condition=self.condition)
        state._members = unrestricted._members
        return state

    def _restrict(self, rows: Rows) -> Rows:
        """Keep the rows of the part, and say that they are: no others may be joined to them."""
        assert self.condition is not None
        assert rows.origin is not None
        origin = replace(rows.origin, part=self.ledger.dataset)
        return replace(rows.where(self.condition), origin=origin)


class Divisible(Protocol):
    """A protected table, as its partition sees it."""

    name: str
    ledger: Ledger
    state: TableState

    @property
    def rows(self) -> Rows: ...

    @property
    def declaration(self) -> Declaration: ...

    @property
    def original(self) -> Declaration: ...


T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Partition(Mapping[Constant, T]):
    """Disjoint parts of a table by their values; `budget` is that of each part, `cost` what the
    table was charged for all of them.
    """

    by: str
    budget: Guarantee
    parts: Mapping[Constant, T]

    @property
    def cost(self) -> Guarantee:
        """The cost of everything that is ever asked about the parts."""
        return self.budget

    def __getitem__(self, value: Constant) -> T:
        return self.parts[value]

    def __iter__(self) -> Iterator[Constant]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        return f"Partition({len(self)} parts by {self.by}, together {self.budget.numbers_text})"


def partition_table(
    table: Divisible,
    by: Expr | str,
    values: Iterable[Constant] | None,
    promise: Guarantee,
    open_part: Callable[[PartState], T],
) -> Partition[T]:
    """Charge the table once, and open the account and the table of every part."""
    rule = col(by) if isinstance(by, str) else by
    rows, declaration = table.rows, table.declaration
    _check_table(table)
    kind = rule.type(rows.schema)  # refuses an unknown column
    _check_rule(rule, declaration)
    listed = rows.facts.keys(rule, kind) if values is None else tuple(values)
    distinct = tuple(dict.fromkeys(converted(value, kind) for value in listed))
    if not 1 <= len(distinct) <= MOST_PARTS or len(distinct) < len(listed):
        raise refusals.PARTS_NOT_LISTED(
            by=rule.text, count=len(listed), most=MOST_PARTS, distinct=len(distinct)
        )
    if None in distinct:
        raise refusals.PART_OF_NULLS(by=rule.text)
    ledger = table.ledger
    budget = Filter(ledger.budget).price(promise)
    budget = Guarantee._bind(budget, ledger.budget.relation, ledger.budget.unit)
    key = hashlib.sha256(repr((rule.text, distinct, budget.to_json())).encode()).hexdigest()
    memo = f"partition by {rule.text}: {len(distinct)} parts, each {budget.numbers_text}"
    ledger.charge(budget, memo=memo, key=f"partition-{key[:40]}")
    conditions = _disjoint(rule, distinct, ordered=kind.numeric)
    parts = {
        value: open_part(_part_state(table, f"{rule.text} = {value!r}", condition, budget))
        for value, condition in zip(distinct, conditions, strict=True)
    }
    return Partition(rule.text, budget, parts)


def _check_table(table: Divisible) -> None:
    if table.state.database is not None:
        raise refusals.PARTITION_OF_DATABASE(table=table.name)
    if table.declaration.relation != "add-remove":
        raise refusals.PARTITION_UNDER_REPLACE(table=table.name)
    if isinstance(table.state, PartState):
        raise refusals.PARTITION_OF_PART(table=table.name)


def _check_rule(rule: Expr, declaration: Declaration) -> None:
    """Refuse a rule by which the rows of one unit may lie in several parts."""
    unit = declaration.unit
    if unit and not rule.columns <= frozenset(unit):
        raise refusals.UNIT_IN_SEVERAL_PARTS(
            unit=", ".join(unit), by=rule.text, table=declaration.name, first=unit[0]
        )


def _disjoint(rule: Expr, values: tuple[Constant, ...], *, ordered: bool) -> list[Expr]:
    """Return the condition of each part. Texts that are different here may be equal to an engine
    (a collation): the first part that they match has them.
    """
    equal = [rule == value for value in values]
    if ordered:
        return equal
    return [
        here if not before else here & ~reduce(or_, before)
        for here, before in ((here, equal[:place]) for place, here in enumerate(equal))
    ]


def _part_state(table: Divisible, name: str, condition: Expr, budget: Guarantee) -> PartState:
    account = table.ledger.open_part(name, budget=budget)
    original = table.original
    return PartState({original.name: original}, account, condition=condition)
