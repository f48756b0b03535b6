"""Every function on special values: Spark gives what DuckDB gives, and never an error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.tables.engine.external_spark import Spark
from sfumato.tables.expr.expressions import call, col

from ..tables.special_values import VALUES, array, engine, schema, table
from .conftest import SPARK
from .functions import ComparedEngine, compare

pytestmark = SPARK

DEFAULT = (
    "bool",
    "int8",
    "int64",
    "float64",
    "float32",
    "decimal(38,0)",
    "date",
    "timestamp",
    "timestamp with time zone",
)


class Cluster(ComparedEngine):
    mathematics = False

    def __init__(self, session: Any, folder: Path) -> None:
        self._session, self._folder, self._laid = session, folder, 0
        self._theirs = ibis.pyspark.connect(session)
        self.engine = Spark(self._theirs)

    def lay(self, names: Sequence[str], rows: list[tuple[Any, ...]]) -> Any:
        self._laid += 1
        columns = {f"c{i}": array(name, [row[i] for row in rows]) for i, name in enumerate(names)}
        path = self._folder / f"{self._laid}.parquet"
        pq.write_table(
            pa.table({"number": pa.array(range(len(rows)), pa.int32()), **columns}), path
        )
        self._session.read.parquet(str(path)).createOrReplaceTempView("given_rows")
        return self.engine.resolve_table(self._theirs.table("given_rows"))


@pytest.fixture(scope="module")
def cluster(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    opened = Cluster(spark, tmp_path_factory.mktemp("rows"))
    yield opened
    opened.engine.close()


@pytest.mark.parametrize("name", DEFAULT)
def test_one_column(name: str, cluster: Cluster) -> None:
    compared, refused = compare(cluster, [name])
    assert compared > 15
    assert refused <= {"cast"}


EDGES = (None, 1.0, -1.0, 0.0, -0.0, math.inf, -math.inf, 0.5, -0.3, 3.0)


def test_powers_and_angles_at_their_edges(cluster: Cluster) -> None:
    """1 and −1 to infinite powers are 1, and the angle of −0 is that of 0, as on the other engines.
    So is what is computed from a zero that was rounded.
    """
    rows, types = list(product(EDGES, EDGES)), schema("float64", "float64")
    a, b = col("c0"), col("c1")
    expressions = [
        call("power", a, b),
        a.atan2(b),
        call("round", a, 0).atan2(b),
        call("trunc", a).atan2(call("round", b, 0)),
        call("power", a, b) == 1,
    ]
    there = cluster.lay(["float64", "float64"], rows)
    columns = {f"c{i}": ("float64", [row[i] for row in rows]) for i in range(2)}
    here = table(
        connection := engine(),
        "given_rows",
        {"number": ("int32", list(range(len(rows)))), **columns},
    )
    statements = [
        rows_table.select(
            "number",
            **{
                f"r{i}": expression.build(rows_table, types)
                for i, expression in enumerate(expressions)
            },
        )
        for rows_table in (here, there)
    ]
    expected, actual = (
        rows_of.sort_by("number").to_pylist()
        for rows_of in (connection.to_pyarrow(statements[0]), cluster.engine.run(statements[1]))
    )
    for row, want, got in zip(rows, expected, actual, strict=True):
        for name, value in want.items():
            same = got[name] == value or (
                isinstance(value, float)
                and got[name] is not None
                and math.isclose(got[name], value, rel_tol=1e-14)
            )
            assert same, (row, name, value, got[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in VALUES if name not in DEFAULT and name != "uuid"]
)
def test_one_more_column(name: str, cluster: Cluster) -> None:
    compare(cluster, [name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [("int64", "int64"), ("float64", "float64"), ("decimal(18,4)", "int64"), ("date", "timestamp")],
    ids=" and ".join,
)
def test_two_columns(names: tuple[str, str], cluster: Cluster) -> None:
    compare(cluster, names, 400)
