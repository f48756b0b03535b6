"""Intervals of means, ratios and sums of cells: they hold as often as they say, and not more often
than they need to, for few and for many rows.

*False alarms*  Of 20,000 simulated groups the share that holds lies within 0.006 of its expectation
                but for a chance below 10⁻⁴; the seed is fixed.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from sfumato.answers import KINDS, Answer
from sfumato.answers.answer_records import Column, Draw, LinearNoise, Noisy, share_draws
from sfumato.answers.chosen_groups import take_first_groups
from sfumato.answers.intervals import interval
from sfumato.guarantees import Pure
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.mechanisms.shared.additive import Additive
from sfumato.noise.law import SummableLaw

GROUPS = 20_000
STEPS = 1 << 12
LAWS: dict[str, Additive] = {
    "Laplace": Laplace(sensitivity=STEPS, epsilon=1),
    "coarse": Laplace(sensitivity=1, epsilon=1),
    "Gaussian": Gaussian(sensitivity=STEPS, rho="1/2"),
}
MEAN = {"low": F(0), "high": F(100), "centre": F(50)}


def drawn(law: Additive, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Draw noise by the law's own probabilities, with a seed."""
    width = law.law.half_width(F(1) - F(1, 10**9))
    points = np.arange(-width, width + 1)
    assert isinstance(law.law, SummableLaw)
    tails = law.law.rough_tails(np.arange(1, width + 2, dtype=np.float64))  # P(Z ≥ z)
    below = np.concatenate([tails[::-1], 1 - tails])[1 : len(points) + 1]
    uniform = np.random.default_rng(seed).uniform(size=shape)
    return points[np.minimum(np.searchsorted(below, uniform), len(points) - 1)]


def answer_of(pieces: list[Noisy], columns: list[Column]) -> Answer:
    return Answer(
        keys=("g",),
        rows=tuple((i,) for i in range(GROUPS)),
        pieces=tuple(pieces),
        columns=tuple(columns),
        cost=Pure(1),
    )


def of_cells(
    name: str, weights: tuple[int, ...], step: F, cells: np.ndarray, law: Additive
) -> Noisy:
    draws = tuple(Draw(law, F(w), f"0.{i}") for i, w in enumerate(weights) if w)
    values = (cells.astype(object) * np.array(weights, dtype=object)).sum(axis=1)
    return Noisy(name, values.reshape(-1, 1), step, LinearNoise(draws))


def share_within(answer: Answer, name: str, exact: float) -> float:
    low, high = interval(answer, answer.column(name))
    assert (low <= high).all()
    return float(((low <= exact) & (exact <= high)).mean())


def mean_answer(law: Additive, steps: int, n: int, total: int, seed: int) -> Answer:
    """Release (null, low, high) of a column on [0, 100] whose values sum to total/steps·100."""
    exact = np.array([3 * steps, n * steps - total, total])
    cells = exact + drawn(law, (GROUPS, 3), seed)
    sums = of_cells("s", (0, -1, 1), F(50, steps), cells, law)
    rows = of_cells("n", (0, 1, 1), F(1, steps), cells, law)
    every = of_cells("count", (1, 1, 1), F(1, steps), cells, law)
    columns = [
        Column("mean", "mean", (0, 1), numbers=MEAN),
        Column("rows", "count", (2,)),
        Column("sum", "sum", (0,), numbers={"low": F(-50), "high": F(50)}),
    ]
    return answer_of([sums, rows, every], columns)


@pytest.mark.parametrize("n", [10, 100, 10_000])
@pytest.mark.parametrize("place", [0.02, 0.3, 0.5])
@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
def test_intervals_of_cells_hold_as_often_as_they_say(n: int, place: float, kind: str) -> None:
    law = LAWS[kind]
    total = round(place * n * STEPS)
    answer = mean_answer(law, STEPS, n, total, seed=n + round(100 * place))
    exact = {
        "mean": 100 * total / (n * STEPS),
        "rows": n + 3.0,
        "sum": 100 * total / STEPS - 50 * n,
    }
    for name, value in exact.items():
        # next to a bound the set may be empty; then the interval holds more often than it has to
        most = 0.98 if name == "mean" and place * n < 1 else 0.965
        assert 0.946 <= share_within(answer, name, value) <= most, name


