"""Classes follow from public facts, and a reply leaves when its class says so."""

from __future__ import annotations

import asyncio

import pytest

from sfumato.errors import Refused
from sfumato.server.workers.deadlines import (
    deadline_class,
    reply_time,
    storing_time,
    wait_until,
    worker_time,
)

CLASSES = (0.25, 1.0, 4.0, 16.0)
UNDECLARED = 2**40  # the rows of a table of which nothing is declared


@pytest.mark.parametrize(
    ("declared", "rows", "parts", "expected"),
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
def test_the_class_of_a_question(
    declared: float | None, rows: int, parts: int, expected: float
) -> None:
    assert deadline_class(CLASSES, declared=declared, table_rows=rows, parts=parts) == expected


@pytest.mark.parametrize(
    ("declared", "row_work", "expected"),
    [
        (1, 1024, 1.0),
        (1, 1025, 4.0),
        (1, 4096, 4.0),
        (1, 16 * 1024, 16.0),
        (None, 900, 16.0),
        (None, 4096, 16.0),
    ],
)
def test_more_work_for_each_row_has_a_longer_class(
    declared: float | None, row_work: int, expected: float
) -> None:
    assert (
        deadline_class(
            CLASSES, declared=declared, table_rows=UNDECLARED, parts=1, row_work=row_work
        )
        == expected
    )


@pytest.mark.parametrize(("declared", "row_work"), [(1, 16 * 1024 + 1), (None, 4097), (16, 5000)])
def test_a_question_that_no_class_has_time_for_is_refused(
    declared: float | None, row_work: int
) -> None:
    """Else it would be ready in time only if some rows need not be computed, and that may be about
    one person.
    """
    with pytest.raises(Refused, match=r"server\.work"):
        deadline_class(
            CLASSES, declared=declared, table_rows=UNDECLARED, parts=1, row_work=row_work
        )


@pytest.mark.parametrize("of_class", [0.025, *CLASSES])
def test_a_worker_has_less_than_its_class(of_class: float) -> None:
    stored = storing_time(of_class)
    assert stored is not None
    assert (
        0 < worker_time(stored) < stored < worker_time(of_class) < reply_time(of_class) == of_class
    )


def test_waiting_ends_at_its_moment() -> None:
    async def wait(seconds: float) -> float:
        loop = asyncio.get_running_loop()
        moment = loop.time() + seconds
        await wait_until(moment)
        return loop.time() - moment

    assert asyncio.run(wait(0.02)) >= 0
    assert asyncio.run(wait(-1)) >= 1  # a moment that is over is not waited for
