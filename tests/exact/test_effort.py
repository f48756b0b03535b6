"""A limit on the processor time of planning: what exceeds it is refused, whatever is caught in
between.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.exact import effort
from sfumato.session import Table

HEAVY = (
    "SELECT SUM(CASE "
    + " ".join(f"WHEN n = {i} THEN {i}" for i in range(450))
    + " ELSE 0 END) AS s FROM v"
)


def compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def planned(table: Table, text: str, seconds: float, **how: Any) -> None:
    with effort.limited(seconds):
        table.plan(text, **how).error()


def test_without_a_limit_nothing_is_refused() -> None:
    compute(0.02)
    effort.check()


def test_whoever_computes_too_long_is_refused() -> None:
    after = []

    def late() -> None:
        with effort.limited(0.01):
            effort.check()
            compute(0.02)
            effort.check()
            after.append("the limit was not seen")

    with pytest.raises(Refused) as caught:
        late()
    assert after == []
    assert caught.value.code == "plan.effort"
    assert "0.01 seconds" in caught.value.reason
    effort.check()  # the limit ended with the block


def test_a_refusal_that_is_caught_inside_is_told_all_the_same() -> None:
    """A search takes a refusal for a candidate that does not work: its result would be another one
    than without a limit.
    """

    def searched() -> None:
        with effort.limited(0.01):
            compute(0.02)
            with suppress(Refused):
                effort.check()

    def reworded() -> None:
        with effort.limited(0.01):
            compute(0.02)
            raise Refused("sql.unsupported", "this text", "something else", "")

    for swallowing in (searched, reworded):
        with pytest.raises(Refused) as caught:
            swallowing()
        assert caught.value.code == "plan.effort"


def test_a_limit_is_of_one_thread_and_of_its_processor_time() -> None:
    ended = []
    with effort.limited(0.05):
        time.sleep(0.1)  # others computed meanwhile
        effort.check()
        thread = threading.Thread(target=lambda: (compute(0.1), effort.check(), ended.append(True)))
        thread.start()
        thread.join()
    assert ended == [True]


def test_planning_ends_soon_after_its_limit() -> None:
    """A question that takes long to plan stops at its limit: reading its text, its types, the
    search for an accuracy and the errors of columns all check it.
    """
    rows = pa.table({"u": [1, 2], "n": [1, 2], "x": [1.0, 2.0]})
    many = ", ".join(f"{level / 1000:.3f}" for level in range(1, 201))
    with sf.protect(
        rows, name="v", unit="u", budget=1, max_rows=1, bounds={"x": (0, 100)}
    ) as table:
        for text, how in (
            (HEAVY, {"within": 100}),
            (HEAVY, {"epsilon": 0.1}),
            (f"SELECT QUANTILES(x, [{many}]) AS q FROM v", {"epsilon": 0.1}),
        ):
            took = []
            for _ in range(3):  # the least: a collection of garbage may fall into one of them
                begun = time.thread_time()
                with pytest.raises(Refused) as caught:
                    planned(table, text, 0.05, **how)
                took.append(time.thread_time() - begun)
                assert caught.value.code == "plan.effort"
            assert min(took) < 0.5


def test_an_error_within_the_limit_is_passed_on() -> None:
    with pytest.raises(ZeroDivisionError), effort.limited(60.0):
        raise ZeroDivisionError
