"""Queries over rows of people: errors, texts, names, order, and what stands beside an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa

import sfumato as sf
from sfumato.testing.exact_checks import through_the_door

from .case import Case, case
from .replay import Door, Noise, Program, Row
from .worlds import CITIES, PEOPLE

Rows = list[Row]


MOST = 2
"""Rows of a person that count."""


def bounded(rows: Rows, most: int = MOST) -> Rows:
    """At most so many rows of each person, the first in a fixed order."""
    remaining: Counter[Any] = Counter()
    result = []
    for row in sorted(rows, key=repr):
        remaining[row[0]] += 1
        if remaining[row[0]] <= most:
            result.append(row)
    return result


def counts(rows: Rows) -> dict[Any, int]:
    """Rows of each city that anybody has, sorted."""
    return dict(sorted(Counter(row[1] for row in rows).items()))


def by_city(rows: Rows) -> list[int]:
    """Rows of each city of the public list."""
    result = counts(rows)
    return [result.get(city, 0) for city in CITIES]


def plain_count(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return door.perturb(len(bounded(rows)), Noise(MOST, 1))


def public_groups(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return dict(zip(CITIES, door.perturb(by_city(bounded(rows)), Noise(MOST, 1)), strict=True))


# Errors.


def dividing(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return door.perturb(
        sum(min(max(1 // (row[2] - 42), -1), 1) for row in bounded(rows)), Noise(MOST, 1)
    )


def dividing_totally(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return door.perturb(
        sum(min(max(1 // (row[2] - 42), -1), 1) if row[2] != 42 else 0 for row in bounded(rows)),
        Noise(MOST, 1),
    )


def quoting(rows: Rows, door: Door) -> Any:
    """A text is no number, and the types are public: the question is refused, with an example."""
    raise TypeError(f"city is no number, as in {rows[0][1]!r}" if rows else "city is no number")


def constant_words(rows: Rows, door: Door) -> Any:
    raise TypeError("city is no number")


def too_few(rows: Rows, door: Door) -> Any:
    door.charge(1)
    result = [row for row in bounded(rows) if row[0] == "eve"]
    if not result:
        raise LookupError("too few rows")
    return door.perturb(len(result), Noise(MOST, 1))


def of_one_person(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return door.perturb(len([row for row in bounded(rows) if row[0] == "eve"]), Noise(MOST, 1))


# Text.

TEXTS = (
    "SELECT min(name) FROM people",
    "SELECT count(*) FROM people",
    "SELECT list(value) FROM people; SELECT 1",
    "SELECT upper(name) FROM people LIMIT 1",
)


def _people(rows: Rows) -> pa.Table:
    remaining = bounded(rows)
    columns = {"name": pa.string(), "city": pa.string(), "value": pa.int64()}
    return pa.table(
        {
            name: pa.array([row[i] for row in remaining], kind)
            for i, (name, kind) in enumerate(columns.items())
        }
    )


def passed_through(rows: Rows, door: Door) -> Any:
    """The analyst's text goes to the engine as it stands."""
    connection = duckdb.connect()
    connection.register("people", _people(rows))
    result = [connection.execute(text).fetchall() for text in TEXTS]
    connection.close()
    return result


def _handed(call: Any, door: Door) -> Any:
    """The integers that the product hands to its noise, with what that noise was made for."""
    return door.perturb(
        call.integers[0].ravel().tolist(),
        Noise(call.mechanism.sensitivity, call.mechanism.promise.parameters["epsilon"]),
    )


def read_first(rows: Rows, door: Door) -> Any:
    """The product reads the text, refuses what is no aggregate, and plans the rest; of what it
    planned, the integers go through the door.
    """
    answer: list[Any] = []
    with sf.protect(
        _people(rows), name="people", unit="name", max_rows=MOST, budget=sf.Pure(1)
    ) as table:
        for text in TEXTS:
            try:
                plan = table.plan(text, promise=sf.Pure(1), learn=False)
            except sf.Refused as refused:
                answer.append(refused.code)
                continue
            door.charge(1)
            answer.append([_handed(call, door) for call in through_the_door(plan).calls])
    return answer


# Names and order.


def groups_as_found(rows: Rows, door: Door) -> Any:
    door.charge(1)
    result = counts(bounded(rows))
    return dict(zip(result, door.perturb(list(result.values()), Noise(MOST, 1)), strict=True))


def selected(rows: Rows, door: Door) -> Any:
    door.charge(2)
    votes = counts(bounded(rows))
    named = door.select(votes, Noise(MOST, 1), threshold=3)
    return (
        dict(
            zip(
                named,
                door.perturb([votes.get(city, 0) for city in named], Noise(MOST, 1)),
                strict=True,
            )
        )
        if named
        else {}
    )


