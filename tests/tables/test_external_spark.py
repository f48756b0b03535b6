"""Spark as the engine: a cluster of two workers, a session of our own beside the owner's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.tables.engine.external_spark import SETTINGS

from ..engines.conftest import SPARK, cluster
from .texts_and_zones import NAMES, QUESTIONS, frame, protected, tallied

pytestmark = SPARK


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster(tmp_path_factory.mktemp("spark")) as session:
        session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
        yield session


@pytest.fixture(scope="module")
def visits(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A DataFrame of a Parquet file, in a session that lives in another zone."""
    path = tmp_path_factory.mktemp("visits") / "visits.parquet"
    pq.write_table(frame(), path)
    return spark.read.parquet(str(path))


@pytest.mark.parametrize("text", QUESTIONS, ids=range(len(QUESTIONS)))
def test_texts_and_zones_are_those_of_duckdb(text: str, visits: Any) -> None:
    assert tallied(visits, text) == tallied(frame(), text)


def test_many_public_keys(visits: Any) -> None:
    keys = [*NAMES, *(f"town '{i}' \\ {{}}," for i in range(100))]
    text = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    assert tallied(visits, text, keys={"city": keys}) == tallied(frame(), text, keys={"city": keys})


def test_a_question_is_answered(visits: Any) -> None:
    with protected(visits) as table:
        answer = table.sql(
            "SELECT COUNT(*) AS n, AVG(spend) AS m FROM visits", epsilon=1, timeout=300
        )
        assert answer.facts["versions"]["engine"].startswith("Spark 4")


def test_an_ibis_table_is_the_same(visits: Any, spark: Any) -> None:
    visits.createOrReplaceTempView("visits")
    table = ibis.pyspark.connect(spark).table("visits")
    assert tallied(table, QUESTIONS[0]) == tallied(frame(), QUESTIONS[0])


def test_neither_session_changes_the_other(visits: Any, spark: Any) -> None:
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    with protected(visits) as table:
        session = table._source.engine._session
        assert {name: session.conf.get(name) for name in SETTINGS} == {
            name: value for name, (value, _) in SETTINGS.items()
        }
    assert {name: spark.conf.get(name, None) for name in SETTINGS} == before
    assert spark.sql("SELECT 1").collect()


def test_a_frame_that_draws_is_refused(visits: Any) -> None:
    with pytest.raises(sf.Refused) as caught:
        protected(visits.selectExpr("id", "rand() AS spend"))
    assert caught.value.code == "table.source"


def test_a_question_that_takes_too_long_is_ended(visits: Any) -> None:
    with protected(visits) as table:
        engine = table._source.engine
        engine.sql = lambda expression: (
            "SELECT count(*) AS n FROM range(100000000000) WHERE sin(id) > 2"
        )
        with pytest.raises(TimeoutError):
            engine.run(table._source.table, timeout=1)


def test_a_closed_table_is_refused(visits: Any) -> None:
    table = protected(visits)
    table.close()
    with pytest.raises(sf.Refused) as caught:
        table._source.engine.check()
    assert caught.value.code == "engine.closed"


def test_the_address_of_the_file_is_nowhere(visits: Any, tmp_path: Path) -> None:
    with protected(visits, ledger=tmp_path / "visits.ledger") as table:
        answer = table.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        texts = [
            answer.to_json().decode(),
            str(answer.card()),
            *table.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1).sql,
        ]
    assert not any(".parquet" in text for text in texts)
