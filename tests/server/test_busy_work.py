"""A worker uses its processors from the charge of a question to the end of its time, whatever the
question met: a slow row is not seen by a busy processor.

What is compared is for how long its processes used a processor or waited for one: that is the same
on a quiet and on a busy machine.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sfumato.server.datasets import open_dataset
from sfumato.server.http.encode_replies import JSON
from sfumato.server.workers import worker_pool as pool_
from sfumato.server.workers.busy_work import Fillers, work_until
from sfumato.server.workers.worker_pool import Message, Worker

from .processes import alive, descendants, read_processor_demand, state, wait_for
from .service import Deployment, service

pytestmark = pytest.mark.xdist_group("server-busy")
SEAM = """
import time
from sfumato import release
from sfumato.server.workers import worker
true = release._tally


def tally(plan, *more):
    end = time.thread_time() + (0.15 if "71" in plan.text else 0.0)
    while time.thread_time() < end:
        pass
    if "72" in plan.text:
        raise RuntimeError
    return true(plan, *more)


release._tally = tally
{asleep}
worker.main()
"""
ASLEEP = "worker.work_until = lambda moment: time.sleep(max(0.0, moment - time.monotonic()))"
KINDS = {"quick": ("70", "answer"), "slow": ("71", "answer"), "failing": ("72", "failed")}
HELD, BUSY = 2.0, 2.5


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    busy_deployment = service(tmp_path_factory.mktemp("busy"))
    served = open_dataset(busy_deployment.config.datasets["visits"])
    served.share("ada")
    served.close()
    open_dataset(busy_deployment.config.datasets["clinic"]).close()
    return busy_deployment


def used(
    deployment: Deployment, kinds: list[str], asleep: str = ""
) -> dict[str, tuple[float, float]]:
    """By kind of question: for how many seconds, from its charge on, the worker wanted a processor;
    and the process that fills it.
    """
    demands = {}

    async def ask(worker: Worker, kind: str) -> None:
        process = worker._process
        assert process is not None
        (filler,) = descendants(process.pid)
        number, ended = KINDS[kind]
        question = {
            "sql": f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}",
            "epsilon": 2 if asleep else 1,
        }
        message: dict[str, Any] = {
            "dataset": "visits",
            "who": "ada",
            "question": question,
            "media": JSON,
            "timeout": 30.0,
            "recall": False,
        }
        before: list[float] = []

        async def read_and_measure(self: Worker) -> Message:
            reply = await usual(self)
            if reply.kind == "charged":
                before.extend(map(read_processor_demand, (process.pid, filler)))
            return reply

        usual = Worker._read_message
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Worker, "_read_message", read_and_measure)
            reply, charged = await worker.ask({**message, "held": HELD, "busy": BUSY}, 60, 60)
        assert reply.kind == ended
        assert charged is not None
        await asyncio.sleep(max(0.0, charged + BUSY + 0.1 - asyncio.get_running_loop().time()))
        assert wait_for(lambda: state(process.pid) == state(filler) == "S")
        after = list(map(read_processor_demand, (process.pid, filler)))
        demands[kind] = after[0] - before[0], after[1] - before[1]

    async def live() -> None:
        worker = Worker(deployment.config)
        await worker.ready()
        try:
            for kind in kinds:
                await ask(worker, kind)
        finally:
            await worker.end()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            pool_, "command", lambda: (sys.executable, "-P", "-c", SEAM.format(asleep=asleep))
        )
        patch.setattr(pool_, "reading_processors", lambda: (max(os.sched_getaffinity(0)),))
        asyncio.run(live())
    return demands


def test_a_worker_is_as_busy_whatever_a_question_met(deployment: Deployment) -> None:
    """A slow row is not seen by a busy processor: nor is a question that failed at once."""
    for worker, filler in used(deployment, list(KINDS)).values():
        assert worker > 0.75 * BUSY  # it waits for the disk of the ledger
        assert filler > 0.95 * BUSY


def test_a_worker_that_sleeps_would_tell(deployment: Deployment) -> None:
    """The twin."""
    ((worker, _),) = used(deployment, ["quick"], ASLEEP).values()
    assert worker < 0.5 * BUSY


def test_working_until_a_moment() -> None:
    begun, used = time.monotonic(), read_processor_demand(os.getpid())
    work_until(begun + 0.3)
    assert time.monotonic() >= begun + 0.3
    assert read_processor_demand(os.getpid()) - used > 0.25
    work_until(begun)  # which is over
    assert time.monotonic() < begun + 30


def test_fillers_are_idle_until_they_are_told_and_then_keep_to_their_processor() -> None:
    processor = max(os.sched_getaffinity(0))
    fillers = Fillers([processor])
    (filler,) = (process.pid for process in fillers.processes)
    try:
        assert wait_for(
            lambda: os.sched_getscheduler(filler) == os.SCHED_IDLE and state(filler) == "S"
        )
        assert os.sched_getaffinity(filler) == {processor}
        before = read_processor_demand(filler)
        time.sleep(0.2)
        assert read_processor_demand(filler) == pytest.approx(before, abs=0.05)
        fillers(time.monotonic() + 0.5)
        time.sleep(0.6)
        assert wait_for(lambda: state(filler) == "S")
        assert read_processor_demand(filler) - before > 0.45
    finally:
        fillers.close()
    assert not alive(filler)


def test_fillers_end_with_who_started_them(tmp_path: Path) -> None:
    script = (
        "import os, time\nfrom sfumato.server.workers.busy_work import Fillers\nfillers = "
        "Fillers(os.sched_getaffinity(0))\nfillers(time.monotonic() + 600)\n"
    )
    script += "print(*(filler.pid for filler in fillers.processes), flush=True)\ntime.sleep(600)"
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    parent.stdout.close()
    assert wait_for(lambda: all(os.sched_getscheduler(pid) == os.SCHED_IDLE for pid in pids))
    parent.kill()
    parent.wait()
    assert wait_for(lambda: not any(map(alive, pids)), 10)
