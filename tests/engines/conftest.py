"""A real PostgreSQL server, and a real cluster of Spark with two workers, for as long as the tests
of a process need them.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..ledger.servers import PostgresServer, running
from ..tables.worlds import Bench

SPARK = [
    pytest.mark.java,
    pytest.mark.xdist_group("spark"),
    # pyspark leaves the sockets through which results come to the garbage collector
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]
"""Marks of tests that ask a cluster: all of them in one process."""

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Of Java: half of what a cluster costs that lives for a minute is to optimise code which is never
run again.
"""


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with running() as started:
        started.sql(started.url(), "CREATE ROLE reader LOGIN")
        yield started


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    rows_bench = Bench()
    yield rows_bench
    rows_bench.close()


@contextmanager
def cluster(folder: Path) -> Iterator[Any]:
    """Two workers beside the driver, all of them on loopback."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        # tables are small and statements large: to compile them would take nearly all of the time
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
        "spark.executor.syncLogLevel.enabled": "true",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder / 'derby'} {SHORT_LIVED}",
        "spark.executor.extraJavaOptions": SHORT_LIVED,
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("sfumato")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster(tmp_path_factory.mktemp("spark")) as session:
        yield session
