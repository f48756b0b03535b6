"""Spark as the engine: a session of the owner's, by a DataFrame or an Ibis table. Tables are read
where they lie, by the cluster.

*Session*   Questions are asked in a session of our own beside the owner's, with the settings below:
            neither changes the other.
*Tables*    A DataFrame is taken as the table if its plan reads stored rows and treats each alike:
            see `spark_plans`.
*Time*      A question that takes too long is cancelled on the cluster.
*Secret*    What Spark writes about a query into its own logs and pages is the cluster's: they are
            to be closed to analysts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from ...errors import Refused
from .dialects.spark_dialect import Compiler, by_bytes
from .duckdb_engine import compiled
from .external import Lent
from .frame_sources import unread
from .spark_plans import check_plan
from .sql_cache import Written
from .timeout import deadline, known_timeout

SETTINGS: Mapping[str, tuple[str, str]] = {
    "spark.sql.ansi.enabled": ("true", "one set of rules, whatever the cluster's"),
    "spark.sql.session.timeZone": ("UTC", "a day begins at the same instant on every machine"),
    "spark.sql.caseSensitive": ("true", "two columns may differ by a capital letter"),
    "spark.sql.decimalOperations.allowPrecisionLoss": (
        "false",
        "a product of decimals keeps its digits",
    ),
    "spark.sql.groupByOrdinal": ("true", "GROUP BY 1 is the first column"),
    "spark.sql.storeAssignmentPolicy": ("ANSI", "as above"),
    "spark.sql.parquet.datetimeRebaseModeInRead": ("CORRECTED", "old dates are what the file says"),
    "spark.sql.legacy.timeParserPolicy": ("CORRECTED", "and texts, too"),
    "spark.sql.timestampType": (
        "TIMESTAMP_LTZ",
        "a timestamp has a zone unless it says that it has none",
    ),
    "spark.sql.execution.arrow.useLargeVarTypes": ("false", "texts come as texts"),
}
"""Setting → value and reason; of a session of our own."""

TYPES: Mapping[str, str] = {
    "boolean": "boolean",
    "byte": "int8",
    "short": "int16",
    "integer": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "char": "string",
    "varchar": "string",
    "date": "date",
    "timestamp": "timestamp('UTC')",
    "timestamp_ntz": "timestamp",
}
"""Spark's name of a type → the type that Ibis has for it. Beside these, decimals are read; all else
is left out.
"""

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
            raise Refused(
                "engine.closed", "release(…)", "the session was stopped", "protect(…) again"
            )

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
                        self._session.createDataFrame(
                            op.data.to_pyarrow(op.schema)
                        ).createOrReplaceTempView(op.name)
                    return self._session.sql(text).toArrow()
            finally:
                for op in keys:
                    self._session.catalog.dropTempView(op.name)

    def known(self, table: Any) -> Any:
        """Under a name that our session knows, too."""
        op = table.op()
        there = self._theirs._session.table(
            ".".join(
                f"`{part}`"
                for part in (op.namespace.catalog, op.namespace.database, op.name)
                if part
            )
        )
        check_plan(there, f"protect({op.name!r:.60}, …)")
        view = f"sfumato_{uuid4().hex}"
        there.createGlobalTempView(view)
        self._views.append(view)
        ours = self._session.table(f"{_SHARED}.{view}")
        ours.createTempView(view)
        return _table(self.backend, view, ours)

    def left_out(self, table: Any) -> dict[str, str]:
        """Columns of types that are not listed."""
        fields = self._session.table(table.op().name).schema.fields
        return {
            field.name: unread(field.dataType.simpleString())
            for field in fields
            if _dtype(field) is None
        }

    def plain(self, value: Any) -> Any:
        """Texts by their bytes."""
        return by_bytes()(value).name(value.get_name()) if value.type().is_string() else value

    def close(self) -> None:
        """The session stays open: it is the owner's."""
        self._closed = True
        for view in self._views:
            self._session.catalog.dropGlobalTempView(view)
        self._views.clear()


def _dtype(field: Any) -> Any:
    """The Ibis type of a column; None if it is not read."""
    import ibis.expr.datatypes as dt

    name = field.dataType.typeName()
    known = (
        f"decimal({field.dataType.precision}, {field.dataType.scale})"
        if name == "decimal"
        else TYPES.get(name)
    )
    return None if known is None else dt.dtype(known, nullable=field.nullable)


def _table(backend: Any, view: str, frame: Any) -> Any:
    """A table as Ibis knows it, with the columns that are read. Ibis itself takes all timestamps
    for one type, and stops at types that it does not know.
    """
    import ibis.expr.operations as ops
    from ibis.expr.schema import Schema

    read = {
        field.name: dtype for field in frame.schema.fields if (dtype := _dtype(field)) is not None
    }
    return ops.DatabaseTable(
        name=view, schema=Schema(read), source=backend, namespace=ops.Namespace()
    ).to_expr()


def framed(frame: Any) -> Any:
    """A DataFrame as an Ibis table of its session, under a name of ours."""
    import ibis

    check_plan(frame, "protect(DataFrame, …)")
    view = f"sfumato_{uuid4().hex}"
    frame.createTempView(view)
    return _table(ibis.pyspark.connect(frame.sparkSession), view, frame)
