"""Classes follow from public facts, and a reply leaves when its class says so."""

from __future__ import annotations

import asyncio

import pytest

from sfumato.server.padding import deadline_class, held, padded, until, worker_time

CLASSES = (0.25, 1.0, 4.0, 16.0)
UNDECLARED = 2**40  # the rows of a table of which nothing is declared


@pytest.mark.parametrize(
    ("declared", "rows", "parts", "found"),
    [
        (None, UNDECLARED, 1, 16.0),
        (None, 1, 1, 0.25),
        (None, 10**5, 4, 0.25),
        (None, 10**7, 1, 4.0),
        (None, 10**7, 12, 16.0),
        (None, 10**12 // 2, 1, 16.0),
        (0.25, 10**9, 50, 0.25),
        (0.3, 10, 1, 1.0),
        (100, 10, 1, 16.0),
    ],
)
def test_the_class_of_a_question(declared: float | None, rows: int, parts: int, found: float) -> None:
    assert deadline_class(CLASSES, declared=declared, table_rows=rows, parts=parts) == found


@pytest.mark.parametrize("of_class", [0.025, *CLASSES])
def test_a_worker_has_less_than_its_class(of_class: float) -> None:
    stored = held(of_class)
    assert stored is not None
    assert 0 < worker_time(stored) < stored < worker_time(of_class) < padded(of_class) == of_class


def test_waiting_ends_at_its_moment() -> None:
    async def wait(seconds: float) -> float:
        loop = asyncio.get_running_loop()
        moment = loop.time() + seconds
        await until(moment)
        return loop.time() - moment

    assert asyncio.run(wait(0.02)) >= 0
    assert asyncio.run(wait(-1)) >= 1  # a moment that is over is not waited for
