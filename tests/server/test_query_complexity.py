"""What is counted of a question before it is planned."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from sqlglot.dialects.duckdb import DuckDB

from sfumato.errors import Refused
from sfumato.server import query_complexity
from sfumato.server.query_complexity import PARTS, check, count

WITHIN = {
    "columns": "SELECT "
    + ", ".join(f"SUM(x + {i}) AS c{i}" for i in range(query_complexity.MOST_COLUMNS))
    + " FROM v",
    "selects": "WITH a AS (SELECT u FROM v), "
    + ", ".join(f"b{i} AS (SELECT u FROM a)" for i in range(query_complexity.MOST_SELECTS - 2))
    + " SELECT COUNT(*) AS n FROM a",
    "branches": "SELECT SUM(CASE "
    + " ".join(f"WHEN n = {i} THEN 1" for i in range(query_complexity.MOST_BRANCHES))
    + " END) AS s FROM v",
    "listed": (
        f"SELECT COUNT(*) AS n FROM v WHERE n IN "
        f"({', '.join(map(str, range(query_complexity.MOST_LISTED)))})"
    ),
    "levels": (
        f"SELECT QUANTILES(x, "
        f"[{', '.join(f'0.{i:03d}' for i in range(1, query_complexity.MOST_LEVELS + 1))}]) AS q "
        f"FROM v"
    ),
}
BEYOND = {
    "columns": WITHIN["columns"].replace("SELECT ", "SELECT COUNT(*) AS n, "),
    "selects": WITHIN["selects"].replace("WITH ", "WITH z AS (SELECT u FROM v), "),
    "branches": WITHIN["branches"].replace("CASE ", "CASE WHEN n = -1 THEN 2 "),
    "listed": WITHIN["listed"].replace("(0,", "(-1, 0,"),
    "levels": WITHIN["levels"].replace("[", "[0.999, "),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_its_limit(part: str) -> None:
    """Plans that are free took seconds: quantiles, CASE branches, WITH parts, IN lists and columns
    are counted first.
    """
    check(WITHIN[part])
    assert count(DuckDB().tokenize(WITHIN[part]))[part] == PARTS[part].most
    with pytest.raises(Refused) as caught:
        check(BEYOND[part])
    assert caught.value.code == "server.complex"
    assert caught.value.place.startswith(f"{PARTS[part].most + 1} ")
    assert str(PARTS[part].most) in caught.value.reason


def test_edges_of_a_histogram_are_values_of_a_list() -> None:
    edges = ", ".join(map(str, range(query_complexity.MOST_LISTED)))
    check(f"SELECT HISTOGRAM(x, [{edges}]) AS h FROM v")


def test_what_is_no_text_of_words_is_left_to_the_parser() -> None:
    check("SELECT 'open")
    check("((([[[")


@pytest.mark.parametrize("bracket", ["[", "f([1],", "()", "a,"])
def test_counting_takes_a_fixed_number_of_steps_per_token(bracket: str) -> None:
    def steps_of(repeats: int) -> int:
        return lines_run(count, DuckDB().tokenize("SELECT " + bracket * repeats))

    short, long = steps_of(100), steps_of(2_000)
    assert long < 20 * short + 100


def lines_run(function: Callable[..., object], *arguments: object) -> int:
    """Count the lines of Python that a call executes: unlike seconds, the same on every machine."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return lines
