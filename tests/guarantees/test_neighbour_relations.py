"""Relations: distances, and enumerations that are complete and never empty."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.guarantees.guarantee import relation_of
from sfumato.guarantees.neighbour_relations import (
    ADD_REMOVE,
    RELATIONS,
    REPLACE,
    AddRemove,
    Replace,
    hamming,
    l1_distance,
    symmetric_difference,
    to_histogram,
)

from ..refusing import refusing

records = st.lists(st.integers(0, 3), max_size=5).map(tuple)
equally_many = st.integers(0, 5).flatmap(
    lambda n: st.tuples(*[st.tuples(*[st.integers(0, 3)] * n)] * 3)
)


def multisets(domain: str, size: int) -> list[tuple[str, ...]]:
    return [x for n in range(size + 1) for x in combinations_with_replacement(domain, n)]


def test_names_are_those_that_guarantees_carry() -> None:
    assert {name: relation_of(str(relation)) for name, relation in RELATIONS.items()} == {
        "add-remove": "add-remove",
        "replace": "replace",
    }
    assert RELATIONS["replace"] == Replace() == REPLACE != AddRemove()
    assert len({Replace(), REPLACE, AddRemove()}) == 2


def test_order_of_rows_matters_to_one_relation_only() -> None:
    X, Y, J = (("11", "00", "11"), ("00", "00", "11"), ("11", "11", "00"))
    assert REPLACE.are_neighbours(X, Y)
    assert not REPLACE.are_neighbours(X, J)
    assert ADD_REMOVE.distance(X, J) == 0


def test_hamming_wants_equal_lengths() -> None:
    assert hamming((1, 2, 3, 4), (1, 9, 3, 8)) == 2
    with refusing("relation.length"):
        hamming((1, 2), (1, 2, 3))
    assert REPLACE.distance((1, 2), (1, 2, 3)) == math.inf
    assert not REPLACE.are_neighbours((1, 2), (1, 2, 3))


@given(equally_many)
def test_replace_is_a_metric(xyz: tuple[tuple[int, ...], ...]) -> None:
    x, y, z = xyz
    assert (
        REPLACE.distance(x, y)
        == REPLACE.distance(y, x)
        <= REPLACE.distance(x, z) + REPLACE.distance(z, y)
    )
    assert (REPLACE.distance(x, y) == 0) == (x == y)


@given(records, records, records)
def test_add_remove_is_a_metric_on_multisets(
    x: tuple[int, ...], y: tuple[int, ...], z: tuple[int, ...]
) -> None:
    assert (
        ADD_REMOVE.distance(x, y)
        == ADD_REMOVE.distance(y, x)
        <= ADD_REMOVE.distance(x, z) + ADD_REMOVE.distance(z, y)
    )
    assert (ADD_REMOVE.distance(x, y) == 0) == (Counter(x) == Counter(y))


@given(records, records)
def test_the_symmetric_difference_is_the_l1_distance_of_histograms(
    x: tuple[int, ...], y: tuple[int, ...]
) -> None:
    distance = ADD_REMOVE.distance(x, y)
    assert (
        distance
        == symmetric_difference(x, y).total()
        == l1_distance(to_histogram(x), to_histogram(y))
        == ADD_REMOVE.distance(Counter(x), y)
    )
    domain = range(4)
    assert distance == l1_distance(
        [to_histogram(x, domain)[v] for v in domain], [to_histogram(y, domain)[v] for v in domain]
    )


@pytest.mark.parametrize(("domain", "size"), [("ab", 1), ("ab", 3), ("abc", 2)])
def test_pairs_of_replace_are_all_pairs(domain: str, size: int) -> None:
    everything = list(product(domain, repeat=size))
    expected = {
        (x, y) for x in everything for y in everything if x != y and REPLACE.are_neighbours(x, y)
    }
    listed = list(REPLACE.pairs(domain, size))
    assert listed
    assert all(x != y for x, y in listed)
    assert len(listed) == len(set(listed))
    assert set(listed) == expected


@pytest.mark.parametrize(("domain", "size"), [("a", 1), ("ab", 1), ("ab", 3), ("abc", 2)])
def test_pairs_of_add_remove_are_all_pairs(domain: str, size: int) -> None:
    everything = multisets(domain, size)
    expected = {
        (x, y) for x in everything for y in everything if x != y and ADD_REMOVE.are_neighbours(x, y)
    }
    listed = list(ADD_REMOVE.pairs(domain, size))
    assert listed
    assert all(Counter(x) != Counter(y) for x, y in listed)
    assert len(listed) == len(set(listed))
    assert set(listed) == expected


@pytest.mark.parametrize("name", RELATIONS)
def test_neighbours_are_one_step_away_and_different(name: str) -> None:
    relation = RELATIONS[name]
    neighbours = list(relation.neighbours(("b", "a", "a"), "abc"))
    assert neighbours
    assert {relation.distance(("b", "a", "a"), y) for y in neighbours} == {1}
    assert len(set(neighbours)) == len(neighbours) == {"replace": 6, "add-remove": 5}[name]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_add_remove_at_a_fixed_size_is_vacuous(size: int) -> None:
    """The relation |x Δ x′| ≤ 1 on databases of fixed size, as some texts have it, relates nothing
    to nothing else: all that it allows is private.
    """
    everything = list(combinations_with_replacement("abc", size))
    different = [(x, y) for x in everything for y in everything if x != y]
    assert different
    assert not [pair for pair in different if ADD_REMOVE.are_neighbours(*pair)]
    assert min(ADD_REMOVE.distance(*pair) for pair in different) == 2
    assert [
        pair for pair in different if REPLACE.are_neighbours(*pair)
    ]  # the relation that was meant


@given(equally_many)
def test_at_equal_sizes_the_symmetric_difference_is_even(xyz: tuple[tuple[int, ...], ...]) -> None:
    x, y, _ = xyz
    assert ADD_REMOVE.distance(x, y) % 2 == 0
    assert ADD_REMOVE.distance(x, y) <= 2 * REPLACE.distance(x, y)


def test_a_replacement_is_two_steps_of_add_remove() -> None:
    pairs = list(REPLACE.pairs("ab", 1))
    assert (("a",), ("b",)) in pairs
    assert {ADD_REMOVE.distance(x, y) for x, y in pairs} == {2}
    assert not any(ADD_REMOVE.are_neighbours(x, y) for x, y in pairs)
    assert l1_distance([3, 2, 0], [2, 2, 1]) == 2


@pytest.mark.parametrize(
    ("relation", "domain", "size"),
    [
        (REPLACE, "a", 3),
        (REPLACE, "ab", 0),
        (REPLACE, "", 1),
        (ADD_REMOVE, "", 3),
        (ADD_REMOVE, "ab", 0),
    ],
)
def test_an_enumeration_of_nothing_is_refused(
    relation: Replace | AddRemove, domain: str, size: int
) -> None:
    with refusing("relation.vacuous"):
        relation.pairs(domain, size)


def test_refusals() -> None:
    with refusing("relation.domain"):
        REPLACE.pairs("aa", 2)
    for relation in RELATIONS.values():
        with refusing("relation.domain"):
            relation.neighbours(("a", "z"), "ab")
    with refusing("relation.domain"):
        to_histogram("abz", "ab")
    with refusing("relation.length"):
        l1_distance([1, 2], [1])
    with refusing("relation.length"):
        l1_distance([1, 2], {"a": 1, "b": 2})
    with refusing("relation.count"):
        ADD_REMOVE.distance({"a": -1}, {"a": 1})
    with refusing("relation.count"):
        ADD_REMOVE.distance({"a": 1.5}, {"a": 1})  # type: ignore[dict-item]  # wrong on purpose
