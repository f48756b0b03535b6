"""The steps of an additive model: what one unit moves, by enumeration of neighbours on a real
engine; the integers against sums in Python; and what the ledger is charged.

The twins: residuals that are not clamped, rows that are not weighed, and bins from the data move
further than the noise covers.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.guarantees.gdp import largest_mu
from sfumato.learn.additive_steps import ONE, AdditiveTrainer, linear_link, logistic_link
from sfumato.learn.merged_cells import MergedCells, merge_cells
from sfumato.learn.model_plan import ModelPlan
from sfumato.testing import SeededBits

from .small_tables import EXTREME_ROWS, Row, base_rows, table_of, tally_of, units_of_interest


def plan_of(rows: list[Row], target: str = "vip", **options: object) -> ModelPlan:
    features = ["x", "city"] if target == "vip" else ["city", "vip"]
    kind = sf.learn.AdditiveClassifier if target == "vip" else sf.learn.AdditiveRegressor
    table = table_of(rows, **options)
    return kind(epsilon=1, delta=1e-6, steps=3).plan(table, target=target, features=features)


def trainer_of(plan: ModelPlan) -> AdditiveTrainer:
    assert isinstance(plan.trainer, AdditiveTrainer)
    return plan.trainer


def integers_of(
    plan: ModelPlan, model: tuple[np.ndarray, int], trainer: AdditiveTrainer | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact counts, and the exact gradient of a model with every code as a bin."""
    trainer = trainer or trainer_of(plan)
    tallies = tally_of(plan)
    cells = [
        MergedCells(np.arange(code.size), np.ones(code.size)) for code in trainer.coded.codes[:-1]
    ]
    (counts,) = trainer._count_cells(tallies)
    (gradient,) = trainer._add_residuals(cells, model, tallies)
    return counts, gradient


def models_of(plan: ModelPlan) -> list[tuple[np.ndarray, int]]:
    """Return weights that make residuals small, mixed and as large as they can be."""
    size = sum(code.size for code in plan.coded.codes[:-1])
    random = np.random.default_rng(7)
    mixed = random.integers(-3 * ONE, 3 * ONE, size)
    return [
        (np.zeros(size, dtype=np.int64), 0),
        (mixed, 100),
        (mixed * 0, 15 * ONE),
        (-mixed, -15 * ONE),
    ]


def squared(move: np.ndarray) -> int:
    return sum(int(value) ** 2 for value in move)


@pytest.mark.parametrize("target", ["vip", "x"])
@pytest.mark.parametrize("bounding", ["weights", "truncation"])
def test_no_unit_moves_further_than_the_noise_covers(target: str, bounding: str) -> None:
    base = base_rows(6)
    before = plan_of(base, target, bounding=bounding)
    models = models_of(before)
    exact = [integers_of(before, model) for model in models]
    (count_move, _), (gradient_move, _), *_ = trainer_of(before).moves
    most = [0, 0]
    units = list(units_of_interest())
    for unit in units if (target, bounding) == ("vip", "weights") else units[1::5]:
        after = plan_of([*base, *unit], target, bounding=bounding)
        for model, (counts, gradient) in zip(models, exact, strict=True):
            new_counts, new_gradient = integers_of(after, model)
            most[0] = max(most[0], squared(new_counts - counts))
            most[1] = max(most[1], squared(new_gradient - gradient))
    assert most[0] <= count_move
    assert most[1] <= gradient_move
    assert most[0] == count_move  # reached, so that less noise would be a fault
    assert most[1] > (0.98 if target == "vip" else 0.2) * gradient_move


def test_replacing_a_unit_stays_within_its_bound() -> None:
    units = list(units_of_interest())[::3]
    plans = [plan_of([*base_rows(3), *unit], relation="replace") for unit in units]
    models = models_of(plans[0])[1:3]
    (count_move, _), (gradient_move, _), *_ = trainer_of(plans[0]).moves
    integers = [[integers_of(plan, model) for model in models] for plan in plans]
    for first in integers:
        for second in integers:
            for (counts, gradient), (new_counts, new_gradient) in zip(first, second, strict=True):
                assert squared(new_counts - counts) <= count_move
                assert squared(new_gradient - gradient) <= gradient_move


def test_twins_move_further() -> None:
    """Residuals that are not clamped; and rows of a unit that are not weighed."""
    base = base_rows(8)
    before, after = plan_of(base, "x"), plan_of([*base, (1000, 0.0, "Bari", True)], "x")
    gradient_move = trainer_of(before).moves[1][0]
    model = models_of(before)[2]
    loose = [
        replace(
            trainer_of(plan), link=4 * trainer_of(plan).link, values=4 * trainer_of(plan).values
        )
        for plan in (before, after)
    ]

    def unclamped(plan: ModelPlan, trainer: AdditiveTrainer) -> np.ndarray:
        """Add up residuals as the trainer would without its clamp."""
        total = np.zeros(sum(code.size for code in trainer.coded.codes[:-1]), dtype=np.int64)
        at = min(2 * 16 * ONE, model[1] + 16 * ONE)
        for packs, weights in trainer.coded.batches(tally_of(plan)[0][0]):
            assert weights is not None
            residual = (trainer.link[at] - trainer.values[packs[-1]]) * weights
            np.add.at(total, packs[0], residual)
        return total

    moved = squared(unclamped(after, loose[1]) - unclamped(before, loose[0]))
    assert moved > gradient_move

    crowd = [(1000, 0.0, "Bari", True)] * 7
    free = {"each_row_a_person": True}
    plans = [plan_of(rows, **free) for rows in (base, base + crowd)]
    counts = [integers_of(plan, models_of(plan)[0])[0] for plan in plans]
    count_move = trainer_of(plans[0]).moves[0][0]
    assert squared(counts[1] - counts[0]) > count_move  # seven persons, not one


