"""Spark as the engine: a session of the owner's, by a DataFrame or an Ibis table. Tables are read where they lie, by the cluster.

*Session*   Questions are asked in a session of our own beside the owner's, with the settings below: neither changes the other.
*Tables*    A DataFrame is taken as the table: one that draws at random is refused. What it is made of is the owner's to know: a row is about one unit.
*Time*      A question that takes too long is cancelled on the cluster.
*Secret*    What Spark writes about a query into its own logs and pages is the cluster's: they are to be closed to analysts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from ..errors import Refused
from .deadline import deadline, known_timeout
from .dialects.spark import Compiler, by_bytes
from .engine import compiled
from .lent import Lent
from .written import Written

SETTINGS: Mapping[str, tuple[str, str]] = {
    "spark.sql.ansi.enabled": ("true", "one set of rules, whatever the cluster's"),
    "spark.sql.session.timeZone": ("UTC", "a day begins at the same instant on every machine"),
    "spark.sql.caseSensitive": ("true", "two columns may differ by a capital letter"),
    "spark.sql.decimalOperations.allowPrecisionLoss": ("false", "a product of decimals keeps its digits"),
    "spark.sql.groupByOrdinal": ("true", "GROUP BY 1 is the first column"),
    "spark.sql.storeAssignmentPolicy": ("ANSI", "as above"),
    "spark.sql.parquet.datetimeRebaseModeInRead": ("CORRECTED", "old dates are what the file says"),
    "spark.sql.legacy.timeParserPolicy": ("CORRECTED", "and texts, too"),
    "spark.sql.timestampType": ("TIMESTAMP_LTZ", "a timestamp has a zone unless it says that it has none"),
    "spark.sql.execution.arrow.useLargeVarTypes": ("false", "texts come as texts"),
}
"""Setting → value and reason; of a session of our own."""

_SHARED = "global_temp"


class Spark(Lent):
    """The engine of a Spark session."""

    def __init__(self, backend: Any) -> None:
        import ibis

        self._theirs = backend
        session = backend._session.newSession()
        for name, (value, _) in SETTINGS.items():
            session.conf.set(name, value)
        super().__init__(ibis.pyspark.connect(session))
        self._session, self._views, self._closed = session, list[str](), False
        for name in ("spark.sql.session.timeZone", "spark.sql.ansi.enabled"):
            session.conf.set(name, SETTINGS[name][0])  # Ibis sets some of its own
        compiler = Compiler()
        self._written = Written(lambda expression: compiled(compiler, expression))

    @property
    def version(self) -> str:
        return f"Spark {self._session.version}"

    def sql(self, expression: Any) -> str:
        return self._written.text(expression)

    def check(self, timeout: float | None = None) -> None:
        known_timeout(timeout)
        if self._closed or self._session.sparkContext._jsc is None:
            raise Refused("engine.closed", "release(…)", "the session was stopped", "protect(…) again")

    def run(self, expression: Any, *, timeout: float | None = None) -> Any:
        import ibis.expr.operations as ops

        text = self.sql(expression)
        with self._lock:
            self.check(timeout)
            context, group = self._session.sparkContext, f"sfumato {uuid4().hex}"
            context.setJobGroup(group, "a protected question", interruptOnCancel=True)
            keys = list(expression.op().find(ops.InMemoryTable))
            try:
                with deadline(timeout, lambda: context.cancelJobGroup(group)):
                    for op in keys:
                        self._session.createDataFrame(op.data.to_pyarrow(op.schema)).createOrReplaceTempView(op.name)
                    return self._session.sql(text).toArrow()
            finally:
                for op in keys:
                    self._session.catalog.dropTempView(op.name)

    def known(self, table: Any) -> Any:
        """Under a name that our session knows, too."""
        op = table.op()
        there = self._theirs._session.table(".".join(f"`{part}`" for part in (op.namespace.catalog, op.namespace.database, op.name) if part))
        if not there._jdf.queryExecution().analyzed().deterministic():
            reason = "it draws at random, so a row may be another each time it is read"
            raise Refused("table.source", f"{op.name!r:.60}", reason, "a table, or a DataFrame of stored values")
        view = f"sfumato_{uuid4().hex}"
        there.createGlobalTempView(view)
        self._views.append(view)
        ours = self._session.table(f"{_SHARED}.{view}")
        ours.createTempView(view)
        return _zoned(self.backend.table(view), ours)

    def plain(self, value: Any) -> Any:
        """Texts by their bytes."""
        return by_bytes()(value).name(value.get_name()) if value.type().is_string() else value

    def close(self) -> None:
        """The session stays open: it is the owner's."""
        self._closed = True
        for view in self._views:
            self._session.catalog.dropGlobalTempView(view)
        self._views.clear()


def _zoned(table: Any, frame: Any) -> Any:
    """The table with zones where Spark has them: to Ibis all timestamps are alike."""
    import ibis.expr.datatypes as dt
    from ibis.expr.schema import Schema

    zones = {field.name: {"timestamp": dt.Timestamp("UTC"), "timestamp_ntz": dt.timestamp}.get(field.dataType.typeName()) for field in frame.schema.fields}
    return table.op().copy(schema=Schema({name: zones.get(name) or dtype for name, dtype in table.schema().items()})).to_expr()


def framed(frame: Any) -> Any:
    """A DataFrame as an Ibis table of its session, under a name of ours."""
    import ibis

    view = f"sfumato_{uuid4().hex}"
    frame.createTempView(view)
    return ibis.pyspark.connect(frame.sparkSession).table(view)
