"""Run queries on the owner's Spark cluster, by a DataFrame or an Ibis table.

*Session*   Queries run in a new session beside the owner's, with the settings below: neither
            session changes the other.
*Tables*    A DataFrame is accepted if its plan reads stored rows and treats each row alike: see
            `spark_plans`.
*Time*      After a time-out the cluster cancels the query.
*Secret*    Spark's own logs and pages hold details of queries: the owner keeps analysts out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

from . import engine_refusals as refusals
from .dialects.spark_dialect import TotalSparkCompiler, by_bytes
from .duckdb_engine import compile_sql
from .external import ExternalEngine
from .frame_sources import unread_reason
from .spark_plans import check_plan
from .sql_cache import SqlCache
from .timeout import check_timeout, deadline

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    import pyarrow as pa
    from ibis.backends.pyspark import Backend
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

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
"""Setting → value and reason, in the session that runs queries."""

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
"""Spark's name of a type → Ibis's name of it. Decimals are read, too; other types are left out."""

_SHARED = "global_temp"


class Spark(ExternalEngine):
    """The engine of a Spark session."""

    def __init__(self, backend: Backend) -> None:
        import ibis

        self._theirs = backend
        session = backend._session.newSession()
        for name, (value, _) in SETTINGS.items():
            session.conf.set(name, value)
        super().__init__(ibis.pyspark.connect(session))
        self._session, self._views, self._closed = session, list[str](), False
        for name in ("spark.sql.session.timeZone", "spark.sql.ansi.enabled"):
            session.conf.set(name, SETTINGS[name][0])  # Ibis sets some of its own
        compiler = TotalSparkCompiler()
        self._sql_cache = SqlCache(lambda expression: compile_sql(compiler, expression))

    @property
    def version(self) -> str:
        return f"Spark {self._session.version}"

    def sql(self, expression: ir.Expr) -> str:
        return self._sql_cache.text(expression)

    def check(self, timeout: float | None = None) -> None:
        check_timeout(timeout)
        if self._closed:
            raise refusals.TABLE_CLOSED()
        if self._session.sparkContext._jsc is None:
            raise refusals.SPARK_SESSION_STOPPED()

    def run(self, expression: ir.Expr, *, timeout: float | None = None) -> pa.Table:
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

    def resolve_table(self, table: ir.Table) -> ir.Table:
        """Check the plan of a table and share it with our session under a new name."""
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

    def left_out(self, table: ir.Table) -> dict[str, str]:
        """Return the columns of types that are not listed."""
        fields = self._session.table(table.op().name).schema.fields
        return {
            field.name: unread_reason(field.dataType.simpleString())
            for field in fields
            if _dtype(field) is None
        }

    def plain_column(self, value: ir.Column) -> ir.Column:
        """Compare texts by their bytes."""
        return by_bytes()(value).name(value.get_name()) if value.type().is_string() else value

    def close(self) -> None:
        """Drop our views; the session stays open, as it belongs to the owner."""
        self._closed = True
        for view in self._views:
            self._session.catalog.dropGlobalTempView(view)
        self._views.clear()


def _dtype(field: StructField) -> dt.DataType | None:
    """Return the Ibis type of a column; None if it is not read."""
    import ibis.expr.datatypes as dt
    from pyspark.sql.types import DecimalType

    stored = field.dataType
    dtype_name = (
        f"decimal({stored.precision}, {stored.scale})"
        if isinstance(stored, DecimalType)
        else TYPES.get(stored.typeName())
    )
    return None if dtype_name is None else dt.dtype(dtype_name, nullable=field.nullable)


def _table(backend: Backend, view: str, frame: DataFrame) -> ir.Table:
    """Build the Ibis table with the columns that are read. Ibis's own way gives all timestamps one
    type, and fails on types that it does not know.
    """
    import ibis.expr.operations as ops
    from ibis.expr.schema import Schema

    read = {
        field.name: dtype for field in frame.schema.fields if (dtype := _dtype(field)) is not None
    }
    return ops.DatabaseTable(
        name=view, schema=Schema(read), source=backend, namespace=ops.Namespace()
    ).to_expr()


def frame_table(frame: DataFrame) -> ir.Table:
    """Register a DataFrame in its session under a new name, and return the Ibis table."""
    import ibis

    check_plan(frame, "protect(DataFrame, …)")
    view = f"sfumato_{uuid4().hex}"
    frame.createTempView(view)
    return _table(ibis.pyspark.connect(frame.sparkSession), view, frame)