def test_integers_are_group_by_sums_whatever_the_order() -> None:
    rows = [*base_rows(60), *((50 + i, *EXTREME_ROWS[i]) for i in range(len(EXTREME_ROWS)))]
    plan = plan_of(rows)
    codes = plan.coded.codes
    weights, intercept = models_of(plan)[1]
    numbers = np.array([row[1] if row[1] is not None else np.nan for row in rows])
    import pyarrow as pa

    x = codes[0].encode(pa.chunked_array([pa.array(numbers)]))
    city = codes[1].encode(pa.chunked_array([pa.array([row[2] for row in rows], pa.string())]))
    per_unit: dict[int, int] = {}
    for row in rows:
        if row[3] is not None:
            per_unit[row[0]] = per_unit.get(row[0], 0) + 1
    expected_counts = np.zeros(codes[0].size + codes[1].size, dtype=np.int64)
    expected = np.zeros_like(expected_counts)
    for row, a, b in zip(rows, x, city, strict=True):
        if row[3] is None:
            continue
        weight = (2 << 10) // max(per_unit[row[0]], 2)
        score = intercept + weights[a] + weights[codes[0].size + b]
        chance = round(ONE / (1 + np.exp(-np.clip(score, -16 * ONE, 16 * ONE) / ONE)))
        for at in (a, codes[0].size + b):
            expected_counts[at] += weight
            expected[at] += weight * (chance - ONE * row[3])
    counts, gradient = integers_of(plan, (weights, intercept))
    assert np.array_equal(counts, expected_counts)
    assert np.array_equal(gradient, expected)
    shuffled = integers_of(plan_of(rows[::-1]), (weights, intercept))
    assert np.array_equal(shuffled[0], counts)
    assert np.array_equal(shuffled[1], gradient)


def test_links_are_within_one() -> None:
    for link, low in ((logistic_link(), 0), (linear_link(), -ONE)):
        assert link.min() == low
        assert link.max() == ONE
        assert (np.diff(link) >= 0).all()


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_noise_of_all_steps_keeps_the_promise(relation: str) -> None:
    plan = plan_of(base_rows(), relation=relation)
    spent = sum(
        (
            Fraction(moved) / noise.sigma**2
            for (moved, _), noise in zip(trainer_of(plan).moves, plan.noise, strict=True)
        ),
        Fraction(0),
    )
    most = largest_mu(Fraction(1), Fraction(1, 10**6)) ** 2
    assert spent <= most
    assert spent > most * Fraction(999_999, 1_000_000)
    fewer = [noise.scale_noise(Fraction(99, 100)) for noise in plan.noise]  # the twin
    assert sum(noise.moves_squared / noise.sigma**2 for noise in fewer) > most


def test_bins_depend_on_noisy_counts_alone() -> None:
    """Merging is handed numbers, not rows; equal numbers give equal bins."""
    plan = plan_of(base_rows())
    number, city = plan.coded.codes[:2]
    counts = np.zeros(number.size)
    counts[[0, 40, 41, 70]] = [50.0, 20.0, 5.0, 80.0]
    merged = merge_cells(number, counts, 10.0)
    assert merged.size == 2
    assert merged.bins[0] == 0
    assert merged.bins[70] == merged.bins[-1] == 1  # missing values go with the larger bin
    assert np.array_equal(merged.bins, merge_cells(number, counts.copy(), 10.0).bins)
    assert merge_cells(city, np.array([100.0, 3.0, 5.0]), 10.0).bins.tolist() == [0, 1, 1]


def test_descent_is_the_same_for_the_same_noise() -> None:
    weights = []
    for _ in range(2):
        table = table_of(base_rows())
        model = sf.learn.AdditiveClassifier(epsilon=1, delta=1e-6)
        plan = model.plan(table, target="vip", features=["x", "city"])
        weights.append(plan.release(bits=SeededBits(5)).fields["weights"])
    assert weights[0] == weights[1]


def test_descent_takes_steps_back_where_features_repeat() -> None:
    """Thirty copies of a feature would let plain steps grow without end."""
    random = np.random.default_rng(3)
    x = random.uniform(0, 1, 4000)
    y = random.uniform(0, 1, 4000) < 0.1 + 0.8 * x
    copies = {f"x{i}": x for i in range(30)}
    bounds = dict.fromkeys(copies, (0, 1))
    model = sf.learn.AdditiveClassifier(epsilon=50, delta=1e-6, bounds=bounds, steps=16)
    model.fit(copies, y)
    assert model.score(copies, y) > 0.68  # the best rule has 0.7
    assert np.abs(model.score_rows(copies)).max() < 16
