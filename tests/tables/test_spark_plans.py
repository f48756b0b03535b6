"""Spark plans: stored rows and row-wise steps are accepted, everything else is refused before a row
is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf

from ..engines.conftest import SPARK, cluster
from ..refusing import refusal

pytestmark = SPARK


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="module")
def visits(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("visits") / "visits.parquet"
    columns = {
        "u": [1, 2, 3, 4],
        "k": ["a", "b", "c", None],
        "x": [1.0, 2.5, None, 4.0],
        "day": pa.array([0, 1, 2, 3], pa.int32()).cast(pa.date32()),
    }
    pq.write_table(pa.table(columns), path)
    frame = spark.read.parquet(str(path))
    frame.createOrReplaceTempView("plans")
    return frame


def protect(frame: Any) -> Any:
    return sf.protect(frame, name="visits", unit="u", max_rows=1, budget=100)


def window(frame: Any) -> Any:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    return frame.withColumn("r", F.row_number().over(Window.partitionBy("u").orderBy("x")))


def python_function(frame: Any) -> Any:
    from pyspark.sql import functions as F

    return frame.withColumn("r", F.udf(lambda x: x, "double")("x"))


def observed(frame: Any) -> Any:
    from pyspark.sql import functions as F

    return frame.observe("rows", F.count("*"))


ACCEPTED: dict[str, Callable[[Any], Any]] = {
    "stored": lambda v: v,
    "columns": lambda v: v.select("u", "k").withColumnRenamed("k", "key"),
    "filters": lambda v: v.where(
        "(x > 1 AND k IN ('a', 'b')) OR NOT (x <=> 2) OR k IS NULL OR x BETWEEN 1 AND 2"
    ),
    "a day in quotes": lambda v: v.where("day >= '1970-01-02'"),
    "choices": lambda v: v.selectExpr(
        "u",
        "CASE WHEN x > 1 THEN 1 ELSE 0 END AS c",
        "coalesce(k, 'none') AS k",
        "if(x > 1, k, NULL) AS i",
        "nullif(k, 'a') AS n",
    ),
    "casts": lambda v: v.selectExpr(
        "u",
        "CAST(u AS DOUBLE) AS a",
        "try_cast(k AS INT) AS b",
        "CAST(x AS STRING) AS c",
        "CAST(u AS BIGINT) AS d",
    ),
    "filled": lambda v: v.na.fill(0),
    "join": lambda v: v.join(v.select("u", v.k.alias("again")), "u", "left"),
    "union": lambda v: v.union(v),
    "order": lambda v: v.orderBy("x").repartition(2).coalesce(1),
    "name": lambda v: v.sparkSession.sql(
        "WITH a AS (SELECT * FROM plans) SELECT a.* FROM a JOIN plans b ON a.u = b.u"
    ),
    "catalogue": lambda v: _catalogue(v),
    "values": lambda v: v.sparkSession.sql("SELECT * FROM VALUES (1, 'a') t(u, k)"),
    "Arrow": lambda v: v.sparkSession.createDataFrame(pa.table({"u": [1, 2]})),
    "range": lambda v: v.sparkSession.range(4).withColumnRenamed("id", "u"),
}

REFUSED: dict[str, Callable[[Any], Any]] = {
    "sample": lambda v: v.sample(0.5, seed=7),
    "TABLESAMPLE": lambda v: v.sparkSession.sql("SELECT * FROM plans TABLESAMPLE (50 PERCENT)"),
    "limit": lambda v: v.limit(2),
    "offset": lambda v: v.offset(1),
    "tail": lambda v: v.sparkSession.sql("SELECT * FROM plans ORDER BY x LIMIT 2 OFFSET 1"),
    "duplicates": lambda v: v.dropDuplicates(["k"]),
    "distinct": lambda v: v.distinct(),
    "window": window,
    **{
        name: lambda v, text=text: v.groupBy("u").agg(_expression(text))
        for name, text in {
            "first": "first(k)",
            "any_value": "any_value(k)",
            "collect_list": "collect_list(k)",
            "max_by": "max_by(k, x)",
            "mode": "mode(k)",
            "sum of floats": "sum(x)",
            "count": "count(1)",
        }.items()
    },
    "random": lambda v: v.selectExpr("u", "rand() AS x"),
    "clock": lambda v: v.selectExpr("u", "now() AS x"),
    "Python function": python_function,
    "Python over partitions": lambda v: v.mapInPandas(lambda parts: parts, v.schema),
    "rows of Python": lambda v: v.sparkSession.createDataFrame([(1, "a")], "u int, k string"),
    "checkpoint": lambda v: v.localCheckpoint(),
    "a cast that fails": lambda v: v.selectExpr("u", "CAST(k AS INT) AS k"),
    "a comparison that casts": lambda v: v.where("k > 5"),
    "a constant that fails": lambda v: v.where("day > 'no day'"),
    "a day at midnight": lambda v: v.selectExpr("u", "try_cast(day AS TIMESTAMP) AS t"),
    "arithmetic that fails": lambda v: v.selectExpr("u", "u * u AS x"),
    "a sub-query": lambda v: v.sparkSession.sql(
        "SELECT * FROM plans WHERE x > (SELECT max(x) FROM plans)"
    ),
    "a sub-query in IN": lambda v: v.sparkSession.sql(
        "SELECT * FROM plans WHERE u IN (SELECT u FROM plans LIMIT 1)"
    ),
    "a sample beneath a join": lambda v: v.join(v.sample(0.5).select("u"), "u"),
    "a limit beneath a union": lambda v: v.union(v.limit(1)),
    "intersect": lambda v: v.intersect(v),
    "explode": lambda v: v.selectExpr("u", "explode(array(x, x)) AS x"),
    "lateral": lambda v: v.sparkSession.sql(
        "SELECT plans.u, s.y FROM plans, LATERAL (SELECT max(p.x) AS y FROM plans p "
        "WHERE p.u = plans.u) s"
    ),
    "observed": observed,
    "orc": lambda v: _again(v, "orc"),
    "csv": lambda v: _again(v, "csv"),
    "json": lambda v: _again(v, "json"),
    "stream": lambda v: (
        v.sparkSession.readStream.format("rate").load().withColumnRenamed("value", "u")
    ),
}


def _expression(text: str) -> Any:
    from pyspark.sql import functions as F

    return F.expr(text).alias("made")


def _again(frame: Any, kind: str) -> Any:
    """The same rows, written as files of another kind."""
    path = str(Path(frame.inputFiles()[0].partition("//")[2]).parent / kind)
    frame.write.mode("overwrite").format(kind).save(path)
    return frame.sparkSession.read.schema(frame.schema).format(kind).load(path)


def _catalogue(frame: Any) -> Any:
    """A table of the session's catalogue, with a column that Spark pads."""
    session = frame.sparkSession
    session.sql("DROP TABLE IF EXISTS padded")
    session.sql("CREATE TABLE padded (u BIGINT, k CHAR(4), v VARCHAR(4)) USING PARQUET")
    session.sql("INSERT INTO padded VALUES (1, 'a', 'b')")
    return session.table("padded")


