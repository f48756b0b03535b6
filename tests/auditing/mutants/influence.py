"""Queries over rows of people: how far one person reaches, and what it costs."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

from .case import Case
from .queries import MOST, Rows, _case, bounded, by_city, plain_count, public_groups
from .replay import Door, Noise
from .worlds import CITIES

EVENTS = {"eve": 1000}
"""How many rows a public table has for a name; one for all others."""


def unbounded(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return door.perturb(len(rows), Noise(1, 1))


def joined(rows: Rows, door: Door) -> Any:
    door.charge(1)
    pairs = [(row, event) for row in bounded(rows) for event in range(EVENTS.get(row[0], 1))]
    return door.perturb(len(pairs), Noise(MOST, 1))


def joined_then_bounded(rows: Rows, door: Door) -> Any:
    door.charge(1)
    pairs = [(*row, event) for row in rows for event in range(EVENTS.get(row[0], 1))]
    return door.perturb(len(bounded(pairs)), Noise(MOST, 1))


def stale(rows: Rows, door: Door) -> Any:
    """Count a person once in each of two cities at most, then give all cities one name and still
    rely on the limit.
    """
    door.charge(1)
    cities = defaultdict(set)
    remaining = []
    for person, city, value in sorted(rows, key=repr):
        cities[person].add(city)
        if len(cities[person]) <= MOST:
            remaining.append((person, "anywhere", value))
    return door.perturb([len(remaining)], Noise(MOST, 1))


def distinct_then_bounded(rows: Rows, door: Door) -> Any:
    """A value counts for the first who has it, and then each of them for two."""
    door.charge(1)
    owner = {(city, value): person for person, city, value in reversed(rows)}
    held: Counter[Any] = Counter(owner.values())
    return door.perturb(sum(min(n, MOST) for n in held.values()), Noise(MOST, 1))


def bounded_then_distinct(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return door.perturb(len({(city, value) for _, city, value in bounded(rows)}), Noise(MOST, 1))


def product_then_clip(rows: Rows, door: Door) -> Any:
    """Squares, of which the factors should have been clipped."""
    door.charge(1)
    return door.perturb(sum(value * value for _, _, value in bounded(rows)), Noise(MOST * 9 * 9, 1))


def clip_then_product(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return door.perturb(
        sum(min(max(value, 0), 9) ** 2 for _, _, value in bounded(rows)), Noise(MOST * 9 * 9, 1)
    )


def resized(rows: Rows, door: Door) -> Any:
    """A list of four numbers, whether there are more rows or fewer; sorted only where it has to be
    cut.
    """
    door.charge(1)
    result = [min(max(row[2], 0), 9) for row in bounded(rows, 1)]
    result = sorted(result)[:4] if len(result) > 4 else result[::-1]
    return door.perturb([*result, 0, 0, 0, 0][:4], Noise(9, 1))


def resized_alike(rows: Rows, door: Door) -> Any:
    """The four largest: to take one person out shifts what is below, by no more than the largest in
    all.
    """
    door.charge(1)
    result = sorted((min(max(row[2], 0), 9) for row in bounded(rows, 1)), reverse=True)
    return door.perturb([*result, 0, 0, 0, 0][:4], Noise(9, 1))


# Price.


def whole_for_each(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return [door.perturb(len(bounded(rows)), Noise(MOST, 1)) for _ in range(3)]


def part_for_each(rows: Rows, door: Door) -> Any:
    door.charge(1)
    return [door.perturb(len(bounded(rows)), Noise(MOST, Fraction(1, 3))) for _ in range(3)]


def mean_for_one(rows: Rows, door: Door) -> Any:
    door.charge(1)
    added = door.perturb(sum(min(row[2], 9) for row in bounded(rows)), Noise(MOST * 9, 1))
    return Fraction(added, max(door.perturb(len(bounded(rows)), Noise(MOST, 1)), 1))


def mean_for_two(rows: Rows, door: Door) -> Any:
    door.charge(2)
    added = door.perturb(sum(min(row[2], 9) for row in bounded(rows)), Noise(MOST * 9, 1))
    return Fraction(added, max(door.perturb(len(bounded(rows)), Noise(MOST, 1)), 1))


def hidden_preprocessing(rows: Rows, door: Door) -> Any:
    """Three rounds that choose and measure; the choice is left out of the price."""
    door.charge(3)
    answers = []
    for _ in range(3):
        at = door.choose(by_city(bounded(rows)), Noise(MOST, Fraction(1, 2), "inf"))
        answers.append((CITIES[at], door.perturb(by_city(bounded(rows))[at], Noise(MOST, 1))))
    return answers


def all_rounds(rows: Rows, door: Door) -> Any:
    door.charge(Fraction(9, 2))
    answers = []
    for _ in range(3):
        at = door.choose(by_city(bounded(rows)), Noise(MOST, Fraction(1, 2), "inf"))
        answers.append((CITIES[at], door.perturb(by_city(bounded(rows))[at], Noise(MOST, 1))))
    return answers


def priced_by_data(rows: Rows, door: Door) -> Any:
    """A second question, paid for only where the exact count makes it worth asking."""
    door.charge(1)
    noisy = door.perturb(len(bounded(rows)), Noise(MOST, 1))
    if len(rows) > 4:
        door.charge(1)
        return noisy, door.perturb(by_city(bounded(rows)), Noise(MOST, 1))
    return noisy, None


def priced_by_answers(rows: Rows, door: Door) -> Any:
    door.charge(1)
    noisy = door.perturb(len(bounded(rows)), Noise(MOST, 1))
    if noisy > 4:
        door.charge(1)
        return noisy, door.perturb(by_city(bounded(rows)), Noise(MOST, 1))
    return noisy, None


CASES: dict[str, Case] = {
    "join-blow-up": _case(
        "bounds rows, then joins", "joins, then bounds", "D7", joined, joined_then_bounded
    ),
    "stale-limit": _case(
        "believes a limit on groups after the groups were redefined",
        "bounds what is counted",
        "D8",
        stale,
        public_groups,
    ),
    "distinct-then-bound": _case(
        "distinct values first, each counted for one holder, then a limit for each",
        "a limit for each, then distinct",
        "D9, google#84",
        distinct_then_bounded,
        bounded_then_distinct,
    ),
    "clip-after-product": _case(
        "multiplies what was not clipped",
        "clips the factors",
        "B10, smartnoise-sdk#622",
        product_then_clip,
        clip_then_product,
    ),
    "cut-or-kept": _case(
        "a list that is sorted only if it has to be cut",
        "sorted in any case",
        "D16",
        resized,
        resized_alike,
    ),
    "row-for-person": _case(
        "noise for a row, where a person has many",
        "rows of a person are bounded",
        "D17",
        unbounded,
        plain_count,
    ),
    "epsilon-per-column": _case(
        "the whole ε for each of three columns",
        "a third for each",
        "D10, smartnoise-sdk#200",
        whole_for_each,
        part_for_each,
    ),
    "mean-for-one": _case(
        "a mean is a sum and a count, at the price of one",
        "at the price of both",
        "D10",
        mean_for_one,
        mean_for_two,
    ),
    "hidden-rounds": _case(
        "choices between rounds that nobody pays for",
        "every choice is paid for",
        "opendp#2789",
        hidden_preprocessing,
        all_rounds,
    ),
    "price-by-data": _case(
        "whether a second charge is made depends on the data",
        "on the first noisy answer",
        "F8",
        priced_by_data,
        priced_by_answers,
    ),
}
