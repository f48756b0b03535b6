"""The attack through a busy processor: does an analyst see, by the speed of the own requests, that
a release of the same moment met a slow row?

A service has two datasets with the same rows. In one of them a question takes `--slow` seconds of
processor time more, by a seam in the worker: the tally of the dataset `slow` works for so long, in
one of the ways of `WAYS`. Both are asked in a random order. While a release is in its class, two
connections of the same analyst send plans (or, at the default rates, requests for health), and
their latencies and numbers are kept.

A score compares requests early in the class with requests late in it. AUC is the probability that a
score of the slow dataset is the larger: one half, if nothing can be told. Its standard error is
that of two samples of one law, √((m + n + 1) / 12mn).

    python bench/probing.py                       # rates raised: plans as quickly as they are
    answered
    python bench/probing.py --rates default       # 380 requests for health in each class, then a
    rest
    python bench/probing.py --slow 0              # nothing is slow: what the measure itself finds
    python bench/probing.py --unguarded           # the twin: nobody is busy after the work, and all
    processes share all processors

The client is no part of the service, and on another machine in life: it runs on the processors that
serve, where it sees no more than they do.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import rankdata

from sfumato.server.config import load
from sfumato.server.request_store import RequestStore
from sfumato.server.tokens import create_token
from telling import say

NAMES = ("quick", "slow")
PROBED = "probed"
"""A third dataset, of which plans are asked for: what it knows follows from neither of the two."""
WAYS = ("python", "like", "memory")
TOML = """
[server]
port = {port}
deadlines = [{of_class}]
overruns_per_analyst = 1000000
most_releases = 1000000
{rates}
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
RAISED = "rate = { token = 1000000, address = 1000000 }"
SEAM = """
import time
import duckdb, numpy as np
from sfumato import release
from sfumato.server.workers import worker

connection = duckdb.connect(":memory:", config={{"threads": 1}})
large = np.ones(2**24)


def python():
    sum(range(2000))


def like():
    connection.execute("SELECT repeat('a', 800) LIKE '%a_%b'").fetchall()


def memory():
    large.sum()


def tally(plan, *more):
    end = time.thread_time() + ({seconds} if plan.query.rows.dataset == "slow" else 0.0)
    while time.thread_time() < end:
        {way}()
    return true(plan, *more)


true, release._tally = release._tally, tally
if {unguarded}:
    worker.work_until = lambda moment: time.sleep(max(0.0, moment - time.monotonic()))
worker.main()
"""
SERVE = """
import sys
from sfumato.server.workers import worker_pool
{unguarded}
worker_pool.command = lambda: (sys.executable, "-P", "-c", {seam!r})
from sfumato.server.run_service import run
run({path!r})
"""
UNGUARDED = """
from sfumato.server import releases, run_service
run_service.divide = lambda _: None
usual = releases._message
releases._message = lambda *given, **named: {**usual(*given, **named), "busy": None}
"""
SCORES = {
    "number, early over late": (0.08, 0.45, 0.6, 0.97, "number"),
    "latency, early over late": (0.08, 0.45, 0.6, 0.97, "latency"),
    "number, during the slow row over later": (0.02, 0.2, 0.25, 0.55, "number"),
    "latency, during the slow row over later": (0.02, 0.2, 0.25, 0.55, "latency"),
}
"""Parts of the class from and to, early and late. In the first two the late part is after the
moment of storing, in the others before it.
"""


