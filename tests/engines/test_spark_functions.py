"""Every function on special values: Spark gives what DuckDB gives, and never an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.tables.engine_spark import Spark

from ..tables.special_values import VALUES, array
from .conftest import SPARK
from .functions import Other, compare

pytestmark = SPARK

DEFAULT = ("bool", "int8", "int64", "float64", "float32", "decimal(38,0)", "date", "timestamp", "timestamp with time zone")


class Cluster(Other):
    mathematics = False

    def __init__(self, session: Any, folder: Path) -> None:
        self._session, self._folder, self._laid = session, folder, 0
        self._theirs = ibis.pyspark.connect(session)
        self.engine = Spark(self._theirs)

    def lay(self, names: Sequence[str], rows: list[tuple[Any, ...]]) -> Any:  # type: ignore[override]
        self._laid += 1
        columns = {f"c{i}": array(name, [row[i] for row in rows]) for i, name in enumerate(names)}
        path = self._folder / f"{self._laid}.parquet"
        pq.write_table(pa.table({"number": pa.array(range(len(rows)), pa.int32()), **columns}), path)
        self._session.read.parquet(str(path)).createOrReplaceTempView("given_rows")
        return self.engine.known(self._theirs.table("given_rows"))


@pytest.fixture(scope="module")
def other(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(spark, tmp_path_factory.mktemp("rows"))
    yield made
    made.engine.close()


@pytest.mark.parametrize("name", DEFAULT)
def test_one_column(name: str, other: Cluster) -> None:
    compared, refused = compare(other, [name])
    assert compared > 15
    assert refused <= {"cast"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in VALUES if name not in DEFAULT and name != "uuid"])
def test_one_more_column(name: str, other: Cluster) -> None:
    compare(other, [name])


@pytest.mark.slow
@pytest.mark.parametrize("names", [("int64", "int64"), ("float64", "float64"), ("decimal(18,4)", "int64"), ("date", "timestamp")], ids=" and ".join)
def test_two_columns(names: tuple[str, str], other: Cluster) -> None:
    compare(other, names, 400)
