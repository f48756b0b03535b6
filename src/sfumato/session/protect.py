"""`protect`: declare whom a table protects and its total budget. The rest of the declaration is
optional, or follows from the source's public schema.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack, cast, overload

from ..errors import DeltaWarning, UnitWarning
from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..guarantees.meaning.literature import delta_warning
from ..keywords import takes
from ..ledger import Ledger
from ..tables.declare.declaration import Declaration, check_name, declare
from ..tables.declare.declared_database import DatabaseDeclaration
from ..tables.declare.identifier_names import identifier_columns
from ..tables.declare.learned_limits import LearnedLimits
from ..tables.engine.sources import open_source
from . import session_refusals as refusals
from .promises import budget_of
from .protect_many import protect_many
from .protect_options import (
    DEFAULTS,
    EXPLAINED,
    DatabaseOptions,
    ProtectSettings,
    Source,
    TableOptions,
)
from .protected_database import Database
from .protected_table import Table


@overload
def protect(
    source: Mapping[str, Source],
    *,
    budget: Number | Guarantee,
    unit: str | Iterable[str],
    **options: Unpack[DatabaseOptions],
) -> Database: ...


@overload
def protect(
    source: Source,
    *,
    budget: Number | Guarantee,
    unit: str | Iterable[str] | None = None,
    **options: Unpack[TableOptions],
) -> Table: ...


@takes(ProtectSettings, DEFAULTS, EXPLAINED)
def protect(
    source: Source,
    *,
    budget: Number | Guarantee,
    unit: str | Iterable[str] | None = None,
    **options: Any,
) -> Table | Database:
    """Protect a table: it gives only noisy answers, until its budget is spent.

    All rows of one unit are protected together. To protect several tables under one budget, pass
    them by name, with `unit="patients.id"`, the `links` by which their rows belong to a unit, and
    `public` tables. Columns are then named `table.column` in all other arguments.

    >>> visits = sf.protect(
    ...     sf.samples.visits(), name="visits", unit="user_id", max_rows=4, budget=1
    ... )
    >>> visits.columns
    ('user_id', 'city', 'age', 'spend', 'day', 'vip')
    """
    total, settings = budget_of(budget), ProtectSettings(**options)
    if isinstance(source, Mapping):
        database = protect_many(
            source,
            unit,
            settings,
            lambda declared: _open_ledger(settings.ledger, total, declared, declared.schema),
        )
        _warn_of_delta(total, database.declaration.most_units)
        return database
    if settings.links is not None or settings.public is not None:
        raise refusals.LINKS_OF_ONE_TABLE()
    if settings.each_row_a_person and unit is not None:
        raise refusals.UNIT_AND_EACH_ROW(unit=unit)
    types = None if settings.types is None else dict(settings.types)
    if settings.name is not None:
        check_name(settings.name)
    opened = open_source(source, types, settings.name, table=settings.table)
    try:
        declared = declare(
            name=settings.name if settings.name is not None else opened.name,
            unit=unit,
            bounds=settings.bounds,
            keys=settings.keys,
            max_rows=cast("int | None", settings.max_rows),  # `declare` refuses a mapping
            max_groups=cast("int | None", settings.max_groups),
            table_rows=cast("int", settings.table_rows),
            relation=settings.relation,
            schema=opened.schema,
            left_out=opened.left_out,
            bounding=settings.bounding,
            version=settings.version,
            learned=cast("LearnedLimits | None", settings.learned),
        )
        schema = {column: str(kind) for column, kind in declared.types}
        book = _open_ledger(settings.ledger, total, declared, schema)
    except BaseException:
        opened.engine.close()
        raise
    if not declared.unit and not settings.each_row_a_person:
        _warn_of_identifiers(declared)
    _warn_of_delta(total, declared.most_units)
    return Table(declared, opened, book, durable=settings.ledger is not None)


_WARNED: set[tuple[str, str]] = set()
"""The tables and columns that this process has warned of: once is enough."""


def protect_trial(
    source: Source, *, budget: Number | Guarantee, **options: Unpack[TableOptions]
) -> Table:
    """Protect a table for an attack or an audit, which asks on purpose for more than a data owner
    should: no δ is warned of.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeltaWarning)
        return protect(source, budget=budget, **options)


def _warn_of_delta(budget: Guarantee, units: int | None) -> None:
    """Warn of a budget whose δ is too large for so many units, or for any number of them."""
    if sentence := delta_warning(budget.parameters.get("delta", 0), units):
        warnings.warn(sentence, DeltaWarning, stacklevel=5)


def _warn_of_identifiers(declared: Declaration) -> None:
    """Warn where rows may belong to the same person, as far as the names of columns tell."""
    columns = identifier_columns(declared.schema)
    if columns and (declared.name, columns[0]) not in _WARNED:
        _WARNED.add((declared.name, columns[0]))
        warnings.warn(
            f"each row of {declared.name} counts as a different person, but {columns[0]} looks "
            f"like an identifier: who has several rows is protected row by row only. Write "
            f"unit={columns[0]!r}, or each_row_a_person=True if no person has two rows",
            UnitWarning,
            stacklevel=5,
        )


def _open_ledger(
    ledger: str | Path | Ledger | None,
    budget: Guarantee,
    declared: Declaration | DatabaseDeclaration,
    schema: dict[str, str],
) -> Ledger:
    """Open the ledger of a table or a database. An open ledger is checked as a path would be."""
    dataset, unit, relation = declared.name, declared.unit_name, declared.relation
    if isinstance(ledger, Ledger):
        ledger.agree(budget=budget, dataset=dataset, unit=unit, relation=relation, schema=schema)
        return ledger
    return Ledger.open(
        ledger, budget=budget, dataset=dataset, unit=unit, relation=relation, schema=schema
    )
