"""Many clients for the last of a budget, through several processes of one service; and the same
while processes are killed.

*Spent*     never more than the budget, and each answer was charged: its receipt is in the book,
            which holds.
*Stored*    whoever comes again under a key gets the same bytes, however many processes have ended
            since.
To run the long one alone, and read what was found: pytest -s -m slow tests/server/test_race.py -k
killed
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from ..ledger.servers import running
from .storm import Served, Storm, serving, several

pytestmark = pytest.mark.xdist_group("server-race")
BURST = 20  # processes killed one after the other before some questions are answered again


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Three processes. The visits have room for twelve answers, the clinic for as many as there
    will be. An overrun is no mistake here.
    """
    with several(
        tmp_path_factory.mktemp("race"), 3, deadline="[1]", budget="100000"
    ) as running_service:
        yield running_service


def looked(service: Served, path: str, who: str) -> Any:
    return httpx.get(service.url + path, headers=service.deployment.header(who), timeout=120).json()


def entries(service: Served, dataset: str, who: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = looked(service, f"/api/datasets/{dataset}/history?after={after}&limit=200", who)
        listed, after = listed + page["entries"], page["next"]
    return listed


def check(service: Served, storm: Storm, owner: str) -> int:
    """What has to be true of the book and of every answer; how many charges there are."""
    charges = {
        entry["number"]: entry
        for entry in entries(service, storm.dataset, owner)
        if entry["kind"] == "charge"
    }
    assert looked(service, f"/api/datasets/{storm.dataset}/verify", owner)["holds"]
    assert len({answer.receipt for answer in storm.answers}) == len(storm.answers)
    assert {answer.receipt: answer.who for answer in storm.answers}.items() <= {
        number: charge["who"] for number, charge in charges.items()
    }.items()
    storm.stop.clear()
    for answer in storm.answers:
        again = storm.settled(answer.who, answer.key, answer.body)
        assert again is not None
        assert again.content == answer.content
    return len(charges)


def raced(service: Served) -> None:
    """Let eight clients ask until the service refuses each of them for lack of budget."""
    storm = Storm(
        service, "visits", "age", "25000/3", {str(i): ("ada", "bob")[i % 2] for i in range(8)}
    )  # of 100,000: twelve
    for thread in storm.begin():
        thread.join(300)
        assert not thread.is_alive()
    spent = looked(service, "/api/datasets/visits/budget", "owner")["spent"]["epsilon"]
    assert storm.answers
    assert storm.ends["budget.exceeded"] == 8
    assert set(storm.ends) <= {"answered", "budget.exceeded", "server.deadline"}
    assert Fraction(spent) == 100_000
    assert (
        check(service, storm, "owner") == 12 == len(storm.answers) + storm.ends["server.deadline"]
    )


def test_eight_clients_for_the_last_budget(service: Served) -> None:
    raced(service)


@pytest.mark.slow
def test_eight_clients_for_the_last_budget_on_postgresql(tmp_path: Path) -> None:
    """The ledger and the records in one database, as hosts share them."""
    with (
        running() as server,
        several(
            tmp_path, 4, deadline="[4]", budget="100000", place=server.new()
        ) as running_service,
    ):
        raced(running_service)
    assert not [path.name for path in tmp_path.iterdir() if path.suffix in (".ledger", ".db")]


def grown(storm: Storm, answers: int, seconds: float) -> None:
    """Wait until so many more answers were given, for a time."""
    goal, end = len(storm.answers) + answers, time.monotonic() + seconds
    while len(storm.answers) < goal and time.monotonic() < end:
        time.sleep(0.1)


@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_under_load(service: Served, kills: int) -> None:
    """One of the processes that serve or read data is killed at a random moment, again and again;
    those that watch over them start others.
    """
    chance, killed, begun = random.Random(kills), 0, time.monotonic()
    storm = Storm(
        service,
        "clinic",
        "stay",
        "1/8",
        dict.fromkeys(map(str, range(8)), "clinic-ada"),
        first=100_000 * kills,
    )
    before = sum(entry["kind"] == "charge" for entry in entries(service, "clinic", "clinic-owner"))
    threads = storm.begin()
    while killed < kills:
        time.sleep(chance.uniform(0.05, 0.45))
        assert service.process.poll() is None
        if pids := serving(service.process.pid):
            with suppress(ProcessLookupError):  # it ended by itself just now
                os.kill(chance.choice(pids), signal.SIGKILL)
                killed += 1
        if (
            killed % BURST == 0 and killed < kills
        ):  # else most of them would hit processes that have only begun
            grown(storm, 4, 60)
    answered = len(storm.answers)
    grown(storm, 8, 240)  # it answers again
    storm.stop.set()
    for thread in threads:
        thread.join(120)
    under_load = storm.retries
    charges = check(service, storm, "clinic-owner") - before
    spent = Fraction(
        looked(service, "/api/datasets/clinic/budget", "clinic-owner")["spent"]["epsilon"]
    )
    counts = {
        "kills": killed,
        "seconds": round(time.monotonic() - begun),
        **storm.ends,
        "charges": charges,
        "retries under load": under_load,
    }
    report = {
        **counts,
        "answers asked for again, same bytes": len(storm.answers),
        "spent": str(spent),
        "spent beyond the charges": str(spent - Fraction(before + charges, 8)),
    }
    sys.stdout.write(f"\nkilled under load: {json.dumps(report)}\n")
    assert len(storm.answers) >= answered + 8
    assert set(storm.ends) <= {"answered", "server.deadline", "server.lost"}
    assert len(storm.answers) <= charges <= len(storm.answers) + 8 * (kills + 1)
    assert spent == Fraction(before + charges, 8) <= 100_000
    assert service.process.poll() is None
