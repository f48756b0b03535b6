"""Several groupings planned together: sensitivity on neighbours, promise, law and plan text."""

from __future__ import annotations

import itertools
from fractions import Fraction as F
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.guarantees import GDP, ZCDP, Approx, Guarantee, Pure
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.session import Table
from sfumato.tables.marginals.reconcile import reconcile, round_together
from sfumato.tables.marginals.reconciled_noise import ReconciledNoise
from sfumato.tables.plan.query_plan import Plan
from sfumato.tables.plan.reconcile_groupings import reconcile_blocks
from sfumato.testing.exact_checks import Rehearsal, exact_answer

CITIES = ["Bari", "Roma"]
PROMISES: list[Guarantee] = [Pure(1), Approx(1, "1e-6"), ZCDP("1/2"), GDP(1)]
Row = tuple[int | None, str | None, bool | None, float | None]


def people(rows: list[Row], relation: str = "add-remove", **changes: Any) -> Table:
    about = {
        "unit": "id",
        "max_rows": 2,
        "bounds": {"x": (-3, 10)},
        "keys": {"city": CITIES},
        "types": {"id": "integer", "city": "text", "vip": "boolean", "x": "float"},
        "relation": relation,
        "budget": Approx(1000, "1e-3"),
    } | changes
    frame = pd.DataFrame(rows, columns=["id", "city", "vip", "x"])
    frame = frame.astype({"id": "Int64", "vip": "boolean", "x": "float64"})
    table: Table = sf.protect(frame, name="people", **about)
    return table


def random_rows(random: Random, unit: int, count: int) -> list[Row]:
    """Rows of one unit, in several cells, some without a key or with one that nobody lists."""
    return [
        (
            unit,
            random.choice([*CITIES, "Oslo", None]),
            random.choice([True, False, None]),
            random.choice([-9.0, 2.5, 10.0, None]),
        )
        for _ in range(count)
    ]


def cube_of(table: Table, **aggregates: Any) -> Any:
    columns = aggregates or {"n": sf.count(), "s": sf.sum("x"), "m": sf.mean("x")}
    return table.group_by(sf.cube("city", "vip")).aggregate(**columns)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("promise", [Pure(1), GDP(1)], ids=str)
def test_neighbours_move_no_farther_than_declared(relation: str, promise: Guarantee) -> None:
    """The unit that differs has more rows than its limit, in several cells. Every call of the noise
    sees integers within its sensitivity, in the norm of its law.
    """
    random, nearest = Random(7), 0.0
    rest = [row for unit in range(3) for row in random_rows(random, unit, 1 + unit)]
    tries = [random_rows(random, 9, count) for count in (1, 2, 2, 3, 3, 5, 5)]
    full: Row = (9, "Roma", True, 10.0)
    far: Row = (9, "Bari", False, -9.0)
    tries += [[full] * 2, [full] * 7, [far] * 2, [(9, "Bari", False, 10.0)] * 2]
    worlds = [rest + rows for rows in tries]
    if relation == "add-remove":
        worlds = [rest, *worlds]
    calls = []
    for rows in worlds:
        with people(rows, relation) as table:
            plan = cube_of(table).plan(promise=promise)
            calls.append(Rehearsal(plan).measure()[0])
    pairs = (
        [(calls[0], each) for each in calls[1:]]
        if relation == "add-remove"
        else list(itertools.combinations(calls, 2))
    )
    for before, after in pairs:
        assert len(before) == len(after)
        for first, second in zip(before, after, strict=True):
            noise = first.mechanism
            assert isinstance(noise, Laplace | Gaussian)
            moved = [int(a) - int(b) for a, b in zip(*_flat(first, second), strict=True)]
            size = sum(map(abs, moved)) if isinstance(noise, Laplace) else _norm(moved)
            assert size <= float(noise.sensitivity) * (1 + 1e-12)
            nearest = max(nearest, size / float(noise.sensitivity))
    assert nearest > 0.999  # some neighbours move as far as declared


def _flat(first: Any, second: Any) -> tuple[Any, Any]:
    return tuple(call.integers[0].ravel().tolist() for call in (first, second))


