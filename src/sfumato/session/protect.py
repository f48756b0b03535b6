"""`protect`: declare whom a table protects and its total budget. The rest of the declaration is
optional, or follows from the source's public schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack, cast, overload

from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..keywords import takes
from ..ledger import Ledger
from ..tables.declare.declaration import Declaration, check_name, declare
from ..tables.declare.declared_database import DatabaseDeclaration
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
    """
    total, settings = budget_of(budget), ProtectSettings(**options)
    if isinstance(source, Mapping):
        return protect_many(
            source,
            unit,
            settings,
            lambda declared: _open_ledger(settings.ledger, total, declared, declared.schema),
        )
    if settings.links is not None or settings.public is not None:
        raise refusals.LINKS_OF_ONE_TABLE()
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
    return Table(declared, opened, book, durable=settings.ledger is not None)


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
