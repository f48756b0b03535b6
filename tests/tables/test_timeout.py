"""Time-outs: nothing without one, an interrupt that is repeated until it is heard, and an error
that says nothing.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest

from sfumato.tables.engine.timeout import check_timeout, deadline

from ..refusing import refusal


class Query:
    """Runs until it is interrupted, and forgets the interrupts that come before it has begun to
    listen.
    """

    def __init__(self, deaf: int = 0) -> None:
        self.heard, self.deaf = threading.Event(), deaf

    def interrupt(self) -> None:
        self.deaf -= 1
        if self.deaf < 0:
            self.heard.set()

    def run(self) -> None:
        self.heard.wait()
        raise RuntimeError("Interrupted while reading the row of Ada Lovelace")


@pytest.mark.parametrize("deaf", [0, 5])
def test_a_query_is_interrupted_until_it_hears(deaf: int) -> None:
    query = Query(deaf)
    with pytest.raises(TimeoutError) as caught, deadline(0.01, query.interrupt):
        query.run()
    assert "Ada" not in f"{caught.value}"
    assert caught.value.__suppress_context__


def test_in_time_nothing_happens() -> None:
    query = Query()
    with deadline(600, query.interrupt):
        pass
    with deadline(None, query.interrupt):
        pass
    assert not query.heard.is_set()


@pytest.mark.parametrize("seconds", [None, 600])
def test_other_errors_stay_what_they_are(seconds: float | None) -> None:
    with pytest.raises(ZeroDivisionError), deadline(seconds, Query().interrupt):
        raise ZeroDivisionError


def test_an_interrupt_that_fails_is_tried_again() -> None:
    query, tries = Query(), []

    def interrupt() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise OSError
        query.interrupt()

    with pytest.raises(TimeoutError), deadline(0.01, interrupt):
        query.run()


@pytest.mark.parametrize(("timeout", "expected"), [(None, None), (1, 1.0), (0.5, 0.5)])
def test_times(timeout: Any, expected: Any) -> None:
    assert check_timeout(timeout) == expected


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e30, "5", True, [1]])
def test_what_is_no_time_is_refused(timeout: Any) -> None:
    refusal(lambda: check_timeout(timeout), "engine.timeout")