def _norm(moved: list[int]) -> float:
    return float(sum(step * step for step in moved) ** 0.5)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_all_tables_together_keep_the_promise(relation: str, promise: Guarantee) -> None:
    with people([], relation) as table:
        plan = cube_of(table).plan(promise=promise)
    assert isinstance(plan, Plan)
    if isinstance(promise, Approx):
        assert plan.cost.epsilon(promise.parameters["delta"]) <= 1
    else:
        assert plan.mechanism.to(type(promise)) <= promise
    workload = plan.workload
    assert workload is not None
    parts = [each for several in workload.noise.values() for each in several if each is not None]
    parts += [each for each in workload.pooled if each is not None]
    assert sorted(map(repr, plan.mechanism.parts)) == sorted(map(repr, parts))
    assert sum(workload.shares.measured.values()) == 1


def test_without_noise_the_tables_are_those_of_the_data() -> None:
    """With one set of weights: unit 1 has four rows and a limit of two, so each weighs a half."""
    rows: list[Row] = [
        (1, "Roma", True, 4.0),
        (1, "Roma", False, 4.0),
        (1, "Bari", True, 2.0),
        (1, "Bari", None, 2.0),
        (2, "Roma", True, 9.0),
        (3, "Oslo", True, 9.0),  # another key: in no table, and not in the total
        (None, "Roma", True, 9.0),
    ]
    with people(rows) as table:
        plan = cube_of(table).plan(promise=GDP(1))
        answer = exact_answer(plan, table)
    plain = {
        part.keys: dict(zip(part.rows, _estimates(part, "n"), strict=True))
        for part in answer.tables
    }
    assert plain[()] == {(): 3.0}
    assert plain["city",] == {("Bari",): 1.0, ("Roma",): 2.0}
    assert plain["vip",] == {(False,): 0.5, (True,): 2.0, (None,): 0.5}
    assert plain["city", "vip"]["Roma", True] == 1.5
    assert answer.table().value("s") == pytest.approx(15.0, abs=1e-3)
    assert answer.table("city").value("m", city="Roma") == pytest.approx(6.5, abs=1e-3)


def _estimates(answer: Any, name: str) -> list[float]:
    piece = answer.pieces[answer.column(name).pieces[0]]
    return [float(round(value * piece.step, 6)) for value in piece.values[:, 0].tolist()]


def test_the_law_of_a_cell_is_that_of_its_estimate() -> None:
    """The variance as a fraction, from the draws, against many releases of the same integers."""
    with people([(1, "Roma", True, 1.0)]) as table:
        plan = cube_of(table, n=sf.count()).plan(promise=GDP(1))
    workload = plan.workload
    assert workload is not None
    random = np.random.default_rng(3)
    by, fine = workload.reconciliation(0), 0.5 ** workload.fine[0]
    samples: dict[Any, list[float]] = {keys: [] for keys in workload.requested}

    for _ in range(2000):
        noisy = {
            keys: random.normal(0, float(each[0].law.sigma), workload.domain.shape(keys))
            for keys, each in workload.noise.items()
        }
        for keys, cells in round_together(reconcile(noisy, by, workload.requested), fine).items():
            samples[keys].append(float(cells.ravel()[0]))
    for keys, values in samples.items():
        noise = workload.tables[keys].noise[0][0]
        assert isinstance(noise, ReconciledNoise)
        assert isinstance(noise.exact_variance, F)
        ratio = np.var(values) / float(noise.exact_variance)
        assert abs(ratio - 1) < 0.2  # 6 standard errors of 2,000 draws
        assert noise.law.variance == pytest.approx(float(noise.exact_variance), rel=1e-5)


