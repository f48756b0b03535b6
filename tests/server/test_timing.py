"""When padded replies come does not tell whether a unit has 1 row or 100,000.

Two datasets of one service that differ in one unit's rows are asked the same questions, in pairs,
in a random order. What is compared is the time from the first byte of a request to the last of its
reply. AUC is the probability that a reply about the larger dataset comes later than one about the
smaller: one half, if nothing can be told. With n pairs of the same law its standard deviation is
√((2n + 1) / (12n²)), 0.0041 for 10,000: the band of ± 0.02 is left by chance in about one run of a
million. The twin is the same service without padding.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import rankdata

from sfumato.server.config import load
from sfumato.server.request_store import RequestStore
from sfumato.server.tokens import create_token

from .service import free_port

pytestmark = pytest.mark.xdist_group("server-timing")
MANY = 100_000
NAMES = ("thin", "wide")
TOML = """
[server]
port = {port}
deadlines = [{of_class}]
overruns_per_analyst = 1000000
most_releases = 1000000000000
planning_per_minute = 1000000
rate = {{ token = 1000000, address = 1000000 }}
"""
DATASET = """
[datasets.{name}]
source = "{name}.parquet"
budget = 1000000
unit = "who"
max_rows = 2
bounds = {{ x = [0, 10] }}
table_rows = 200000
"""
UNPADDED = """
from sfumato.server import releases
releases.reply_time, releases.storing_time = lambda _: 0.0, lambda _: None
"""


@contextmanager
def served(folder: Path, of_class: float, *, padded: bool) -> Iterator[tuple[str, str]]:
    """The address of a service with both datasets, and a token."""
    for name, rows in zip(NAMES, (1, MANY), strict=True):
        who = np.concatenate([np.arange(1000), np.full(rows, 1000)])
        pq.write_table(
            pa.table({"who": who, "x": np.arange(len(who)) * 0.618 % 10}),
            folder / f"{name}.parquet",
        )
    port, path = free_port(), folder / "sfumato.toml"
    path.write_text(
        TOML.format(port=port, of_class=of_class)
        + "".join(DATASET.format(name=name) for name in NAMES),
        encoding="utf-8",
    )
    state = RequestStore(load(path).tokens)
    token = create_token(state, name="ada", role="analyst")
    state.close()
    serving = f"from sfumato.server.run_service import run\nrun({str(path)!r})"
    script = f"{'' if padded else UNPADDED}\n{serving}"
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        url, end = f"http://127.0.0.1:{port}", time.monotonic() + 120
        while time.monotonic() < end:
            try:
                httpx.get(f"{url}/api/health", timeout=5)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield url, token
    finally:
        process.terminate()
        process.wait(60)


def times(url: str, token: str, pairs: int) -> tuple[list[float], list[float]]:
    """When the replies came. One that was not ready came never: an overrun of one dataset and not
    of the other is a difference, too.
    """
    chance, durations = random.Random(pairs), {name: list[float]() for name in NAMES}
    with httpx.Client(
        base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60
    ) as client:
        for place in range(-20, pairs):  # the first ones are to get warm
            took = {}
            for name in chance.sample(NAMES, 2):
                body = {
                    "sql": f"SELECT SUM(x) AS s FROM {name} WHERE x < {place + 100}",
                    "epsilon": "1",
                }
                begun = time.perf_counter()
                reply = client.post(
                    f"/api/datasets/{name}/release",
                    json=body,
                    headers={"Idempotency-Key": f"k{place}"},
                )
                took[name] = time.perf_counter() - begun if reply.status_code == 200 else math.inf
                assert reply.status_code == 200 or reply.json()["code"] == "server.deadline", (
                    reply.text
                )
            if place >= 0:
                for name in NAMES:
                    durations[name].append(took[name])
    return durations["thin"], durations["wide"]


def auc(few: list[float], many: list[float]) -> float:
    """How often the second is the larger, with ties for half."""
    ranks = rankdata(np.concatenate([few, many]))[len(few) :]
    return float((ranks.sum() - len(many) * (len(many) + 1) / 2) / (len(few) * len(many)))


def test_the_measure() -> None:
    assert auc([1.0, 2.0], [1.0, 2.0]) == 0.5
    assert auc([1.0, 2.0, 3.0], [4.0, 5.0]) == 1.0
    assert auc([4.0, 5.0], [1.0, 2.0, 3.0]) == 0.0
    assert auc([1.0, 1.0], [1.0, math.inf]) == 0.75
    assert auc([math.inf, math.inf], [math.inf, math.inf]) == 0.5


@pytest.mark.slow
def test_padded_replies_cannot_be_told_apart(tmp_path: Path) -> None:
    with served(tmp_path, 0.025, padded=True) as (url, token):
        few, many = times(url, token, 10_000)
    assert len(few) == len(many) == 10_000
    assert np.isinf([*few, *many]).sum() < 200  # else the class is too short to say anything
    area = auc(few, many)
    print(f"AUC {area:.4f}, {np.isinf(few).sum()} and {np.isinf(many).sum()} overruns")
    assert 0.48 <= area <= 0.52


@pytest.mark.slow
def test_without_padding_they_can(tmp_path: Path) -> None:
    with served(tmp_path, 1, padded=False) as (url, token):
        area = auc(*times(url, token, 1_000))
    print(f"AUC {area:.4f}")
    assert area >= 0.75
