"""Reading noisy histograms: how far they are inhabited, by the exact law of the noise, and how many
lie beyond a cell.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.signal import fftconvolve

from sfumato.mechanisms import Gaussian, Laplace
from sfumato.noise.weighted_sums import sum_bound
from sfumato.session.choose_limits import row_edges
from sfumato.session.noisy_cells import (
    FARTHER,
    MISSED,
    NEXT,
    RUNS,
    SURE,
    TAIL,
    HistogramNoise,
    NoisyHistogram,
    Outward,
    StoredHistogram,
)

CELLS = len(row_edges()) - 1
LAWS = [Laplace(sensitivity=1 << 20, epsilon="0.025"), Gaussian(sensitivity=1 << 20, rho="0.01")]
NAMES = ["laplace", "gaussian"]


def noise(law: Laplace | Gaussian, cells: int, **chances: Fraction) -> HistogramNoise:
    return HistogramNoise(law.law, 2.0**-20, cells, **chances)


def outward(*counts: float, near: Fraction = NEXT) -> Outward:
    """Cells with noise of one half."""
    law = Laplace(sensitivity=1, epsilon=2)
    return Outward(counts, HistogramNoise(law.law, 1.0, len(counts), near=near))


@pytest.mark.parametrize(
    ("counts", "share", "within"),
    [
        ((100.0, 10.0), Fraction("0.091"), (0.0, 21 / 110)),
        ((100.0, -5.0), Fraction(0), (0.0, 6 / 95)),
        ((3.0, 2.0), Fraction("0.4"), (0.0, 1.0)),
        ((-3.0, -2.0), Fraction("0.5"), (0.0, 1.0)),
        ((-30.0, -20.0), Fraction("0.5"), (0.0, 1.0)),
        ((0.0, 100.0), Fraction(1), (89 / 100, 1.0)),
    ],
)
def test_the_error_covers_all_shares_that_the_noise_allows(
    counts: tuple[float, ...],
    share: Fraction,
    within: tuple[float, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Either cell may be off by eleven."""
    monkeypatch.setattr(HistogramNoise, "run_bound", lambda _, length: 11.0 * length)
    histogram = NoisyHistogram(counts, noise(LAWS[0], 2))
    estimate, error = histogram.share_beyond(range(1, 2), range(1))
    assert estimate == share
    assert estimate - error <= within[0] + 1e-12
    assert estimate + error >= within[1] - 1e-12
    assert error <= max(within[1] - estimate, estimate - within[0]) + Fraction(1, 1000)


@pytest.mark.parametrize(
    "law",
    [Laplace(sensitivity=1, epsilon="0.05"), Gaussian(sensitivity=1, rho="0.01")],
    ids=["laplace", "gaussian"],
)
@pytest.mark.parametrize("cells", [CELLS, 148])
def test_the_noise_of_no_run_of_cells_is_further_off(law: Laplace | Gaussian, cells: int) -> None:
    """All runs of up to 24 cells at once, chosen by the noise itself, as limits are: 2,000
    histograms, false alarms below 10⁻⁶ (P(Binomial(2000, 0.05) > 151) < 10⁻⁶). A bound for one run
    by itself does not pass.
    """
    draws = law.perturb(np.zeros((2000, cells), dtype=np.int64))
    before = np.concatenate([np.zeros((2000, 1)), np.cumsum(draws, axis=1)], axis=1)
    beyond, alone = np.zeros(2000, dtype=bool), np.zeros(2000, dtype=bool)
    for length in range(1, min(cells, 24) + 1):
        furthest = np.abs(before[:, length:] - before[:, :-length]).max(axis=1)
        beyond |= furthest > HistogramNoise(law.law, 1.0, cells).run_bound(length)
        alone |= furthest > float(sum_bound(((law.law, Fraction(1), length),), MISSED))
    assert beyond.sum() <= 151
    assert alone.sum() > 151


