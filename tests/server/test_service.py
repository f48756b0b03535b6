"""What is foreign is not there; what is there may be for another role."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sfumato.errors import Refused
from sfumato.guarantees import Pure
from sfumato.ledger import Ledger
from sfumato.server.http.problems import ROLE, UNKNOWN, Problem, ProblemError
from sfumato.server.request_store import KEEP, RequestKey
from sfumato.server.roles import ALL, OWNER, Asker
from sfumato.server.service import CuratorService

from .service import service

ADA = Asker("ada", "analyst", frozenset({"visits", "gone"}), 0)


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CuratorService]:
    curator_service = CuratorService(service(tmp_path_factory.mktemp("curator")).config)
    yield curator_service
    curator_service.close()


@pytest.mark.parametrize(
    ("name", "roles", "problem"),
    [
        ("clinic", ALL, UNKNOWN),
        ("clinic", OWNER, UNKNOWN),
        ("nothing", OWNER, UNKNOWN),
        ("gone", ALL, UNKNOWN),
        ("visits", OWNER, ROLE),
    ],
)
def test_what_is_not_for_a_token(
    curator: CuratorService, name: str, roles: frozenset[str], problem: Problem
) -> None:
    with pytest.raises(ProblemError) as caught:
        curator.dataset(ADA, name, roles)
    assert caught.value.problem is problem


def test_what_is(curator: CuratorService) -> None:
    assert curator.dataset(ADA, "visits", ALL) is curator.served["visits"]


def test_descriptions(curator: CuratorService) -> None:
    assert repr(curator) == f"<sfumato service of {', '.join(curator.served)}>"
    assert repr(curator.served["visits"]).startswith("<sfumato dataset visits: <sfumato ledger of ")


def test_an_older_ledger_put_back_between_two_starts_is_refused(tmp_path: Path) -> None:
    """What was spent since was to be had again, while the records knew of its entries and still
    gave the replies.
    """
    config = service(tmp_path, budget="1").config
    ledger = Path(config.datasets["visits"].ledger)
    first = CuratorService(config)
    first.close()
    old = ledger.read_bytes()
    second = CuratorService(config)
    spend(second, "a")
    second.close()
    last = ledger.read_bytes()
    for content in (old, None):
        ledger.write_bytes(content) if content is not None else ledger.unlink()
        with pytest.raises(Refused) as caught:
            CuratorService(config)
        assert caught.value.code == "ledger.head"
        assert "visits" in caught.value.place
        assert not ledger.exists() or ledger.read_bytes() == content
    ledger.write_bytes(last)
    CuratorService(config).close()


def test_an_older_ledger_put_in_place_while_the_service_runs_is_refused(tmp_path: Path) -> None:
    """By a process that was started since, too: what it does not know, the records do."""
    config = service(tmp_path, budget="1").config
    ledger = Path(config.datasets["visits"].ledger)
    first = CuratorService(config)
    first.close()
    old = ledger.read_bytes()
    running = CuratorService(config)
    spend(running, "a")
    for served in running.served.values():
        served.ledger.close()
        served.long.close()
    for left in tmp_path.glob("curator.ledger-*"):
        left.unlink()
    ledger.write_bytes(old)  # the same file, with what it held before
    served = running.served["visits"]
    fresh = Ledger.open(
        config.datasets["visits"].ledger, dataset="visits"
    )  # as a worker that was started anew would open it
    running.state._ledgers["visits"] = fresh
    with pytest.raises(Refused) as caught:
        running.state.begin(RequestKey("visits", "ada", "b"), "digest", time.time() + 60)
    assert caught.value.code == "ledger.head"
    with pytest.raises(Refused):
        served.ledger.charge(Pure("0.1"))
    fresh.close()
    running.close()


def test_the_head_is_kept_with_every_reply_and_never_goes_back(curator: CuratorService) -> None:
    spend(curator, "one")
    head = curator.served["visits"].ledger.head
    assert curator.state.head("visits") == head
    assert curator.state.head("nothing") is None
    with curator.state._writing() as run:
        run(KEEP, ("visits", 1, "0:1:" + "0" * 64))
    assert curator.state.head("visits") == head


def spend(curator: CuratorService, key: str) -> None:
    """As a release does: charged, and then the reply is stored."""
    request = RequestKey("visits", "ada", key)
    assert curator.state.begin(request, "digest", time.time() + 60)
    receipt = curator.served["visits"].ledger.charge(Pure("0.3"))
    curator.state.store(request, {"a": b"reply"}, entry=receipt.number)


def test_a_dataset_that_cannot_be_opened_stops_the_service(tmp_path: Path) -> None:
    config = service(tmp_path).config
    broken = replace(config.datasets["clinic"], source=str(tmp_path / "nowhere.parquet"))
    with pytest.raises(Refused):
        CuratorService(replace(config, datasets={**config.datasets, "clinic": broken}))
