"""The base of engines that run queries on the owner's own connection: the data stay in their
database. `engine_registry` lists the supported engines.

*Settings*  The connection keeps the owner's settings, rights, time zone and speed. It runs one
            query at a time.
*Types*     are those of the connection. The owner may declare another type where the engine has a
            cast that gives null instead of an error.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..expr.types import SPAN, Type
from . import engine_refusals as refusals
from .duckdb_engine import Engine
from .timeout import check_timeout, deadline

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa
    from ibis.backends import BaseBackend

HAS_TRY_CAST = ("duckdb", "postgres", "pyspark")
"""Engines with a cast that gives null: their own, or one of `dialects`. Ibis's TryCast is no
evidence: for some engines it writes a plain cast.
"""


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


def as_type(engine: Engine, value: ir.Column, target: Type) -> ir.Column:
    """Return a column as a type: unchanged, widened, or by a cast that gives null."""
    dtype, have = value.type(), Type.from_ibis(value.type(), value.get_name())
    name, finer = value.get_name(), dtype.is_timestamp() and dtype.scale not in (None, 6)
    # nanoseconds do not reach the year 1: comparing them with it would fail on any row
    if finer and engine.backend.name in HAS_TRY_CAST:
        value, dtype = value.try_cast(have.to_ibis()), have.to_ibis()
    elif finer:
        raise refusals.CAST_TO_MICROSECONDS_MAY_FAIL(
            column=name, dtype=dtype, engine=engine.backend.name
        )
    value = _within(value, have)
    if target.bare == have.bare:
        same = dtype.is_timestamp() or dtype.copy(nullable=True) == have.to_ibis()
        # an unsigned integer is read as a wider signed type
        return value if same else value.cast(have.to_ibis())
    if engine.backend.name not in HAS_TRY_CAST:
        raise refusals.CAST_MAY_FAIL(
            column=name, target=target, engine=engine.backend.name, stored=have
        )
    return _within(value.try_cast(target.to_ibis()), target)


def _within(value: ir.Column, kind: Type) -> ir.Column:
    """Replace dates and timestamps that Python cannot hold by null."""
    import ibis

    if kind.kind not in SPAN:
        return value
    zone = "+00:00" if kind.zone else ""
    first, last = (ibis.literal(end + zone).cast(kind.to_ibis()) for end in SPAN[kind.kind])
    return ibis.cases((value.between(first, last), value), else_=ibis.null(kind.to_ibis()))