@pytest.mark.parametrize("name", ACCEPTED)
def test_stored_rows_and_row_wise_steps_are_accepted(name: str, visits: Any) -> None:
    with protect(ACCEPTED[name](visits)) as table:
        assert len(table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)) == 1


@pytest.mark.parametrize("name", REFUSED)
def test_a_frame_whose_rows_depend_on_order_chance_or_each_other_is_refused(
    name: str, visits: Any
) -> None:
    assert "_" not in refusal(lambda: protect(REFUSED[name](visits)), "table.source").reason


def test_milliseconds_of_parquet_are_refused_where_they_are_read(
    spark: Any, tmp_path: Path
) -> None:
    """Spark stops at a value that microseconds do not reach, and one cell would decide whether a
    question fails.
    """
    folder = tmp_path / "coarse files"
    folder.mkdir()
    for name, unit in (("a", "us"), ("b", "ms")):  # the second of two files
        pq.write_table(
            pa.table({"u": [1], "t": pa.array([0]).cast(pa.timestamp(unit)), "x": [1]}),
            folder / f"{name} %20é.parquet",
        )
    frame = spark.read.schema("u BIGINT, t TIMESTAMP_NTZ, x BIGINT").parquet(str(folder))
    assert "'t'" in refusal(lambda: protect(frame), "table.source").reason
    assert (
        "'t'"
        in refusal(lambda: protect(frame.where("t IS NOT NULL").select("u")), "table.source").reason
    )
    frame.write.parquet(str(tmp_path / "fine"))
    for accepted in (frame.drop("t"), spark.read.parquet(str(tmp_path / "fine"))):
        with protect(accepted) as table:
            assert len(table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)) == 1


def test_the_rewrite_works(visits: Any, tmp_path: Path) -> None:
    """A sample that is written and read back is a table."""
    refused = refusal(lambda: protect(visits.sample(0.5, seed=7)), "table.source")
    path = str(tmp_path / "sampled")
    visits.sample(0.5, seed=7).write.parquet(path)
    assert 'frame.write.parquet("visits")' in refused.rewrite
    with protect(visits.sparkSession.read.parquet(path)) as table:
        assert len(table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)) == 1
