"""Stable transformations: the factor by enumeration, and the promise behind them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import cast

import pytest

import sfumato as sf
from sfumato.accounting.stability import STABILITY, stable
from sfumato.guarantees.neighbour_relations import ADD_REMOVE, Dataset

from ..refusing import refusing

DOMAIN = [(group, value) for group in "ab" for value in (0, 1)]


def grouped(x: Dataset) -> Dataset:
    """One record for each group that occurs: its name and what is in it."""
    pairs = cast("tuple[tuple[str, int], ...]", x)
    groups = sorted({group for group, _ in pairs})
    return tuple((g, tuple(sorted(value for group, value in pairs if group == g))) for g in groups)


TRANSFORMATIONS: dict[str, Callable[[Dataset], Dataset]] = {
    "filter": lambda x: tuple(
        record
        for record in x
        if record[1] == 1  # type: ignore[index]  # a pair
    ),
    "map": lambda x: tuple(record[0] for record in x),  # type: ignore[index]  # a pair
    "group-by": grouped,
}


@pytest.mark.parametrize("name", STABILITY)
def test_factors_are_what_neighbours_show(name: str) -> None:
    pairs = list(ADD_REMOVE.pairs(DOMAIN, 3))
    assert any(x != y for x, y in pairs)
    g = TRANSFORMATIONS[name]
    assert max(ADD_REMOVE.distance(g(x), g(y)) for x, y in pairs) == STABILITY[name]


def test_stability_holds_at_any_distance() -> None:
    datasets = [x for n in range(3) for x in combinations_with_replacement(DOMAIN, n)]
    for name, g in TRANSFORMATIONS.items():
        for x in datasets:
            assert all(
                ADD_REMOVE.distance(g(x), g(y)) <= STABILITY[name] * ADD_REMOVE.distance(x, y)
                for y in datasets
            )


def test_S_109_group_by_then_a_count() -> None:
    assert stable(sf.Pure("0.5"), STABILITY["group-by"]) == sf.Pure(1)


@pytest.mark.parametrize(
    "guarantee",
    [
        sf.Pure("0.5", unit="patient"),
        sf.Approx("0.5", "1e-6"),
        sf.ZCDP("0.1"),
        sf.GDP(1),
        sf.Renyi({16: 1}),
    ],
    ids=str,
)
def test_it_is_the_promise_about_groups(guarantee: sf.Guarantee) -> None:
    assert stable(guarantee, 1) == guarantee
    assert stable(guarantee, 3) == guarantee.group(3)
    assert stable(guarantee, 0) == 0 * guarantee  # a constant says nothing about anyone


@pytest.mark.parametrize("c", [-1, 1.5, True, "2"])
def test_factors_that_are_none(c: object) -> None:
    with refusing("stability.factor"):
        stable(sf.Pure(1), c)  # type: ignore[arg-type]  # refused
