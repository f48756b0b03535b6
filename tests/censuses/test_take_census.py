"""A census on the engine, from rows to published tables: the cost, what a neighbour moves, whole
numbers, public totals, refusals.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.censuses import Census, CensusPlan, take_census
from sfumato.censuses.stored_tables import pack_tables, unpack_tables
from sfumato.ledger import BudgetExceeded
from sfumato.session.protected_table import Table
from sfumato.testing import SeededBits

from ..refusing import refusal
from .trees import PLACES

AGES = ["0-17", "18-64", "65+"]
CELLS = {"sex": ["f", "m"], "age": AGES}
Row = tuple[Any, ...]


def protect(rows: list[Row], **options: Any) -> Table:
    names = ["id", "state", "county", "block", "sex", "age"]
    kinds = [pa.int64(), *[pa.string()] * 5]
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    return sf.protect(
        pa.table(dict(zip(names, columns, strict=True))),
        name="people",
        **{"budget": sf.ZCDP(4), "each_row_a_person": True} | options,
    )


def invent(count: int, seed: int = 7) -> list[Row]:
    random = np.random.default_rng(seed)
    paths = random.choice(len(PLACES.paths), count, p=[0.2, 0.2, 0.05, 0.1, 0.2, 0.2, 0.05])
    sex, age = random.choice(["f", "m"], count), random.choice(AGES, count, p=[0.2, 0.6, 0.2])
    return [
        (i, *PLACES.paths[path], str(s), str(a))
        for i, (path, s, a) in enumerate(zip(paths, sex, age, strict=True))
    ]


ROWS = invent(3_000)
STRAYS: list[Row] = [
    (9001, "A", "B1", "a", "f", "65+"),  # a block of another county
    (9002, "C", "C1", "z", "f", "65+"),
    (9003, "A", "A1", "a", "x", "65+"),
    (9004, "A", "A1", None, "f", "65+"),  # a block is missing
    (9005, "A", "A1", "a", "f", None),
]


@pytest.fixture(scope="module")
def people() -> Iterator[Table]:
    with protect(ROWS + STRAYS) as table:
        yield table


@pytest.fixture(scope="module")
def census(people: Table) -> Census:
    return sf.census(people, geography=PLACES, cells=CELLS, rho="1/2")


def exact_tables(plan: CensusPlan) -> list[np.ndarray[Any, Any]]:
    """The exact integers of a plan, before noise."""
    return list(plan.counts.count(plan.source.engine.tally(plan.statement)))


def test_exact_tables_are_counts_of_the_listed_places(people: Table) -> None:
    plan = sf.plan_census(people, geography=PLACES, cells=CELLS, rho="1/2")
    paths, people_listed = plan.design.geography.paths, ROWS
    for (level, table), shift, counts in zip(
        plan.counts.tables, plan.counts.shift, exact_tables(plan), strict=True
    ):
        places = list(dict.fromkeys(path[: level + 1] for path in paths))
        cells = list(product(*(list(CELLS.values())[i] for i in table)))
        expected = [
            [
                sum(
                    row[1 : level + 2] == place and tuple(row[4 + i] for i in table) == cell
                    for row in people_listed
                )
                for cell in cells
            ]
            for place in places
        ]
        assert np.array_equal(counts, np.array(expected) << shift)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("unit", [None, "id"])
def test_neighbours_move_the_tables_by_what_is_charged(relation: str, unit: str | None) -> None:
    """Σ over all tables of (what a neighbour moves / σ)² stays within μ² of the ledger entry, and
    reaches it: so no table is left out of the cost, at any level.
    """
    about: dict[str, Any] = {"relation": relation}
    if unit:
        about |= {"unit": unit, "max_rows": 2, "each_row_a_person": False}
    first = (1, *PLACES.paths[0], "f", "65+")
    worlds: list[list[Row]] = [
        [],
        [first],
        [(1, *PLACES.paths[5], "m", "0-17")],
        [(1, *PLACES.paths[1], "f", "65+")],
        [(1, *PLACES.paths[6], "f", "18-64"), first, first],  # three rows of one unit
        [first] * 2,
        [(1, *PLACES.paths[5], "m", "0-17")] * 2,
    ]
    settings: dict[str, Any] = {
        "geography": PLACES,
        "cells": CELLS,
        "tables": {"total": 1, "sex": 2, "detail": 3},
        "levels": {"state": 3, "county": 2, "block": 1},
        "rho": "1/3",
    }
    others = [(2, *PLACES.paths[0], "f", "0-17"), (3, *PLACES.paths[3], "m", "65+")]
    tables = []
    for world in worlds:
        with protect(others + world, **about) as table:
            plan = sf.plan_census(table, **settings)
            tables.append(exact_tables(plan))
    moved = []
    for (i, before), (j, after) in product(enumerate(tables), enumerate(tables)):
        many = not unit and max(len(worlds[i]), len(worlds[j])) > 1
        if many or (relation == "add-remove" and worlds[i] and worlds[j]):
            continue
        if relation == "replace" and not (worlds[i] and worlds[j]):
            continue
        moved.append(
            sum(
                Fraction(int(((a - b) ** 2).sum())) / noise.sigma**2
                for a, b, noise in zip(before, after, plan.noise, strict=True)
            )
        )
    charged = plan.cost.parameters["rho"]
    square = plan.mechanism.to(sf.GDP).mu_squared
    assert charged <= Fraction(1, 3)
    assert max(moved) <= square
    assert max(moved) > square * Fraction(99, 100)
    without = [part for part, key in zip(plan.noise, plan.counts.tables, strict=True) if key[0]]
    cheaper = sf.mechanisms.Combined(without).to(sf.GDP).mu_squared
    assert max(moved) > cheaper, "a twin that forgets a level in the cost"


def test_one_charge_and_the_same_census_again_for_nothing(tmp_path: Path) -> None:
    path, settings = tmp_path / "people.ledger", {"geography": PLACES, "cells": CELLS}
    with protect(ROWS, ledger=path) as table:
        first = sf.census(table, rho=1, **settings)
        spent = table.spent
        assert spent == first.cost <= sf.ZCDP(1)
        assert first.cost.parameters["rho"] > Fraction(999, 1000)
        assert sum(line.kind == "charge" for line in table.ledger.history()) == 1
    with protect(ROWS, ledger=path) as table:
        again = sf.census(table, rho=1, **settings)
        assert table.spent == spent
        assert again.receipt == first.receipt
        assert np.array_equal(again.counts, first.counts)
        fixed = sf.census(table, rho=1, public={"state": {"A": 1_700}}, **settings)
        assert table.spent == spent, "what is public costs nothing"
        assert fixed.table("state").column("count")[0].as_py() == 1_700
        with pytest.raises(BudgetExceeded):
            sf.census(table, rho=3.5, **settings)
        assert table.spent == spent


def test_people_without_a_value_are_not_those_of_that_name(people: Table) -> None:
    """Null and the text None are different keys, so each has a stored census of its own."""
    null, text = (
        sf.plan_census(people, geography=PLACES, cells={"sex": ["F", key]}, rho="1/8")
        for key in (None, "None")
    )
    assert null.question_key != text.question_key


def test_published_numbers_are_whole_and_add_up(census: Census) -> None:
    detail = census.table("block", ("sex", "age"))
    counts = detail.column("count").to_numpy()
    assert counts.min() >= 0
    assert sum(census.table("state").column("count").to_pylist()) == counts.sum()
    for level in census.levels:
        for by in ((), "sex", ("age", "sex")):
            table = census.table(level, by)
            keys = [
                *census.levels[: census.levels.index(level) + 1],
                *((by,) if by == "sex" else by),
            ]
            expected = detail.group_by(keys).aggregate([("count", "sum")]).to_pylist()
            sums = {tuple(row[key] for key in keys): row["count_sum"] for row in expected}
            for row in table.to_pylist():
                assert row["count"] == sums[tuple(row[key] for key in keys)]
                assert row["low"] <= row["count"] <= row["high"]
    rows = census.people()
    assert rows.num_rows == counts.sum()
    again = rows.group_by(["block", "sex", "age"]).aggregate([([], "count_all")]).to_pylist()
    positive = {(row["block"], row["sex"], row["age"]): row["count"] for row in detail.to_pylist()}
    assert {(row["block"], row["sex"], row["age"]): row["count_all"] for row in again} == {
        cell: count for cell, count in positive.items() if count
    }


def test_an_area_is_a_sum_of_blocks(census: Census) -> None:
    blocks = census.table("block").to_pylist()
    (area,) = census.area(["a", "e", ("B", "B2", None)]).to_pylist()
    of_area = [row for row in blocks if row["block"] in ("a", "e", None)]
    assert area["count"] == sum(row["count"] for row in of_area)
    assert area["estimate"] == pytest.approx(sum(row["estimate"] for row in of_area))
    assert refusal(lambda: census.area(["a", "a"]), "census.area")
    assert refusal(lambda: census.area(["nowhere"]), "census.area")


def test_intervals_cover(people: Table) -> None:
    """95 % of the intervals hold the exact number, but for 6 deviations of a run's share: numbers
    of one run depend on each other, so the runs are what is counted.
    """
    plan = sf.plan_census(people, geography=PLACES, cells=CELLS, rho="1/2")
    keys, shifts, tables = plan.counts.tables, plan.counts.shift, exact_tables(plan)
    exact = {k: t / 2.0**s for k, t, s in zip(keys, tables, shifts, strict=True)}
    shares, errors = [], []
    for seed in range(150):
        bits = SeededBits(seed)
        noisy = {
            key: noise.perturb(table, bits=bits) / 2.0**shift
            for key, table, shift, noise in zip(keys, tables, shifts, plan.noise, strict=True)
        }
        inside = []
        for level, estimate in enumerate(plan.design.estimate(noisy)):
            for table in ((), (0,), (0, 1)):
                deviation = np.sqrt(plan.design.variance(level, table))[:, None]
                error = (plan.design.sum_table(estimate, table) - exact[level, table]) / deviation
                inside.append(np.abs(error) <= 1.959964)
                errors.append(error.ravel())
        shares.append(np.concatenate([values.ravel() for values in inside]).mean())
    deviation = np.std(shares) / len(shares) ** 0.5
    assert abs(np.mean(shares) - 0.95) < 6 * deviation < 0.02
    narrow = np.mean(np.abs(np.concatenate(errors)) <= 0.9 * 1.959964)
    assert abs(narrow - 0.95) > 0.02, "a twin: intervals of nine tenths"


def test_rows_of_a_unit_weigh_no_more_than_its_limit() -> None:
    rows = [(i // 3, *row[1:]) for i, row in enumerate(ROWS)]
    about = {"unit": "id", "max_rows": 1, "each_row_a_person": False}
    with protect(rows, **about) as table:
        plan = sf.plan_census(table, geography=PLACES, cells=CELLS, epsilon=1, delta="1e-6")
        (total, *_) = exact_tables(plan)
        assert total.sum() == 1_000 * 3 * (2**20 // 3)
        assert plan.cost <= sf.Approx(1, "1e-6")
        assert plan.release().cost == plan.cost


def test_public_facts_hold(people: Table) -> None:
    census = sf.census(
        people,
        geography=PLACES,
        cells=CELLS,
        rho=1,
        tables=["total", "detail"],
        levels={"state": 1, "county": 2, "block": 1},
        public={"state": {"A": 1_600, ("B",): 1_400}, "county": {"A2": 300}},
        at_least={"block": {("B", "B2", None): 333}},
        impossible=[{"age": "0-17", "sex": "m"}, {"age": ["65+"], "sex": ["f"]}],
    )
    states = census.table("state").to_pylist()
    assert [row["count"] for row in states] == [1_600, 1_400]
    for end in ("low", "high"):
        assert [row[end] for row in states] == pytest.approx([1_600, 1_400])
    assert census.table("county").column("count")[1].as_py() == 300
    assert census.table("block").column("count")[6].as_py() >= 333
    cells = {
        (r["sex"], r["age"]): r["count"] for r in census.area(["a"], ["sex", "age"]).to_pylist()
    }
    assert cells["m", "0-17"] == cells["f", "65+"] == 0 < cells["m", "65+"]
    people_counted = pa.table(
        {
            name: [row[i] for row in ROWS]
            for i, name in enumerate(["id", "state", "county", "block", "sex", "age"])
        }
    ).append_column("count", pa.array([1] * len(ROWS)))
    errors = census.compare(people_counted)
    assert {row.level for row in errors} == {"state", "county", "block"}
    assert errors[0].places == 2
    truth = sum(row[1] == "A" for row in ROWS)
    assert errors[0].mean_absolute == (abs(truth - 1_600) + abs(3_000 - truth - 1_400)) / 2


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "no geography": ("census.geography", {"geography": "state"}),
    "a level that is no column": (
        "census.geography",
        {"geography": sf.hierarchy("planet", "block", places={"A": ["a"]})},
    ),
    "columns without a hierarchy": ("census.geography", {"geography": ["state", "county"]}),
    "no cells": ("census.cells", {"cells": []}),
    "a level as a cell": ("census.cells", {"cells": {"block": ["a"]}}),
    "cells without keys": ("census.cells", {"cells": ["sex"]}),
    "an unknown table": ("census.tables", {"tables": ["sexes"]}),
    "a table twice": ("census.tables", {"tables": ["sex", ("sex",)]}),
    "no detail": ("census.tables", {"tables": ["total"]}),
    "an unknown level": ("census.levels", {"levels": {"planet": 1}}),
    "nothing for the smallest places": ("census.levels", {"levels": {"state": 1}}),
    "a negative weight": ("census.levels", {"tables": {"total": -1, "detail": 1}}),
    "no cost": ("census.cost", {"rho": None}),
    "two costs": ("census.cost", {"epsilon": 1, "delta": 1e-6}),
    "epsilon alone": ("census.cost", {"rho": None, "epsilon": 1}),
    "totals from the data": ("census.public", {"public": True}),
    "totals of a level from the data": ("census.public", {"public": {"state": "exact"}}),
    "a total that is no number": ("census.public", {"public": {"state": {"A": None}}}),
    "a total of nowhere": ("census.public", {"public": {"state": {"Z": 1}}}),
    "a total of no level": ("census.levels", {"public": {"planet": {"A": 1}}}),
    "totals that disagree": (
        "census.public",
        {"public": {"state": {"A": 10}, "county": {"A1": 7, "A2": 4}}},
    ),
    "totals below a least one": (
        "census.public",
        {"public": {"county": {"A1": 2}}, "at_least": {"block": {"a": 3}}},
    ),
    "an impossible key": ("census.impossible", {"impossible": [{"age": "old"}]}),
    "nothing possible": ("census.impossible", {"impossible": [{"sex": ["f", "m"]}]}),
}


@pytest.mark.parametrize(("code", "options"), REFUSED.values(), ids=list(REFUSED))
def test_refusals(people: Table, code: str, options: dict[str, Any]) -> None:
    spent = people.spent
    settings = {"geography": PLACES, "cells": CELLS, "rho": 1} | options
    refusal(lambda: sf.census(people, **settings), code)
    assert people.spent == spent


def test_too_many_numbers_are_refused(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(take_census, "MOST_NUMBERS", 41)
    refusal(lambda: sf.census(people, geography=PLACES, cells=CELLS, rho=1), "census.cells")


def test_tables_that_are_not_protected_are_refused(people: Table) -> None:
    settings: dict[str, Any] = {"geography": PLACES, "cells": CELLS, "rho": 1}
    rows: Any = ROWS
    refusal(partial(sf.census, rows, **settings), "census.table")
    with protect(ROWS, budget=3) as table:
        refusal(lambda: sf.census(table, **settings), "census.cost")
    with protect(ROWS, table_rows=2**48, unit="id", max_rows=1, each_row_a_person=False) as table:
        refusal(lambda: sf.census(table, **settings), "census.table")


def test_a_stored_census_comes_back_or_is_damaged(census: Census, people: Table) -> None:
    tables = [np.array([[3, -200]]), np.array([[2**40]]), np.array([[2**70, -5]], dtype=object)]
    keys = [(0, ()), (1, (0,)), (1, ())]
    receipt = people.ledger.charge(sf.mechanisms.Gaussian(sensitivity=1, rho="0.01"))
    packed = pack_tables(keys, tables, receipt)
    again = unpack_tables(packed)
    assert [again.tables[key].tolist() for key in keys] == [
        [[3, -200]],
        [[2**40]],
        [[2**63 - 1, -5]],
    ]
    assert again.paid.number == receipt.number
    for damaged in (b"", packed[:-3], packed.replace(b'"census": 1', b'"census": 9')):
        refusal(partial(unpack_tables, damaged), "census.stored")
    refusal(partial(census.table, "planet"), "census.by")
    assert "census of" in repr(census)
