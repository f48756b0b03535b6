"""`protect`: declare whom a table protects and its total budget. The rest of the declaration is
optional, or follows from the source's public schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, overload

from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..ledger import Ledger
from ..tables.declare.declaration import TABLE_ROWS, Declaration, Key, declare
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.declare.learned_limits import LearnedLimits
from ..tables.engine.sources import open_source
from . import session_refusals as refusals
from .promises import budget_of
from .protect_many import EXAMPLE, protect_many
from .protected_database import Database
from .protected_table import Table


@overload
def protect(
    source: Mapping[str, Any],
    *,
    budget: Number | Guarantee,
    name: str | None = None,
    unit: str | Iterable[str],
    links: Mapping[str, str] | None = None,
    public: Mapping[str, Any] | None = None,
    ledger: str | Path | Ledger | None = None,
    bounds: Mapping[str, tuple[Number, Number]] | None = None,
    keys: Mapping[str, Iterable[Key]] | None = None,
    types: Mapping[str, str] | None = None,
    max_rows: int | Mapping[str, int] | None = None,
    max_groups: int | Mapping[str, int] | None = None,
    table_rows: int | Mapping[str, int] = TABLE_ROWS,
    relation: str = "add-remove",
    bounding: str = "weights",
    version: str = "",
    learned: Mapping[str, LearnedLimits] | None = None,
) -> Database: ...


@overload
def protect(
    source: Any,
    *,
    budget: Number | Guarantee,
    name: str | None = None,
    table: str | None = None,
    unit: str | Iterable[str] | None = None,
    ledger: str | Path | Ledger | None = None,
    bounds: Mapping[str, tuple[Number, Number]] | None = None,
    keys: Mapping[str, Iterable[Key]] | None = None,
    types: Mapping[str, str] | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    table_rows: int = TABLE_ROWS,
    relation: str = "add-remove",
    bounding: str = "weights",
    version: str = "",
    learned: LearnedLimits | None = None,
) -> Table: ...


def protect(
    source: Any,
    *,
    budget: Number | Guarantee,
    name: str | None = None,
    table: str | None = None,
    unit: str | Iterable[str] | None = None,
    links: Mapping[str, str] | None = None,
    public: Mapping[str, Any] | None = None,
    ledger: str | Path | Ledger | None = None,
    bounds: Mapping[str, tuple[Number, Number]] | None = None,
    keys: Mapping[str, Iterable[Key]] | None = None,
    types: Mapping[str, str] | None = None,
    max_rows: Any = None,
    max_groups: Any = None,
    table_rows: Any = TABLE_ROWS,
    relation: str = "add-remove",
    bounding: str = "weights",
    version: str = "",
    learned: Any = None,
) -> Table | Database:
    """Protect a table: it gives only noisy answers, until its budget is spent.

    `unit` names the column (or columns) that says whom a row is about: all rows of one unit are
    protected together. Without it each row counts as a different person. `budget` is a number,
    meaning (ε, 10⁻⁶) in total, or any Guarantee. With `ledger=` a path or the URL of a PostgreSQL
    database, the ledger is stored there, across processes; without it, the ledger ends with this
    process.

    The source is a file, a frame, an Ibis table, a Spark DataFrame, or the URL of a PostgreSQL
    database, of which `table` names the table. To protect several tables, pass them by name, with
    `unit="patients.id"`, the `links` by which their rows belong to a unit, and `public` tables.
    Columns are then named `table.column` in all other arguments.
    """
    total = budget_of(budget)
    if isinstance(source, Mapping):
        about: dict[str, Any] = {
            "name": name,
            "types": types,
            "bounds": bounds,
            "keys": keys,
            "max_rows": max_rows,
            "max_groups": max_groups,
        }
        about |= {
            "table_rows": table_rows,
            "relation": relation,
            "bounding": bounding,
            "version": version,
            "learned": learned,
            "ledger": ledger,
        }
        return protect_many(
            source,
            public,
            links,
            unit,
            total,
            lambda budget, database: _open_ledger(ledger, budget, database, database.schema),
            **about,
        )
    if links is not None or public is not None:
        raise refusals.TABLE_LINKS_1(EXAMPLE=EXAMPLE)
    opened = open_source(source, None if types is None else dict(types), name, table=table)
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
            learned=learned,
        )
        book = _open_ledger(
            ledger, total, declared, {column: str(kind) for column, kind in declared.types}
        )
    except BaseException:
        opened.engine.close()
        raise
    return Table(declared, opened, book, durable=ledger is not None)


def _open_ledger(
    ledger: str | Path | Ledger | None,
    budget: Guarantee,
    declared: Declaration | DatabaseDeclaration,
    schema: Mapping[str, str],
) -> Ledger:
    """Open the ledger of a table or a database. An open ledger is checked as a path would be."""
    about: dict[str, Any] = {
        "budget": budget,
        "dataset": declared.name,
        "unit": declared.unit_name,
        "relation": declared.relation,
        "schema": schema,
    }
    if isinstance(ledger, Ledger):
        ledger.agree(**about)
        return ledger
    return Ledger.open(ledger, **about)
