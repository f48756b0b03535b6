"""`protect`: who is protected, how much in total. The rest of the declaration is optional, or follows from the source's public schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..tables.declaration import Declaration, Key, declare
from ..tables.sources import open_source
from .promises import budget_of
from .table import Table


def protect(
    source: Any,
    *,
    budget: Number | Guarantee,
    name: str | None = None,
    unit: str | Iterable[str] | None = None,
    ledger: str | Path | Ledger | None = None,
    bounds: Mapping[str, tuple[Number, Number]] | None = None,
    keys: Mapping[str, Iterable[Key]] | None = None,
    types: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    table_rows: int = 2**40,
    relation: str = "add-remove",
    bounding: str = "weights",
    version: str = "",
) -> Table:
    """A table about which only noisy answers are given, until its budget is spent.

    `unit` names the column (or columns) that says whom a row is about: all rows of one unit are protected together. Without it each row is taken as a
    different person. `budget` is a number, meaning (ε, 10⁻⁶) in total, or any Guarantee. With `ledger=` a path the budget is kept in that file, across
    processes; without, it ends with this one.
    """
    total = budget_of(budget)
    opened = open_source(source, None if types is None else dict(types), name)
    try:
        declared = declare(
            name=name if name is not None else opened.name,
            unit=unit,
            bounds=bounds,
            keys=keys,
            max_rows=max_rows,
            max_groups=max_groups,
            table_rows=table_rows,
            relation=relation,
            schema=opened.schema,
            left_out=opened.left_out,
            bounding=bounding,
            version=version,
        )
        book = _own_book(ledger, total, declared) if isinstance(ledger, Ledger) else _book(ledger, total, declared)
    except BaseException:
        opened.engine.close()
        raise
    return Table(declared, opened, book, durable=ledger is not None)


def _own_book(book: Ledger, budget: Guarantee, declared: Declaration) -> Ledger:
    """An open ledger, if it is about this table: what a path would be refused for, it is refused for as well."""
    book.agree(budget=budget, dataset=declared.name, unit=declared.unit_name, relation=declared.relation, schema=_schema(declared))
    return book


def _book(path: str | Path | None, budget: Guarantee, declared: Declaration) -> Ledger:
    return Ledger.open(path, budget=budget, dataset=declared.name, unit=declared.unit_name, relation=declared.relation, schema=_schema(declared))


def _schema(declared: Declaration) -> dict[str, str]:
    return {column: str(known) for column, known in declared.types}