class Connection:
    """A connection that is kept, with as little around it as may be."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> tuple[int, bytes]:
        self._socket.sendall(request)
        found = b""
        while b"\r\n\r\n" not in found:
            found += self._more()
        head, _, body = found.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += self._more()
        return int(head[9:12]), body

    def _more(self) -> bytes:
        if not (found := self._socket.recv(1 << 16)):
            raise OSError("the connection was closed")
        return found


def post(path: str, token: str, body: dict[str, str], key: str = "") -> bytes:
    text = json.dumps(body).encode()
    more = f"Idempotency-Key: {key}\r\n" if key else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: "
        f"application/json\r\n{more}Content-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


HEALTH = b"GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n"


@contextmanager
def served(folder: Path, given: argparse.Namespace) -> Iterator[tuple[int, str]]:
    who = np.arange(1000)
    for name in (*NAMES, PROBED):
        pq.write_table(pa.table({"who": who, "x": who * 0.618 % 10}), folder / f"{name}.parquet")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = folder / "sfumato.toml"
    text = TOML.format(
        port=port, of_class=given.of_class, rates=RAISED if given.rates == "raised" else ""
    )
    path.write_text(
        text + "".join(DATASET.format(name=name) for name in (*NAMES, PROBED)), encoding="utf-8"
    )
    state = RequestStore(load(path).tokens)
    token = create_token(state, name="ada", role="analyst")
    state.close()
    seam = SEAM.format(seconds=given.slow, way=given.way, unguarded=given.unguarded)
    script = SERVE.format(path=str(path), seam=seam, unguarded=UNGUARDED if given.unguarded else "")
    process = subprocess.Popen([sys.executable, "-c", script])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service ends with this script
    try:
        for _ in range(1200):
            try:
                Connection(port).ask(HEALTH)
                break
            except OSError:
                time.sleep(0.1)
        if not given.unguarded and len(serving := os.sched_getaffinity(process.pid)) < len(
            os.sched_getaffinity(0)
        ):
            os.sched_setaffinity(0, serving)
        yield port, token
    finally:
        process.terminate()
        process.wait(60)


def probed(
    port: int, request: bytes, begun: float, seconds: float, most: int
) -> list[tuple[float, float]]:
    """When each request of a connection left, and how long its reply took."""
    connection, found, pause = Connection(port), [], seconds / most if most else 0.0
    while (left := time.perf_counter()) < begun + seconds:
        connection.ask(request)
        now = time.perf_counter()
        found.append((left - begun, now - left))
        if pause:
            time.sleep(max(0.0, left + pause - now))
    return found


def score(found: np.ndarray, of_class: float, how: tuple[float, float, float, float, str]) -> float:
    *ends, what = how
    first, last, from_, to = (end * of_class for end in ends)
    early = found[(found[:, 0] >= first) & (found[:, 0] < last), 1]
    late = found[(found[:, 0] >= from_) & (found[:, 0] < to), 1]
    if not len(early) or not len(late):
        return 1.0
    return float(len(early) / len(late) if what == "number" else early.mean() / late.mean())


def auc(few: list[float], many: list[float]) -> float:
    ranks = rankdata(np.concatenate([few, many]))[len(few) :]
    return float((ranks.sum() - len(many) * (len(many) + 1) / 2) / (len(few) * len(many)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--rates", choices=("raised", "default"), default="raised")
    parser.add_argument("--way", choices=WAYS, default="like", help="what the slow row does")
    parser.add_argument(
        "--slow", type=float, default=0.1, help="seconds of processor time of the slow row"
    )
    parser.add_argument("--class", dest="of_class", type=float, default=1.0)
    parser.add_argument("--minutes", type=float, default=30, help="at most so many")
    parser.add_argument("--unguarded", action="store_true")
    given = parser.parse_args()
    chance, scores = (
        random.Random(),
        {what: {name: list[float]() for name in NAMES} for what in SCORES},
    )
    replies: dict[str, list[float]] = {name: [] for name in NAMES}
    load_before, requests, overruns = os.getloadavg()[0], 0, dict.fromkeys(NAMES, 0)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), given) as (port, token):
        probe, most = HEALTH, 190
        if given.rates == "raised":
            probe, most = (
                post(
                    f"/api/datasets/{PROBED}/plan",
                    token,
                    {"sql": f"SELECT SUM(x) AS s FROM {PROBED}", "epsilon": "1"},
                ),
                0,
            )
        end = time.monotonic() + 60 * given.minutes
        for place in range(-5, given.pairs):
            if time.monotonic() > end:
                break
            if place > 0 and place % 25 == 0:
                say(
                    f"{place} pairs, "
                    + ", ".join(f"{auc(*by.values()):.3f}" for by in (replies, *scores.values()))
                )
            for name in chance.sample(NAMES, 2):
                body = {
                    "sql": f"SELECT SUM(x) AS s FROM {name} WHERE x < {place + 100}",
                    "epsilon": "1",
                }
                release = post(f"/api/datasets/{name}/release", token, body, f"k{place}")
                connection, begun = Connection(port), time.perf_counter()
                found: list[tuple[float, float]] = []
                threads = [
                    threading.Thread(
                        target=lambda: found.extend(  # noqa: B023  # joined in this turn
                            probed(port, probe, begun, given.of_class, most)  # noqa: B023  # as above
                        )
                    )  # joined below
                    for _ in range(2)
                ]
                for thread in threads:
                    thread.start()
                status, text = connection.ask(release)
                took = time.perf_counter() - begun
                for thread in threads:
                    thread.join()
                assert status == 200 or json.loads(text)["code"] == "server.deadline", text
                time.sleep(0.05 if given.rates == "raised" else 3.4)
                if status != 200:
                    time.sleep(5)  # until there is another worker
                    overruns[name] += 1
                if (
                    place >= 0
                    # those that overran, too: without them the others would be chosen by how busy
                    # the
                    # machine was
                ):
                    replies[name].append(took)
                    requests += len(found)
                    for what, how in SCORES.items():
                        scores[what][name].append(score(np.array(found), given.of_class, how))
    few, many = (len(replies[name]) for name in NAMES)
    error = ((few + many + 1) / (12 * few * many)) ** 0.5
    print(
        f"{given.way}, {given.slow} s, class {given.of_class} s, rates "
        f"{given.rates}{', unguarded' if given.unguarded else ''}"
    )
    met = (
        f"{few} and {many} questions, {requests / (few + many):.0f} requests in each, "
        f"{' and '.join(map(str, overruns.values()))} overruns"
    )
    print(f"{met}, load {load_before:.1f} to {os.getloadavg()[0]:.1f}")
    print(f"AUC {auc(*replies.values()):.3f} ± {error:.3f}  time of replies")
    for what, by in scores.items():
        print(f"AUC {auc(*by.values()):.3f} ± {error:.3f}  {what}")


if __name__ == "__main__":
    main()
