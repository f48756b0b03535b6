"""Parallel composition: the table of rules, and small mechanisms of which every pair of neighbours
is looked at.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.parallel import parallel
from sfumato.guarantees.finite.channel import Channel
from sfumato.guarantees.neighbour_relations import ADD_REMOVE, REPLACE, Dataset, NeighbourRelation

from ..refusing import refusing
from .trees import SLACK

ZERO, TWO = sf.Renyi({2: 1, 8: 4, 32: 9}), sf.Renyi({2: "0.5", 8: 5, 32: 10})


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ((sf.Pure(1), sf.Pure(2)), sf.Pure(2)),
        ((sf.Approx(1, "1e-3"), sf.Approx(2, "1e-6")), sf.Approx(2, "1e-3")),
        ((sf.ZCDP(1, "1e-3"), sf.ZCDP(2)), sf.ZCDP(2, "1e-3")),
        ((sf.GDP(1), sf.GDP(2), sf.GDP(1)), sf.GDP(2)),
        ((ZERO, TWO), sf.Renyi({2: 1, 8: 5, 32: 10})),
        ((sf.Pure(1),), sf.Pure(1)),
    ],
    ids=str,
)
def test_add_remove_is_the_largest(costs: tuple[sf.Guarantee, ...], expected: sf.Guarantee) -> None:
    total = parallel(*costs, relation="add-remove")
    assert total.relation == "add-remove"
    assert expected <= total <= expected
    assert parallel(*costs, relation="replace", parts="index").relation == "replace"
    assert expected <= parallel(*costs, relation="replace", parts="index") <= expected


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ((sf.Pure(1), sf.Pure(2)), sf.Pure(4, relation="replace")),
        ((sf.Approx(1, "1e-3"), sf.Approx(2, "1e-6")), sf.Approx(2, "1e-6").group(2)),
        ((sf.ZCDP(1), sf.ZCDP(2)), sf.ZCDP(8, relation="replace")),
        ((sf.GDP(1), sf.GDP(2)), sf.GDP(4, relation="replace")),
        ((ZERO, TWO), sf.Renyi({4: 15, 16: 30}, relation="replace")),
    ],
    ids=str,
)
def test_replace_from_add_remove_costs_is_the_group_of_two(
    costs: tuple[sf.Guarantee, ...], expected: sf.Guarantee
) -> None:
    total = parallel(*costs, relation="replace")
    if isinstance(total, sf.Approx):
        assert total.parameters["epsilon"] == 4
        assert total.parameters["delta"] == max(cost.group(2).parameters["delta"] for cost in costs)
    else:
        assert total == expected
    for i, cost in enumerate(costs):  # what it has to cover: a replacement inside, and a move
        assert cost.group(2) <= total
        assert all(cost + second <= total for second in costs[:i])


@pytest.mark.parametrize(
    ("costs", "inside", "expected"),
    [
        ((sf.Pure(1), sf.Pure(2)), (sf.Pure(1), sf.Pure(2)), sf.Pure(3)),
        ((sf.Pure(1), sf.Pure(2)), (sf.Pure(1), sf.Pure(4)), sf.Pure(4)),
        ((sf.Pure(1), sf.Pure(2)), (sf.Pure(1), None), sf.Pure(4)),
        ((sf.Pure(1), sf.Pure(2)), (None, sf.Pure(2)), sf.Pure(3)),
        ((sf.Pure(2),), (sf.Pure(1),), sf.Pure(1)),
        (
            (sf.Approx(1, "1e-3"), sf.Approx(2, "1e-6")),
            (sf.Approx(1, "1e-2"), sf.Approx(1, 0)),
            sf.Approx(3, "1e-2"),
        ),
        (
            (sf.Approx(1, "1e-3"), sf.Approx(2, "1e-6")),
            (sf.Approx(1, 0), sf.Approx(1, 0)),
            sf.Approx(3, "0.001001"),
        ),
        ((sf.ZCDP(1), sf.ZCDP(2), sf.ZCDP(3)), (sf.ZCDP(1),) * 3, sf.ZCDP(5)),
        ((sf.GDP(3), sf.GDP(4)), (sf.GDP(3), sf.GDP(4)), sf.GDP(5)),
        ((sf.GDP(3), sf.GDP(4)), (sf.GDP(6), sf.GDP(4)), sf.GDP(6)),
        ((ZERO, TWO), (ZERO, ZERO), sf.Renyi({2: "1.5", 8: 9, 32: 19})),
    ],
    ids=str,
)
def test_replace_with_what_a_replacement_inside_costs(
    costs: tuple[sf.Guarantee, ...], inside: tuple[sf.Guarantee | None, ...], expected: sf.Guarantee
) -> None:
    total = parallel(*costs, relation="replace", within=inside)
    assert expected <= total <= expected
    assert total.relation == "replace"


def test_different_notions_meet_in_the_strongest_they_share() -> None:
    assert type(parallel(sf.Pure(1), sf.Approx(1, "1e-6"), relation="add-remove")) is sf.Approx
    assert type(parallel(sf.Pure(1), sf.GDP(1), relation="add-remove")) is sf.GDP
    assert (
        parallel(sf.Pure(1), sf.ZCDP("0.1"), relation="add-remove").rho
        == sf.Pure(1).to(sf.ZCDP).rho
    )
    assert type(parallel(sf.Approx(1, "1e-6"), sf.GDP(1), relation="add-remove")) is sf.ZCDP
    assert (
        type(parallel(sf.Pure(1) + sf.GDP(1), sf.Renyi({2: 1}), relation="add-remove")) is sf.Renyi
    )
    for costs in (
        (sf.Pure(1), sf.GDP(1)),
        (sf.Approx(1, "1e-6"), sf.GDP(1)),
        (sf.Pure(1), sf.Renyi({2: 3, 4: 5})),
    ):
        total = parallel(*costs, relation="add-remove")
        assert all(cost <= total for cost in costs)


def test_curves_on_different_orders() -> None:
    total = parallel(sf.Renyi({2: 1, 8: 4}), sf.Renyi({4: 3, 6: 5}), relation="add-remove")
    assert total == sf.Renyi(
        {2: 3, 4: Fraction(sf.Renyi({2: 1, 8: 4}).renyi(4)), 6: 5}, relation="add-remove"
    )


def test_unit_is_carried_and_costs_are_left_alone() -> None:
    costs = sf.Pure(1, unit="patient"), sf.Pure(2, relation="add-remove")
    assert parallel(*costs, relation="replace") == sf.Pure(4, relation="replace", unit="patient")
    assert costs == (sf.Pure(1, unit="patient"), sf.Pure(2, relation="add-remove"))
    assert sf.parallel is parallel


def test_refusals() -> None:
    a, b = sf.Pure(1), sf.Pure(2)
    with refusing("parallel.relation"):
        parallel(a, b)
    with refusing("guarantee.relation"):
        parallel(a, b, relation="swap")
    bad: list[dict[str, Any]] = [
        {"relation": "add-remove", "parts": "index"},
        {"relation": "add-remove", "within": [a, b]},
        {"relation": "replace", "parts": "index", "within": [a, b]},
        {"relation": "replace", "within": [a]},
        {"relation": "replace", "parts": "hash"},
    ]
    for arguments in bad:
        with refusing("parallel.parts"):
            parallel(a, b, **arguments)
    with refusing("parallel.parts"):
        parallel(relation="add-remove")
    for relation, parts, bound in (
        ("add-remove", "value", "replace"),
        ("replace", "value", "replace"),
        ("replace", "index", "add-remove"),
    ):
        with refusing("guarantee.relation"):
            parallel(
                a,
                sf.Pure(2, relation=bound),
                relation=relation,
                parts=parts,  # type: ignore[arg-type]  # a plain str
            )
    with refusing("guarantee.relation"):
        parallel(a, b, relation="replace", within=[sf.Pure(1, relation="add-remove"), None])
    with refusing("guarantee.unit"):
        parallel(sf.Pure(1, unit="patient"), sf.Pure(1, unit="visit"), relation="add-remove")
    with refusing("guarantee.does-not-follow"):
        parallel(a, sf.RandomDP(b, "0.1", over="uniform records"), relation="add-remove")
    with refusing("guarantee.no-promise"):
        parallel(sf.Approx(1, "0.6"), sf.Approx(1, "0.6"), relation="replace", within=[a, a])


# Small mechanisms, exactly: values 0, 1, 2; part A holds the zeros and counts them, part B holds
# the rest and counts ones and twos.

ROWS = 2
DOMAIN = (0, 1, 2)


def noisy_count(odds: int) -> list[tuple[Fraction, ...]]:
    """Two-sided geometric noise on counts 0 … ROWS, held at the ends: odds-to-one per step of the
    count.
    """
    a = Fraction(1, odds)

    def mass(y: int, count: int) -> Fraction:
        return a ** abs(y - count) * (1 / (1 + a) if y in (0, ROWS) else (1 - a) / (1 + a))

    return [tuple(mass(y, count) for y in range(ROWS + 1)) for count in range(ROWS + 1)]


def release(a: int, b: int, parts: str = "AB") -> Channel:
    """Counts of part A with odds a, of each value of part B with odds b, as a channel from
    datasets.
    """
    first, second = noisy_count(a), noisy_count(b)
    multisets = {x for n in range(ROWS + 1) for x in combinations_with_replacement(DOMAIN, n)}
    inputs: list[Dataset] = sorted(
        multisets | set(product(DOMAIN, repeat=ROWS)), key=lambda x: (len(x), x)
    )

    def row(x: Dataset) -> list[Fraction]:
        laws = [first[x.count(0)]] * ("A" in parts) + [second[x.count(1)], second[x.count(2)]] * (
            "B" in parts
        )
        masses = [Fraction(1)]
        for law in laws:
            masses = [m * p for m in masses for p in law]
        return masses

    return Channel([row(x) for x in inputs], inputs=inputs)


def cost(channel: Channel, relation: NeighbourRelation) -> sf.Pure:
    return sf.Pure(
        Fraction(channel.epsilon(pairs=relation.pairs(DOMAIN, ROWS))), relation=relation.name
    )


@pytest.mark.parametrize(("a", "b"), [(2, 2), (3, 2), (2, 3), (5, 2)])
def test_every_pair_of_neighbours(a: int, b: int) -> None:
    joint = release(a, b)
    costs = [cost(release(a, b, part), ADD_REMOVE) for part in "AB"]
    inside = [cost(release(a, b, part), REPLACE) for part in "AB"]
    # a replacement inside A cannot be seen from outside, but the cost under replace also covers a
    # record that leaves A for elsewhere
    for promised, relation in (
        (parallel(*costs, relation="add-remove"), ADD_REMOVE),
        (parallel(*costs, relation="replace"), REPLACE),
        (parallel(*costs, relation="replace", within=inside), REPLACE),
    ):
        pairs = list(relation.pairs(DOMAIN, ROWS))
        assert any(x != y for x, y in pairs)
        for at in ("0", "0.3", "1", "1.5", "3"):
            assert joint.delta(at, pairs=pairs) <= promised.delta(at) * SLACK
    tight = parallel(*costs, relation="replace", within=inside)
    assert cost(joint, REPLACE).epsilon() == pytest.approx(tight.epsilon(), rel=1e-12)  # attained


def test_E_28_the_largest_is_not_enough_under_replace_and_neither_is_the_sum_of_two() -> None:
    """A record moves: both counts change. A record changes inside B: both of B's counts change, at
    twice its add-remove cost.
    """
    costs = [cost(release(2, 3, part), ADD_REMOVE) for part in "AB"]
    true = cost(release(2, 3), REPLACE).epsilon()
    largest = max(c.epsilon() for c in costs)
    two = sum(c.epsilon() for c in costs)
    assert true > two > largest
    assert true == pytest.approx(2 * largest, rel=1e-12)
    assert true <= parallel(*costs, relation="replace").epsilon()


def test_blocks_of_rows() -> None:
    """One randomized response for each row: replacing a row costs what its own block costs."""
    inputs = list(product((0, 1), repeat=2))
    responses = [Channel.randomized_response(odds=3), Channel.randomized_response(odds=7)]
    joint = Channel(
        [[p * q for p in responses[0].row(x) for q in responses[1].row(y)] for x, y in inputs],
        inputs=inputs,
    )
    pairs = list(REPLACE.pairs((0, 1), 2))
    promised = parallel(
        *(sf.Pure(Fraction(r.epsilon()), relation="replace") for r in responses),
        relation="replace",
        parts="index",
    )
    assert joint.epsilon(pairs=pairs) == promised.epsilon()
