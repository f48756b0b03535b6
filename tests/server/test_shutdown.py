"""The end of the service is told at once to what runs long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType

import httpx
import pytest

from sfumato.guarantees import Pure
from sfumato.ledger import Ledger
from sfumato.server.run_service import GRACE
from sfumato.server.service import CuratorService
from sfumato.server.workers.shutdown import set_on_signal
from sfumato.testing.ledger_fixtures import fill

from .service import free_port, service

pytestmark = pytest.mark.xdist_group("server-running")
SLOW = """
import time
from sfumato.ledger import verify
from sfumato.server.workers.worker_pool import Pool
true = verify._check_entry
def slowly(*more):
    open(BEGUN, "w").close()
    time.sleep(0.01)
    return true(*more)
verify._check_entry = slowly
async def start(_): ...
Pool.start = start
from sfumato.server.run_service import run
"""
"""A service whose checks of a book of 6,000 entries take twice the grace time at least."""


def test_a_signal_ends_the_service_in_its_grace_time_while_a_book_is_checked(
    tmp_path: Path,
) -> None:
    """It stayed for as long as the check took, which was hours: the threads of a process are waited
    for at its end.
    """
    deployment = service(tmp_path, port=free_port())
    CuratorService(deployment.config).close()
    ledger = Ledger.open(deployment.config.datasets["visits"].ledger, dataset="visits")
    fill(ledger, 6_000, Pure("1e-4"))
    ledger.close()
    url = f"http://127.0.0.1:{deployment.config.port}/api"
    begun = tmp_path / "begun"
    script = f"BEGUN = {str(begun)!r}{SLOW}run({str(deployment.path)!r})"
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                httpx.get(f"{url}/health", timeout=5)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        statuses: list[int] = []

        def ask() -> None:
            statuses.append(
                httpx.get(
                    f"{url}/datasets/visits/verify", headers=deployment.header("owner"), timeout=400
                ).status_code
            )

        asking = threading.Thread(target=ask)
        asking.start()
        while not begun.exists():
            assert asking.is_alive()
            time.sleep(0.05)
        assert process.poll() is None
        start = time.monotonic()
        process.terminate()
        process.wait(GRACE)
        asking.join(10)
        assert time.monotonic() - start < GRACE
        assert statuses == [503]
    finally:
        process.kill()
        process.wait()


def test_what_a_signal_did_before_it_still_does() -> None:
    signals: list[int] = []

    def record_signal(number: int, _: FrameType | None) -> None:
        signals.append(number)

    before = {
        number: signal.signal(number, record_signal) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        ending = threading.Event()
        with set_on_signal(ending):
            assert not ending.is_set()
            os.kill(os.getpid(), signal.SIGTERM)
            assert ending.wait(5)
        assert signals == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGTERM) is record_signal
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_thread_that_is_not_the_first_sets_no_handler() -> None:
    before, during = signal.getsignal(signal.SIGTERM), []

    def elsewhere() -> None:
        with set_on_signal(threading.Event()):
            during.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert during == [before]