@pytest.mark.parametrize("promise", [GDP(1), Pure(1)], ids=str)
@pytest.mark.parametrize("runs", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_intervals_hold_as_often_as_they_say(promise: Guarantee, runs: int) -> None:
    """95 % intervals of all cells over exact noise, between 95 % and 97 % (Laplace laws of few
    draws are bounded from above); narrower ones by a tenth do not hold. False alarm below 10⁻⁶.
    """
    with people([]) as table:
        plan = cube_of(table, n=sf.count()).plan(promise=promise)
    workload = plan.workload
    assert workload is not None
    halves = {
        keys: workload.tables[keys].noise[0][0].law.half_width(F(19, 20))
        for keys in workload.requested
    }
    held = narrow = cells = 0
    for _ in range(runs):
        zeros = {
            keys: np.zeros((*workload.domain.shape(keys), 1), dtype=np.int64)
            for keys in workload.noise
        }
        noisy = {
            keys: noise.perturb(zeros[keys])
            for keys, (noise, *_) in workload.noise.items()
            if noise is not None
        }
        for keys, estimates in reconcile_blocks(workload, [noisy])[0].items():
            sizes = np.abs(estimates.astype(np.float64))
            held += int((sizes <= halves[keys]).sum())
            narrow += int((sizes <= 0.9 * halves[keys]).sum())
            cells += sizes.size
    error = 5 * (0.05 * 0.95 / runs) ** 0.5  # as if cells of one run were one draw
    assert 0.95 - error < held / cells < 0.97 + error
    assert narrow < held
    assert narrow / cells < 0.94 + error


def test_the_plan_says_what_is_measured() -> None:
    with people([]) as table:
        text = cube_of(table, n=sf.count()).plan(promise=ZCDP("1/2")).explain()
        alone = table.group_by("city", "vip").count().plan(promise=ZCDP("1/8")).error()["n"]
        cube = cube_of(table, n=sf.count()).plan(promise=ZCDP("1/2"))
    assert "(city, vip): n ± " in text
    assert "of the error of separate answers" in text
    assert "errors are 0." in text
    assert cube.tables[0].error()["n"] < alone
    assert cube.error()["n"] == max(each.error()["n"] for each in cube.tables)


def test_the_plan_says_which_table_would_be_better_by_itself() -> None:
    steps = sf.rollup("city", "vip", "age")
    with sf.protect(
        sf.samples.visits(),
        name="visits",
        each_row_a_person=True,
        keys={"city": ["Roma", "Bari", "Milano"], "age": list(range(20, 60))},
        budget=ZCDP(1),
    ) as table:
        plan = table.group_by(steps).count().plan(promise=ZCDP("1/2"))
        report = sf.report(table, [table.group_by(steps).count()]).plan(promise=ZCDP("1/2"))
    worse = [keys for keys, ratio in plan.workload.shares.ratios.items() if ratio > 1.01]
    assert () in worse
    assert (0, 1, 2) not in worse
    assert "(): more noise than by itself" in plan.explain()
    assert "more noise than by itself" not in report.explain()


def test_within_is_reached_in_the_worst_table() -> None:
    with people([]) as table:
        plan = cube_of(table, n=sf.count()).plan(within=25)
        assert 20 < max(each.error()["n"] for each in plan.tables) <= 25


@pytest.mark.parametrize(
    ("aggregate", "code"),
    [(sf.count_units(), "plan.groupings"), (sf.median("x"), "plan.groupings")],
)
def test_what_does_not_add_up_is_refused(aggregate: Any, code: str) -> None:
    with people([]) as table, pytest.raises(sf.Refused) as refusal:
        cube_of(table, n=aggregate).plan(epsilon=1, delta=1e-6)
    assert refusal.value.code == code


def test_private_keys_and_drawn_rows_are_refused() -> None:
    with people([], keys={}) as table, pytest.raises(sf.Refused, match="public keys"):
        cube_of(table).plan(epsilon=1, delta=1e-6)
    with people([], bounding="truncation") as table, pytest.raises(sf.Refused, match="drawn"):
        cube_of(table).plan(epsilon=1, delta=1e-6)


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_grids_are_fine_where_noise_is_small(promise: Guarantee) -> None:
    """Integer noise of a tiny scale is nearly always 0, and `within=` plans with such costs."""
    budget = promise.scaled(F(1000))
    with people([], unit=None, max_rows=None, budget=budget) as table:
        question = cube_of(table, n=sf.count())
        error = question.plan(within=25).error()["n"]
        workload = question.plan(promise=budget).workload
    assert 0.99 * 25 < error <= 25
    assert workload is not None
    (deviations,) = zip(
        *(
            [each.law.variance**0.5 for each in several if each]
            for several in workload.noise.values()
        ),
        strict=True,
    )
    assert all(2**9 < deviation < 2**12 for deviation in deviations)
