"""The base of engines that run queries on the owner's own connection: the data stay in their
database. `engine_registry` lists the supported engines.

*Settings*  The connection keeps the owner's settings, rights, time zone and speed. It runs one
            query at a time.
*Types*     are those of the connection. The owner may declare another type: every supported engine
            has a cast that gives null instead of an error, its own or one of `dialects`. Ibis's
            TryCast alone is no evidence: for some engines it writes a plain cast.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...errors import Refused
from ..expr.column_names import unknown_column
from ..expr.relational import select
from ..expr.types import CASTS, SPAN, Type
from . import engine_refusals as refusals
from .duckdb_engine import Engine
from .frame_sources import unread_reason
from .timeout import check_timeout, deadline

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa
    from ibis.backends import BaseBackend


class ExternalEngine(Engine):
    """The engine of a connection that belongs to the owner."""

    def __init__(self, backend: BaseBackend) -> None:
        self.backend = backend
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        return f"{self.backend.name} {self.backend.version}"

    def check(self, timeout: float | None = None) -> None:
        check_timeout(timeout)

    def run(self, expression: ir.Expr, *, timeout: float | None = None) -> pa.Table:
        self.check(timeout)
        with self._lock, deadline(timeout, lambda: self.backend.con.interrupt()):
            return self.backend.to_pyarrow(uuids_as_text(expression.as_table()))

    def resolve_table(self, table: ir.Table) -> ir.Table:
        """Return a table of the connection under the name that statements use; refuse unstable
        ones.
        """
        return table

    def left_out(self, table: ir.Table) -> dict[str, str]:
        """Return the columns that are not read, with the reason: generated columns, and types that
        the engine cannot always read.
        """
        return {}

    def plain_column(self, value: ir.Column) -> ir.Column:
        """Return a column without engine-specific behaviour, such as a collation."""
        return value

    def cast_table(
        self, table: ir.Table, declared: Mapping[str, Type], left_out: dict[str, str], name: str
    ) -> tuple[ir.Table, dict[str, Type]]:
        """Cast the columns of a table to their types; return the table and its schema. Columns that
        are not read are added to `left_out`.
        """
        have: dict[str, Type] = {}
        for column, dtype in table.schema().items():
            if column in left_out:
                continue
            try:
                have[column] = Type.from_ibis(dtype, column)
            except Refused:
                left_out[column] = unread_reason(
                    "decimal without digits" if dtype.is_decimal() else dtype
                )
        schema = declared_schema(have, declared, left_out, name)
        columns = {
            column: as_type(self.plain_column(table[column]), kind)
            for column, kind in schema.items()
        }
        return select(table, columns), schema

    def close(self) -> None:
        """Leave the connection open: it belongs to the owner."""


def uuids_as_text(table: ir.Table) -> ir.Table:
    """Cast uuid columns to text: connections differ in how they return uuids as Arrow."""
    texts = {
        column: table[column].cast("string")
        for column, dtype in table.schema().items()
        if dtype.is_uuid()
    }
    return table.mutate(**texts) if texts else table


def declared_schema(
    have: Mapping[str, Type], declared: Mapping[str, Type], left_out: Mapping[str, str], name: str
) -> dict[str, Type]:
    """Return the types of a table's columns, with the declared ones; refuse impossible casts."""
    if not have:
        raise refusals.NO_READABLE_COLUMN(table=name)
    for column, kind in declared.items():
        if column not in have:
            raise unknown_column(column, list(have), left_out, "types")
        if kind.kind not in CASTS[have[column].kind]:
            raise refusals.CAST_IMPOSSIBLE(
                column=column,
                target=kind,
                target_words=kind.words,
                stored=have[column],
                stored_words=have[column].words,
            )
    return {**have, **declared}


def as_type(value: ir.Column, target: Type) -> ir.Column:
    """Return a column as a type: unchanged, widened, or by a cast that gives null."""
    dtype, have = value.type(), Type.from_ibis(value.type(), value.get_name())
    # nanoseconds do not reach the year 1: comparing them with it would fail on any row
    if dtype.is_timestamp() and dtype.scale not in (None, 6):
        value, dtype = value.try_cast(have.to_ibis()), have.to_ibis()
    value = _within(value, have)
    if target.bare == have.bare:
        same = dtype.is_timestamp() or dtype.copy(nullable=True) == have.to_ibis()
        # an unsigned integer is read as a wider signed type
        return value if same else value.cast(have.to_ibis())
    return _within(value.try_cast(target.to_ibis()), target)


def _within(value: ir.Column, kind: Type) -> ir.Column:
    """Replace dates and timestamps that Python cannot hold by null."""
    import ibis

    if kind.kind not in SPAN:
        return value
    zone = "+00:00" if kind.zone else ""
    first, last = (ibis.literal(end + zone).cast(kind.to_ibis()) for end in SPAN[kind.kind])
    return ibis.cases((value.between(first, last), value), else_=ibis.null(kind.to_ibis()))