def upward(law: Laplace | Gaussian, length: int, bound: float) -> float:
    """The probability that the sum of several draws exceeds a bound, by convolution on a grid that
    is fine beside the deviation.
    """
    deviation = float(law.variance) ** 0.5
    step = max(round(deviation / 400), 1)
    z = np.arange(0, round(60 * deviation), step, dtype=np.float64)
    tails = law.law.rough_tails(np.maximum(z, 1.0))
    cells = -np.diff(tails)
    single = np.concatenate([cells[::-1], cells])
    single /= single.sum()
    total = single
    for _ in range(length - 1):
        total = fftconvolve(total, single)
    middle = (len(total) - 1) / 2
    values = (np.arange(len(total)) - middle) * step
    return float(total[values > bound].sum())


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
@pytest.mark.parametrize("length", RUNS)
@pytest.mark.parametrize("chance", [NEXT / len(RUNS), Fraction(1, 10_000)])
def test_noise_exceeds_what_it_is_held_to_as_often_as_stated(
    law: Laplace | Gaussian, length: int, chance: Fraction
) -> None:
    """By the law of the sum: at most with the stated probability. A bound three per cent lower
    would not do.
    """
    bound = noise(law, CELLS).exceeded(length, chance) * 2**20
    assert upward(law, length, bound) <= float(chance) * 1.005
    assert upward(law, length, bound * 0.97) > float(chance)


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
@pytest.mark.parametrize("cells", [CELLS, 148])
def test_noise_alone_is_seen_in_any_cell_with_the_stated_probability(
    law: Laplace | Gaussian, cells: int
) -> None:
    """By the union bound over all runs, of every length: at most 1 in 10,000 together."""
    each = SURE / (cells * len(RUNS))
    bound = round(noise(law, cells).exceeded(1, each) * 2**20)
    assert float(law.law.tail(bound + 1, "up")) <= each
    assert float(law.law.tail(round(bound * 0.99), "down")) > each
    assert sum(len(RUNS) * each for _ in range(cells)) <= SURE


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_a_false_cell_is_seldom_and_a_far_one_more_so(law: Laplace | Gaussian) -> None:
    """2,000 histograms with people in the first cell alone. The next cell is a false one with
    probability 2 %, one farther out with an eighth of that, and after a false one the search goes
    on: P(Binomial(2000, 0.03) > 101) < 10⁻⁶.
    """
    counts = np.zeros((2000, CELLS), dtype=np.int64)
    counts[:, 0] = 10_000 << 20
    drawn = law.perturb(counts) / 2**20
    lasts = [Outward(tuple(row), noise(law, CELLS)).last(0) for row in drawn.tolist()]
    assert sum(last > 0 for last in lasts) <= 101
    assert sum(last > 2 for last in lasts) <= 20
    assert FARTHER == 8


def test_a_tail_that_is_thin_in_every_cell_is_seen_in_their_sum() -> None:
    """No cell by itself shows anybody: the search by single cells ends at the first."""
    near = Fraction(1, 1000)
    thin = outward(1000.0, 2.5, 2.5, 2.5, 2.5, 0.0, 0.0, near=near)
    single = thin.noise.exceeded(1, near / len(RUNS))
    assert max(thin.counts[1:]) < single
    assert thin.last(0) >= 1
    assert outward(1000.0, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0, near=near).last(0) == 0


def test_one_thin_cell_does_not_end_the_search() -> None:
    assert outward(1000.0, 0.0, 4.5, 0.0, 0.0, 0.0).last(0) == 2
    assert outward(1000.0, *(0.0,) * 6, 4.5, 0.0).last(0) == 0, "so far out it may be noise"


def test_cells_that_widen_nothing_are_searched_at_once() -> None:
    """On the other side of 0 people lie eight cells away from it; this side reaches as far."""
    here = (*(0.0,) * 7, 8.0, 0.0, 0.0, 0.0, 0.0)
    assert outward(*here).last(-1, size=9) == 7
    assert outward(*(0.0,) * 12).last(-1, size=9) == -1


def test_cumulative_counts_never_rise_outward_and_lean_to_the_wide_side() -> None:
    cells = outward(100.0, 40.0, -3.0, 20.0, 1.0, 0.0, 0.0)
    assert cells.cumulative(3, lean=False) == [157.0, 57.0, 20.0, 20.0]
    wide = cells.cumulative(3, lean=True)
    assert len(wide) == 4 + TAIL
    assert all(a >= b >= 0 for a, b in pairwise(wide))
    assert all(a >= b for a, b in zip(wide, [157.0, 57.0, 20.0, 20.0], strict=False))
    assert cells.cumulative(-1, lean=True) == []


def test_the_tail_thins_out_as_the_counts_do() -> None:
    """Halving counts go on halving; after a sharp end next to nobody is expected."""
    halving = outward(*(1000.0 / 2**i for i in range(14))).cumulative(7, lean=True)
    sharp = outward(1000.0, 1000.0, 1000.0, *(0.0,) * 8).cumulative(2, lean=True)
    assert halving[8] == pytest.approx(1000 / 2**8 + 1000 / 2**9, rel=0.5)
    assert sharp[3] < 0.1
    assert outward(5.0, 100.0).cumulative(1, lean=True) == [105.0, 100.0], "there is no next cell"


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_a_stored_histogram_is_read_back_exactly(law: Laplace | Gaussian) -> None:
    histogram = StoredHistogram((1.5, -3.25, 2.0**-20), law.law, 2.0**-20)
    record = histogram.to_record()
    assert StoredHistogram.from_record(record) == histogram
    for damage in (
        {"counts": []},
        {"counts": [1]},
        {"counts": [float("nan")]},
        {"step": 0.0},
        {"law": "uniform"},
        {"parameter": "x"},
        {"more": 1},
    ):
        with pytest.raises((LookupError, TypeError, ValueError)):
            StoredHistogram.from_record({**record, **damage})
