"""Weights and sensitivities: the engine's integers against Python's, and the declared distances
against brute force.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import ibis
import pyarrow as pa
import pytest

from sfumato.tables.aggregates.component import Component
from sfumato.tables.plan.bounding import Bounding, _part, _root, row_weights, truncate_rows, votes

BOUNDING = Bounding(("user",), 3, 3, "add-remove", True, "L1", False, 2**40)
CON = ibis.duckdb.connect()


def _rows(units: list[tuple[int, str]]) -> ibis.Table:
    return CON.create_table(
        "rows",
        ibis.memtable({"u0": [u for u, _ in units], "k0": [k for _, k in units]}),
        overwrite=True,
    )


def test_a_part_is_the_integer_quotient() -> None:
    counts = [1, 2, 3, 5, 7, 10, 999, 2**20 + 1, 5 * 2**20 - 1, 5 * 2**20, 5 * 2**20 + 1, 2**40]
    table = ibis.memtable({"n": counts})
    for k, s in ((1, 0), (5, 20), (7, 20), (2**20, 20), (3, 40)):
        result = CON.execute(table.select(w=_part(k << s, table.n, k)))["w"].tolist()
        assert result == [(k << s) // max(n, k) for n in counts]


def test_a_root_is_the_largest_weight_that_fits() -> None:
    room, most = (9 << 40), 1 << 20
    counts = sorted(
        {
            1,
            2,
            3,
            8,
            9,
            10,
            11,
            *(j * j + d for j in (3, 5, 100, 1023, 2**15) for d in (-1, 0, 1)),
            9 << 40,
            (9 << 40) + 1,
        }
    )
    table = ibis.memtable({"n": counts})
    result = CON.execute(table.select(w=_root(room, table.n, most)))["w"].tolist()
    assert result == [min(most, math.isqrt(room // n)) for n in counts]
    assert all(w * w * n <= room for w, n in zip(result, counts, strict=True))


@pytest.mark.parametrize("norm", ["L1", "L2"])
@pytest.mark.parametrize("rows", [1, 3, 20])
def test_no_unit_weighs_more_than_it_may(norm: str, rows: int) -> None:
    bounding = replace(BOUNDING, norm=norm, rows=rows, groups=rows)
    shape = {1: [1], 2: [2, 3], 3: [1] * 9, 4: [40], 5: [30, 1, 1], 6: [1] * 26, 7: [7, 7, 7]}
    table = _rows(
        [
            (u, "abcdefghijklmnopqrstuvwxyz"[g])
            for u, counts in shape.items()
            for g, count in enumerate(counts)
            for _ in range(count)
        ]
    )
    weighted = CON.execute(row_weights(table, bounding, ["u0"], ["k0"]))
    weighted["w1"] = (
        weighted["w1"] if norm == "L2" else weighted["w"]
    )  # they differ for the Euclidean norm alone
    result = weighted.groupby(["u0", "k0"])[["w", "w1"]].sum().reset_index()
    for _, owned in result.groupby("u0"):
        assert owned["w1"].sum() <= bounding.weight
        if norm == "L1":
            assert owned["w"].sum() <= bounding.weight
        else:
            assert sum(int(w) ** 2 for w in owned["w"]) <= bounding.weight**2
    light = result[result["u0"] == 1]["w"].tolist()
    assert light == [1 << bounding.bits]  # a unit within its limits loses nothing


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_no_unit_votes_more_than_it_may(norm: str) -> None:
    bounding = replace(BOUNDING, norm=norm)
    for groups in (1, 2, 3, 4, 10, 26):
        table = _rows(
            [(1, letter) for letter in "abcdefghijklmnopqrstuvwxyz"[:groups] for _ in range(3)]
        )
        result = [int(v) for v in CON.execute(votes(table, bounding, ["u0"], ["k0"], ""))["votes"]]
        assert all(vote <= 1 << bounding.vote_bits for vote in result)
        assert sum(result) <= bounding.most_votes or norm == "L2"
        assert sum(v * v for v in result) <= bounding.l2_squared(Component("units", "unit"))


def test_truncation_keeps_rows_of_the_unit_itself() -> None:
    table = _rows([(1, "a")] * 5 + [(1, "b")] * 5 + [(2, "a")] * 2)
    remaining = CON.execute(truncate_rows(table, 3, ["u0"], "key"))
    assert remaining.groupby("u0").size().tolist() == [3, 2]
    alone = CON.execute(truncate_rows(_rows([(1, "a")] * 5 + [(1, "b")] * 5), 3, ["u0"], "key"))
    assert sorted(alone["k0"]) == sorted(
        remaining[remaining["u0"] == 1]["k0"]
    )  # whoever else is there changes nothing
    kinds = {
        tuple(sorted(CON.execute(truncate_rows(table, 3, ["u0"], str(key)))["k0"][:3]))
        for key in range(40)
    }
    assert len(kinds) > 1  # another key, another choice


FLOATS = [
    0.0,
    -0.0,
    0.1,
    0.1 + 2**-56,
    -1e-20,
    1e-20,
    5e-324,
    3e-320,
    1e-45,
    2.0**62,
    2.0**63,
    1e300,
    2e300,
    -1e300,
    math.inf,
    -math.inf,
    math.nan,
    None,
]


def test_truncation_does_not_depend_on_the_order_of_rows() -> None:
    """Not even where floats differ in digits that the hash does not see."""

    def truncate(rows: list[float | None], key: str) -> list[str]:
        table = ibis.memtable(
            pa.table({"u0": pa.array([1] * len(rows)), "v0": pa.array(rows, pa.float64())})
        )
        return sorted(
            repr(item)
            for item in CON.to_pyarrow(truncate_rows(table, 5, ["u0"], key))["v0"].to_pylist()
        )

    assert len({tuple(truncate(FLOATS, str(key))) for key in range(20)}) > 1
    for key in range(20):
        assert (
            truncate(FLOATS, str(key))
            == truncate(FLOATS[::-1], str(key))
            == truncate(FLOATS[7:] + FLOATS[:7], str(key))
        )


LOW_HIGH = [(0, 1), (0, 5), (-3, 5), (-5, 3), (2, 5), (-5, -2), (-1, 1)]


@pytest.mark.parametrize(("low", "high"), LOW_HIGH)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("grouped", [True, False])
def test_sensitivities_are_those_of_brute_force(
    low: int, high: int, relation: str, grouped: bool
) -> None:
    """All units with weight 4 over up to three groups, values at the ends: distances never above
    what is declared, and the L1 ones attained.
    """
    bounding = Bounding(("user",), 4, 4, relation, grouped, "L1", True, 2**40)
    component = Component("x", "value", low, high)
    groups = 3 if grouped else 1
    units = [()]
    for count in range(1, 5):
        units += list(
            itertools.combinations_with_replacement(
                itertools.product(range(groups), (low, high)), count
            )
        )
    vectors = {
        tuple(sum(v for g, v in unit if g == group) for group in range(groups)) for unit in units
    }
    zero = (0,) * groups
    pairs = (
        [(a, zero) for a in vectors]
        if relation == "add-remove"
        else itertools.product(vectors, vectors)
    )
    far1 = far2 = 0
    for a, b in pairs:
        moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
        far1, far2 = max(far1, sum(moved)), max(far2, sum(m * m for m in moved))
    assert far1 == bounding.l1(component)
    assert far2 <= bounding.l2_squared(component)


def test_euclidean_weights_under_replace_reach_the_declared_distance() -> None:
    """α = (c, s)·K, β = (s, c)·K with c : s = h : l: farther than max(h + l, √2·B), which holds of
    L1 weights only.
    """
    h, l, k = 4.0, 2.0, 1.0
    c, s = h / math.hypot(h, l), l / math.hypot(h, l)
    distance = math.hypot(h * c * k + l * s * k, -l * s * k - h * c * k)
    component = Component("x", "value", -2, 4)
    bounding = replace(BOUNDING, norm="L2", relation="replace")
    assert distance == pytest.approx(math.sqrt(bounding.l2_squared(component)) / bounding.weight)
    assert distance > max(h + l, math.sqrt(2) * h)
