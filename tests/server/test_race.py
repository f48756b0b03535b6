"""Many clients for the last of a budget, through several processes of one service; and the same while processes are killed.

*Spent*     never more than the budget, and each answer was charged: its receipt is in the book, which holds.
*Stored*    whoever comes again under a key gets the same bytes, however many processes have ended since.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import httpx
import pytest

from .storm import Served, Storm, serving, several

pytestmark = pytest.mark.xdist_group("server-race")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Four processes. The visits have room for sixteen answers, the clinic for as many as there will be."""
    with several(tmp_path_factory.mktemp("race"), 4, deadline="[4]", budget="100000") as found:
        yield found


def looked(service: Served, path: str, who: str) -> Any:
    return httpx.get(service.url + path, headers=service.made.header(who), timeout=120).json()


def entries(service: Served, dataset: str, who: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = looked(service, f"/api/datasets/{dataset}/history?after={after}&limit=200", who)
        found, after = found + page["entries"], page["next"]
    return found


def check(service: Served, storm: Storm, owner: str) -> int:
    """What has to be true of the book and of every answer; how many charges there are."""
    charges = {one["number"]: one for one in entries(service, storm.dataset, owner) if one["kind"] == "charge"}
    assert looked(service, f"/api/datasets/{storm.dataset}/verify", owner)["holds"]
    assert len({one.receipt for one in storm.told}) == len(storm.told)
    assert {one.receipt: one.who for one in storm.told}.items() <= {number: one["who"] for number, one in charges.items()}.items()
    storm.stop.clear()
    for one in storm.told:
        again = storm.settled(one.who, one.key, one.body)
        assert again is not None
        assert again.content == one.content
    return len(charges)


def test_eight_clients_for_the_last_budget(service: Served) -> None:
    clients = {str(i): ("ada", "bob")[i % 2] for i in range(8)}
    storm = Storm(service, "visits", "age", "12500/2", clients)  # of 100,000: sixteen
    for thread in storm.begin():
        thread.join(300)
        assert not thread.is_alive()
    spent = looked(service, "/api/datasets/visits/budget", "owner")["spent"]["epsilon"]
    assert storm.ends["budget.exceeded"] == 8
    assert set(storm.ends) <= {"answered", "budget.exceeded", "server.deadline"}
    assert Fraction(spent) == 100_000
    assert check(service, storm, "owner") == 16 == len(storm.told) + storm.ends["server.deadline"]


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_under_load(service: Served, kills: int) -> None:
    """One of the processes that serve or read data is killed at a random moment, again and again; those that watch over them start others."""
    chance = random.Random(kills)
    storm = Storm(service, "clinic", "stay", "0.125", dict.fromkeys(map(str, range(8)), "clinic-ada"))
    before = sum(one["kind"] == "charge" for one in entries(service, "clinic", "clinic-owner"))
    threads = storm.begin()
    for _ in range(kills):
        time.sleep(chance.uniform(0.05, 0.6))
        victim = chance.choice(serving(service.process.pid) or [0])
        if victim:
            os.kill(victim, signal.SIGKILL)
    answered = len(storm.told)
    end = time.monotonic() + 240
    while len(storm.told) < answered + 8 and time.monotonic() < end:  # it answers again
        time.sleep(0.1)
    storm.stop.set()
    for thread in threads:
        thread.join(120)
    assert len(storm.told) >= answered + 8
    assert set(storm.ends) <= {"answered", "server.deadline", "server.lost"}
    charges = check(service, storm, "clinic-owner") - before
    assert len(storm.told) <= charges <= len(storm.told) + 8 * (kills + 1)
    assert service.process.poll() is None