def in_order_of_appearance(rows: Rows, door: Door) -> Any:
    door.charge(1)
    order = list(dict.fromkeys([*(row[1] for row in rows), *CITIES]))
    noisy = dict(zip(CITIES, door.perturb(by_city(bounded(rows)), Noise(MOST, 1)), strict=True))
    return [(city, noisy[city]) for city in order]


def having_raw(rows: Rows, door: Door) -> Any:
    door.charge(1)
    exact = by_city(bounded(rows))
    noisy = door.perturb(exact, Noise(MOST, 1))
    return [(city, n) for city, raw, n in zip(CITIES, exact, noisy, strict=True) if raw > 2]


def having_noisy(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return [
        (city, n)
        for city, n in zip(
            CITIES, door.perturb(by_city(bounded(rows)), Noise(MOST, 1)), strict=True
        )
        if n > 2
    ]


def ordered_by_raw(rows: Rows, door: Door) -> Any:
    door.charge(1)
    exact = dict(zip(CITIES, by_city(bounded(rows)), strict=True))
    noisy = dict(zip(CITIES, door.perturb(list(exact.values()), Noise(MOST, 1)), strict=True))
    return [(city, noisy[city]) for city in sorted(CITIES, key=lambda city: -exact[city])]


def ordered_by_noisy(rows: Rows, door: Door) -> Any:
    door.charge(1)
    noisy = dict(zip(CITIES, door.perturb(by_city(bounded(rows)), Noise(MOST, 1)), strict=True))
    return sorted(noisy.items(), key=lambda item: (-item[1], item[0]))


# Beside the answer.


def first_rows(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return rows[:1], door.perturb(len(bounded(rows)), Noise(MOST, 1))


def with_row_count(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return {"answer": door.perturb(len(bounded(rows)), Noise(MOST, 1)), "rows scanned": len(rows)}


def hook(rows: Rows, door: Door) -> Any:
    """A user's function that may look at more than the noisy number."""
    door.charge(1)
    noisy = door.perturb(len(bounded(rows)), Noise(MOST, 1))
    return (lambda value: min(value, len(rows)))(noisy)


def _case(
    wrong: str,
    right: str,
    known_from: str,
    broken: Callable[[Rows, Door], Any],
    correct: Callable[[Rows, Door], Any],
) -> Case:
    return case(
        wrong,
        right,
        known_from,
        Program(run=broken, pairs=PEOPLE),
        Program(run=correct, pairs=PEOPLE),
    )


CASES: dict[str, Case] = {
    "divide-by-zero": _case(
        "an error if the row with 42 is there",
        "a division that gives 0 there",
        "D1, B6",
        dividing,
        dividing_totally,
    ),
    "value-in-message": _case(
        "a refusal that quotes a value as an example",
        "a refusal in constant words",
        "D2",
        quoting,
        constant_words,
    ),
    "text-passed-through": Case(
        wrong="hands the analyst's SQL to the engine as it stands",
        right="the product: reads it, refuses or plans",
        known_from=("D4", "D11"),
        broken=Program(run=passed_through, pairs=PEOPLE[:6]),
        correct=Program(run=read_first, pairs=PEOPLE[:6]),
    ),
    "groups-as-found": _case(
        "names every group that is there",
        "names those that pass a private threshold",
        "D5, D17",
        groups_as_found,
        selected,
    ),
    "having-raw": _case(
        "HAVING on the exact count", "on the noisy one", "D11", having_raw, having_noisy
    ),
    "order-by-raw": _case(
        "ORDER BY the exact count", "by the noisy one", "D11", ordered_by_raw, ordered_by_noisy
    ),
    "raw-rows": _case("LIMIT 1 over rows", "a count", "D11", first_rows, plain_count),
    "too-few-rows": _case(
        "an error where a person is not there",
        "the same noise as for anyone",
        "D12",
        too_few,
        of_one_person,
    ),
    "rows-scanned": _case(
        "the exact number of rows beside the answer",
        "the answer alone",
        "D13, Snowflake",
        with_row_count,
        plain_count,
    ),
    "order-of-rows": _case(
        "groups in the order in which rows came",
        "groups in the order of their names",
        "D14",
        in_order_of_appearance,
        public_groups,
    ),
    "hook": _case(
        "a hook behind the noise that sees the data",
        "nothing behind the noise sees them",
        "D18",
        hook,
        plain_count,
    ),
}
