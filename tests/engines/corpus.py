"""The conformance corpus, and which tests put it to which engine.

An engine is accepted (`sfumato.tables.engine.engine_registry.ENGINES`) if it runs the random
queries of `benches` and the functions of `functions`, and gives the same integers as DuckDBEngine.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import (
    benches,
    functions,
    test_duckdb,
    test_postgres,
    test_postgres_functions,
    test_spark,
    test_spark_functions,
)

CORPUS: dict[str, tuple[type[Any], ModuleType, ModuleType]] = {
    "duckdb": (benches.DuckDBBench, test_duckdb, test_duckdb),
    "postgres": (benches.PostgresBench, test_postgres, test_postgres_functions),
    "pyspark": (benches.SparkBench, test_spark, test_spark_functions),
}
"""Ibis's name of an engine → where its table lies, the tests of queries, and the tests of
functions.
"""

QUERIES, FUNCTIONS = benches.differs, functions.compare
