"""A connection that the owner lends: an Ibis table is read where it lies, by its own engine. Which
engines are accepted says `served`.

*Settings*  The connection is used as it is: its settings, rights, time zone and speed are the
            owner's. One question at a time.
*Types*     Those of the connection. Another may be declared where the engine has a cast that gives
            null instead of failing.
"""

from __future__ import annotations

import threading
from typing import Any

from ...errors import Refused
from ..expr.types import SPAN, Type
from .duckdb_engine import Engine
from .timeout import deadline, known_timeout

TRYING = ("duckdb", "postgres", "pyspark")
"""Engines with a cast that gives null, their own or one of `dialects`. That Ibis has the operation
says little: for some it writes a plain cast.
"""


class Lent(Engine):
    """The engine of a lent connection."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        return f"{self.backend.name} {self.backend.version}"

    def check(self, timeout: float | None = None) -> None:
        known_timeout(timeout)

    def run(self, expression: Any, *, timeout: float | None = None) -> Any:
        self.check(timeout)
        with self._lock, deadline(timeout, lambda: self.backend.con.interrupt()):
            return self.backend.to_pyarrow(portable(expression.as_table()))

    def known(self, table: Any) -> Any:
        """A table of the connection as it is named in statements."""
        return table

    def left_out(self, table: Any) -> dict[str, str]:
        """Columns of a table that are not read, because of how the table is made or because the
        engine cannot read them in every case, and why.
        """
        return {}

    def plain(self, value: Any) -> Any:
        """A column of a table without what is the engine's own in it."""
        return value

    def close(self) -> None:
        """The connection stays open: it is the owner's."""


def portable(table: Any) -> Any:
    """The rows with uuids as text, whatever the connection makes of them in Arrow."""
    texts = {
        column: table[column].cast("string")
        for column, dtype in table.schema().items()
        if dtype.is_uuid()
    }
    return table.mutate(**texts) if texts else table


def as_type(engine: Engine, value: Any, wanted: Type) -> Any:
    """A column as a type that it can be turned into: as it is, widened, or tried."""
    dtype, have = value.type(), Type.from_ibis(value.type(), value.get_name())
    name, finer = value.get_name(), dtype.is_timestamp() and dtype.scale not in (None, 6)
    if (
        finer and engine.backend.name in TRYING
        # nanoseconds do not reach the year 1: to compare them with it would fail, at the first row
        # there is
    ):
        value, dtype = value.try_cast(have.to_ibis()), have.to_ibis()
    elif finer:
        reason = (
            f"{engine.backend.name} has no cast to microseconds that gives null where it "
            f"fails: an error would tell about the data"
        )
        raise Refused(
            "table.cast",
            f"{name!r:.60}: {dtype}",
            reason,
            "a column of microseconds, made in the database",
        )
    value = _within(value, have)
    if wanted.bare == have.bare:
        same = dtype.is_timestamp() or dtype.copy(nullable=True) == have.to_ibis()
        return (
            value if same else value.cast(have.to_ibis())
        )  # unsigned integers: there is room for all of them
    if engine.backend.name not in TRYING:
        reason = (
            f"{engine.backend.name} has no cast that gives null where it fails: an error "
            f"would tell about the data"
        )
        raise Refused(
            "table.cast",
            f"types={{{name!r:.60}: '{wanted}'}}",
            reason,
            f"'{have}', or a column made in the database",
        )
    return _within(value.try_cast(wanted.to_ibis()), wanted)


def _within(value: Any, kind: Type) -> Any:
    """Dates and timestamps that Python can hold; others are null."""
    import ibis

    if kind.kind not in SPAN:
        return value
    zone = "+00:00" if kind.zone else ""
    first, last = (ibis.literal(end + zone).cast(kind.to_ibis()) for end in SPAN[kind.kind])
    return ibis.cases((value.between(first, last), value), else_=ibis.null(kind.to_ibis()))
