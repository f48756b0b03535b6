"""Workers as processes: one question at a time, ended when late, followed by another."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from sfumato.server.datasets import open_dataset
from sfumato.server.http.encode_replies import JSON
from sfumato.server.workers import worker_pool as pool_
from sfumato.server.workers.worker import READY
from sfumato.server.workers.worker_pool import LATE, Message, Pool, Worker

from .service import Deployment, service

pytestmark = pytest.mark.xdist_group("server-pool")
MESSAGE: dict[str, Any] = {
    "dataset": "visits",
    "who": "ada",
    "question": {"sql": "SELECT age FROM visits", "epsilon": 1},
}
MESSAGE |= {"media": JSON, "timeout": 30.0, "recall": False}


async def stopped_once_charged(worker: Worker) -> Message:
    """What a worker says; one that says that it has charged is stopped there, as if the data took
    for ever.
    """
    message = await read_from_worker(worker)
    if message.kind == "charged" and worker._process is not None:
        os.kill(worker._process.pid, signal.SIGSTOP)
    return message


read_from_worker = Worker._read_message


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    pool_deployment = service(tmp_path_factory.mktemp("pool"))
    for about in pool_deployment.config.datasets.values():
        open_dataset(about).close()  # the books, which a worker does not begin
    return pool_deployment


def test_a_life_of_a_worker(deployment: Deployment) -> None:
    async def live() -> None:
        pool = Pool(deployment.config)
        await pool.start()
        worker = await pool.take(5, "ada")
        first = worker._process
        assert first is not None
        assert (await worker.ask(MESSAGE, 60, 60)).message.kind == "refused"
        with pytest.raises(TimeoutError):  # one worker, which is taken
            await pool.take(0.05, "bob")
        os.kill(first.pid, signal.SIGSTOP)
        assert await worker.ask(MESSAGE, 0.2, 60) == (LATE, None)  # it did not even charge
        assert first.returncode == -signal.SIGKILL
        pool.give(worker, "ada")
        again = await pool.take(120, "ada")
        assert again._process is not None
        assert again._process.pid != first.pid
        again._process.kill()  # it ended by itself, as one does that has no memory left
        assert await again.ask(MESSAGE, 30, 30) == (LATE, None)
        await pool.stop()

    asyncio.run(live())


def test_time_begins_with_the_charge(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {
        **MESSAGE,
        "question": {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1},
        "who": "bob",
    }

    async def live() -> None:
        worker = Worker(deployment.config)
        await worker.ready()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        reply, charged = await worker.ask(request, 60, 60)
        assert reply.kind == "answer"
        assert charged is not None
        assert begun < charged < loop.time()
        assert reply.entry is not None
        again = await worker.ask(request, 60, 60)
        assert (again.charged, again.message.entry) == (
            None,
            reply.entry,
        )  # it was stored: nothing is read
        second_request = {
            **request,
            "question": {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 2},
        }
        monkeypatch.setattr(Worker, "_read_message", stopped_once_charged)
        reply, charged = await worker.ask(second_request, 60, 0.05)
        monkeypatch.undo()
        assert reply is LATE
        assert charged is not None
        await worker.end()

    served = open_dataset(deployment.config.datasets["visits"])
    served.share("bob")
    asyncio.run(live())
    assert [entry.kind for entry in served.ledger.history() if entry.share == "bob"] == [
        "share",
        "charge",
        "answer",
        "charge",
    ]
    served.close()


@pytest.mark.parametrize(
    ("news", "kind"),
    [(["charged", "made"], "answer"), (["charged"], "late"), (["charged", "charged"], "late")],
)
def test_what_was_made_in_time_may_be_stored_a_little_later(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, news: list[str], kind: str
) -> None:
    """Storing takes longer than is left of the class: a slow disk says nothing about data. What was
    not made by then is late.
    """
    kinds = iter(news)

    async def read_message(_: Worker) -> Message:
        if (word := next(kinds, None)) is not None:
            return Message(word, {})
        await asyncio.sleep(0.3)
        return Message("answer", {})

    async def tell(*_: object) -> None: ...

    monkeypatch.setattr(Worker, "_read_message", read_message)
    monkeypatch.setattr(Worker, "_send", tell)
    outcome = asyncio.run(Worker(deployment.config).ask(MESSAGE, 60, 0.1))
    assert outcome.message.kind == kind
    assert outcome.charged is not None


BREAKS = {"late": signal.SIGSTOP, "ended": signal.SIGKILL, "failed": signal.SIGCONT}
IDLE = f"""#!/bin/sh
read -r config
printf '%s' '{READY.decode()}'
exec cat > /dev/null
"""
"""In place of Python: a worker that opens nothing, is ready at once, and listens until its parent
ends.
"""


@pytest.mark.parametrize("how", BREAKS)
def test_after_an_overrun_a_slot_rests_as_long_whatever_broke(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    idle = tmp_path / "idle"
    idle.write_text(IDLE, encoding="ascii")
    idle.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(idle))
    monkeypatch.setattr(pool_, "REST", 0.5)

    async def live() -> None:
        pool = Pool(deployment.config)
        await pool.start()
        worker, loop = await pool.take(5, "ada"), asyncio.get_running_loop()
        first = worker._process
        assert first is not None
        os.kill(first.pid, BREAKS[how])
        if how == "late":
            worker._late = True  # it has charged, and owes a reply
        given_at = loop.time()
        pool.give(worker, "ada", overran=True)
        again = await pool.take(120, "ada")
        assert loop.time() - given_at >= 0.5
        assert again._process is not None
        assert again._process.pid != first.pid
        assert again._late is False
        await pool.stop()

    asyncio.run(live())


def test_a_worker_that_did_not_make_its_answer_in_time_is_ended_at_once(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would work on, for as long as the data take: how a question overran would be seen by a
    busy processor.
    """
    request = {
        **MESSAGE,
        "question": {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 3},
        "held": 30.0,
        "busy": 30.0,
    }

    async def live() -> None:
        worker = Worker(deployment.config)
        await worker.ready()
        process = worker._process
        assert process is not None
        reply, charged = await worker.ask(request, 60, 0.1)
        assert reply is LATE
        assert charged is not None
        assert process.returncode == -signal.SIGKILL

    served = open_dataset(deployment.config.datasets["visits"])
    served.share("ada")
    served.close()
    asyncio.run(live())


def test_a_worker_imports_nothing_from_the_working_directory(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file called duckdb.py where the service is started is not run."""
    for name in ("duckdb", "json", "pyarrow", "sfumato"):
        (tmp_path / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\nraise SystemExit(3)\n",
            encoding="utf-8",
        )
    monkeypatch.chdir(tmp_path)

    async def live() -> None:
        worker = Worker(deployment.config)
        await worker.ready()
        await worker.end()

    asyncio.run(live())
    assert not (tmp_path / "ran").exists()


def test_a_worker_that_cannot_start_is_an_error(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def live() -> None:
        worker = Worker(deployment.config)
        monkeypatch.setattr("sys.executable", "/bin/true")
        with pytest.raises((RuntimeError, asyncio.IncompleteReadError, OSError)):
            await worker.ready()
        assert worker._process is None

    asyncio.run(live())


def test_a_worker_ends_with_its_parent(deployment: Deployment) -> None:
    async def live() -> int:
        worker = Worker(deployment.config)
        await worker.ready()
        process = worker._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(60):
            exit_code = await process.wait()
        await worker.end()
        return exit_code

    assert asyncio.run(live()) == 0