@pytest.mark.parametrize("n", [10, 1000])
def test_coarse_noise_holds_at_least_as_often(n: int) -> None:
    """On a grid of one step the law is discrete: an interval cannot hold with exactly 95 %."""
    answer = mean_answer(LAWS["coarse"], 1, n, n // 4, seed=n)
    assert share_within(answer, "mean", 100 * (n // 4) / n) >= 0.946


@pytest.mark.parametrize(("top", "bottom"), [(500, 1000), (-30, 10), (4000, 100), (0, 50)])
def test_ratios_of_independent_sums(top: int, bottom: int) -> None:
    law = LAWS["Laplace"]
    noise = drawn(law, (GROUPS, 2), seed=top + bottom + 77)
    pieces = [
        Noisy(name, (exact * STEPS + noise[:, [i]]), F(1, STEPS), law)
        for i, (name, exact) in enumerate((("s", top), ("n", bottom)))
    ]
    bounds = {"low": F(-1), "high": F(1), "by_low": F(0), "by_high": F(1)}
    answer = answer_of(pieces, [Column("r", "ratio", (0, 1), numbers=bounds)])
    assert 0.946 <= share_within(answer, "r", top / bottom) <= 0.965


def test_a_divisor_near_zero_leaves_the_ratio_open() -> None:
    law = LAWS["Laplace"]
    pieces = [
        Noisy(name, np.full((GROUPS, 1), value * STEPS), F(1, STEPS), law)
        for name, value in (("s", 100), ("n", 1))
    ]
    bounds = {"low": F(-1), "high": F(1), "by_low": F(0), "by_high": F(1)}
    column = Column("r", "ratio", (0, 1), numbers=bounds)
    low, high = interval(answer_of(pieces, [column]), column)
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()


def test_a_mean_stays_between_its_bounds_and_is_open_without_rows() -> None:
    answer = mean_answer(LAWS["Laplace"], STEPS, 0, 0, seed=5)
    low, high = interval(answer, answer.column("mean"))
    assert low.min() >= 0
    assert high.max() <= 100
    assert np.median(high - low) == pytest.approx(100)


def test_an_interval_is_narrower_than_two_boxes() -> None:
    """The box of S and N, each at its own level, is wider than the exact set."""
    answer = mean_answer(LAWS["Laplace"], STEPS, 1000, 300 * STEPS, seed=3)
    low, high = interval(answer, answer.column("mean"))
    s, n = (piece.half_width(F(39, 40)) * piece.step for piece in answer.pieces[:2])
    box = 2 * (s + 20 * n) / 1000
    assert np.median(high - low) < 0.8 * float(box)


def test_the_plan_expects_the_width_of_the_answer() -> None:
    import pandas as pd

    import sfumato as sf

    frame = pd.DataFrame({"x": np.repeat([0.0, 10.0], 500)})
    table = sf.protect(frame, budget=10, bounds={"x": (0, 10)}, name="t")
    plan = table.plan("SELECT AVG(x) AS m FROM t", epsilon=1)
    answer = table.sql("SELECT AVG(x) AS m FROM t", epsilon=1)
    low, high = interval(answer, answer.columns[0])
    expected = plan.error(group_size=1000)["m"]
    assert 0.55 * expected <= float(high[0] - low[0]) / 2 <= 1.05 * expected


def test_a_choice_by_one_piece_marks_those_that_share_its_noise() -> None:
    answer = mean_answer(LAWS["Laplace"], STEPS, 100, 30 * STEPS, seed=1)
    assert share_draws(answer.pieces)
    chosen = take_first_groups(answer, [2], range(5))
    assert [piece.among for piece in chosen.pieces] == [GROUPS] * 3
    wide = interval(chosen, chosen.column("mean"))
    alone = interval(answer, answer.column("mean"))
    assert (wide[1] - wide[0] > 1.5 * (alone[1] - alone[0])[:5]).all()


def test_quotients_are_means_and_ratios() -> None:
    assert {name for name, kind in KINDS.items() if kind.is_quotient} == {
        "mean",
        "weighted_mean",
        "ratio",
        "regression_mean_x",
        "regression_mean_y",
    }
